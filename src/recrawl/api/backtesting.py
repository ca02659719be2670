"""Backtests of revisit policies, one against another, on a recorded history: `recrawl.backtest`."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from recrawl.api.parts import check_part, check_whole, one_or_more
from recrawl.crawler.control.revisiting.interval_rules import SHIPPED_RULES
from recrawl.crawler.control.revisiting.revisit_policy import RevisitPolicy
from recrawl.errors import InputError
from recrawl.quantities import parse_rate_per_s
from recrawl.simulation.announcements import MOST_READ, Announcements
from recrawl.simulation.backtest import POLICIES, Backtest, Replayed, average
from recrawl.simulation.cells import Cell, Progress, Replayer, replay_here
from recrawl.simulation.comparison import Score, resample_pages, score_policy
from recrawl.simulation.history import ChangeHistory
from recrawl.tables.announced import announcements_of, parse_signals
from recrawl.tables.histories import history_of

_REFERENCES = ("foresight", "recrawl")  # the first of these that is asked for is one
_MOST_VISITS = 100_000_000  # of a replay: 2.4 GB of instants, pages and outcomes


@dataclass(frozen=True, eq=False)
class Compared:
    """All policies at one budget.

    Parameters
    ----------
    name : the budget as it was given
    test : what was replayed
    scores : policy to its score
    at_same : rule to the score of the reference at what the rule spent
    courses : policy to instants and freshness
    """

    name: str
    test: Backtest
    scores: dict[str, Score]
    at_same: dict[str, Score]
    courses: dict[str, np.ndarray]

    @property
    def reference(self) -> str:
        """Name of the policy that the others are compared with."""
        return next(name for name in _REFERENCES if name in self.scores)

    def ahead(self, name: str) -> tuple[float, float, float]:
        """Return how much fresher the reference is than a policy, at what the policy spent."""
        return self.at_same.get(name, self.scores[self.reference]).ahead_of(self.scores[name])


@dataclass(frozen=True, eq=False)
class BacktestReport:
    """Results of every policy at every budget.

    Parameters
    ----------
    table : one row for each: budget, policy, freshness with a 95 % interval (low, high), how far
        the reference is ahead at what the policy spent (reference_ahead), mean_age in seconds,
        fetches, share of these that were wasted, share of changes seen
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
    budgets: str | Sequence[str] = ("0.25x", "1x", "4x"),
    policies: str | Sequence[str | RevisitPolicy] = POLICIES,
    weights: str = "table",
    links: Any = None,
    learning: float = 0.5,
    resamples: int = 400,
    seed: int = 0,
    orders: int = 1,
    signals: Any = None,
    replayer: Replayer = replay_here,
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
    budgets : visits of all pages together, as ``"500/d"`` or as multiples of the total change rate;
        one or several
    policies : names of ``recrawl.POLICIES``, or objects of your own, of which each budget replays a
        copy. Compared with is foresight, by which a crawl goes unless it is told otherwise; or
        recrawl, each page by itself, where only that is named
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
    replayer : who replays, with the same results: threads of this process, or the workers of a Dask
        cluster, as ``recrawl.integrations.dask.replays.DaskReplayer(client)``

    Raises
    ------
    InputError
        A table or an option is wrong; the message says what would be right.
    StateError
        The workers of a cluster were lost.

    Examples
    --------
    >>> import recrawl
    >>> days = [float(day * 86_400) for day in range(1, 120)]
    >>> changes = {"url": ["http://a.test/x"] * 119, "changed_at": days}
    >>> found = recrawl.backtest(changes, budgets=["1x"], policies=["uniform"], resamples=20)
    >>> found.table["policy"].to_pylist()
    ['foresight', 'uniform']

    Notes
    -----
    A visit takes O(log n): a microsecond for the policies that come with recrawl, and what a call
    takes for those of your own, which see neither polls nor learned rates. Each budget, policy and
    order is a replay of its own, of 48 bytes a page and 8 a visit.
    """
    chosen, asked = _chosen(policies), one_or_more("budgets", budgets)
    if weights not in ("table", "links", "pareto"):
        raise InputError(f"weights: {weights!r} is unknown; choose from table, links, pareto")
    if (links is None) != (weights != "links"):
        raise InputError("links: a table of links goes with weights='links', and that with it")
    if not 0 < learning < 1:
        raise InputError(f"learning: {learning} must lie in (0, 1)")
    check_whole("resamples", resamples, 20)
    check_whole("orders", orders, 1)
    check_whole("seed", seed, 0)
    record = history_of(history, pages, polls, pareto=weights == "pareto", links=links)
    told = None
    if isinstance(signals, str):
        told = parse_signals(signals, record, called="signals", seed=seed)
    elif signals is not None:
        told = announcements_of(signals, record)
    tests = [(name, backtest_of(record, name, learning, seed=seed, told=told)) for name in asked]
    counts = resample_pages(record, resamples, seed)
    found = compare_policies(tests, chosen, counts, orders=orders, replayer=replayer)
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

    Parameters
    ----------
    record : what happened, in seconds
    budget : visits of all pages together: ``500/d``, or ``0.5x`` for half of the total change rate
    learning : share of the time that is for learning and not judged, in (0, 1)
    host_limit_per_s : visits per second that each host allows, > 0; None: no limit
    called : what messages call the budget
    seed : of the order in which pages with the same due time are visited
    told : changes that listings announce; None: nobody announces any

    Raises
    ------
    InputError
        It is no budget, pays too few visits, or too much of it goes into reading the listings.
    """
    rate = _budget(str(budget).strip(), record, called)
    caps = None
    if host_limit_per_s is not None:
        caps = np.full(int(record.hosts.max()) + 1, host_limit_per_s)
    test = Backtest(record, rate, learning, host_caps=caps, order=seed, told=told)
    if test.n_ticks < 100:
        raise InputError(
            f"{called}: it pays {test.n_ticks} visits over the whole history, too few to compare "
            f"anything; 100 at least, and {record.n_pages:,} to visit every page once"
        )
    if test.n_ticks > _MOST_VISITS:
        raise InputError(
            f"{called}: {budget} pays {test.n_ticks:.1e} visits over the whole history, more than "
            f"can be replayed; {_MOST_VISITS:.0e} at most, which is "
            f"{_MOST_VISITS / record.n_pages:,.0f} of each page"
        )
    if told is not None and (share := told.share_read(record, test.n_ticks)) > MOST_READ:
        raise InputError(
            f"signals: reading the listings so often takes {share:.0%} of the budget {budget}, and "
            f"at most {MOST_READ:.0%} is sensible; read them less often, as every=1d"
        )
    return test


def compare_policies(
    tests: Sequence[tuple[str, Backtest]],
    policies: Mapping[str, RevisitPolicy | None],
    counts: np.ndarray,
    *,
    orders: int = 1,
    replayer: Replayer = replay_here,
    on_progress: Progress = lambda *_: None,
) -> tuple[Compared, ...]:
    """Replay policies side by side, at several budgets.

    Parameters
    ----------
    tests : what reports call each, with its history and budget
    policies : names, with None for those that come with recrawl; of :func:`with_reference`
    counts : of :func:`recrawl.simulation.comparison.resample_pages`
    orders : of the pages, which results are averaged over
    replayer : who replays
    on_progress : told of the number of a test, and of visits done
    """
    found = [Compared(name, test, {}, {}, {}) for name, test in tests]
    largest = sorted(range(len(tests)), key=lambda n: -tests[n][1].n_ticks)  # as it ends last
    places = [place for place in largest for _ in policies]
    asked = [(found[place], name) for place in largest for name in policies]
    wanted = [(one.test, name if (own := policies[name]) is None else own) for one, name in asked]
    results = _replay_all(wanted, orders, replayer, lambda n, done: on_progress(places[n], done))
    less: list[tuple[Compared, str, Backtest]] = []
    as_it_is: list[tuple[Compared, str]] = []
    for (one, name), result in zip(asked, results, strict=True):
        one.scores[name] = score_policy(one.test, result, counts)
        one.courses[name] = result.course
        if name in SHIPPED_RULES or name not in POLICIES:
            if 0 < result.instants.size < 0.99 * one.test.n_ticks:
                less.append((one, name, one.test.spent_like(result)))
            else:
                as_it_is.append((one, name))
    for one, name in as_it_is:
        one.at_same[name] = one.scores[one.reference]
    again = [(test, one.reference) for one, _, test in less]
    results = _replay_all(again, orders, replayer, lambda *_: None)
    for (one, name, test), result in zip(less, results, strict=True):
        one.at_same[name] = score_policy(test, result, counts)
    return tuple(found)


def with_reference(names: Sequence[str]) -> tuple[str, ...]:
    """Return names of policies, with that of one that the others can be compared with."""
    lacks = not any(name in _REFERENCES for name in names)
    return (*_REFERENCES[:lacks], *names)


def _chosen(policies: str | Sequence[str | RevisitPolicy]) -> dict[str, RevisitPolicy | None]:
    asked = one_or_more("policies", policies)
    named = with_reference([one for one in asked if isinstance(one, str)])
    for name in named:
        if name not in POLICIES:
            raise InputError(f"policies: {name!r} is none of {', '.join(POLICIES)}")
    chosen: dict[str, RevisitPolicy | None] = dict.fromkeys(named)
    for own in asked:
        if isinstance(own, str):
            continue
        check_part("policies", own, RevisitPolicy)
        called: Any = own.name
        if not isinstance(called, str):
            raise InputError(f"policies: a policy is called {called!r:.80}, which is no text")
        if called in POLICIES or chosen.setdefault(called, own) is not own:
            raise InputError(
                f"policies: two are called {called!r}, and results go by names; give each its own"
            )
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
    wanted: Sequence[tuple[Backtest, str | RevisitPolicy]],
    orders: int,
    replayer: Replayer,
    on_progress: Progress,
) -> Iterator[Replayed]:
    """Yield what comes of each, averaged over the orders; one's own policies have one order."""
    groups = [
        [Cell(each, policy) for each in _ordered(test, orders if isinstance(policy, str) else 1)]
        for test, policy in wanted
    ]
    numbers = [number for number, group in enumerate(groups) for _ in group]
    cells = [cell for group in groups for cell in group]
    with closing(replayer(cells, lambda cell, n: on_progress(numbers[cell], n))) as results:
        for group in groups:
            yield average(list(islice(results, len(group))))


def _ordered(test: Backtest, orders: int) -> list[Backtest]:
    """Return a replay with each of so many orders of the pages."""
    first = test.order or 0
    return [replace(test, order=first + k) for k in range(orders)] if orders > 1 else [test]


def _table(found: Sequence[Compared]) -> pa.Table:
    rows = [
        {
            "budget": one.name,
            "policy": name,
            "freshness": score.freshness,
            "low": score.low,
            "high": score.high,
            "reference_ahead": one.ahead(name)[0],
            "mean_age": score.mean_age,
            "fetches": score.fetches,
            "wasted": score.wasted,
            "changes_seen": score.seen,
        }
        for one in found
        for name, score in one.scores.items()
    ]
    return pa.Table.from_pylist(rows)
