"""How pages never visited and pages to be revisited share one refill."""

from collections.abc import Sequence
from typing import TypeVar

__all__ = ["interleave", "split"]

T = TypeVar("T")


def split(n_new: int, n_old: int, limit: int, discovery_share: float) -> tuple[int, int]:
    """Return how many of each to take: the share where both wait, all places where one does."""
    if limit == 1 and n_new and n_old:
        return (1, 0) if discovery_share >= 0.5 else (0, 1)
    wanted = min(n_new, round(limit * discovery_share))
    old = min(n_old, limit - wanted)
    return min(n_new, limit - old), old


def interleave(first: Sequence[T], second: Sequence[T]) -> list[T]:
    """Return both in one list, each evenly spread and in its own order."""
    places = [((number + 0.5) / len(first), 0, item) for number, item in enumerate(first)]
    places += [((number + 0.5) / len(second), 1, item) for number, item in enumerate(second)]
    return [item for _, _, item in sorted(places, key=lambda place: place[:2])]
