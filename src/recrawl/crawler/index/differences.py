"""What a page says anew, and what no longer: lines that came and went, short enough to be kept."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

__all__ = ["difference"]

_MOST_LINES: Final = 24
_LONGEST: Final = 240  # characters of a line
_BEFORE: Final = 60  # characters that are shown before the place where two lines part
_ALIKE: Final = 0.4  # of the longer line that two lines have in common: one became the other


def difference(before: str, after: str) -> str:
    """Return the lines that went, marked by ``-``, and those that came, marked by ``+``.

    A line that another took the place of stands before it, and both are clipped to where they
    part. Lines that only moved are left out: "" where all did. O(length), whatever the texts are.
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
