"""What would have happened on a recorded history, policy against policy: `recrawl.backtest`."""

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from recrawl.crawler.control.interval_rules import SHIPPED_RULES
from recrawl.crawler.control.revisit_policy import RevisitPolicy
from recrawl.errors import InputError
from recrawl.quantities import parse_rate_per_s
from recrawl.simulation.announcements import MOST_READ, Announcements
from recrawl.simulation.backtest import (
    POLICIES,
    Backtest,
    Replayed,
    average,
    bound_by_foresight,
    run_policy,
)
from recrawl.simulation.comparison import Score, resample_pages, score_policy
from recrawl.simulation.history import ChangeHistory
from recrawl.simulation.policy_replay import replay_policy
from recrawl.tables.announced import announcements_of, parse_signals
from recrawl.tables.histories import history_of

__all__ = ["BacktestReport", "Compared", "backtest", "backtest_of", "compare_policies"]


@dataclass(frozen=True, eq=False)
class Compared:
    """All policies at one budget.

    Parameters
    ----------
    name : the budget as it was given
    test : what was replayed
    scores : policy to its score
    at_same : rule to the score of recrawl at what the rule spent
    courses : policy to instants and freshness
    """

    name: str
    test: Backtest
    scores: Mapping[str, Score]
    at_same: Mapping[str, Score]
    courses: Mapping[str, np.ndarray]

    def ahead(self, name: str) -> tuple[float, float, float]:
        """How much fresher recrawl is than a policy, at what the policy spent."""
        return self.at_same.get(name, self.scores["recrawl"]).ahead_of(self.scores[name])


@dataclass(frozen=True, eq=False)
class BacktestReport:
    """What came of every policy at every budget.

    Parameters
    ----------
    table : one row for each: budget, policy, freshness with a 95 % interval (low, high), how far
        recrawl is ahead at what the policy spent (recrawl_ahead), mean_age in seconds, fetches,
        share of these that were wasted, share of changes seen
    history : what was replayed
    compared : the same with everything else that was found, by budget
    """

    table: pa.Table
    history: ChangeHistory
    compared: tuple[Compared, ...]


def backtest(  # noqa: PLR0913 - what can be asked
    history: Any,
    *,
    pages: Any = None,
    polls: Any = None,
    budgets: Sequence[str] = ("0.25x", "1x", "4x"),
    policies: Sequence[str | RevisitPolicy] = POLICIES,
    weights: str = "table",
    links: Any = None,
    learning: float = 0.5,
    resamples: int = 400,
    seed: int = 0,
    orders: int = 1,
    signals: Any = None,
) -> BacktestReport:
    """Replay a recorded history of changes and compare policies at the same budget.

    Parameters
    ----------
    history : when pages really changed: columns page or url, and changed_at (with a time zone, or
        seconds since the epoch); or visits with url, visited_at, changed. A mapping of columns,
        anything with the Arrow stream interface, or a path
    pages : all pages, those that never changed included: page or url, observed_from,
        observed_until, and optionally site, alive, weight
    polls : the only instants at which anyone could look: polled_at
    budgets : visits of all pages together, as ``"500/d"`` or as multiples of the total change rate
    policies : names of ``recrawl.POLICIES``, or objects of your own; recrawl's is always there
    weights : ``table``, ``links``, or ``pareto`` for weights drawn from a Pareto law of shape 1.2
    links : with weights by links: columns source and target, names of pages
    learning : share of the time that is for learning and not judged, in (0, 1)
    resamples : of directories, or of pages where these are few, for the intervals
    seed : of the resamples, and of the order in which pages with the same due time are visited
    orders : such orders that results are averaged over, at least 1
    signals : changes that listings announce, as sitemaps and feeds do, for the policies recrawl and
        foresight: ``"recall=0.5,precision=0.9,delay=1h,every=1d"``, drawn from the seed, or a table
        with columns page or url, and announced_at, optionally site and changed_at. Each reading of
        a host's listing costs a visit; default: a fiftieth of the budget

    Raises
    ------
    InputError
        A table or an option is wrong; the message says what would be right.

    Examples
    --------
    >>> import recrawl
    >>> days = [float(day * 86_400) for day in range(1, 120)]
    >>> changes = {"url": ["http://a.test/x"] * 119, "changed_at": days}
    >>> found = recrawl.backtest(changes, budgets=["1x"], policies=["uniform"], resamples=20)
    >>> found.table["policy"].to_pylist()
    ['recrawl', 'uniform']

    Notes
    -----
    A visit takes O(log n): a microsecond for the policies that come with recrawl, and what a call
    takes for those of your own, which see neither polls nor learned rates.
    """
    chosen = _chosen(policies)
    if weights not in ("table", "links", "pareto"):
        raise InputError(f"weights: {weights!r} is unknown; choose from table, links, pareto")
    if (links is None) != (weights != "links"):
        raise InputError("links: a table of links goes with weights='links', and that with it")
    if not 0 < learning < 1:
        raise InputError(f"learning: {learning} must lie in (0, 1)")
    if resamples < 20:
        raise InputError(f"resamples: {resamples} must be at least 20")
    if orders < 1:
        raise InputError(f"orders: {orders} must be at least 1")
    record = history_of(history, pages, polls, pareto=weights == "pareto", links=links)
    told = None
    if isinstance(signals, str):
        told = parse_signals(signals, record, called="signals", seed=seed)
    elif signals is not None:
        told = announcements_of(signals, record)
    tests = [(name, backtest_of(record, name, learning, seed=seed, told=told)) for name in budgets]
    counts = resample_pages(record, resamples, seed)
    found = tuple(
        compare_policies(name, test, chosen, counts, orders=orders) for name, test in tests
    )
    return BacktestReport(_table(found), record, found)


def backtest_of(
    record: ChangeHistory,
    budget: str,
    learning: float = 0.5,
    *,
    host_limit_per_s: float | None = None,
    called: str = "budgets",
    seed: int = 0,
    told: Announcements | None = None,
) -> Backtest:
    """Return the replay of a history at a budget that people wrote.

    Raises
    ------
    InputError
        It is no budget, or pays too few visits to compare anything.
    """
    rate = _budget(budget.strip(), record, called)
    caps = None
    if host_limit_per_s is not None:
        caps = np.full(int(record.hosts.max()) + 1, host_limit_per_s)
    test = Backtest(record, rate, learning, host_caps=caps, order=seed, told=told)
    if test.n_ticks < 100:
        raise InputError(
            f"{called}: it pays {test.n_ticks} visits over the whole history, too few to compare "
            f"anything; 100 at least, and {record.n_pages:,} to visit every page once"
        )
    if told is not None and (share := told.share_read(record, test.n_ticks)) > MOST_READ:
        raise InputError(
            f"signals: reading the listings so often takes {share:.0%} of the budget {budget}, and "
            f"at most {MOST_READ:.0%} is sensible; read them less often, as every=1d"
        )
    return test


def compare_policies(
    budget: str,
    test: Backtest,
    policies: Mapping[str, RevisitPolicy | None],
    counts: np.ndarray,
    *,
    jobs: int | None = None,
    orders: int = 1,
    on_progress: Callable[[int], None] = lambda _: None,
) -> Compared:
    """Replay policies side by side.

    Parameters
    ----------
    budget : what reports call the test
    test : history and budget
    policies : names, with None for those that come with recrawl
    counts : of :func:`recrawl.simulation.comparison.resample_pages`
    jobs : policies replayed at once; default: the number of cores, at most 4
    orders : of the pages, which results are averaged over
    on_progress : told of visits done
    """
    replayed = _replay_all(test, policies, jobs, on_progress, orders)
    scores = {name: score_policy(test, one, counts) for name, one in replayed.items()}
    return Compared(
        budget,
        test,
        scores,
        _at_the_same(test, scores, replayed, counts, orders),
        {name: one.course for name, one in replayed.items()},
    )


def _chosen(policies: Sequence[str | RevisitPolicy]) -> dict[str, RevisitPolicy | None]:
    chosen: dict[str, RevisitPolicy | None] = {"recrawl": None}
    for one in policies:
        if not isinstance(one, str):
            chosen[one.name] = one
        elif one in POLICIES:
            chosen[one] = None
        else:
            raise InputError(f"policies: {one!r} is none of {', '.join(POLICIES)}")
    return chosen


def _budget(text: str, record: ChangeHistory, called: str) -> float:
    if text.endswith("x"):
        try:
            factor = float(text[:-1])
        except ValueError:
            factor = np.nan
        if not (np.isfinite(factor) and factor > 0):
            raise InputError(
                f"{called}: {text!r} is no budget; write 500/d, or 0.5x for half of the change rate"
            )
        return factor * record.change_rate
    rate = parse_rate_per_s(text, name=called)
    if not rate > 0:
        raise InputError(f"{called}: {text} must be > 0")
    return rate


def _replay_all(
    test: Backtest,
    policies: Mapping[str, RevisitPolicy | None],
    jobs: int | None,
    on_progress: Callable[[int], None],
    orders: int = 1,
) -> dict[str, Replayed]:
    def one(name: str) -> Replayed:
        own = policies[name]
        if own is not None:  # it may remember, so it lives through the history once
            return replay_policy(test, own, on_progress)
        return average([in_one(name, ordered) for ordered in _ordered(test, orders)])

    def in_one(name: str, ordered: Backtest) -> Replayed:
        if name == "clairvoyant":
            on_progress(ordered.n_ticks)
            return bound_by_foresight(ordered)
        return run_policy(ordered, name, on_progress)

    n_jobs = jobs or min(os.cpu_count() or 1, 4)
    with ThreadPoolExecutor(max_workers=n_jobs) as pool:  # the loops run without the lock
        return dict(zip(policies, pool.map(one, policies), strict=True))


def _ordered(test: Backtest, orders: int) -> list[Backtest]:
    """Return a replay with each of so many orders of the pages."""
    first = test.order or 0
    return [replace(test, order=first + k) for k in range(orders)] if orders > 1 else [test]


def _at_the_same(
    test: Backtest,
    scores: Mapping[str, Score],
    replayed: Mapping[str, Replayed],
    counts: np.ndarray,
    orders: int,
) -> dict[str, Score]:
    """Score recrawl at what each rule spent, where that is less than the budget."""
    found = {}
    for name, one in replayed.items():
        if name in SHIPPED_RULES or name not in POLICIES:
            if 0 < one.instants.size < 0.99 * test.n_ticks:
                less = test.spent_like(one)
                found[name] = score_policy(
                    less,
                    average([run_policy(one, "recrawl") for one in _ordered(less, orders)]),
                    counts,
                )
            else:
                found[name] = scores["recrawl"]
    return found


def _table(found: Sequence[Compared]) -> pa.Table:
    rows = [
        {
            "budget": one.name,
            "policy": name,
            "freshness": score.freshness,
            "low": score.low,
            "high": score.high,
            "recrawl_ahead": one.ahead(name)[0],
            "mean_age": score.mean_age,
            "fetches": score.fetches,
            "wasted": score.wasted,
            "changes_seen": score.seen,
        }
        for one in found
        for name, score in one.scores.items()
    ]
    return pa.Table.from_pylist(rows)
