"""A page that is gone is looked at again when that is worth a visit."""

from math import exp, inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.crawler.control.worth.returns import Returns

DAY = 86_400.0


@given(
    returned=st.floats(0, 1e3),
    away_s=st.floats(0, 1e12),
    weight=st.floats(1e-3, 1e3),
    price=st.floats(1.0, 1e12),
)
def test_the_interval_is_when_the_worth_reaches_the_price(
    returned: float, away_s: float, weight: float, price: float
) -> None:
    """By the formula itself; infinite where no age is worth it."""
    known = Returns(returned, away_s, price)
    rate, interval_s = known.rate_per_s, known.interval_s(weight)

    if interval_s == inf:
        assert weight / rate <= price
    elif rate * interval_s > 1e-3:  # below, the plain formula loses its digits
        x = rate * interval_s
        assert weight / rate * (1 - (1 + x) * exp(-x)) == pytest.approx(price, rel=1e-5)


def test_where_pages_come_back_more_are_looked_for() -> None:
    """And heavier pages sooner."""
    seldom, often = Returns(0.0, 3e9, 1e4), Returns(50.0, 3e9, 1e4)

    assert often.interval_s(1.0) < seldom.interval_s(1.0)
    assert often.interval_s(9.0) < often.interval_s(1.0)


def test_before_anything_is_known_half_a_return_in_half_a_year_is_expected() -> None:
    """And counts as half a return that was seen."""
    assert Returns().rate_per_s == 0.5 / (180 * DAY)
    assert Returns(1.5, 180 * DAY).rate_per_s == 2.0 / (360 * DAY)


@pytest.mark.parametrize(("is_worth_it", "share"), [(True, 0.999), (False, 1.0), (False, 1.5)])
def test_no_age_is_worth_more_than_all_the_time_that_a_page_is_there(
    is_worth_it: bool, share: float
) -> None:
    """A page of weight w that comes back at a rate r brings less than w / r."""
    interval_s = Returns(price=share * 8.0 * 360 * DAY).interval_s(8.0)

    assert (interval_s < inf) is is_worth_it


def test_without_a_plan_there_is_no_price_to_reach() -> None:
    """Then the longest interval holds, as for whatever is worth nothing."""
    assert Returns().interval_s(1.0) == inf
