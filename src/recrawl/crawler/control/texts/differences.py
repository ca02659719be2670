"""Differences of two copies of a page: lines that came and went, short enough to be kept."""

import difflib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from math import inf
from typing import Final

from typing_extensions import override

_MOST_LINES: Final = 24
_LONGEST: Final = 240  # characters of a line
_BEFORE: Final = 60  # characters that are shown before the place where two lines part
_ALIKE: Final = 0.4  # of the longer line that two lines have in common: one became the other

_MOST_EDITED: Final = 16_000  # characters of a unified diff
_LONGEST_EDITED: Final = 1_000  # characters of a line of it
_MOST_COMPARED: Final = 2_000  # lines, after what both begin and end with
_MOST_PAIRS: Final = 20_000  # of lines that are the same: more and the search would take seconds
_CONTEXT: Final = 2


def edit(before: str, after: str) -> str:
    """Return a unified diff, cut where it is long; "" where the texts are the same.

    Of a long line it tells what follows the place where it and the one that was there part.

    The shortest edit is looked for where that takes milliseconds; in texts with thousands of lines
    between the first change and the last one, between lines that both have once.

    Parameters
    ----------
    before, after : texts of the copy that is held, and of the new one
    """
    held, new = before.split("\n"), after.split("\n")
    told: list[str] = []
    for group in _Steps(_shared_lines(held, new)).get_grouped_opcodes(_CONTEXT):
        (_, i1, _, j1, _), (_, _, i2, _, j2) = group[0], group[-1]
        told.append(f"@@ -{i1 + 1},{i2 - i1} +{j1 + 1},{j2 - j1} @@")
        for tag, a1, a2, b1, b2 in group:
            if tag == "equal":
                told += [f" {line}" for line in held[a1:a2]]
            else:
                pairs = list(zip_longest(held[a1:a2], new[b1:b2], fillvalue=""))
                told += [f"-{_from_there(line, now)}" for line, now in pairs[: a2 - a1]]
                told += [f"+{_from_there(line, was)}" for was, line in pairs[: b2 - b1]]
    return _cut(told)


class _Steps(difflib.SequenceMatcher[str]):
    """Steps between lines that are known to be shared, to be grouped as difflib does."""

    def __init__(self, shared: list[difflib.Match]) -> None:
        super().__init__()
        self._shared = shared

    @override
    def get_matching_blocks(self) -> list[difflib.Match]:
        return self._shared


def _shared_lines(held: list[str], new: list[str]) -> list[difflib.Match]:
    """Return what two texts have in common, as difflib has it."""
    shorter, start = min(len(held), len(new)), 0
    while start < shorter and held[start] == new[start]:
        start += 1
    end = 0
    while end < shorter - start and held[-1 - end] == new[-1 - end]:
        end += 1
    a, b = held[start : len(held) - end], new[start : len(new) - end]
    blocks, left = [(0, 0, start)], float(_MOST_PAIRS)
    whole = [(0, len(a), 0, len(b))]
    for a1, a2, b1, b2 in whole if _pairs(a, b) <= left else _stretches(a, b):
        some, others = a[a1:a2], b[b1:b2]
        if (pairs := _pairs(some, others)) <= left:
            left -= pairs
            found = difflib.SequenceMatcher(None, some, others, autojunk=False)
            blocks += [
                (start + a1 + i, start + b1 + j, n) for i, j, n in found.get_matching_blocks()
            ]
        blocks.append((start + a2, start + b2, int(a2 < len(a))))
    blocks += [(len(held) - end, len(new) - end, end), (len(held), len(new), 0)]
    return _joined(blocks)


def _pairs(a: list[str], b: list[str]) -> float:
    """Return how many pairs of lines are the same; of thousands of lines too many to compare."""
    if max(len(a), len(b)) > _MOST_COMPARED:
        return inf
    counts = Counter(b)
    return sum(counts[line] for line in a)


def _stretches(a: list[str], b: list[str]) -> Iterator[tuple[int, int, int, int]]:
    """Yield what lies between the lines that each has once, in an order that both have them in."""
    once = [{line for line, n in Counter(lines).items() if n == 1} for lines in (a, b)]
    places = {line: j for j, line in enumerate(b) if line in once[1]}
    pairs = [(i, places[line]) for i, line in enumerate(a) if line in once[0] and line in places]
    least: list[int] = []  # place in b that a run of pairs of each length can end with
    last: list[int] = []  # the pair there, and the one before each pair
    before: list[int] = []
    for n, (_, place) in enumerate(pairs):
        length = bisect_left(least, place)
        before.append(last[length - 1] if length else -1)
        least[length : length + 1], last[length : length + 1] = [place], [n]
    n, run = last[-1] if last else -1, [(len(a), len(b))]
    while n >= 0:
        run.append(pairs[n])
        n = before[n]
    a1 = b1 = 0
    for a2, b2 in reversed(run):
        yield a1, a2, b1, b2
        a1, b1 = a2 + 1, b2 + 1


def _joined(blocks: list[tuple[int, int, int]]) -> list[difflib.Match]:
    """Return blocks of lines, with those that follow each other made one, and the empty last."""
    joined: list[difflib.Match] = []
    for i, j, n in blocks:
        held = joined[-1] if joined else difflib.Match(-1, -1, 0)
        if n and (held.a + held.size, held.b + held.size) == (i, j):
            joined[-1] = difflib.Match(held.a, held.b, held.size + n)
        elif n:
            joined.append(difflib.Match(i, j, n))
    i, j, _ = blocks[-1]
    return [*joined, difflib.Match(i, j, 0)]


def _from_there(line: str, other: str) -> str:
    """Return a line from where it and the one in its place part, if that is behind a cut."""
    at = _shared(line, other) if len(line) >= _LONGEST_EDITED else 0
    return line if at + _BEFORE < _LONGEST_EDITED else f"…{line[at - _BEFORE :]}"


def _cut(lines: Sequence[str]) -> str:
    told: list[str] = []
    left = _MOST_EDITED
    for line in lines:
        if len(line) > _LONGEST_EDITED:
            line = f"{line[:_LONGEST_EDITED]}…"  # noqa: PLW2901 - the same line, shorter
        left -= len(line) + 1
        if left < 0:
            told.append("…")
            break
        told.append(line)
    return "\n".join(told)


def difference(before: str, after: str) -> str:
    """Return the lines that went, marked by ``-``, and those that came, marked by ``+``.

    A line that another took the place of stands before it, and both are clipped to where they
    part. Lines that only moved are left out: "" where all did. O(length), whatever the texts are.

    Parameters
    ----------
    before, after : as for :func:`edit`
    """
    held, new = before.split("\n"), after.split("\n")
    gone, come = _only(held, new), _only(new, held)
    told: list[str] = []
    for line in gone:
        if len(told) >= _MOST_LINES:
            break
        other = _likest(line, come)
        if other is None:
            told.append(f"-{_clipped(line, 0)}")
            continue
        come.remove(other)
        at = _shared(line, other)
        told += [f"-{_clipped(line, at)}", f"+{_clipped(other, at)}"]
    told += [f"+{_clipped(line, 0)}" for line in come[:_MOST_LINES]]
    return "\n".join(told[:_MOST_LINES])


def _only(lines: Sequence[str], others: Sequence[str]) -> list[str]:
    """Return the first lines that others have not, or not as often."""
    left = Counter(lines) - Counter(others)
    found: list[str] = []
    for line in lines:
        if line and left[line] > 0:
            left[line] -= 1
            found.append(line)
            if len(found) > _MOST_LINES:
                break
    return found


def _likest(line: str, others: Sequence[str]) -> str | None:
    """Return the line that begins and ends most like another, if any does."""
    best, found = 0.0, None
    for other in others:
        start = _shared(line, other)
        shorter = min(len(line), len(other)) - start
        end = _shared(line[::-1][:shorter], other[::-1][:shorter])
        alike = (start + end) / max(len(line), len(other))
        if alike >= _ALIKE and alike > best:
            best, found = alike, other
    return found


def _shared(one: str, other: str) -> int:
    """Return how many characters two lines begin with in common; by halving, as lines are long."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _clipped(line: str, at: int) -> str:
    """Return the part of a line around a place."""
    begin = 0 if at + _BEFORE < _LONGEST else at - _BEFORE
    shown = line[begin : begin + _LONGEST]
    return f"{'…' if begin else ''}{shown}{'…' if begin + _LONGEST < len(line) else ''}"
