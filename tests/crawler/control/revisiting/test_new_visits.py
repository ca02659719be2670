"""Visits that are told again and again count once."""

import numpy as np

from recrawl.crawler.control.revisiting.new_visits import NewVisits


def new_of(counted: NewVisits, n_visits: list[int]) -> list[int]:
    """Tell so many visits of pages 3 and 1; return how many of each are new."""
    rows = np.array([3, 1])
    page = np.repeat([0, 1], n_visits)
    new = counted.among(rows, page)
    for one, n in enumerate(n_visits):
        own = new[page == one]
        assert own.tolist() == [False] * (n - own.sum()) + [True] * own.sum(), "the latest are"
    return [int(n) for n in np.bincount(page[new], minlength=2)]


def test_what_was_told_before_does_not_count_again() -> None:
    counted = NewVisits()

    assert new_of(counted, [4, 0]) == [4, 0]
    assert new_of(counted, [6, 2]) == [2, 2]


def test_of_a_page_with_more_visits_than_are_kept_the_latest_is_new() -> None:
    counted = NewVisits()

    assert new_of(counted, [10, 3]) == [10, 3]
    assert new_of(counted, [10, 3]) == [1, 1]


def test_what_another_one_was_told_is_known() -> None:
    counted = NewVisits()
    counted.recall(np.array([1, 3]), np.array([2, 5]))

    assert new_of(counted, [6, 6]) == [1, 4]
