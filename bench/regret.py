"""What it costs not to know the change rates: regret as time goes on.

Regret is the freshness lost against a plan by the true rates, summed over time, in page-days for
each page. Pages change by Poisson processes, rates log-normal, one visit a change; replays of one
history give it for what learns as it goes (`recrawl`) and for what shipped rules do. The arm to
beat explores first (Upadhyay et al. 2020): uniform visits for a share of the time that shrinks as
T^(-1/3), maximum likelihood with a prior, then the best plan by what was found; its freshness is
computed without noise from the rates.

    python bench/regret.py [--pages 2000] [--out docs/benchmarks/regret.csv]

Bar: after 30 days and later `recrawl` has less regret than the arm, and it grows more slowly than
time.
"""

import argparse
import csv
from pathlib import Path

import numpy as np

from recrawl.freshness import Pages, solve_even_freshness
from recrawl.learning.change_rates import estimate_change_rates
from recrawl.simulation.backtest import Backtest, run_policy
from recrawl.simulation.history import ChangeHistory


def poisson(rates, days):
    """Draw a history."""
    random, n = np.random.default_rng(7), rates.size
    page = np.repeat(np.arange(n), random.poisson(rates * days))
    at = random.uniform(0.0, days, page.size)
    order = np.lexsort((at, page))
    alike, none = np.zeros(n, np.int64), np.zeros(n, np.bool_)
    ends = (np.zeros(n), np.full(n, days))
    return ChangeHistory(page, at[order], *ends, none, np.ones(n), alike, alike, np.zeros(0))


def even(rates, visits):
    """Freshness of even visits, on average over pages."""
    with np.errstate(divide="ignore", invalid="ignore"):
        fresh = visits / rates * -np.expm1(-rates / visits)
    return float(np.where(visits > 0, fresh, 0.0).mean())


def explore_then_commit(rates, budget, days):
    """Regret of the arm, the best of three lengths of exploration."""
    n, best = rates.size, solve_even_freshness(Pages(rates), budget).value
    uniform = np.full(n, budget / n)
    found = []
    for factor in (0.5, 1.0, 2.0):
        explored = min(factor * days ** (2 / 3), days)
        visits = max(int(explored * budget / n), 1)
        gap = n / budget
        changed = np.random.default_rng(8).random((n, visits)) < -np.expm1(-rates * gap)[:, None]
        page, elapsed = np.repeat(np.arange(n), visits), np.full(n * visits, gap)
        prior = {"prior_rate": 1.0 / gap, "prior_shape": 0.5}
        guess = estimate_change_rates(n, page, elapsed, changed.ravel(), **prior).rates
        plan = solve_even_freshness(Pages(guess), budget).crawl_rates
        lost = explored * (best - even(rates, uniform))
        found.append(lost + (days - explored) * (best - even(rates, plan)))
    return min(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--out", type=Path, help="write the regrets, one a row")
    given = parser.parse_args()
    n, rows = given.pages, []
    rates = np.exp(1.5 * np.random.default_rng(6).standard_normal(n))
    rates /= rates.mean()
    print(f"{'days':>5s} {'recrawl':>9s} {'explore':>9s} {'nutch':>9s} {'uniform':>9s}")
    for days in (3.0, 10.0, 30.0, 100.0, 300.0):
        history = poisson(rates, days)
        fresh = {}
        for policy in ("oracle", "recrawl", "nutch", "uniform"):
            done = run_policy(Backtest(history, float(n), learning=1e-6, unit_s=86_400.0), policy)
            fresh[policy] = done.fresh.sum() / n
        regret = {name: fresh["oracle"] - value for name, value in fresh.items()}
        regret["explore"] = explore_then_commit(rates, float(n), days)
        shown = {name: regret[name] for name in ("recrawl", "explore", "nutch", "uniform")}
        print(f"{days:5.0f} ", " ".join(f"{lost:9.3f}" for lost in shown.values()), flush=True)
        rows += [(f"{days:.0f}", name, f"{lost:.3f}") for name, lost in shown.items()]
    if given.out is not None:
        with given.out.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([("days", "policy", "regret"), *rows])


if __name__ == "__main__":
    main()
