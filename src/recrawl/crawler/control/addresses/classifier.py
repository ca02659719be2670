"""Kinds of address: what the addresses of a site have in common, by shape.

- with a query, by shape: path, names of parameters, and the values of those parameters that have
  few; by the same shape whatever the path, which speaks for a path of which nothing is known; and
  all of a path with several parameters, as where lists are chosen from; or, where a page is known
  that differs in nothing but parameters that mean nothing, by their names;
- without, by the ending of the file's name (of a feed that has none, by its name), by the branch of
  the site that they lie in, by the calendar that they are a day of, by what they show of the thing
  of a number, whatever its title, or of all that follows (``/diff/tip/a.c``: not by its ending),
  and, of those with a number at their end, by the branch and how deep they lie, for that most of
  them are copies of another page, as of the answers in a forum; and what is there below many
  numbers, as files are in each version (``/view/72/src/a.c``), by the folders of which one is the
  number.
"""

import re
from itertools import islice
from typing import Final

from recrawl.crawler.control.addresses.address_kinds import (
    AT_ONCE,
    AddressKind,
    DoubtedKinds,
    branch_of,
    numbered_branch,
    space_of,
)
from recrawl.crawler.control.addresses.calendars import calendar_of, month_of
from recrawl.crawler.control.addresses.doubts import (
    face_of,
    has_hash,
    hash_of,
    is_doubted,
    is_joined,
    is_unknown_file,
    pages_of_file,
    place_of,
    shape_of_doubt,
    suffix_of,
    view_at_root,
    without_hashes,
)
from recrawl.crawler.control.addresses.lists import begins_list, is_narrowed_twice, place_in_list
from recrawl.crawler.control.addresses.novelty import Novelty
from recrawl.crawler.control.addresses.versions import numbered_file
from recrawl.crawler.control.addresses.void_parameters import VoidParameters
from recrawl.crawler.control.urls import host_of, path_of, sorted_query_parts
from recrawl.terms import Kind

_FEW: Final = 8  # values of a parameter that are told apart; one with more of them names pages
_OPEN: Final = re.compile(r"=(?=[&;]|$)")  # of a calendar, where its day or month would stand
_MOST_KINDS: Final = 100_000
_MOST_FACES: Final = 200_000


class AddressClassifier:
    """Tells the kinds of an address, which grow fewer as more of a site is seen.

    Parameters
    ----------
    novelty : what was visited, and which lists go on with nothing
    """

    def __init__(self, novelty: Novelty) -> None:
        self._novelty = novelty
        self.values: dict[tuple[str, str], set[str]] = {}  # of parameters, by host and path
        self.kinds: dict[tuple[str, ...], AddressKind] = {}  # by what they have in common
        self._faces: dict[int, int] = {}  # what is shown of things, to the first that it is of
        self._held: dict[
            tuple[str, str], dict[AddressKind, None]
        ] = {}  # where pages wait, by parameter
        self._outgrown: list[AddressKind] = []  # of those, by a value that now is one of many
        self._void = VoidParameters()

    def kinds_of(self, url: str, of: Kind = Kind.PAGE) -> list[AddressKind]:
        """Return the kinds of an address, the narrowest first."""
        void = self._void.repeats(url) or (self._void.respells(url) if is_doubted(url) else None)
        if void is not None:
            return [self._void_kind(*void)]
        found = self._kinds_by_words(url, of)
        place = None if "?" in url else place_in_list(url)
        if place is not None and self._novelty.is_of_endless_list(place[0]):
            found.insert(0, self._kind("list", place[0]))
            found[0].is_endless = True
        return found

    def is_in_doubt(self, url: str, found: list[AddressKind]) -> bool:
        """Tell whether an address speaks against a page, and its kinds have not proved worth it."""
        # What is shown of each thing may say much, as histories do, and speak against itself.
        proofs = found if "?" in url else found[:1]
        return is_doubted(url) and not any(kind.is_proven for kind in proofs)

    def doubted(self, host: str) -> DoubtedKinds:
        """Return the kind of all that is doubted on a host."""
        found = self.kinds.get(("doubted", host))
        if not isinstance(found, DoubtedKinds):
            found = DoubtedKinds(f"{host}: whatever speaks against itself")
            self.kinds["doubted", host] = found
        return found

    def repeats(self, url: str) -> bool:
        """Tell whether an address differs from a visited one in parameters alone that mean nothing.

        Parameters
        ----------
        url : in normal form
        """
        return self._void.repeats(url) is not None

    def learn_void(self, url: str, said: bytes | int | None) -> None:
        """Learn which parameters mean nothing; what waits for one that does is told of."""
        for host, names in () if said is None else self._void.observe(url, hash(said)):
            self._outgrown.append(self._void_kind(host, names))

    def learn_canonical(self, url: str, canonical: str | None) -> None:
        """Learn which address a page says that it has, at its first visit; None: it says none."""
        for host, names in self._void.observe_canonical(url, canonical):
            self._outgrown.append(self._void_kind(host, names))

    def hold(self, kind: AddressKind, url: str) -> None:
        """Remember by which parameters a kind is told apart that pages begin to wait for."""
        if len(self._held) > _MOST_KINDS:
            self._held.clear()
        host, (path, _, query) = host_of(url), path_of(url).partition("?")
        names = (
            dict.fromkeys(name[:100] for name, _, _ in sorted_query_parts(query)) if query else ()
        )
        for where in (without_hashes(path), "/*"):
            for name in names:
                self._held.setdefault((host, f"{where}?{name}"), {})[kind] = None
        face = face_of(url) or face_of(url, of_years=True)
        if face is not None:
            self._held.setdefault((host, f"{_title_in(face[0])[0]}/*/#?"), {})[kind] = None

    def outgrown_pages(self) -> list[tuple[int, int]]:
        """Return some of the pages that wait for a kind of which no page will be again."""
        welcome: list[tuple[int, int]] = []
        while self._outgrown and len(welcome) < AT_ONCE:
            waiting = self._outgrown[-1].waiting
            following = list(islice(waiting, AT_ONCE - len(welcome)))
            welcome += [(page_id, waiting.pop(page_id)) for page_id in following]
            if not waiting:
                self._outgrown.pop()
        return welcome

    def face_of(self, url: str, *, of_years: bool = False) -> tuple[str, list[str]] | None:
        """Return what is shown of a thing, whatever its number, and also whatever its title.

        A title is a folder before the number that is one of many: ``/t/of-lamps/7/last``.
        """
        face = face_of(url, of_years=of_years)
        if face is None:
            return None
        above, title, number = _title_in(face[0])
        if above:
            title = self._part(host_of(url), f"{above}/*/#", "", title[:100])
        return f"{above}/{title}{number}", face[1]

    def _void_kind(self, host: str, names: str) -> AddressKind:
        return self._kind("void", host, f"?{names}")

    def _kind(
        self,
        *key: str,
        doubted: bool = False,
        broad: bool = False,
        mode: bool = False,
        unknown: bool = False,
    ) -> AddressKind:
        if len(self.kinds) > _MOST_KINDS:
            self._make_room()
        found = self.kinds.get(key)
        if found is None:
            found = self.kinds[key] = AddressKind("".join(key[1:]), doubted, broad, unknown, mode)
        return found

    def _make_room(self) -> None:
        """Forget what brings something: that is what is expected of a kind anyway."""
        kept = [item for item in self.kinds.items() if item[1].nothing > item[1].brought]
        self.kinds = dict(kept[-_MOST_KINDS // 2 :])

    def _kinds_by_query(self, host: str, url: str) -> list[AddressKind]:
        path, _, query = path_of(url).partition("?")
        doubted = is_doubted(url)
        calendar = calendar_of(url)
        if calendar is not None:  # its days and months are of one kind
            query = _OPEN.sub("=*", calendar.partition("?")[2]) or query
        path, mode = without_hashes(path), f"?{self._words(host, path, query, anywhere=True)}"
        kinds = [
            self._kind("shape", host, path, f"?{self._words(host, path, query)}", doubted=doubted),
            self._kind("any path", host, "/*", mode, doubted=doubted, broad=True, mode=True),
        ]
        if pages_of_file(url):  # what is in such files, or that none reads them
            suffix = suffix_of(url.partition("?")[0])
            kinds.append(self._kind("file", host, f"/*.{suffix}?*", broad=True))
        parts = [shape_of_doubt(name, value) for name, _, value in sorted_query_parts(query)]
        # A filter that is chosen several times is no other combination each time.
        names = "&".join(parts if doubted else dict.fromkeys(parts))
        kinds.append(self._kind("names", host, f"{path}?{names}", doubted=doubted, broad=True))
        if is_narrowed_twice(url) and not doubted:
            kinds.append(self._kind("several", host, f"{path}?*&*", broad=True))
            kinds[-1].is_of_several = True
        if calendar is not None:
            kinds[0].is_endless, kinds[0].beside = True, kinds[1]
        return kinds + self._place(host, url) if doubted else kinds

    def _kinds_by_words(self, url: str, of: Kind) -> list[AddressKind]:
        host = host_of(url)
        path, _, query = path_of(url).partition("?")
        if query:
            return self._kinds_by_query(host, url)
        doubted = is_doubted(url)
        suffix, branch = suffix_of(url), branch_of(path)
        if suffix is None and not doubted and is_joined(url):
            return [self._kind("joined", host, f"{branch}+*")]
        shown = self._shown_of_many(host, url, of, doubted=doubted)
        if doubted:
            kind = f"/*.{suffix}" if suffix is not None else branch
            # A change that a hash names says more than what it did to each folder.
            of_hash = "doubted" if hash_of(url) is None else "named"
            whole = [self._kind(of_hash, host, kind, doubted=True, broad=True)]
            return (self._place(host, url) or whole) + shown
        kinds = [self._kind("branch", host, branch, broad=True)]
        if (ending := self._ending(host, url, of)) is not None:
            kinds.insert(0, ending)
        if (calendar := calendar_of(url)) is not None:
            days = "/#" if month_of(url) is not None else ""  # apart from their months
            kinds.insert(0, self._kind("dates", host, f"{calendar}/#{days}"))
            kinds[0].is_endless = True
        if (numbered := numbered_branch(path)) is not None:
            kinds.append(self._kind("numbered", host, numbered, broad=True))
            kinds[-1].is_of_copies = True
        return kinds + shown

    def _place(self, host: str, url: str) -> list[AddressKind]:
        """Return the kind of all that lies in the folder that speaks against an address, if any."""
        place = place_of(url)
        if place is None:
            return []
        kind = self._kind("place", host, f"{place}*", doubted=True, broad=True)
        kind.is_place = True
        return [kind]

    def _ending(self, host: str, url: str, of: Kind) -> AddressKind | None:
        """Return the kind of an address by the name of its file; of a view, by what it shows."""
        path = path_of(url).partition("?")[0]
        if (view := view_at_root(url)) is not None:
            return self._kind("view", host, f"{view}*", broad=True, unknown=True)
        if (suffix := suffix_of(url)) is not None:
            kind = self._kind("file", host, f"/*.{suffix}", broad=True)
            kind.is_unknown |= self._novelty.is_made_of_page(url) or is_unknown_file(path)
            return kind
        if of is Kind.FEED:
            name = path.rstrip("/").rpartition("/")[2]
            return self._kind("feed", host, f"/*/{name}", broad=True)
        return None

    def _shown_of_many(self, host: str, url: str, of: Kind, *, doubted: bool) -> list[AddressKind]:
        """Return the kind of what is there of many things, or below many numbers, if it is."""
        face = self.face_of(url) if of is Kind.PAGE else None
        if face is None and of is Kind.PAGE:  # a year, or one of numbers that others are, too
            face = self.face_of(url, of_years=True)
            face = face if face and hash((host, face[0])) in self._faces else None
        if face is not None and self._is_shown_of_many(host, face[0], face[1][0]):
            kind = self._kind("face", host, face[0], doubted=doubted, broad=True)
            kind.is_face, kind.is_unknown = True, not doubted
            return [kind]
        file = numbered_file(url) if face is None and not doubted else None
        if file is not None and self._is_shown_of_many(host, file.name, file.number):
            return [self._kind("versions", host, file.kind, broad=True)]
        return []

    def _is_shown_of_many(self, host: str, shown: str, thing: str) -> bool:
        """Tell whether another thing has the same; what only one has is its name, and no kind."""
        if len(self._faces) > _MOST_FACES:
            self._faces.clear()
        mark = hash(thing)
        return self._faces.setdefault(hash((host, shown)), mark) != mark

    def _words(self, host: str, path: str, query: str, *, anywhere: bool = False) -> str:
        """Return the shape of a query: names, and the values of parameters that have few.

        Of others the name space is told, as in ``title=Special:Log/Page``; not of any path, where
        hardly any has been seen of most. What has a number may be one of few on its page, as a
        reply to it, and one of many on the host. A hash is always one of many.
        """
        told = []
        for name, _, value in sorted_query_parts(query):
            if has_hash(f"{host}/{value}"):
                told.append(f"{name[:100]}=#")
                continue
            part = self._part(host, path, name[:100], value[:100])
            begins = begins_list(name, value)
            if part == "*" and begins:
                part = value
            elif part == "*" and not anywhere:
                part = f"{space_of(value[:100])}*"
            if anywhere and any(map(str.isdecimal, value[:100])):
                # Counted wherever it is, of a path with many as well: else it stays one of few.
                of_all = self._part(host, "/*", name[:100], value[:100])
                part = part if begins or part == "*" else of_all
            told.append(f"{name[:100]}={part}")
        return "&".join(told)

    def _part(self, host: str, path: str, name: str, value: str) -> str:
        if len(self.values) > _MOST_KINDS:
            self.values.clear()
        values = self.values.setdefault((host, f"{path}?{name}"), set())
        if len(values) <= _FEW:
            values.add(value)
            if len(values) > _FEW:  # from now on its pages are of another kind
                self._outgrown += self._held.pop((host, f"{path}?{name}"), ())
        return value if len(values) <= _FEW else "*"


def _title_in(shown: str) -> tuple[str, str, str]:
    """Split what is shown of a thing: where things lie, its title or category, and what follows."""
    end = "/#" if shown.endswith("/#") else ""  # of one of many that it has
    before, number, after = shown.removesuffix(end).rpartition("/#")
    above, _, title = before.rpartition("/")
    return above, title, f"{number}{after}{end}"
