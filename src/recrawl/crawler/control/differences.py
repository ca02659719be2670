"""Differences of two copies of a page: lines that came and went, short enough to be kept."""

import difflib
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from typing_extensions import override

__all__ = ["difference", "edit"]

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

    The shortest edit is looked for where that takes milliseconds; between texts that differ in
    thousands of lines all that lies between what both begin and end with is replaced.

    Parameters
    ----------
    before, after : texts of the copy that is held, and of the new one
    """
    held, new = before.split("\n"), after.split("\n")
    told: list[str] = []
    for group in _Steps(_opcodes(held, new)).get_grouped_opcodes(_CONTEXT):
        (_, i1, _, j1, _), (_, _, i2, _, j2) = group[0], group[-1]
        told.append(f"@@ -{i1 + 1},{i2 - i1} +{j1 + 1},{j2 - j1} @@")
        for tag, a1, a2, b1, b2 in group:
            if tag == "equal":
                told += [f" {line}" for line in held[a1:a2]]
            else:
                told += [f"-{line}" for line in held[a1:a2]]
                told += [f"+{line}" for line in new[b1:b2]]
    return _cut(told)


class _Steps(difflib.SequenceMatcher[str]):
    """Steps that were found already, to be grouped as difflib does."""

    def __init__(self, steps: list[Any]) -> None:
        super().__init__()
        self._steps = steps

    @override
    def get_opcodes(self) -> list[Any]:
        return self._steps


def _opcodes(held: list[str], new: list[str]) -> list[Any]:
    """Return the steps from one text to another, as difflib has them."""
    shorter, start = min(len(held), len(new)), 0
    while start < shorter and held[start] == new[start]:
        start += 1
    end = 0
    while end < shorter - start and held[-1 - end] == new[-1 - end]:
        end += 1
    a, b = held[start : len(held) - end], new[start : len(new) - end]
    counts = Counter(b)
    few = max(len(a), len(b)) <= _MOST_COMPARED
    if few and sum(counts[line] for line in a) <= _MOST_PAIRS:
        steps = difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    else:
        steps = [("replace", 0, len(a), 0, len(b))]
    moved = [(tag, *(place + start for place in places)) for tag, *places in steps]
    last_a, last_b = len(held) - end, len(new) - end
    first = [("equal", 0, start, 0, start)] if start else []
    last = [("equal", last_a, len(held), last_b, len(new))] if end else []
    return [*first, *moved, *last]


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
