"""Sources that are probed by the clock: when, how far apart, and what is learned."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.crawler.control.revisiting.timetables import (
    ProbedBy,
    Timetable,
    Timetables,
    even_timetable,
    learn_timetable,
)
from recrawl.crawler.settings.zones import find_zone
from recrawl.crawler.wiring.zones import local_clock
from recrawl.processes.local_clock import HOUR_S, WEEK_S, LocalClock
from recrawl.terms import Kind

MONDAY_S = 345_600.0 + 2_000 * WEEK_S
URL = "http://a.test/feed"


def source(n_probes: int = 14, gap_s: float = 0.0, clock: LocalClock | None = None) -> ProbedBy:
    return ProbedBy(URL, Kind.FEED, n_probes, gap_s, np.ones(168), clock or LocalClock.utc())


def probed(table: Timetable, n_probes: int, from_s: float = MONDAY_S) -> list[float]:
    """Return the instants of so many probes, one after the other."""
    at = [from_s]
    for _ in range(n_probes):
        at.append(table.next_s(at[-1]))
    return at[1:]


def office_hours(instants_s: list[float]) -> list[bool]:
    """Tell which probes find something of a source with two updates in every hour of work."""
    edges = np.arange(0, 60 * WEEK_S, HOUR_S / 2)
    hour, day = edges % 86_400 / HOUR_S, edges % WEEK_S // 86_400
    updates = MONDAY_S + edges[(hour >= 9) & (hour < 17) & (day < 5)]
    counts = np.searchsorted(updates, [MONDAY_S, *instants_s], side="right")
    return [bool(new) for new in np.diff(counts) > 0]


def test_what_is_not_known_is_probed_evenly_at_hours_that_move() -> None:
    """So often a week, and in time at every hour of the day."""
    at = probed(Timetables([source(14)]).all()[0], 14 * 60)

    assert at[-1] - MONDAY_S == pytest.approx(60 * WEEK_S, rel=0.02)
    assert len({int(instant % 86_400 // HOUR_S) for instant in at}) == 24


def test_even_probes_stand_in_the_middle_of_their_shares_of_the_week() -> None:
    """Four of them: each 21 hours after its share of 42 began."""
    table = even_timetable(source(4))

    assert (table.probes_s / HOUR_S).tolist() == [21.0, 63.0, 105.0, 147.0]
    assert table.shifts


@pytest.mark.parametrize("gap_s", [0.0, 2 * HOUR_S])
def test_a_clock_pattern_is_learned_and_obeyed(gap_s: float) -> None:
    """News of working hours wait less than half as long, the gap is kept, and the count too."""
    even = Timetables([source(28, gap_s)]).all()[0]
    at = probed(even, 28 * 12)

    table = learn_timetable(source(28, gap_s), at, office_hours(at))
    after = probed(table, 28 * 4)

    assert table.pattern != "not known yet"
    assert table.delay_s < 0.6 * table.even_delay_s
    assert table.even_delay_s == pytest.approx(WEEK_S / 28 / 2, rel=0.1)
    assert after[-1] - MONDAY_S == pytest.approx(4 * WEEK_S, abs=1.0)
    assert np.diff(after).min() >= gap_s - 1.0
    hours = (np.array(after) - MONDAY_S) % WEEK_S / HOUR_S
    assert np.mean((hours < 120.0) & (hours % 24 >= 9.0) & (hours % 24 <= 18.0)) > 0.6


@pytest.mark.parametrize("found", [True, False])
def test_results_that_are_all_alike_teach_nothing(found: bool) -> None:
    """Probes stay even, and go on moving."""
    at = probed(Timetables([source()]).all()[0], 60)

    assert learn_timetable(source(), at, [found] * 60).shifts


def test_a_few_results_teach_nothing() -> None:
    """Nor none at all; nor those that are older than half a year."""
    at = probed(even_timetable(source()), 20)
    found = office_hours(at)
    before = [one - 26 * WEEK_S + 1.0 for one in at]

    assert learn_timetable(source(), [], []).shifts
    assert learn_timetable(source(), at[1:], found[1:]).shifts
    learned = learn_timetable(source(), at, found)
    assert (learned.shifts, learned.n_results) == (False, 20)
    assert learn_timetable(source(), before[1:] + at[1:], found[1:] * 2).n_results == 19 + 1


def test_results_of_which_no_time_has_passed_teach_nothing() -> None:
    """As where clocks were put back in between: the rest is learned from as before."""
    at = probed(even_timetable(source()), 60)
    found = office_hours(at)

    twice = learn_timetable(source(), [*at, at[-1]], [*found, True])

    assert np.array_equal(twice.probes_s, learn_timetable(source(), at, found).probes_s)


@given(
    n_probes=st.integers(1, 300),
    spread=st.floats(0.0, 1.0),
    after_s=st.floats(0.0, 20 * 366 * 86_400.0),
    zone=st.sampled_from(["UTC", "Europe/Paris", "America/New_York", "Australia/Lord_Howe"]),
)
def test_the_next_probe_is_later_and_no_nearer_than_the_gap(
    n_probes: int, spread: float, after_s: float, zone: str
) -> None:
    """At any instant, through every change of the clocks; and never far away."""
    clock = CLOCKS.setdefault(zone, local_clock(find_zone(zone), 0.0, 20 * 366 * 86_400.0))
    rules = source(n_probes, spread * WEEK_S / n_probes, clock)
    table = Timetable(rules, np.linspace(0.0, WEEK_S, n_probes, endpoint=False), False, "", 0)

    wait_s = table.next_s(after_s) - after_s

    assert max(rules.gap_s, 1e-3) <= wait_s + 1e-6
    assert wait_s <= 1.5 * WEEK_S + 2 * HOUR_S


CLOCKS: dict[str, LocalClock] = {}


def test_the_clock_of_the_place_counts() -> None:
    """Nine in Paris is eight or seven of UTC."""
    clock = local_clock(find_zone("Europe/Paris"), 1.7e9, 1.9e9)
    table = Timetable(source(1, clock=clock), np.array([9 * HOUR_S]), False, "", 0)
    winter, summer = 1_799_020_800.0, 1_814_745_600.0  # 2027-01-03 and 2027-07-04, 16:00 UTC

    assert table.next_s(winter) % 86_400 == 8 * HOUR_S
    assert table.next_s(summer) % 86_400 == 7 * HOUR_S


@pytest.mark.parametrize(
    ("expected_h", "probe_h", "after_h"),
    [
        (105.0, 105.0, 20.0),  # nearer to the one of the week before
        (177.0, 9.0, 9.0),
        (177.0, 9.0, 0.0),
        (177.0, 9.0, 92.0),
        (345.0, 9.0, 94.0),  # stands for the one of the next week
        (345.0, 9.0, 167.0),
    ],
)
def test_a_probe_stands_for_the_nearest_one(
    expected_h: float, probe_h: float, after_h: float
) -> None:
    """As when the timetable is another since: none follows at once, and none is left out."""
    table = Timetable(source(1), np.array([probe_h * HOUR_S]), False, "", 0)

    assert table.next_s(MONDAY_S + after_h * HOUR_S) == MONDAY_S + expected_h * HOUR_S


@pytest.mark.parametrize("n_weeks", [8, 21])
@pytest.mark.parametrize("n_probes", [1, 14])
def test_probes_that_move_leave_no_part_of_their_share_unseen(n_probes: int, n_weeks: int) -> None:
    """By the golden ratio: after any number of weeks no gap is 1.2 times the mean of them."""
    share_s = WEEK_S / n_probes
    at = probed(even_timetable(source(n_probes)), n_probes * n_weeks)

    places = np.sort(np.array(at[n_probes // 2 :: n_probes]) % share_s / share_s)

    assert np.diff([*places, places[0] + 1.0]).max() < 1.2 / n_weeks


def test_other_pages_have_no_timetable() -> None:
    """They keep their rates."""
    tables = Timetables([source(14)])

    assert tables.next_s("http://a.test/", MONDAY_S) is None
    assert tables.next_s(URL, MONDAY_S) is not None
    assert tables.rate_per_s == pytest.approx(14 / WEEK_S)
