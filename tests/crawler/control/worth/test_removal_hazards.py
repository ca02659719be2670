"""How often pages go, and how soon a visit is worth what it may find gone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.crawler.control.worth.births import visit_gains
from recrawl.crawler.control.worth.removal_hazards import (
    at_risk,
    removal_hazards,
    removal_intervals,
)

DAY_S = 86_400.0


def hazards(
    kinds: list[int], days: list[float], gone: list[int], gone_days: list[float]
) -> np.ndarray:
    """Of pages and those that went, by kinds, of which a hundred are of a host."""

    def groups(of: list[int]) -> np.ndarray:
        return np.array([np.array(of, np.int64) // 100, of], np.int64).reshape(2, -1)

    there, went = np.array(days) * DAY_S, np.array(gone_days) * DAY_S
    return removal_hazards(groups(kinds), there, groups(gone), went) * DAY_S


def test_a_kind_of_which_much_is_known_has_its_own_rate() -> None:
    """Five hundred went in ten thousand days, and of the other none in ten thousand."""
    kinds, days = [0] * 100 + [1] * 100, [50.0] * 100 + [100.0] * 100
    told = hazards(kinds, days, [0] * 500, [10.0] * 500)

    assert told[:100] == pytest.approx(0.05, rel=0.01)
    assert np.all(told[100:] < 0.0002)


def test_a_kind_of_which_nothing_is_known_goes_by_its_host_and_a_host_by_all() -> None:
    kinds = [0] * 50 + [1, 100]
    told = hazards(kinds, [100.0] * 50 + [0.0, 0.0], [0] * 250, [0.0] * 250)

    assert told[50] == pytest.approx(0.05, rel=0.01)
    assert told[51] == pytest.approx(250.5 / 5_730.0, rel=1e-9)
    assert hazards([0], [0.0], [], []) == pytest.approx(0.5 / 730.0)


def ages_of(
    alone: np.ndarray, price: np.ndarray, w: np.ndarray, r: np.ndarray, h: np.ndarray, least: float
) -> np.ndarray:
    """Return at which ages pages are due, those at risk and the others."""
    ages, rows = alone.copy(), at_risk(alone, price, w, h)
    ages[rows] = removal_intervals(alone[rows], price[rows], w[rows], r[rows], h[rows], least)
    return ages


@given(st.floats(1e-3, 10.0), st.floats(1e-6, 1e-1), st.floats(1e-6, 1e-1), st.floats(1e-2, 1e4))
def test_an_age_with_removals_is_that_at_which_both_are_worth_the_price(
    weight: float, rate: float, hazard: float, alone: float
) -> None:
    """Changes by the square of the age, which is what they are worth while they are few."""
    before, w, r, h = (np.array([one]) for one in (alone, weight, rate, hazard))
    price = w * visit_gains(r * before) / r

    age = ages_of(before, price, w, r, h, 1e-9)

    assert 0.0 < age[0] <= alone
    if 0.5 * w * h * before**2 > 0.2 * price:
        lost = w * visit_gains(h * age) / h
        assert price * (age / before) ** 2 + lost == pytest.approx(price, rel=1e-6)
    else:
        assert age == alone
    if rate * alone < 1e-2 and hazard * alone < 1e-2 and age < alone:  # as at the sum of the rates
        exact = w * visit_gains((r + h) * age) / (r + h)
        assert exact == pytest.approx(price, rel=0.02)


def test_a_page_at_the_longest_age_is_visited_sooner_only_where_that_is_worth_it() -> None:
    """There a visit for changes alone is worth less than the price."""
    alone, w, r = np.full(4, 100.0), np.ones(4), np.full(4, 1e-9)
    h = np.array([0.0, 1e-5, 0.05, 0.0021])

    told = ages_of(alone, np.full(4, 10.0), w, r, h, 1.0)

    assert told[:2].tolist() == [100.0, 100.0]
    assert visit_gains(h[2:] * told[2:]) / h[2:] == pytest.approx([10.0, 9.14], rel=1e-3)
    assert told[3] == 100.0  # a little is not worth the price, however long it is waited for
    assert ages_of(alone, np.full(4, 1.0), w, r, h, 60.0)[2] == pytest.approx(60.0)
