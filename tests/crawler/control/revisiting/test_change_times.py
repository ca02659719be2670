"""Hosts that tell when their pages change, and those that only say so."""

import numpy as np

from recrawl.crawler.control.revisiting.change_times import ChangeTimes
from recrawl.learning.last_change import split_visits


def visits(n: int, lie: bool, seed: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    elapsed, age = np.full(n, 3_600.0), rng.exponential(5_000.0, n)
    changed = age < elapsed
    return elapsed, changed, np.zeros(n) if lie else age


def test_each_host_is_judged_by_itself() -> None:
    """One tells the truth, one the present; only the first one's visits are split."""
    times = ChangeTimes()
    page = np.repeat(np.arange(2), 300)
    pair = visits(300, False, 1), visits(300, True, 2)
    both = [np.concatenate(parts) for parts in zip(*pair, strict=True)]

    assert times.observe(page, *both) == [0, 1]
    dated = times.dated(page, both[2])
    split, elapsed, changed, _ = split_visits(page, both[0], both[1], dated, moment=1.0)

    assert times.truthful == {0}
    assert np.count_nonzero(split == 1) == 300
    assert np.count_nonzero(split == 0) == 300 + np.count_nonzero(both[1][:300])
    assert elapsed[changed & (split == 0)].max() == 1.0


def test_few_visits_are_no_proof_and_trust_can_be_lost() -> None:
    """Twelve visits are not enough, some hundreds are; a thousand lies end it."""
    times = ChangeTimes()
    times.observe(np.zeros(12, np.int64), *visits(12, False, 3))
    assert not times.truthful

    for lie, trusted in ((False, True), (True, False)):
        for k in range(300):
            times.observe(np.zeros(4, np.int64), *visits(4, lie, k + 10 + 300 * lie))
        assert bool(times.truthful) is trusted


def test_old_visits_fade() -> None:
    """However many there were, a host is judged by the latest thousand of each kind."""
    times = ChangeTimes()
    for k in range(40):
        times.observe(np.zeros(500, np.int64), *visits(500, False, k))
    n_told = times.tallies[0][:, 0]
    times.observe(np.zeros(2_000, np.int64), *visits(2_000, True, 99))

    assert n_told.max() == 1_000.0
    assert not times.truthful


def test_visits_without_a_date_tell_nothing() -> None:
    times = ChangeTimes()
    elapsed, changed, _ = visits(20, False, 1)

    assert times.observe(np.zeros(20, np.int64), elapsed, changed, np.full(20, np.nan)) == []
    assert not times.tallies
