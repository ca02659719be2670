"""The revisit policies that a crawl can be given by name."""

from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.control.revisiting.believed import Believed
from recrawl.crawler.control.revisiting.estimate import kept_by_even_visits
from recrawl.crawler.control.revisiting.interval_rules import SHIPPED_RULES, IntervalRulePolicy
from recrawl.crawler.control.revisiting.revisit_policy import (
    BY_PLAN,
    NextVisit,
    PageVisit,
    Replan,
    RevisitPolicy,
    Schedule,
)
from recrawl.crawler.control.revisiting.told_clocks import ToldClocks
from recrawl.crawler.control.urls import folder_of, path_of
from recrawl.crawler.control.worth.order import forgiven_s
from recrawl.errors import InputError
from recrawl.quantities import show_number
from recrawl.terms import REVISIT_POLICIES

__all__ = ["ByForesight", "ByWorth", "FixedRates", "revisit_policy"]

# A little more falls due than is paid for: the order of what is late is the best there is.
_LEAD: Final = 1.1
_MORE: Final = 0.02  # of the visits, by which the worth of one more is found
_LEAST_RATE_PER_S: Final = 1e-12  # once in thirty thousand years; less would overflow
_MEASURES: Final[Mapping[str, str]] = {"uniform": "uniform", "proportional": "proportional"}
_LEAST_SHARE: Final = 0.03
_UNKNOWN: Final = 1.4  # standard error of the logarithm of a rate of which nothing is known
_FOLDERS: Final = 10_000  # whose latest changes are kept, for people
_KEPT: Final = 20
_RECENT_S: Final = 7 * 86_400.0
_DAYS: Final = ("Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday")


class _Planned:
    """Goes by the crawl rate of the plan in force; until there is one, by the initial interval."""

    def __init__(self, rules: RevisitRules) -> None:
        self._rules = rules

    def after_visit(self, visit: PageVisit) -> NextVisit:
        """Return the end of the planned interval, earlier by as much as this visit was late."""
        rules, rate = self._rules, visit.crawl_rate_per_s
        if rate is None:
            initial_s = rules.clamp(rules.initial_interval_s)
            why = "not planned yet: the initial interval"
            return NextVisit(visit.at_s + initial_s, why, initial_s)
        # The plan keeps the longest interval as far as the budget goes; beyond, it knows best.
        interval_s = 1.0 / max(rate, _LEAST_RATE_PER_S) if rate > 0.0 else rules.max_interval_s
        interval_s = max(interval_s, rules.min_interval_s)
        late_s = max(0.0, visit.at_s - visit.due_s)
        shorter_s = forgiven_s(late_s, interval_s, rules.forgiven_share)
        due_s = visit.at_s + max(interval_s - shorter_s, rules.min_interval_s)
        return NextVisit(due_s, BY_PLAN, interval_s)


class ByWorth(_Planned, RevisitPolicy):
    """Recrawl's own: a page is due when a visit is worth the price that the budget sets.

    Parameters
    ----------
    rules : bounds on intervals
    believed : what is known of the pages; the policy reads it, and sets its price
    """

    name = "recrawl"

    def __init__(self, rules: RevisitRules, believed: Believed) -> None:
        super().__init__(rules)
        self._believed = believed

    @override
    def replan(self, question: Replan) -> Schedule:
        """Decide by the worth of each visit, as the replay of histories does."""
        pages, now_s = question.pages, question.now_s
        heard_s = (
            question.heard_s if question.heard_s.size else np.full(len(pages.page_ids), np.nan)
        )
        heard_s = self._believed.hear(pages, heard_s, now_s)
        control, rows = self._believed.control_of(pages.page_ids)
        weights = np.ones(len(control))
        weights[rows] = pages.weights if np.any(pages.weights > 0) else 1.0
        wanted = weights[rows]
        worths = _worth_of_versions(self._believed.never_change(pages.page_ids))
        weights[rows] *= worths
        control.grow(weights)
        # A visit by a clock that was ahead counts as of now, or its page would wait till then.
        last_visits = np.minimum(pages.last_visit_s, now_s)
        control.budget, control.last[rows] = _LEAD * question.budget_per_s, last_visits
        control.groups = list(self._believed.groups)
        control.expect_signals(rows, now_s - heard_s, now_s)
        decision = control.decide(
            now_s,
            question.span_s,
            rows=rows,
            hosts=question.hosts,
            host_caps=question.host_caps,
            least_price=question.least_price,
        )
        self._believed.laws_are_learned = True
        control.see_waits(rows, decision.due[rows], now_s)
        crawl_rates = 1.0 / decision.intervals[rows]
        # More falls due than is paid for: what is promised is what the budget brings of it.
        unheard_s = now_s - heard_s
        brought = crawl_rates * control.paid_for(
            rows, crawl_rates, unheard_s, question.budget_per_s
        )
        fresh, visits = control.kept_fresh(rows, brought, unheard_s)
        more, others = control.kept_fresh(rows, (1.0 + _MORE) * brought, unheard_s)
        gained, paid = float(wanted @ (more - fresh)), float((others - visits).sum())
        return Schedule(
            crawl_rates,
            decision.due[rows],
            decision.price,
            float(np.average(fresh, weights=wanted)),
            int(np.sum(decision.intervals[rows] >= 0.999 * control.bounds[2])),
            worth=gained / max(paid * float(wanted.mean()), 1e-300),
            own_due=None if control.clocks is None else decision.own_due[rows],
            lightest=float(worths.min(initial=1.0)),
        )


class ByForesight(ByWorth):
    """As recrawl's own, with a page's copy as old as the clock of its directory says.

    Parameters
    ----------
    rules : bounds on intervals
    believed : what is known of the pages; it keeps the clocks
    """

    name = "foresight"

    def __init__(self, rules: RevisitRules, believed: Believed) -> None:
        super().__init__(rules, believed)
        self._told = believed.told_clocks = ToldClocks()
        self._changes: dict[str, deque[float]] = {}

    @override
    def after_visit(self, visit: PageVisit) -> NextVisit:
        """Return what the plan says, and for people what has changed beside the page."""
        answer = super().after_visit(visit)
        folder = folder_of(visit.url)
        others = self._changes.get(folder, deque())
        news = _news(folder, others, visit.at_s)
        if visit.changed:
            if folder not in self._changes and len(self._changes) >= _FOLDERS:
                self._changes.pop(next(iter(self._changes)))
            self._changes.setdefault(folder, deque(maxlen=_KEPT)).append(visit.at_s)
        if not news:
            return answer
        return NextVisit(answer.due_s, f"{answer.why}; {news}", answer.interval_s, answer.memory)

    @override
    def replan(self, question: Replan) -> Schedule:
        control, rows = self._believed.control_of(question.pages.page_ids)
        if self._told.clocks is None:
            # No plan has learned yet how rates are spread. By what was assumed of them clocks would
            # find that everything changes many times as fast as usual.
            control.beliefs.learn(rows, list(self._believed.groups))
        announced = self._believed.announced(rows, question.pages)
        self._told.tell(control, rows, question, announced)
        made = super().replan(question)
        # What is brought forward is not late, or its next interval would be shortened for it.
        pages = question.pages
        planned = np.minimum(pages.last_visit_s + 1.0 / made.crawl_rates, question.now_s)
        is_told = control.signals[rows] > 0.0  # a change that was announced does wait
        due = np.where(is_told, made.due, np.maximum(made.due, planned))
        fast = self._told.fast(rows, pages.page_ids, question.now_s)
        return replace(made, due=due, foreseen=True, fast=fast)


def _worth_of_versions(never: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return by what the weights of pages are multiplied that are of a kind that never changes.

    What little is known of a page's changes leaves room for rates at which a visit would be worth
    it, and there may be a hundred such pages for one that changes. An interval grows with the root
    of what a page is worth less: so all of them together get at most half as many visits as others,
    but for a bound: the price of a visit may become theirs, and all else goes by it.
    """
    n_never = int(np.count_nonzero(never))
    if n_never in (0, never.size):  # nothing else is there to be visited instead
        return np.ones(never.size)
    share = 0.5 * (never.size - n_never) / n_never
    return np.where(never, min(max(share, _LEAST_SHARE), 1.0) ** 2, 1.0)


class FixedRates(_Planned, RevisitPolicy):
    """Rates allocated once for each plan, uniform or proportional to change: for comparison.

    Parameters
    ----------
    rules : bounds on intervals
    measure : a name in ``control.planning.MEASURES``
    """

    def __init__(self, rules: RevisitRules, measure: str) -> None:
        super().__init__(rules)
        self._measure = measure

    @property
    @override
    def name(self) -> str:
        return self._measure

    @override
    def replan(self, question: Replan) -> Schedule:
        # Solving needs compiled loops, which take a second to import: not paid at the start.
        from recrawl.crawler.control.revisiting.planning import PlanInputs, plan_visits

        pages = question.pages
        rates = pages.change_rates_per_s
        inputs = PlanInputs(
            change_rates=np.where(np.isnan(rates), question.prior_rate_per_s, rates),
            weights=pages.weights,
            hosts=question.hosts,
            last_visits=np.minimum(pages.last_visit_s, question.now_s),
            host_caps=question.host_caps,
        )
        made = plan_visits(inputs, question.budget_per_s, self._rules, measure=self._measure)
        freshness = made.freshness
        if pages.weights.sum() > 0.0:  # not as if rates were known: most are in doubt
            errors = np.nan_to_num(np.log(pages.change_rate_factors), nan=_UNKNOWN)
            kept = kept_by_even_visits(inputs.change_rates, errors, made.crawl_rates)
            freshness = float(np.average(kept, weights=pages.weights))
        return replace(made, freshness=freshness)


def _news(folder: str, changes: deque[float], now_s: float) -> str:
    """Say in words what was lately found to have changed beside a page."""
    recent = [at_s for at_s in changes if now_s - at_s < _RECENT_S]
    if not recent:
        return ""
    n = len(recent)
    many = show_number(n) if n < _KEPT else f"at least {n}"
    verb = "page beside it has" if n == 1 else "pages beside it have"
    day = _DAYS[int(min(recent) // 86_400) % 7]
    return f"{many} {verb} changed since {day}, in {path_of(folder)}"


def revisit_policy(name: str, rules: RevisitRules, believed: Believed) -> RevisitPolicy:
    """Return the policy of a name.

    Parameters
    ----------
    name : one of ``REVISIT_POLICIES``
    rules : bounds on intervals
    believed : what is known of the pages; "recrawl" and "foresight" read it, and write to it

    Raises
    ------
    InputError
        There is none of this name.
    """
    if name == "recrawl":
        return ByWorth(rules, believed)
    if name == "foresight":
        return ByForesight(rules, believed)
    if name in _MEASURES:
        return FixedRates(rules, _MEASURES[name])
    if name in SHIPPED_RULES:
        return IntervalRulePolicy(name, SHIPPED_RULES[name])
    raise InputError(f"plan.policy: {name!r} is none of {', '.join(REVISIT_POLICIES)}")
