"""Demonstrations: what plans promised while each was in force, and how far the best one leads."""

import pytest

from recrawl.cli.crawler.demo import DemoPlan
from recrawl.cli.crawler.stage import OWN, Promises, play_virtually
from recrawl.crawler.telemetry.counters import CountingSink
from recrawl.simulation.web import DAY_S, WebShape


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


@pytest.mark.slow
def test_the_plan_beats_uniform_and_proportional_on_the_demos_web() -> None:
    """Thirty days of the web of `recrawl demo`, in virtual time: a busy machine changes nothing.

    What the plans promised comes true.
    """
    shape = WebShape(n_pages=400, n_hosts=4, days=40.0)
    budget_per_s = 0.5 * shape.n_pages * shape.mean_changes_per_day / DAY_S
    plan = DemoPlan(shape, 1, 60.0, budget_per_s, 1e9)

    arms = {name: play_virtually(name, plan) for name in (OWN, "uniform", "proportional")}

    fresh = {name: arm.weighted_freshness for name, arm in arms.items()}
    assert fresh[OWN] > max(fresh["uniform"], fresh["proportional"]) + 0.05
    assert arms[OWN].promised == pytest.approx(fresh[OWN], abs=0.04)
