"""Which page is visited ahead of its time, and of which host more pages are leased first."""

from collections.abc import Sequence
from math import inf

import pytest

from recrawl.crawler.control.dispatching.ahead import AheadOrder, HostAhead
from recrawl.crawler.control.worth.tiers import tier_of, worth_share
from recrawl.terms import Lease

NOW_S = 1_800_000_000.0


def page(number: int, age_s: float, interval_s: float) -> Lease:
    """Return a page of that age, which is due at that age."""
    visited_s = NOW_S - age_s
    return Lease(
        number, f"http://a.test/{number}", 1, 1, visited_s + interval_s,
        last_visit_s=visited_s, tier=tier_of(interval_s),
    )  # fmt: skip


def order(ready_s: Sequence[float], stocks: Sequence[list[Lease]] = ()) -> AheadOrder:
    """Return an order of hosts 0, 1, ... that may be asked from these instants on."""
    empty: list[list[Lease]] = [[] for _ in ready_s]
    aheads = [HostAhead(stock, until_s=NOW_S + 60.0) for stock in [*stocks, *empty[len(stocks) :]]]
    made = AheadOrder(aheads.__getitem__, lambda host_id, now_s: None, lambda host_id: 0)
    for host_id, at_s in enumerate(ready_s):
        made.rest(host_id, at_s)
    return made


def test_what_is_due_by_now_is_taken_earliest_first() -> None:
    pages = [page(n, 100.0, 100.0 + later_s) for n, later_s in enumerate([5.0, 0.0, -3.0, 9.0])]
    ahead = HostAhead(list(pages))

    assert ahead.due_s == NOW_S - 3.0
    assert ahead.take_due(NOW_S) == [pages[2], pages[1]]
    assert ahead.stock == [pages[0], pages[3]]
    assert ahead.take_due(NOW_S) == []
    assert (ahead.due_s, HostAhead().due_s) == (NOW_S + 5.0, inf)


def test_hosts_are_asked_for_pages_in_the_order_in_which_they_became_ready() -> None:
    """None before its time."""
    made = order([NOW_S + 9.0, NOW_S, NOW_S - 5.0, NOW_S - 7.0])

    found = [made.to_refill(NOW_S, is_free=True) for _ in range(4)]

    assert found == [3, 2, 1, None]
    assert made.next_s() == NOW_S + 9.0
    assert made.to_refill(NOW_S + 9.0, is_free=True) == 0
    assert made.next_s() == inf


@pytest.mark.parametrize(
    ("is_free", "has_best", "found"),
    [(True, True, [0, 1, 2]), (False, True, [0, None, 1]), (False, False, [0, 1, 2])],
)
def test_every_other_request_that_can_be_made_is_for_a_page(
    found: list[int | None], *, is_free: bool, has_best: bool
) -> None:
    """Else, and where no page is at hand, pages are leased."""
    ready_s = [NOW_S - 9.0, NOW_S - 8.0, NOW_S - 7.0] + [NOW_S] * has_best
    made = order(ready_s, [[], [], [], [page(1, 1.0, 9.0)]][: len(ready_s)])

    assert [made.to_refill(NOW_S, is_free=is_free) for _ in range(3)] == found


def test_the_page_whose_visit_is_worth_most_is_taken_first() -> None:
    """However long intervals are: by the share of what a visit is worth when it is due."""
    pages = [page(0, 900.0, 1_000.0), page(1, 10.0, 50.0), page(2, 5e4, 6e4), page(3, 1.0, 8e5)]
    made = order([NOW_S] * 4, [[page(9, 1.0, 1_000.0), pages[0]], *([one] for one in pages[1:])])

    assert made.to_refill(NOW_S, is_free=True) is None
    taken = [made.take(NOW_S) for _ in range(5)]

    by_worth = sorted(range(4), key=lambda number: -worth_share(pages[number], NOW_S))
    assert taken == [*by_worth, None]


@pytest.mark.parametrize(("later_s", "lapsed"), [(59.0, False), (60.0, True)])
def test_what_is_leased_counts_until_it_lapses(*, later_s: float, lapsed: bool) -> None:
    made = order([NOW_S + later_s], [[page(1, 1.0, 1_000.0)]])

    assert made.to_refill(NOW_S + later_s, is_free=True) == (0 if lapsed else None)
    assert made.take(NOW_S + later_s) == (None if lapsed else 0)
