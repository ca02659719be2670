"""A recorded history of changes: what really happened, page by page."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Flags, Integers, Vector
from recrawl.learning.companions import Companions


@dataclass(frozen=True, eq=False)
class ChangeHistory:
    """Changes of pages, and when each page was there.

    Parameters
    ----------
    page : shape (m,), page of each change, 0 <= page < n; together with ``changed_at`` ascending
    changed_at : shape (m,), instants, any one unit of time
    observed_from, observed_until : shape (n,), when each page was there
    gone : shape (n,), whether the page was really gone then, or only the record ends
    weights : shape (n,), >= 0
    hosts, paths : shape (n,), numbers of the groups that pages lend each other strength in
    polls : shape (p,), the only instants at which anyone could look, ascending; empty: any instant
    companions : which pages are likely to change together; None: nothing is known of it
    names : of n sites and pages, as tables call them; empty: they have none
    """

    page: Integers
    changed_at: Vector
    observed_from: Vector
    observed_until: Vector
    gone: Flags
    weights: Vector
    hosts: Integers
    paths: Integers
    polls: Vector
    companions: Companions | None = None
    names: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        n = self.observed_from.size
        if not self.page.size:
            raise InvalidModel("the history holds no change, so there is nothing to compare")
        if not 0 <= self.page.min() <= self.page.max() < n:
            raise InvalidModel(f"page must lie in 0 .. {n - 1}")
        if np.any(np.diff(self.page) < 0) or np.any(
            (np.diff(self.page) == 0) & (np.diff(self.changed_at) < 0)
        ):
            raise InvalidModel("changes must be in order of page and time")
        if np.any(self.observed_until < self.observed_from):
            raise InvalidModel("observed_until must not be before observed_from")
        if not np.all(np.isfinite(self.weights) & (self.weights >= 0)) or not self.weights.any():
            raise InvalidModel("weights must be finite and >= 0, not all zero")
        if not self.end > self.start:
            raise InvalidModel("the history lasts no time")

    @property
    def n_pages(self) -> int:
        """Pages, those that never changed included."""
        return self.observed_from.size

    @property
    def start(self) -> float:
        """First instant."""
        return float(self.observed_from.min())

    @property
    def end(self) -> float:
        """Last instant."""
        return float(max(self.observed_until.max(), self.changed_at.max()))

    @property
    def change_rate(self) -> float:
        """Changes of all pages together, 1/time."""
        return self.page.size / (self.end - self.start)

    @property
    def grain(self) -> float:
        """Time resolution of changes: the median distance between polls, or zero."""
        return float(np.median(np.diff(self.polls))) if self.polls.size > 1 else 0.0

    @cached_property
    def first(self) -> Integers:
        """Index of each page's first change, shape (n + 1,)."""
        return np.searchsorted(self.page, np.arange(self.n_pages + 1)).astype(np.int64)

    @cached_property
    def gone_at(self) -> Vector:
        """End of each page; infinite for pages that stay, shape (n,)."""
        return np.asarray(np.where(self.gone, self.observed_until, np.inf), np.float64)

    @cached_property
    def true_rates(self) -> Vector:
        """Each page's average change rate over its whole life, 1/time."""
        life = np.minimum(self.observed_until, self.end) - self.observed_from
        shortest = 1e-6 * (self.end - self.start)
        return np.asarray(np.diff(self.first) / np.maximum(life, shortest))

    def renumbered(self, order: Integers) -> "ChangeHistory":
        """Return the same with the pages in another order.

        Parameters
        ----------
        order : shape (n,), which page comes first, second and so on
        """
        counts = np.diff(self.first)[order]
        ends = np.cumsum(counts)
        within = np.arange(self.page.size) - np.repeat(ends - counts, counts)
        changes = np.repeat(self.first[:-1][order], counts) + within
        return ChangeHistory(
            np.repeat(np.arange(self.n_pages), counts),
            self.changed_at[changes],
            self.observed_from[order],
            self.observed_until[order],
            self.gone[order],
            self.weights[order],
            self.hosts[order],
            self.paths[order],
            self.polls,
            None if self.companions is None else self.companions.renumbered(order),
            tuple(self.names[row] for row in order.tolist()) if self.names else (),
        )

    def lifetimes(self, since: float) -> Vector:
        """Return each page's time there from an instant on, shape (n,)."""
        until = np.minimum(self.gone_at, self.end)
        return np.asarray(np.maximum(until - np.maximum(self.observed_from, since), 0.0))
