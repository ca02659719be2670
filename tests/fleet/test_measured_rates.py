"""Rates from observations."""

import numpy as np
import pytest

from recrawl.errors import InvalidModel
from recrawl.fleet import estimate_fetch_rate, estimate_index_rate


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    """Poisson robots whose number changes: 95 % of 400 logs, within three standard errors."""
    rng = np.random.default_rng(11)
    held = 0
    for _ in range(400):
        robots = rng.integers(1, 9, 200)
        times = np.cumsum(rng.exponential(1 / (0.3 * robots)))
        found = estimate_fetch_rate(times, robots)
        held += found.low <= 0.3 <= found.high

    assert abs(held / 400 - 0.95) < 3 * np.sqrt(0.95 * 0.05 / 400)


@pytest.mark.parametrize(("count", "burst"), [(3, 1.0), (5, 1.0), (10, 1.0), (10, 1.6), (30, 1.6)])
def test_few_events_have_an_interval_that_holds_the_truth(count: int, burst: float) -> None:
    """Exponential times, and times of squared variation 1.7; a normal law holds 86 to 93 %."""
    rng, held = np.random.default_rng(5), 0
    for _ in range(1000):
        scale = np.where(rng.random(count) < 0.5, burst, 2.0 - burst)
        found = estimate_index_rate(rng.exponential(scale))
        held += found.low <= 1.0 <= found.high

    assert held >= (935 if burst == 1.0 else 905)


def test_bursts_widen_the_interval() -> None:
    """Hyperexponential service: variation above 1, and an interval that knows it."""
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(300):
        fast = rng.random(400) < 0.9
        times = np.where(fast, rng.exponential(0.5, 400), rng.exponential(5.5, 400))
        found = estimate_index_rate(times)
        held += found.low <= 1.0 <= found.high
        assert found.variation > 1.5

    assert held / 300 > 0.9


def test_the_estimate_by_hand() -> None:
    """Three gaps with 1, 2 and 4 robots: 3 pages in 1 + 2 + 4 robot seconds."""
    found = estimate_fetch_rate(np.array([5.0, 6.0, 7.0, 8.0]), np.array([9, 1, 2, 4]))

    assert found.rate == pytest.approx(3 / 7)
    assert found.events == 3


@pytest.mark.parametrize(
    ("times", "robots", "message"),
    [
        ([0.0, 1.0], [1, 1], "at least 3"),
        ([0.0, 1.0, 2.0], [1, 1], "equal length"),
        ([0.0, 2.0, 1.0], [1, 1, 1], "entry 2 is before 1"),
        ([0.0, 1.0, 2.0], [1, 0, 1], "entry 1 is 0"),
        ([1.0, 1.0, 1.0], [1, 1, 1], "span no time"),
    ],
)
def test_logs_that_make_no_sense(times: list[float], robots: list[int], message: str) -> None:
    """The message names the entry."""
    with pytest.raises(InvalidModel, match=message):
        estimate_fetch_rate(np.array(times), np.array(robots))


@pytest.mark.parametrize(
    ("seconds", "message"),
    [
        ([1.0], "at least 2"),
        ([1.0, -1.0], "entry 1 is -1.0"),
        ([1.0, float("nan")], "entry 1 is nan"),
        ([0.0, 0.0], "span no time"),
    ],
)
def test_service_times_that_make_no_sense(seconds: list[float], message: str) -> None:
    """The message names the entry."""
    with pytest.raises(InvalidModel, match=message):
        estimate_index_rate(np.array(seconds))
