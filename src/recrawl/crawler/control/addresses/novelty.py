"""Novelty: whether a page says more than what its host has shown before.

A copy says nothing new, whatever the order of its words, and though it says its own name, unless
its address names what it alone is called. Nor does a page that says nearly what it says without one
of its parameters or the number at its end, or what its thing says, or part of it, or its title and
else what is shown of others, or what is nearer to a seed and has the same query; nor what a page is
made of or is as a file, nor a version or another view of a page or of a thing that is known. What
is chosen by several parameters and says what other pages say is a list that was narrowed. The
module is longer than most, as it is one memory of all that was shown.
"""

import re
from collections import deque
from collections.abc import Callable, Iterable
from struct import Struct
from typing import Final, NamedTuple

from recrawl.crawler.control.addresses.address_kinds import numbered_branch
from recrawl.crawler.control.addresses.calendars import calendar_of
from recrawl.crawler.control.addresses.doubts import (
    compares,
    face_of,
    has_hash,
    hash_of,
    is_doubted,
    is_view_of_version,
    less_specific,
    page_of_version,
    pages_of_file,
    parallels,
    stem_of_page,
    stems_of_source,
    suffix_of,
    thing_of_view,
    without_hashes,
)
from recrawl.crawler.control.addresses.gists import Gist, is_akin, is_near, names_told
from recrawl.crawler.control.addresses.lines_said import LinesSaid
from recrawl.crawler.control.addresses.lists import (
    PLACE_IN_LIST,
    is_narrowed_twice,
    is_place_of,
    place_in_list,
)
from recrawl.crawler.control.addresses.versions import numbered_file
from recrawl.crawler.control.addresses.views import ViewsOfThings
from recrawl.crawler.control.urls import host_of, path_of, sorted_query_parts
from recrawl.terms import PageState

_LANGUAGE: Final = re.compile(r"/[a-z]{2}(?:[-_][a-z]{2})?/", re.IGNORECASE)
_DATE_VALUE: Final = re.compile(r"=(?:19|20)\d\d-\d")
_NUMBERS: Final = re.compile(r"\d+")
_LATELY: Final = 64  # pages of a kind and title that another one is compared with
_MOST_ALIKE: Final = 100_000
_MOST_KEPT: Final = 200_000
_MOST_THINGS: Final = 500_000


class _Near(NamedTuple):
    """Marks of what a page says nearly, of its heading, and of its title."""

    says: int
    heading: int
    title: int


_NOTHING: Final = _Near(0, 0, 0)
_PACKED: Final = Struct("=Qqq")


class Novelty:
    """Remembers what the pages of a crawl say, by marks, and tells whether another says more.

    Parameters
    ----------
    on_variant : called with an address that counted as new and is a variant of what came later
    """

    def __init__(self, on_variant: Callable[[str], None]) -> None:
        self._on_variant = on_variant
        self._texts: dict[int, str] = {}  # to the first address that says it, if it has a query
        self._listed: set[int] = set()  # words of lists, and lists that go on with nothing
        self._called: dict[int, int] = {}  # what pages are called, to where the first that is lies
        self._named_before: dict[int, int] = {}  # the same of an earlier run, by addresses alone
        self._near: dict[int, bytes] = {}  # by address, packed, as there are many
        # By query, how far the nearest page with it is from a seed, how much it says, below 0, and
        # which it is.
        self._asked: dict[int, tuple[int, int, int]] = {}
        self._stems: dict[int, int] = {}  # what pages say nearly, by path without the ending
        # By kind and title, what pages said lately, and in which words.
        self._alike: dict[int, deque[tuple[int, int]]] = {}
        self._views = ViewsOfThings()
        self._lines = LinesSaid()
        self._visited: set[int] = set()  # or handed out to be
        self._things: set[int] = set()  # what pages that are held may have other views of
        self._named: dict[int, int] = {}  # things named by a hash, to the page that showed it first

    def keep_visited(self, urls: Iterable[str]) -> None:
        """Remember addresses that were visited, or handed out to be."""
        if len(self._visited) > _MOST_KEPT:
            self._visited.clear()
        self._visited.update(map(hash, urls))

    def was_visited(self, url: str) -> bool:
        """Tell whether an address was visited, or handed out to be."""
        return hash(url) in self._visited

    def recall(self, url: str, state: PageState) -> None:
        """Remember a page that was visited before, by its address alone."""
        self.keep_things(url, state)
        if state is PageState.INDEXED and not is_doubted(url):
            for called in names_told(url):
                self._named_before.setdefault(_name_mark(url, called), _place(url, called))

    def keep_things(self, url: str, state: PageState) -> None:
        """Remember of what a page is the usual view, if its copy is held."""
        if state is not PageState.INDEXED or is_doubted(url):
            return
        if page_of_version(url) is not None or thing_of_view(url) is not None:
            return
        if len(self._things) > _MOST_THINGS:
            self._things.clear()
        host = host_of(url)
        self._things.update(hash((host, thing)) for thing in parallels(url))

    def is_new(self, url: str, told: bytes | int | None) -> bool:
        """Tell whether no other page of the host says the same; remember that this one does."""
        if told is None:
            return True
        if len(self._texts) > _MOST_KEPT:
            self._texts.clear()
        mark = hash((host_of(url), told))
        first = self._texts.get(mark)
        # The variant is what brings nothing, and what leads to a page of a list is none of it.
        if first and (url in less_specific(first) or is_place_of(url, first)):
            self._on_variant(first)
            first = None
        if first is None:
            self._texts[mark] = url if "?" in url else ""
        return first is None

    def says_more(
        self,
        url: str,
        told: Gist,
        face: tuple[str, list[str]] | None,
        language: str | None,
        depth: int,
    ) -> bool:
        """Tell whether a page says more than another, or than the one that it is a variant of.

        Parameters
        ----------
        url, told, language, depth : of the page; by depth, links from a seed
        face : what is shown there of which thing, as the classifier of addresses tells it
        """
        if self._is_source(url, told.near):
            return False
        is_new = self.is_new(url, told.same)
        if told.nameless != told.same and not self._is_called_so(url, told, language):
            is_new &= self.is_new(url, told.nameless)
        is_new &= not self._is_beside_as_before(url, told, face)
        is_new &= not self._is_within_thing(url, told, depth)
        if "?" in url and (calendar := calendar_of(url)) is not None:
            is_new &= not self._views.is_as_other_dates(hash((host_of(url), calendar)), told)
        return is_new and not self.is_twin(url, told, depth)

    def _is_called_so(self, url: str, told: Gist, language: str | None) -> bool:
        """Tell whether a page is called as its address says, and no other of its language was.

        Or another that lies beside it and says another thing: several may have one name, as jobs
        have, where a view of what has that name lies elsewhere.
        """
        if not told.called or is_doubted(url):
            return False
        if len(self._called) > _MOST_KEPT:
            self._called.clear()
        place = _place(url, told.called)
        mark = hash((host_of(url), language, told.called))
        before = self._named_before.get(_name_mark(url, told.called), place)
        is_beside = before == self._called.setdefault(mark, place) == place
        return is_beside and self.is_new(url, hash((language, told.called, told.nameless)))

    def _is_beside_as_before(
        self, url: str, told: Gist, face: tuple[str, list[str]] | None
    ) -> bool:
        """Tell whether a page has the title of its thing, and else what others show of theirs.

        What has a heading of its own may be called by that and say no more.
        """
        shown, things = face or ("", [])
        headings = [self._near_of(thing).heading for thing in things]
        if told.heading == 0 or told.heading not in headings:
            return False
        return self._views.is_as_others(hash((host_of(url), shown)), told)

    def _near_of(self, url: str) -> _Near:
        return self._near_by(hash(url))

    def _near_by(self, mark: int) -> _Near:
        near = self._near.get(mark)
        return _NOTHING if near is None else _Near(*_PACKED.unpack(near))

    def keep_near(self, url: str, says: Gist, title: str, depth: int) -> None:
        """Remember what a page says nearly, and where others with its query are views of it."""
        if len(self._near) > _MOST_KEPT:
            self._near.clear()
            self._asked.clear()
        self._near[hash(url)] = _PACKED.pack(says.near, says.heading, hash(title))
        self._views.keep(url, says)
        if (mark := _query_mark(url)) is not None:
            one = (depth, -says.beside.bit_count(), hash(url))
            self._asked[mark] = min(one, self._asked.get(mark, one))

    def is_twin(self, url: str, says: Gist, depth: int) -> bool:
        """Tell whether a page says nearly what it says without a parameter, or its thing says.

        Its thing may be what has the same query and is nearer to a seed, or is as near and says
        more: ``/item?id=7`` that of ``/print?id=7``.
        """
        face = face_of(url)
        wider = [hash(base) for base in (less_specific(url) if face is None else face[1])]
        wider += self._asked_nearer(url, says, depth)
        is_twin = any(is_near(self._near_by(mark).says, says.near) for mark in wider)
        return is_twin or self._is_place_in_page(url, says)

    def _asked_nearer(self, url: str, says: Gist, depth: int) -> list[int]:
        """Return a mark of what has the same query and is nearer to a seed, or says more there."""
        own = (depth, -says.beside.bit_count())
        *nearest, thing = self._asked.get(_query_mark(url) or 0, (*own, 0))
        return [thing] if tuple(nearest) < own else []

    def _is_within_thing(self, url: str, says: Gist, depth: int) -> bool:
        """Tell whether a page says less than its thing, and so do others of its kind.

        Its thing may be what has fewer parameters, and its title: one post of a topic, among others
        that are only named, says what the topic says.
        """
        shown, things = face_of(url) or (url.partition("?")[0], [])
        title = self._near_of(url).title
        things = [
            *things,
            *(one for one in less_specific(url) if self._near_of(one).title == title),
        ]
        marks = [*map(hash, things), *self._asked_nearer(url, says, depth)]
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
        if len(self._stems) > _MOST_KEPT:
            self._stems.clear()
        host, stem = host_of(url), stem_of_page(url)
        if stem is not None:
            self._stems[hash((host, stem))] = near
        others = (self._stems.get(hash((host, stem)), 0) for stem in stems_of_source(url))
        return any(is_akin(other, near) for other in others)

    def is_made_of_page(self, url: str) -> bool:
        """Tell whether a page that was visited may be made of what a file's address names."""
        host = host_of(url)
        return any(hash((host, stem)) in self._stems for stem in stems_of_source(url))

    def is_as_before(self, url: str, kind: str, title: str, told: Gist) -> bool:
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
        if len(self._alike) > _MOST_ALIKE:
            self._alike.clear()
        called = (kind, "" if is_date else without_hashes(title), told.heading)
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

    def is_list_as_before(self, url: str, told: Gist | None, *, new: bool) -> bool:
        """Tell whether a page that leads nowhere but on says what another of its list says.

        Behind the last thing that is listed there may be lists of nothing without an end. From the
        first on such a list is one of those.
        """
        place = place_in_list(url)
        if place is None:
            return False
        shape, _ = place
        if new and told is not None:
            said = hash((shape, told.unplaced))
            new = said not in self._listed
            self._listed.add(said)
        if new:
            return False
        if len(self._listed) > _MOST_KEPT:
            self._listed.clear()
        self._listed.add(hash(shape))
        return True

    def is_of_endless_list(self, shape: str) -> bool:
        """Tell whether a list, as addresses tell it, goes on with nothing."""
        return hash(shape) in self._listed

    def is_known_otherwise(self, url: str) -> bool:
        """Tell whether an address names a version, a view or a file of what is known by another."""
        page, thing = page_of_version(url), thing_of_view(url)
        if page is not None and self.was_visited(page):
            return True
        if thing is not None:  # of /work/log/a.txt another view, or where views come first the page
            viewed = host_of(url) + thing.replace("/*", "", 1)
            if hash((host_of(url), thing)) in self._things or self.was_visited(viewed):
                return True
        if any(map(self.was_visited, pages_of_file(url))):
            return True
        return compares(url) or is_view_of_version(url) or not self._is_first_to_name(url)

    def _is_first_to_name(self, url: str) -> bool:
        """Tell whether no other page showed what an address names by a hash; remember this one."""
        named = hash_of(url)
        if named is None:
            return True
        if len(self._named) > _MOST_KEPT:
            self._named.clear()
        return self._named.setdefault(hash((host_of(url), named)), hash(url)) == hash(url)

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
        said = is_narrowed_twice(url) and any(
            hash(wider) in self._visited for wider in less_specific(url)
        )
        said = said and not self._lines.says_more(url, host, lines)
        self._lines.keep(host, lines)
        return said


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


def _query_mark(url: str) -> int | None:
    """Return a mark of the query on a host, whatever the path; None: of none, or a place in a list.

    Later pages of lists have such a place in common, and no thing.
    """
    query = url.partition("?")[2]
    is_place = any(PLACE_IN_LIST.fullmatch(name) for name, _, _ in sorted_query_parts(query))
    return hash((host_of(url), query)) if query and not is_place else None
