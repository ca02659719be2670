"""What it is worth to be told when a page last changed.

Error of rates (root mean square of the logarithm) on synthetic pages, and the freshness of replays
of a recorded history, with and without a truthful Last-Modified.

    python bench/last_change.py [CHANGES.parquet PAGES.parquet]

Bar: rates are nowhere further from the truth with it than without, and at three changes between
visits their error is at most two thirds; no replay is staler by more than a fifth of a point. The
latter is missed where changes come in bursts, which are no Poisson process (0.3 points on one).
"""

import argparse
from pathlib import Path

import numpy as np

from recrawl.learning.beliefs import RateBeliefs
from recrawl.learning.last_change import split_visits
from recrawl.simulation.backtest import Backtest, run_policy
from recrawl.simulation.history import ChangeHistory


def rate_errors(visits: int, interval: float, n: int = 3_000) -> list[float]:
    """Return the errors without and with the times of change."""
    rng = np.random.default_rng(0)
    rates = np.exp(rng.normal(0, 1.5, n))
    page = np.repeat(np.arange(n), visits)
    age, elapsed = rng.exponential(1 / rates[page]), np.full(page.size, interval)
    changed = age < interval
    out = []
    for told in (False, True):
        seen = (page, elapsed, changed)
        if told:
            seen = split_visits(*seen, np.where(changed, age, np.nan), moment=1e-4)
        beliefs = RateBeliefs(n, prior_rate=1.0, half_lives=(np.inf, 100.0))
        beliefs.observe(*seen)
        beliefs.learn(np.arange(n))
        found, _ = beliefs.rates(np.arange(n))
        out.append(float(np.sqrt(np.mean(np.log(found / rates) ** 2))))
    return out


def synthetic(n: int, days: float) -> ChangeHistory:
    """Return a history of Poisson changes, rates log-normal about one a day."""
    rng = np.random.default_rng(1)
    rates = np.exp(1.5 * rng.standard_normal(n))
    page = np.repeat(np.arange(n), rng.poisson(rates * days))
    at = rng.uniform(0.0, days, page.size)
    order = np.lexsort((at, page))
    alike, none = np.zeros(n, np.int64), np.zeros(n, np.bool_)
    ends = (np.zeros(n), np.full(n, days))
    return ChangeHistory(page, at[order], *ends, none, np.ones(n), alike, alike, np.zeros(0))


def replays(name: str, history: ChangeHistory, second: float) -> None:
    """Print the freshness at several budgets; ``second`` in the history's unit of time."""
    span = history.end - history.start
    rate = history.changed_at.size / span
    for share in (0.25, 0.5, 1.0, 2.0):
        fresh = []
        for moment in (0.0, second):
            test = Backtest(history, share * rate, unit_s=1.0 / second, moment=moment)
            done = run_policy(test, "recrawl")
            fresh.append(100 * done.fresh.sum() / done.lifetimes.sum())
        print(
            f"{name}, {share:g} visits a change: {fresh[0]:.2f} % fresh without, {fresh[1]:.2f} % "
            f"with ({fresh[1] - fresh[0]:+.2f})"
        )


def main() -> None:
    """Print both parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", help="changes and pages, as the backtest reads them")
    tables = parser.parse_args().tables
    for visits in (3, 10, 30):
        for interval in (0.3, 1.0, 3.0):
            plain, told = rate_errors(visits, interval)
            print(f"{visits} visits, {interval:g} apart: error {plain:.3f}, with times {told:.3f}")
    replays("synthetic", synthetic(2_000, 60.0), 1.0 / 86_400.0)
    for changes, pages in zip(tables[::2], tables[1::2], strict=True):
        from recrawl.tables.histories import history_of

        replays(changes, history_of(Path(changes), Path(pages)), 1.0)


if __name__ == "__main__":
    main()
