"""Sites: hosts that share a registrable domain."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from recrawl.crawler.control.urls import site_of


def group_into_sites(hosts: Sequence[str]) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Give each host the number of its site, itself where it has no registrable domain."""
    numbers: dict[str, int] = {}
    groups = [numbers.setdefault(site_of(host), len(numbers)) for host in hosts]
    return np.asarray(groups, dtype=np.int64), tuple(numbers)
