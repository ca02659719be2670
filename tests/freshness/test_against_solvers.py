"""Our optimum against a general-purpose solver, on problems with host limits."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize

from recrawl.freshness import FRESHNESS, HARMONIC, Pages, solve_even_freshness, solve_harmonic

Vector = NDArray[np.float64]


def problem(n: int, seed: int) -> tuple[Pages, float, Vector]:
    """Draw pages on ten hosts, four of which cannot take what they would ask for."""
    rng = np.random.default_rng(seed)
    hosts = rng.integers(0, 10, n)
    pages = Pages(rng.lognormal(0, 1, n), rng.pareto(2, n) + 0.1, hosts=hosts)
    caps = np.where(np.arange(10) < 4, 0.015 * n, np.inf)
    return pages, 0.4 * n, caps


@pytest.mark.parametrize("n", [12, 60])
def test_even_freshness_is_never_below_slsqp(n: int) -> None:
    """Sequential quadratic programming on the primal agrees from below."""
    pages, budget, caps = problem(n, n)
    d, w, hosts = pages.change_rates, np.asarray(pages.weights), np.asarray(pages.hosts)

    def loss(x: Vector) -> tuple[float, Vector]:
        value = float(w @ FRESHNESS.even(d, x))
        return -value, -w * FRESHNESS.even_slope(d, x)

    limits = [{"type": "ineq", "fun": lambda x: budget - x.sum(), "jac": lambda x: -np.ones(n)}]
    for host in range(4):
        mine = (hosts == host).astype(float)
        limits.append(
            {
                "type": "ineq",
                "fun": lambda x, mine=mine, host=host: caps[host] - mine @ x,
                "jac": lambda x, mine=mine: -mine,
            }
        )
    start = np.full(n, 1e-3)
    found = optimize.minimize(
        loss, start, jac=True, bounds=[(1e-9, None)] * n, constraints=limits, method="SLSQP",
        options={"maxiter": 2000, "ftol": 1e-14},
    )  # fmt: skip

    plan = solve_even_freshness(pages, budget, caps)

    best = plan.value * w.sum()
    assert best >= -found.fun - 1e-9
    assert best == pytest.approx(-found.fun, rel=1e-6)


@pytest.mark.parametrize("solver", [solve_even_freshness, solve_harmonic], ids=["even", "harmonic"])
def test_dual_of_a_thousand_pages_agrees(solver: object) -> None:
    """Minimising the dual over the eleven prices with L-BFGS-B reaches the same objective to 1e-7.

    The inner maxima are found by a bounded scalar search on each page, not by our inverse.
    """
    pages, budget, caps = problem(1000, 5)
    d, w, hosts = pages.change_rates, np.asarray(pages.weights), np.asarray(pages.hosts)
    even = solver is solve_even_freshness
    finite = np.flatnonzero(np.isfinite(caps))

    def value(x: Vector) -> Vector:
        return np.asarray(FRESHNESS.even(d, x) if even else -HARMONIC.random(d, x))

    def slope(x: Vector) -> Vector:
        return np.asarray(FRESHNESS.even_slope(d, x) if even else -HARMONIC.random_slope(d, x))

    def best_response(price: Vector) -> Vector:
        low, high = np.full(1000, -30.0), np.full(1000, 12.0)
        for _ in range(70):
            middle = (low + high) / 2
            wants = w * slope(np.exp(middle)) > price
            low, high = np.where(wants, middle, low), np.where(wants, high, middle)
        return np.asarray(np.exp(low))

    def dual(logs: Vector) -> tuple[float, Vector]:
        prices = np.exp(logs)
        extra = np.zeros(10)
        extra[finite] = prices[1:]
        paid = prices[0] + extra[hosts]
        x = best_response(paid)
        total = float((w * value(x) - paid * x).sum() + prices[0] * budget)
        total += float(prices[1:] @ caps[finite])
        loads = np.bincount(hosts, weights=x, minlength=10)
        slack = np.concatenate([[budget - x.sum()], caps[finite] - loads[finite]])
        return total, slack * prices

    plan = solver(pages, budget, caps)  # type: ignore[operator]
    start = np.zeros(1 + finite.size)
    found = optimize.minimize(
        dual, start, jac=True, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-9}
    )

    ours = plan.value * w.sum() * (1 if even else -1)
    assert ours == pytest.approx(found.fun, rel=1e-7)
