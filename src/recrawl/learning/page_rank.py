"""PageRank from links: a random reader's share of time, with hosts held in check.

A reader follows links, and begins anew now and then: on a host drawn by the root of its number of
pages, on any page of it alike. So a host is not worth more for having more addresses, and what
its pages say of each other moves its own share about but cannot add to it.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recrawl.errors import InvalidModel, NotConverged
from recrawl.kernels.arrays import Integers, Vector

_CHUNK: Final = 1 << 20  # links that are looked at together: what is made of them stays small


@dataclass(frozen=True, slots=True, eq=False)
class LinkGraph:
    """Links between pages, by the page that they stand on.

    Parameters
    ----------
    starts : shape (n + 1,), ascending; the links of page i are ``targets[starts[i]:starts[i + 1]]``
    targets : shape (m,), pages that links lead to, 0 <= target < n
    hosts : shape (n,), number of each page's host, >= 0

    Raises
    ------
    InvalidModel
        The columns do not fit together.
    """

    starts: Integers
    targets: NDArray[np.int32]
    hosts: Integers

    def __post_init__(self) -> None:
        n = self.hosts.size
        if self.starts.size != n + 1 or self.starts[0] != 0 or self.starts[-1] != self.targets.size:
            raise InvalidModel(f"starts must lead from 0 to {self.targets.size} in {n + 1} steps")
        if np.any(np.diff(self.starts) < 0):
            raise InvalidModel("starts must ascend")
        if self.targets.size and not 0 <= self.targets.min() <= self.targets.max() < n:
            raise InvalidModel(f"targets must lie in 0 .. {n - 1}")
        if n and self.hosts.min() < 0:
            raise InvalidModel("hosts must be >= 0")

    def __len__(self) -> int:
        return self.hosts.size


@dataclass(frozen=True, slots=True, eq=False)
class PageRank:
    """The share of time of each page, and how exact it is.

    Parameters
    ----------
    shares : shape (n,), >= 0, of sum 1
    n_iterations : steps that were taken
    residual : no more than this is wrong with all shares together
    """

    shares: Vector
    n_iterations: int
    residual: float


def rank_pages(
    graph: LinkGraph,
    *,
    damping: float = 0.85,
    tolerance: float = 1e-4,
    max_iterations: int = 200,
    start: Vector | None = None,
) -> PageRank:
    r"""Return the share of time that a random reader spends on each page.

    Parameters
    ----------
    graph : n pages, m links
    damping : chance d that a link is followed, in [0, 1)
    tolerance : bound on the sum of the errors of all shares, > 0
    max_iterations : steps, before it is given up
    start : shape (n,), >= 0: shares that are near, as those of the last time; default: none

    Returns
    -------
    PageRank
        The residual bounds the error in the sum of absolute values.

    Raises
    ------
    InvalidModel
        A number is outside its domain.
    NotConverged
        The tolerance was not met.

    Notes
    -----
    Power iteration on :math:`x = d P^\top x + (1 - d \sum_j P^\top x) t`: a reader on a page
    without links begins anew. :math:`t` gives host h the share
    :math:`\sqrt{n_h} / \sum \sqrt{n_k}`. The step shortens differences, which sum to 0, by d in the
    sum of absolute values, so the last step's length times :math:`d / (1 - d)` bounds the error. A
    host to which no other links has at most the share :math:`t_h / (1 - d)`, whatever links it has
    within: summed over its pages, :math:`M \le t_h + d M`. O(n + m) for each step; memory for the
    graph, and 40 bytes a page.

    References
    ----------
    L. Page, S. Brin, R. Motwani, T. Winograd, "The PageRank citation ranking", 1999.
    """
    if not 0.0 <= damping < 1.0:
        raise InvalidModel(f"damping must lie in [0, 1), got {damping!r}")
    if not tolerance > 0.0:
        raise InvalidModel(f"tolerance must be > 0, got {tolerance!r}")
    n = len(graph)
    if n == 0:
        return PageRank(np.zeros(0), 0, 0.0)
    begin = _begin(graph.hosts)
    x = begin
    if start is not None and start.shape == (n,) and np.all(start >= 0) and start.sum() > 0:
        x = start / start.sum()
    residual = np.inf
    for step in range(1, max_iterations + 1):
        new = damping * _passed_on(graph, x)
        new += max(1.0 - float(new.sum()), 0.0) * begin
        residual = damping / (1.0 - damping) * float(np.abs(new - x).sum())
        x = new
        if residual <= tolerance:
            return PageRank(x, step, residual)
    raise NotConverged("the link graph's shares", iterations=max_iterations, residual=residual)


def _begin(hosts: Integers) -> Vector:
    n_pages = np.bincount(hosts)
    with np.errstate(divide="ignore", invalid="ignore"):
        of_page = np.where(n_pages > 0, 1.0 / np.sqrt(n_pages), 0.0)
    share = of_page[hosts]
    return np.asarray(share / share.sum())


def _passed_on(graph: LinkGraph, x: Vector) -> Vector:
    """Return what each page is given by those that link to it."""
    degrees = np.diff(graph.starts)
    share = x / np.maximum(degrees, 1)
    out = np.zeros(x.size)
    # Pages in blocks that have so many links together.
    ends = np.searchsorted(graph.starts, np.arange(0, graph.targets.size, _CHUNK), side="left")
    for first, last in pairwise(sorted({0, *ends.tolist(), x.size})):
        low, high = int(graph.starts[first]), int(graph.starts[last])
        if high > low:
            given = np.repeat(share[first:last], degrees[first:last])
            out += np.bincount(graph.targets[low:high], given, minlength=x.size)
    return out
