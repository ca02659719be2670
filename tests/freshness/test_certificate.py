"""The certificate itself: it must find fault where there is some, and bound what is lost."""

import numpy as np
import pytest

from recrawl.freshness import FRESHNESS, OBJECTIVES, Objective, Pages, solve, solve_prices


@pytest.mark.parametrize("n", [7, 1500, 5000])
@pytest.mark.parametrize("objective", OBJECTIVES.values(), ids=lambda o: f"{o.measure}-{o.spacing}")
def test_worse_rates_are_found_out(objective: Objective, n: int) -> None:
    """Half of one page's visits given to another: the loss is within the gap, and the KKT shows.

    The columns that say nothing (cost 1, no bounds) take another path through the kernel, and
    must not change a thing.
    """
    rng = np.random.default_rng(n)
    pages = Pages(rng.lognormal(0, 1, n), rng.pareto(2, n) + 0.1)
    best = solve(objective, pages, 0.5 * n)
    prices = solve_prices(objective, [pages], 0.5 * n)
    rates = best.crawl_rates.copy()
    giver, taker = np.argsort(rates)[[-1, -2]]
    rates[taker] += rates[giver] / 2
    rates[giver] /= 2

    found = prices.certify([(pages, rates)])

    worth = objective.worth(pages.change_rates / np.maximum(rates, 1e-300))
    marginal = np.asarray(pages.weights) * worth / pages.change_rates**objective.power
    off = np.abs(marginal / prices.price - 1)[rates > 0].max()
    assert found.kkt_residual == pytest.approx(off, rel=1e-6)
    assert found.kkt_residual > 0.1
    lost = abs(best.value - found.value) / found.value
    assert 0 < lost <= found.duality_gap * (1 + 1e-9)
    plain = Pages(pages.change_rates, pages.weights, np.ones(n), np.zeros(n), np.full(n, np.inf))
    same = prices.certify([(plain, rates)])
    assert same.value == pytest.approx(found.value, rel=1e-14)
    assert same.duality_gap == pytest.approx(found.duality_gap, rel=1e-9)
    assert same.kkt_residual == pytest.approx(found.kkt_residual, rel=1e-12)
    assert same.n_never_visited == found.n_never_visited
    assert same.spent == pytest.approx(found.spent, rel=1e-14)


@pytest.mark.parametrize("n_hosts", [1, 3])
def test_a_budget_that_is_not_spent_or_overspent_is_found_out(n_hosts: int) -> None:
    """Though every page is visited as the price says: half of them are left out, or there twice."""
    rng = np.random.default_rng(5)
    parts = [Pages(rng.lognormal(0, 1, 90), hosts=np.arange(90) % n_hosts) for _ in range(2)]
    prices = solve_prices(OBJECTIVES["freshness", "even"], parts, 100.0, n_hosts=n_hosts)
    one, other = [(part, prices.rates(part)) for part in parts]

    whole, idle, over = (
        prices.certify(some).kkt_residual for some in ([one, other], [one], [one, other, one])
    )

    assert whole < 1e-9
    assert idle == pytest.approx(1.0 - one[1].sum() / 100.0)
    assert over == pytest.approx(one[1].sum() / 100.0)


def test_value_is_the_weighted_mean_of_the_measure() -> None:
    """Against the measure, page by page."""
    rng = np.random.default_rng(1)
    pages = Pages(rng.lognormal(0, 3, 3000), rng.random(3000))
    rates = rng.lognormal(0, 3, 3000)

    prices = solve_prices(OBJECTIVES["freshness", "even"], [pages], 100.0)

    fresh = FRESHNESS.even(pages.change_rates, rates)
    weights = np.asarray(pages.weights)
    found = prices.certify([(pages, rates)])
    assert found.value == pytest.approx(float(weights @ fresh / weights.sum()), rel=1e-13)


@pytest.mark.parametrize("worst_first", [True, False])
def test_a_certificate_is_the_same_however_pages_are_parted(*, worst_first: bool) -> None:
    """Its residual is the worst of all parts, whether that comes first or last."""
    rng = np.random.default_rng(3)
    pages = Pages(np.sort(rng.lognormal(0, 1, 400)), rng.pareto(2, 400) + 0.1)
    prices = solve_prices(OBJECTIVES["freshness", "even"], [pages], 200.0)
    rates = prices.rates(pages)
    rates[:40] *= 3.0
    rates[40:80] /= 2.0
    whole = prices.certify([(pages, rates)])

    rows = np.split(np.arange(400), 10)
    parts = [(pages.part(some), rates[some]) for some in (rows if worst_first else rows[::-1])]
    found = prices.certify(parts)

    assert whole.kkt_residual > 0.1
    assert found.kkt_residual == pytest.approx(whole.kkt_residual, rel=1e-12)
    assert found.duality_gap == pytest.approx(whole.duality_gap, rel=1e-9)
    assert found.value == pytest.approx(whole.value, rel=1e-12)


@pytest.mark.parametrize("n", [7, 5_000])
@pytest.mark.parametrize("objective", OBJECTIVES.values(), ids=lambda o: f"{o.measure}-{o.spacing}")
def test_weights_and_costs_that_are_left_out_are_one(objective: Objective, n: int) -> None:
    rng = np.random.default_rng(n)
    change_rates = rng.lognormal(0, 1, n)

    bare = solve(objective, Pages(change_rates), 0.5 * n)
    full = solve(objective, Pages(change_rates, np.ones(n), np.ones(n)), 0.5 * n)

    assert bare.value == pytest.approx(full.value, rel=1e-9)
    assert bare.crawl_rates == pytest.approx(full.crawl_rates, rel=1e-6)
