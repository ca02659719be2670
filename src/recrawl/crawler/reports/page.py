"""Why one page is visited when it is."""

import json
import time
from collections.abc import Sequence
from dataclasses import asdict
from math import isnan
from typing import Any, Final

from recrawl.crawler.control.addresses.intake import REFUSALS
from recrawl.crawler.control.addresses.scope import why_outside
from recrawl.crawler.control.dispatching.robots_txt import crawl_delay_of
from recrawl.crawler.control.revisiting.estimate import rate_bounds
from recrawl.crawler.control.revisiting.timetables import learn_timetable
from recrawl.crawler.control.urls import folder_of, host_of
from recrawl.crawler.control.worth.births import birth_worth, learn_births
from recrawl.crawler.control.worth.removal_hazards import REMEMBERED_S, folder_hazard
from recrawl.crawler.control.worth.tiers import visit_gain
from recrawl.crawler.facts import PlanFacts
from recrawl.crawler.ports import Frontier
from recrawl.crawler.reports.companions import companions_report
from recrawl.crawler.reports.progress import fetch_price, price_words
from recrawl.crawler.reports.recent import change_lines, note_words
from recrawl.crawler.reports.sharing import Sharing
from recrawl.crawler.reports.status import bound_words, instant_of
from recrawl.crawler.settings import Settings
from recrawl.crawler.wiring.rules import crawl_rules
from recrawl.errors import InputError
from recrawl.terms import Difference, HostRecord, Kind, PageDetails

_SOME: Final = 3  # pages of a folder that went, from which on that is told


def explain_page(
    frontier: Frontier, url: str, settings: Settings | None
) -> tuple[dict[str, Any], PageDetails]:
    """Return everything known of a page and of its next visit, and the page itself.

    Parameters
    ----------
    frontier : of the crawl, opened for reading
    url : normal form
    settings : of the crawl, where they are at hand

    Raises
    ------
    InputError
        The crawl does not know the page; the message says why, as far as can be told.
    """
    details = frontier.details(url)
    if details is None:
        why = why_unknown(url, settings, frontier.refused())
        raise InputError(f"{url} is not known to this crawl: {why}")
    plan = frontier.last_plan()
    now_s = max(time.time(), plan.solved_at_s if plan else 0.0)
    facts = frontier.facts()
    sharing = Sharing(frontier.hosts(), facts.settings, now_s)
    host = next(record for record in sharing.hosts if record.host == details.host)
    report = page_report(
        details,
        fetch_price(plan, facts.plan),
        host,
        now_s=now_s,
        differences=frontier.differences(limit=5, url=url),
    )
    report["host_shares"] = sharing.words(host)
    closed_s = _closed_since_s(host, frontier.last_fetch_s(), now_s)
    report["host_closed_since_s"] = closed_s if report["price"] else None
    asked_s = crawl_delay_of(host, settings.name if settings is not None else "recrawl")
    report["host_delay_s"] = asked_s if asked_s > (facts.settings.delay_s or 0.0) else None
    report["price_set_by"] = bound_words(facts) if plan else None
    report["companions"] = companions_report(frontier, details, plan, now_s=now_s)
    is_page = details.kind is Kind.PAGE  # sitemaps and feeds may lie where no pages are wanted
    report["outside"] = _outside(details.url, settings) if is_page else None
    report["leads_outside"] = _outside(details.redirect_url, settings)
    report.update(worth_report(frontier, details, facts.plan))
    report.update(timetable_report(frontier, url, settings, now_s=now_s))
    return report, details


def page_report(
    details: PageDetails,
    price: float | None,
    host: HostRecord,
    *,
    now_s: float,
    differences: Sequence[Difference] = (),
) -> dict[str, Any]:
    """Return everything known of a page, and what follows for its next visit.

    Parameters
    ----------
    details, host : of the page, from the frontier
    price : of one more fetch, by the plan in force
    now_s : the instant
    differences : what it said anew, the latest first
    """
    rate, factor = details.change_rate_per_s, details.change_rate_factor
    low, high = rate_bounds(factor)
    report = asdict(details)
    report.update(
        at=now_s,
        price=price,
        price_words=None if price is None else price_words(price),
        differences=[change_lines(one) for one in differences],
        change_rate_low_per_s=rate * low if rate and factor else None,
        change_rate_high_per_s=rate * high if rate and factor else None,
        last_note=_last_note(details),
        host_blocked_until_s=host.blocked_until_s if host.blocked_until_s > now_s else None,
        host_blocked_why=host.blocked_why if host.blocked_until_s > now_s else None,
        host_rest_s=host.rest_s,
        host_is_read_in_full=host.is_read_in_full,
        next_visit_s=max(details.due_s, host.blocked_until_s),
    )
    return report


def _closed_since_s(host: HostRecord, fetched_s: float | None, now_s: float) -> float | None:
    """Return since when the rules of a host are old, where its pages wait for each other.

    They do not where the rules have grown old only since anything was fetched at all.
    """
    is_read = host.robots_status is not None and host.blocked_until_s <= now_s
    return host.robots_until_s if is_read and host.robots_until_s < (fetched_s or 0.0) else None


def _last_note(details: PageDetails) -> str | None:
    """Say what is special about the last visit: why it failed, why the page is not indexed."""
    last = max(details.recent, key=lambda visit: visit.visited_at_s, default=None)
    return None if last is None or last.note is None else note_words(last.note)


def worth_report(frontier: Frontier, details: PageDetails, facts: PlanFacts) -> dict[str, Any]:
    """Say what makes a page important, and what a visit would be worth, by part.

    Parameters
    ----------
    frontier : of the crawl
    details : of the page
    facts : of the plan in force

    Returns
    -------
    dict
        ``importance_by``: share and word of each source. ``worth``: of a visit when the page is
        due, in weight times seconds, for its changes (or as the first visit), for what it finds,
        and for its being gone; None before there is a plan.
    """
    told = json.loads(details.importance_parts) if details.importance_parts else {}
    report: dict[str, Any] = {
        "importance_by": {
            name: {"share": share, "says": said} for name, (share, said) in told.items()
        }
    }
    price, fresh_s = facts.visit_price, facts.fresh_s
    if price is None or fresh_s is None:
        return report | {"worth": None, "births": None, "removals": None}
    new = learn_births(frontier.worths.births(), 1.0, facts.lasting).get(details.page_id)
    report["births"] = (
        None
        if new is None
        else {"per_s": new.n_per_s, "shared": new.shared, "worth_per_s": new.flow_per_s}
    )
    seen_s = details.last_visit_s
    since_s = (seen_s or details.discovered_s) - REMEMBERED_S
    went, there_s = frontier.went_of_folder(folder_of(details.url), since_s)
    hazard = folder_hazard(went, there_s)
    report["removals"] = {"of_folder": went, "per_s": hazard} if went >= _SOME else None
    if seen_s is None:
        first = details.weight * fresh_s
        return report | {"worth": {"price": price, "first_visit": first}}
    rate, age_s = details.change_rate_per_s, max(details.due_s - seen_s, 0.0)
    changes = details.weight / rate * visit_gain(rate * age_s) if rate else 0.0
    found = 0.0 if new is None else birth_worth(new, age_s)
    lost = details.weight / hazard * visit_gain(hazard * age_s) if went >= _SOME else 0.0
    worth = {"price": price, "changes": changes, "births": found, "removals": lost}
    return report | {"worth": worth}


def _outside(url: str | None, settings: Settings | None) -> str | None:
    """Say why an address is out of the scope; None where it is not, or nobody can tell."""
    if url is None or settings is None:
        return None
    return why_outside(crawl_rules(settings).admission.scope, url)


def why_unknown(
    url: str, settings: Settings | None, refused: Sequence[tuple[str, str, int]] = ()
) -> str:
    """Say why a crawl does not know an address.

    Parameters
    ----------
    refused : host, reason and number of addresses that were not taken in
    """
    reason = _outside(url, settings)
    if reason:
        return f"it is out of scope ({reason})"
    of_host = [(why, n) for host, why, n in refused if host == host_of(url) and why != "low-yield"]
    if of_host:
        told = "; ".join(f"{n:,} because of {REFUSALS.get(why, why)}" for why, n in of_host)
        return f"no page that was visited links to it, or it is one of those refused: {told}"
    return "no page that was visited links to it"


def timetable_report(
    frontier: Frontier, url: str, settings: Settings | None, *, now_s: float | None = None
) -> dict[str, Any]:
    """Say when a source that the configuration names is probed, and why then; else nothing.

    Parameters
    ----------
    url : of the source
    settings : the configuration; None: it is not known, and nothing is said
    now_s : from which probes are foreseen, epoch seconds; default: now, or later where the
        crawl's own clock is ahead
    """
    if settings is None:
        return {}
    rules = next((rules for rules in crawl_rules(settings).sources if rules.url == url), None)
    if rules is None:
        return {}
    details = frontier.details(url, recent=2_000)
    seen = reversed(details.recent if details else ())
    told = [visit for visit in seen if visit.changed is not None]
    table = learn_timetable(
        rules, [visit.visited_at_s for visit in told], [bool(visit.changed) for visit in told]
    )
    next_s = [table.next_s(instant_of(frontier.facts()) if now_s is None else now_s)]
    while len(next_s) < 3:
        next_s.append(table.next_s(next_s[-1]))
    return {
        "due_why": "its timetable",
        "probes_per_week": rules.n_probes,
        "pattern": table.pattern,
        "next_probes_s": next_s,
        "expected_delay_s": None if isnan(table.delay_s) else table.delay_s,
        "even_delay_s": None if isnan(table.even_delay_s) else table.even_delay_s,
    }
