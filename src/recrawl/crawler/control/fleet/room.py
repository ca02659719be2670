"""Bound on what any control saves over the one that never loses a page, in closed form.

Robots that run only while the buffer has room for what they bring make a chain of births and
deaths: at length ``q`` there are ``min(N, K - q)`` robots. Its stationary law needs no solver, and
neither does the bound that no control can pass, so a crawl knows whether solving can matter.
"""

from collections.abc import Sequence
from typing import Final

_LARGE: Final = 1e100


def starvation_with_room(n_robots: int, capacity: int, load: float, n_servers: int = 1) -> float:
    """Return the share of time with an empty buffer while robots run as room permits.

    Parameters
    ----------
    n_robots, capacity : N >= 1 robots and K >= 1 places
    load : fetch rate of one robot over the index rate of one server, >= 0
    n_servers : pages that are indexed at a time, >= 1

    Notes
    -----
    The chain goes up at rate ``load * min(N, K - q)`` and down at rate ``min(q, servers)`` (times
    the index rate); O(K).
    """
    births = [load * min(n_robots, capacity - length) for length in range(capacity)]
    return _empty(births, n_servers)


def most_to_win(n_robots: int, capacity: int, load: float, n_servers: int = 1) -> float:
    """Return an upper bound on the starvation that any control saves over running as room permits.

    Robots that always run, whatever they lose, starve the indexer least: then the buffer is a
    queue M/M/c/K under the load ``N * load``.

    Parameters
    ----------
    n_robots, capacity, load, n_servers : as for :func:`starvation_with_room`
    """
    always = _empty([load * n_robots] * capacity, n_servers)
    return max(starvation_with_room(n_robots, capacity, load, n_servers) - always, 0.0)


def _empty(births: Sequence[float], n_servers: int) -> float:
    """Return the probability of 0 in a chain with these rates upwards."""
    now, total = 1.0, 1.0
    for length, birth in enumerate(births, start=1):
        now *= birth / min(length, n_servers)
        total += now
        if now > _LARGE:  # before anything overflows, however long the chain
            break
    return 1.0 / total
