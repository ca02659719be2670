"""What robots and indexer can bring."""

from math import inf

import pytest

from recrawl.crawler.control.fleet.capacity import Capacity


def seen(capacity: Capacity, requests: int, busy_s: float, service_s: float, every: int) -> None:
    """Have so many requests take so long, of which every so many brings a page."""
    for number in range(requests):
        brought = number % every == 0
        capacity.observe_request(busy_s, brought=brought)
        if brought:
            capacity.observe_service(service_s)


def test_until_enough_is_seen_nothing_bounds_a_plan() -> None:
    """Forty-nine requests are not enough; nor are they without pages for the indexer."""
    capacity = Capacity(4)
    seen(capacity, 49, 2.0, 1.0, 1)

    assert capacity.per_s == inf
    seen(capacity, 11, 2.0, 1.0, 50)
    assert capacity.by_robots_per_s == pytest.approx(2.0)


def test_robots_make_as_many_requests_as_their_time_allows() -> None:
    """Four of them, two seconds each."""
    capacity = Capacity(4)
    seen(capacity, 200, 2.0, 0.1, 2)

    assert capacity.per_s == capacity.by_robots_per_s == pytest.approx(2.0)


def test_an_indexer_keeps_up_with_more_requests_where_few_bring_a_page() -> None:
    """One second a page, of three requests one: three requests a second; twice that by two."""
    capacity, two = Capacity(40), Capacity(40, 2)
    for each in (capacity, two):
        seen(each, 600, 2.0, 1.0, 3)

    assert capacity.per_s == capacity.by_indexer_per_s == pytest.approx(3.0, rel=0.01)
    assert two.by_indexer_per_s == pytest.approx(6.0, rel=0.01)


def test_slower_answers_are_noticed() -> None:
    """After seven hundred requests the old ones count for half, after thousands for nothing."""
    capacity = Capacity(4)
    seen(capacity, 8_000, 1.0, 0.1, 2)
    seen(capacity, 693, 4.0, 0.1, 2)

    assert capacity.per_s == pytest.approx(4.0 / 2.5, rel=0.01)
    seen(capacity, 8_000, 4.0, 0.1, 2)
    assert capacity.per_s == pytest.approx(1.0, rel=0.01)


def test_an_indexer_that_is_brought_nothing_bounds_nothing() -> None:
    """One page of many requests does, however long ago."""
    capacity = Capacity(4)
    for n in range(121):
        capacity.observe_request(2.0, brought=n == 60)
        capacity.observe_service(1.0)
        assert (capacity.by_indexer_per_s == inf) == (n < 60)


@pytest.mark.parametrize(("requests", "services"), [(600, 49), (49, 600)])
def test_an_indexer_is_judged_once_enough_was_seen_of_requests_and_of_services(
    requests: int, services: int
) -> None:
    """Much of the one does not stand for the other; with sixty of both it is judged."""
    capacity = Capacity(4)
    for _ in range(requests):
        capacity.observe_request(2.0, brought=True)
    for _ in range(services):
        capacity.observe_service(1.0)

    assert capacity.by_indexer_per_s == inf
    seen(capacity, 11, 2.0, 1.0, 1)
    assert capacity.by_indexer_per_s == pytest.approx(1.0)
