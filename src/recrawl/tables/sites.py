"""Sites: hosts that share a registrable domain."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from publicsuffixlist import PublicSuffixList

__all__ = ["group_into_sites"]


def group_into_sites(hosts: Sequence[str]) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Give each host the number of its site, itself where it has no registrable domain."""
    suffixes = PublicSuffixList()
    numbers: dict[str, int] = {}
    groups = np.empty(len(hosts), dtype=np.int64)
    for position, host in enumerate(hosts):
        name = host.rpartition("://")[2].rpartition("@")[2].partition(":")[0].lower()
        site = suffixes.privatesuffix(name) or name
        groups[position] = numbers.setdefault(site, len(numbers))
    return groups, tuple(numbers)
