"""What the policies promise of their plans, and what people are told of those."""

import numpy as np
import pytest
from numpy.typing import NDArray

from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.control.evidence import Evidence, PlannedPages
from recrawl.crawler.control.revisiting.believed import Believed
from recrawl.crawler.control.revisiting.policies import revisit_policy
from recrawl.crawler.control.revisiting.revisit_policy import Replan, Schedule
from recrawl.errors import InputError

DAY_S, NOW_S = 86_400.0, 1_800_000_000.0
N = 240
RULES = RevisitRules(min_interval_s=600.0, max_interval_s=90 * DAY_S)
BUDGET_PER_S = N / (10 * DAY_S)


def plan(
    name: str,
    weights: NDArray[np.float64] | float = 1.0,
    budget_per_s: float = BUDGET_PER_S,
    change_rate_per_s: float = np.nan,
    heard_s: float = np.nan,
) -> Schedule:
    """Plan pages of two hosts, those of even numbers and those of odd ones.

    Two in three were visited eight times; of the one host all had changed, of the other none.
    """
    believed = Believed(RULES, budget_per_s=1e-4, prior_rate_per_s=1e-6, prior_shape=0.5)
    rows, ids = np.arange(N), np.arange(1, N + 1)
    urls = [f"http://{'ab'[row % 2]}.test/{row}" for row in rows]
    page = np.repeat(rows[rows % 3 > 0], 8)
    nothing = np.full(page.size, np.nan)
    told = (page, np.full(page.size, 5.0 * DAY_S), page % 2 == 0, nothing, nothing)
    believed.learn(Evidence(ids, *told, urls))
    unknown, hosts = np.full(N, np.nan), rows % 2
    rates = np.full(N, change_rate_per_s)
    last_s = NOW_S - 10.0 * DAY_S * rows / N
    columns = (np.ones(N) * weights, rates, rates / rates, unknown, last_s, last_s, unknown)
    pages = PlannedPages(ids, hosts, *columns)
    policy = revisit_policy(name, RULES, believed)
    made = policy.replan(
        Replan(
            pages,
            hosts,
            np.full(2, np.inf),
            budget_per_s,
            NOW_S,
            span_s=50.0 * DAY_S,
            heard_s=np.full(N, heard_s),
        )
    )
    assert made is not None
    return made


def test_a_page_that_nobody_knows_is_visited_as_those_of_its_host_change() -> None:
    rates = plan("recrawl").crawl_rates[::3]

    assert rates[::2].min() > 2.0 * rates[1::2].max()


def test_heavier_pages_are_visited_more_often() -> None:
    """Only how they compare counts: weights below one, and of nothing but zeros, are weights."""
    even, heavy = plan("recrawl"), plan("recrawl", np.where(np.arange(N) < N // 2, 0.9, 0.1))

    assert np.all(heavy.crawl_rates[: N // 2] > heavy.crawl_rates[N // 2 :])
    for weight in (0.0, 0.01, 7.0):
        other = plan("recrawl", weight)
        np.testing.assert_allclose(other.crawl_rates, even.crawl_rates, rtol=0.05)
        assert other.freshness == pytest.approx(even.freshness, rel=1e-3)
        assert other.worth == pytest.approx(even.worth, rel=0.03)
    assert plan("recrawl", 0.0).price == pytest.approx(even.price)


def relied_on(
    believed: Believed, pages: PlannedPages, heard_s: NDArray[np.float64], now_s: float
) -> NDArray[np.float64]:
    """Let seven changes in ten be announced."""
    control, rows = believed.control_of(pages.page_ids)
    control.rely_on(rows, np.zeros(rows.size), np.full(rows.size, 0.3))
    return heard_s


@pytest.mark.parametrize("heard_s", [np.nan, NOW_S - DAY_S, NOW_S])
def test_what_one_more_visit_is_worth_is_of_the_size_of_what_a_larger_budget_brings(
    monkeypatch: pytest.MonkeyPatch, heard_s: float
) -> None:
    """In pages of average weight, whatever that is; each further one is worth less."""
    monkeypatch.setattr(Believed, "hear", relied_on)
    now, more = (
        plan("recrawl", 3.0, budget_per_s, heard_s=heard_s)
        for budget_per_s in (BUDGET_PER_S, 1.2 * BUDGET_PER_S)
    )

    gained = N * (more.freshness - now.freshness) / (0.2 * BUDGET_PER_S)
    assert gained < more.worth < now.worth < 2.5 * gained


def test_no_visits_are_promised_that_are_not_made() -> None:
    """Beyond what the shortest interval allows, more budget keeps no more fresh."""
    enough, far_more = (plan("recrawl", budget_per_s=budget) for budget in (N / 590.0, N / 200.0))

    for made in (enough, far_more):
        assert made.crawl_rates.tolist() == pytest.approx([1.0 / 600.0] * N)
    assert far_more.freshness == enough.freshness


def test_pages_that_wait_for_as_long_as_they_may_are_counted() -> None:
    """None while the budget does for all; nearly all where it does for none."""
    assert plan("recrawl", budget_per_s=1.0).n_never_visited == 0
    made = plan("recrawl")
    n_longest = np.count_nonzero(made.crawl_rates < 1.0001 / RULES.max_interval_s)
    assert made.n_never_visited == n_longest


@pytest.mark.parametrize("weight", [0.01, 1.0])
def test_equal_visits_promise_less_where_rates_are_in_doubt(weight: float) -> None:
    """By a gamma law whose logarithm errs by 1.4 where nothing is known, by nothing if told."""
    rate = 1.0 / (14 * DAY_S)
    crawl_rate, doubt = BUDGET_PER_S / N, np.expm1(1.4**2)
    ages = (np.arange(100_000) + 0.5) / 100_000 / crawl_rate
    expected = np.mean((1.0 + doubt * rate * ages) ** (-1.0 / doubt))

    made = plan("uniform", weight)
    sure = plan("uniform", weight, change_rate_per_s=rate)

    assert made.crawl_rates.tolist() == pytest.approx([crawl_rate] * N)
    assert made.freshness == pytest.approx(expected, rel=1e-6)
    assert sure.freshness == pytest.approx(-np.expm1(-10.0 / 14.0) * 1.4)
    assert made.worth == 0.0


@pytest.mark.parametrize("name", ["uniform", "proportional"])
def test_pages_of_no_weight_are_planned_by_fixed_rates_too(name: str) -> None:
    assert plan(name, 0.0).freshness > 0.0


def test_a_policy_that_there_is_not_is_named() -> None:
    believed = Believed(RULES, budget_per_s=1e-4, prior_rate_per_s=1e-6, prior_shape=0.5)

    with pytest.raises(InputError, match=r"^plan\.policy: 'best' is none of recrawl, "):
        revisit_policy("best", RULES, believed)
