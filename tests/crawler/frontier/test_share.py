"""How new pages and pages to revisit share a refill."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.crawler.frontier.share import interleave, most_worth, split


@pytest.mark.parametrize(
    ("expected", "n_new", "n_old", "limit", "share"),
    [
        ((5, 5), 99, 99, 10, 0.5),
        ((2, 8), 99, 99, 10, 0.2),
        ((10, 0), 99, 99, 10, 1.0),
        ((0, 10), 99, 99, 10, 0.0),
        ((10, 0), 99, 0, 10, 0.0),
        ((0, 10), 0, 99, 10, 1.0),
        ((8, 2), 99, 2, 10, 0.5),
        ((2, 8), 2, 99, 10, 0.5),
        ((1, 0), 9, 9, 1, 0.5),
        ((0, 1), 9, 9, 1, 0.4),
        ((0, 0), 0, 0, 10, 0.5),
    ],
)
def test_the_share_holds_while_both_wait(
    expected: tuple[int, int], n_new: int, n_old: int, limit: int, share: float
) -> None:
    """And where one side has too few, the other takes all places."""
    assert split(n_new, n_old, limit, share) == expected


@given(st.integers(0, 99), st.integers(0, 99), st.integers(1, 70), st.floats(0, 1))
def test_no_place_is_wasted(n_new: int, n_old: int, limit: int, share: float) -> None:
    """As many as there are, at most as many as asked for."""
    new, old = split(n_new, n_old, limit, share)

    assert new + old == min(limit, n_new + n_old)
    assert 0 <= new <= n_new
    assert 0 <= old <= n_old


@given(st.integers(0, 40), st.integers(0, 40))
def test_both_are_spread_evenly_and_in_order(n: int, m: int) -> None:
    """After any number of places, each side has had its part, give or take one."""
    mixed = interleave([("a", k) for k in range(n)], [("b", k) for k in range(m)])

    assert [k for side, k in mixed if side == "a"] == list(range(n))
    assert [k for side, k in mixed if side == "b"] == list(range(m))
    for places in range(len(mixed) + 1):
        had = sum(side == "a" for side, _ in mixed[:places])
        assert abs(had - places * n / max(n + m, 1)) <= 1.0


def test_what_is_due_competes_by_worth_while_something_new_waits() -> None:
    """Whatever was due before it; by itself it keeps its order."""
    new, old = [(2.0, "new"), (1.0, "newer")], [(0.5, "first due"), (3.0, "front page")]

    assert most_worth(new, old, [], 3) == ["front page", "new", "newer"]
    assert most_worth([], old, [], 2) == ["first due", "front page"]
    assert most_worth(new, [], [], 1) == ["new"]


def test_a_listing_comes_before_the_first_that_is_worth_less() -> None:
    old, listings = [(2.0, "first due"), (0.5, "next")], [(1.0, "feed"), (3.0, "sitemap")]

    assert most_worth([], old, listings, 4) == ["sitemap", "first due", "feed", "next"]
    assert most_worth([], old, listings[:1], 2) == ["first due", "feed"]
    assert most_worth([], [], listings, 3) == ["sitemap", "feed"]
    assert most_worth([(2.5, "new")], old, listings, 2) == ["sitemap", "new"]
