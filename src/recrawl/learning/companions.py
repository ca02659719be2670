"""Groups of pages that likely change together: those of a directory, translations of each other.

Directories form a tree, from all pages by sites down to each page's own. Beside it stand names:
pages of one directory that are called alike up to the first dot, as ``core.xml.fr`` and
``core.xml.de``; their group hangs below the site.
"""

from array import array
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recrawl.errors import InvalidModel

__all__ = ["ROOT", "Companions", "CompanionsBuilder", "companions_of"]

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


class CompanionsBuilder:
    """Groups pages one by one, as they are found."""

    def __init__(self) -> None:
        self._parents, self._depths = array("q", [-1]), array("q", [0])
        self._groups: dict[
            int, int
        ] = {}  # by the hash of site and folders: keys themselves are big
        self._called: dict[int, int] = {}  # the first page of a name, -1 - group once there are two
        self._leaves = array("q")

    def __len__(self) -> int:
        return len(self._leaves) // 2

    def add(self, site: str, name: str) -> None:
        """Add a page; an address in place of a path brings its own site."""
        row = len(self)
        host, folders, page = _split(site, name)
        around = whole = self._group(hash(("site", host)), ROOT)
        for depth in range(1, len(folders) + 1):
            around = self._group(hash(("folder", host, *folders[:depth])), around)
        self._leaves.extend((around, -1))
        key = hash(("name", host, *folders, page))
        first = self._called.setdefault(key, row)
        if first == row:
            return
        if first >= 0:
            group = self._group(key, whole)
            self._leaves[2 * first + 1] = group
            self._called[key] = -1 - group
        self._leaves[2 * row + 1] = -1 - self._called[key]

    def companions(self) -> Companions:
        """Return the groups of all pages so far."""
        parents, depths, leaves = (
            np.array(one, np.int64) for one in (self._parents, self._depths, self._leaves)
        )
        return Companions(parents, depths, leaves.reshape(-1, 2))

    def _group(self, key: int, around: int) -> int:
        found = self._groups.setdefault(key, len(self._parents))
        if found == len(self._parents):
            self._parents.append(around)
            self._depths.append(self._depths[around] + 1)
        return found


def companions_of(names: Iterable[tuple[str, str]]) -> Companions:
    """Group pages by site and path.

    Parameters
    ----------
    names : site and path of each page; an address in place of a path brings its own site
    """
    built = CompanionsBuilder()
    for site, name in names:
        built.add(site, name)
    return built.companions()


def _split(site: str, name: str) -> tuple[str, list[str], str]:
    """Return the site of a page, its folders, and what it is called up to the first dot."""
    _, slashes, rest = name.partition("://")
    host, path = (site, name) if not slashes else (site, rest)
    *folders, page = path.split("?")[0].split("/")
    return host, folders, page.split(".")[0]
