"""`recrawl status`: how the crawl and its index are doing."""

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any, Final

from recrawl.cli.crawler.place import HERE, CrawlNamed
from recrawl.cli.options import Json
from recrawl.cli.output import console, print_json, print_table
from recrawl.crawler.facts import CrawlFacts
from recrawl.crawler.reports.deliveries import deliveries_report
from recrawl.crawler.reports.moves import moved_words
from recrawl.crawler.reports.nothing import why_only_seeds
from recrawl.crawler.reports.status import MEASURE_WORDS, status_report
from recrawl.crawler.wiring.stores import is_running, open_frontier
from recrawl.quantities import show_duration, show_measured_rate, show_rate

_MOST_FAST: Final = 5


def status(
    *,
    crawl: CrawlNamed = HERE,
    model: bool = False,
    json_: Json = False,
) -> int:
    """Tell how the crawl and its index are doing; works beside a running crawl.

    Parameters
    ----------
    model
        Show what the robots' control predicts beside what was measured under it.
    """
    directory = crawl.place()
    with closing(open_frontier(directory, read_only=True)) as frontier:
        report = status_report(frontier) | {"running": is_running(directory)}
        report["deliver"] = deliveries_report(directory)
        settings = crawl.settings()
        named = None if settings is None else {sink.name for sink in settings.deliver}
        for row in report["deliver"]:
            row["is_configured"] = None if named is None else row["sink"] in named
        report["only_seeds"] = settings and why_only_seeds(frontier, settings)
        if not report["running"]:
            report["idle"] = None  # of course
        if report["control"] is not None:
            _add_obsolete(report, frontier.facts())
    if json_:
        print_json(report)
    elif model:
        _show_model(report["control"])
    else:
        _show(report)
    return 0


def _add_obsolete(report: dict[str, Any], facts: CrawlFacts) -> None:
    """Add the share of pages that went stale in the buffer, where a model tells it.

    That for irregular times tells nothing of it, and takes seconds to solve.
    """
    fetches, curve, solved = report["fetches"], None, facts.solved
    if facts.control.dropped or solved is None or not solved.is_general:
        from recrawl.crawler.reports.robots import control_curve  # compiled loops

        curve = control_curve(facts)
    brought = sum(fetches.get(name, 0) for name in ("new", "changed", "unchanged", "obsolete"))
    report["control"]["measures"]["obsolete_share"] = {
        "predicted": curve.get("obsolete_share") if curve else None,
        "measured": fetches.get("obsolete", 0) / brought if brought else None,
    }


def _shown(show: Callable[[float], str], value: float | None) -> str:
    return "" if value is None else show(value)


def _show_model(control: dict[str, Any] | None) -> None:
    out = console()
    if control is None:
        out.print(
            "No model yet: robots run while the buffer has room. Under [buffer] control = "
            '"optimal" another control is solved once 50 pages were fetched and indexed, where it '
            "could spare the indexer a fiftieth of its time."
        )
        return
    measures = control["measures"]
    print_table(
        ("", "predicted", "measured"),
        [
            (label, _shown(show, pair["predicted"]), _shown(show, pair["measured"]))
            for name, (label, show) in MEASURE_WORDS.items()
            if (pair := measures.get(name))
        ],
    )
    fetch, index = control["fetch_rate"], control["index_rate"]
    out.print(
        f"For {show_measured_rate(fetch)} of a robot and {show_measured_rate(index)} of the "
        "indexer, as measured; "
        f"followed for {show_duration(control['seconds'])}"
    )
    out.print(f"Model: {control['model']}")
    if control["dropped"]:
        out.print(
            "This control lost far more pages than it predicted and was dropped: robots run while "
            "the buffer has room."
        )
    if control["parted"]:
        apart = ", ".join(MEASURE_WORDS[name][0] for name in control["parted"])
        out.print(
            f"Theory and practice part in: {apart}. Every model knows only robots that always find "
            "work; a budget, polite hosts or unchanged pages keep them waiting"
        )


def _show(report: dict[str, Any]) -> None:
    out = console()
    pages, first_pass = report["pages"], report["first_pass"]
    if not report["running"]:
        out.print("No crawl runs here now.")
    if report["idle"]:
        out.print(f"{report['idle']}.")
    print_table(
        ("pages", ""),
        [(name, f"{n:,}") for name, n in pages.items()]
        + [("due now", f"{report['due']:,}"), ("due for over an hour", f"{report['overdue']:,}")]
        + (
            [("due, their host waits for more", f"{report['closed']:,}")]
            if report["closed"]
            else []
        ),
    )
    total = sum(report["fetches"].values())
    print_table(
        ("visits", "", ""),
        [
            (name, f"{n:,}", f"{n / total:.1%}")
            for name, n in sorted(report["fetches"].items(), key=lambda item: -item[1])
        ],
    )
    if first_pass is not None:
        out.print(
            f"First pass: {first_pass['indexed']:,} of {first_pass['known']:,} pages indexed, "
            f"{first_pass['to_come']:,} to come"
        )
    elif report["freshness"] is not None and not report["revisits"]:
        out.print("Estimated freshness: unknown until pages have been visited again")
    elif report["freshness"] is not None:
        out.print(
            f"Estimated freshness: {report['freshness']:.1%} "
            f"({report['freshness_low']:.1%} to {report['freshness_high']:.1%}) of the index, "
            "by weight"
        )
    if report["budget"]:
        out.print(_budget_words(report))
    if report["price"] is not None:
        budget = report["planned_budget"]
        # What is left of the budget for revisits is a rate that nobody chose.
        rate = (show_rate if budget == report["budget"] else show_measured_rate)(budget)
        out.print(
            f"Plan: {report['planned_freshness']:.1%} fresh with {rate} for revisits; "
            "recrawl serve shows what more would buy"
        )
        out.print(f"Price: {report['price_words']}")
        out.print(f"It is set by {report['price_set_by']}")
    else:
        out.print("No plan yet: it follows once pages have been visited")
    if poison := report["fetches"].get("poison"):
        out.print(
            f"Poison: {poison:,} visits brought a page that could not be read within the limits of "
            "\\[reading]; each is quarantined for a delay that doubles"
        )
    for words in _notes(report):
        out.print(words, markup=False)


def _budget_words(report: dict[str, Any]) -> str:
    used = min(report["budget_used"], 1.0)
    words = f"Budget: {show_rate(report['budget'])}, {used:.0%} used in the last hour"
    if report["first_visits_are_free"]:
        words += "; first visits come beside it, as fast as politeness allows"
    return words


def _notes(report: dict[str, Any]) -> Iterator[str]:
    """Yield what is to be said of sinks, of directories, of addresses and of hosts."""
    yield from map(_delivery_words, report["deliver"])
    if alone := report["only_seeds"]:
        yield f"Nothing but the seeds was found: {alone}"
    for one in (report["activity"]["fast"] or ())[:_MOST_FAST]:
        yield f"Runs fast now: {one['group']}, {one['words']}"
    yield from map(moved_words, report["moved_away"])
    for row in report["refused"]:
        yield f"Refused: {row['addresses']:,} addresses of {row['host']}: {row['why']}"
    for host in report["hosts_slowed"]:
        rest = show_duration(host["rest_s"])
        yield f"Slowed: {host['host']} is left {rest} between requests: it refused what came sooner"
    for host in report["hosts_patient"]:
        rest = show_duration(host["delay_s"])
        yield f"Slowed: {host['host']} is left {rest} between requests, as its robots.txt asks"
    for host in report["hosts_blocked"]:
        left = show_duration(host["until"] - report["at"])
        yield f"Blocked: {host['host']} for {left}: {host['why']}"


def _delivery_words(row: dict[str, Any]) -> str:
    words = f"Delivery to {row['sink']}: {row['delivered']:,} changes, "
    if row["is_configured"] is False:
        return f"{words}and no sink of the configuration any more"
    words += f"{row['behind']:,} to come"
    words += f", {row['dead']:,} not taken" if row["dead"] else ""
    if row["trouble"]:
        last = f"failed {row['failures']:,} times in a row" if row["failures"] else "last"
        words += f"; {last}: {row['trouble']}"
    return words
