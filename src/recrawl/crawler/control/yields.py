"""What kinds of address bring: pages behind a query are visited as their kind has proved worth it.

One script of a site can have an address for every page, and a hundred for each that edit, compare,
sort or log in. Addresses are told apart by shape: host, path, names of parameters, and the values
of those parameters that have few. The first of a shape are visited like any other page; what they
bring (a page that was not known, or nothing) is a coin tossed, and while the chance that the next
brings something is small, few more are tried. Words that speak against an address only make its
shape prove itself sooner: evidence overrides them.
"""

import re
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from recrawl.crawler.control.urls import host_of, path_of
from recrawl.terms import Lease, Outcome, PageState, PageUpdate

__all__ = ["LITTLE", "AddressYields"]

LITTLE: Final = "addresses of its kind have brought nothing new: only few of them are tried"
_FEW: Final = 8  # values of a parameter that are told apart; one with more of them names pages
_TRIES: Final = 6  # of a shape, before what it brings is looked at
_DOUBTED_TRIES: Final = 2
_LEAST_YIELD: Final = 0.15  # chance that one more brings something
_PRIOR: Final = (1.0, 1.0)  # of bringing something, and nothing
_DOUBTED_PRIOR: Final = (0.2, 1.8)
_TRICKLE_S: Final = 3 * 3_600.0  # between two tries of a shape that brings nothing
_MOST_WAITING: Final = 20_000  # of a shape, that are told of when it proves worth it
_NOT_SEEN: Final = frozenset(
    {Outcome.LOST, Outcome.OBSOLETE, Outcome.THROTTLED, Outcome.DISALLOWED}
)
_MOST_SHAPES: Final = 100_000
_MOST_SIGNATURES: Final = 1_000_000
_DOUBTS: Final = re.compile(
    r"""(?:^|[?&;])(?:
        (?:action|do|act|mode|view|op|cmd|task|a|what|printable|share|replytocom|diff|oldid|rev|revs
          |revision|rev1|rev2|sessionid|session|sid|phpsessid|jsessionid|token|redirect|redirect_to
          |returnto|return|sort|order|orderby|dir|idx|media|tab|format|output|feed)=
        (?:edit|submit|history|diff|recent|revisions|revert|login|logout|register|signup|index|media
          |mediamanager|export_\w+|backlink|draft|preview|print|printable|email|share|raw|info|delete
          |protect|watch|unwatch|purge|credits|blame|snapshot|patch|log|shortlog|rss|atom|subscribe
          |1|yes|true|asc|desc|[\w%/.:+-]*)
        |C=[NMSD]|O=[AD])(?:$|[&;])""",
    re.VERBOSE | re.IGNORECASE,
)
# Of a parameter that often only names a page, the value must speak against it.
_HARMLESS: Final = re.compile(
    r"(?:^|[?&;])(?:action|do|act|mode|view|op|cmd|task|a|what|tab|format|output)="
    r"(?:show|view|read|display|page|article|summary|tree|blob|html)?(?:$|[&;])",
    re.IGNORECASE,
)


@dataclass(slots=True)
class _Shape:
    tries: int = 0  # visited, or handed out to be
    brought: int = 0
    nothing: int = 0
    next_s: float = 0.0  # when one more may be tried
    is_doubted: bool = False
    waiting: deque[tuple[int, int]] = field(default_factory=deque)  # put off: page and host

    @property
    def likely(self) -> float:
        """Chance that one more brings something: the mean of its beta posterior."""
        good, bad = _DOUBTED_PRIOR if self.is_doubted else _PRIOR
        return (self.brought + good) / (self.brought + self.nothing + good + bad)

    @property
    def n_welcome(self) -> int:
        """How many more may be tried now."""
        tries = _DOUBTED_TRIES if self.is_doubted else _TRIES
        if self.likely < _LEAST_YIELD:
            return max(tries - self.tries, 0)
        on_their_way = self.tries - self.brought - self.nothing
        return max(tries, self.brought) - on_their_way


class AddressYields:
    """Learns what shapes of address bring, and says which pages wait.

    In memory: what the state knows of visited pages is enough to learn it anew.
    """

    def __init__(self) -> None:
        self._values: dict[tuple[str, str], set[str]] = {}
        self._shapes: dict[tuple[str, ...], _Shape] = {}
        self._signatures: set[int] = set()

    def recall(self, visited: Iterable[tuple[str, PageState, bytes | None]]) -> None:
        """Learn from pages with a query that were visited before: address, state, signature."""
        for url, state, signature in visited:
            self._shape(url).tries += 1
            self._count(url, state is PageState.INDEXED and self._is_new(url, signature))

    def observe(self, update: PageUpdate) -> list[tuple[int, int]]:
        """Learn from a visit; return pages, with their hosts, that need no longer be put off."""
        lease, outcome = update.lease, update.visit.outcome
        if "?" not in lease.url:
            if update.signature is not None:  # so that its copies are known as such
                self._is_new(lease.url, update.signature)
            return []
        if lease.last_visit_s is not None or lease.state is not PageState.DISCOVERED:
            return []
        shape = self._shape(lease.url)
        if outcome in _NOT_SEEN:
            shape.tries = max(shape.tries - 1, 0)
        else:
            new = update.state is PageState.INDEXED and self._is_new(lease.url, update.signature)
            self._count(lease.url, new)
        free = min(shape.n_welcome, len(shape.waiting))
        return [shape.waiting.popleft() for _ in range(free)]

    def due_s(self, lease: Lease, now_s: float) -> float:
        """Return when a page that was never visited is to be tried: now, or later.

        A page that is to be tried now counts as tried. One that is put off is told of by
        :meth:`observe` as soon as its kind turns out to be worth it.
        """
        if "?" not in lease.url:
            return now_s
        shape = self._shape(lease.url)
        if shape.n_welcome > 0:
            shape.tries += 1
            return now_s
        if 0.0 < shape.next_s <= now_s:  # a few are tried all the same
            shape.tries += 1
            shape.next_s = now_s + _TRICKLE_S
            return now_s
        shape.next_s = shape.next_s or now_s + _TRICKLE_S
        if len(shape.waiting) < _MOST_WAITING:
            shape.waiting.append((lease.page_id, lease.host_id))
        return shape.next_s + _TRICKLE_S * len(shape.waiting)

    @property
    def n_put_off(self) -> int:
        """Pages that wait for their kind to prove worth it."""
        return sum(len(shape.waiting) for shape in self._shapes.values())

    def examples(self, limit: int = 20) -> Sequence[tuple[str, int, int]]:
        """Return shapes that bring little, in words, with visits and what they brought."""
        poor = [
            (_words(key), shape.brought + shape.nothing, shape.brought)
            for key, shape in self._shapes.items()
            if shape.nothing >= _DOUBTED_TRIES and shape.brought < _LEAST_YIELD * shape.nothing
        ]
        return sorted(poor, key=lambda row: -row[1])[:limit]

    def _count(self, url: str, is_new: bool) -> None:
        shape = self._shape(url)
        shape.brought += is_new
        shape.nothing += not is_new

    def _is_new(self, url: str, signature: bytes | None) -> bool:
        """Tell whether no other page of the host says the same; remember that this one does."""
        if signature is None:
            return True
        if len(self._signatures) > _MOST_SIGNATURES:
            self._signatures.clear()
        told = hash((host_of(url), signature))
        known = told in self._signatures
        self._signatures.add(told)
        return not known

    def _shape(self, url: str) -> _Shape:
        host = host_of(url)
        path, _, query = path_of(url).partition("?")
        key = [host, path]
        parts = sorted(part.partition("=") for part in query.replace(";", "&").split("&")[:50])
        for name, _, value in parts:
            place = f"{path}?{name[:100]}"
            if len(self._values) > _MOST_SHAPES:
                self._values.clear()
            values = self._values.setdefault((host, place), set())
            if len(values) <= _FEW:
                values.add(value[:100])
            key.append(f"{name[:100]}={value[:100]}" if len(values) <= _FEW else f"{name[:100]}=*")
        if len(self._shapes) > _MOST_SHAPES:
            self._shapes.clear()
        return self._shapes.setdefault(tuple(key), _Shape(is_doubted=is_doubted(url)))


def is_doubted(url: str) -> bool:
    """Tell whether the words of a query speak against a page: edit, diff, login, sort ..."""
    query = url.partition("?")[2]
    return bool(_DOUBTS.search(_HARMLESS.sub("&", query)))


def _words(key: tuple[str, ...]) -> str:
    return f"{key[0]}{key[1]}?{'&'.join(key[2:])}"
