"""Which pages are likely to change together: those of a directory, and translations of each other.

Directories form a tree, from all pages by sites down to each page's own. Beside it stand names:
pages of one directory that are called alike up to the first dot, as ``core.xml.fr`` and
``core.xml.de``; their group hangs below the site.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recrawl.errors import InvalidModel

__all__ = ["ROOT", "Companions", "companions_of"]

Integers = NDArray[np.int64]
ROOT = 0  # the group of all pages


@dataclass(frozen=True, slots=True, eq=False)
class Companions:
    """Groups of pages as a forest with one root, and where each page stands.

    Parameters
    ----------
    parents : shape (g,), the group around each group, of a smaller number; -1 for the first
    depths : shape (g,), groups around each group
    leaves : shape (n, 2), each page's directory, and the pages that share its name; -1: none do
    """

    parents: Integers
    depths: Integers
    leaves: Integers

    def __post_init__(self) -> None:
        groups = np.arange(self.parents.size)
        if not groups.size or self.parents[0] != -1:
            raise InvalidModel("parents: the first group is that of all pages, and has no parent")
        wrong = np.flatnonzero(
            (self.parents >= groups) | (self.parents < np.minimum(groups, 1) - 1)
        )
        if wrong.size:
            raise InvalidModel(
                f"parents: group {wrong[0]} lies in group {self.parents[wrong[0]]}; a group must "
                "lie in one of a smaller number, so that none is around itself"
            )
        if self.leaves.size and not -1 <= self.leaves.min() <= self.leaves.max() < groups.size:
            raise InvalidModel(f"leaves must lie in -1 .. {groups.size - 1}")

    @property
    def directories(self) -> Integers:
        """Each page's directory, shape (n,)."""
        return self.leaves[:, 0]

    def renumbered(self, order: Integers) -> "Companions":
        """Return the same groups with the pages in another order."""
        return Companions(self.parents, self.depths, np.ascontiguousarray(self.leaves[order]))


def companions_of(names: Sequence[tuple[str, str]]) -> Companions:
    """Group pages by site and path.

    Parameters
    ----------
    names : site and path of each page; an address in place of a path brings its own site
    """
    parents, depths = [-1], [0]
    known: dict[tuple[str, ...], int] = {}

    def group(key: tuple[str, ...], around: int) -> int:
        found = known.get(key)
        if found is None:
            found = known[key] = len(parents)
            parents.append(around)
            depths.append(depths[around] + 1)
        return found

    called = [_split(site, name) for site, name in names]
    often = Counter((host, *folders, page) for host, folders, page in called)
    leaves = np.full((len(names), 2), -1, np.int64)
    for row, (host, folders, page) in enumerate(called):
        around = whole = group(("site", host), ROOT)
        for depth in range(1, len(folders) + 1):
            around = group(("folder", host, *folders[:depth]), around)
        leaves[row, 0] = around
        if often[host, *folders, page] > 1:
            leaves[row, 1] = group(("name", host, *folders, page), whole)
    return Companions(np.array(parents, np.int64), np.array(depths, np.int64), leaves)


def _split(site: str, name: str) -> tuple[str, list[str], str]:
    """Return the site of a page, its folders, and what it is called up to the first dot."""
    _, slashes, rest = name.partition("://")
    host, path = (site, name) if not slashes else (site, rest)
    *folders, page = path.split("?")[0].split("/")
    return host, folders, page.split(".")[0]
