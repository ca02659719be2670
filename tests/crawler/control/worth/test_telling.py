"""Which pages the feed is told of whose importance has changed."""

import numpy as np
import pytest

from recrawl.crawler.control.worth.telling import worth_telling

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
