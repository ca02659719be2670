"""Whether more robots bring more: by hand, and for robots that share what they use or do not."""

import math

import numpy as np
import pytest

from recrawl.crawler.control.fleet.crowding import Crowding


def seen(robots: np.ndarray, work: np.ndarray, memory: float = 1_000.0) -> Crowding:
    """Return what so many robots and so much work tell."""
    crowding = Crowding(memory)
    for number, took in zip(robots, work, strict=True):
        crowding.observe(int(number), float(took))
    return crowding


def test_the_share_is_that_of_the_line_through_what_was_seen() -> None:
    """By least squares, of all pages alike where none is forgotten."""
    random = np.random.default_rng(1)
    robots, work = random.integers(1, 17, 50), random.exponential(10.0, 50)

    share, error = seen(robots, work, memory=1e12).share

    slope, level = np.polyfit(robots, work, 1)
    left = work - level - slope * robots
    assert share == pytest.approx(slope * robots.mean() / work.mean(), rel=1e-4)
    deviation = np.sqrt((left**2).mean() / robots.var() / 50)
    assert error == pytest.approx(deviation * robots.mean() / work.mean(), rel=1e-4)


def test_robots_that_keep_out_of_each_others_way_are_not_crowded() -> None:
    """Exponential work, whatever their number: in none of a hundred crawls."""
    random = np.random.default_rng(2)
    for _ in range(100):
        robots, work = random.integers(2, 17, 400), random.exponential(10.0, 400)
        assert not seen(robots, work).is_shown


def test_robots_that_bring_as_much_however_many_they_are_are_crowded() -> None:
    """A processor that they share: within a few hundred pages in each of a hundred crawls."""
    random = np.random.default_rng(3)
    for _ in range(100):
        robots = random.integers(2, 17, 400)
        crowding = seen(robots, robots * random.exponential(1.0, 400))
        assert crowding.share[0] == pytest.approx(1.0, abs=0.5)
        assert crowding.is_shown


def test_what_cannot_be_told_is_not_shown() -> None:
    """Nothing, work of no time, or one number of robots all the time; faults of clocks are none."""
    for crowding in (
        Crowding(300.0),
        seen(np.arange(1, 200), np.zeros(199)),
        seen(np.full(500, 16), np.full(500, 10.0)),
        seen(np.array([1, 2, 3]), np.array([math.nan, -1.0, math.inf])),
    ):
        assert crowding.share == (0.0, math.inf)
        assert not crowding.is_shown
    assert not seen(np.arange(1, 51), np.arange(1, 51)).is_shown  # too few
