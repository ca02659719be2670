"""A small state directory, written by the crawl's own parts."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path

import numpy as np

from recrawl.crawler.control.urls import normalise
from recrawl.crawler.facts import CrawlFacts, FactRecord
from recrawl.crawler.ports import AdmissionLimits
from recrawl.crawler.wiring.indexes import open_index
from recrawl.crawler.wiring.stores import open_frontier
from recrawl.terms import (
    Discovery,
    Document,
    HostRecord,
    Kind,
    Outcome,
    PageState,
    PageUpdate,
    PlanRecord,
    Visit,
)

NOW_S = 2_000_000_000.0  # after any day on which this runs: the state's own clock counts
DAY_S = 86_400.0
HOST = "http://a.test"
FACTS = {
    "now_s": NOW_S,
    "budget_per_s": 100 / DAY_S,
    "delay_s": 1.0,
    "min_interval_s": 600.0,
    "max_interval_s": 30 * DAY_S,
    "prior_rate_per_s": 0.1 / DAY_S,
    "robots": 8,
    "buffer_capacity": 5,
    "starvation_weight": 1.0,
    "robots_active": 6,
    "buffer_length": 2,
    "control_fetch_rate": 0.2,
    "control_index_rate": 1.0,
    "measured_seconds": 100.0,
} | {
    f"{side}_{name}": value
    for side in ("predicted", "measured")
    for name, value in (
        ("starvation", 0.1),
        ("loss_rate", 0.01),
        ("throughput", 0.9),
        ("buffer_mean", 1.8),
        ("robots_mean", 7.5),
    )
}


def records_of(rows: Mapping[str, float]) -> list[FactRecord]:
    """Return the records that rows tell, whole or in part."""
    facts = CrawlFacts.of(rows)
    records = (getattr(facts, item.name) for item in fields(facts))
    return [record for record in records if record is not None]


def write_state(
    directory: Path,
    pages: Sequence[tuple[str, str, str]],
    *,
    plan: bool = True,
    facts: dict[str, float] | None = None,
) -> Path:
    """Write a crawl of pages (address, title, text): three visits of each, one of them a change."""
    frontier = open_frontier(directory)
    frontier.save_facts(*records_of(FACTS if facts is None else facts))
    begun_s = NOW_S - 4 * DAY_S
    found = [Discovery(url, url[: url.find("/", 9)], Kind.PAGE) for url, _, _ in pages]
    hosts = frontier.admit(found, begun_s, AdmissionLimits())
    titles = {url: title for url, title, _ in pages}
    outcomes = (Outcome.NEW, Outcome.CHANGED, Outcome.NOT_MODIFIED)
    for day, outcome in enumerate(outcomes):
        at_s = begun_s + day * DAY_S
        for host in hosts:
            frontier.make_due(at_s)
            leases = frontier.lease(
                host, limit=10_000, due_by_s=at_s, now_s=at_s, until_s=at_s + 60.0
            )
            frontier.complete(
                [
                    PageUpdate(
                        lease,
                        Visit(
                            at_s + number,
                            outcome,
                            304 if outcome is Outcome.NOT_MODIFIED else 200,
                            None if outcome is Outcome.NEW else outcome is Outcome.CHANGED,
                            None if outcome is Outcome.NEW else DAY_S,
                            0.01 * (number + 1),
                            500,
                        ),
                        PageState.INDEXED,
                        due_s=NOW_S + DAY_S,
                        signature=b"s",
                        title=titles[lease.url],
                        difference=f"-{titles[lease.url]} was so\n+{titles[lease.url]} is so"
                        if outcome is Outcome.CHANGED
                        else None,
                    )
                    for number, lease in enumerate(leases)
                ]
            )
    for record in frontier.hosts()[1:]:
        blocked = HostRecord(
            record.host_id, record.host, 0.0, 200, b"", NOW_S, 2, NOW_S + 300.0, "answered 503"
        )
        frontier.save_host(blocked)
    if plan:
        known = frontier.planned_pages()
        n = len(known.page_ids)
        rates = np.full(n, 0.5 / DAY_S)
        frontier.save_change_rates(known.page_ids, rates, np.full(n, 1.5))
        record_of_plan = PlanRecord(NOW_S - DAY_S, n, 90 / DAY_S, 1_000.0, 0.9, 0)
        frontier.save_plan(record_of_plan)
        frontier.save_crawl_rates(
            record_of_plan, known.page_ids, np.full(n, 1 / DAY_S), np.full(n, NOW_S + DAY_S)
        )
    frontier.close()
    index = open_index(directory)
    for number, (url, title, text) in enumerate(pages):
        fetched_s = NOW_S - 3 * DAY_S if number % 2 else NOW_S - 1_800.0
        index.replace(Document(url, title, text, fetched_s, b"s"))
    index.commit()
    index.close()
    return directory


def stories(n: int, host: str = HOST) -> list[tuple[str, str, str]]:
    """Return n pages about a quiet lantern."""
    return [
        (f"{host}/{number}", f"Story {number}", f"a story of the quiet lantern number {number}")
        for number in range(n)
    ]


HOSTILE: tuple[tuple[str, str, str], ...] = (
    (f"{HOST}/script", "<script>alert(1)</script>", "evil <script>alert(2)</script> text"),
    (f"{HOST}/image", '"><img src=x onerror=alert(1)>', "evil <img src=x onerror=alert(3)>"),
    (f"{HOST}/entity", "&lt;script&gt;alert(1)&lt;/script&gt;", "evil &amp; &#60;b&#62;"),
    (f"{HOST}/close", "</title></a></h2><svg onload=alert(1)>", "evil </mark></p><svg/onload=a>"),
    (f"{HOST}/direction", "invoice\u202efdp.exe", "evil \u202eright to left\u2066 text"),
    (f"{HOST}/control", "bell\x07 null\x00 escape\x1b[31m", "evil \x00\x1b\x07 text"),
    (normalise(f"{HOST}/quote?a='\"`&b=<x>") or "", "'\"`", "evil ' onmouseover='alert(1)"),
    (f"{HOST}/template", "{{7*7}} ${7*7} {searchTerms}", "evil {% include '/etc/passwd' %}"),
    (f"{HOST}/style", "<style>*{display:none}</style>", "evil <link rel=stylesheet href=//x>"),
    (f"{HOST}/frame", "<iframe src=javascript:alert(1)>", "evil <base href=//x.test/>"),
)
