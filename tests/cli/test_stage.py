"""What the plans of a demonstration promised, by the time that each was in force."""

import pytest

from recrawl.cli.crawler.stage import Promises
from recrawl.crawler.telemetry.counters import CountingSink


def test_a_plan_counts_for_as_long_as_it_was_in_force() -> None:
    """The first ones, made in quick succession before the measurement, do not count."""
    promises = Promises(CountingSink())
    assert promises.over(100.0, 200.0) == (None, None)
    for at_s, freshness, waiting in [(1, 0.1, 0), (2, 0.2, 50), (110, 0.8, 100), (190, 0.9, 0)]:
        plan = {"at_s": float(at_s), "pages": 100, "waiting": waiting, "freshness": freshness}
        plan["estimate"] = 0.5 * freshness
        promises.emit("plan", plan)

    # The second plan speaks of two pages in three, the third of one in two.
    expected = (10.0 * 0.2 * 2 / 3 + 80.0 * 0.4 + 10.0 * 0.9) / 100.0
    assert promises.over(100.0, 200.0) == pytest.approx((expected, 0.5 * expected))
