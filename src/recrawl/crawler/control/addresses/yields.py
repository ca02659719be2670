"""Yields of kinds of address: pages are visited as their kind has proved worth it.

One script of a site can have an address for every page, and a hundred for each that edit, compare,
sort or log in; a directory of archives has thousands that nobody can read. Addresses are of kinds:

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
  number. Of what is shown of things, and of endings that nobody knows, few are on their way before
  they have brought something.

The first of a kind are visited like any other page; what they bring (a page that was not known, or
nothing) is a coin tossed, and while the chance that the next brings something is small, few more
are tried. A copy brings nothing, whatever the order of its words, and though it says its own name,
unless its address names what it alone is called; nor does a page that says nearly what it says
without one of its parameters or the number at its end, or what its thing says, or part of it, or
its title and else what is shown of others, or what is nearer to a seed and has the same query, nor
one that asks to sign in, nor what a page is made of or is as a file, nor a version or another view
of a page or of a thing that is known, nor a comparison of versions, nor a list by a query, or by
words that are joined at the end of a path, that leads to nothing but pages that are known; what is
chosen by several parameters and says what other pages say is such a list. What is left out of the
index brings something where it leads on, as the later pages of an archive do, and what redirects
brings what is found there that was not visited. What speaks against an address
(:mod:`recrawl.crawler.control.addresses.doubts`) makes its kind prove itself sooner, and all that
is doubted on a host together is held to a small share of what the host has brought: evidence
overrides it. The module is longer than most, as all of these judge a visit by the same memory of
what a host has shown.
"""

import re
from collections import deque
from collections.abc import Iterable
from itertools import islice
from typing import Final, NamedTuple

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
    compares,
    face_of,
    has_hash,
    hash_of,
    is_doubted,
    is_joined,
    is_script,
    is_unknown_file,
    is_view_of_version,
    less_specific,
    page_of_version,
    pages_of_file,
    parallels,
    place_of,
    shape_of_doubt,
    stem_of_page,
    stems_of_source,
    suffix_of,
    thing_of_view,
    view_at_root,
    without_hashes,
)
from recrawl.crawler.control.addresses.gists import Gist, is_akin, is_near, names_told
from recrawl.crawler.control.addresses.lines_said import LinesSaid
from recrawl.crawler.control.addresses.lists import (
    PLACE_IN_LIST,
    begins_a_list,
    begins_list,
    is_place_of,
    place_in_list,
)
from recrawl.crawler.control.addresses.versions import numbered_file
from recrawl.crawler.control.addresses.views import ViewsOfThings
from recrawl.crawler.control.addresses.void_parameters import VoidParameters
from recrawl.crawler.control.answers.soft_errors import is_probe
from recrawl.crawler.control.urls import host_of, path_of
from recrawl.terms import Kind, Lease, Outcome, PageState, PageUpdate

LITTLE: Final = "addresses of its kind have brought nothing new: only few of them are tried"
_FEW: Final = 8  # values of a parameter that are told apart; one with more of them names pages
_TRICKLE_S: Final = 3 * 3_600.0  # between two tries of a kind that brings nothing
_NOT_SEEN: Final = frozenset(
    {Outcome.LOST, Outcome.OBSOLETE, Outcome.DEFERRED, Outcome.THROTTLED, Outcome.DISALLOWED}
)
# Trouble of a page says nothing of the branch that it lies in.
_TROUBLE: Final = frozenset(
    {Outcome.FAILED, Outcome.SERVER_ERROR, Outcome.NOT_FOUND, Outcome.GONE, Outcome.DENIED}
)
_NO_COPIES: Final = frozenset({PageState.EXCLUDED, PageState.MOVED, PageState.MISSING})
_DENIED: Final = frozenset({401, 403})
_NEVER: Final = frozenset({405, 406})  # for the way in which it is asked for, whatever it names
_REFUSED: Final = 400  # from this status on a page is refused as such
_MOST_KINDS: Final = 100_000
_LANGUAGE: Final = re.compile(r"/[a-z]{2}(?:[-_][a-z]{2})?/", re.IGNORECASE)
_DATE_VALUE: Final = re.compile(r"=(?:19|20)\d\d-\d")
_NUMBERS: Final = re.compile(r"\d+")
_OPEN: Final = re.compile(r"=(?=[&;]|$)")  # of a calendar, where its day or month would stand
_LATELY: Final = 64  # pages of a kind and title that another one is compared with
_MOST_SIGNATURES: Final = 200_000
_MOST_THINGS: Final = 500_000


class _Near(NamedTuple):
    """Marks of what a page says nearly, of its heading, and of its title."""

    says: int
    heading: int
    title: int


_NOTHING: Final = _Near(0, 0, 0)


class AddressYields:
    """Learns what kinds of address bring, and says which pages wait.

    In memory: what the state knows of visited pages is enough to learn it anew.
    """

    def __init__(self) -> None:
        self._values: dict[tuple[str, str], set[str]] = {}
        self._kinds: dict[tuple[str, ...], AddressKind] = {}
        self._texts: dict[int, str] = {}  # to the first address that says it, if it has a query
        self._credited: set[str] = set()  # of those, that count as new
        self._sent_on: dict[int, list[list[AddressKind]]] = {}  # of pages that lead on, by where to
        self._listed: set[int] = set()  # words of lists, and lists that go on with nothing
        self._in_vain: set[int] = set()  # lists and months that led to nothing yet
        self._called: dict[int, int] = {}  # what pages are called, to where the first that is lies
        self._named_before: dict[int, int] = {}  # the same of an earlier run, by addresses alone
        self._near: dict[int, _Near] = {}  # by address
        # By query, how far the nearest page with it is from a seed, and which it is.
        self._asked: dict[int, tuple[int, int]] = {}
        self._stems: dict[int, int] = {}  # what pages say nearly, by path without the ending
        # By kind and title, what pages said lately, and in which words.
        self._alike: dict[int, deque[tuple[int, int]]] = {}
        self._views = ViewsOfThings()
        self._lines = LinesSaid()
        self._visited: set[int] = set()  # or handed out to be
        self._things: set[int] = set()  # what pages that are held may have other views of
        self._faces: dict[int, int] = {}  # what is shown of things, to the first that it is of
        self._named: dict[int, int] = {}  # things named by a hash, to the page that showed it first
        self._held: dict[
            tuple[str, str], dict[AddressKind, None]
        ] = {}  # where pages wait, by parameter
        self._outgrown: list[AddressKind] = []  # of those, by a value that now is one of many
        self._void = VoidParameters()
        self._waits: dict[int, AddressKind] = {}  # of pages, for which kind: theirs may change

    def recall(self, visited: Iterable[tuple[str, PageState, bytes | None, int | None]]) -> None:
        """Learn from pages that were visited before: address, state, signature, last status."""
        pages = list(visited)
        self._visited.update(hash(url) for url, *_ in pages)
        for url, state, signature, status in pages:
            if state is PageState.DISCOVERED:  # never answered, or its copy was lost: it may bring
                continue
            found = self._kinds_of(url)
            if self._is_in_doubt(url, found):
                self._doubted(host_of(url)).tries += 1
            for kind in found:
                kind.tries += 1
            self._keep_things(url, state)
            if state is PageState.INDEXED and not is_doubted(url):
                for called in names_told(url):
                    self._named_before.setdefault(_name_mark(url, called), _place(url, called))
            self._learn_void(url, None if state is PageState.GONE else signature)
            new = state is PageState.INDEXED and self._is_new(url, signature)
            self._count(
                url,
                found,
                new,
                is_trouble=status is not None and status >= _REFUSED and status not in _NEVER,
                is_denied=status in _DENIED,
                is_left_out=state in _NO_COPIES,
            )

    def observe(self, update: PageUpdate) -> list[tuple[int, int]]:
        """Learn from a visit; return pages, with their hosts, that need no longer be put off."""
        lease, outcome = update.lease, update.visit.outcome
        if lease.last_visit_s is not None or lease.state is not PageState.DISCOVERED:
            return self._outgrown_pages()
        if _is_apart(lease):
            return self._outgrown_pages()
        found, url = self._kinds_of(lease.url, lease.kind), lease.url
        told = list(found)
        if outcome in _NOT_SEEN:
            in_doubt = self._is_in_doubt(url, found)
            for kind in (*found, self._doubted(host_of(url))) if in_doubt else found:
                kind.tries = max(kind.tries - 1, 0)
            if outcome is Outcome.DISALLOWED:
                told += self._tell_senders(url, brings=False)
        elif not self._is_sent_on(update, found):
            told += self._learn(update, found)
        welcome = []
        for kind in (*told, self._doubted(host_of(url))):
            welcome += kind.welcome()
        welcome += self._doubted(host_of(url)).no_more(found)
        return welcome + self._outgrown_pages()

    def _learn(self, update: PageUpdate, found: list[AddressKind]) -> list[AddressKind]:
        """Count what a page brought; return the kinds of those that led on to it."""
        lease, url, outcome = update.lease, update.lease.url, update.visit.outcome
        self._keep_things(url, update.state)
        said = update.signature if update.gist is None else update.gist[0]
        self._learn_void(url, said if update.state is PageState.INDEXED else None)
        if update.gist is not None or update.canonical is not None:
            for host, names in self._void.observe_canonical(url, update.canonical):
                self._outgrown.append(self._void_kind(host, names))
        if lease.kind is Kind.FEED:
            new = update.told_news is not False
        else:
            if update.gist is None:
                says_more = self._is_new(url, update.signature)
            else:
                says, title = Gist(*update.gist), update.title or ""
                self._keep_near(url, says, title, lease.depth)
                says_more = self._says_more(url, says, update.language, lease.depth)
                says_more = says_more and not self._is_as_before(url, found[0], title, says)
            new = update.state is PageState.INDEXED and says_more
            new &= update.told_news is not False
            new |= update.state is PageState.EXCLUDED and update.told_news is True
        goes_on_for_ever = update.goes_on and self._is_list_as_before(url, update, found, new=new)
        new &= not goes_on_for_ever
        is_twin = (
            not new
            and update.gist is not None
            and self._is_twin(url, Gist(*update.gist), lease.depth)
        )
        new = self._count(
            url,
            found,
            new,
            is_trouble=outcome in _TROUBLE and not _says_what_it_does(update),
            is_denied=update.visit.status in _DENIED,
            is_twin=is_twin,
            is_left_out=is_twin or goes_on_for_ever or update.state in _NO_COPIES,
        )
        told = self._tell_senders(url, brings=new)
        if new:  # a list that leads on may be the same list, narrowed
            return told + (self._tell_lists(url) if update.told_news is None else [])
        if update.state is PageState.INDEXED and (update.told_news is False or calendar_of(url)):
            if len(self._in_vain) > _MOST_SIGNATURES:
                self._in_vain.clear()
            self._in_vain.add(hash(url.rstrip("/")))
        return told

    def _is_list_as_before(
        self, url: str, update: PageUpdate, found: list[AddressKind], *, new: bool
    ) -> bool:
        """Tell whether a page that leads nowhere but on says what another of its list says.

        Behind the last thing that is listed there may be lists of nothing without an end. From the
        first on such a list is of a kind that has one.
        """
        place = place_in_list(url)
        if place is None:
            return False
        shape, _ = place
        if new and update.gist is not None:
            said = hash((shape, Gist(*update.gist).unplaced))
            new = said not in self._listed
            self._listed.add(said)
        if new:
            return False
        if len(self._listed) > _MOST_SIGNATURES:
            self._listed.clear()
        self._listed.add(hash(shape))
        if "?" in url:
            found[0].is_endless = True
        return True

    def _tell_lists(self, url: str) -> list[AddressKind]:
        """Count as worth it what seemed to lead nowhere but to itself, narrowed, and leads to this.

        A list to what it lists by one parameter more, a month to its days. Return their kinds.
        """
        if not self._in_vain:
            return []
        above = [one.rstrip("/") for one in (*less_specific(url), month_of(url) or "")]
        led = [one for one in above if hash(one) in self._in_vain]
        self._in_vain.difference_update(map(hash, led))
        kinds = [kind for one in led for kind in self._kinds_of(one)]
        for kind in kinds:
            kind.nothing -= kind.nothing > 0
            kind.count(brings=True)
        return kinds

    def _is_sent_on(self, update: PageUpdate, found: list[AddressKind]) -> bool:
        """Remember a page; tell whether it leads to one that is not visited: it shows its worth.

        Of several that lead to the same, the first; so do those that lead to it. Where both are of
        one kind, the page stands for what leads to it: its try is that page's.
        """
        url, target = update.lease.url, update.redirect_url if update.told_news else None
        self._keep_visited(url)
        if target is None or hash(target) in self._visited or hash(target) in self._sent_on:
            return False
        if len(self._sent_on) > _MOST_SIGNATURES:
            self._sent_on.clear()
        shared = self._kinds_of(target, update.lease.kind)
        senders = [found, *self._sent_on.pop(hash(url), ())]
        for kind in (kind for sender in senders for kind in sender if kind in shared):
            kind.tries = max(kind.tries - 1, 0)
        self._sent_on[hash(target)] = [
            [kind for kind in sender if kind not in shared] for sender in senders
        ]
        return True

    def _keep_visited(self, url: str) -> None:
        if len(self._visited) > _MOST_SIGNATURES:
            self._visited.clear()
        self._visited.add(hash(url))

    def _tell_senders(self, url: str, *, brings: bool) -> list[AddressKind]:
        """Count what a page brought for those that led on to it; return their kinds."""
        kinds = [kind for found in self._sent_on.pop(hash(url), ()) for kind in found]
        for kind in kinds:
            kind.count(brings)
        return kinds

    def _learn_void(self, url: str, said: bytes | int | None) -> None:
        """Learn which parameters mean nothing; what waits for one that does is told of."""
        for host, names in () if said is None else self._void.observe(url, hash(said)):
            self._outgrown.append(self._void_kind(host, names))

    def _outgrown_pages(self) -> list[tuple[int, int]]:
        """Return some of the pages that wait for a kind of which no page will be again."""
        welcome: list[tuple[int, int]] = []
        while self._outgrown and len(welcome) < AT_ONCE:
            waiting = self._outgrown[-1].waiting
            following = list(islice(waiting, AT_ONCE - len(welcome)))
            welcome += [(page_id, waiting.pop(page_id)) for page_id in following]
            if not waiting:
                self._outgrown.pop()
        return welcome

    def _hold(self, kind: AddressKind, url: str) -> None:
        """Remember by which parameters a kind is told apart that pages begin to wait for."""
        if len(self._held) > _MOST_KINDS:
            self._held.clear()
        host, (path, _, query) = host_of(url), path_of(url).partition("?")
        names = dict.fromkeys(name[:100] for name, _, _ in _parts(query)) if query else ()
        for where in (without_hashes(path), "/*"):
            for name in names:
                self._held.setdefault((host, f"{where}?{name}"), {})[kind] = None
        face = face_of(url) or face_of(url, of_years=True)
        if face is not None:
            self._held.setdefault((host, f"{_title_in(face[0])[0]}/*/#?"), {})[kind] = None

    def repeats(self, url: str) -> bool:
        """Tell whether an address differs from a visited one in parameters alone that mean nothing.

        Parameters
        ----------
        url : in normal form
        """
        return self._void.repeats(url) is not None

    def narrows(self, url: str, title: str) -> bool:
        """Tell whether a page with a parameter less was read that has the same title.

        Parameters
        ----------
        url : in normal form
        title : of the page there
        """
        return any(self._near_of(wider).title == hash(title) for wider in less_specific(url))

    def says_what_others_say(self, url: str, text: str) -> bool:
        """Tell whether a list that is narrowed twice says what pages of its host have said.

        Remember what any page says.

        Parameters
        ----------
        url : in normal form
        text : of the page there
        """
        host, lines = host_of(url), text.split("\n")
        said = _is_narrowed_twice(url) and any(
            hash(wider) in self._visited for wider in less_specific(url)
        )
        said = said and not self._lines.says_more(url, host, lines)
        self._lines.keep(host, lines)
        return said

    def is_in_doubt(self, url: str) -> bool:
        """Tell whether an address speaks against a page, and its kind has not proved worth it.

        Parameters
        ----------
        url : in normal form
        """
        return self._is_in_doubt(url, self._kinds_of(url))

    def due_s(self, lease: Lease, now_s: float) -> float:
        """Return when a page that was never visited is to be tried: now, or later.

        A page that is to be tried now counts as tried. One that is put off is told of by
        :meth:`observe` as soon as its kind turns out to be worth it.
        """
        if _is_apart(lease):
            return now_s
        found = self._kinds_of(lease.url, lease.kind)
        all_doubted = self._doubted(host_of(lease.url))
        is_next = all_doubted.is_next(lease.page_id)  # in doubt or not: the place is free then
        doubted = all_doubted if self._is_in_doubt(lease.url, found) else None
        against = _against(found, None if is_next else doubted)
        if lease.kind is Kind.FEED and is_script(lease.url):
            against = None  # few, and of a start page from which nothing else leads on
        if against is not None and not 0.0 < against.next_s <= now_s:
            against.next_s = against.next_s or now_s + _TRICKLE_S
            if not against.waiting:
                self._hold(against, lease.url)
            if self._waits.get(lease.page_id) is not against:
                self._waits_no_more(lease.page_id)
            against.put_off(lease, found)
            if lease.page_id in against.waiting:
                self._waits[lease.page_id] = against
            if against.brings_little:
                self._tell_senders(lease.url, brings=False)
            return against.next_s + _TRICKLE_S * len(against.waiting)
        if against is not None:  # a few are tried all the same
            against.next_s = now_s + _TRICKLE_S
        self._waits_no_more(lease.page_id)
        for kind in found if doubted is None else (*found, doubted):
            kind.tries += 1
        self._keep_visited(lease.url)  # what leads to it meanwhile is not what it is known by
        return now_s

    def _waits_no_more(self, page_id: int) -> None:
        """Have a page wait for no kind, which would tell of it again while it is visited."""
        kind = self._waits.pop(page_id, None)
        if kind is not None:
            kind.waiting.pop(page_id, None)

    def _count(
        self,
        url: str,
        found: list[AddressKind],
        is_new: bool,
        *,
        is_trouble: bool = False,
        is_denied: bool = False,
        is_twin: bool = False,
        is_left_out: bool = False,
    ) -> bool:
        """Count what a page brought for its kinds; return whether it is new all in all."""
        page, thing = page_of_version(url), thing_of_view(url)
        is_new = is_new and (page is None or hash(page) not in self._visited)
        if thing is not None:  # of /work/log/a.txt another view, or where views come first the page
            viewed = host_of(url) + thing.replace("/*", "", 1)
            is_new &= hash((host_of(url), thing)) not in self._things
            is_new &= hash(viewed) not in self._visited
        is_new = is_new and not any(hash(one) in self._visited for one in pages_of_file(url))
        is_new = is_new and not compares(url) and not is_view_of_version(url)
        is_new = is_new and self._is_first_to_name(url)
        # What says nothing of all else: where a list begins, and a month or a day without anything.
        is_apart = not is_new and (begins_a_list(url) or calendar_of(url) is not None)
        for kind in found:
            # What is asked for of many pages may be refused for each, as a form to change them is.
            is_of_many = kind.is_mode or kind.is_face
            is_spared = is_trouble and not (is_denied and is_of_many)
            is_spared |= is_apart and not kind.is_mode
            if kind.is_broad and is_spared:
                kind.tries = max(kind.tries - 1, 0)
                continue
            kind.count(is_new or (kind.is_of_copies and not is_left_out))
            kind.twins += is_twin
        self._doubted(host_of(url)).brought += is_new
        if is_new and "?" in url:
            self._credited.add(url)
        return is_new

    def _is_first_to_name(self, url: str) -> bool:
        """Tell whether no other page showed what an address names by a hash; remember this one."""
        named = hash_of(url)
        if named is None:
            return True
        if len(self._named) > _MOST_SIGNATURES:
            self._named.clear()
        return self._named.setdefault(hash((host_of(url), named)), hash(url)) == hash(url)

    def _keep_things(self, url: str, state: PageState) -> None:
        if state is not PageState.INDEXED or is_doubted(url):
            return
        if page_of_version(url) is not None or thing_of_view(url) is not None:
            return
        if len(self._things) > _MOST_THINGS:
            self._things.clear()
        host = host_of(url)
        self._things.update(hash((host, thing)) for thing in parallels(url))

    def _is_new(self, url: str, told: bytes | int | None) -> bool:
        """Tell whether no other page of the host says the same; remember that this one does."""
        if told is None:
            return True
        if len(self._texts) > _MOST_SIGNATURES:
            self._texts.clear()
            self._credited.clear()
        mark = hash((host_of(url), told))
        first = self._texts.get(mark)
        # The variant is what brings nothing, and what leads to a page of a list is none of it.
        if first and (url in less_specific(first) or is_place_of(url, first)):
            self._take_back(first)
            first = None
        if first is None:
            self._texts[mark] = url if "?" in url else ""
        return first is None

    def _take_back(self, url: str) -> None:
        """Count what was visited first as bringing nothing: it is a variant of what came later."""
        if url not in self._credited:
            return
        self._credited.discard(url)
        for kind in self._kinds_of(url):
            kind.brought -= kind.brought > 0
            kind.nothing += 1

    def _says_more(self, url: str, told: Gist, language: str | None, depth: int) -> bool:
        """Tell whether a page says more than another, or than the one that it is a variant of."""
        if self._is_source(url, told.near):
            return False
        is_new = self._is_new(url, told.same)
        if told.nameless != told.same and not self._is_called_so(url, told, language):
            is_new &= self._is_new(url, told.nameless)
        is_new &= not self._is_beside_as_before(url, told)
        is_new &= not self._is_within_thing(url, told, depth)
        if "?" in url and (calendar := calendar_of(url)) is not None:
            is_new &= not self._views.is_as_other_dates(hash((host_of(url), calendar)), told)
        return is_new and not self._is_twin(url, told, depth)

    def _is_called_so(self, url: str, told: Gist, language: str | None) -> bool:
        """Tell whether a page is called as its address says, and no other of its language was.

        Or another that lies beside it and says another thing: several may have one name, as jobs
        have, where a view of what has that name lies elsewhere.
        """
        if not told.called or is_doubted(url):
            return False
        if len(self._called) > _MOST_SIGNATURES:
            self._called.clear()
        place = _place(url, told.called)
        mark = hash((host_of(url), language, told.called))
        before = self._named_before.get(_name_mark(url, told.called), place)
        is_beside = before == self._called.setdefault(mark, place) == place
        return is_beside and self._is_new(url, hash((language, told.called, told.nameless)))

    def _is_beside_as_before(self, url: str, told: Gist) -> bool:
        """Tell whether a page has the title of its thing, and else what others show of theirs.

        What has a heading of its own may be called by that and say no more.
        """
        shown, things = self._face_of(url) or ("", [])
        headings = [self._near_of(thing).heading for thing in things]
        if told.heading == 0 or told.heading not in headings:
            return False
        return self._views.is_as_others(hash((host_of(url), shown)), told)

    def _near_of(self, url: str) -> _Near:
        return self._near.get(hash(url), _NOTHING)

    def _keep_near(self, url: str, says: Gist, title: str, depth: int) -> None:
        """Remember what a page says nearly, and where others with its query are views of it."""
        if len(self._near) > _MOST_SIGNATURES:
            self._near.clear()
            self._asked.clear()
        self._near[hash(url)] = _Near(says.near, says.heading, hash(title))
        self._views.keep(url, says)
        if (mark := _query_mark(url)) is not None:
            self._asked[mark] = min((depth, hash(url)), self._asked.get(mark, (depth, hash(url))))

    def _is_twin(self, url: str, says: Gist, depth: int) -> bool:
        """Tell whether a page says nearly what it says without a parameter, or its thing says.

        Its thing may be what is nearer to a seed and has the same query: ``/item?id=7`` that of
        ``/print?id=7``.
        """
        face = face_of(url)
        wider = [hash(base) for base in (less_specific(url) if face is None else face[1])]
        wider += self._asked_nearer(url, depth)
        is_twin = any(is_near(self._near.get(mark, _NOTHING).says, says.near) for mark in wider)
        return is_twin or self._is_place_in_page(url, says)

    def _asked_nearer(self, url: str, depth: int) -> list[int]:
        """Return a mark of what is nearer to a seed and has the same query, if anything is."""
        nearest, thing = self._asked.get(_query_mark(url) or 0, (depth, 0))
        return [thing] if nearest < depth else []

    def _is_within_thing(self, url: str, says: Gist, depth: int) -> bool:
        """Tell whether a page says less than its thing, and so do others of its kind."""
        shown, things = face_of(url) or (url.partition("?")[0], [])
        marks = [*map(hash, things), *self._asked_nearer(url, depth)]
        return self._views.is_within(hash((host_of(url), shown)), marks, says)

    def _is_place_in_page(self, url: str, says: Gist) -> bool:
        """Tell whether a page nearly says what it says without the number at its end, or another.

        As of the answers in a forum, each with some before it and after it. All have one heading.
        """
        base, _, number = url.rstrip("/").rpartition("/")
        pages = map(self._near_of, (base, f"{base}/"))
        page = next((one.says for one in pages if one.heading == says.heading != 0), 0)
        if page == 0 or numbered_branch(path_of(url)) is None:
            return False
        mark = hash(number)
        before = self._alike.setdefault(hash(base), deque([(page, 0)], maxlen=_LATELY))
        is_place = any(is_near(near, says.near) for near, other in before if other != mark)
        if not is_place:
            before.append((says.near, mark))
        return is_place

    def _is_source(self, url: str, near: int) -> bool:
        """Tell whether a page of the host is made of a file; remember what pages say."""
        if len(self._stems) > _MOST_SIGNATURES:
            self._stems.clear()
        host, stem = host_of(url), stem_of_page(url)
        if stem is not None:
            self._stems[hash((host, stem))] = near
        others = (self._stems.get(hash((host, stem)), 0) for stem in stems_of_source(url))
        return any(is_akin(other, near) for other in others)

    def _is_as_before(self, url: str, kind: AddressKind, title: str, told: Gist) -> bool:
        """Tell whether a page says nearly what one of its kind and headings said; remember it.

        Only of addresses with a query or a hash, of a file by the number of a version, and of the
        days of a calendar: elsewhere pages that are nearly alike are pages. So are those of a query
        that differ in words, as records of a register do, unless it names a version or an instant,
        or speaks against a page.
        """
        near, is_date = told.near, "?" not in url and calendar_of(url) is not None
        file = numbered_file(url)
        is_version = file is not None and file.is_version
        is_moment = is_version or is_date or has_hash(url)
        if near == 0 or ("?" not in url and not is_moment):
            return False
        if len(self._alike) > _MOST_KINDS:
            self._alike.clear()
        called = (kind.name, "" if is_date else without_hashes(title), told.heading)
        likes = (file.name,) if file is not None and is_version else called
        before = self._alike.setdefault(hash((host_of(url), likes)), deque(maxlen=_LATELY))
        # Of versions and instants words differ as well; else a word of its own is what it tells.
        is_moment = is_moment or is_doubted(url) or _DATE_VALUE.search(url) is not None
        is_alike = any(
            is_near(other, near) and (is_moment or worded == told.worded)
            for other, worded in before
        )
        if not is_alike:
            before.append((near, told.worded))
        return is_alike

    def _is_in_doubt(self, url: str, found: list[AddressKind]) -> bool:
        # What is shown of each thing may say much, as histories do, and speak against itself.
        proofs = found if "?" in url else found[:1]
        return is_doubted(url) and not any(kind.is_proven for kind in proofs)

    def _doubted(self, host: str) -> DoubtedKinds:
        found = self._kinds.get(("doubted", host))
        if not isinstance(found, DoubtedKinds):
            found = DoubtedKinds(f"{host}: whatever speaks against itself")
            self._kinds["doubted", host] = found
        return found

    def _kind(
        self,
        *key: str,
        doubted: bool = False,
        broad: bool = False,
        mode: bool = False,
        unknown: bool = False,
    ) -> AddressKind:
        if len(self._kinds) > _MOST_KINDS:
            self._make_room()
        found = self._kinds.get(key)
        if found is None:
            found = self._kinds[key] = AddressKind("".join(key[1:]), doubted, broad, unknown, mode)
        return found

    def _make_room(self) -> None:
        """Forget what brings something: that is what is expected of a kind anyway."""
        kept = [item for item in self._kinds.items() if item[1].nothing > item[1].brought]
        self._kinds = dict(kept[-_MOST_KINDS // 2 :])

    def _kinds_of(self, url: str, of: Kind = Kind.PAGE) -> list[AddressKind]:
        """Return the kinds of an address, the narrowest first."""
        void = self._void.repeats(url) or (self._void.respells(url) if is_doubted(url) else None)
        if void is not None:
            return [self._void_kind(*void)]
        found = self._kinds_by_words(url, of)
        place = None if "?" in url else place_in_list(url)
        if place is not None and hash(place[0]) in self._listed:
            found.insert(0, self._kind("list", place[0]))
            found[0].is_endless = True
        return found

    def _void_kind(self, host: str, names: str) -> AddressKind:
        return self._kind("void", host, f"?{names}")

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
        parts = [shape_of_doubt(name, value) for name, _, value in _parts(query)]
        # A filter that is chosen several times is no other combination each time.
        names = "&".join(parts if doubted else dict.fromkeys(parts))
        kinds.append(self._kind("names", host, f"{path}?{names}", doubted=doubted, broad=True))
        if len(parts) > 1 and not doubted:
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
            is_of_page = any(hash((host, stem)) in self._stems for stem in stems_of_source(url))
            kind.is_unknown |= is_of_page or is_unknown_file(path)
            return kind
        if of is Kind.FEED:
            name = path.rstrip("/").rpartition("/")[2]
            return self._kind("feed", host, f"/*/{name}", broad=True)
        return None

    def _shown_of_many(self, host: str, url: str, of: Kind, *, doubted: bool) -> list[AddressKind]:
        """Return the kind of what is there of many things, or below many numbers, if it is."""
        face = self._face_of(url) if of is Kind.PAGE else None
        if face is None and of is Kind.PAGE:  # a year, or one of numbers that others are, too
            face = self._face_of(url, of_years=True)
            face = face if face and hash((host, face[0])) in self._faces else None
        if face is not None and self._is_shown_of_many(host, face[0], face[1][0]):
            kind = self._kind("face", host, face[0], doubted=doubted, broad=True)
            kind.is_face, kind.is_unknown = True, not doubted
            return [kind]
        file = numbered_file(url) if face is None and not doubted else None
        if file is not None and self._is_shown_of_many(host, file.name, file.number):
            return [self._kind("versions", host, file.kind, broad=True)]
        return []

    def _face_of(self, url: str, *, of_years: bool = False) -> tuple[str, list[str]] | None:
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

    def _is_shown_of_many(self, host: str, shown: str, thing: str) -> bool:
        """Tell whether another thing has the same; what only one has is its name, and no kind."""
        if len(self._faces) > _MOST_SIGNATURES:
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
        for name, _, value in _parts(query):
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
        if len(self._values) > _MOST_KINDS:
            self._values.clear()
        values = self._values.setdefault((host, f"{path}?{name}"), set())
        if len(values) <= _FEW:
            values.add(value)
            if len(values) > _FEW:  # from now on its pages are of another kind
                self._outgrown += self._held.pop((host, f"{path}?{name}"), ())
        return value if len(values) <= _FEW else "*"


def _against(found: list[AddressKind], doubted: AddressKind | None) -> AddressKind | None:
    """Return the kind that says that an address is to wait, if one does."""
    if doubted is not None and doubted.n_welcome <= 0:
        return doubted
    if not found[0].is_broad and found[0].is_known:  # what is known of it itself decides
        return found[0] if found[0].n_welcome <= 0 else None
    first, *broader = found
    if found[-1].is_of_several and found[-2].tries == 0:  # no such names were combined before
        broader.pop()
    return next((kind for kind in reversed([first, *broader]) if kind.n_welcome <= 0), None)


def _is_apart(lease: Lease) -> bool:
    """Tell whether a page is visited for what it says of others, whatever its likes have brought.

    A sitemap tells when they changed, and what cannot exist how an error looks there.
    """
    return lease.kind is Kind.SITEMAP or is_probe(lease.url)


def _is_narrowed_twice(url: str) -> bool:
    """Tell whether an address asks for a list by two things or more, but for a place in it."""
    asked = _parts(url.partition("?")[2])
    return sum(name != "" and PLACE_IN_LIST.fullmatch(name) is None for name, _, _ in asked) > 1


def _title_in(shown: str) -> tuple[str, str, str]:
    """Split what is shown of a thing: where things lie, its title or category, and what follows."""
    end = "/#" if shown.endswith("/#") else ""  # of one of many that it has
    before, number, after = shown.removesuffix(end).rpartition("/#")
    above, _, title = before.rpartition("/")
    return above, title, f"{number}{after}{end}"


def _name_mark(url: str, called: int) -> int:
    """Return a mark of a name on a host, and in the language that the address tells, if it does."""
    language = _LANGUAGE.match(path_of(url))
    return hash((host_of(url), language and language[0], called))


def _place(url: str, called: int) -> int:
    """Return a mark of the folder, whatever its numbers, and ending of all that may be called so.

    Of the address alone where it says more than that, by a word or a query: it may ask for a view.
    """
    is_alone = "?" in url or called not in names_told(url)
    return hash(url if is_alone else (_NUMBERS.sub("#", url.rpartition("/")[0]), suffix_of(url)))


def _says_what_it_does(update: PageUpdate) -> bool:
    """Tell whether a page was refused by leading elsewhere, or whoever asks so: it is no trouble.

    As a form that only those see who sign in, or what a script asks for.
    """
    status = update.visit.status
    if update.visit.outcome is not Outcome.DENIED or status is None:
        return False
    return status < _REFUSED or status in _NEVER


def _query_mark(url: str) -> int | None:
    """Return a mark of the query on a host, whatever the path; None: of none, or a place in a list.

    Later pages of lists have such a place in common, and no thing.
    """
    query = url.partition("?")[2]
    is_place = any(PLACE_IN_LIST.fullmatch(name) for name, _, _ in _parts(query))
    return hash((host_of(url), query)) if query and not is_place else None


def _parts(query: str) -> list[tuple[str, str, str]]:
    """Return names, signs and values of a query; what stands alone in it is a value: ``?page``."""
    parts = query.replace(";", "&").split("&")[:50]
    return sorted(part.partition("=") if "=" in part else ("", "", part) for part in parts)
