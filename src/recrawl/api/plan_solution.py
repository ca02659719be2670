"""The plan of a table: solved, certified, and what other budgets would buy."""

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Self, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from recrawl.api.plan_question import PlanQuestion
from recrawl.errors import InputError, NotConverged
from recrawl.freshness import (
    OBJECTIVES,
    Limit,
    Objective,
    Pages,
    PriceList,
    TradeOffCurve,
    average_value,
    solve_prices,
    trace_trade_off,
)
from recrawl.freshness.baselines import share_out
from recrawl.freshness.limits import Tree
from recrawl.quantities import UNIT_S
from recrawl.tables.reading import PageTable
from recrawl.tables.sites import group_into_sites
from recrawl.tables.spool import PageSpool, Track, fill_spool, untracked

COLUMN: Final = "crawl_rate"
_SAMPLE: Final = 50_000
_REACH, _POINTS = 8, 41  # the trade-off, from an eighth of the budget to eight times
Meanwhile: TypeAlias = Callable[[str], contextlib.AbstractContextManager[object]]


@dataclass(frozen=True)
class CappedHost:
    """A host that spends all it may; rate per second, price as in :class:`Answer`."""

    host: str
    rate: float
    price: float


@dataclass(frozen=True)
class Answer:
    """A plan in numbers, times in seconds.

    Rates are shown per ``shown_unit``, the unit in which the budget was given. ``price`` is the
    worth of one more fetch per second in summed weight times measure, ``slope`` the same in the
    average, ``value_of_more`` the measure with a fifth more budget. ``spent`` counts fetch costs,
    ``accesses`` the fetches themselves, which is what robots must be able to make. Of ``n_fading``
    pages the worth of what is new fades; their freshness is the share of it that is had.
    """

    n_pages: int
    n_hosts: int
    budget: float
    spent: float
    accesses: float
    measure: str
    spacing: str
    value: float
    value_of_more: float
    price: float
    slope: float
    n_never_visited: int
    n_hosts_at_cap: int
    capped_hosts: tuple[CappedHost, ...]
    kkt_residual: float
    duality_gap: float
    passes: int
    compare: Mapping[str, float]
    shown_unit: str = "s"
    n_fading: int = 0

    def show_rate(self, per_second: float) -> str:
        """Write a rate in the unit of the budget."""
        return show_rate(per_second, self.shown_unit)


def show_rate(per_second: float, unit: str) -> str:
    """Write a rate per a unit of time.

    Parameters
    ----------
    per_second : 1/s
    unit : of time, as in ``500/d``: a key of ``UNIT_S``
    """
    return f"{per_second * UNIT_S[unit]:,.5g}/{unit}"


@dataclass(frozen=True, eq=False)
class _Problem:
    """Problem to be solved, in seconds."""

    objective: Objective
    spool: PageSpool
    budget: float
    host_caps: NDArray[np.float64] | None
    limits: tuple[Limit, ...]
    sites: tuple[str, ...]
    shown_unit: str

    def solve(self, budget: float) -> PriceList:
        """Find the prices for a budget, with names in what messages say."""
        return solve_prices(
            self.objective,
            self.spool,
            budget,
            n_hosts=len(self.spool.hosts),
            host_caps=self.host_caps,
            limits=self.limits,
            threads=min(4, os.cpu_count() or 1),
            name_node=self._name,
            show_rate=lambda rate: show_rate(rate, self.shown_unit),
        )

    def _name(self, level: str, number: int) -> str:
        if level == "host":
            return f"the limit of host {self.spool.hosts[number]}"
        return "the budget" if level == "budget" else f"the limit of site {self.sites[number]}"


@dataclass(frozen=True, eq=False)
class SolvedPlan:
    """A question answered: prices that give every page its rate.

    Use it as a context: large tables lie in a temporary file until it is closed.
    """

    question: PlanQuestion
    problem: "_Problem"
    prices: PriceList
    answer: Answer

    @classmethod
    def of(
        cls,
        table: PageTable,
        question: PlanQuestion,
        *,
        track: Track = untracked,
        meanwhile: Meanwhile = contextlib.nullcontext,
    ) -> Self:
        """Read a table and solve the plan.

        Parameters
        ----------
        table, question : pages, and what is asked of them
        track : how the table is read
        meanwhile : makes a context that holds while a step that it is told of takes its time

        Raises
        ------
        InvalidTable
            A value is outside its domain; the message names row and column.
        InputError
            The question cannot be answered: limits that contradict each other, no such host.
        NotConverged
            The price could not be found.

        Notes
        -----
        O(n) time for each of some tens of passes; beyond 100 MB the numbers lie in a file.
        """
        common_terms = question.common()
        budget = question.rate_per_s("budget", question.budget)
        common, own = question.limits_of_hosts()
        limited = bool(question.host_limits) or question.site_limit is not None
        spool = fill_spool(table, question.unit_s, common_terms, with_hosts=limited, track=track)
        try:
            _check_arms(spool, question)
            limits, sites = _site_limits(spool, question)
            measure = "freshness" if question.measure == "staleness" else question.measure
            problem = _Problem(
                objective=OBJECTIVES[measure, question.spacing],  # type: ignore[index]
                spool=spool,
                budget=budget,
                host_caps=_host_caps(spool, common, own, question) if limited else None,
                limits=limits,
                sites=sites,
                shown_unit=unit_of(question.budget),
            )
            with meanwhile(f"planning {spool.n_pages:,} pages"):
                prices = problem.solve(budget)
                answer = _answer(problem, prices, question.measure, tuple(question.arms))
        except BaseException:
            spool.close()
            raise
        return cls(question, problem, prices, answer)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.problem.spool.close()

    def sample(self) -> Pages:
        """Return every k-th page, some 50,000 of them."""
        return self.problem.spool.sample(_SAMPLE)

    def rates(self) -> "Rates":
        """Return what hands out the rates, from the first page on, in the table's unit of time."""
        return Rates(self.prices, self.problem.spool, self.question.unit_s)

    def trade_off(self) -> TradeOffCurve:
        """Return what other budgets would buy, from an eighth to eight times."""
        return _trace(self.problem)


def with_rates(batches: Iterator[pa.RecordBatch], rates: "Rates") -> Iterator[pa.RecordBatch]:
    """Yield the batches of a table with a column crawl_rate, in the table's unit of time.

    Parameters
    ----------
    batches : of the table, from its first row on
    rates : hands out those of the same pages, from the first on
    """
    for batch in batches:
        values = pa.array(rates.take(batch.num_rows))
        names = batch.schema.names
        if COLUMN in names:
            yield batch.set_column(names.index(COLUMN), COLUMN, values)
        else:
            yield batch.append_column(COLUMN, values)


class Rates:
    """Hands out crawl rates in the order of the pages, in pieces of any size.

    Parameters
    ----------
    prices : of the plan
    parts : the pages
    unit_s : unit of time of the rates, s
    """

    def __init__(self, prices: PriceList, parts: Iterable[Pages], unit_s: float) -> None:
        self._rates: Iterator[NDArray[np.float64]] = (prices.rates(part) * unit_s for part in parts)
        self._rest = np.empty(0)

    def take(self, count: int) -> NDArray[np.float64]:
        """Return the rates of the next pages, per unit of time."""
        while self._rest.size < count:
            self._rest = np.concatenate([self._rest, next(self._rates)])
        taken, self._rest = self._rest[:count], self._rest[count:]
        return taken


def _answer(problem: _Problem, prices: PriceList, measure: str, arms: tuple[str, ...]) -> Answer:
    """Judge the plan, price one more fifth of budget, and evaluate the control arms."""
    objective, spool = problem.objective, problem.spool
    accesses = 0.0

    def rated() -> Iterator[tuple[Pages, NDArray[np.float64]]]:
        nonlocal accesses
        for part in spool:
            rates = prices.rates(part)
            accesses += float(rates.sum())
            yield part, rates

    proof = prices.certify(rated())
    if not np.isfinite(proof.spent):
        raise NotConverged(
            "plan: change rates or weights are too small to be computed with",
            iterations=prices.passes,
            residual=np.inf,
        )
    more = problem.solve(1.2 * problem.budget)
    value_of_more = more.certify((part, more.rates(part)) for part in spool).value
    values = {arm: _arm_value(arm, problem, prices.tree) for arm in arms}
    flip = measure == "staleness"
    capped = _capped_hosts(problem, prices, proof.leaf_loads)
    return Answer(
        n_pages=spool.n_pages,
        n_hosts=len(spool.hosts),
        budget=problem.budget,
        spent=proof.spent,
        accesses=accesses,
        measure=measure,
        spacing=objective.spacing,
        value=1 - proof.value if flip else proof.value,
        value_of_more=1 - value_of_more if flip else value_of_more,
        price=prices.price,
        slope=prices.price / spool.total_weight,
        n_never_visited=proof.n_never_visited,
        n_hosts_at_cap=len(capped),
        capped_hosts=tuple(capped[:20]),
        kkt_residual=proof.kkt_residual,
        duality_gap=proof.duality_gap,
        passes=prices.passes,
        shown_unit=problem.shown_unit,
        n_fading=spool.n_fading,
        compare={arm: 1 - value if flip else value for arm, value in values.items()},
    )


def _arm_value(arm: str, problem: _Problem, tree: Tree) -> float:
    """Evaluate uniform or proportional rates, under the same budget and limits."""
    spool, by_host = problem.spool, tree.n_leaves > 1
    shaped = arm == "proportional" and spool.total_change > 0

    def shape(part: Pages) -> NDArray[np.float64]:
        return part.change_rates if shaped else np.ones(len(part))

    masses = np.zeros(tree.n_leaves)
    for part in spool:
        cost = shape(part) * (1.0 if part.fetch_costs is None else part.fetch_costs)
        masses += np.bincount(part.leaves(), cost, tree.n_leaves) if by_host else cost.sum()
    factors = share_out(tree, masses)
    pieces = (
        (part, shape(part) * (factors[part.leaves()] if by_host else factors[0])) for part in spool
    )
    return average_value(problem.objective, pieces)[0]


def _capped_hosts(
    problem: _Problem, prices: PriceList, loads: NDArray[np.float64]
) -> list[CappedHost]:
    """Hosts that pay more than the price that they inherit, dearest first."""
    if problem.host_caps is None:
        return []
    own = prices.prices.of_level[-1]
    inherited = prices.prices.of_level[-2][prices.tree.parents[-1]]
    at_cap = np.flatnonzero((own > inherited) | (loads >= problem.host_caps * (1 - 1e-9)))
    order = at_cap[np.argsort(-own[at_cap], kind="stable")]
    return [CappedHost(problem.spool.hosts[h], float(loads[h]), float(own[h])) for h in order]


def _trace(problem: _Problem) -> TradeOffCurve:
    """Trace the trade-off on a sample of the pages, with budget and caps in proportion."""
    sample = problem.spool.sample(_SAMPLE)
    part = len(sample) / problem.spool.n_pages
    caps = None if problem.host_caps is None else problem.host_caps * part
    limits = [Limit(limit.groups, limit.caps * part) for limit in problem.limits]
    floors = (
        0.0
        if sample.min_rates is None
        else float(
            (sample.min_rates * (1 if sample.fetch_costs is None else sample.fetch_costs)).sum()
            / part
        )
    )
    least = max(problem.budget / _REACH, floors * 1.001)
    budgets = np.geomspace(least, max(problem.budget * _REACH, 2 * least), _POINTS)
    curve = trace_trade_off(problem.objective, sample, budgets * part, caps, limits)
    return TradeOffCurve(budgets, curve.values, curve.slopes, curve.never_visited)


def unit_of(rate: str) -> str:
    """Return the unit of time in which a rate was written."""
    return rate.replace("per", "/").rpartition("/")[2].strip().lower()


def _check_arms(spool: PageSpool, question: PlanQuestion) -> None:
    if spool.n_fading and "proportional" in question.arms:
        raise InputError(
            f"{question.called('compare')}: proportional is to change rates, of which content that "
            "fades has none; compare with uniform"
        )


def _host_caps(
    spool: PageSpool, common: float, own: dict[str, float], question: PlanQuestion
) -> NDArray[np.float64]:
    caps = np.full(len(spool.hosts), common)
    unseen = set(own)
    for number, host in enumerate(spool.hosts):
        for name in (host.lower(), host.lower().rpartition("://")[2]):
            if name in own:
                caps[number] = own[name]
                unseen.discard(name)
    if unseen:
        raise InputError(f"{question.called('host_limit')}: no page is on host {min(unseen)}")
    return caps


def _site_limits(
    spool: PageSpool, question: PlanQuestion
) -> tuple[tuple[Limit, ...], tuple[str, ...]]:
    if question.site_limit is None:
        return (), ()
    rate = question.rate_per_s("site_limit", question.site_limit)
    groups, sites = group_into_sites(spool.hosts)
    return (Limit(groups, np.full(len(sites), rate)),), sites
