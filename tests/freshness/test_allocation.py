"""The solvers: known answers, certificates, invariances, and every refusal."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from recrawl.errors import InvalidModel
from recrawl.freshness import (
    EVEN_AGE,
    EVEN_FRESHNESS,
    OBJECTIVES,
    RANDOM_FRESHNESS,
    Limit,
    Objective,
    Pages,
    Plan,
    allocate_proportionally,
    allocate_uniformly,
    solve,
    solve_even_age,
    solve_even_freshness,
    solve_harmonic,
    solve_random_freshness,
)

Vector = NDArray[np.float64]

objectives = st.sampled_from(
    sorted(OBJECTIVES.values(), key=lambda one: (one.measure, one.spacing))
)
seeds = st.integers(0, 2**32 - 1)


def random_pages(seed: int, *, hosts: bool = False, bounds: bool = False) -> Pages:
    """Draw pages of a random kind: ordinary, spread over 24 decades, or nearly alike."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    spread = rng.choice([0.0, 1.0, 12.0])
    change = 10 ** rng.uniform(-spread, spread, n) * rng.choice([1.0, 1.0, 1.0, 0.0], n)
    change[0] = 1.0
    weights = rng.pareto(1.2, n) * rng.choice([1.0, 1.0, 1.0, 0.0], n)
    weights[0] = 1.0
    costs = rng.uniform(0.1, 10, n) if rng.random() < 0.5 else None
    low = rng.uniform(0, 0.1, n) if bounds else None
    high = rng.uniform(0.1, 5, n) if bounds else None
    numbers = rng.integers(0, 5, n) if hosts else None
    return Pages(change, weights, costs, low, high, numbers)


def worst(plan: Plan) -> float:
    """Return the worse of the two certificates."""
    return max(plan.kkt_residual, plan.duality_gap)


def test_five_pages_of_cho_and_garcia_molina() -> None:
    """Rates 1 to 5 and a budget of 5: the fastest page is best never visited."""
    plan = solve_even_freshness(Pages([1.0, 2.0, 3.0, 4.0, 5.0]), 5.0)

    expected = [1.1498922734771562, 1.3584119474124432, 1.3538353179221674, 1.1378604611882395, 0]
    np.testing.assert_allclose(plan.crawl_rates, expected, rtol=1e-9)
    assert plan.price == pytest.approx(0.21643182610150274, rel=1e-9)
    assert plan.value == pytest.approx(0.37388869927439067, rel=1e-9)
    assert plan.n_never_visited == 1


def test_five_pages_under_random_visits_and_by_age() -> None:
    """The same pages: Poisson visits drop none, and age asks for more of the fast ones."""
    pages = Pages([1.0, 2.0, 3.0, 4.0, 5.0])

    random, age = solve_random_freshness(pages, 5.0), solve_even_age(pages, 5.0)

    expected = [1.38597077412516, 1.37427222819364, 1.13262260615922, 0.77194154824832, 0.33519284]
    np.testing.assert_allclose(random.crawl_rates, expected, rtol=1e-8)
    expected = [0.8348699903346298, 0.9679252871539566, 1.0335197977104655, 1.0706131427814474]
    np.testing.assert_allclose(age.crawl_rates[:4], expected, rtol=1e-9)


def test_random_visits_agree_with_the_sort() -> None:
    """Azar's exact algorithm: sort by weight over change rate, take prefix sums."""
    rng = np.random.default_rng(7)
    change, weights = rng.lognormal(0, 2, 5000), rng.pareto(1.2, 5000)

    plan = solve_random_freshness(Pages(change, weights), 700.0)

    order = np.argsort(-weights / change)
    root = np.cumsum(np.sqrt(weights * change)[order]) / (700 + np.cumsum(change[order]))
    active = np.count_nonzero(np.sqrt(weights / change)[order] > root)
    expected = np.maximum(np.sqrt(weights * change) / root[active - 1] - change, 0)
    np.testing.assert_allclose(plan.crawl_rates, expected, rtol=1e-9, atol=1e-9)


@settings(max_examples=150, deadline=None)
@given(objectives, seeds, st.sampled_from([1e-9, 1e-2, 1.0, 100.0, 1e9]), st.booleans())
def test_certificates_hold(objective: Objective, seed: int, budget: float, bounds: bool) -> None:
    """KKT residual and duality gap, from the rates and the prices alone, on extreme pages."""
    pages = random_pages(seed, bounds=bounds)
    if pages.min_rates is not None and pages.fetch_costs is None:
        budget = max(budget, 1.001 * pages.min_rates.sum())
    elif pages.min_rates is not None and pages.fetch_costs is not None:
        budget = max(budget, 1.001 * float(pages.min_rates @ pages.fetch_costs))

    plan = solve(objective, pages, budget)

    assert plan.kkt_residual < 1e-8
    assert plan.duality_gap < 1e-9
    assert plan.spent <= budget * (1 + 1e-9)


@settings(max_examples=100, deadline=None)
@given(objectives, seeds, st.sampled_from([0.1, 1.0, 30.0]), st.booleans())
def test_certificates_hold_with_host_and_site_caps(
    objective: Objective, seed: int, budget: float, sites: bool
) -> None:
    """A page pays the largest price on its path, so the same two numbers certify a whole tree."""
    pages = random_pages(seed, hosts=True)
    rng = np.random.default_rng(seed)
    caps = rng.uniform(0.01, 3, pages.n_hosts) * budget
    limits = [Limit(rng.integers(0, 2, pages.n_hosts), np.array([0.4, 0.7]) * budget)] * sites

    plan = solve(objective, pages, budget, caps, limits)

    assert plan.kkt_residual < 1e-8
    assert plan.duality_gap < 1e-9
    assert np.all(plan.host_loads <= caps * (1 + 1e-9))
    assert np.all(plan.host_prices >= plan.price)


@pytest.mark.parametrize("most", [1 << 21, 300])
def test_pages_of_hosts_that_are_slow_to_settle_are_copied_only_where_they_are_few(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """A quarter of all at most, and no more than there is room for; the plan is the same."""
    rng = np.random.default_rng(0)
    pages = Pages(rng.gamma(0.5, 1.0, 4_000) + 1e-3, hosts=rng.integers(0, 40, 4_000))
    caps = rng.uniform(0.005, 0.06, 40) * 4_000
    sizes: list[int] = []

    def join(parts: Sequence[Pages]) -> Pages:
        joined = whole(parts)
        sizes.append(len(joined))
        return joined

    whole = Pages.join
    monkeypatch.setattr("recrawl.freshness.passes._GATHERED", most)
    monkeypatch.setattr(Pages, "join", join)

    plan = solve_even_freshness(pages, 3_200.0, caps)

    assert worst(plan) < 1e-8
    assert max(sizes) <= min(most, 1_000)
    assert (max(sizes) > 300) == (most > 300)


def test_budget_inside_one_unit_of_the_price() -> None:
    """A page just under its reservation price asks for d/40 or nothing: the ends are blended."""
    plan = solve_even_freshness(Pages([1.0, 2.0]), 1e-6)

    np.testing.assert_allclose(plan.crawl_rates, [1e-6, 0.0])
    assert plan.value == pytest.approx(5e-7, rel=1e-9)
    assert worst(plan) < 1e-9


def test_blended_root_over_a_capped_host() -> None:
    """Where the root blends, hosts share the blend, and none exceeds its cap."""
    pages = Pages([1.0, 1.0, 1.0], hosts=[0, 1, 2])

    plan = solve_even_freshness(pages, 0.02, np.array([0.001, np.inf, np.inf]))

    assert plan.crawl_rates[0] <= 0.001
    np.testing.assert_allclose(plan.crawl_rates.sum(), 0.02, rtol=1e-9)
    assert worst(plan) < 1e-8


@pytest.mark.parametrize("objective", OBJECTIVES.values(), ids=lambda o: f"{o.measure}-{o.spacing}")
def test_more_budget_than_the_caps_allow(objective: Objective) -> None:
    """Then every cap binds and one more fetch is worth nothing."""
    pages = Pages([1.0, 5.0, 0.0], max_rates=[2.0, 3.0, np.inf], hosts=[0, 0, 1])

    plan = solve(objective, pages, 100.0)

    np.testing.assert_allclose(plan.crawl_rates, [2.0, 3.0, 0.0])
    assert plan.price == 0
    assert plan.spent == 5.0
    assert worst(plan) == 0
    capped = solve(objective, pages, 100.0, np.array([4.0, np.inf]))
    assert capped.price == 0
    assert capped.host_loads[0] == pytest.approx(4.0, rel=1e-9)
    assert worst(capped) < 1e-9


def test_a_page_that_never_changes_gets_its_minimum() -> None:
    """It is fresh without visits, and counts as fresh in the average."""
    plan = solve_even_freshness(Pages([0.0, 1.0], min_rates=[0.25, 0.0]), 1.25)

    np.testing.assert_allclose(plan.crawl_rates, [0.25, 1.0], rtol=1e-9)
    assert plan.value == pytest.approx((1 + (1 - np.exp(-1))) / 2, rel=1e-9)


@settings(max_examples=40, deadline=None)
@given(objectives, seeds, st.sampled_from([1e-4, 60.0, 86_400.0]))
def test_unit_of_time_does_not_matter(objective: Objective, seed: int, scale: float) -> None:
    """Measuring in days instead of seconds rescales the rates and nothing else."""
    pages = random_pages(seed, hosts=True)
    faster = Pages(pages.change_rates * scale, pages.weights, pages.fetch_costs, hosts=pages.hosts)
    caps = np.full(pages.n_hosts, 0.4)

    slow, fast = solve(objective, pages, 1.0, caps), solve(objective, faster, scale, caps * scale)

    np.testing.assert_allclose(fast.crawl_rates, slow.crawl_rates * scale, rtol=1e-6, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(objectives, seeds)
def test_order_of_pages_does_not_matter(objective: Objective, seed: int) -> None:
    """Rates follow their pages."""
    pages = random_pages(seed)
    order = np.random.default_rng(seed).permutation(len(pages))
    weights, costs = pages.weights, pages.fetch_costs
    assert weights is not None
    shuffled = Pages(
        pages.change_rates[order], weights[order], None if costs is None else costs[order]
    )

    plain, mixed = solve(objective, pages, 1.0), solve(objective, shuffled, 1.0)

    np.testing.assert_allclose(mixed.crawl_rates, plain.crawl_rates[order], rtol=1e-8, atol=1e-11)


@settings(max_examples=60, deadline=None)
@given(objectives, seeds, seeds)
def test_no_transfer_of_budget_helps(objective: Objective, seed: int, move: int) -> None:
    """Taking budget from one page and giving it to another never gains."""
    pages = random_pages(seed)
    plan = solve(objective, pages, 3.0)
    costs = np.ones(len(pages)) if pages.fetch_costs is None else pages.fetch_costs
    rng = np.random.default_rng(move)
    giver, taker = rng.integers(0, len(pages), 2)
    amount = 0.1 * plan.crawl_rates[giver] * costs[giver]

    moved = plan.crawl_rates.copy()
    moved[giver] -= amount / costs[giver]
    moved[taker] += amount / costs[taker]

    def gain(page: int) -> float:
        d, w = pages.change_rates[[page]], float(np.asarray(pages.weights)[page])
        if w == 0 or d[0] == 0:
            return 0.0
        grid = np.linspace(plan.crawl_rates[page], moved[page], 65)
        with np.errstate(over="ignore"):
            y = d / np.maximum(grid, 1e-300)
        worths = objective.worth(y) * w / d**objective.power
        return float(np.trapezoid(worths, grid))

    if giver != taker:
        lost = -gain(giver)
        assert gain(taker) - lost <= 1e-2 * abs(lost) + 1e-15


def test_uniform_and_proportional_spend_the_budget() -> None:
    """The control arms, with fetch costs; proportional is never fresher than uniform."""
    pages = Pages([1.0, 3.0], fetch_costs=[1.0, 2.0])

    np.testing.assert_allclose(allocate_uniformly(pages, 6.0), [2.0, 2.0])
    np.testing.assert_allclose(allocate_proportionally(pages, 7.0), [1.0, 3.0])
    np.testing.assert_allclose(allocate_proportionally(Pages([0.0, 0.0]), 7.0), [3.5, 3.5])
    with pytest.raises(InvalidModel, match="budget must be finite and > 0, got 0"):
        allocate_uniformly(pages, 0.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"change_rates": []}, "0 pages"),
        ({"change_rates": [1.0, -2.0]}, r"change_rates\[1\] is -2, must be finite and >= 0"),
        ({"change_rates": [np.nan]}, r"change_rates\[0\] is nan"),
        ({"change_rates": [1.0, np.inf]}, r"change_rates\[1\] is inf"),
        ({"change_rates": [[1.0]]}, "must be a vector"),
        ({"change_rates": ["x"]}, "must be numbers"),
        ({"change_rates": [1.0], "weights": [1.0, 2.0]}, "weights has 2 values for 1 pages"),
        ({"change_rates": [1.0], "weights": [-1.0]}, r"weights\[0\] is -1"),
        ({"change_rates": [1.0], "fetch_costs": [0.0]}, r"fetch_costs\[0\] is 0, must be finite"),
        ({"change_rates": [1.0], "min_rates": [np.inf]}, r"min_rates\[0\] is inf"),
        ({"change_rates": [1.0], "max_rates": [np.nan]}, r"max_rates\[0\] is nan, must be >= 0"),
        (
            {"change_rates": [1.0, 1.0], "min_rates": [0.0, 2.0], "max_rates": [1.0, 1.0]},
            r"min_rates\[1\] is 2, above max_rates\[1\] = 1",
        ),
        ({"change_rates": [1.0], "hosts": [-1]}, r"hosts\[0\] is -1"),
        ({"change_rates": [1.0], "hosts": [0.5]}, "hosts must be integers"),
        ({"change_rates": [1.0], "hosts": [0, 1]}, "hosts has shape"),
    ],
)
def test_bad_pages_are_refused(arguments: dict[str, object], message: str) -> None:
    """The message names the argument, the page and the value."""
    with pytest.raises(InvalidModel, match=message):
        Pages(**arguments)  # type: ignore[arg-type]


def test_bad_budgets_and_caps_are_refused() -> None:
    """Each with what is wrong."""
    pages = Pages([1.0, 1.0], hosts=[0, 1])

    for budget in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(InvalidModel, match="budget must be finite and > 0"):
            solve_harmonic(pages, budget)
    with pytest.raises(InvalidModel, match="at least one must be > 0"):
        solve_harmonic(Pages([1.0], weights=[0.0]), 1.0)
    with pytest.raises(InvalidModel, match="no hosts"):
        solve_harmonic(Pages([1.0]), 1.0, np.ones(1))
    with pytest.raises(InvalidModel, match="for 2 hosts"):
        solve_harmonic(pages, 1.0, np.ones(1))
    with pytest.raises(InvalidModel, match="cap of host 1 is nan"):
        solve_harmonic(pages, 1.0, np.array([1.0, np.nan]))
    with pytest.raises(InvalidModel, match=r"limits\[0\].groups has 1 values for 2 hosts"):
        solve_harmonic(pages, 1.0, np.ones(2), [Limit(np.zeros(1, dtype=int), np.ones(1))])
    with pytest.raises(InvalidModel, match=r"groups must lie in 0 \.\. 0"):
        Limit(np.array([0, 1]), np.ones(1))
    for groups, caps in (([0.5], [1.0]), ([[0]], [1.0]), ([0], [[1.0]])):
        with pytest.raises(InvalidModel, match="vector of integers"):
            Limit(np.array(groups), np.array(caps))


def test_minimum_rates_beyond_a_cap_name_it() -> None:
    """The message says whose cap, and by how much it is exceeded."""
    pages = Pages([1.0, 1.0, 1.0], min_rates=[1.0, 2.0, 3.0], hosts=[0, 1, 1])

    with pytest.raises(InvalidModel, match=r"ask for 5 of the cap of host 1, 1 more than its 4"):
        solve_even_freshness(pages, 100.0, np.array([9.0, 4.0]))
    with pytest.raises(InvalidModel, match=r"ask for 6 of the budget, 1 more than its 5"):
        solve_even_freshness(pages, 5.0)


def test_minimum_rates_that_take_the_whole_budget() -> None:
    """Feasible to the last fetch: everyone gets exactly the minimum."""
    for objective in (EVEN_FRESHNESS, RANDOM_FRESHNESS, EVEN_AGE):
        plan = solve(objective, Pages([1.0, 2.0], min_rates=[0.5, 0.5]), 1.0)

        np.testing.assert_allclose(plan.crawl_rates, [0.5, 0.5])
        assert worst(plan) < 1e-9


@pytest.mark.parametrize("objective", OBJECTIVES.values(), ids="{0.measure}-{0.spacing}".format)
def test_certificates_hold_beyond_what_tables_reach(objective: Objective) -> None:
    """Pages sixty powers of ten apart: the leading powers stand for the tables at both ends."""
    plan = solve(objective, Pages([1e30, 1.0, 1e-30]), 1.0)

    assert plan.spent == pytest.approx(1.0)
    assert plan.kkt_residual < 1e-9


def test_limits_that_cannot_be_are_told_by_the_level_they_are_of() -> None:
    """Hosts, the sites that they belong to, and groups of sites."""
    pages = Pages([1.0, 1.0], hosts=[0, 1])
    caps = np.array([9.0, 9.0])
    sites = Limit(np.array([0, 1]), np.array([5.0, -1.0]))

    with pytest.raises(InvalidModel, match="cap of site 1 is -1, must be >= 0"):
        solve_even_freshness(pages, 1.0, caps, [sites])
    good = Limit(np.array([0, 1]), np.array([5.0, 1.0]))
    with pytest.raises(InvalidModel, match="1 values for 2 sites"):
        solve_even_freshness(pages, 1.0, caps, [good, Limit(np.array([0]), np.array([9.0]))])
    with pytest.raises(InvalidModel, match="cap of group of level 1 0 is -2, must be >= 0"):
        solve_even_freshness(pages, 1.0, caps, [good, Limit(np.array([0, 0]), np.array([-2.0]))])


@pytest.mark.parametrize("caps", [None, [np.inf, np.inf, np.inf]])
def test_where_no_cap_binds_all_hosts_pay_the_price(caps: list[float] | None) -> None:
    pages = Pages([1.0, 2.0, 3.0, 4.0], hosts=[0, 1, 2, 1])

    plan = solve_even_freshness(pages, 2.0, None if caps is None else np.array(caps))

    assert plan.host_prices.tolist() == [plan.price] * 3
    rates = plan.crawl_rates
    loads = [] if caps is None else [rates[0], rates[1] + rates[3], rates[2]]
    assert plan.host_loads.tolist() == pytest.approx(loads)
