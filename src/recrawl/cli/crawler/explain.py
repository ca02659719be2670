"""`recrawl explain`: why one page is visited when it is."""

from contextlib import closing
from datetime import UTC, datetime
from typing import Any, Final

from recrawl.cli.crawler.place import HERE, CrawlNamed
from recrawl.cli.options import Json
from recrawl.cli.output import console, print_json, print_table
from recrawl.crawler.control.urls import normalise
from recrawl.crawler.control.worth.openings import RULES_HOLD_S
from recrawl.crawler.reports.page import explain_page
from recrawl.crawler.wiring.stores import open_frontier
from recrawl.errors import InputError
from recrawl.quantities import show_bytes, show_duration
from recrawl.terms import PageDetails, PageState

# What a plan says of others was said before they were gone, moved or forbidden.
_PLANNED: Final = frozenset({PageState.DISCOVERED, PageState.INDEXED, PageState.MISSING})


def explain(
    url: str,
    *,
    crawl: CrawlNamed = HERE,
    json_: Json = False,
) -> int:
    """Tell why a page is visited when it is: its rate, weight, price, host and last visits.

    Parameters
    ----------
    url
        Address of the page.
    """
    page_url = normalise(url)
    if page_url is None:
        raise InputError(f"{url!r} is no http or https address")
    directory = crawl.place()
    settings = crawl.settings()
    with closing(open_frontier(directory, read_only=True)) as frontier:
        report, details = explain_page(frontier, page_url, settings)
    if json_:
        print_json(report)
    else:
        _show(report, details)
    return 0


def _probes(report: dict[str, Any]) -> str:
    text = f"{report['probes_per_week']} a week"
    if report["expected_delay_s"] is None:
        return f"{text}, evenly, until its pattern is known"
    delay, even = show_duration(report["expected_delay_s"]), show_duration(report["even_delay_s"])
    return f"{text} by its pattern ({report['pattern']}): news wait {delay}, evenly {even}"


def _importance_words(report: dict[str, Any]) -> str:
    """Say what makes a page important, by source."""
    by = report["importance_by"]
    if report["importance"] is None:
        return ""
    if not by:
        return f" (importance {report['importance']:.3g}, as expected of its folder)"
    told = ", ".join(
        f"{one['says']:.3g} by {name} ({one['share']:.0%})" for name, one in by.items()
    )
    return f" (importance {report['importance']:.3g}: {told})"


def _worth_rows(report: dict[str, Any]) -> list[tuple[str, str]]:
    """Say what the next visit is worth beside the price, by part."""
    worth = report["worth"]
    if worth is None or worth["price"] <= 0:
        return []
    price = worth["price"]
    if "first_visit" in worth:
        return [("worth", f"the first visit {worth['first_visit'] / price:.3g} times the price")]
    words = f"when due, its changes {worth['changes'] / price:.2g} of the price"
    if report["births"] is not None:
        per_day = report["births"]["per_s"] * 86_400
        words += f", new pages {worth['births'] / price:.2g} ({per_day:.2g} of them a day)"
    if report["removals"] is not None:
        per_day, went = report["removals"]["per_s"] * 86_400, report["removals"]["of_folder"]
        words += (
            f", being gone {worth['removals'] / price:.2g} ({went:,} of its folder went in half "
            f"a year, each at a rate of {per_day:.2g} a day)"
        )
    return [("worth", words)]


def _reason_rows(report: dict[str, Any]) -> list[tuple[str, str]]:
    """Say what else the next visit goes by: the last one, a source's pattern, what lies beside."""
    rows = [("last visit", report["last_note"])] if report["last_note"] else []
    if "probes_per_week" in report:
        rows.append(("probes", _probes(report)))
    if report["host_rest_s"]:
        rest = show_duration(report["host_rest_s"])
        rows.append(
            ("pace", f"its host is left {rest} between requests: it refused what came sooner")
        )
    if report["host_is_read_in_full"]:
        rows.append(("asked", "in full: its host said 'not modified' of pages that were modified"))
    if report["host_delay_s"]:
        rest = show_duration(report["host_delay_s"])
        rows.append(("pace", f"its host is left {rest} between requests, as its robots.txt asks"))
    if report["companions"] and report["state"] == PageState.INDEXED:
        rows.append(("companions", report["companions"]["words"]))
    return rows


def _ahead_rows(report: dict[str, Any], details: PageDetails) -> list[tuple[str, str]]:
    """Say where the page leads, and when it is visited next."""
    rows = []
    if details.redirect_url:
        away = report["leads_outside"]
        out_of = f" (out of scope: {away})" if away else ""
        rows.append(("leads to", f"{details.redirect_url}{out_of}"))
    wait_s = report["next_visit_s"] - report["at"]
    when = f"in {show_duration(wait_s)}" if wait_s > 0 else f"due for {show_duration(-wait_s)}"
    why = "its host is blocked" if report["next_visit_s"] > details.due_s else report["due_why"]
    if report["outside"]:
        when, why = "none", f"out of scope: {report['outside']}"
    return [*rows, ("next visit", f"{when} ({why})")]


def _show(report: dict[str, Any], details: PageDetails) -> None:
    out = console()
    now_s = report["at"]
    out.print(details.url, style="bold")
    links = "1 link" if details.depth == 1 else f"{details.depth} links"
    rows = [
        ("state", f"{details.state} ({details.kind}, {links} from a seed)"),
        ("visits", f"{details.visits}, of them {details.changes} found a change"),
    ]
    if details.change_rate_per_s:
        low, high = report["change_rate_low_per_s"], report["change_rate_high_per_s"]
        rows.append(
            (
                "change rate",
                f"once in {show_duration(1 / details.change_rate_per_s)}, likely between "
                f"{show_duration(1 / high)} and {show_duration(1 / low)}",
            )
        )
    rows.append(("weight", f"{details.weight:.3g}{_importance_words(report)}"))
    is_planned = details.state in _PLANNED and not report["outside"]
    if details.crawl_rate_per_s and is_planned:
        rows.append(
            ("crawl rate", f"once in {show_duration(1 / details.crawl_rate_per_s)}, by the plan")
        )
    if report["price"] is not None and is_planned:
        # The plan visits a page as often as one more visit a day still brings this much.
        rows.append(("price", report["price_words"]))
        rows.append(("set by", report["price_set_by"]))
    rows += _worth_rows(report) if is_planned else []
    if report["host_blocked_why"]:
        left = show_duration(report["host_blocked_until_s"] - now_s)
        rows.append(("host", f"blocked for {left}: {report['host_blocked_why']}"))
    elif report["host_closed_since_s"] and details.due_s < now_s:
        old = show_duration(now_s - report["host_closed_since_s"] + RULES_HOLD_S)
        rows.append(("host", f"its robots.txt, {old} old, is read again when enough waits here"))
    elif report["host_shares"]:
        rows.append(("host", f"{report['host_shares']}, of which one is asked at a time"))
    rows += _reason_rows(report)
    rows += _ahead_rows(report, details)
    for name, value in rows:
        out.print(f"  {name:<12} {value}", markup=False)
    print_table(
        ("last visits", "outcome", "status", "changed", "took", "size"),
        [
            (
                datetime.fromtimestamp(visit.visited_at_s, UTC).strftime("%Y-%m-%d %H:%M:%S"),
                visit.outcome.value,
                str(visit.status or ""),
                {True: "yes", False: "no", None: ""}[visit.changed],
                show_duration(visit.fetch_s),
                show_bytes(visit.received_bytes),
            )
            for visit in details.recent
        ],
    )
    for change in report["differences"][:1]:
        at = datetime.fromtimestamp(change["found_at"], UTC).strftime("%Y-%m-%d %H:%M:%S")
        out.print(f"What it said anew at {at}:")
        for sign, line in change["lines"] or [("", "the same lines, in another order")]:
            out.print(f"  {sign} {line}", markup=False)
