"""A history replayed for any revisit policy, visit by visit: the same object as in a live crawl.

Ticks are as in :mod:`recrawl.simulation.backtest`: one for each visit that the budget pays; a tick
at which no page is due stays unused.
"""

import heapq
from collections.abc import Callable
from typing import Final

import numpy as np

from recrawl.crawler.control.evidence import PlannedPages
from recrawl.crawler.control.revisiting.revisit_policy import (
    PageVisit,
    Replan,
    RevisitPolicy,
    ask_for_plan,
    ask_when_due,
)
from recrawl.errors import InvalidModel
from recrawl.kernels.revisits import credit_copies
from recrawl.simulation.backtest import Backtest, Replayed

__all__ = ["replay_policy"]

_PLANS: Final = 60
_TOLD: Final = 4_096  # visits between two reports of progress


def replay_policy(
    test: Backtest, policy: RevisitPolicy, on_progress: Callable[[int], None] = lambda _: None
) -> Replayed:
    """Replay a history under a policy that sees only what its visits show.

    Parameters
    ----------
    test : history and budget; host limits and polls are not known here
    policy : asked after every visit, and for some sixty plans; without rates, as nothing is learned
        for it
    on_progress : told of ticks done

    Raises
    ------
    InvalidModel
        The history has polls or the test limits of hosts; or the policy gives a due time that is
        not finite.

    Notes
    -----
    A visit takes O(log n) and a call of the policy, some microseconds.
    """
    if test.history.polls.size or test.host_caps is not None:
        raise InvalidModel("a policy of one's own is replayed without polls and host limits")
    ordered, order = test.shuffled()
    return _PolicyReplay(ordered, policy, order.tolist()).run(on_progress).in_order(order)


def _address(site: str, page: str) -> str:
    """Return a page as its table calls it; pages of two sites may have one name."""
    return f"{site.rstrip('/')}/{page.lstrip('/')}" if site else page


class _PolicyReplay:
    def __init__(self, test: Backtest, policy: RevisitPolicy, rows: list[int]) -> None:
        history = test.history
        names = [_address(*name) for name in history.names] or list(map(str, rows))
        n = history.n_pages
        self._test, self._policy, self._names = test, policy, names
        self._facts = (history.first, history.changed_at, history.observed_from, history.gone_at)
        self._span = np.array([test.since, history.end])
        self._copies = (np.full(n, np.inf), np.zeros(n, np.int64), np.zeros(n, np.int64))
        self._due = np.full(n, np.inf)
        self._rates = np.full(n, np.nan)
        self._memory = [b""] * n
        self._heap: list[tuple[float, int]] = []
        self._totals = np.zeros((n, 5))
        self._wasted = self._fetches = 0
        self._instants: list[float] = []
        self._course: list[tuple[float, float]] = []

    def run(self, on_progress: Callable[[int], None]) -> Replayed:
        test, history = self._test, self._test.history
        order = np.argsort(history.observed_from, kind="stable").tolist()
        ticks = test.ticks()
        plans = set(np.linspace(0, ticks.size, _PLANS + 1)[:-1].astype(int).tolist())
        n_born = 0
        for number, now in enumerate(ticks.tolist()):
            while n_born < len(order) and history.observed_from[order[n_born]] <= now:
                self._take_in(order[n_born])
                n_born += 1
            if number in plans:
                self._plan(now)
            self._visit(now)
            if number % _TOLD == _TOLD - 1:
                on_progress(_TOLD)
        on_progress(ticks.size % _TOLD)
        for row in order[n_born:]:
            self._take_in(row)
        credit_copies(history.end, self._facts, self._copies, self._span, self._totals)
        fresh, age, penalty, visits, seen = self._totals.T
        return Replayed(
            fresh,
            age,
            penalty,
            visits,
            seen,
            history.lifetimes(test.since),
            fetches=self._fetches,
            wasted=self._wasted,
            instants=np.array(self._instants),
            course=np.array(self._course),
        )

    def _take_in(self, row: int) -> None:
        """Take the first copy, which comes with the discovery."""
        last, seen, _ = self._copies
        born = float(self._facts[2][row])
        last[row], seen[row] = born, self._facts[0][row]
        at_s = born * self._test.unit_s
        weight = float(self._test.history.weights[row])
        self._schedule(row, PageVisit(self._names[row], at_s, None, weight=weight))

    def _schedule(self, row: int, visit: PageVisit) -> None:
        answer = ask_when_due(self._policy, visit)
        if not np.isfinite(answer.due_s):
            raise InvalidModel(
                f"{self._policy.name}: due_s must be finite, got {answer.due_s} after a visit of "
                f"page {self._names[row]}"
            )
        self._memory[row] = self._memory[row] if answer.memory is None else answer.memory
        self._put(row, answer.due_s / self._test.unit_s)

    def _put(self, row: int, due: float) -> None:
        self._due[row] = due
        heapq.heappush(self._heap, (due, row))

    def _visit(self, now: float) -> None:
        """Visit the page that has been due longest, if one is."""
        last, seen, gone = self._copies
        heap = self._heap
        while heap and (heap[0][0] != self._due[heap[0][1]] or gone[heap[0][1]]):
            heapq.heappop(heap)  # its due time has moved
        if not heap or heap[0][0] > now or last[heap[0][1]] >= now:
            return
        _, row = heapq.heappop(heap)
        counted = now >= self._test.since
        self._instants.append(now)
        self._fetches += counted
        self._credit(row, now)
        if now > self._facts[3][row]:
            gone[row] = 1
            self._wasted += counted
            return
        start, changes, _, _ = self._facts
        after = int(np.searchsorted(changes[seen[row] : start[row + 1]], now, side="right"))
        changed = after > 0
        if counted:
            self._totals[row, 3] += 1.0
            self._totals[row, 4] += changed
            self._wasted += not changed
        unit_s, rate = self._test.unit_s, float(self._rates[row])
        visit = PageVisit(
            self._names[row],
            now * unit_s,
            changed,
            elapsed_s=(now - float(last[row])) * unit_s,
            due_s=float(self._due[row]) * unit_s,
            weight=float(self._test.history.weights[row]),
            crawl_rate_per_s=None if np.isnan(rate) else rate,
            memory=self._memory[row],
        )
        seen[row] += after
        last[row] = now
        self._schedule(row, visit)

    def _credit(self, row: int, now: float) -> None:
        """Add what the copy at hand was worth until now."""
        start, changes, _, gone_at = self._facts
        last, seen, _ = self._copies
        a, b = max(float(last[row]), float(self._span[0])), min(now, float(gone_at[row]))
        if b <= a:
            return
        missed = changes[seen[row] : start[row + 1]]
        missed = missed[missed < b]
        if not missed.size:
            self._totals[row, 0] += b - a
            return
        stale = float(missed[0])
        since = max(stale, a)
        self._totals[row, 0] += since - a
        self._totals[row, 1] += 0.5 * ((b - stale) ** 2 - (since - stale) ** 2)
        ends = np.maximum(np.append(missed[1:], b), a)
        starts = np.maximum(missed, a)
        penalties = np.cumsum(1.0 / np.arange(1, missed.size + 1))
        self._totals[row, 2] += float(penalties @ np.maximum(ends - starts, 0.0))

    def _plan(self, now: float) -> None:
        """Offer the policy a plan, and note how much is fresh."""
        last, seen, gone = self._copies
        start, changes, _, gone_at = self._facts
        there = np.isfinite(last) & (gone == 0)
        rows = np.flatnonzero(there)
        if not rows.size:
            return
        padded = np.append(changes, np.inf)
        following = np.where(seen < start[1:], padded[np.minimum(seen, changes.size)], np.inf)
        weights = self._test.history.weights * (there & (now < gone_at))
        if weights.any():
            share = float(weights @ (following > now) / weights.sum())
            self._course.append((now, share))
        unit_s = self._test.unit_s
        nothing = np.full(rows.size, np.nan)
        made = ask_for_plan(
            self._policy,
            Replan(
                PlannedPages(
                    rows,
                    self._test.history.hosts[rows],
                    self._test.history.weights[rows],
                    nothing,
                    nothing,
                    self._rates[rows],
                    last[rows] * unit_s,
                    self._due[rows] * unit_s,
                    nothing,
                ),
                self._test.history.hosts[rows],
                np.full(int(self._test.history.hosts.max()) + 1, np.inf),
                self._test.budget / unit_s,
                now * unit_s,
                span_s=0.25 * rows.size / self._test.budget * unit_s,
            ),
        )
        if made is None:
            return
        self._rates[rows] = made.crawl_rates
        for row, due in zip(rows.tolist(), (made.due / unit_s).tolist(), strict=True):
            self._put(row, due)
