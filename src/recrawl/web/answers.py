"""Answers for the pages from the state, each one call that runs on a reader's thread."""

import contextlib
import time
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

from recrawl.crawler.control.urls import normalise
from recrawl.crawler.facts import CrawlFacts, PlanFacts
from recrawl.crawler.reports.companions import companions_report
from recrawl.crawler.reports.page import page_report, timetable_report, why_unknown
from recrawl.crawler.reports.progress import fetch_price, fetches_words, price_words
from recrawl.crawler.reports.sharing import Sharing
from recrawl.crawler.settings import Settings
from recrawl.errors import InputError, RecrawlError
from recrawl.quantities import show_duration, show_rate
from recrawl.terms import PlanRecord
from recrawl.web.observation import crawl_instant
from recrawl.web.pages.search import AGES, PER_PAGE, SearchQuestion, SearchResult
from recrawl.web.source import CrawlSource

if TYPE_CHECKING:
    from recrawl.crawler.control.revisiting.revisit_policy import Schedule
    from recrawl.crawler.reports.plans import PlanQuestion

_MOST_HOSTS = 50
_AROUND_S = 1.0
_DEAREST = 8  # hosts that a what-if names


class PageUnknown(InputError):
    """The crawl does not know an address."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Context that the search page shows beside the hits."""

    now_s: float
    hosts: tuple[str, ...] = ()
    n_documents: int | None = None


class Searching:
    """Answers searches; what surrounds them is looked up once a second at most."""

    def __init__(self) -> None:
        self._looked_at_s = -inf
        self._around = Surroundings(0.0)

    def find(
        self, source: CrawlSource, question: SearchQuestion
    ) -> tuple[Surroundings, SearchResult | None, str | None]:
        """Return what surrounds a search, its result if one was asked, and what went wrong."""
        around = self._look_around(source)
        try:
            if question.text:
                return around, _search(source, question, around.now_s), None
            source.index()
        except RecrawlError as error:
            return around, None, str(error)
        return around, None, None

    def _look_around(self, source: CrawlSource) -> Surroundings:
        """Return hosts and the number of pages, as far as there are any; raises nothing of ours."""
        at_s = time.monotonic()
        if at_s - self._looked_at_s < _AROUND_S:
            return self._around
        now_s, n = time.time(), None
        hosts: tuple[str, ...] = ()
        with contextlib.suppress(RecrawlError):
            n = source.index().n_documents()
            facts = source.frontier().facts()
            now_s = crawl_instant(facts, is_running=source.history().is_running())
            hosts = source.history().host_names(_MOST_HOSTS)
            self._looked_at_s = at_s
        names = tuple(name.partition("://")[2] for name in hosts)
        self._around = Surroundings(now_s, names, n)
        return self._around


def _search(source: CrawlSource, question: SearchQuestion, now_s: float) -> SearchResult:
    """Return one page of hits."""
    index = source.index()
    age_s = AGES[question.age][1]
    started_s = time.perf_counter()
    total, hits = index.search(
        question.text,
        limit=PER_PAGE,
        offset=(question.page - 1) * PER_PAGE,
        host=question.host or None,
        fetched_since_s=None if age_s is None else now_s - age_s,
    )
    took_s = time.perf_counter() - started_s
    seen_s: dict[str, float] = {}
    with contextlib.suppress(RecrawlError):  # hits without it are still hits
        seen_s = source.history().last_seen_s([hit.url for hit in hits])
    return SearchResult(
        total=total,
        hits=tuple(hits),
        took_s=took_s,
        seen_s=seen_s,
        suggestion=None if total else index.suggest(question.text),
        notes=tuple(index.misread(question.text)),
    )


def explain_page(
    source: CrawlSource, url: str, settings: Settings | None
) -> tuple[dict[str, Any], str]:
    """Return the report on a page, and its title.

    Raises
    ------
    InputError
        It is no address.
    PageUnknown
        The crawl does not know it; the message says why.
    """
    page_url = normalise(url)
    if page_url is None:
        raise InputError(f"{url!r} is no http or https address")
    frontier, history = source.frontier(), source.history()
    details = frontier.details(page_url, recent=500)
    if details is None:
        raise PageUnknown(f"{page_url}: {why_unknown(page_url, settings)}.")
    now_s = crawl_instant(frontier.facts(), is_running=history.is_running())
    sharing = Sharing(frontier.hosts(), frontier.facts().settings, now_s)
    hosts = {record.host: record for record in sharing.hosts}
    plan = frontier.last_plan()
    report = page_report(
        details, fetch_price(plan, frontier.facts().plan), hosts[details.host], now_s=now_s,
        differences=frontier.differences(limit=5, url=page_url),
    )  # fmt: skip
    report["companions"] = companions_report(frontier, details, plan, now_s=now_s)
    report.update(timetable_report(frontier, page_url, settings, now_s=now_s))
    title = history.pages([details.page_id])[details.page_id][1]
    return report, title


class Planning:
    """Answers what-ifs; keeps the columns of the last plan while it is in force.

    Parameters
    ----------
    settings : of the crawl, where a configuration is at hand
    config : how that is named on the command line
    """

    def __init__(self, settings: Settings | None, config: str) -> None:
        self._agent = settings.name if settings else "recrawl"
        self._config = config
        self._asked: tuple[Any, PlanQuestion | None] = (None, None)
        self._present: tuple[PlanQuestion | None, float] = (None, 0.0)
        self._trade_off: tuple[Any, list[dict[str, float]]] = (None, [])

    def answer(
        self,
        source: CrawlSource,
        *,
        budget_per_s: float | None = None,
        delay_s: float | None = None,
        starvation_weight: float | None = None,
    ) -> dict[str, Any]:
        """Solve for other numbers; what is None stays as it is.

        Raises
        ------
        StateError
            There is no state.
        InputError
            A number makes no sense, or nothing was visited yet.
        """
        # Compiled loops take a second to import: paid on this thread, not at the server's start.
        from recrawl.crawler.reports.plans import solve_what_if
        from recrawl.crawler.reports.robots import control_curve

        started_s = time.perf_counter()
        facts = source.frontier().facts()
        question = self._question(source, facts)
        budget = question.budget_per_s if budget_per_s is None else budget_per_s
        delay = question.delay_s if delay_s is None else delay_s
        present_weight = facts.settings.starvation_weight
        weight = present_weight if starvation_weight is None else starvation_weight
        schedule = solve_what_if(question, budget, delay)
        price = self._price(question, facts.plan, source.frontier().last_plan(), schedule.price)
        at_cap = schedule.host_prices > schedule.price * (1 + 1e-6)
        return {
            "budget": budget,
            "delay": delay,
            "starvation_weight": weight,
            "present": {
                "budget": question.budget_per_s,
                "delay": question.delay_s,
                "starvation_weight": present_weight,
            },
            "pages": len(question.inputs.weights),
            "freshness": schedule.freshness,
            "price": price,
            "price_words": price_words(price),
            "fetches_words": fetches_words(price),
            "never_visited": schedule.n_never_visited,
            "hosts_at_cap": int(at_cap.sum()),
            "dearest_hosts": _dearest(source, question, schedule, delay),
            "curve": control_curve(facts, starvation_weight),
            "command": self._command(question, budget, delay, weight, present_weight),
            "took_ms": 1000.0 * (time.perf_counter() - started_s),
        }

    def _price(
        self,
        question: "PlanQuestion",
        facts: PlanFacts,
        plan: PlanRecord | None,
        solved: float,
    ) -> float:
        """Return a price that was solved, on the scale of the one that the crawl tells itself."""
        from recrawl.crawler.reports.plans import solve_what_if

        if self._present[0] is not question:
            now = solve_what_if(question, question.budget_per_s, question.delay_s)
            self._present = (question, now.price)
        told = fetch_price(plan, facts)
        return solved if not told or not self._present[1] else told * solved / self._present[1]

    def trade_off(self, source: CrawlSource) -> list[dict[str, float]]:
        """Return the freshness that multiples of the budget would buy."""
        from recrawl.crawler.reports.plans import trade_off

        question = self._question(source, source.frontier().facts())
        if self._trade_off[0] is not question:
            factors = [2.0 ** (power / 2.0) for power in range(-8, 9)]
            self._trade_off = (question, trade_off(question, factors))
        return self._trade_off[1]

    def _question(self, source: CrawlSource, facts: CrawlFacts) -> "PlanQuestion":
        from recrawl.crawler.reports.plans import plan_question

        frontier, history = source.frontier(), source.history()
        plan = frontier.last_plan()
        key = (plan, facts.settings.budget_per_s, facts.settings.delay_s)
        if self._asked[1] is None or self._asked[0] != key:
            now_s = crawl_instant(facts, is_running=history.is_running())
            question = plan_question(
                frontier.planned_pages(), frontier.hosts(), plan, facts.settings,
                agent=self._agent, now_s=now_s,
            )  # fmt: skip
            self._asked = (key, question)
        if self._asked[1] is None:
            raise InputError("there is nothing to plan yet: no page has been visited")
        return self._asked[1]

    def _command(
        self, question: "PlanQuestion", budget: float, delay: float, weight: float, present: float
    ) -> str:
        parts = [f"recrawl run {self._config}"]
        if budget != question.budget_per_s:
            parts.append(f"--budget {show_rate(budget)}")
        if delay != question.delay_s:
            parts.append(f"--delay {show_duration(delay)}")
        if weight != present:
            parts.append(f"--starvation-weight {weight:.3g}")
        return " ".join(parts)


def _dearest(
    source: CrawlSource, question: "PlanQuestion", schedule: "Schedule", delay_s: float
) -> list[dict[str, object]]:
    """Return the hosts at their limit where a visit costs the most, with what limits them."""
    prices = schedule.host_prices
    rows = (-prices).argsort(kind="stable")[:_DEAREST]
    rows = rows[prices[rows] > schedule.price * (1 + 1e-6)]
    if not len(rows):
        return []
    pages = question.inputs.hosts
    names = {record.host_id: record.host for record in source.frontier().hosts()}
    told: list[dict[str, object]] = []
    for row in rows.tolist():
        asked_s = float(question.crawl_delays_s[row])
        first, *others = question.host_ids[question.servers == row].tolist()
        told.append(
            {
                "host": names.get(first, "") + (f" and {len(others):,} others" if others else ""),
                "pages": int((pages == row).sum()),
                "most_per_s": 1.0 / max(asked_s, delay_s),
                "by": "robots.txt" if asked_s > delay_s else "us",
                "price": float(prices[row]),
                "times": float(prices[row] / schedule.price) if schedule.price > 0 else None,
            }
        )
    return told
