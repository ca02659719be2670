"""Content whose worth fades: what visits bring in, the best rates, the index."""

import numpy as np
import pytest
from scipy import optimize

from recrawl.errors import InvalidModel
from recrawl.freshness import fading_index, fading_interval, fading_pages, solve_fading

ITEMS = np.array([0.5, 3.0, 8.0, 20.0])
HALF_LIVES = np.array([10.0, 0.5, 2.0, 0.05])
WEIGHTS = np.array([1.0, 2.0, 1.0, 5.0])


def collected(rates: np.ndarray, decay: np.ndarray) -> np.ndarray:
    """Share of the worth of an item that is left at the first visit, by integration."""
    ages = (np.arange(20_000) + 0.5) / 20_000
    return np.array([np.exp(-d * ages / r).mean() for r, d in zip(rates, decay, strict=True)])


def test_the_best_rates_against_a_general_solver() -> None:
    """Even visits, four pages, six visits a day: the same worth as by constrained search."""
    decay = np.log(2) / HALF_LIVES
    worth = WEIGHTS * ITEMS / decay

    plan = solve_fading(fading_pages(ITEMS, HALF_LIVES, WEIGHTS), 6.0)

    def lost(x: np.ndarray) -> float:
        x = np.maximum(x, 1e-9)
        return -float(worth @ (x / decay * -np.expm1(-decay / x)) / worth.sum())

    found = optimize.minimize(
        lost,
        np.full(4, 1.5),
        bounds=[(1e-9, 6.0)] * 4,
        constraints={"type": "eq", "fun": lambda x: x.sum() - 6.0},
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    assert plan.value == pytest.approx(-found.fun, abs=1e-7)
    assert plan.value >= -found.fun - 1e-12
    used = plan.crawl_rates > 0
    shares = collected(plan.crawl_rates[used], decay[used])
    assert plan.value == pytest.approx(worth[used] @ shares / worth.sum(), rel=1e-6)


def test_what_lasts_long_and_comes_often_is_visited_for_what_it_is_worth() -> None:
    """A visit at the interval of the plan is worth the price, by the index."""
    pages = fading_pages(ITEMS, HALF_LIVES, WEIGHTS)
    plan = solve_fading(pages, 6.0)
    used = plan.crawl_rates > 0

    worth = fading_index(ITEMS, HALF_LIVES, WEIGHTS, 1 / np.where(used, plan.crawl_rates, 1.0))
    price = worth[used][0]

    np.testing.assert_allclose(worth[used], price, rtol=1e-9)
    most = WEIGHTS * ITEMS * (HALF_LIVES / np.log(2)) ** 2
    assert np.all(most[~used] <= price)
    found = fading_interval(WEIGHTS * ITEMS / price, HALF_LIVES)
    np.testing.assert_allclose(1 / found[used], plan.crawl_rates[used], rtol=1e-8)
    assert np.all(np.isinf(found[~used]))


@pytest.mark.parametrize("z", [1e-9, 9e-5, 1.1e-4])
def test_the_index_keeps_its_digits_at_small_ages(z: float) -> None:
    """By its series: z^2 / 2 - z^3 / 3 + z^4 / 8."""
    index = fading_index([1.0], [np.log(2.0)], [1.0], [z])[0]

    assert index == pytest.approx(z * z * (0.5 - z / 3.0 + z * z / 8.0), rel=1e-7, abs=0.0)


@pytest.mark.parametrize("share", [1e-9, 1e-3, 0.3, 0.9, 0.99999])
def test_the_interval_inverts_the_index(share: float) -> None:
    """From a price of nearly nothing to nearly all that can be had."""
    decay = np.log(2) / 3.0

    (interval,) = fading_interval(np.array([decay**2 / share]), np.array([3.0]))

    index = fading_index([1.0], [3.0], [1.0], [interval])[0]
    assert index == pytest.approx(share / decay**2, rel=1e-7)


def test_a_simulation_of_items() -> None:
    """Two pages, items drawn, visits evenly spaced: worth within two standard errors."""
    rng = np.random.default_rng(0)
    pages = fading_pages([4.0, 1.0], [0.25, 4.0])
    plan = solve_fading(pages, 3.0)
    days, worth, had = 4_000.0, 0.0, 0.0
    for rate, life, visits in zip([4.0, 1.0], [0.25, 4.0], plan.crawl_rates, strict=True):
        at = rng.uniform(0, days, rng.poisson(rate * days))
        wait = (-at) % (1 / visits)
        worth += life * at.size
        had += life * float(np.sum(0.5 ** (wait / life)))

    assert had / worth == pytest.approx(plan.value, abs=0.01)


def test_refusals() -> None:
    """What cannot be is said."""
    with pytest.raises(InvalidModel, match="half_lives of page 1 must be finite and > 0: 0"):
        fading_pages([1.0, 1.0], [1.0, 0.0])
    with pytest.raises(InvalidModel, match="item_rates must be a vector"):
        fading_pages([-1.0], 1.0)
    with pytest.raises(InvalidModel, match="spacing must be 'even' or 'random'"):
        solve_fading(fading_pages([1.0], 1.0), 1.0, spacing="odd")
