"""Backtests on a recorded history: policies that see visits and listings, and some that see more.

The clock of the replay ticks once per visit that the budget pays. At each tick the page that has
been due longest is visited; policies with rates of their own spend every tick, the rules that
crawlers ship only those at which a page is due. A page's first copy comes with its discovery and is
not counted. Where only polls could see anything, a visit happens at the next poll. The module is
longer than most: every policy is replayed by the same loop, whose arrays are made here.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

import numpy as np

from recrawl.crawler.control.revisiting.interval_rules import SHIPPED_RULES
from recrawl.crawler.control.revisiting.revisits import RevisitControl
from recrawl.errors import InvalidModel
from recrawl.freshness import Pages, solve_even_freshness, solve_harmonic
from recrawl.kernels.arrays import Integers, Vector
from recrawl.kernels.revisits import RULE_AGE, RULE_COUNT, RULE_STEPS, credit_copies, replay
from recrawl.learning.change_rates import estimate_change_rates
from recrawl.learning.companions import Companions
from recrawl.learning.group_clocks import GroupClocks
from recrawl.simulation.announcements import Announcements, Heard, Hearing
from recrawl.simulation.history import ChangeHistory

POLICIES: Final = (
    "foresight",
    "recrawl",
    "uniform",
    "proportional",
    *SHIPPED_RULES,
    "lambdacrawl",
    "oracle",
    "clairvoyant",
)
_LEARNED, _GIVEN = 0, 1
_KINDS: Final = {"steps": RULE_STEPS, "age": RULE_AGE, "count": RULE_COUNT}
_EPOCHS: Final = 60
_OURS: Final = ("recrawl", "foresight")
_LOOKS: Final = (2, 16, 128)  # at the clocks of groups, while each page is visited once
_RELIED: Final = (0.05, 0.5)  # further than that, and the clocks are looked at more often
_HEARS_NOTHING: Final[Heard] = (_NONE := np.zeros(0), _NONE, _NONE, _NONE, _NONE, _NONE, _NONE)

_NO_CLOCKS: Final = GroupClocks(
    Companions(np.array([-1]), np.zeros(1, np.int64), np.zeros((0, 2), np.int64)),
    1.0,
    start=0.0,
    born=np.zeros(0),
).arrays()


@dataclass(frozen=True, slots=True)
class Backtest:
    """Setup of a replay.

    Parameters
    ----------
    history : what happened
    budget : visits per time, > 0
    learning : share of the time that is for learning only, in (0, 1)
    unit_s : seconds in the history's unit of time, for rules with intervals in seconds
    host_caps : shape (n_hosts,), visits per time that a host allows, whatever the policy, or None
    instants : shape (k,), when the visits that the budget pays are made; None: evenly spaced
    moment : how exactly a visit tells when its page last changed, as a truthful Last-Modified
        does; 0: it does not
    order : seed of the order in which pages are numbered, which decides between pages that are due
        at the same instant and which of them is visited first; None: as they stand
    told : changes that listings announce, for policies that listen: recrawl and foresight; the
        budget pays for the readings too. None: nobody announces any
    """

    history: ChangeHistory
    budget: float
    learning: float = 0.5
    unit_s: float = 1.0
    host_caps: Vector | None = None
    instants: Vector | None = None
    moment: float = 0.0
    order: int | None = None
    told: Announcements | None = None

    def __post_init__(self) -> None:
        if not (np.isfinite(self.budget) and self.budget > 0):
            raise InvalidModel(f"budget must be finite and > 0, got {self.budget!r}")
        if not 0 < self.learning < 1:
            raise InvalidModel(f"learning must lie in (0, 1), got {self.learning!r}")

    @property
    def since(self) -> float:
        """Start of the evaluation."""
        return self.history.start + self.learning * (self.history.end - self.history.start)

    @property
    def n_ticks(self) -> int:
        """Visits that the budget pays in all."""
        if self.instants is not None:
            return self.instants.size
        return int(self.budget * (self.history.end - self.history.start))

    def ticks(self) -> Vector:
        """Return visit times, ascending."""
        if self.instants is not None:
            return self.instants
        numbers = np.arange(self.n_ticks) + 0.5
        return np.asarray(self.history.start + numbers / self.budget, np.float64)

    def shuffled(self) -> tuple["Backtest", Integers]:
        """Return the same with pages in the order drawn, and that order."""
        if self.order is None:
            return self, np.arange(self.history.n_pages)
        order = np.random.default_rng(self.order).permutation(self.history.n_pages)
        told = None if self.told is None else self.told.renumbered(order)
        return replace(self, history=self.history.renumbered(order), order=None, told=told), order

    def spent_like(self, result: "Replayed") -> "Backtest":
        """Return the same with a budget of just the visits of a result, at their very instants."""
        rate = max(result.instants.size, 1) / (self.history.end - self.history.start)
        return replace(self, budget=rate, instants=result.instants)


@dataclass(frozen=True, slots=True, eq=False)
class Replayed:
    """Result of a policy, page by page, within the evaluation.

    Parameters
    ----------
    fresh, age, penalty : shape (n,), time fresh; age and harmonic penalty integrated over time
    visits, seen : shape (n,), visits of pages that were there, and those that found a change
    lifetimes : shape (n,), time that each page was there
    fetches, wasted : visits in the evaluation, and those that brought nothing
    instants : when visits were made, in the whole replay; empty for the bound
    course : shape (k, 2), instants and weighted share of fresh copies
    """

    fresh: Vector
    age: Vector
    penalty: Vector
    visits: Vector
    seen: Vector
    lifetimes: Vector
    fetches: int
    wasted: int
    instants: Vector
    course: Vector

    def in_order(self, order: Integers) -> "Replayed":
        """Return the same with each page back where it stood before it was put in this order."""
        back = np.argsort(order)
        columns = ("fresh", "age", "penalty", "visits", "seen", "lifetimes")
        return replace(self, **{name: getattr(self, name)[back] for name in columns})


def average(results: Sequence[Replayed]) -> Replayed:
    """Average what came of one policy over several orders of the pages.

    Instants and course are those of the first.
    """
    columns = ("fresh", "age", "penalty", "visits", "seen")
    means: dict[str, Any] = {
        name: np.mean([getattr(one, name) for one in results], axis=0) for name in columns
    }
    for name in ("fetches", "wasted"):
        means[name] = round(float(np.mean([getattr(one, name) for one in results])))
    return replace(results[0], **means)


def run_policy(
    test: Backtest, policy: str, on_progress: Callable[[int], None] = lambda _: None
) -> Replayed:
    """Replay a history under one policy.

    Parameters
    ----------
    test : history and budget
    policy : a name in ``POLICIES`` but the last
    on_progress : told of ticks done

    Notes
    -----
    A visit takes O(log n); pages are decided on anew at some seventy instants.
    """
    ordered, order = test.shuffled()
    return _Replay(ordered, policy).run(on_progress).in_order(order)


class _Replay:
    """One policy on its way through a history."""

    def __init__(self, test: Backtest, policy: str) -> None:
        history = test.history
        n = history.n_pages
        self._test, self._policy = test, policy
        self._span = np.array([test.since, history.end])
        self._facts = (history.first, history.changed_at, history.observed_from, history.gone_at)
        self._order = np.argsort(history.observed_from, kind="stable")
        self._control = RevisitControl(
            history.weights,
            test.budget,
            grain=history.grain,
            groups=[history.hosts, history.paths],
        )
        self._control.beliefs.numpy_up_to = 0  # the replay's own loops are compiled anyway
        pace = n / test.budget
        # Of all pages that there ever are, how many there are at once on average.
        whole = history.end - history.start
        self._at_once = float(history.lifetimes(history.start).sum()) / whole
        if policy == "foresight" and history.companions is not None:
            self._control.clocks = GroupClocks(
                history.companions,
                self._at_once / test.budget,
                start=history.start,
                born=history.observed_from,
            )
        self._interval = self._control.intervals
        rule = SHIPPED_RULES.get(policy)
        self._rule = _KINDS[rule.kind] if rule else _LEARNED if policy in _OURS else _GIVEN
        self._numbers = rule.numbers(test.unit_s) if rule else np.zeros(6)
        self._interval[:] = rule.initial_s / test.unit_s if rule else pace
        self._copies = (self._control.last, np.zeros(n, np.int64), np.zeros(n, np.int64))
        self._queue = (np.zeros(n, np.int64), np.full(n, np.inf), np.zeros(9, np.int64))
        self._own = (self._interval, *np.zeros((3, n)))
        caps = np.zeros(0) if test.host_caps is None else test.host_caps
        n_hosts = int(history.hosts.max()) + 1
        ready = np.full(caps.size, -np.inf)
        self._limits = (history.hosts, 1.0 / caps, ready, np.ones(n_hosts))
        self._totals = np.zeros((n, 5))
        self._ticks, self._hearing, self._n_read = test.ticks(), None, 0
        if test.told is not None and policy in _OURS:
            self._hearing = Hearing(test.told, history, self._ticks, self._control)
            judged = np.count_nonzero(self._ticks >= test.since)
            self._ticks = self._hearing.ticks
            self._n_read = int(judged - np.count_nonzero(self._ticks >= test.since))
        keeps = policy in ("proportional", "lambdacrawl") or self._hearing is not None
        kept = self._ticks.size if keeps else 0
        self._log = (np.zeros(kept, np.int64), np.zeros(kept), np.zeros(kept, np.bool_))
        self._instants = np.zeros(self._ticks.size)
        self._course: list[tuple[float, float]] = []

    def run(self, on_progress: Callable[[int], None]) -> Replayed:
        test, history = self._test, self._test.history
        all_ticks = self._ticks
        edges, plans, decisions = self._edges(all_ticks)
        clocks, hearing = self._control.clocks, self._hearing
        arrays = _NO_CLOCKS if clocks is None else clocks.arrays()
        heard = _HEARS_NOTHING if hearing is None else hearing.arrays()
        for first, last in self._stretches(edges.tolist(), decisions):
            ticks = all_ticks[first:last]
            until = history.end if last == all_ticks.size else all_ticks[last]
            if hearing is not None and first in hearing.readings:
                self._listen(hearing, first)
            following = self._now(decisions).get(first)
            if following is not None:
                ends = history.end if following == all_ticks.size else all_ticks[following]
                span = float(ends - ticks[0])
                if first in plans:
                    self._decide(float(ticks[0]), span, following - first)
                else:
                    self._look(float(ticks[0]), span)
            replay(
                self._rule,
                self._numbers,
                ticks,
                history.polls,
                self._rule in (_LEARNED, _GIVEN),
                self._facts,
                self._order,
                self._copies,
                self._queue,
                self._own,
                self._limits,
                self._control.beliefs.arrays(),
                self._control.weights,
                self._control.bounds,
                self._control.price,
                self._span,
                self._totals,
                self._instants,
                *self._log,
                test.moment,
                arrays,
                heard,
            )
            if last in plans or last == all_ticks.size:
                self._note(float(until))
            on_progress(last - first)
        on_progress(test.n_ticks - all_ticks.size)
        # Pages found after the last visit have their first copies too.
        visited_at, next_change, _ = self._copies
        late = np.isinf(visited_at) & (history.observed_from < history.end)
        visited_at[late], next_change[late] = history.observed_from[late], history.first[:-1][late]
        credit_copies(history.end, self._facts, self._copies, self._span, self._totals)
        _, _, counters = self._queue
        fresh, age, penalty, visits, seen = self._totals.T
        return Replayed(
            fresh,
            age,
            penalty,
            visits,
            seen,
            history.lifetimes(test.since),
            fetches=int(counters[5]) + self._n_read,
            wasted=int(counters[6] + counters[7]),
            instants=self._instants[: counters[4]],
            course=np.array(self._course),
        )

    def _now(self, decisions: tuple[dict[int, int], ...]) -> dict[int, int]:
        """Return the decisions that are made as far as clocks are relied on now."""
        clocks = self._control.clocks
        return decisions[0 if clocks is None else int(np.searchsorted(_RELIED, clocks.relied))]

    def _stretches(
        self, edges: list[int], decisions: tuple[dict[int, int], ...]
    ) -> Iterator[tuple[int, int]]:
        """From one tick at which there is something to do to the next."""
        readings = self._hearing.readings if self._hearing is not None else {}
        first = edges[0]
        for last in edges[1:]:
            if last in self._now(decisions) or last in readings or last == edges[-1]:
                yield first, last
                first = last

    def _edges(self, ticks: Vector) -> tuple[Integers, set[int], tuple[dict[int, int], ...]]:
        """At which ticks to pause; at which to plan anew; at which to decide, each with the next.

        The last by how far clocks are relied on.

        Planned is often at first, and when many pages are new.
        """
        born = np.sort(self._test.history.observed_from)
        n, total = born.size, ticks.size
        epochs = _EPOCHS if n > 2_000 else 2 * _EPOCHS
        early = np.geomspace(min(0.25 * n / max(total, 1), 0.01), 0.1, 12)
        shares = np.concatenate([[0.0], early, np.linspace(0.1, 1.0, epochs)[1:]])
        grown = born[np.unique(np.minimum(1.25 ** np.arange(100), n).astype(np.int64)) - 1]
        after = np.searchsorted(ticks, grown, side="left")
        soon = np.concatenate([after, after + 1 + n // 8, after + 1 + n // 2])
        edges = np.concatenate([(total * shares).astype(np.int64), soon])
        plans = np.unique(np.clip(edges, 0, total))
        decisions = [plans]
        if self._control.clocks is not None:
            round_ = int(self._at_once)
            decisions = [
                np.union1d(plans, np.arange(0, total, max(1, round_ // looks))) for looks in _LOOKS
            ]
        pauses = np.unique(np.concatenate(decisions))
        if self._hearing is not None:
            pauses = np.union1d(pauses, np.array(list(self._hearing.readings), np.int64))
        following = tuple(dict(pairwise(ticks.tolist())) for ticks in decisions)
        return pauses, set(plans.tolist()), following

    def _listen(self, hearing: Hearing, first: int) -> None:
        """Bring pages forward of which it was announced that they changed."""
        due = self._queue[1]
        rows, sooner = hearing.listen(first)
        due[rows] -= sooner

    def _decide(self, now: float, span: float, n_visits: int) -> None:
        """Decide anew on the pages that are there."""
        last, _, gone = self._copies
        rows = np.flatnonzero(np.isfinite(last) & (gone == 0))
        if self._policy in _OURS:
            caps, hosts = self._test.host_caps, self._test.history.hosts[rows]
            self._control.budget = max(n_visits, 1) / max(span, 1e-300)
            if self._hearing is not None:
                noted = self._queue[2][2]
                page, elapsed, changed = self._log
                visits = page[:noted], elapsed[:noted], changed[:noted]
                counted = int(self._queue[2][4]), int(self._queue[2][8])
                self._hearing.learn(rows, now, visits, counted)
            decided = self._control.decide(now, span, rows=rows, hosts=hosts, host_caps=caps)
            if caps is not None:
                self._limits[3][:] = decided.host_prices / decided.price
            self._numbers[0] = 0.1 * decided.price  # it falls no lower before the next decision
        elif self._rule == _GIVEN and self._policy != "uniform":
            soon = np.flatnonzero((self._test.history.observed_from <= now + span) & (gone == 0))
            if soon.size:
                self._give(soon)
        else:
            return
        heap, due, counters = self._queue
        waiting = heap[: counters[0]]
        if self._control.clocks is None and self._hearing is None:
            due[waiting] = last[waiting] + self._interval[waiting]
        elif waiting.size:  # some copies count as older than they are
            due[waiting] = decided.due[waiting]

    def _look(self, now: float, span: float) -> None:
        """Let due times follow what the clocks of groups say."""
        heap, due, counters = self._queue
        waiting = heap[: counters[0]]
        if waiting.size:
            if self._hearing is not None:
                self._hearing.tell_clocks(waiting)
            dearer = self._limits[3][self._limits[0][waiting]]
            due[waiting] = self._control.look(now, span, waiting, dearer)

    def _give(self, rows: Integers) -> None:
        """Give pages the intervals that follow from rates, known or learned."""
        history, budget = self._test.history, self._test.budget
        known = history.true_rates if self._policy == "oracle" else self._learned_rates()
        rates, weights = known[rows], history.weights[rows]
        weights = weights if weights.any() else np.ones(rows.size)
        if self._policy == "proportional":
            crawl_rates = rates * budget / rates.sum()
        else:
            solve = solve_harmonic if self._policy == "lambdacrawl" else solve_even_freshness
            floor = np.full(rows.size, 0.05 * budget / history.n_pages)
            pages = Pages(np.maximum(rates, 1e-3 * floor), weights=weights, min_rates=floor)
            crawl_rates = solve(pages, budget).crawl_rates
        self._interval[rows] = 1.0 / crawl_rates

    def _learned_rates(self) -> Vector:
        """Rates as LambdaCrawl learns them: one imaginary visit of either result."""
        history, noted = self._test.history, self._queue[2][2]
        page, elapsed, changed = (column[:noted] for column in self._log)
        n, half = history.n_pages, 0.5 * history.n_pages / self._test.budget
        every = np.arange(n)
        order = np.argsort(np.concatenate([page, every, every]), kind="stable")
        pages = np.concatenate([page, every, every])[order]
        times = np.concatenate([elapsed, np.full(2 * n, half)])[order]
        found = np.concatenate([changed, np.zeros(n, np.bool_), np.ones(n, np.bool_)])[order]
        return estimate_change_rates(
            n, pages, times, found, prior_rate=1.0 / half, prior_shape=1e-9
        ).rates

    def _note(self, now: float) -> None:
        """Note how much is fresh at an instant."""
        start, changes, born, gone_at = self._facts
        last, seen, _ = self._copies
        there = np.isfinite(last) & (born <= now) & (now < gone_at)
        following = np.where(seen < start[1:], changes[np.minimum(seen, changes.size - 1)], np.inf)
        weights = self._control.weights * there
        if weights.any():
            share = float(weights @ (following > now) / weights.sum())
            self._course.append((now, share))


def bound_by_foresight(test: Backtest) -> Replayed:
    """Bound all policies by the visits that keep most fresh, chosen with the future known.

    A visit gains at most the time from a change to the next one, so the greatest gains that the
    budget pays bound every policy. Copies are taken to be fresh when the evaluation starts.
    """
    history, since = test.history, test.since
    lifetimes = history.lifetimes(since)
    until = np.minimum(history.gone_at, history.end)[history.page]
    following = np.append(history.changed_at[1:], np.inf)
    following[history.first[1:][np.diff(history.first) > 0] - 1] = np.inf
    gains = np.maximum(np.minimum(following, until) - np.maximum(history.changed_at, since), 0.0)
    gains[history.changed_at < since] = 0.0
    worth = gains * history.weights[history.page]
    n_visits = int(test.budget * (history.end - since))
    taken = np.argsort(-worth, kind="stable")[:n_visits]
    taken = taken[worth[taken] > 0]
    n = history.n_pages
    missed = np.bincount(history.page, gains, n) - np.bincount(history.page[taken], gains[taken], n)
    seen = np.bincount(history.page[taken], minlength=n).astype(np.float64)
    nothing = np.full(n, np.nan)
    return Replayed(
        lifetimes - missed,
        nothing,
        nothing,
        seen,
        seen,
        lifetimes,
        fetches=int(taken.size),
        wasted=0,
        instants=np.zeros(0),
        course=np.zeros((0, 2)),
    )
