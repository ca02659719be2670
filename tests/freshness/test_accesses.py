"""How accesses are shared out: the conditions that the best shares fulfil, at light and high load.

Pages of about one worth, whose decays add up to so much that a share leaves one of about as many
changes between two accesses: beyond ten the price is the greatest worth to three digits and more.
"""

import numpy as np
import pytest

from recrawl.freshness.drawn_accesses import draw_accesses
from recrawl.freshness.even_accesses import share_accesses, tied


@pytest.mark.parametrize("load", [0.5, 4.0, 8.0, 9.0, 10.0, 12.0, 16.0])
def test_even_accesses_are_all_worth_the_price(load: float) -> None:
    """One more of a page brings a (1 - exp(-z) (1 + z)), where z is its decay over its share."""
    worths = 1.0 - 0.2 * np.exp(-load) * np.array([0.0, 1.0, 2.0, 3.0])
    decays = load * np.array([0.4, 0.3, 0.2, 0.1])

    shares, price = share_accesses(worths, decays)

    gaps = decays / shares
    assert shares.sum() == pytest.approx(1.0)
    left = worths * np.exp(-gaps) * (1.0 + gaps)  # what stays to be won, of the little there is
    assert left == pytest.approx(worths - price, rel=1e-6)


def test_a_page_that_is_worth_less_than_the_price_gets_no_access() -> None:
    """The others get all, and pay the price."""
    shares, price = share_accesses(np.array([1.0, 1.0, 0.5]), np.array([6.0, 6.0, 1.0]))

    assert shares == pytest.approx([0.5, 0.5, 0.0])
    assert 0.5 < price < 1.0
    assert 1.0 - price == pytest.approx(np.exp(-12.0) * 13.0, rel=1e-6)


@pytest.mark.parametrize("load", [100.0, 1_000.0, 1e6])
def test_at_any_load_pages_of_one_worth_share_by_their_decays(load: float) -> None:
    """And one that is worth a little less gets no access."""
    shares, price = share_accesses(np.array([1.0, 1.0, 0.99]), load * np.array([1.0, 3.0, 1.0]))

    assert shares == pytest.approx([0.25, 0.75, 0.0])
    assert price == 1.0


@pytest.mark.parametrize("load", [0.1, 1.0, 10.0, 30.0])
def test_drawn_accesses_are_shares_of_the_odds(load: float) -> None:
    """Each of (sqrt(a / p) - 1) (1 / h - 1), or none where the price is above what it is worth."""
    worths = np.array([1.0, 0.9, 0.7, 0.2])
    decays = load * np.array([0.4, 0.3, 0.2, 0.1])

    shares, price = draw_accesses(worths, decays)

    expected = np.maximum(np.sqrt(worths / price) - 1.0, 0.0) * np.expm1(decays)
    assert shares.sum() == pytest.approx(1.0)
    assert shares == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_all_accesses_are_of_what_is_worth_most_where_odds_are_beyond_all_numbers() -> None:
    shares, price = draw_accesses(np.array([1.0, 4.0]), np.array([1.0, 2_000.0]))

    assert shares.tolist() == [0.0, 1.0]
    assert price == pytest.approx(4.0)


def test_worths_that_differ_by_rounding_are_one() -> None:
    """The greatest of them; others stay as they are."""
    near = np.nextafter(0.3, 0.0)

    assert tied(np.array([near, 0.3, 0.2999, 1.0])).tolist() == [0.3, 0.3, 0.2999, 1.0]
