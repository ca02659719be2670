"""No order is below the bound that is printed beside it.

Random tables of pages: rates and weights over decades, the best frequencies or drawn ones, all
policies.

    python bench/order_gaps.py [--instances 2000]

Bar: in 2,000 instances no policy's cost is below its bound by more than its stated error and 1e-9,
and policies that are said to keep frequencies send at most 0.3 % of all visits elsewhere.
"""

import argparse
import time

import numpy as np

from recrawl.processes.access_times import ConstantTime
from recrawl.sequencing import (
    KEEPERS,
    POLICIES,
    AgeingCosts,
    best_bound,
    bound_even_gaps,
    judge_policy,
)


def draw(seed: int) -> tuple[AgeingCosts, np.ndarray]:
    """Draw costs and frequencies."""
    rng = np.random.default_rng(seed)
    n = int(np.exp(rng.uniform(np.log(3), np.log(150))))
    rates = np.exp(rng.normal(0, rng.uniform(0, 2), n)) / n * rng.choice([0.1, 1, 5])
    weights = rates if seed % 3 == 0 else np.exp(rng.normal(0, 1, n))
    costs = AgeingCosts.obsolescence(rates, weights, ConstantTime(1.0))
    best = bound_even_gaps(costs).frequencies
    return costs, best if seed % 2 else rng.dirichlet(np.ones(n)) + 1e-4


def main() -> None:
    """Run and print one line for each policy."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instances", type=int, default=2000)
    options = parser.parse_args()
    began = time.perf_counter()
    names = [name for name in POLICIES if name not in ("optimal", "random")]
    below = dict.fromkeys(names, 0)
    worst = dict.fromkeys(names, 0.0)
    off = dict.fromkeys(names, 0.0)
    for seed in range(options.instances):
        costs, frequencies = draw(seed)
        shares = frequencies / frequencies.sum()
        for name in names:
            judged = judge_policy(name, costs, frequencies)
            bound, _ = best_bound(costs, frequencies, name)
            under = (bound - judged.cost - judged.error) / abs(bound)
            below[name] += under > 1e-9
            worst[name] = max(worst[name], under)
            off[name] = max(off[name], 0.5 * np.abs(judged.frequencies - shares).sum())
    for name in names:
        kept = "keeps" if name in KEEPERS else "moves"
        print(
            f"{name}: {below[name]} of {options.instances} below the bound, by at most "
            f"{worst[name]:.1e}; {kept} frequencies, at most {100 * off[name]:.2f} % elsewhere"
        )
    print(f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
