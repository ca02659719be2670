"""Which pages the feed is told of whose importance has changed."""

import numpy as np
import pytest

from recrawl.crawler.control.telling import version_of, worth_telling

NAN = float("nan")


@pytest.mark.parametrize(
    ("weights", "told", "expected"),
    [
        ([], [], []),
        ([1.0, 1.4, 0.7, 1.5, 0.6], [1.0, 1.0, 1.0, 1.0, 1.0], [4, 3]),
        ([1.0, 9.0, 5.0], [NAN, NAN, 1.0], [1, 0, 2]),  # those never told first
        ([0.0, 0.0, 2.0, 3.0], [0.0, 1.0, 0.0, 1.0], [2, 1, 3]),
        ([1e-300, 1e300], [1e300, 1e-300], [1, 0]),
    ],
)
def test_what_moved_by_half_as_much_again_is_told(
    weights: list[float], told: list[float], expected: list[int]
) -> None:
    """Up or down; what moved most comes first, and of what moved alike what is worth most."""
    rows = worth_telling(np.array(weights), np.array(told), 99)

    assert rows.tolist() == expected


def test_no_more_is_told_than_may_be() -> None:
    """The rest has moved as far the next time."""
    weights = np.array([2.0, 8.0, 4.0])

    assert worth_telling(weights, np.ones(3), 2).tolist() == [1, 2]
    assert worth_telling(weights, np.array([1.0, 8.0, 4.0]), 2).tolist() == [0]


@pytest.mark.parametrize(
    ("expected", "before", "at_s"), [(5_250, 0, 5.25), (5_250, 4_000, 5.25), (9_001, 9_000, 5.25)]
)
def test_versions_are_milliseconds_and_always_grow(expected: int, before: int, at_s: float) -> None:
    """Also where a clock has gone back, or two entries are of one instant."""
    assert version_of(before, at_s) == expected
