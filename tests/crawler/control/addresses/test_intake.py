"""How fast and how far a host may fill a crawl."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.crawler.control.addresses.intake import DomainIntake, HostIntake, has_room


def filled(demand: list[int], max_pages: int) -> list[int]:
    """Let hosts ask for one page each in turn until nobody gets any; return what each has."""
    held = [0] * len(demand)
    while True:
        asking = [n for n, most in enumerate(demand) if held[n] < most]
        got = False
        for n in asking:
            room = has_room(
                n_pages=sum(held), max_pages=max_pages, n_of_host=held[n], n_hosts=len(held)
            )
            held[n] += room
            got |= room
        if not got:
            return held


@given(st.lists(st.integers(0, 200), min_size=1, max_size=6), st.integers(10, 300))
def test_there_is_never_more_than_room_and_little_goes_unused(
    demand: list[int], max_pages: int
) -> None:
    held = filled(demand, max_pages)

    assert sum(held) <= max_pages
    assert sum(held) >= min(sum(demand), max_pages - max_pages // 10)


def test_a_host_that_filled_the_crawl_is_refused_and_others_are_not() -> None:
    """The one that came first has nine tenths; a newcomer gets of the rest."""
    first = has_room(n_pages=900, max_pages=1000, n_of_host=900, n_hosts=2)
    second = has_room(n_pages=900, max_pages=1000, n_of_host=0, n_hosts=2)

    assert (first, second) == (False, True)
    assert has_room(n_pages=999, max_pages=1000, n_of_host=0, n_hosts=9)
    assert not has_room(n_pages=1000, max_pages=1000, n_of_host=0, n_hosts=9)


def test_a_single_host_may_fill_everything() -> None:
    assert has_room(n_pages=999, max_pages=1000, n_of_host=999, n_hosts=1)


def test_five_minutes_worth_at_once_and_then_a_minutes_worth_a_minute() -> None:
    """For each host on its own."""
    intake = HostIntake(60.0)

    assert sum(intake.take("http://a.test", 0.0) for _ in range(1000)) == 300
    assert sum(intake.take("http://a.test", 60.0) for _ in range(1000)) == 60
    assert intake.take("http://b.test", 60.0)


def test_where_nothing_bounds_a_host_all_that_it_brings_is_taken() -> None:
    intake = HostIntake(inf)

    assert all(intake.take("http://a.test", 0.0) for _ in range(1000))


def test_of_more_than_a_hundred_thousand_hosts_nothing_is_remembered() -> None:
    """Then each has its five minutes' worth again."""
    intake = HostIntake(1.0)
    assert sum(intake.take("http://a.test", 0.0) for _ in range(9)) == 5
    for number in range(100_000):
        intake.take(f"http://{number}.test", 0.0)

    assert intake.take("http://a.test", 0.0)


@pytest.mark.parametrize("at_s", [-1e9, 0.0])
def test_a_clock_that_goes_back_gives_nothing(at_s: float) -> None:
    intake = HostIntake(1.0)
    assert sum(intake.take("http://a.test", 5.0) for _ in range(9)) == 5

    assert not intake.take("http://a.test", at_s)
    assert not intake.take("http://a.test", 5.0)


def test_names_below_a_domain_are_bounded_and_other_domains_are_not() -> None:
    """Whether they were known before or not; hosts that are in stay in."""
    intake = DomainIntake(5)
    intake.note(["http://old.a.test", "http://b.test", "http://old.a.test"])
    taken = [intake.full(f"http://n{number}.a.test") for number in range(20)]
    assert taken == [None] * 4 + ["a.test"] * 16

    assert [intake.full(f"http://n{number}.b.test") for number in range(6)] == [None] * 4 + [
        "b.test"
    ] * 2
    assert intake.full("http://old.a.test") is None
    assert intake.full("http://n3.a.test") is None
    assert intake.full("http://c.test") is None
