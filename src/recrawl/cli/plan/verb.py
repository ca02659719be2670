"""The verb ``plan``: crawl rates that no other rates can beat, from a table of pages."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from cyclopts import Parameter
from numpy.typing import NDArray

from recrawl.cli.figures import check_picture
from recrawl.cli.output import (
    UNIT_S,
    console,
    parse_duration_s,
    parse_rate_per_s,
    print_json,
    progress_console,
)
from recrawl.cli.plan.pictures import draw_plan
from recrawl.cli.plan.report import (
    Answer,
    CappedHost,
    answer_json,
    curve_json,
    print_answer,
    print_curve,
    show_rate,
)
from recrawl.cli.plan.sites import group_into_sites
from recrawl.cli.plan.spool import Bounds, PageSpool, fill_spool
from recrawl.cli.plan.writer import check_out, write_plan
from recrawl.cli.tables import open_page_table
from recrawl.errors import InputError
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

__all__ = ["main"]

ARMS = ("uniform", "proportional")
_SAMPLE = 50_000
_REACH, _POINTS = 8, 41  # the trade-off, from an eighth of the budget to eight times


@dataclass(frozen=True, eq=False)
class _Problem:
    """What is to be solved, in seconds."""

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


def main(  # noqa: PLR0913 - the options of the verb
    pages: Path,
    /,
    *,
    budget: Annotated[str, Parameter(allow_leading_hyphen=True)],
    measure: Literal["freshness", "staleness", "age", "harmonic"] = "freshness",
    spacing: Literal["even", "random"] = "even",
    host_limit: Annotated[tuple[str, ...], Parameter(negative="", show_default=False)] = (),
    site_limit: str | None = None,
    min_interval: str | None = None,
    max_interval: str | None = None,
    unit: str | None = None,
    compare: str | None = None,
    trade_off: Annotated[bool, Parameter(negative="", show_default=False)] = False,
    out: Path | None = None,
    plot: Path | None = None,
    json_: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> None:
    """Decide how often to visit each page, for the freshest index that a budget can buy.

    The table has a column change_rate (changes per day) and, if you like, weight, fetch_cost, url,
    host, min_interval and max_interval (days); Parquet, CSV or JSON Lines, of any size.

    Parameters
    ----------
    pages
        Table of pages.
    budget
        Fetches that may be made, as 1000/h or 50000/d; a page of fetch_cost 2 counts twice.
    measure
        What is to be best on average: freshness (share of time current), staleness (its
        complement), age (time since the copy went out of date), or harmonic (every missed change
        counts, later ones less; no page is left out).
    spacing
        Visits to a page evenly spaced, or at random.
    host_limit
        Greatest rate for every host, as 6/min, or for one, as https://example.com=1/s; may be
        given several times.
    site_limit
        Greatest rate for every site (the registrable domain, example.com), as 60/min.
    min_interval
        Shortest time between visits to any page, as 1h.
    max_interval
        Longest time between visits to any page, as 30d.
    unit
        Unit of time of the table and of the answer: s, min, h, d, w.
        [default: table per day, answer per second]
    compare
        Classic policies to put beside: uniform, proportional, or both with a comma.
    trade_off
        Show also what other budgets would buy, and what one more fetch is worth at each.
    out
        Write the table with a column crawl_rate: .parquet, .csv or .jsonl.
    plot
        Draw the rates and the trade-off between budget and freshness: .svg, .png or .pdf.
    json_
        Print one JSON object instead of tables.
    """
    arms = _parse_arms(compare)
    unit_s = _parse_unit(unit)
    check_out(out)
    check_picture(plot)
    table = open_page_table(pages)
    bounds = Bounds(
        _interval(min_interval, "--min-interval"), _interval(max_interval, "--max-interval")
    )
    _check_order(bounds, min_interval, max_interval)
    budget_s = _positive_rate(budget, "--budget")
    host_rate, own_rates = _parse_host_limits(host_limit)
    limited = bool(host_limit) or site_limit is not None
    spool = fill_spool(table, unit_s, bounds, with_hosts=limited)
    try:
        limits, sites = _site_limits(spool, site_limit)
        caps = _host_caps(spool, host_rate, own_rates) if limited else None
        objective = OBJECTIVES["freshness" if measure == "staleness" else measure, spacing]
        problem = _Problem(objective, spool, budget_s, caps, limits, sites, _unit_of(budget))
        with progress_console().status(f"planning {spool.n_pages:,} pages"):
            prices = problem.solve(budget_s)
            answer = _answer(problem, prices, measure, arms)
        if out is not None:
            write_plan(table, spool, prices, out, unit_s)
        curve = None if plot is None and not trade_off else _trace(problem)
        if plot is not None and curve is not None:
            draw_plan(plot, spool.sample(_SAMPLE), prices, answer, curve, unit_s)
    finally:
        spool.close()
    if json_:
        shown = {"trade_off": curve_json(answer, curve, unit)} if trade_off and curve else {}
        print_json(answer_json(answer, unit) | shown)
    else:
        print_answer(answer, console(), pages, out, plot)
        if trade_off and curve is not None:
            print_curve(answer, curve)


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
    with progress_console().status("tracing the trade-off"):
        curve = trace_trade_off(problem.objective, sample, budgets * part, caps, limits)
    return TradeOffCurve(budgets, curve.values, curve.slopes, curve.never_visited)


def _parse_arms(compare: str | None) -> tuple[str, ...]:
    if compare is None:
        return ()
    arms = tuple(name.strip() for name in compare.split(","))
    for arm in arms:
        if arm not in ARMS:
            raise InputError(f"--compare: {arm!r} is unknown; choose from {', '.join(ARMS)}")
    return arms


def _parse_unit(unit: str | None) -> float:
    if unit is None:
        return UNIT_S["d"]
    if unit not in UNIT_S:
        raise InputError(f"--unit: {unit!r} is no unit of time; choose from {', '.join(UNIT_S)}")
    return UNIT_S[unit]


def _unit_of(rate: str) -> str:
    """Return the unit of time in which a rate was written."""
    return rate.replace("per", "/").rpartition("/")[2].strip().lower()


def _positive_rate(text: str, name: str) -> float:
    rate = parse_rate_per_s(text, name=name)
    if not rate > 0:
        raise InputError(f"{name}: {text} must be > 0")
    return rate


def _interval(text: str | None, name: str) -> float | None:
    if text is None:
        return None
    seconds = parse_duration_s(text, name=name)
    if not seconds > 0:
        raise InputError(f"{name}: {text} must be > 0")
    return seconds


def _check_order(bounds: Bounds, shortest: str | None, longest: str | None) -> None:
    low, high = bounds.min_interval_s, bounds.max_interval_s
    if low is not None and high is not None and low > high:
        raise InputError(f"--min-interval: {shortest} is above --max-interval, {longest}")


def _parse_host_limits(texts: tuple[str, ...]) -> tuple[float, dict[str, float]]:
    """Read limits for all hosts and for single ones."""
    common, own = np.inf, {}
    for text in texts:
        name, equals, rate = text.rpartition("=")
        if equals:
            own[name.strip().lower()] = _positive_rate(rate, f"--host-limit {name}")
        else:
            common = _positive_rate(text, "--host-limit")
    return common, own


def _host_caps(spool: PageSpool, common: float, own: dict[str, float]) -> NDArray[np.float64]:
    caps = np.full(len(spool.hosts), common)
    unseen = set(own)
    for number, host in enumerate(spool.hosts):
        for name in (host.lower(), host.lower().rpartition("://")[2]):
            if name in own:
                caps[number] = own[name]
                unseen.discard(name)
    if unseen:
        raise InputError(f"--host-limit: no page is on host {min(unseen)}")
    return caps


def _site_limits(
    spool: PageSpool, site_limit: str | None
) -> tuple[tuple[Limit, ...], tuple[str, ...]]:
    if site_limit is None:
        return (), ()
    rate = _positive_rate(site_limit, "--site-limit")
    groups, sites = group_into_sites(spool.hosts)
    return (Limit(groups, np.full(len(sites), rate)),), sites
