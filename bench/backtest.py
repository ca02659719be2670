"""Replays of histories and estimates of change rates: how fast, in CPU seconds on one core.

    python bench/backtest.py [--quick]

Bars: at least 2 million simulated visits a second on one core; change rates of 1,000,000 pages,
10 visits each, by maximum likelihood with a prior, in under 5 CPU seconds. The peer for estimates
is the same Newton iteration on whole columns in numpy. Compilation excluded.
"""

import argparse
import resource
import time

import numpy as np

from recrawl.learning.beliefs import RateBeliefs
from recrawl.learning.change_rates import estimate_change_rates
from recrawl.simulation.backtest import Backtest, run_policy
from recrawl.simulation.history import ChangeHistory

ROW = "{:46s} {:>12s} {:>8s} {:>16s} {:>8s}"


def poisson_history(n_pages, visits_a_page):
    """Log-normal rates of mean one; twice the budget of the change rate."""
    random = np.random.default_rng(0)
    rates = np.exp(1.5 * random.standard_normal(n_pages))
    rates /= rates.mean()
    end = visits_a_page / 2.0
    page = np.repeat(np.arange(n_pages), random.poisson(rates * end))
    at = random.uniform(0.0, end, page.size)
    order = np.lexsort((at, page))
    alike, none = np.zeros(n_pages, np.int64), np.zeros(n_pages, np.bool_)
    start, stop = np.zeros(n_pages), np.full(n_pages, end)
    return ChangeHistory(
        page, at[order], start, stop, none, np.ones(n_pages), alike, alike, np.zeros(0)
    )


def in_numpy(n, page, t, changed, rate, shape):
    """Newton's method on all pages at once, as one writes it with bincount."""
    quiet = np.bincount(page[~changed], t[~changed], n) + shape / rate
    hit, hit_t = page[changed], t[changed]
    theta = np.log(
        (shape + np.bincount(hit, minlength=n)) / (quiet + 0.5 * np.bincount(hit, hit_t, n))
    )
    for _ in range(100):
        now = np.exp(theta)
        x = now[hit] * hit_t
        pull = x / np.expm1(np.clip(x, 1e-8, 700.0))
        gradient = shape - now * quiet + np.bincount(hit, pull, n)
        information = now * quiet - np.bincount(hit, pull * (1.0 - x - pull), n)
        step = gradient / information
        theta += np.clip(step, -2.0, 2.0)
        if np.abs(step).max() < 1e-9:
            break
    return np.exp(theta)


def clocked(call):
    started = time.process_time()
    answer = call()
    return answer, time.process_time() - started


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the size")
    factor = 10 if parser.parse_args().quick else 1
    print(ROW.format("what", "visits", "CPU s", "visits a CPU s", "ratio"))

    small = poisson_history(50, 100)
    made = poisson_history(10_000, 400 // factor)
    test = Backtest(made, 2.0 * made.n_pages, unit_s=86_400.0)
    for policy in ("uniform", "stormcrawler", "news-crawl", "oracle", "recrawl"):
        run_policy(Backtest(small, 100.0, unit_s=86_400.0), policy)
        found, spent = clocked(lambda policy=policy: run_policy(test, policy))
        n = found.instants.size
        print(ROW.format(f"replay, {policy}", f"{n:,}", f"{spent:.2f}", f"{n / spent:,.0f}", ""))

    n = 1_000_000 // factor
    random = np.random.default_rng(1)
    rates = random.gamma(0.5, 2.0, n) + 1e-6
    page = np.repeat(np.arange(n), 10)
    elapsed = random.exponential(1.0, page.size)
    changed = random.random(page.size) < -np.expm1(-rates[page] * elapsed)
    given = {"prior_rate": 1.0, "prior_shape": 0.5}
    estimate_change_rates(1, page[:5], elapsed[:5], changed[:5], **given)
    ours, spent = clocked(lambda: estimate_change_rates(n, page, elapsed, changed, **given))
    peer, numpy_spent = clocked(lambda: in_numpy(n, page, elapsed, changed, 1.0, 0.5))
    assert np.allclose(ours.rates, peer, rtol=1e-6)
    total = f"{page.size:,}"
    for name, one in (("estimates, recrawl", spent), ("estimates, numpy", numpy_spent)):
        each = f"{page.size / one:,.0f}"
        print(ROW.format(name, total, f"{one:.2f}", each, f"{one / spent:.1f}"))

    for lives in ((np.inf,), (np.inf, 14.0, 1.4)):
        beliefs = RateBeliefs(n, prior_rate=1.0, half_lives=lives)
        beliefs.observe(page[:10], elapsed[:10], changed[:10])
        _, one = clocked(lambda beliefs=beliefs: beliefs.observe(page, elapsed, changed))
        name = f"beliefs, visit by visit, {len(lives)} half-lives"
        print(ROW.format(name, total, f"{one:.2f}", f"{page.size / one:,.0f}", ""))
    print(f"memory at its greatest {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MiB")


if __name__ == "__main__":
    main()
