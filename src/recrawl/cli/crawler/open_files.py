"""Files that a process may have open, of which connections are most."""

import resource
from math import inf
from typing import Final

from recrawl.errors import InputError

_PLENTY: Final = 10_000  # which every system allows that has no bound of its own
_BESIDE: Final = 150  # state, index, readers, and what looks up names


def allow_open_files(n_robots: int) -> None:
    """Have this process open as many files as it needs, if the system lets it.

    Most systems let it open many more than it is given at first, for the sake of old programs.

    Parameters
    ----------
    n_robots : that have a connection each

    Raises
    ------
    InputError
        That is too few for so many robots.
    """
    needed = n_robots + _BESIDE
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = inf if hard == resource.RLIM_INFINITY else hard
    if most < needed:
        fewer = f", or have robots = {hard - _BESIDE}" if hard > _BESIDE else ""
        raise InputError(
            f"robots: {n_robots} fetches at a time need some {needed} open files, of which this "
            f"process may have {hard}; raise that limit (`ulimit -n 4096`){fewer}"
        )
    wanted = int(min(most, max(needed, _PLENTY)))
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
