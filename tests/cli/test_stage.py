"""Demonstrations: what plans promised while each was in force, and how far the best one leads."""

from functools import cache
from types import SimpleNamespace

import pytest

from recrawl.cli.crawler import demo
from recrawl.cli.crawler.demo import SPEED, DemoPlan
from recrawl.cli.crawler.stage import OWN, Played, Promises, play_virtually
from recrawl.crawler.telemetry.counters import CountingSink
from recrawl.simulation.web import DAY_S, WebShape


def test_a_plan_counts_for_as_long_as_it_was_in_force() -> None:
    """The first ones, made in quick succession before the measurement, do not count."""
    promises = Promises(CountingSink())
    assert promises.over(100.0, 200.0) == (None, None)
    for at_s, freshness, waiting in [(1, 0.1, 0), (2, 0.2, 50), (110, 0.8, 100), (190, 0.9, 0)]:
        plan = {"at_s": float(at_s), "share": 100 / (100 + waiting), "freshness": freshness}
        plan["estimate"] = 0.5 * freshness
        promises.emit("plan", plan)

    # The second plan speaks of two pages in three, the third of one in two.
    expected = (10.0 * 0.2 * 2 / 3 + 80.0 * 0.4 + 10.0 * 0.9) / 100.0
    assert promises.over(100.0, 200.0) == pytest.approx((expected, 0.5 * expected))


@cache
def played(policy: str) -> Played:
    """Thirty days of the web of `recrawl demo`, in virtual time: a busy machine changes nothing."""
    shape = WebShape(n_pages=400, n_hosts=4, days=40.0)
    budget_per_s = 0.5 * shape.n_pages * shape.mean_changes_per_day / DAY_S
    plan = DemoPlan(shape, 1, 60.0, budget_per_s=budget_per_s, epoch_s=1e9, speed=SPEED)
    return play_virtually(policy, plan)


@pytest.mark.slow
def test_the_plan_beats_uniform_and_proportional_on_the_demos_web() -> None:
    others = [played(policy).weighted_freshness for policy in ("uniform", "proportional")]
    assert played(OWN).weighted_freshness > max(others) + 0.05


@pytest.mark.slow
def test_what_plans_promise_on_the_demos_web_comes_true() -> None:
    assert played(OWN).promised == pytest.approx(played(OWN).weighted_freshness, abs=0.04)


@pytest.mark.parametrize(("visit_ms", "times"), [(1.0, 1.0), (10.0, 2.0), (100.0, 4.0)])
def test_the_demo_is_as_slow_as_the_machine(
    monkeypatch: pytest.MonkeyPatch, visit_ms: float, times: float
) -> None:
    """A hundred visits a second take half a processor at most, or the clock runs slower."""
    instants = iter((0.0, 50.0 * visit_ms / 1_000.0))
    monkeypatch.setattr(demo, "play_virtually", lambda *_: SimpleNamespace(fetches=50))
    monkeypatch.setattr(demo, "time", SimpleNamespace(perf_counter=lambda: next(instants)))
    plan = DemoPlan(
        WebShape(n_pages=400), 1, 60.0, budget_per_s=100.0 / SPEED, epoch_s=0.0, speed=SPEED
    )
    assert demo._speed(plan) == pytest.approx(SPEED / times)


@pytest.mark.parametrize(("fetches", "is_told"), [(5_900, False), (5_000, True)])
def test_a_demo_that_could_not_keep_pace_says_so(
    capsys: pytest.CaptureFixture[str], fetches: int, is_told: bool
) -> None:
    """Rather than show a plan that lost to policies which were given time."""
    arm = {"freshness": 0.7, "weighted_freshness": 0.7, "fetches": fetches}
    names = ("optimal", "uniform", "proportional")
    demo._show(
        {
            "policies": dict.fromkeys(names, arm),
            "days": 30.0,
            "budget": 200.0 / DAY_S,
            "fetches": fetches,
            "promised": 0.0,
            "pages": 400,
            "state": "recrawl-demo",
        }
    )
    told = " ".join(capsys.readouterr().out.split())
    assert ("of 6,000 requests that the budget pays recrawl made 5,000" in told) == is_told
