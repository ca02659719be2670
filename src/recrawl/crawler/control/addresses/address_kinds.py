"""Kinds of address: how many of each were tried, what they brought, and which pages wait for it.

What the next of a kind brings is a coin whose chance is learned: few more are tried while it is
small. What kinds there are, and what is brought, is known to
:class:`recrawl.crawler.control.addresses.yields.AddressYields`.
"""

from dataclasses import dataclass, field
from itertools import islice
from math import inf
from typing import Final

from recrawl.crawler.control.addresses.doubts import without_hashes
from recrawl.terms import Lease

_TRIES: Final = 2  # of a shape, before what it brings is looked at
_DOUBTED_TRIES: Final = 2
_BROAD_TRIES: Final = 8  # of a branch of the site, or an ending
_MODE_TRIES: Final = 2  # of what is asked for in the same way of many paths
_MOST_IN_VAIN: Final = 40  # days or months of a calendar, one after another
_MANY_IN_VAIN: Final = 80  # of several calendars of one kind; then so few of each are enough
_FEW_IN_VAIN: Final = 8
_LEAST_YIELD: Final = 0.15  # chance that one more brings something
_PRIOR: Final = (1.0, 1.0)  # of bringing something, and nothing
_DOUBTED_PRIOR: Final = (0.2, 1.8)
_MODE_PRIOR: Final = (0.7, 1.3)
_TWIN: Final = 2  # more that one weighs which says what its page says without a parameter
_PROVEN: Final = 0.39  # chance from which on a kind is no longer doubted; 0.4 by one of one tried
_DOUBTED_SHARE: Final = 0.05  # of the pages that a host has brought may be tried of what is doubted
_DOUBTED_FIRST: Final = 3  # and so many before it has brought any
_MOST_WAITING: Final = 20_000  # of a kind, that are told of when it proves worth it
_MOST_COMPARED: Final = 200  # kinds that are doubted, of which one is tried next
_DEEP: Final = 5  # parts of a path, the empty one before it included
AT_ONCE: Final = 100  # that are told of where the kind for which they waited is none any more


@dataclass(slots=True, eq=False)
class AddressKind:
    """Addresses that are alike; ``name`` is for people."""

    name: str
    is_doubted: bool = False
    is_broad: bool = False  # holds back only what is known to bring little
    is_unknown: bool = False  # an ending or a view of things that may be anything: images of disks
    is_mode: bool = False  # the same is asked for of many paths: likely another face of each
    is_face: bool = False  # the same is shown of many things
    is_of_several: bool = False  # whatever several parameters choose together
    is_place: bool = False  # all that lies in a folder whose name speaks against it
    is_of_copies: bool = False  # brings whatever is not left out of the index
    is_endless: bool = False  # days and months go on for ever: what is over brings no more
    tries: int = 0  # visited, or handed out to be
    brought: int = 0
    nothing: int = 0
    in_vain: int = 0  # the last ones that brought nothing
    beside: "AddressKind | None" = None  # where days and months of several calendars are of one
    all_in_vain: int = 0  # the last ones of each of those that brought nothing
    longest: int = 0  # of them in a row, after which one brought something
    twins: int = 0  # of those, that say what they say without a parameter: they count twice
    next_s: float = 0.0  # when one more may be tried
    waiting: dict[int, int] = field(default_factory=dict)  # hosts of pages that are put off

    @property
    def likely(self) -> float:
        """Chance that one more brings something: the mean of its beta posterior."""
        if self.is_endless and self.in_vain >= self._most_in_vain:
            return 0.0
        plain = _MODE_PRIOR if self.is_mode else _PRIOR
        good, bad = _DOUBTED_PRIOR if self.is_doubted else plain
        seen = self.brought + self.nothing + _TWIN * self.twins
        return (self.brought + good) / (seen + good + bad)

    @property
    def _most_in_vain(self) -> int:
        beside = self.beside
        if beside is None or beside.all_in_vain < _MANY_IN_VAIN:
            return _MOST_IN_VAIN
        return min(max(_FEW_IN_VAIN, 2 * beside.longest), _MOST_IN_VAIN)

    @property
    def first(self) -> int:
        """Tries before what it brings is looked at."""
        if self.is_doubted:
            return _DOUBTED_TRIES
        if self.is_mode:
            return _MODE_TRIES
        is_many = self.is_broad and "?" not in self.name and not self.is_unknown
        return _BROAD_TRIES if is_many else _TRIES

    @property
    def is_known(self) -> bool:
        """True when enough was seen of it to go by."""
        return self.brought + self.nothing + self.twins >= self.first

    @property
    def is_proven(self) -> bool:
        """True when what it brings overrides what speaks against it."""
        return self.is_known and self.likely >= _PROVEN

    @property
    def brings_little(self) -> bool:
        """True when it is known that one more hardly brings anything."""
        return self.is_known and self.likely < _LEAST_YIELD

    @property
    def n_welcome(self) -> float:
        """Number of further tries allowed now."""
        if self.likely < _LEAST_YIELD and (self.is_doubted or self.is_known):
            return max(self.first - self.tries, 0)
        is_tried = self.is_unknown or (self.is_doubted and not self.is_proven)
        if self.is_broad and "?" not in self.name and not is_tried:
            return inf
        on_their_way = self.tries - self.brought - self.nothing
        return max(self.first, self.brought) - on_their_way

    def count(self, brings: bool) -> None:
        """Count what one of it brought: something, or nothing."""
        self.brought += brings
        self.nothing += not brings
        if self.beside is not None:
            self.beside.all_in_vain += -self.in_vain if brings else 1
            self.beside.longest = max(self.beside.longest, self.in_vain if brings else 0)
        self.in_vain = 0 if brings else self.in_vain + 1

    def put_off(self, lease: Lease, found: list["AddressKind"]) -> None:
        """Remember a page that waits for this kind, and all kinds that it is of."""
        if len(self.waiting) < _MOST_WAITING:
            self.waiting[lease.page_id] = lease.host_id

    def welcome(self) -> list[tuple[int, int]]:
        """Return the pages, with their hosts, that need wait no longer."""
        free = int(max(min(self.n_welcome, len(self.waiting)), 0))
        return [(page_id, self.waiting.pop(page_id)) for page_id in self._next(free)]

    def _next(self, n: int) -> list[int]:
        return list(islice(self.waiting, n))


@dataclass(slots=True, eq=False)
class DoubtedKinds(AddressKind):
    """All that is doubted on a host; ``brought`` counts what the whole host has brought.

    What there is much of leaves a place to what there is little of: a kind is tried next that may
    soon be in doubt no more, then one that was never tried, then the likeliest to bring something.
    """

    by_kind: dict[AddressKind, dict[int, None]] = field(default_factory=dict)  # those that wait
    next_ones: dict[int, None] = field(default_factory=dict)  # chosen, and not yet tried

    @property
    def n_welcome(self) -> float:
        """Number of further tries of all of them allowed now, but for those that were chosen."""
        tried = self.tries + len(self.next_ones)
        return max(_DOUBTED_FIRST + int(_DOUBTED_SHARE * self.brought) - tried, 0)

    def welcome(self) -> list[tuple[int, int]]:
        """Return the pages, with their hosts, that are tried next; no other takes their place."""
        chosen = AddressKind.welcome(self)
        if len(self.next_ones) > _MOST_COMPARED:  # of pages that never come
            self.next_ones.clear()
        self.next_ones.update((page_id, None) for page_id, _ in chosen)
        return chosen

    def is_next(self, page_id: int) -> bool:
        """Tell whether a page was chosen to be tried next; it comes now, and takes its place."""
        is_chosen = page_id in self.next_ones
        self.next_ones.pop(page_id, None)
        return is_chosen

    def put_off(self, lease: Lease, found: list[AddressKind]) -> None:
        """Remember a page that waits, and of which kind it is."""
        AddressKind.put_off(self, lease, found)
        if lease.page_id in self.waiting:
            of_query = "?" in lease.url and len(found) > 1
            place = next((kind for kind in found if kind.is_place), None)
            kind = place or found[of_query]  # whatever its path
            self.by_kind.setdefault(kind, {})[lease.page_id] = None

    def _next(self, n: int) -> list[int]:
        chosen: list[int] = []
        while self.by_kind and len(chosen) < n:
            chosen += self._of(max(islice(self.by_kind, _MOST_COMPARED), key=_promise), 1)
        return chosen

    def no_more(self, found: list[AddressKind]) -> list[tuple[int, int]]:
        """Return the pages, with their hosts, of those of these kinds that are in doubt no more."""
        proven = [kind for kind in found if kind in self.by_kind and kind.is_proven]
        told = [page_id for kind in proven for page_id in self._of(kind, AT_ONCE)]
        return [(page_id, self.waiting.pop(page_id)) for page_id in told]

    def _of(self, kind: AddressKind, n: int) -> list[int]:
        """Return some that wait, of a kind that is behind all others that are as likely then."""
        pages = self.by_kind.pop(kind)
        following = list(islice(pages, n))
        for page_id in following:
            del pages[page_id]
        if pages:
            self.by_kind[kind] = pages
        return [page_id for page_id in following if page_id in self.waiting]


def _promise(kind: AddressKind) -> tuple[bool, bool, float]:
    n = kind.brought + kind.nothing
    after_one = (kind.brought + 1 + _DOUBTED_PRIOR[0]) / (n + 1 + sum(_DOUBTED_PRIOR))
    may_be_proven = kind.brought > 0 and after_one >= _PROVEN and kind.tries == n
    return may_be_proven, kind.tries == 0, kind.likely


def branch_of(path: str) -> str:
    """Return the branch of the site that a page lies in: two levels, and a name space.

    Wikis say by it what their pages are for, as in ``Special:Log``.
    """
    *folders, last = without_hashes(path).split("/")
    return "/".join([*folders[:3], f"{space_of(last) if len(folders) < 3 else ''}*"])


def space_of(name: str) -> str:
    """Return the name space that a page's name begins with, with its colon; "": it has none."""
    space, colon, _ = name.replace("%3A", ":").partition(":")
    is_space = colon and "/" not in space and not space[:1].isdecimal()
    return f"{space}:" if is_space else ""


def numbered_branch(path: str) -> str | None:
    """Return the branch and the depth of a path that ends in a number, below others."""
    folders = path.rstrip("/").split("/")
    if len(folders) < _DEEP or not folders[-1].isdecimal():
        return None
    return f"/{folders[1]}/{'*/' * (len(folders) - 3)}#"
