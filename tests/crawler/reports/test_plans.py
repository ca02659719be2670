"""What-if answers are the planner's own plans."""

from dataclasses import replace

import numpy as np
import pytest

from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.control.evidence import PlannedPages
from recrawl.crawler.control.revisiting.planning import PlanInputs, plan_visits
from recrawl.crawler.facts import SettingsFacts
from recrawl.crawler.reports.plans import plan_question, solve_what_if, trade_off
from recrawl.terms import HostRecord, PlanRecord

SETTINGS = SettingsFacts(
    budget_per_s=4.0, delay_s=2.0, min_interval_s=0.1, max_interval_s=1e4, prior_rate_per_s=0.5
)
ROBOTS = b"User-agent: *\nCrawl-delay: 5\n"
HOSTS = [
    HostRecord(3, "http://a.test", 0.0),
    HostRecord(7, "http://b.test", 0.0, robots_status=200, robots_body=ROBOTS),
]


def pages() -> PlannedPages:
    n = 6
    return PlannedPages(
        np.arange(n), np.array([3, 3, 3, 7, 7, 7]), np.linspace(1.0, 2.0, n),
        np.array([1.0, 2.0, np.nan, 0.1, 3.0, 0.5]), np.ones(n), np.ones(n),
        np.full(n, 10.0), np.full(n, 20.0), np.full(n, np.nan),
    )  # fmt: skip


def test_it_is_the_plan_that_the_planner_would_make() -> None:
    """Same inputs, same rates: delays of hosts, share of the budget, priors and all."""
    plan = PlanRecord(5.0, 6, 3.0, 1.0, 0.5, 0)
    question = plan_question(pages(), HOSTS, plan, SETTINGS, agent="recrawl", now_s=30.0)
    assert question is not None

    answer = solve_what_if(question, 8.0, 0.5)

    expected = plan_visits(
        PlanInputs(
            np.array([1.0, 2.0, 0.5, 0.1, 3.0, 0.5]),
            np.linspace(1.0, 2.0, 6),
            np.array([0, 0, 0, 1, 1, 1]),
            np.full(6, 10.0),
            np.array([2.0, 0.2]),
        ),
        8.0 * 3.0 / 4.0,
        RevisitRules(0.1, 1e4),
    )
    np.testing.assert_allclose(answer.crawl_rates, expected.crawl_rates)
    assert answer.price == pytest.approx(expected.price)
    assert answer.host_prices[1] > answer.price * 1.01  # five seconds of rest: at its limit


def test_hosts_of_one_ip_address_have_the_rate_of_one() -> None:
    """That of the longest rest that one of them asks for; without the setting each has its own."""
    settings = replace(SETTINGS, per_address=True)
    hosts = [replace(host, ip_address="192.0.2.1") for host in HOSTS]

    def most(settings: SettingsFacts) -> float:
        question = plan_question(pages(), hosts, None, settings, agent="recrawl", now_s=30.0)
        assert question is not None
        return float(solve_what_if(question, 8.0, 0.5).crawl_rates.sum())

    assert most(settings) == pytest.approx(1 / 5, rel=1e-3)
    assert most(replace(settings, per_address=False)) == pytest.approx(1 / 5 + 1 / 0.5, rel=1e-3)


def test_more_budget_buys_more_at_a_lower_price() -> None:
    """Concave: that is what a price means."""
    settings = replace(SETTINGS, delay_s=0.01)
    question = plan_question(pages(), [], None, settings, agent="recrawl", now_s=30.0)
    assert question is not None

    points = trade_off(question, [0.25, 0.5, 1.0, 2.0])

    fresh, prices = ([point[key] for point in points] for key in ("freshness", "price"))
    assert fresh == sorted(fresh)
    assert prices == sorted(prices, reverse=True)


def test_without_pages_or_budget_there_is_no_question() -> None:
    """As for a crawl that has just begun."""
    assert plan_question(pages(), HOSTS, None, SettingsFacts(), agent="recrawl", now_s=0.0) is None
