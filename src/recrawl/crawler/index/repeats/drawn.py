"""Parts that a host draws by chance for every request: learned from two looks at once, left aside.

A saying of the day, "you may also like", how many are reading along: a page with such a part is
another at every look, though nobody has changed it. Two looks, one right after the other, tell:
where they differ, the page differs by itself. The part is remembered by the lines that it stands
between, as these are the same on many pages, and a line in which nothing but numbers differ by what
is around them. Once two pairs of looks agree on it, what is new there is no change of the page.

Lines that a page has several times ("Read more", "Add to cart") tell no place: on another page what
people write stands between such. Nor do words tell a number of which a page has several, as those
around its price and around the prices of what it suggests.

Often one of the two lines is its page's own, as the last of a text above a saying. Where other
pages have shown a part at the other line, one pair of looks is enough to know that this page has it
there, too. So it is for the page that was looked at where its host has shown much by chance.

The order of lines is part of what a page says, as of steps and of charts. Where that is drawn, two
looks tell, too.
"""

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec
import xxhash

from recrawl.crawler.index.repeats.notes import HostNotes, Shelf
from recrawl.terms import Document

_LOOKS: Final = 2  # pairs of them that must agree
_MANY: Final = 8  # pairs that have shown some part of a host, from which on one is enough
_KEPT_S: Final = 60 * 86_400.0  # since that was seen last: pages are made anew
_MOST_LINES: Final = 60  # of a part
_MOST_OF_PAGE: Final = 0.5  # of which more is drawn: it is another page each time
_GAPS: Final = (0, 1, 2)  # lines in a part that are the same, as some are drawn twice in a row
_LONGEST: Final = 5_000  # lines of a page
_MOST_COME: Final = 400  # of them, or what a hostile page shows would take seconds to place
_MOST_PARTS: Final = 400  # of a host
_MOST_HOSTS: Final = 300  # that are at hand
_WRITTEN_EVERY: Final = 4  # pairs of looks at a host
_TOP, _END = 0, 1  # in place of the line before the first, and after the last
_ORDER: Final = 1  # makes other marks of lines before, for parts that are put in another order
_COUNT: Final = 2  # in place of the line before, for what is around numbers
_ANY: Final = 3  # in place of a line before or after, for what is drawn at the other
_FEWEST_LETTERS: Final = 6  # around numbers, by which a line is known
_DIGITS: Final = re.compile(r"\d+(?:[.,:]\d+)*")


class _Part(msgspec.Struct, array_like=True):
    """A part of pages, between two lines."""

    looks: int = 0
    most: int = 0  # lines
    seen_s: float = 0.0
    page: int = 0  # that has shown it first

    def is_old(self, now_s: float) -> bool:
        """Tell whether looks have shown it too long ago."""
        return now_s - self.seen_s > _KEPT_S

    def is_sure(self, now_s: float) -> bool:
        """Tell whether looks agree that it is drawn, and not too long ago."""
        return self.looks >= _LOOKS and not self.is_old(now_s)


Parts = dict[int, dict[int, _Part]]  # by line before and line after


@dataclass(frozen=True, slots=True)
class _Known:
    """Parts of its host that a page may have, and when it was read."""

    parts: Parts
    page: int
    now_s: float

    def is_many(self) -> bool:
        """Tell whether its host has shown much by chance, and not too long ago."""
        shown = self.parts.get(_ANY, {}).get(_ANY, _Part())
        return shown.looks >= _MANY and not shown.is_old(self.now_s)


def as_it_is(line: str) -> bytes:
    """Tell a line apart from any other."""
    return line.encode("utf-8", "replace")


@dataclass(slots=True)
class Drawn:
    """Parts of pages that are drawn by chance, host by host; bounded, whatever pages there are.

    Parameters
    ----------
    shelf : where they are kept between two processes; None: nowhere
    mark : makes of lines what is the same where they say the same
    """

    shelf: Shelf[Parts] | None = None
    mark: Callable[[str], bytes] = as_it_is
    notes: HostNotes[Parts] = field(init=False)

    def __post_init__(self) -> None:
        self.notes = HostNotes(self.shelf, most=_MOST_HOSTS, every=_WRITTEN_EVERY)

    def learn(self, document: Document, again: str) -> None:
        """Learn from two looks at a page, the second right after the first. O(lines).

        Parameters
        ----------
        document : of the page
        again : its text right afterwards
        """
        lines, others = document.text.split("\n"), again.split("\n")
        if max(len(lines), len(others)) > _LONGEST:
            return
        now, then = _Looks.of(others, lines, (), self.mark), _Looks.of(lines, others, (), self.mark)
        n_differ = max(len(now.come), len(then.come))
        if n_differ <= min(_MOST_COME, _MOST_OF_PAGE * len(now.marks)):
            found = _parts(now, then)
            sides = [((_ANY, after), (before, _ANY)) for before, after in found]
            found |= {side: 1 for both in sides for side in both}
            if found:
                found[_ANY, _ANY] = 1
            for around in _counts(now, then) & _lone(lines) & _lone(others):
                found[_COUNT, around] = 1
            moved = now.moved(then)
            if moved is not None:
                before, after = now.around(*moved)
                found[now.at(before) ^ _ORDER, now.at(after)] = after - before - 1
            if found:
                self._keep(document, found)

    def same(self, document: Document, held: str, passing: Container[str] = ()) -> bool:
        """Tell whether two texts of a page differ in nothing but what is drawn.

        All that came stands in parts that are drawn, and all that went stood in such, or as many
        lines went as came. Empty lines count for nothing. O(lines).

        Parameters
        ----------
        document : of the page now
        held : text of the copy that is held
        passing : lines that may come and go, as their host repeats them
        """
        known = self._known(document)
        if not known.parts:
            return False
        lines, others = document.text.split("\n"), held.split("\n")
        if max(len(lines), len(others)) > _LONGEST:
            return False
        now = _Looks.of(others, lines, passing, self.mark)
        n_drawn = now.drawn(known) if len(now.come) <= _MOST_COME else None
        if n_drawn is None:
            return False
        then = _Looks.of(lines, others, passing, self.mark)
        if len(then.come) > _MOST_COME:
            return False
        return len(then.new) <= n_drawn or then.drawn(known) is not None

    def in_order(self, document: Document, held: str, passing: Container[str] = ()) -> bool:
        """Tell whether lines of two texts are in the same order, but where that is drawn. O(lines).

        Parameters
        ----------
        document : of the page now
        held : what the copy that is held says for itself
        passing : lines that may stand anywhere, as their host repeats them
        """
        lines = document.text.split("\n")
        if len(lines) > _LONGEST:
            return True
        own = [line for line in held.split("\n") if line not in passing]
        now = _Looks.of(own, lines, passing, self.mark)
        moved = now.moved(_Looks.of(lines, own, (), self.mark))
        if moved is None:
            return True
        known = self._known(document)
        return now.is_drawn(known, *moved) or now.is_drawn(known, *moved, _ORDER)

    def _known(self, document: Document) -> _Known:
        parts = self.notes.of(_host_of(document.url)) or {}
        return _Known(parts, _page(document), document.fetched_at_s)

    def _keep(self, document: Document, found: dict[tuple[int, int], int]) -> None:
        name, page = _host_of(document.url), _page(document)
        host = self.notes.of(name) or {}
        for (one, other), size in found.items():
            part = host.setdefault(one, {}).setdefault(other, _Part(page=page))
            part.looks += 1
            part.most = max(part.most, size)
            part.seen_s = document.fetched_at_s
        kept = [(part, one, other) for one in host for other, part in host[one].items()]
        # A side that was seen once is a line of one page; its part says more of that.
        kept.sort(
            key=lambda place: (
                (place[0].looks >= _LOOKS) - (_ANY in place[1:] and place[0].looks < _LOOKS),
                place[0].seen_s,
            )
        )
        for _, one, other in kept[: max(len(kept) - _MOST_PARTS, 0)]:
            del host[one][other]
            if not host[one]:
                del host[one]
        self.notes.put(name, host)


@dataclass(frozen=True, slots=True)
class _Looks:
    """The lines of one text, and which of them another has not."""

    marks: list[int]
    once: set[int]  # marks that tell a place, as only one row has them
    new: dict[int, int]  # rows, and what is around the numbers in each; 0: next to nothing
    come: list[int]  # these, and rows that may come and go

    @classmethod
    def of(
        cls,
        others: Sequence[str],
        lines: Sequence[str],
        passing: Container[str],
        mark: Callable[[str], bytes],
    ) -> "_Looks":
        left = Counter(_number(mark(line)) for line in others if line)
        marks: list[int] = []
        new: dict[int, int] = {}
        come: list[int] = []
        for line in filter(None, lines):
            one = _number(mark(line))
            left[one] -= 1
            if left[one] < 0:
                come.append(len(marks))
            if left[one] < 0 and line not in passing:
                new[len(marks)] = _around(line)
            marks.append(one)
        return cls(marks, {one for one, n in Counter(marks).items() if n == 1}, new, come)

    def at(self, row: int) -> int:
        """Return the mark of a row; those beyond have marks of their own."""
        if row < 0:
            return _TOP
        return self.marks[row] if row < len(self.marks) else _END

    def tells_place(self, row: int) -> bool:
        """Tell whether a row is no other's like, and has not come; those beyond are such."""
        return self.at(row) in (_TOP, _END) or (self.at(row) in self.once and row not in self.new)

    def around(self, first: int, end: int) -> tuple[int, int]:
        """Return the nearest rows before and after a run that tell a place."""
        before, after = first - 1, end
        while not self.tells_place(before):
            before -= 1
        while not self.tells_place(after):
            after += 1
        return before, after

    def drawn(self, known: _Known) -> int | None:
        """Return how many lines stand within parts that are drawn; None: not all that are new."""
        counts = known.parts.get(_COUNT, {})
        counted = {row for row, around in self.new.items() if around in counts}
        counted = {row for row in counted if counts[self.new[row]].is_sure(known.now_s)}
        n = len(counted)
        for first, end in self.runs((row for row in self.come if row not in counted), 0):
            if self.is_drawn(known, first, end):
                n += end - first
                continue
            # What may come and go stands beside what is drawn.
            own = [row for row in range(first, end) if row in self.new]
            if not all(self.is_drawn(known, *run) for run in self.runs(own, 0)):
                return None
            n += len(own)
        return n

    def moved(self, then: "_Looks") -> tuple[int, int] | None:
        """Return the rows from the first to the last that are in another order; None: all are not.

        Only rows count of which both texts have one.
        """
        both = self.once & then.once
        rows = [row for row, mark in enumerate(self.marks) if mark in both]
        others = [mark for mark in then.marks if mark in both]
        moved = [row for row, other in zip(rows, others, strict=True) if self.marks[row] != other]
        return (moved[0], moved[-1] + 1) if moved else None

    def is_drawn(self, known: _Known, first: int, end: int, what: int = 0) -> bool:
        """Tell whether rows stand in a part that is drawn, or whose order is, as ``what`` says.

        Where it is longer than it was seen, nothing in it is as it was: else a line of the text
        between a list and the end of the page would be drawn where other pages end with the list.
        """
        anywhere, is_many = known.parts.get(_ANY, {}), known.is_many()
        for before in range(first - 1, max(first - 2 - _MOST_LINES, -2), -1):
            beyond = known.parts.get(self.at(before) ^ what)
            if beyond is None or not self.tells_place(before):
                continue
            for after in range(end, min(before + 2 * _MOST_LINES, len(self.marks)) + 1):
                part = beyond.get(self.at(after))
                if part is None or not self.tells_place(after) or part.is_old(known.now_s):
                    continue
                sides = beyond.get(_ANY, _Part()), anywhere.get(self.at(after), _Part())
                is_likely = is_many and part.page == known.page
                is_likely |= any(side.looks > _LOOKS for side in sides)
                if part.looks < _LOOKS and not is_likely:
                    continue
                size = after - before - 1
                around = [*range(before + 1, first), *range(end, after)]
                if size <= part.most or (
                    size <= 2 * part.most and not any(map(self.tells_place, around))
                ):
                    return True
        return False

    @staticmethod
    def runs(rows: Iterable[int], gap: int) -> list[tuple[int, int]]:
        """Return where rows begin and end, as one where at most ``gap`` others part them."""
        found: list[tuple[int, int]] = []
        for row in rows:
            if found and row - found[-1][1] <= gap:
                found[-1] = found[-1][0], row + 1
            else:
                found.append((row, row + 1))
        return found


def _parts(now: _Looks, then: _Looks) -> dict[tuple[int, int], int]:
    """Return the parts in which a page is another right afterwards, with their numbers of lines."""
    found: dict[tuple[int, int], int] = {}
    rows = {mark: row for row, mark in enumerate(then.marks) if mark in then.once}
    rows |= {_TOP: -1, _END: len(then.marks)}
    come = set(now.come)
    for first, end in {run for gap in _GAPS for run in now.runs(now.come, gap)}:
        before, after = now.around(first, end)
        between = [row for row in range(first, end) if row not in come and now.tells_place(row)]
        # What is between two parts keeps its distance from what is around them; what was drawn
        # twice in a row hardly does.
        ends = {rows.get(now.at(row), row) - row for row in (before, after)}
        if any(rows.get(now.at(row), row) - row in ends for row in between):
            continue
        size = after - before - 1
        if size <= _MOST_LINES and size < len(now.marks):
            found[now.at(before), now.at(after)] = size
    return found


def _counts(now: _Looks, then: _Looks) -> set[int]:
    """Return what is around numbers where nothing else is another right afterwards."""
    both = {*now.new.values()} & {*then.new.values()} - {0}
    runs = ([now.new.get(row, 0) for row in range(*run)] for run in now.runs(now.come, 0))
    return {around for run in runs if both.issuperset(run) for around in run}


def _lone(lines: Iterable[str]) -> set[int]:
    """Return what is around the numbers of one line only."""
    return {around for around, n in Counter(map(_around, lines)).items() if n == 1}


def _around(line: str) -> int:
    """Return what is around the numbers of a line; 0: next to nothing, or there are none."""
    around = _DIGITS.sub("", line)
    says = around != line and sum(map(str.isalpha, around)) >= _FEWEST_LETTERS
    return _number(as_it_is(around)) if says else 0


def _number(mark: bytes) -> int:
    return xxhash.xxh3_64_intdigest(mark) | 4  # none of those that stand for something else


def _page(document: Document) -> int:
    return _number(as_it_is(document.url))


def _host_of(url: str) -> str:
    return url.split("/", 3)[2]
