"""Choice of a host's pages to hand out together: new and old, due and ahead of their time."""

from collections.abc import Callable, Sequence
from math import inf
from typing import TypeAlias, TypeVar

from recrawl.terms import Lease

T = TypeVar("T")
Rated: TypeAlias = tuple[float, T]


def split(n_new: int, n_old: int, limit: int, discovery_share: float) -> tuple[int, int]:
    """Return how many of each to take: the share where both wait, all places where one does.

    Parameters
    ----------
    n_new, n_old : pages that wait, >= 0
    limit : pages to take at most, >= 0
    discovery_share : of the places, for new pages; in [0, 1]
    """
    if limit == 1 and n_new and n_old:
        return (1, 0) if discovery_share >= 0.5 else (0, 1)
    wanted = min(n_new, round(limit * discovery_share))
    old = min(n_old, limit - wanted)
    return min(n_new, limit - old), old


def interleave(first: Sequence[T], second: Sequence[T]) -> list[T]:
    """Return both in one list, each evenly spread and in its own order.

    Parameters
    ----------
    first, second : any lengths; of two items of one place, that of ``first`` comes first
    """
    places = [((number + 0.5) / len(first), 0, item) for number, item in enumerate(first)]
    places += [((number + 0.5) / len(second), 1, item) for number, item in enumerate(second)]
    return [item for _, _, item in sorted(places, key=lambda place: place[:2])]


def most_worth(
    new: Sequence[Rated[T]], old: Sequence[Rated[T]], listings: Sequence[Rated[T]], limit: int
) -> list[T]:
    """Return the first of all, by what each is worth.

    Parameters
    ----------
    new, old, listings : worth and item; where no new one waits, those of ``old`` are taken in
        their order, with each listing before the first that is worth less
    limit : items to take at most, >= 0
    """
    if new:
        both = sorted([*new, *old, *listings], key=lambda one: -one[0])
        return [item for _, item in both[:limit]]
    waiting, found = sorted(listings, key=lambda one: one[0]), list[T]()
    for worth, item in old[:limit]:
        while waiting and waiting[-1][0] > worth:
            found.append(waiting.pop()[1])
        found.append(item)
    return [*found, *(item for _, item in reversed(waiting))][:limit]


def best_ahead(
    first: Sequence[Lease],
    limit: int,
    worth: Callable[[Lease, float], float],
    now_s: float,
    min_interval_s: float,
) -> tuple[list[Lease], float]:
    """Return the pages that a visit now is worth most for, and when it is worth asking again.

    Parameters
    ----------
    first : the first few of each queue of pages that are due by their worth
    worth : of a visit at an instant; below or at 0: not to be visited

    Returns
    -------
    list of Lease, float
        At most ``limit``, best first, none visited less than ``min_interval_s`` ago; and, where
        there is none, the earliest instant at which there may be one, infinite without any page.
    """
    # A visit in the future was made by a clock that was ahead: it holds nobody up.
    ready = {
        lease.page_id: last_s + min_interval_s
        for lease in first
        if (last_s := lease.last_visit_s) is not None and last_s <= now_s
    }
    able = [lease for lease in first if ready.get(lease.page_id, now_s) <= now_s]
    rated = [(worth(lease, now_s), lease.due_s, lease) for lease in able]
    best = sorted((one for one in rated if one[0] > 0.0), key=lambda one: (-one[0], one[1]))
    if best:
        return [lease for _, _, lease in best[:limit]], now_s
    if able:  # none is worth it yet: it grows until they are due
        return [], now_s + max(1.0, 0.05 * (min(lease.due_s for lease in able) - now_s))
    return [], min(ready.values(), default=inf)
