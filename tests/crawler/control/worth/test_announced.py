"""What a look at a listing is worth for the changes that it announces."""

from collections.abc import Mapping
from dataclasses import replace
from math import exp, sqrt

import numpy as np
import pytest
from numpy.typing import NDArray

from recrawl.crawler.control.evidence import PlannedPages
from recrawl.crawler.control.worth.announced import (
    UNPROVED,
    WORTHLESS,
    announced_changes,
    heard_until,
    unannounced,
)
from recrawl.crawler.control.worth.births import NewPages
from recrawl.crawler.control.worth.one_price import OnePrice
from recrawl.crawler.control.worth.order import root_urgency
from recrawl.crawler.control.worth.tiers import FIRST_BY_WORTH, TIMED
from recrawl.terms import Announcer, Birth, Kind, Lease, PageState

DAY_S = 86_400.0
Vector = NDArray[np.float64]


def pages(hosts: list[int], *, dated: bool = True, rates: float = 1.0 / DAY_S) -> PlannedPages:
    n = len(hosts)

    def every(value: float) -> Vector:
        return np.full(n, value)

    return PlannedPages(
        np.arange(n),
        np.array(hosts),
        weights=every(2.0),
        change_rates_per_s=every(rates),
        change_rate_factors=every(1.5),
        crawl_rates_per_s=every(0.25 / DAY_S),
        last_visit_s=every(0.0),
        due_s=every(1.0),
        lastmod_s=every(5.0 if dated else np.nan),
    )


def test_copies_are_of_their_visits_where_no_cache_says_otherwise() -> None:
    for hosts in ([], [1], [1, 2]):
        told = replace(pages(hosts), last_visit_s=np.full(len(hosts), 7.0), seen_s=np.zeros(0))
        assert told.seen_s.tolist() == [7.0] * len(hosts)
    by_default = pages([1])
    assert by_default.seen_s is by_default.last_visit_s


def listings(host: int, number: int) -> list[Birth]:
    return [Birth(100 + n, host, Kind.SITEMAP, 0.0, DAY_S) for n in range(number)]


def told_of(
    planned: PlannedPages,
    trust: Vector,
    births: list[Birth],
    *,
    price: float = 0.0,
    recall: float = 1.0,
) -> Mapping[int, NewPages]:
    recalls = np.full(len(trust), recall)
    return announced_changes(planned, trust, recalls, births, 3.0 / DAY_S, price)


def test_what_a_host_announces_is_worth_what_its_pages_are_beyond_their_visits() -> None:
    """Ten pages of weight 2 that change daily and are visited every fourth day; two sitemaps.

    Half of the changes are announced, and half of what is announced is true: one announcement a
    day, of which the first ends a copy, or the fourth day does.
    """
    trust, two = np.full(10, 0.5), listings(1, 2)
    kept, fresh = 1.0 - exp(-4.0), (1.0 - exp(-1.5 * 4.0)) / 1.5
    for price in (0.0, 0.5):
        told = told_of(pages([1] * 10), trust, two, price=price * DAY_S, recall=0.5)
        worth = (2.0 * fresh - price) / kept

        assert sorted(told) == [100, 101]
        for one in told.values():
            assert one.flow_per_s == pytest.approx(10 * 0.5 * worth / 2 / DAY_S)
            assert one.lead_s == pytest.approx(1.0 / (0.5 + 2.0 / 4.0) * DAY_S)
            assert one.shared == 1.0


def test_what_a_listing_announces_is_of_the_pages_that_were_found_in_it() -> None:
    """Those found elsewhere count for all of their host alike; two listings of it, one of another.

    A listing of which all pages are visited for no change is worth nothing.
    """
    births, hosts = [*listings(1, 2), Birth(102, 2, Kind.SITEMAP, 0.0, DAY_S)], [1, 1, 1, 1, 2]
    planned = replace(pages(hosts), found_on=np.array([101.0, 101.0, 7.0, 0.0, 102.0]))
    (one,) = told_of(pages([1]), np.ones(1), listings(1, 1)).values()

    told = told_of(planned, np.ones(5), births)
    calm = replace(planned, crawl_rates_per_s=np.array([0.25, 0.25, 0.25, 0.25, 0.0]) / DAY_S)

    flows = {page: each.flow_per_s / one.flow_per_s for page, each in told.items()}
    assert flows == pytest.approx({100: 1.0, 101: 3.0, 102: 1.0})
    assert told_of(calm, np.ones(5), births)[102] is WORTHLESS


def test_a_look_at_what_announces_true_changes_is_worth_what_following_them_is() -> None:
    """Of pages that nothing but announcements has visited: weight over rate, less the price.

    A page that changes sooner than a visit is paid back adds nothing.
    """
    seldom = 1e-3 / DAY_S
    planned = replace(
        pages([1, 1]),
        crawl_rates_per_s=np.full(2, seldom),
        change_rates_per_s=np.array([0.5, 4.0]) / DAY_S,
    )
    (told,) = told_of(planned, np.ones(2), listings(1, 1), price=1.0 * DAY_S).values()

    assert told.flow_per_s * told.lead_s**2 == pytest.approx((2.0 / 0.5 - 1.0) * DAY_S, rel=0.01)


def test_dates_that_lie_or_are_not_there_announce_nothing() -> None:
    """Both is said, and where it is not known; what nothing is known of has the prior's rate."""
    trust = np.array([0.0, np.nan, 0.9, 0.9])
    hosts = [1, 2, 3, 3]
    births = [Birth(10 * host, host, Kind.SITEMAP, 0.0, DAY_S) for host in (1, 2, 3)]
    told = told_of(pages(hosts), trust, births)
    bare = told_of(pages(hosts, dated=False), trust, births)
    unknown = told_of(pages(hosts, rates=np.nan), trust, births)
    known = told_of(pages(hosts, rates=3.0 / DAY_S), trust, births)

    assert sorted(told) == [10, 20, 30]
    assert told[10] is WORTHLESS
    assert told[20] is UNPROVED
    assert bare == {}
    assert unknown[30] == known[30] != told[30]


def test_of_pages_that_no_plan_visits_a_look_is_worth_nothing() -> None:
    """Before the first plan nobody knows."""
    unplanned = replace(pages([1, 1]), crawl_rates_per_s=np.zeros(2))
    unknown = replace(unplanned, crawl_rates_per_s=np.full(2, np.nan))

    assert told_of(unplanned, np.ones(2), listings(1, 1)) == {100: WORTHLESS}
    assert told_of(unknown, np.ones(2), listings(1, 1)) == {}


def test_pages_without_a_plan_wait_in_no_listing() -> None:
    """Nobody knows how long they would wait otherwise; a lead is a second at the least."""
    known, trust = pages([1, 1, 1]), np.full(3, 0.5)
    crawl_rates = np.array([0.25 / DAY_S, np.nan, 0.0])
    one = listings(1, 1)
    (told,) = told_of(replace(known, crawl_rates_per_s=crawl_rates), trust, one).values()
    (alone,) = told_of(pages([1]), trust[:1], one).values()
    (hasty,) = told_of(replace(known, crawl_rates_per_s=np.full(3, 5.0)), trust, one).values()

    assert told == alone
    assert hasty.lead_s == 1.0


def price(told: NewPages | None, new: NewPages | None = None) -> OnePrice:
    made = OnePrice(DAY_S)
    made.observe_plan(4.0 * DAY_S, DAY_S)
    made.announced = {} if told is None else {7: told}
    made.new_pages = {} if new is None else {7: new}
    return made


def read(made: OnePrice, quiet: int = 0) -> float:
    """When the listing is worth reading again."""
    found = made.listing_interval(7, DAY_S, 60.0 * DAY_S, quiet=quiet)
    assert found is not None
    return found


def test_a_listing_is_read_when_what_waits_in_it_is_worth_a_visit() -> None:
    """Soon after each other as for births; half as much for each time that it told nothing."""
    flow = NewPages(20.0 / DAY_S, shared=1.0, lead_s=100.0 * DAY_S)
    made = price(flow)

    assert read(made) == pytest.approx(sqrt(2.0 * 4.0 / 20.0) * DAY_S, rel=0.01)
    assert read(made, quiet=2) == pytest.approx(2.0 * read(made), rel=0.01)
    both = price(flow, NewPages(20.0 / DAY_S))
    assert read(both) == pytest.approx(read(made) / sqrt(2.0), rel=0.01)


def test_a_listing_competes_by_what_waits_in_it() -> None:
    """With its age it is worth more, as a share of the price."""
    made = price(NewPages(20.0 / DAY_S, shared=1.0, lead_s=100.0 * DAY_S))
    due_s = 1e6 + read(made)
    listing = Lease(7, "/sitemap", 1, 1, due_s, kind=Kind.SITEMAP, state=PageState.INDEXED)
    listing = replace(listing, last_visit_s=1e6, tier=TIMED)
    page = replace(listing, kind=Kind.PAGE)

    assert made.share(listing, due_s) == pytest.approx(1.0, rel=0.01)
    later_s = 1e6 + 3.0 * read(made)
    assert made.share(listing, later_s) == pytest.approx(9.0, rel=0.05)
    assert made.share(page, due_s) == 1.0


def test_a_stale_page_is_worth_what_its_lateness_says() -> None:
    """Its due time says so where it is due before its interval ends."""
    made = price(None)
    page = Lease(8, "/told", 1, 1, 10.0 * DAY_S, state=PageState.INDEXED, tier=FIRST_BY_WORTH)
    page = replace(page, last_visit_s=12.0 * DAY_S, change_rate_per_s=0.1 / DAY_S)
    told = replace(page, crawl_rate_per_s=1.0 / (30.0 * DAY_S))
    root = root_urgency(told)

    assert root is not None
    share = made.share(told, 15.0 * DAY_S)
    assert share == pytest.approx((1.0 + 5.0 * DAY_S * root / sqrt(2.0 * 4.0 * DAY_S)) ** 2)


def test_dates_are_read_at_the_usual_interval_until_they_have_proved_themselves() -> None:
    """What brings new pages seldom would else be read too seldom to show that it tells more."""
    rare = NewPages(0.01 / DAY_S)
    assert read(price(None, rare)) > 20.0 * DAY_S
    assert read(price(UNPROVED, rare)) == DAY_S
    for nothing in (UNPROVED, WORTHLESS):
        assert price(nothing).listing_interval(7, DAY_S, 60.0 * DAY_S) is None
    assert read(price(WORTHLESS, rare)) == read(price(None, rare))


def test_what_a_host_announces_is_known_until_its_listings_were_read() -> None:
    """On average where there are several; nothing of hosts without, or whose were never read."""
    read = [
        Birth(100, 1, Kind.SITEMAP, 0.0, DAY_S, last_visit_s=40.0),
        Birth(101, 1, Kind.FEED, 0.0, DAY_S, last_visit_s=60.0),
        Birth(102, 2, Kind.SITEMAP, 0.0, DAY_S),
        Birth(103, 3, Kind.PAGE, 0.0, DAY_S, last_visit_s=70.0),
        Birth(104, 9, Kind.SITEMAP, 0.0, DAY_S, last_visit_s=80.0),
    ]

    until_s = heard_until(pages([2, 1, 3, 1]), read)

    assert until_s[[1, 3]].tolist() == [50.0, 50.0]
    assert np.isnan(until_s[[0, 2]]).all()


def test_copies_are_as_old_as_what_nobody_would_have_told() -> None:
    """Half of the changes are announced, which was heard until a fifth of the time ago."""
    last_s, told = np.array([0.0, 0.0, 90.0, np.nan]), {1: Announcer(0.5, 0.9, heard_s=80.0)}
    known = replace(pages([1, 2, 1, 1]), last_visit_s=last_s, lastmod_s=np.full(4, np.nan))

    plain, kept = unannounced(known, told, last_s, 100.0)
    listed = replace(known, lastmod_s=np.array([0.0, 0.0, 0.0, 50.0]))
    ages_s, _ = unannounced(listed, told, last_s, 100.0)
    waiting = replace(known, lastmod_s=np.array([50.0, 50.0, 50.0, 50.0]))
    _, doubted = unannounced(waiting, told, last_s, 100.0)
    _, before = unannounced(waiting, told, last_s, 49.0)
    _, older = unannounced(waiting, told, np.full(4, -10.0), 100.0)

    assert plain[:3].tolist() == [100.0, 100.0, 10.0]
    assert kept.tolist() == [1.0] * 4
    assert ages_s[:3].tolist() == [60.0, 100.0, 10.0]
    assert doubted.tolist() == pytest.approx([0.1, 1.0, 1.0, 1.0])
    assert before.tolist() == older.tolist() == [1.0] * 4


def test_a_change_that_a_cache_hid_is_looked_for_ever_less_often() -> None:
    """Announced at 50, visited at 60 with an answer of 40: until 70, then as of the next visit."""
    ones = np.ones(3)
    known = PlannedPages(
        np.arange(3),
        np.ones(3, np.int64),
        ones,
        ones,
        ones,
        ones,
        last_visit_s=np.array([60.0, 60.0, 45.0]),
        due_s=ones,
        lastmod_s=np.array([50.0, np.nan, 50.0]),
        seen_s=np.array([40.0, 40.0, 45.0]),
    )

    assert known.told(69.0).tolist() == [False, False, True]
    assert known.told(70.0).tolist() == [True, False, True]
    later = replace(known, last_visit_s=np.full(3, 70.0), seen_s=np.array([40.0, 40.0, 70.0]))
    assert later.told(89.0).tolist() == [False] * 3
    assert later.told(90.0).tolist() == [True, False, False]
