"""Plans from parts, summaries that merge, trade-off curves, control arms under caps."""

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import override

from recrawl.errors import InvalidModel
from recrawl.freshness import (
    EVEN_AGE,
    EVEN_FRESHNESS,
    OBJECTIVES,
    RANDOM_FRESHNESS,
    DemandSummary,
    Limit,
    Objective,
    Pages,
    allocate_proportionally,
    allocate_uniformly,
    average_value,
    solve,
    solve_prices,
    trace_trade_off,
)
from recrawl.freshness.threads import Answer, Elsewhere

objectives = st.sampled_from(
    sorted(OBJECTIVES.values(), key=lambda one: (one.measure, one.spacing))
)


def many_pages(n: int, n_hosts: int = 0, seed: int = 0) -> Pages:
    """Draw pages as the web has them: log-normal rates, heavy-tailed weights."""
    rng = np.random.default_rng(seed)
    hosts = rng.integers(0, n_hosts, n) if n_hosts else None
    return Pages(rng.lognormal(0, 1.5, n), rng.pareto(1.2, n) + 0.01, hosts=hosts)


@settings(max_examples=30, deadline=None)
@given(objectives, st.integers(1, 700), st.integers(0, 999))
def test_splitting_the_table_does_not_matter(objective: Objective, size: int, seed: int) -> None:
    """Prices from parts, and rates part by part, are those of the whole."""
    pages = many_pages(500, 7, seed)
    caps = np.full(7, 8.0)
    whole = solve(objective, pages, 50.0, caps)

    parts = list(pages.slices(size))
    prices = solve_prices(objective, parts, 50.0, n_hosts=7, host_caps=caps)

    rates = np.concatenate([prices.rates(part) for part in parts])
    np.testing.assert_allclose(rates, whole.crawl_rates, rtol=1e-7, atol=1e-9)
    proof = prices.certify((part, prices.rates(part)) for part in parts)
    assert proof.kkt_residual < 1e-8
    assert proof.duality_gap < 1e-9
    assert proof.value == pytest.approx(whole.value, rel=1e-9)
    assert prices.n_pages == 500


@pytest.mark.parametrize("objective", [EVEN_FRESHNESS, RANDOM_FRESHNESS, EVEN_AGE])
@pytest.mark.parametrize("n_hosts", [0, 7])
@pytest.mark.parametrize("order", [1, -1])
def test_columns_that_only_some_parts_have_are_the_defaults_of_the_others(
    objective: Objective, n_hosts: int, order: int
) -> None:
    """Limits of the first three hundred pages hold, and those of the others are none."""
    for seed, budget in ((0, 50.0), (1, 200.0), (4, 50.0)):
        rng, n, half = np.random.default_rng(seed), 600, 300
        rates, hosts = rng.lognormal(0, 1.5, n), rng.integers(0, n_hosts, n) if n_hosts else None
        costs, most = rng.uniform(0.5, 2.0, half), rng.uniform(0.02, 0.3, half)
        pages = Pages(
            rates,
            None,
            np.append(costs, np.ones(half)),
            np.append(np.full(half, 0.01), np.zeros(half)),
            np.append(most, np.full(half, np.inf)),
            hosts,
        )
        first = Pages(
            rates[:half],
            None,
            costs,
            np.full(half, 0.01),
            most,
            hosts[:half] if n_hosts else None,  # type: ignore[index]
        )
        others = Pages(rates[half:], hosts=hosts[half:] if n_hosts else None)  # type: ignore[index]
        caps = np.array([8.0, 8.0, 8.0, 3.0, 3.0, 20.0, 20.0])[:n_hosts]
        limits: dict[str, Any] = {"n_hosts": n_hosts, "host_caps": caps} if n_hosts else {}
        whole = solve(objective, pages, budget, caps if n_hosts else None)
        prices = solve_prices(objective, [first, others][::order], budget, **limits)

        found = np.concatenate([prices.rates(first), prices.rates(others)])
        np.testing.assert_allclose(found, whole.crawl_rates, rtol=1e-6, atol=1e-9)
        assert np.all(found[:half] <= most)


@pytest.mark.parametrize("order", [1, -1])
def test_visits_that_pages_must_have_are_paid_for_before_others_may_have_theirs(order: int) -> None:
    """Two pages must have a tenth though they never change; two others may have less than half."""
    must = Pages([0.0, 0.0], min_rates=[0.1, 0.1])
    may = Pages([1.0, 1.0], max_rates=[0.45, 0.45])

    prices = solve_prices(EVEN_FRESHNESS, [must, may][::order], 1.0)

    assert prices.rates(must) == pytest.approx([0.1, 0.1])
    assert prices.rates(may) == pytest.approx([0.4, 0.4])


def test_parts_are_put_together_with_what_they_leave_out() -> None:
    """Weights and costs of one, no least rate and no greatest, and the first host."""
    told = Pages([1.0], [3.0], [2.0], [0.1], [0.7], [4])
    joined = Pages.join([Pages([5.0, 6.0]), told])

    expected = {
        "change_rates": [5.0, 6.0, 1.0],
        "weights": [1.0, 1.0, 3.0],
        "fetch_costs": [1.0, 1.0, 2.0],
        "min_rates": [0.0, 0.0, 0.1],
        "max_rates": [np.inf, np.inf, 0.7],
        "hosts": [0, 0, 4],
    }
    assert {name: getattr(joined, name).tolist() for name in expected} == expected
    assert joined.n_hosts == 5
    alone = Pages.join([Pages([5.0]), Pages([6.0])])
    assert [getattr(alone, name) for name in ("weights", "max_rates", "hosts")] == [None] * 3


class Held(Elsewhere[Pages]):
    """Parts that somebody else holds."""

    def __init__(self, parts: Sequence[Pages]) -> None:
        self.parts = parts

    @override
    def mapped(self, function: Callable[[Pages], Answer]) -> Iterator[Answer]:
        return map(function, self.parts)

    @override
    def total(self, function: Callable[[Pages], Answer]) -> Answer:
        return reduce(add, self.mapped(function))


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1], [1, 2, 0]])
def test_parts_without_any_weight_are_planned_with_those_of_others(order: list[int]) -> None:
    """Wherever they are, and whichever of them is looked at first."""
    pages = many_pages(300)
    parts = list(pages.slices(100))
    for number in (0, 2):
        parts[number] = Pages(parts[number].change_rates, np.zeros(100))
    found = [parts[number] for number in order]

    there = solve_prices(EVEN_FRESHNESS, Held(found), 10.0)
    here = solve_prices(EVEN_FRESHNESS, found, 10.0)

    assert (there.n_pages, there.passes) == (300, here.passes)
    assert there.price == pytest.approx(here.price, rel=1e-9)
    with pytest.raises(InvalidModel, match="weights: at least one must be > 0"):
        solve_prices(EVEN_FRESHNESS, Held([parts[0], parts[2]]), 10.0)


def test_threads_change_no_digit() -> None:
    """Partial sums are joined in the order of the parts, whoever computed them."""
    pages = many_pages(600_000, 100)
    caps = np.full(100, 500.0)

    one = solve(EVEN_FRESHNESS, pages, 60_000.0, caps)
    three = solve(EVEN_FRESHNESS, pages, 60_000.0, caps, threads=3)

    assert np.array_equal(one.crawl_rates, three.crawl_rates)
    assert one.value == three.value
    assert one.kkt_residual < 1e-8


@pytest.mark.parametrize("columns", ["all", "no costs", "no weights", "nearly alike", "one heavy"])
@pytest.mark.parametrize("objective", [EVEN_FRESHNESS, RANDOM_FRESHNESS], ids=["even", "random"])
def test_refined_prices_of_many_pages(objective: Objective, columns: str) -> None:
    """Tables that are large enough for the price to be refined have the price of the plain search.

    Nearly alike: the budget falls among pages whose reservation prices differ by 1e-9. One heavy:
    the sample that the first price comes from misses a page that asks for half of the budget.
    """
    rng = np.random.default_rng(8)
    n = 2_200_000 if columns == "one heavy" else 150_000
    change, weights = rng.lognormal(0, 1.5, n), rng.pareto(1.2, n) + 0.01
    costs = rng.uniform(0.5, 2, n)
    if columns == "nearly alike":
        change, weights = 1 + 1e-9 * rng.random(n), np.ones(n)
    if columns == "one heavy":
        weights[300] = 1e12
    pages = Pages(
        change,
        None if columns == "no weights" else weights,
        costs if columns == "all" else None,
    )

    plan = solve(objective, pages, 0.05 * n)

    prices = solve_prices(objective, list(pages.slices(40_000)), 0.05 * n)
    assert plan.price == pytest.approx(prices.price, rel=1e-9)
    assert plan.spent == pytest.approx(0.05 * n, rel=1e-9)
    assert plan.kkt_residual < 1e-8
    assert plan.duality_gap < 1e-9
    if columns in ("all", "no costs"):
        most = 5 if objective is EVEN_FRESHNESS else 2
        assert 2 <= plan.passes <= most, "what refining is for, which is counted"


def test_summaries_of_partitions_merge() -> None:
    """The price from the sum of two summaries is that of all pages, to 1e-3."""
    pages = many_pages(200_000)
    left, right = pages.part(slice(0, 70_000)), pages.part(slice(70_000, None))

    for objective in (EVEN_FRESHNESS, RANDOM_FRESHNESS, EVEN_AGE):
        merged = DemandSummary.of(objective, left) + DemandSummary.of(objective, right)
        price, _ = merged.estimate_price(20_000.0)
        assert price == pytest.approx(solve(objective, pages, 20_000.0).price, rel=1e-3)
    assert DemandSummary.of(EVEN_AGE, Pages([0.0])).estimate_price(1.0) == (1.0, 0.5)


def test_a_slow_host_is_finished_on_a_copy_of_its_pages() -> None:
    """Hosts of a few pages whose cap falls on a cliff of demand, among many easy ones."""
    pages = many_pages(120_000, 3000, seed=4)
    caps = np.random.default_rng(4).uniform(0.001, 10.0, 3000)

    plan = solve(EVEN_FRESHNESS, pages, 9000.0, caps)

    assert np.all(plan.host_loads <= caps * (1 + 1e-9))
    assert plan.kkt_residual < 1e-8
    assert plan.duality_gap < 1e-9
    binding = plan.host_prices > plan.price
    np.testing.assert_allclose(plan.host_loads[binding], caps[binding], rtol=1e-9)


def test_price_of_a_page_is_the_largest_on_its_path() -> None:
    """Each node's stand-alone price: the subtree alone with its cap as the only budget."""
    pages = many_pages(400, 6)
    caps = np.array([1.0, 2.0, 50.0, 3.0, 50.0, 0.5])
    sites = Limit(np.array([0, 0, 0, 1, 1, 1]), np.array([12.0, 6.0]))

    plan = solve(EVEN_FRESHNESS, pages, 15.0, caps, [sites])

    assert pages.hosts is not None
    for host in range(6):
        own = pages.part(np.flatnonzero(pages.hosts == host))
        alone = [solve(EVEN_FRESHNESS, Pages(own.change_rates, own.weights), caps[host]).price]
        below = pages.part(np.flatnonzero(sites.groups[pages.hosts] == sites.groups[host]))
        cap = float(sites.caps[sites.groups[host]])
        alone += [solve(EVEN_FRESHNESS, below, cap, caps).price, plan.price]
        assert plan.host_prices[host] == pytest.approx(max(alone), rel=1e-8)


@pytest.mark.parametrize("objective", OBJECTIVES.values(), ids=lambda o: f"{o.measure}-{o.spacing}")
def test_trade_off_has_the_price_as_slope(objective: Objective) -> None:
    """By central differences; and each further fetch buys less."""
    pages = many_pages(300)
    budgets = 100.0 * np.array([1 - 1e-4, 1.0, 1 + 1e-4, 2.0, 4.0])

    curve = trace_trade_off(objective, pages, budgets)

    rise = (curve.values[2] - curve.values[0]) / (budgets[2] - budgets[0])
    assert curve.slopes[1] == pytest.approx(rise, rel=1e-5)
    assert np.all(np.diff(np.abs(curve.slopes)) < 0)
    assert np.all(np.diff(curve.never_visited) <= 0)
    plan = solve(objective, pages, budgets[1])
    assert curve.never_visited[1] == np.mean(plan.crawl_rates == 0.0)


def test_control_arms_keep_caps_and_spend_the_rest_elsewhere() -> None:
    """Two hosts, one capped: the other gets what it leaves; sites cap both."""
    pages = Pages([1.0, 2.0, 1.0, 2.0], hosts=[0, 0, 1, 1])

    uniform = allocate_uniformly(pages, 8.0, np.array([1.0, np.inf]))
    proportional = allocate_proportionally(pages, 8.0, np.array([3.0, np.inf]))
    under_site = allocate_uniformly(
        pages, 8.0, np.array([1.0, np.inf]), [Limit(np.array([0, 0]), np.array([4.0]))]
    )

    np.testing.assert_allclose(uniform, [0.5, 0.5, 3.5, 3.5])
    np.testing.assert_allclose(proportional, [1.0, 2.0, 5 / 3, 10 / 3])
    np.testing.assert_allclose(under_site, [0.5, 0.5, 1.5, 1.5])


def test_average_value_of_any_rates() -> None:
    """Weighted; a page that never changes counts as fresh; bad rates are refused."""
    pages = Pages([1.0, 0.0], weights=[3.0, 1.0])

    value, unseen = average_value(EVEN_FRESHNESS, [(pages, np.array([1.0, 0.0]))])

    assert value == pytest.approx((3 * (1 - np.exp(-1)) + 1) / 4)
    assert unseen == 1
    with pytest.raises(InvalidModel, match="crawl_rates must be >= 0"):
        average_value(EVEN_FRESHNESS, [(pages, np.array([1.0, -1.0]))])
    with pytest.raises(InvalidModel, match="at least one must be > 0"):
        average_value(EVEN_FRESHNESS, [(Pages([1.0], [0.0]), np.ones(1))])


def test_caps_of_hosts_that_nobody_counts_are_refused() -> None:
    """Pages that name no hosts have none; a cap would else hold for nothing."""
    with pytest.raises(InvalidModel, match="no hosts"):
        solve_prices(EVEN_FRESHNESS, [Pages([1.0])], 1.0, host_caps=[0.5])


def test_no_parts_are_no_pages() -> None:
    """An empty table is refused here too."""
    with pytest.raises(InvalidModel, match="0 pages"):
        solve_prices(EVEN_FRESHNESS, [], 1.0)
