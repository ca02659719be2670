"""Data of the dashboard, read from the state: the quick part and the thorough part."""

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from recrawl.crawler.control.evidence import PlannedPages
from recrawl.crawler.facts import CrawlFacts
from recrawl.crawler.reports.history import freshness_over_time
from recrawl.crawler.reports.recent import left_out, recent_changes, spending, troubles
from recrawl.crawler.reports.sharing import Sharing
from recrawl.crawler.reports.status import believed_rates, control_report, instant_of, status_report
from recrawl.terms import PlanRecord
from recrawl.web.source import CrawlSource

if TYPE_CHECKING:
    from recrawl.crawler.reports.plans import PlanQuestion

_GRID: Final = 120  # instants of the picture of freshness
_MOST_VISITS: Final = 300_000  # of the history that it is made from
_LONGEST_S: Final = 30 * 86_400.0
_HOSTS: Final = 50
_PAGES: Final = 8


def crawl_instant(facts: CrawlFacts, *, is_running: bool) -> float:
    """Return now by the clock of the crawl, which may run faster than ours in a demo."""
    follows = facts.settings.starvation_weight > 0.0 and facts.fleet.buffer_length is not None
    told_s = facts.instant.now_s if is_running and follows else None
    return instant_of(facts) if told_s is None else told_s


class CrawlObserver:
    """Looks at a state again and again, and remembers what need not be read twice.

    Parameters
    ----------
    agent : the crawler's name, by which robots.txt files speak to it
    """

    def __init__(self, agent: str = "recrawl") -> None:
        self._agent = agent
        self._seen_visit = -1
        self._outcomes: dict[str, int] = {}
        self._turn: tuple[bool, float | None] = (False, None)
        self._gained: tuple[PlanRecord | None, dict[str, Any]] = (None, {})

    def pulse(self, source: CrawlSource) -> dict[str, object]:
        """Return what moves every second."""
        # Compiled loops take a second to import: paid on this thread, not at the server's start.
        from recrawl.crawler.reports.robots import control_curve, safe_control_report

        frontier, history = source.frontier(), source.history()
        facts = frontier.facts()
        running = history.is_running()
        last = history.last_visit()
        if last < self._seen_visit or self._seen_visit < 0:
            self._outcomes, self._seen_visit = {}, 0
        for outcome, n in history.outcomes_between(self._seen_visit, last).items():
            self._outcomes[outcome] = self._outcomes.get(outcome, 0) + n
        self._seen_visit = last
        plan = frontier.last_plan()
        turn = (running, plan.solved_at_s if plan else None)
        turned, self._turn = turn != self._turn, turn
        control = control_report(facts) or safe_control_report(facts)
        return {
            "at": crawl_instant(facts, is_running=running),
            "running": running,
            "turned": turned,
            "outcomes": self._outcomes,
            "robots": facts.settings.robots,
            "robots_active": facts.fleet.robots_active if running else 0,
            "capacity": facts.settings.buffer_capacity,
            "buffer": facts.fleet.buffer_length if running else 0,
            "followed": facts.settings.starvation_weight > 0.0,
            "curve": control_curve(facts),
            "control": control,
        }

    def report(self, source: CrawlSource) -> dict[str, object]:
        """Return what takes a while to read: pages, freshness over time, hosts."""
        from recrawl.crawler.reports.plans import plan_question

        frontier, history = source.frontier(), source.history()
        facts = frontier.facts()
        now_s = crawl_instant(facts, is_running=history.is_running())
        pages = frontier.planned_pages()
        plan = frontier.last_plan()
        hosts = frontier.hosts()
        told: dict[str, object] = dict(status_report(frontier, now_s=now_s, pages=pages))
        for name in ("control", "hosts_blocked", "hosts_slowed", "hosts_patient"):
            del told[name]
        question = plan_question(pages, hosts, plan, facts.settings, agent=self._agent, now_s=now_s)
        gained = self._gain(plan, question)
        first_s = history.first_visit_s()
        since_s = max(first_s if first_s is not None else now_s, now_s - _LONGEST_S)
        told |= {
            "first_visit": first_s,
            "gain": gained.get("gain"),
            "gain_pages": gained.get("gain_pages"),
            "changes": recent_changes(frontier),
            "troubles": troubles(history),
            "spending": spending(history),
            "left_out": left_out(history),
            "freshness_over_time": _over_time(source, pages, since_s, now_s),
            "plans": history.plans_since(since_s),
            "fetches_over_time": _fetches(source, since_s, now_s),
            "hosts": _hosts(source, now_s, gained),
            "valuable": _valuable(source, pages, now_s),
            "slowest": _slowest(source),
        }
        return told

    def _gain(self, plan: PlanRecord | None, question: "PlanQuestion | None") -> dict[str, Any]:
        """Return what a fifth more budget brings, and what visits to each host cost; per plan."""
        from recrawl.crawler.reports.plans import solve_what_if

        if plan is None or question is None:
            return {}
        if self._gained[0] != plan:
            now = solve_what_if(question, question.budget_per_s, question.delay_s)
            more = solve_what_if(question, 1.2 * question.budget_per_s, question.delay_s)
            host_ids, servers = question.host_ids.tolist(), question.servers
            costs = now.host_prices[servers] if now.host_prices.size else now.host_prices
            prices = dict(zip(host_ids, costs.tolist(), strict=False))
            told = {
                "gain": more.freshness - now.freshness,
                "gain_pages": (more.freshness - now.freshness) * len(question.inputs.weights),
                "delay_s": question.delay_s,
                "asked_s": dict(
                    zip(host_ids, question.crawl_delays_s[servers].tolist(), strict=True)
                ),
                "prices": {
                    host: (price, price / now.price if now.price > 0 else None)
                    for host, price in prices.items()
                    if price > now.price * (1 + 1e-6)
                },
            }
            self._gained = (plan, told)
        return self._gained[1]


def _over_time(
    source: CrawlSource, pages: PlannedPages, since_s: float, now_s: float
) -> dict[str, list[float]]:
    if not len(pages.page_ids) or now_s <= since_s:
        return {"at": [], "value": [], "low": [], "high": []}
    visits = source.history().visits_since(since_s, at_most=_MOST_VISITS)
    if len(visits.visited_at_s):
        since_s = max(since_s, float(visits.visited_at_s.min()))
    instants = np.linspace(since_s, now_s, _GRID + 1)[1:]
    seen = freshness_over_time(
        pages,
        source.frontier().announcers(),
        visits.page_ids,
        visits.visited_at_s,
        visits.interval_s,
        visits.changed,
        instants,
    )
    return {
        "at": seen.instants_s.tolist(),
        "value": seen.values.tolist(),
        "low": seen.lows.tolist(),
        "high": seen.highs.tolist(),
    }


def _fetches(source: CrawlSource, since_s: float, now_s: float) -> dict[str, object]:
    step_s = max((now_s - since_s) / 60.0, 1e-3)
    counts: dict[str, list[int]] = {}
    for place, outcome, n in source.history().outcomes_over_time(since_s, step_s):
        if 0 <= place <= 60:
            counts.setdefault(outcome, [0] * 60)[min(place, 59)] += n
    return {"since": since_s, "step": step_s, "outcomes": counts}


def _hosts(source: CrawlSource, now_s: float, gained: dict[str, Any]) -> list[dict[str, object]]:
    counts = source.history().host_counts(now_s)
    prices, asked_s = gained.get("prices", {}), gained.get("asked_s", {})
    own_s = gained.get("delay_s", source.frontier().facts().settings.delay_s or 0.0)
    told: list[dict[str, object]] = []
    sharing = Sharing(source.frontier().hosts(), source.frontier().facts().settings, now_s)
    for host in sharing.hosts:
        seen = counts.get(host.host_id)
        blocked = host.blocked_until_s > now_s
        price, times = prices.get(host.host_id, (None, None))
        delays = ((own_s, "us"), (asked_s.get(host.host_id, 0.0), "robots.txt"))
        delay_s, by = max((*delays, (host.rest_s, "what it refused")), key=lambda one: one[0])
        told.append(
            {
                "host": host.host,
                "pages": seen.pages if seen else 0,
                "due": seen.due if seen else 0,
                "overdue": seen.overdue if seen else 0,
                "robots_txt": host.robots_status,
                "failures": host.failures,
                "blocked_for_s": host.blocked_until_s - now_s if blocked else None,
                "why": host.blocked_why if blocked else None,
                "delay_s": delay_s,
                "delay_by": by,
                "price": price,
                "times": times,
            }
        )
    told.sort(
        key=lambda row: (
            row["why"] is None,
            row["price"] is None,
            -int(str(row["pages"])),
        )
    )
    return told[:_HOSTS]


def _valuable(source: CrawlSource, pages: PlannedPages, now_s: float) -> list[dict[str, object]]:
    """Pages whose visit now would be worth the most: weight times the chance of a change."""
    if not len(pages.page_ids):
        return []
    rates, _ = believed_rates(pages)
    stale = -np.expm1(-rates * np.maximum(now_s - pages.seen_s, 0.0))
    worth = pages.weights * stale
    best = np.argsort(-worth, kind="stable")[:_PAGES]
    names = source.history().pages([int(number) for number in pages.page_ids[best]])
    return [
        {
            "url": names[int(pages.page_ids[row])][0],
            "title": names[int(pages.page_ids[row])][1],
            "worth": float(worth[row]),
            "weight": float(pages.weights[row]),
            "stale": float(stale[row]),
            "due_in_s": float(pages.due_s[row] - now_s),
        }
        for row in best
        if int(pages.page_ids[row]) in names
    ]


def _slowest(source: CrawlSource) -> list[dict[str, object]]:
    rows = source.history().slowest(among=20_000, limit=_PAGES)
    names = source.history().pages([row[0] for row in rows])
    return [
        {"url": names[page][0], "title": names[page][1], "fetch_s": seconds, "visits": visits}
        for page, seconds, visits in rows
        if page in names
    ]
