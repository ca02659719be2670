"""Crawl rates for a table of pages: `recrawl.plan`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from recrawl.api.parts import one_or_more
from recrawl.api.plan_question import PlanQuestion
from recrawl.api.plan_solution import Answer, SolvedPlan, with_rates
from recrawl.tables.in_memory import as_page_table
from recrawl.tables.spool import untracked


@dataclass(frozen=True)
class Certificate:
    """Bounds on how far a plan is from the best one, computed from its rates and prices alone.

    Parameters
    ----------
    kkt_residual : greatest relative difference between marginal worth and price, over all pages
        that could move, or relative excess over a limit, whichever is more
    duality_gap : how far the rates can be from the optimum at most, relative to the objective
    spent, budget : cost-weighted fetches, per second
    """

    kkt_residual: float
    duality_gap: float
    spent: float
    budget: float


@dataclass(frozen=True, eq=False)
class Plan:
    """Plan: a crawl rate for each page.

    Parameters
    ----------
    table : the pages as they came, with a column ``crawl_rate`` per unit of the table's time
    price : worth of one more fetch a second, in summed weight times the measure
    freshness : the measure that was asked for, averaged by weight: freshness where none was
    certificate : how far from the best this can be
    answer : all numbers of the plan, times in seconds
    """

    table: pa.Table
    price: float
    freshness: float
    certificate: Certificate
    answer: Answer


def plan(  # noqa: PLR0913 - what can be asked
    table: Any,
    budget: str,
    *,
    measure: str = "freshness",
    spacing: str = "even",
    host_limit: str | Sequence[str] = (),
    site_limit: str | None = None,
    min_interval: str | None = None,
    max_interval: str | None = None,
    half_life: str | None = None,
    unit: str = "d",
    compare: str | Sequence[str] = (),
) -> Plan:
    """Decide how often to visit each page, for the freshest index that a budget can buy.

    Parameters
    ----------
    table : with a column ``change_rate`` (changes per ``unit``) and, if you like, ``weight``,
        ``fetch_cost``, ``url``, ``host``, ``min_interval``, ``max_interval``, ``half_life``: a
        mapping of columns, anything with the Arrow stream interface (pandas, polars, pyarrow,
        duckdb), or a path
    budget : fetches that may be made, as ``"300/d"``; a page of fetch_cost 2 counts twice
    measure : ``freshness`` (share of time current), ``staleness`` (its complement), ``age`` (time
        since the copy went out of date) or ``harmonic`` (later missed changes count less)
    spacing : visits to a page evenly spaced, or at ``random``
    host_limit : greatest rate for every host, as ``"6/min"``, or for one, as
        ``"https://example.com=1/s"``; one or several
    site_limit : greatest rate for every registrable domain
    min_interval, max_interval : between visits to any page, as ``"1h"``
    half_life : for content whose worth fades, such as news: what is new is worth half after this
        time, as ``"6h"``; change_rate is then how many new items come. A column of this name says
        it page by page, and is empty where a page does not fade
    unit : of time of the table and of the answer: s, min, h, d, w
    compare : classic policies to put beside: ``uniform``, ``proportional``; one or several

    Returns
    -------
    Plan
        No other rates within the budget and the limits do better than its certificate says.

    Raises
    ------
    InputError
        A value is outside its domain; the message names row and column, or the parameter.
    NotConverged
        The price could not be found.

    Examples
    --------
    >>> import recrawl
    >>> pages = {"url": ["http://a.test/x", "http://a.test/y"], "change_rate": [1.0, 4.0]}
    >>> made = recrawl.plan(pages, budget="3/d")
    >>> [round(rate, 3) for rate in made.table["crawl_rate"].to_pylist()]
    [1.335, 1.665]
    >>> made.certificate.kkt_residual < 1e-9
    True

    Notes
    -----
    Coffman, Liu and Weber 1998, with prices for limits; O(n) for each of some tens of passes.
    """
    question = PlanQuestion(
        budget=budget,
        measure=measure,
        spacing=spacing,
        host_limits=one_or_more("host_limit", host_limit),
        site_limit=site_limit,
        min_interval=min_interval,
        max_interval=max_interval,
        half_life=half_life,
        unit=unit,
        arms=one_or_more("compare", compare),
    )
    question.check()
    pages = as_page_table(table)
    with SolvedPlan.of(pages, question) as solved:
        batches = list(with_rates(untracked(pages, None, ""), solved.rates()))
        answer = solved.answer
    return Plan(
        table=pa.Table.from_batches(batches),
        price=answer.price,
        freshness=answer.value,
        certificate=Certificate(
            answer.kkt_residual, answer.duality_gap, answer.spent, answer.budget
        ),
        answer=answer,
    )
