r"""Groups of pages whose changes come together: a clock for each, filtered from visits.

The pages of a group share a speed, a random function of time: a page of rate :math:`\lambda`
changes at :math:`\lambda\, a\, m(t)`, with m the speed of its groups and a the factor of its age.
Time is cut into bins; the speed of a group in a bin is believed to follow a gamma law about the
speed of the group around it, of shape a few changes. Visits are then conjugate, but for not
knowing in which bin a change was, nor of which of its groups: both are shared out in proportion to
what was expected, one step of expectation maximisation for each visit.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recrawl.errors import InvalidModel
from recrawl.kernels.compile import interpreted
from recrawl.kernels.group_clocks import Clocks, tell_clocks, turn
from recrawl.learning.companions import Companions

__all__ = ["GroupClocks"]

Vector = NDArray[np.float64]
Integers = NDArray[np.int64]
_BINS: Final = 48
_BINS_A_PACE: Final = 16.0
_SHRINKS: Final = (1.0, 0.3, 0.1)  # changes that count for the speed around: all, site, directory
_CELLS: Final = 14
_SAMPLES: Final = 4  # of the age within an interval
_NEVER: Final = 1e-300
_LATELY: Final = 8  # bins
_AGE_CHANGES: Final = 3.0  # that count for an age being like any other


class GroupClocks:
    r"""Speeds of change of groups of pages, bin by bin.

    Parameters
    ----------
    companions : the groups
    pace : mean interval between visits of a page, which is sixteen bins, > 0
    start : instant at which the first bin begins
    born : shape (n,), when each page was born; at ``births_since`` or before: nobody knows
    births_since : since when births are known; None: since just after the start
    shrinks : changes that the speed around counts for: for all pages together, about one; for a
        site; for directories and names
    bins : bins that are kept, the latest
    relied : how far the clocks are relied on before anything is known, in (0, 1]; 1: whatever they
        foretell

    Notes
    -----
    :math:`m_g = (s\, m_{parent} + N_g) / (s + X_g)` in each bin, with N the changes found in it and
    X those that the pages' own rates let expect. A page of two groups has the mean of their speeds.
    A visit takes O(bins since the one before * levels), a group 24 bytes for each bin.
    """

    def __init__(
        self,
        companions: Companions,
        pace: float,
        *,
        start: float,
        born: Vector,
        births_since: float | None = None,
        shrinks: Sequence[float] = _SHRINKS,
        bins: int = _BINS,
        relied: float = 0.8,
    ) -> None:
        if not (np.isfinite(pace) and pace > 0):
            raise InvalidModel(f"pace must be finite and > 0, got {pace!r}")
        if not all(one > 0 for one in shrinks):
            raise InvalidModel(f"shrinks must be > 0, got {list(shrinks)}")
        width = pace / _BINS_A_PACE
        odds = np.log(relied / (1.0 - relied)) if relied < 1.0 else np.inf
        self.companions = companions
        size = companions.parents.size
        self._levels = np.array(shrinks)
        self._group(companions)
        self._found, self._expected = np.zeros((2, size, bins))
        self._speeds = np.ones((size, bins))
        if births_since is None:
            births_since = start + 1e-6 * pace
        self._scale = np.array([start, width, births_since, relied, odds])
        self._newest = np.array([-1], np.int64)
        self._aged = np.full((2, _CELLS), _AGE_CHANGES)
        self._born = np.ascontiguousarray(born, np.float64)

    def grow(self, companions: Companions, born: Vector) -> None:
        """Take in pages and groups that are new; those known keep their numbers.

        Parameters
        ----------
        companions : of all pages, old and new
        born : shape (n,), of all of them
        """
        more = companions.parents.size - self.companions.parents.size
        self.companions = companions
        self._born = np.ascontiguousarray(born, np.float64)
        if more > 0:
            self._group(companions)
            bins = self._speeds.shape[1]
            self._found, self._expected = (
                np.concatenate([one, np.zeros((more, bins))])
                for one in (self._found, self._expected)
            )
            self._speeds = np.concatenate([self._speeds, np.ones((more, bins))])

    def _group(self, companions: Companions) -> None:
        """Note how much each group follows the one around it, and which come in one step."""
        depths = companions.depths
        self._shrinks = self._levels[np.minimum(depths, self._levels.size - 1)]
        order = np.argsort(depths, kind="stable")
        self._generations = np.split(order, np.flatnonzero(np.diff(depths[order])) + 1)

    def arrays(self) -> Clocks:
        """Return what the kernels of :mod:`recrawl.kernels.group_clocks` call clocks."""
        return (
            self.companions.parents,
            self._shrinks,
            self.companions.leaves,
            self._found,
            self._expected,
            self._speeds,
            self._scale,
            self._newest,
            self._aged,
            self._born,
        )

    @property
    def since(self) -> float:
        """Start of the oldest bin; what was before is not told any more."""
        oldest = max(int(self._newest[0]) - self._speeds.shape[1] + 1, 0)
        return float(self._scale[0] + oldest * self._scale[1])

    @property
    def relied(self) -> float:
        """Reliance on the clocks, by how well they have foretold visits, in (0, 1]."""
        return float(self._scale[3])

    @property
    def age_factors(self) -> Vector:
        """Changes found for each one expected, at ages that double from cell to cell."""
        return np.asarray(self._aged[0] / self._aged[1])

    def read(self, rows: Integers, since: Vector, now: float) -> tuple[Vector, Vector]:
        """Return time on the clocks since an instant of each page, and how fast each is from now.

        Parameters
        ----------
        rows : shape (k,), pages
        since : shape (k,), instants, at most ``now``
        now : instant

        Notes
        -----
        Bursts are over sooner than the next visit comes, so from now on clocks run at speed one,
        and only the factor of age is told. O(groups * bins + k).
        """
        interpreted(turn)(now, self.arrays())
        self._refresh()
        relied = self.relied
        elapsed = np.where(np.isfinite(since), now - since, 0.0)
        passed = relied * self._passed(rows, now - elapsed, now) + (1.0 - relied) * elapsed
        speeds = np.ones(rows.size)
        young = np.flatnonzero(self._born[rows] > self._scale[2])
        if young.size:
            age = now - self._born[rows[young]]
            speeds[young] = np.maximum(self._age_factor(age + self._scale[1]), _NEVER)
            middles = (np.arange(_SAMPLES)[:, None] + 0.5) / _SAMPLES - 1.0
            passed[young] *= self._age_factor(age + elapsed[young] * middles).mean(axis=0)
        return passed, speeds

    def lately(self, now: float) -> tuple[Vector, Vector, Vector, float]:
        """Return how fast clocks ran in the latest eight bins, as far as they are relied on.

        Parameters
        ----------
        now : instant

        Returns
        -------
        factors : shape (g,), time that is believed to have passed for each unit that has
        found, expected : shape (g,), changes, and those that the pages' own rates let expect
        span : time since the first of these bins began; 0: no bin has begun
        """
        interpreted(turn)(now, self.arrays())
        self._refresh()
        (start, width), newest = self._scale[:2], int(self._newest[0])
        bins = self._speeds.shape[1]
        numbers = np.arange(max(newest - min(_LATELY, bins) + 1, 0), newest + 1)
        lasted = np.clip(now - start - numbers * width, 0.0, width)
        span = float(lasted.sum())
        if span <= 0.0:
            return np.ones(self._speeds.shape[0]), *np.zeros((2, self._speeds.shape[0])), 0.0
        places = numbers % bins
        speeds = self._speeds[:, places] @ lasted / span
        found, expected = (one[:, places].sum(axis=1) for one in (self._found, self._expected))
        return self.relied * speeds + 1.0 - self.relied, found, expected, span

    def _refresh(self) -> None:
        """Let every group follow what those around it have learned, the largest first."""
        for groups in self._generations:
            shrinks = self._shrinks[groups, None]
            around = self._speeds[self.companions.parents[groups]] if groups[0] else 1.0
            learned = shrinks * around + self._found[groups]
            self._speeds[groups] = learned / (shrinks + self._expected[groups])

    def _age_factor(self, ages: Vector) -> Vector:
        """Return the change rate at an age over a page's own rate, by the cells of ages."""
        _, exponent = np.frexp(8.0 * ages / self._scale[1])
        cells = np.clip(exponent - 1, 0, _CELLS - 1)
        return np.asarray(self.age_factors[cells])

    def _passed(self, rows: Integers, since: Vector, now: float) -> Vector:
        """Return time on the clocks, from sums over the bins of each group."""
        (start, width), newest = self._scale[:2], int(self._newest[0])
        bins = self._speeds.shape[1]
        last = min(int(np.floor((now - start) / width)), newest)
        numbers = np.arange(max(newest - bins + 1, 0), last + 1)
        if not numbers.size:
            return now - since
        begin = start + numbers[0] * width
        speeds = self._speeds[:, numbers % bins]
        # What a group's clock shows at the beginning of each bin, and how fast it is from there.
        shows = np.zeros_like(speeds)
        np.cumsum(speeds[:, :-1] * width, axis=1, out=shows[:, 1:])
        bin_ = np.clip(((since - begin) / width).astype(np.int64), 0, numbers.size - 1)
        into = np.maximum(since - begin - bin_ * width, 0.0)
        ahead = now - begin - (numbers.size - 1) * width  # into the latest bin

        def between(groups: Integers, bin_: Integers, into: Vector) -> Vector:
            then = shows[groups, bin_] + speeds[groups, bin_] * into
            return np.asarray((shows[:, -1] + speeds[:, -1] * ahead)[groups] - then)

        leaves = self.companions.leaves[rows]
        passed = between(leaves[:, 0], bin_, into)
        named = np.flatnonzero(leaves[:, 1] >= 0)
        if named.size:
            other = between(leaves[named, 1], bin_[named], into[named])
            passed[named] = 0.5 * (passed[named] + other)
        return np.asarray(passed + np.maximum(begin - since, 0.0))

    def hear(
        self,
        rows: Integers,
        rates: Vector,
        span: tuple[float, float],
        page: Integers,
        changed_at: Vector,
        true: Vector,
        free: float = 1.0,
    ) -> None:
        """Learn from changes that were announced, of pages whether they were visited or not.

        Parameters
        ----------
        rows, rates : shape (k,), pages and how often a change of each is announced, on its clock
        span : two instants, between which announcements are known now
        page, changed_at, true : shape (a,), of these pages; chance that there was such a change
        free : share of visits that no announcement asks for, in [0, 1]: so far announcements count.
            What they tell of other pages is of no use to visits that all follow announcements,
            while a burst of which every change is announced, but one found, misleads

        Notes
        -----
        O(k + groups * bins of the span + a * levels).
        """
        since, until = span
        interpreted(turn)(until, self.arrays())
        parents, leaves = self.companions.parents, self.companions.leaves
        (start, width), newest, bins = self._scale[:2], int(self._newest[0]), self._speeds.shape[1]
        oldest = max(newest - bins + 1, 0)
        older = np.ones(rows.size)
        young = np.flatnonzero(self._born[rows] > self._scale[2])
        older[young] = self._age_factor(until - self._born[rows[young]])
        shares = np.where(leaves[:, 1] < 0, 1.0, 0.5)
        rates, true = free * rates, free * true
        flow = np.zeros(parents.size)  # of announcements, in each group
        for kind in range(2):
            own = rows[leaves[rows, kind] >= 0]
            of_rows = (rates * older)[leaves[rows, kind] >= 0]
            flow += np.bincount(leaves[own, kind], of_rows * shares[own], parents.size)
        self._add_up(flow)
        for number in range(max(int((since - start) // width), oldest), newest + 1):
            begin = start + number * width
            lasted = min(until, begin + width) - max(since, begin)
            self._expected[:, number % bins] += flow * max(lasted, 0.0)
        numbers = np.floor((changed_at - start) / width).astype(np.int64)
        for number in np.unique(numbers[(numbers >= oldest) & (numbers <= newest)]).tolist():
            now = numbers == number
            directory, name = leaves[page[now]].T
            speeds = self._speeds[:, number % bins]
            whole = speeds[directory] + np.where(name >= 0, speeds[name], 0.0) + _NEVER
            found = np.zeros(parents.size)
            np.add.at(found, directory, true[now] * speeds[directory] / whole)
            named = name >= 0
            np.add.at(found, name[named], (true[now] * speeds[name] / whole)[named])
            self._add_up(found)
            self._found[:, number % bins] += found

    def _add_up(self, counts: Vector) -> None:
        """Add what is in each group to those around it, the innermost first."""
        for groups in self._generations[:0:-1]:
            np.add.at(counts, self.companions.parents[groups], counts[groups])

    def tell(
        self, page: int, since: float, now: float, changed: bool, hazard: float, stays: float
    ) -> None:
        """Learn from a visit.

        Parameters
        ----------
        page : row
        since, now : instants of the visit before and of this one
        changed : what it found
        hazard : changes per time on the clocks, given that nothing had changed
        stays : chance that was given to nothing having changed
        """
        turn(now, self.arrays())
        tell_clocks(page, since, now, changed, hazard, stays, self.arrays())
