"""Hosts that tell when their pages change, and those that only say so."""

import numpy as np

from recrawl.crawler.control.change_times import ChangeTimes
from recrawl.learning.last_change import split_visits


def visits(n: int, lie: bool, seed: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    elapsed, age = np.full(n, 3_600.0), rng.exponential(5_000.0, n)
    changed = age < elapsed
    return elapsed, changed, np.zeros(n) if lie else age


def test_each_host_is_judged_by_itself() -> None:
    """One tells the truth, one the present; only the first one's visits are split."""
    times, rows = ChangeTimes(), np.arange(2)
    page = np.repeat(rows, 300)
    pair = visits(300, False, 1), visits(300, True, 2)
    both = [np.concatenate(parts) for parts in zip(*pair, strict=True)]

    times.observe(rows, page, page, *both)
    dated = times.dated(page, both[2])
    split, elapsed, changed, _ = split_visits(page, both[0], both[1], dated, moment=1.0)

    assert times.truthful == {0}
    assert np.count_nonzero(split == 1) == 300
    assert np.count_nonzero(split == 0) == 300 + np.count_nonzero(both[1][:300])
    assert elapsed[changed & (split == 0)].max() == 1.0


def test_visits_told_again_count_once_and_trust_can_be_lost() -> None:
    """Twelve visits a hundred times are no proof; a thousand lies end it."""
    times, rows = ChangeTimes(), np.zeros(1, np.int64)
    few = visits(12, False, 3)
    for _ in range(100):
        times.observe(rows, np.zeros(12, np.int64), np.zeros(12, np.int64), *few)
    assert not times.truthful

    for lie, trusted in ((False, True), (True, False)):
        for k in range(300):
            one = visits(4, lie, k + 10)
            rows = np.array([k + 300 * lie + 1])
            times.observe(rows, np.zeros(4, np.int64), np.zeros(4, np.int64), *one)
        assert bool(times.truthful) is trusted
