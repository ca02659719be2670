"""The verb ``plan``: crawl rates that no other rates can beat, from a table of pages."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from recrawl.api.plan_question import PlanQuestion
from recrawl.api.plan_solution import Answer, SolvedPlan
from recrawl.cli.figures import check_picture
from recrawl.cli.options import JsonForTables
from recrawl.cli.output import console, note, print_json, progress_console
from recrawl.cli.plan.cluster import plan_with_dask
from recrawl.cli.plan.explain import (
    Change,
    change_json,
    explain_change,
    explanation,
    with_present,
)
from recrawl.cli.plan.fetch_lists import check_form, write_fetch_list
from recrawl.cli.plan.pictures import draw_plan
from recrawl.cli.plan.progress import track
from recrawl.cli.plan.report import answer_json, curve_json, print_answer, print_curve
from recrawl.cli.plan.written import check_place, write_plan
from recrawl.errors import InputError
from recrawl.freshness import TradeOffCurve
from recrawl.tables.many import open_page_tables, table_paths


def main(  # noqa: PLR0913 - the options of the verb
    pages: Path,
    /,
    *,
    budget: Annotated[str, Parameter(allow_leading_hyphen=True)],
    measure: Literal["freshness", "staleness", "age", "harmonic"] = "freshness",
    spacing: Literal["even", "random"] = "even",
    host_limit: Annotated[tuple[str, ...], Parameter(show_default=False)] = (),
    site_limit: str | None = None,
    min_interval: str | None = None,
    max_interval: str | None = None,
    half_life: str | None = None,
    unit: str | None = None,
    compare: str | None = None,
    explain: Annotated[bool, Parameter(show_default=False)] = False,
    trade_off: Annotated[bool, Parameter(show_default=False)] = False,
    out: Path | None = None,
    for_: Annotated[
        Literal["table", "scrapy", "nutch", "stormcrawler", "curl", "sitemap"],
        Parameter(name="--for"),
    ] = "table",
    plot: Path | None = None,
    engine: Literal["local", "dask"] = "local",
    scheduler: str | None = None,
    json_: JsonForTables = False,
) -> None:
    """Decide how often to visit each page, for the freshest index that a budget can buy.

    The table has a column change_rate (changes per day) and, if you like, weight, fetch_cost, url,
    host, min_interval, max_interval and half_life (days); Parquet, CSV or JSON Lines, of any size.

    Parameters
    ----------
    pages
        Table of pages; or its parts, as a folder or a pattern such as 'pages-*.parquet'.
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
    half_life
        Content whose worth fades, such as news: what is new is worth half after this time, as 6h.
        Then change_rate is how many new items come, and freshness the share of their worth that is
        had. The column half_life says it page by page; where it is empty a page does not fade.
    unit
        Unit of time of the table and of the answer: s, min, h, d, w.
        [default: table per day, answer per second]
    compare
        Classic policies to put beside: uniform, proportional, or both with a comma.
    explain
        Say in two sentences what changes against the policy in force, and what that gains: by a
        column crawl_rate or rate (visits per day) or interval (days) of the table, or else against
        visiting every page alike.
    trade_off
        Show also what other budgets would buy, and what one more fetch is worth at each.
    out
        Write the table with a column crawl_rate: .parquet, .csv or .jsonl; a folder for the parts
        of a table, each under its name.
    for_
        What --out holds: the table; or a list of the pages to visit, with how often, for another
        crawler: scrapy (start requests as lines of JSON), nutch (a file to inject), stormcrawler
        (seeds with metadata), curl (a configuration), sitemap.
    plot
        Draw the rates and the trade-off between budget and freshness: .svg, .png or .pdf.
    engine
        Who works: this process, or the workers of a Dask cluster, each on some of the parts.
    scheduler
        Address of a Dask scheduler, as tcp://host:8786.  [default: a cluster on this machine]
    """
    question = PlanQuestion(
        budget=budget,
        measure=measure,
        spacing=spacing,
        host_limits=host_limit,
        site_limit=site_limit,
        min_interval=min_interval,
        max_interval=max_interval,
        half_life=half_life,
        unit=unit,
        arms=() if compare is None else tuple(name.strip() for name in compare.split(",")),
        called=lambda name: f"--{name.replace('_', '-')}",
    )
    question.check()
    paths = table_paths(pages)
    if for_ == "table":
        check_place(out, paths)
    elif len(paths) > 1 or engine == "dask":
        raise InputError(f"--for: {for_} is a list of the pages of one table, made on one machine")
    check_picture(plot)
    if engine == "dask":
        if plot is not None or trade_off or explain:
            raise InputError(
                "--engine: pictures, the trade-off and explanations are made by the local engine"
            )
        answer = plan_with_dask(paths, question, scheduler, out)
        _show(answer, unit, pages, out, json_=json_)
        return
    if scheduler is not None:
        raise InputError("--scheduler: works with --engine dask")
    table = open_page_tables(pages)
    if for_ != "table":
        check_form(for_, out, table)
    meanwhile = progress_console().status
    with SolvedPlan.of(table, question, track=track, meanwhile=meanwhile) as solved:
        if out is not None and for_ == "table":
            write_plan(table, solved, out)
        elif out is not None:
            n_listed, n_left_out = write_fetch_list(table, solved, for_, out)
            note(f"{out}: {n_listed:,} pages; {n_left_out:,} that no visit pays for are left out")
        curve = solved.trade_off() if plot is not None or trade_off or explain else None
        change = explain_change(with_present(table), solved, curve) if explain and curve else None
        if plot is not None and curve is not None:
            sample, unit_s = solved.sample(), question.unit_s
            draw_plan(plot, sample, solved.prices, solved.answer, curve, unit_s)
    shown = curve if trade_off else None
    told = None if change is None or curve is None else (change, explanation(change, solved, curve))
    _show(solved.answer, unit, pages, out, plot=plot, curve=shown, told=told, json_=json_)


def _show(
    answer: Answer,
    unit: str | None,
    pages: Path,
    out: Path | None,
    *,
    plot: Path | None = None,
    curve: TradeOffCurve | None = None,
    told: tuple[Change, str] | None = None,
    json_: bool,
) -> None:
    if json_:
        shown: dict[str, object] = {}
        if curve:
            shown["trade_off"] = curve_json(answer, curve, unit)
        if told:
            shown["explanation"] = change_json(answer, *told, unit)
        print_json(answer_json(answer, unit) | shown)
        return
    print_answer(answer, console(), pages, out, plot)
    if told is not None:
        console().print(told[1], highlight=False)
    if curve is not None:
        print_curve(answer, curve)
