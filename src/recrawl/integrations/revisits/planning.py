"""Due times by recrawl's revisit policies, fed from a store of visits.

Nothing here decides: estimates, the price of a visit and due times come from the objects that the
crawler and its backtests use.
"""

from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from recrawl.crawler.control.evidence import PlannedPages
from recrawl.crawler.control.revisiting.believed import Believed
from recrawl.crawler.control.revisiting.due_times import DueTimes
from recrawl.crawler.control.revisiting.policies import ByWorth, revisit_policy
from recrawl.crawler.control.revisiting.revisit_policy import Replan, ask_for_plan
from recrawl.crawler.runtime.visit_learner import VisitLearner
from recrawl.integrations.revisits.options import RevisitOptions
from recrawl.integrations.revisits.store import VisitStore

P = ParamSpec("P")
T = TypeVar("T")


class RevisitPlanner:
    """Learns from the visits that are new, and moves due times.

    Parameters
    ----------
    options : budget, policy, and bounds on intervals
    """

    def __init__(self, options: RevisitOptions) -> None:
        self._options = options
        self._believed = Believed(
            options.rules,
            budget_per_s=options.budget_per_s,
            prior_rate_per_s=options.prior_rate_per_s,
        )
        self.due_times = DueTimes(
            options.rules, revisit_policy(options.policy, options.rules, self._believed)
        )
        self._learner = VisitLearner(self._believed, _at_once, _at_once)

    def replan(self, store: VisitStore, now_s: float, spider: str | None) -> float | None:
        """Learn, plan, and put the plan in force; return the freshness that it promises.

        None where there is nothing to plan yet, or the policy makes no plans.

        Parameters
        ----------
        store : of all spiders
        now_s : instant
        spider : the one that runs: its pages use what the budget has left; None: all do
        """
        _done(self._learner.learn(store))
        pages, n_hosts, own = store.planned_pages(spider)
        n = len(pages.page_ids)
        if not n:
            return None
        options = self._options
        schedule = ask_for_plan(
            self.due_times.policy,
            Replan(
                pages,
                pages.host_ids,
                np.full(n_hosts, options.host_cap_per_s),
                options.budget_per_s,
                now_s,
                span_s=max(2.0 * options.replan_s, 0.25 * n / options.budget_per_s),
                prior_rate_per_s=options.prior_rate_per_s,
            ),
        )
        told, new = self._believed.relearn(pages)
        rates, factors = told.change_rates_per_s[new], told.change_rate_factors[new]
        store.save_change_rates(told.page_ids[new], rates, factors)
        if schedule is None:
            return None
        moved = schedule.moved(pages)
        columns = (pages.page_ids[moved], schedule.crawl_rates[moved], schedule.due[moved])
        store.save_plan(
            {
                "solved_at_s": now_s,
                "n_pages": n,
                "budget_per_s": options.budget_per_s,
                "price": schedule.price,
                "freshness": schedule.freshness,
            },
            [
                {"id": page, "rate": rate, "due_s": due, "why": schedule.why, "solved_at_s": now_s}
                for page, rate, due in zip(*(one.tolist() for one in columns), strict=True)
            ],
        )
        spare = int(store.left(options.budget_per_s, now_s))
        spare -= store.rows("n_due", spider=spider, now_s=now_s)[0][0]
        store.bring_forward(self._ahead(pages, own & (schedule.due > now_s), spare, now_s), now_s)
        return schedule.freshness

    def _ahead(
        self, pages: PlannedPages, others: NDArray[np.bool_], spare: int, now_s: float
    ) -> list[int]:
        """Return the pages to be visited ahead of their time, so that no budget lies unused.

        Parameters
        ----------
        pages : of all spiders
        others : pages of the spider that runs which are not due
        spare : visits that the budget has beyond those that are due
        now_s : instant
        """
        rested = pages.last_visit_s <= now_s - self._options.rules.min_interval_s
        may = np.flatnonzero(others & rested)
        if spare < 1 or not may.size or not isinstance(self.due_times.policy, ByWorth):
            return []
        control, rows = self._believed.control_of(pages.page_ids[may])
        worth_from = control.by_worth(rows, now_s, min(spare, may.size))
        order = np.argsort(worth_from, kind="stable")[:spare]
        chosen: list[int] = pages.page_ids[may[order[worth_from[order] <= now_s]]].tolist()
        return chosen


async def _at_once(call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    return call(*args, **kwargs)


def _done(work: Coroutine[Any, Any, None]) -> None:
    """Do work that never waits, on whichever thread this is."""
    with suppress(StopIteration):
        work.send(None)
        raise AssertionError("it waits")
