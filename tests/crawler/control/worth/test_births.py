"""The worth of a look for new pages: against its integral, and against the best of all plans."""

from dataclasses import replace
from itertools import product
from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles.crawl_value import crawl_value

from recrawl.crawler.control.revisiting.revisits import RevisitControl
from recrawl.crawler.control.worth.births import (
    NewPages,
    birth_interval,
    birth_worth,
    hope_for_births,
    joint_intervals,
    lasting_share,
    learn_births,
)
from recrawl.crawler.control.worth.one_price import OnePrice
from recrawl.crawler.control.worth.order import root_urgency
from recrawl.crawler.control.worth.tiers import NEW, TIMED, worth_share
from recrawl.terms import Birth, Kind, Lease, PageState

RATES = st.floats(1e-3, 10.0)


@given(flow=RATES, shared=st.floats(0.0, 1.0), lead=st.floats(0.1, 50.0), age=st.floats(0.01, 60.0))
def test_worth_is_what_the_age_costs_more_than_younger_ones(
    flow: float, shared: float, lead: float, age: float
) -> None:
    new = NewPages(flow, shared, lead)
    middles = (np.arange(20_000) + 0.5) * age / 20_000
    cost = flow * ((1 - shared) * middles + shared * lead * (1 - np.exp(-middles / lead)))
    at_end = flow * ((1 - shared) * age + shared * lead * (1 - exp(-age / lead)))

    expected = float(np.sum(at_end - cost)) * age / 20_000

    assert birth_worth(new, age) == pytest.approx(expected, rel=1e-5, abs=1e-9)


@given(flow=RATES, shared=st.floats(0.0, 0.99), lead=st.floats(0.1, 50.0), price=RATES)
def test_the_interval_is_where_the_worth_reaches_the_price(
    flow: float, shared: float, lead: float, price: float
) -> None:
    new = NewPages(flow, shared, lead)

    interval = birth_interval([new], price, 1e9)

    assert birth_worth(new, interval) == pytest.approx(price, rel=1e-4)


def test_the_joint_interval_solves_for_both_parts() -> None:
    rates = np.array([0.1, 2.0, 9e-5])  # of the last, so little that digits could be lost
    chances = np.array([[0.7, 0.3, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    weights, prices = np.array([1.0, 2.0, 0.5, 80.0]), np.array([0.4, 0.4, 0.0, 0.4])
    flow, lead = np.array([0.2, 0.05, 1e-12, 1e-9]), np.full(4, 3.0)
    shared, alone = np.array([0.0, 0.5, 0.0, 0.0]), np.array([1e4, 1e4, 7.0, 1e4])
    prices[2] = float(crawl_value(0.5, 0.1, 7.0))

    found = joint_intervals(alone, prices, weights, (rates, chances), (flow, shared, lead), 1e-3)

    for row in (0, 1, 3):
        saved = sum(
            chances[row, j] * float(crawl_value(weights[row], rates[j], found[row]))
            for j in range(3)
        )
        new = NewPages(flow[row], shared[row], lead[row])
        assert saved + birth_worth(new, found[row]) == pytest.approx(0.4, rel=2e-5)
    assert 8e-4 < rates[2] * found[3] < 1e-3
    assert found[2] == pytest.approx(7.0, rel=1e-6)  # nothing is born there


def ages_cost(weights: list[float], rates: list[float], flow: float, longest: int) -> np.ndarray:
    """Return the cost of a slot at each age, a row for each of two pages and a hub."""
    ages = np.arange(1, longest + 1)
    pages = [w * (1 - np.exp(-rate * ages)) for w, rate in zip(weights, rates, strict=True)]
    return np.array([*pages, flow * ages])


def best_cost(costs: np.ndarray) -> float:
    """Return the least average cost of one visit in each slot, over all plans, by iteration."""
    longest = costs.shape[1]
    grid = np.array(list(product(range(longest), repeat=3)))
    paid = costs[0, grid[:, 0]] + costs[1, grid[:, 1]] + costs[2, grid[:, 2]]
    older = np.minimum(grid + 1, longest - 1)
    following = []
    for visited in range(3):
        after = older.copy()
        after[:, visited] = 0
        following.append(after @ [longest**2, longest, 1])
    value, mean = np.zeros(len(grid)), 0.0
    for _ in range(4_000):
        new = paid + np.minimum.reduce([value[place] for place in following])
        new = 0.5 * value + 0.5 * new  # no cycle of values
        mean, span = float(np.mean(new - value)) * 2, float(np.ptp(new - value))
        value = new - new[0]
        if span < 1e-9:
            return mean
    raise AssertionError("no convergence")


@pytest.mark.parametrize(
    ("weights", "rates", "flow"),
    [([1.0, 1.0], [0.3, 0.3], 0.3), ([3.0, 1.0], [0.1, 0.5], 0.1), ([1.0, 2.0], [0.05, 1.5], 0.02),
     ([1.0, 1.0], [0.2, 0.02], 0.6)],
)  # fmt: skip
def test_visits_by_greatest_worth_cost_hardly_more_than_the_best_plan(
    weights: list[float], rates: list[float], flow: float
) -> None:
    """Two pages and a hub, one visit a slot: dynamic programming over all ages."""
    longest = 24
    costs = ages_cost(weights, rates, flow, longest)
    worth = np.array(
        [
            [float(crawl_value(w, rate, age)) for age in range(1, longest + 1)]
            for w, rate in zip(weights, rates, strict=True)
        ]
        + [[birth_worth(NewPages(flow), age) for age in range(1, longest + 1)]]
    )
    ages, paid = np.zeros(3, np.int64), []
    for _ in range(3_000):
        paid.append(sum(costs[row, age] for row, age in enumerate(ages.tolist())))
        chosen = int(np.argmax([worth[row, age] for row, age in enumerate(ages.tolist())]))
        ages = np.minimum(ages + 1, longest - 1)
        ages[chosen] = 0

    by_worth, best = float(np.mean(paid[500:])), best_cost(costs)

    assert best - 1e-6 <= by_worth <= 1.03 * best


def born(page_id: int, n: float, exposure_s: float, **fields: object) -> Birth:
    values: dict[str, object] = {"host_id": 1, "kind": Kind.PAGE} | fields
    return Birth(page_id=page_id, n=n, exposure_s=exposure_s, **values)  # type: ignore[arg-type]


def test_birth_rates_lend_each_other_strength_within_host_and_kind() -> None:
    births = [born(number, 20.0, 1000.0, kind=Kind.FEED) for number in range(1, 9)]
    births += [born(9, 1.0, 20.0, kind=Kind.FEED), born(10, 0.0, 1e6), born(11, 0.0, 1e6)]

    found = learn_births(births, 1.0)

    assert found[1].n_per_s == pytest.approx(0.02, rel=0.1)
    assert found[9].n_per_s == pytest.approx(found[1].n_per_s, rel=0.25)  # 0.05 by itself
    assert 10 not in found


def test_what_turned_out_to_be_worth_little_is_looked_for_seldom() -> None:
    found = learn_births([born(1, 50.0, 1e4, worth=0.05), born(2, 50.0, 1e4, worth=2.0)], 1.0)

    assert found[2].flow_per_s > 8.0 * found[1].flow_per_s
    half = learn_births([born(1, 50.0, 1e4, worth=2.0)], 1.0, lasting=0.5)
    whole = learn_births([born(1, 50.0, 1e4, worth=2.0)], 1.0)
    assert half[1].flow_per_s == pytest.approx(0.5 * whole[1].flow_per_s)
    assert learn_births([], 1.0) == {}


def test_what_new_pages_are_worth_is_what_those_found_were_and_four_of_the_usual() -> None:
    """Of the page, before that of its host's pages of its kind, of its host, and of all."""
    births = [
        born(1, 10.0, 1e4, worth=2.0),
        born(2, 6.0, 1e4, kind=Kind.FEED),
        born(3, 10.0, 1e4, host_id=2),
    ]

    found = learn_births(births, 1.0)

    of_host = (20.0 + 4.0 * 1.0) / (10.0 + 4.0)
    of_kind = (20.0 + 4.0 * of_host) / (10.0 + 4.0)
    of_page = (20.0 + 4.0 * of_kind) / (10.0 + 4.0)
    worths = {page_id: one.flow_per_s / one.n_per_s for page_id, one in found.items()}
    assert worths == pytest.approx({1: of_page, 2: of_host, 3: 1.0})


def test_pages_are_looked_at_for_new_ones_that_brought_some_and_were_watched() -> None:
    """Were it half of one, long ago; and as far as anything is worth keeping."""
    half = born(1, 0.5, 1e4)

    assert learn_births([half], 1.0).keys() == {1}
    assert learn_births([half, born(2, 3.0, 0.0)], 1.0).keys() == {1}
    assert learn_births([born(1, 0.0, 1e4)], 1.0) == learn_births([half], 1.0, lasting=0.0) == {}


def test_where_nothing_is_new_a_page_waits_for_as_long_as_it_may() -> None:
    assert birth_interval([], 0.0, 9.0) == birth_interval([NewPages(0.0)], 0.0, 9.0) == 9.0
    assert birth_interval([NewPages(1.0)], 0.5 * 9.0**2, 9.0) == 9.0


def test_what_pages_are_worth_that_are_kept_is_a_share_of_their_weight() -> None:
    """All of it where they weigh nothing; nothing of those that are never visited."""
    share = lasting_share(np.array([1.0, 3.0, 4.0]), np.array([0.5, 2.0, 1.0]), np.array([1, 1, 0]))

    assert share == pytest.approx((exp(-0.5) + 3.0 * exp(-2.0)) / 8.0)
    assert lasting_share(np.zeros(2), np.ones(2), np.ones(2)) == 1.0


@given(rate=st.floats(0.01, 5.0), price=st.floats(0.01, 5.0))
def test_a_page_kept_at_the_price_is_worth_what_is_left_when_it_is_due(
    rate: float, price: float
) -> None:
    """W F - p x over all intervals is greatest at e^(-y), where the worth of a visit is p."""
    intervals = np.linspace(1e-3, 60.0 / rate, 400_000)
    y = rate * intervals
    net = (1 - np.exp(-y)) / y - price / intervals
    best = int(np.argmax(net))
    if net[best] <= 0 or best == intervals.size - 1:
        return

    share = lasting_share(np.ones(1), np.array([rate]), np.array([1.0 / intervals[best]]))

    assert net[best] == pytest.approx(share, abs=2e-3)


def test_a_hub_is_visited_sooner_for_what_it_brings() -> None:
    """At one price, and the leaves leave it that."""

    def decided(flow: float) -> np.ndarray:
        control = RevisitControl(np.ones(100), budget=50.0)
        control.observe(np.arange(100), np.zeros(100), np.zeros(100, bool))
        control.observe(np.arange(100), np.full(100, 2.0), np.arange(100) % 2 == 0)
        control.expect_births(np.array([3]), np.array([[flow], [0.0], [1.0]]))
        return control.decide(2.0).intervals.copy()

    without, with_births = decided(0.0), decided(30.0)

    assert with_births[3] < 0.5 * without[3]
    assert np.all(with_births[:3] >= 0.9 * without[:3])


def test_what_nobody_has_looked_at_twice_is_hoped_to_bring_four_addresses_a_day() -> None:
    """The entries of a host together; and a second visit is worth it for that."""
    hoped = hope_for_births([(1, 7), (2, 8), (3, 8)], 2.0)
    price = OnePrice(1_000.0)
    price.observe_plan(1.0, 1_000.0)
    price.hoped = hoped
    due = lease(due_s=50.0, tier=9, last_visit_s=0.0, state=PageState.INDEXED)

    assert {page: new.flow_per_s * 86_400.0 for page, new in hoped.items()} == pytest.approx(
        {1: 8.0, 2: 4.0, 3: 4.0}
    )
    assert price.share(due, 86_400.0) == birth_worth(hoped[1], 86_400.0)
    assert not any(new.is_listing for new in hoped.values())
    assert hope_for_births([(1, 7)], 0.0) == {}


def test_the_least_worth_of_the_first_visits_of_late_is_kept() -> None:
    """It follows what falls at once, and what rises slowly."""
    price = OnePrice(1_000.0)

    told = []
    for weight in (1.0, 20.0, 0.5, 20.0):
        price.observe_first(lease(weight=weight), 0.0)
        told.append(price.least_first)

    assert told == pytest.approx([1_000.0, 1_050.0, 500.0, 525.0])


def lease(weight: float = 1.0, due_s: float = 0.0, **fields: object) -> Lease:
    values: dict[str, object] = {"tier": NEW} | fields
    return Lease(1, "u", 1, 1, due_s, weight=weight, **values)  # type: ignore[arg-type]


def test_first_visits_and_revisits_have_one_price() -> None:
    price = OnePrice(1_000.0)
    price.observe_plan(500.0, 2_000.0)
    due = lease(
        due_s=100.0, tier=9, last_visit_s=0.0, change_rate_per_s=0.02, state=PageState.INDEXED
    )

    assert price.share(due, 100.0) == pytest.approx(1.0)
    assert price.share(lease(weight=0.5), 0.0) == pytest.approx(2.0)
    assert price.share(lease(weight=0.1), 0.0) < price.share(due, 100.0)
    assert price.share(lease(weight=0.1), 9_000.0) > price.share(lease(weight=0.1), 0.0)
    assert price.share(lease(tier=-1), 0.0) == float("inf")


def test_a_page_that_no_plan_knows_is_worth_no_more_than_one_of_any_rate() -> None:
    """It is due by an interval that has nothing to do with the price: first visits come first."""
    rates = np.geomspace(1e-5, 1.0, 2_000)
    age_s, price = 300.0, OnePrice(1_000.0)
    price.observe_plan(900.0, 1_000.0)
    unknown = lease(2.0, due_s=100.0, tier=9, last_visit_s=0.0, state=PageState.INDEXED)
    gains = (1.0 - (1.0 + rates * age_s) * np.exp(-rates * age_s)) / rates

    most = 2.0 * float(gains.max()) / 900.0
    assert price.share(unknown, age_s) == pytest.approx(most, rel=1e-3)
    assert price.share(unknown, age_s) < 1.0 < price.share(lease(), 0.0)
    assert price.share(replace(unknown, tier=TIMED), age_s) >= 1.0  # it was to be visited then
    assert price.share(unknown, 50.0) == worth_share(unknown, 50.0)  # ahead of its time
    price.observe_plan(0.0, 1_000.0)
    assert price.share(unknown, age_s) >= 1.0


def test_confirming_that_a_page_went_is_worth_what_a_first_visit_is() -> None:
    """Its copy is as good as stale, and ever longer so."""
    price = OnePrice(1_000.0)
    price.observe_plan(500.0, 2_000.0)
    missing = lease(0.5, due_s=100.0, tier=TIMED, last_visit_s=-1e9, state=PageState.MISSING)

    assert price.share(missing, 100.0) == price.share(lease(0.5, due_s=100.0), 100.0) == 2.0
    assert price.share(missing, 1_100.0) == price.share(lease(0.5, due_s=100.0), 1_100.0) == 3.0
    assert price.share(replace(missing, state=PageState.INDEXED), 100.0) == pytest.approx(1.0)


def test_addresses_that_lead_further_come_first() -> None:
    """Of host 1, each page one link from a seed leads to some thirty more."""
    price = OnePrice(1_000.0)
    price.observe_plan(1.0, 2_000.0)
    price.observe_depths([(1, 0, 1, 1, 0.0), (1, 1, 20, 10, 9.0), (1, 2, 300, 5, 99.0)], 1.0)

    shares = [price.share(lease(depth=depth, weight=w), 0.0) for depth, w in ((1, 0.5), (2, 3.0))]

    assert shares[0] > 3.0 * shares[1]
    leads = {depth: price.leads[1, depth] for depth in range(3)}
    assert leads == pytest.approx({0: 20 / (1 + 2), 1: 300 / (10 + 2), 2: 0.0})


def test_listings_are_read_when_what_they_bring_is_worth_it() -> None:
    price = OnePrice(1_000.0)
    price.observe_plan(50.0, 2_000.0)
    price.new_pages = {1: NewPages(0.01)}

    assert price.listing_interval(1, 86_400.0, 1e6) == pytest.approx(100.0, rel=1e-3)
    assert price.listing_interval(2, 86_400.0, 1e6) is None
    late = lease(crawl_rate_per_s=0.01, change_rate_per_s=0.02)
    alone = root_urgency(late)
    assert alone is not None
    assert price.root_urgency(late) == pytest.approx((alone**2 + 0.01) ** 0.5)
    assert price.root_urgency(replace(late, page_id=2)) == alone
    assert price.root_urgency(lease()) is None
    read = lease(due_s=100.0, tier=TIMED, last_visit_s=0.0, state=PageState.INDEXED)
    assert price.share(read, 200.0) == pytest.approx(4.0, rel=1e-3)


def test_what_others_find_too_is_shared_and_its_lead_is_a_second_at_least() -> None:
    """A quarter of what a page brought was found elsewhere, a minute later each, or at once."""
    births = [
        born(1, 20.0, 1e4, again=5.0, lead_s=300.0),
        born(2, 20.0, 1e4, again=5.0, lead_s=0.5),
        born(3, 20.0, 1e4),
        born(4, 20.0, 1e4, again=40.0, lead_s=80.0),
    ]

    found = learn_births(births, 1.0)

    told = {page_id: (new.shared, new.lead_s) for page_id, new in found.items()}
    assert told == {1: (0.25, 60.0), 2: (0.25, 1.0), 3: (0.0, 1.0), 4: (1.0, 2.0)}


def test_what_is_born_counts_where_there_is_a_price_and_a_visit_since_which_it_may_be() -> None:
    """Else a visit is worth what it is for the changes of the page."""
    page = Lease(1, "http://a.test/", 1, 1, 100.0, state=PageState.INDEXED, last_visit_s=0.0)
    unvisited, price = replace(page, last_visit_s=None), OnePrice(1_000.0)
    page, unvisited = (replace(one, tier=TIMED + 1) for one in (page, unvisited))
    price.new_pages = {1: NewPages(1e3)}
    before = [price.share(one, 50.0) for one in (page, unvisited)]
    price.observe_plan(1.0, 1_000.0)

    assert before == [worth_share(one, 50.0) for one in (page, unvisited)]
    assert price.share(page, 50.0) == birth_worth(NewPages(1e3), 50.0)
    assert price.share(unvisited, 50.0) == worth_share(unvisited, 50.0)
