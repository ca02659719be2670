"""Dates that an index gives its sitemaps: what they prove, and what readings are worth by them."""

from dataclasses import replace
from math import exp

import numpy as np
import pytest

from recrawl.crawler.control.worth.births import NewPages, birth_loss, birth_worth
from recrawl.crawler.control.worth.index_dates import (
    Dated,
    IndexDates,
    index_cost,
    index_flows,
    worth_following,
)
from recrawl.crawler.control.worth.one_price import OnePrice
from recrawl.terms import Birth, Kind

HOUR_S, DAY_S = 3_600.0, 86_400.0
INDEX, ONE, OTHER = 1, 2, 3
URLS = {ONE: "http://a.test/1.xml", OTHER: "http://a.test/2.xml"}


class Told:
    """An index of two sitemaps that is read each hour, and they after it."""

    def __init__(self) -> None:
        self.dates, self.now_s, self.said = IndexDates(), 0.0, dict.fromkeys(URLS.values(), 1.0)

    def read(self, **said: float) -> None:
        self.now_s += HOUR_S
        self.said |= {URLS[{"one": ONE, "other": OTHER}[name]]: at for name, at in said.items()}
        self.dates.read(INDEX, self.now_s, self.said.items())

    def visit(self, page: int, changed: bool | None) -> None:
        self.dates.visit(URLS[page], page, changed, HOUR_S)

    def of(self, page: int) -> Dated:
        found = self.dates.of(page, self.now_s)
        assert found is not None
        return found


def started() -> Told:
    made = Told()
    made.read()
    for page in URLS:
        made.visit(page, None)
    return made


def test_another_date_than_when_it_was_read_says_that_a_sitemap_waits() -> None:
    """Earlier dates are others, too: no clock is asked."""
    made = started()
    assert not made.of(ONE).waits

    made.read(one=0.5)

    assert made.of(ONE).waits
    assert not made.of(OTHER).waits
    made.visit(ONE, True)
    assert not made.of(ONE).waits


def test_dates_are_relied_on_as_far_as_changes_were_told() -> None:
    """A change is told if the next reading of the index has another date than the one before."""
    truthful, silent = started(), started()
    for hour in range(20):
        truthful.read(one=2.0 + hour)
        silent.read()
        for made in (truthful, silent):
            made.visit(ONE, True)
    for made in (truthful, silent):
        made.read()

    assert truthful.of(OTHER).recall == pytest.approx(20.5 / 21.5)
    assert silent.of(OTHER).recall == pytest.approx(0.5 / 21.5)
    assert truthful.of(ONE).false == 0.5, "no visit has found no change"


def test_dates_that_are_always_others_prove_false() -> None:
    """By visits that find no change; those that the index did not ask for count, too."""
    cries, knows = started(), started()
    for hour in range(10):
        cries.read(one=2.0 + hour)
        knows.read()
        for made in (cries, knows):
            made.visit(ONE, False)

    assert cries.of(ONE).false == pytest.approx(10.5 / 11.0)
    assert knows.of(ONE).false == pytest.approx(0.5 / 11.0)


def test_counts_fade_and_are_kept_with_the_page_of_the_index() -> None:
    made = started()
    for hour in range(300):
        made.read(one=2.0 + hour)
        made.visit(ONE, True)
        made.visit(OTHER, False)
    kept = made.dates.memory(INDEX)
    again = IndexDates()
    again.read(INDEX, 0.0, made.said.items(), kept)
    again.visit(URLS[ONE], ONE, None, 0.0)
    fresh = IndexDates()
    fresh.read(INDEX, 0.0, made.said.items(), b"another")

    assert len(kept) == 4
    assert max(kept) <= 200
    found = again.of(ONE, 1.0)
    assert found is not None
    assert found.recall == made.of(ONE).recall
    assert fresh.memory(INDEX) == bytes(4)
    assert made.dates.memory(ONE) == b""


def test_an_index_that_is_not_read_or_gives_no_dates_tells_nothing() -> None:
    """Two intervals after it was read, and at once when the dates are gone."""
    made = started()
    made.dates.plan(INDEX, HOUR_S)
    made.dates.plan(ONE, 1.0)
    assert made.dates.of(ONE, made.now_s + 2.0 * HOUR_S) is not None
    assert made.dates.of(ONE, made.now_s + 2.1 * HOUR_S) is None
    assert made.dates.of(99, made.now_s) is None
    assert set(made.dates.parts(INDEX, made.now_s)) == {ONE, OTHER}

    made.dates.read(INDEX, made.now_s, [(url, None) for url in URLS.values()])
    made.dates.read_unchanged(INDEX, made.now_s)

    assert made.dates.parts(INDEX, made.now_s) == {}


def test_a_sitemap_that_is_quiet_is_known_until_its_index_was_read() -> None:
    """Where the index tells of nearly all changes; one that waits, until it was read itself."""
    made = started()
    births = [
        Birth(page, 1, kind, 0.0, DAY_S, last_visit_s=5.0)
        for page, kind in ((ONE, Kind.SITEMAP), (OTHER, Kind.SITEMAP), (9, Kind.PAGE))
    ]
    assert made.dates.heard(births, made.now_s) == births, "nothing is proved"
    for hour in range(9):
        made.read(one=2.0 + hour)
        made.visit(ONE, True)
    made.read(one=50.0)
    made.dates.read_unchanged(INDEX, made.now_s + 10.0)

    heard = made.dates.heard(births, made.now_s)

    assert [one.last_visit_s for one in heard] == [5.0, made.now_s + 10.0, 5.0]


@pytest.mark.parametrize("rate", [1e-7, 1e-4])
def test_a_reading_that_was_told_of_is_worth_what_it_is_where_there_is_a_change(
    rate: float,
) -> None:
    """A chance of one change in many hours makes it cheap; false dates, and hot ones, do not."""
    sure = Dated(recall=1.0, false=0.0, rate_per_s=rate, waits=True)
    chance = 1.0 - exp(-rate * HOUR_S)

    assert sure.price_share(HOUR_S) == pytest.approx(chance)
    assert replace(sure, false=1.0).price_share(HOUR_S) == 1.0
    half = replace(sure, false=0.25, recall=0.5).price_share(HOUR_S)
    assert half == pytest.approx(chance + 0.5 * (1.0 - chance))


def test_readings_follow_what_the_index_tells() -> None:
    """A sitemap is read at once when it waits, seldom while it does not; the index for both."""
    price = OnePrice(DAY_S)
    price.price = 1e6
    price.new_pages = {page: NewPages(1e-4) for page in (ONE, OTHER)}
    calm = Dated(recall=0.99, false=0.01, rate_per_s=0.01 / DAY_S)

    def interval_s(page: int, **told: object) -> float:
        found = price.listing_interval(page, DAY_S, 90.0 * DAY_S, **told)  # type: ignore[arg-type]
        assert found is not None
        return found

    alone_s, quiet_s = interval_s(ONE), interval_s(ONE, dated=calm)
    told_s = interval_s(ONE, dated=replace(calm, waits=True))
    parts = [(calm, price.listed(page)) for page in (ONE, OTHER)]
    index_s = interval_s(INDEX, parts=parts)
    hot = replace(calm, rate_per_s=1.0)

    assert quiet_s == pytest.approx(alone_s * 0.01**-0.5, rel=1e-3)
    assert told_s < 0.2 * alone_s
    worth = birth_worth(price.new_pages[ONE], told_s)
    assert worth == pytest.approx(1e6 * calm.price_share(told_s), rel=1e-2)
    (flow,) = index_flows(parts)
    assert birth_worth(flow, index_s) == pytest.approx(1e6, rel=1e-2)
    assert flow.flow_per_s == pytest.approx(2e-4 * 0.99**2)
    dearer_s = interval_s(INDEX, parts=[(hot, brought) for _, brought in parts])
    assert dearer_s == pytest.approx(3.0**0.5 * index_s, rel=1e-2), "each reading brings two more"
    assert index_cost([calm, hot], 0.0) == 1.0
    assert price.listing_interval(INDEX, DAY_S, 90.0 * DAY_S) is None


def test_flows_of_an_index_are_those_of_its_sitemaps() -> None:
    """What others find too, and how much later, on average by flow."""
    sure = Dated(recall=1.0, false=0.0, rate_per_s=1.0)
    brought = [NewPages(3.0, shared=1.0, lead_s=10.0)], [NewPages(1.0, shared=0.2, lead_s=50.0)]

    (flow,) = index_flows((sure, each) for each in brought)

    assert (flow.flow_per_s, flow.shared, flow.lead_s) == pytest.approx((4.0, 0.8, 20.0))
    assert index_flows([]) == index_flows([(sure, [NewPages(0.0)])]) == []


def test_a_sitemap_is_read_as_its_index_tells_where_that_costs_less() -> None:
    """Not one that changes between any two readings, which costs the index beside it.

    Nor any where what is saved does not pay the index: one alone that has changed at each reading.
    """
    price, longest_s = 1e4, 90.0 * DAY_S
    calm = Dated(recall=0.99, false=0.01, rate_per_s=0.1 / DAY_S)
    hot = replace(calm, rate_per_s=100.0 / DAY_S)
    brought = [NewPages(1e-5)]
    many = dict.fromkeys(range(10), (calm, brought))

    assert worth_following(many | {99: (hot, brought)}, price, longest_s) == set(range(10))
    assert worth_following({99: (hot, brought)}, price, longest_s) == set()
    blind = {page: (replace(calm, recall=0.01), brought) for page in range(10)}
    assert worth_following(blind, 1e9, longest_s) == set()
    assert worth_following({}, price, longest_s) == set()


def test_of_a_sitemap_that_is_not_followed_nothing_is_told() -> None:
    """The hot one of eleven; it may be followed from a later plan on."""
    dates, now_s = IndexDates(), 0.0
    urls = {page: f"http://a.test/{page}.xml" for page in range(10, 21)}
    for round_ in range(20):
        now_s += DAY_S
        hot = round_ + 0.0
        dates.read(INDEX, now_s, [(url, hot if page == 20 else 1.0) for page, url in urls.items()])
        for page, url in urls.items():
            dates.visit(url, page, None if not round_ else page == 20, HOUR_S)
    brought = [NewPages(1e-5)]

    flows = dates.choose(INDEX, lambda page: brought, 1e4, 90.0 * DAY_S, now_s)

    assert dates.of(20, now_s) is None
    assert set(dates.followed(INDEX, now_s)) == set(range(10, 20))
    assert set(dates.parts(INDEX, now_s)) == set(range(10, 21))
    assert sum(one.flow_per_s for one in flows) == pytest.approx(1e-4, rel=0.1)
    assert dates.choose(INDEX, lambda page: brought, 0.0, 90.0 * DAY_S, now_s) == []
    assert dates.followed(INDEX, now_s) == {}


def test_what_is_remembered_of_indexes_is_bounded() -> None:
    """A thousand sitemaps of each, and of all indexes the latest that were read."""
    dates = IndexDates()
    for index in range(103):
        told = [(f"http://a.test/{index}/{n}.xml", 1.0) for n in range(1_200)]
        dates.read(index, 0.0, told)
        dates.visit(told[0][0], 10_000 + index, None, 0.0)
        dates.visit(told[1_100][0], 20_000 + index, None, 0.0)

    kept = [index for index in range(103) if dates.of(10_000 + index, 0.0) is not None]
    assert kept == list(range(3, 103))
    assert all(dates.of(20_000 + index, 0.0) is None for index in range(103))


def test_what_is_lost_between_readings_is_the_mean_of_its_cost() -> None:
    """By quadrature: what others find too costs no more than until they do."""
    new = NewPages(3.0, shared=0.6, lead_s=50.0)
    for interval_s in (1.0, 40.0, 500.0):
        at = (np.arange(20_000) + 0.5) / 20_000 * interval_s
        cost = 3.0 * (0.4 * at + 0.6 * 50.0 * -np.expm1(-at / 50.0))
        assert birth_loss(new, interval_s) == pytest.approx(float(cost.mean()), rel=1e-6)
