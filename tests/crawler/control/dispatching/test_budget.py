"""The budget: the one promise is that no window sees more requests than it was told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.crawler.control.dispatching.budget import FetchBudget

EPOCH_S = 1_800_000_000.0


@given(
    rate=st.floats(1e-4, 1e4),
    burst=st.floats(1, 100),
    pauses=st.lists(st.floats(0, 50), min_size=1, max_size=60),
)
def test_no_window_holds_more_than_rate_and_burst(
    rate: float, burst: float, pauses: list[float]
) -> None:
    """Whoever waits until ready never exceeds rate * t + burst in any window of length t."""
    budget = FetchBudget(rate, burst=burst)
    now_s, times = 0.0, []

    for pause in pauses:
        now_s = budget.ready_s(now_s + pause / rate)
        budget.spend(now_s)
        times.append(now_s)

    for first, start_s in enumerate(times):
        for last in range(first, len(times)):
            allowed = rate * (times[last] - start_s) + burst
            assert last - first + 1 <= allowed * (1 + 1e-9) + 1e-6


@given(rate=st.floats(1e-3, 1e3), n=st.integers(1, 200))
def test_at_full_speed_the_rate_is_reached(rate: float, n: int) -> None:
    """One token at the start, then one each 1/rate: n requests take (n - 1) / rate."""
    budget, now_s = FetchBudget(rate), EPOCH_S

    for _ in range(n):
        now_s = budget.ready_s(now_s)
        budget.spend(now_s)

    rounding = n * rate * 2.4e-7  # what a double of today's epoch cannot tell apart
    assert (now_s - EPOCH_S) * rate == pytest.approx(n - 1, rel=1e-6, abs=1e-6 + rounding)


def test_a_new_bucket_holds_one_token() -> None:
    """A crawler that is restarted often must not have a burst at every start."""
    budget = FetchBudget(0.5, burst=10)
    budget.spend(EPOCH_S)

    assert budget.ready_s(EPOCH_S) == EPOCH_S + 2.0


def test_a_pause_earns_no_more_than_the_burst() -> None:
    """After a night of nothing to do, three requests at once and then the rate again."""
    budget = FetchBudget(1.0, burst=3)
    budget.spend(EPOCH_S)
    later_s = EPOCH_S + 30_000
    ready = []

    for _ in range(5):
        ready.append(budget.ready_s(later_s) - later_s)
        budget.spend(later_s)

    assert ready == [0.0, 0.0, 0.0, 1.0, 2.0]


def test_unless_a_burst_is_allowed_there_is_none() -> None:
    """However long nothing was asked."""
    budget = FetchBudget(1.0)
    budget.spend(EPOCH_S)
    budget.spend(EPOCH_S + 30_000)

    assert budget.ready_s(EPOCH_S + 30_000) == EPOCH_S + 30_001


def test_requests_that_could_not_wait_are_paid_back() -> None:
    """Redirects of robots.txt are followed at once; what comes after waits for them too."""
    budget = FetchBudget(2.0)

    for _ in range(4):
        budget.spend(EPOCH_S)

    assert budget.ready_s(EPOCH_S) == EPOCH_S + 2.0


def test_a_clock_that_goes_back_earns_nothing() -> None:
    """Neither then nor when the time comes round again."""
    budget = FetchBudget(1.0, burst=5)
    budget.spend(EPOCH_S)

    assert budget.ready_s(EPOCH_S - 3600) == EPOCH_S - 3600 + 1.0
    assert budget.ready_s(EPOCH_S) == EPOCH_S + 1.0
