"""The freshness that is believed, and how far that can be trusted."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.control.evidence import PlannedPages
from recrawl.crawler.control.revisiting.estimate import (
    estimate_freshness,
    fresh_between,
    freshness_of_copies,
    kept_by_even_visits,
    rate_bounds,
)
from recrawl.crawler.control.revisiting.policies import FixedRates
from recrawl.crawler.control.revisiting.revisit_policy import Replan


def vector(*values: float) -> np.ndarray:
    return np.array(values, float)


def test_each_copy_is_fresh_with_the_chance_that_nothing_changed() -> None:
    """exp(-1) for one page of worth 3, certain for one that never changes."""
    found = estimate_freshness(
        vector(0.5, 0.0), vector(0.0, 0.0), vector(3.0, 1.0), vector(2.0, 10.0)
    )

    assert found is not None
    assert found.value == pytest.approx((3 * np.exp(-1) + 1) / 4)
    assert 0.0 <= found.low < found.value < found.high <= 1.0


def test_a_visit_in_the_future_counts_as_now() -> None:
    """Clocks of two processes differ a little."""
    found = estimate_freshness(vector(2.0), vector(0.3), vector(1.0), vector(-1.0))

    assert found is not None
    assert (found.low, found.value, found.high) == (1.0, 1.0, 1.0)


def test_a_rate_that_is_hardly_known_leaves_more_hope() -> None:
    """The average of exp(-rate t) over a gamma law, integrated; and exp(-rate t) without doubt."""
    doubt, rate, age = 1.1, 0.4, 5.0
    shape = 1.0 / np.expm1(doubt**2)
    exact, _ = integrate.quad(
        lambda x: np.exp(-x * age) * stats.gamma.pdf(x, shape, scale=rate / shape), 0.0, np.inf
    )

    found = [
        estimate_freshness(vector(rate), vector(error), vector(1.0), vector(age))
        for error in (0.0, 1e-3, doubt)
    ]

    assert [one.value for one in found if one] == [
        pytest.approx(np.exp(-rate * age)),
        pytest.approx(np.exp(-rate * age), rel=1e-5),
        pytest.approx(exact, rel=1e-6),
    ]


@pytest.mark.parametrize("weights", [vector(), vector(0.0)])
def test_where_nothing_is_worth_anything_there_is_no_estimate(weights: np.ndarray) -> None:
    """Rather than a division by zero."""
    n = len(weights)

    assert estimate_freshness(np.ones(n), np.ones(n), weights, np.ones(n)) is None


@pytest.mark.parametrize("n", [1, 10, 30])
@pytest.mark.parametrize("longest", [0.05, 0.3, 1.0])
def test_few_pages_have_an_interval_that_holds_the_truth(n: int, longest: float) -> None:
    """At least 93 % of 500; a normal one holds 78 to 90 % where nearly all are fresh."""
    random, held = np.random.default_rng(1), 0
    for _ in range(500):
        shape: np.ndarray = 0.7 + random.poisson(3.0 * random.gamma(0.7, 1.0, n))
        rates = random.gamma(shape, 0.25)
        weights, visits = random.pareto(20.0, n) + 1.0, 1.0 - longest * random.random(n)
        changed = random.random(n) < -np.expm1(-rates * (1.0 - visits))
        truth = weights @ ~changed / weights.sum()
        doubts = np.sqrt(np.log1p(1.0 / shape))
        found = estimate_freshness(shape / 4.0, doubts, weights, 1.0 - visits)
        assert found is not None
        held += found.low - 1e-12 <= truth <= found.high + 1e-12
        assert found.low <= found.value <= found.high

    assert held >= 465


@given(
    st.lists(st.tuples(st.floats(0.0, 1.0), st.floats(0.01, 9.0)), min_size=1, max_size=8),
)
def test_the_interval_is_that_of_all_that_may_be(pages: list[tuple[float, float]]) -> None:
    """By each set of pages that are fresh, for a few pages."""
    fresh, weights = np.array(pages).T
    found = freshness_of_copies(fresh, weights)
    sets = np.array(list(product((False, True), repeat=len(pages))))
    shares = sets @ weights / weights.sum()
    order = np.argsort(shares)
    sums = np.cumsum(np.where(sets, fresh, 1.0 - fresh).prod(axis=1)[order])
    assert found is not None
    for end, least, most in ((found.low, 0.024, 0.026), (found.high, 0.974, 0.976)):
        low, high = (
            shares[order][min(np.searchsorted(sums, one), sums.size - 1)] for one in (least, most)
        )
        low, high = min(low, found.value), max(high, found.value)
        assert low - 2e-3 <= end <= high + 2e-3


def test_the_heaviest_pages_count_one_by_one_and_the_rest_is_normal() -> None:
    """A thousand pages with and without one of half the weight."""
    rates, doubts, ages = np.ones(1001), np.zeros(1001), np.full(1001, 0.7)
    alike = estimate_freshness(rates, doubts, np.ones(1001), ages)
    led = estimate_freshness(rates, doubts, np.r_[1000.0, np.ones(1000)], ages)
    share = np.exp(-0.7)

    assert alike is not None
    assert led is not None
    half = 1.96 * np.sqrt(share * (1 - share) / 1001)
    assert (alike.low, alike.high) == pytest.approx((share - half, share + half), abs=0.003)
    assert (led.low, led.high) == pytest.approx(
        (share / 2 - half / 2, 0.5 + share / 2 + half / 2), abs=0.01
    )


@pytest.mark.parametrize("error", [0.6, 1.3])
def test_what_a_rate_may_be(error: float) -> None:
    """The gamma law of the estimate; nothing where it is known."""
    low, high = rate_bounds(np.exp(error))
    shape = 1.0 / np.expm1(error**2)

    assert stats.gamma.cdf(high * shape, shape) - stats.gamma.cdf(
        low * shape, shape
    ) == pytest.approx(0.95, abs=0.005)
    assert rate_bounds(1.0) == rate_bounds(None) == (1.0, 1.0)


@pytest.mark.parametrize("error", [1.4, 3.0])
def test_where_next_to_nothing_is_known_the_ends_are_those_of_the_log_normal_law(
    error: float,
) -> None:
    assert np.log(rate_bounds(np.exp(error))) == pytest.approx([-1.96 * error, 1.96 * error], 1e-4)


@pytest.mark.parametrize(("rate", "ends"), [(1e-4, (None, 1.0)), (9.0, (0.0, None))])
def test_no_end_of_an_interval_is_more_than_all_or_less_than_nothing(
    rate: float, ends: tuple[float | None, float | None]
) -> None:
    """Where nearly all pages are fresh, or hardly any."""
    n = 2_000
    found = estimate_freshness(np.full(n, rate), np.zeros(n), np.ones(n), np.ones(n))

    assert found is not None
    for end, told in zip(ends, (found.low, found.high), strict=True):
        assert told == end if end is not None else 0.0 < told < 1.0


@pytest.mark.parametrize("factor", [1.1, 2.0, 3.8, 3.82, 5.0, 7.98, 30.0, 1e9, 1e300])
def test_a_rate_lies_within_its_interval_however_little_is_known(factor: float) -> None:
    """And what is unlikely to be exceeded can be said in words, as can what it exceeds."""
    low, high = rate_bounds(factor)

    assert 0.0 < low < 1.0 < high
    assert np.isfinite(1.0 / low)


@pytest.mark.slow
def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    """400 simulated indexes of 200 pages, of which the changes in a time were counted.

    95 % within, by binomial bounds, and the estimate is right on average.
    """
    random, n, runs, held, errors = np.random.default_rng(11), 200, 400, 0, []
    for _ in range(runs):
        rates = random.gamma(0.7, 1.0, n)
        weights, visits = random.pareto(2.5, n) + 1.0, random.uniform(0.0, 1.0, n)
        changed = random.random(n) < -np.expm1(-rates * (1.0 - visits))
        truth = weights @ ~changed / weights.sum()
        shapes = np.asarray(0.7 + random.poisson(3.0 * rates), np.float64)
        doubts = np.sqrt(np.log1p(1.0 / shapes))
        found = estimate_freshness(shapes / (1.0 + 3.0), doubts, weights, 1.0 - visits)
        assert found is not None
        errors.append(found.value - truth)
        held += found.low <= truth <= found.high

    least, most = stats.binom.ppf((1e-4, 1 - 1e-4), runs, 0.95)
    assert least - 0.02 * runs <= held <= most + 0.01 * runs  # normal, and so only nearly exact
    assert abs(np.mean(errors)) < 4.0 * np.std(errors) / np.sqrt(runs)


@pytest.mark.parametrize("log_error", [0.0, 0.3, math.sqrt(math.log(2.0)), 2.5])
def test_even_visits_keep_the_average_over_their_interval(log_error: float) -> None:
    """Against quadrature of the chance that a copy of each age is fresh; c = 1 among them."""
    rates, every = np.array([1e-3, 0.4, 30.0]), np.array([2.0, 1.0, 5.0])
    found = kept_by_even_visits(rates, np.full(3, log_error), 1.0 / every)

    doubt = max(math.expm1(log_error**2), 1e-9)
    for rate, interval, kept in zip(rates, every, found, strict=True):
        area, _ = integrate.quad(
            lambda age, rate=rate: math.exp(-math.log1p(doubt * rate * age) / doubt), 0.0, interval
        )
        assert kept == pytest.approx(area / interval, rel=1e-6)


def test_a_change_that_is_rare_came_at_any_instant_alike() -> None:
    """And a frequent one soon: exp(-a) less exp(-T) of what exp(-T) leaves, for a rate of one."""
    ages, intervals = np.array([1.0, 1.0, 0.0, 4.0]), np.full(4, 4.0)

    found = fresh_between(np.array([1e-12, 1.0, 1.0, 1.0]), np.zeros(4), ages, intervals)

    known = (math.exp(-1.0) - math.exp(-4.0)) / (1.0 - math.exp(-4.0))
    np.testing.assert_allclose(found, [0.75, known, 1.0, 0.0], atol=1e-7)


def test_what_uniform_visits_promise_counts_the_doubt_about_rates() -> None:
    """By weight: a page of which little is known may hardly change at all."""
    rates, weights = vector(1e-5, 1e-5), vector(1.0, 3.0)
    known, ids, none = np.full(2, 1.01), np.arange(1, 3), np.zeros(2, np.int64)
    policy = FixedRates(RevisitRules(), "uniform")
    promised = []
    for factors in (known, vector(1.01, 8.0)):
        now = np.full(2, 1e9)
        pages = PlannedPages(ids, none, weights, rates, factors, rates, now, now, now * np.nan)
        made = policy.replan(Replan(pages, none, np.full(1, np.inf), 2e-5, 1e9))
        kept = kept_by_even_visits(rates, np.log(factors), made.crawl_rates)
        assert made.freshness == pytest.approx(kept @ weights / 4.0)
        promised.append(made.freshness)

    assert promised[0] == pytest.approx(1.0 - math.exp(-1.0), rel=1e-4)
    assert promised[1] > promised[0] + 0.1
