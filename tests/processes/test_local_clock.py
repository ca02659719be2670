"""Wall clocks: there and back, through summer time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.crawler.settings.zones import find_zone
from recrawl.crawler.wiring.zones import local_clock
from recrawl.processes.local_clock import LocalClock

PARIS = local_clock(find_zone("Europe/Paris"), 1.6e9, 1.9e9)
FORWARD_S = 1_774_746_000.0  # 2026-03-29 01:00 UTC: 2:00 becomes 3:00
BACK_S = 1_792_890_000.0  # 2026-10-25 01:00 UTC: 3:00 becomes 2:00


@given(st.floats(1.6e9, 1.9e9))
def test_there_and_back(instant_s: float) -> None:
    """Except for the hour that is repeated, whose first time is meant."""
    back = float(PARIS.instants_s(PARIS.local_s(instant_s)))

    assert back == pytest.approx(instant_s, abs=1e-3) or back == pytest.approx(
        instant_s - 3600.0, abs=1e-3
    )
    assert float(PARIS.local_s(back)) == pytest.approx(float(PARIS.local_s(instant_s)), abs=1e-3)


def test_an_hour_that_is_skipped_comes_later_on_the_clock() -> None:
    """2:30 of that night is 3:30."""
    half_past_two = float(PARIS.local_s(FORWARD_S - 1.0)) + 1.0 + 1800.0

    assert float(PARIS.instants_s(half_past_two)) == FORWARD_S + 1800.0


def test_an_hour_that_is_repeated_comes_first() -> None:
    """2:30 of that night is the one of summer."""
    half_past_two = float(PARIS.local_s(BACK_S + 1800.0))

    assert float(PARIS.instants_s(half_past_two)) == BACK_S - 1800.0


def test_time_is_neither_lost_nor_made_up() -> None:
    """The exposure of intervals sums to their length, but for the hours that the clock jumps."""
    times = np.array([0.0, 500.0, 90_000.0, 3_000_000.0])

    assert LocalClock.utc().weekly_exposure(times).sum(axis=1) == pytest.approx(np.diff(times))
