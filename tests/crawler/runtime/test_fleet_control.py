"""The robots' control in the running engine: measured, solved for, followed, and as predicted."""

import asyncio
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.restless import costs_of, restless_crawl

from recrawl.crawler.control.dispatching.tasks import Wait
from recrawl.crawler.control.fleet.activation import ActivationPolicy, FixedRobots
from recrawl.crawler.facts import (
    FactRecord,
    FleetFacts,
    MeasuredFacts,
    PredictedFacts,
    SolvedFacts,
)
from recrawl.crawler.frontier.memory import MemoryFrontier
from recrawl.crawler.reports.status import model_words
from recrawl.errors import NotConverged
from recrawl.fleet import ControlledBuffer, solve_robots
from recrawl.fleet.static import solve_static
from recrawl.testing import VirtualCrawl, run_virtually

WON = {"plan_robots": 1.0, "starvation_to_win": 0.0}  # at least, by a control: who is asked then
MODEL = ControlledBuffer(16, 5, 0.1, 1.0, 1.4)  # the example of Talim et al., beyond balance


def world(
    seed: int,
    policy: ActivationPolicy | None,
    weight: float | None,
    *,
    buffer: int = MODEL.buffer,
    service_s: Callable[[np.random.Generator], float] = lambda random: random.exponential(1.0),
) -> VirtualCrawl:
    """Sixteen robots of mean 10 s, an indexer of mean 1 s, and pages that have always changed."""
    return restless_crawl(
        seed,
        n_robots=MODEL.robots,
        buffer=buffer,
        fetch_s=10.0,
        service_s=service_s,
        policy=policy,
        weight=weight,
    )


async def costs(
    seed: int, policy: ActivationPolicy | None, parts: int, part_s: float
) -> list[float]:
    """Return the cost of each part of a crawl, in the model's terms, after a warm-up."""
    virtual = world(seed, policy, 1.4 if policy is None else None)
    return await costs_of(virtual, 1.4, warm_up_s=2_000.0, parts=parts, part_s=part_s)


def followed(virtual: VirtualCrawl) -> tuple[SolvedFacts, PredictedFacts, MeasuredFacts]:
    """Return what the control in force was solved for, promises and has come to."""
    facts = virtual.frontier.facts()
    assert facts.solved is not None
    assert facts.predicted is not None
    assert facts.measured is not None
    return facts.solved, facts.predicted, facts.measured


@pytest.mark.slow
def test_the_control_is_solved_for_the_rates_as_measured_and_predicts_what_follows() -> None:
    """After some hundred pages, off the event loop; the prediction is kept beside what happens."""

    async def main() -> VirtualCrawl:
        virtual = world(1, None, 1.4)
        await virtual.run_for(4_000.0)
        return virtual

    virtual = run_virtually(main())

    control = virtual.crawl.control
    assert control is not None
    solved, predicted, measured = followed(virtual)
    assert solved.fetch_rate == pytest.approx(0.1, rel=0.25)
    assert solved.index_rate == pytest.approx(1.0, rel=0.25)
    assert measured.starvation == pytest.approx(predicted.starvation, abs=0.05)
    assert measured.robots_mean == pytest.approx(predicted.robots_mean, rel=0.1)
    assert measured.buffer_mean == pytest.approx(predicted.buffer_mean, rel=0.2)
    assert virtual.counts.events["control"] >= 1
    known = ControlledBuffer(
        16,
        5,
        solved.fetch_rate,
        solved.index_rate,
        1.4 * solved.index_rate,
    )
    targets = solve_robots(known).targets
    for length in range(6):
        for active in range(16):
            assert control.activate_on_departure(length, active) == (active < targets[length])


def test_time_of_robots_counts_up_to_each_page_though_none_stops() -> None:
    """Two robots that bring a page after ten seconds, and one after thirty, and go on."""

    async def main() -> list[float]:
        virtual = world(1, None, 1.4)
        control, begun_s = virtual.crawl.control, virtual.clock.now_s()
        assert control is not None
        control.observe_active(2)
        counted = []
        for after_s in (10.0, 30.0):
            await virtual.clock.sleep_until(begun_s + after_s)
            control.observe_fetch()
            counted.append(control.robot_seconds)
        return counted

    assert run_virtually(main()) == pytest.approx([20.0, 60.0])


@pytest.mark.parametrize("asked", ["plan_robots", "starvation_to_win"])
def test_a_control_that_cannot_be_solved_leaves_the_crawl_as_it_was(
    monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    """Whatever was measured: pages come, the safe control stays, and it is tried again later."""
    tried = []

    def fails(*_: object, **__: object) -> None:
        tried.append(1)
        raise NotConverged("law by lengths", iterations=1, residual=0.9)

    for module in ("drift", "regularity"):
        monkeypatch.setattr(f"recrawl.crawler.control.fleet.{module}.{asked}", fails, raising=False)
    monkeypatch.setattr("recrawl.crawler.runtime.fleet_control.most_to_win", lambda *_: WON[asked])

    async def main() -> VirtualCrawl:
        # Indexing times so irregular that the general model is asked for.
        virtual = world(1, None, 1.4, service_s=lambda random: random.lognormal(-2.0, 2.0))
        await virtual.run_for(2_000.0)
        return virtual

    virtual = run_virtually(main())

    control = virtual.crawl.control
    assert control is not None
    assert virtual.counts.events["control-failed"] == len(tried) >= 2
    assert len(tried) < 10
    assert virtual.crawl.buffer.arrivals > 500
    assert virtual.frontier.facts().predicted is None
    for length, active in ((0, 4), (3, 1), (3, 2), (5, 0)):  # as many robots as there is room
        assert control.activate_on_departure(length, active) == (active + length < MODEL.buffer)


def test_a_control_that_is_solved_again_and_again_loads_no_compiler(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It stays in memory for as long as the crawl runs, and few robots need none."""
    monkeypatch.setattr("recrawl.kernels.compile._IN_ALL", 0.0)  # the second call would pay
    monkeypatch.setattr("recrawl.kernels.compile.Loop.compiled", property(lambda _: 1 / 0))

    async def main() -> VirtualCrawl:
        virtual = world(1, None, 1.4)
        await virtual.run_for(1_000.0)
        return virtual

    virtual = run_virtually(main())

    assert virtual.counts.events["control"] >= 1
    assert virtual.frontier.facts().predicted is not None


def test_solving_takes_a_small_share_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long it takes, and however often rates are others by then."""
    monkeypatch.setattr(
        "recrawl.crawler.control.fleet.drift.AdaptiveRobots.has_drifted", lambda _: True
    )

    async def main() -> VirtualCrawl:
        virtual = world(1, None, 1.4)
        assert virtual.crawl.control is not None
        inner = virtual.crawl.control._on_plan

        async def slowly(call: Callable[..., Any], /, *arguments: Any) -> Any:
            await asyncio.sleep(10.0)
            return await inner(call, *arguments)

        monkeypatch.setattr(virtual.crawl.control, "_on_plan", slowly)
        await virtual.run_for(2_000.0)
        return virtual

    virtual = run_virtually(main())

    assert 2 <= virtual.counts.events["control"] <= 2 + 0.03 * 2_000 / 10


def test_a_crawl_that_has_nothing_to_do_hardly_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    """How things stand is noted in each second in which anything moves, else every ten."""
    noted = list[float]()
    save = MemoryFrontier.save_facts

    def counted(self: MemoryFrontier, *records: FactRecord) -> None:
        if any(isinstance(one, FleetFacts) for one in records):
            noted.append(asyncio.get_running_loop().time())
        save(self, *records)

    monkeypatch.setattr(MemoryFrontier, "save_facts", counted)

    async def main() -> tuple[int, int]:
        virtual = world(1, None, 1.4)
        await virtual.crawl.prepare()
        async with virtual.crawl.running():
            await asyncio.sleep(100.0)
            busy = len(noted)
            monkeypatch.setattr(virtual.crawl.dispatcher, "pick", lambda now_s: Wait(now_s + 1e6))
            await asyncio.sleep(200.0)  # for those that are on their way
            before = len(noted)
            await asyncio.sleep(1_000.0)
            return busy, len(noted) - before

    busy, quiet = run_virtually(main())

    assert busy >= 30  # there are seconds in which nothing moves
    assert 100 <= quiet <= 105


def test_without_a_weight_the_policy_stays() -> None:
    """Nothing is measured, and nothing said."""

    async def main() -> VirtualCrawl:
        virtual = world(1, None, None)
        await virtual.run_for(300.0)
        return virtual

    virtual = run_virtually(main())

    assert virtual.crawl.control is None
    assert virtual.frontier.facts().predicted is None


def test_a_control_that_loses_far_more_than_it_predicts_is_dropped() -> None:
    """An indexer that mostly answers at once and sometimes stalls is not what was solved for."""

    def stalling(random: np.random.Generator) -> float:
        return 150.0 if random.random() < 0.006 else 0.05

    async def main() -> VirtualCrawl:
        virtual = world(1, None, 1.4, service_s=stalling)
        await virtual.run_for(2_500.0)
        return virtual

    virtual = run_virtually(main())

    assert virtual.counts.events["control-dropped"] == 1
    assert virtual.frontier.facts().control.dropped
    # What it had come to stays; how things stand now goes on.
    assert virtual.frontier.facts().fleet.buffer_length is not None
    control = virtual.crawl.control
    assert control is not None
    for length in range(6):
        for active in range(16):
            assert control.activate_on_departure(length, active) == (active < 5 - length)


def test_where_nothing_can_be_won_nothing_is_solved() -> None:
    """A buffer with room for far more than the robots bring."""

    async def main() -> VirtualCrawl:
        virtual = world(1, None, 1.4, buffer=64)
        await virtual.run_for(500.0)
        return virtual

    virtual = run_virtually(main())

    assert virtual.counts.events["control"] == 0
    assert virtual.frontier.facts().predicted is None


@pytest.mark.slow
def test_an_irregular_indexer_is_measured_and_predicted_by_the_general_model() -> None:
    """Most pages take half a second, one in forty twenty: no exponential time, and said so."""

    def heavy(random: np.random.Generator) -> float:
        return random.exponential(20.0 if random.random() < 1 / 40 else 0.5)

    async def main() -> VirtualCrawl:
        virtual = world(3, None, 1.4, service_s=heavy)
        await virtual.run_for(10_000.0)
        return virtual

    virtual = run_virtually(main())

    solved, predicted, measured = followed(virtual)
    assert solved.is_general
    assert solved.service_variation > 4.0
    assert measured.starvation == pytest.approx(predicted.starvation, abs=0.1)
    assert measured.loss_rate == pytest.approx(predicted.loss_rate, abs=0.1)
    assert measured.buffer_mean == pytest.approx(predicted.buffer_mean, rel=0.3)
    assert "general: indexing times vary" in model_words(solved)


@pytest.mark.slow
def test_control_costs_what_theory_says_and_less_than_the_best_fixed_number() -> None:
    """The whole engine, exponential times: within a fifth of the predicted cost, both ways."""
    static, dynamic = solve_static(MODEL), solve_robots(MODEL)

    fixed = run_virtually(costs(1, FixedRobots(static.robots), 8, 2_500.0))
    controlled = run_virtually(costs(2, None, 8, 2_500.0))

    assert np.mean(fixed) == pytest.approx(static.cost, rel=0.2)
    assert np.mean(controlled) == pytest.approx(dynamic.cost, rel=0.2)
    apart = np.hypot(np.std(fixed, ddof=1), np.std(controlled, ddof=1)) / np.sqrt(8)
    assert np.mean(fixed) - np.mean(controlled) > 2.0 * apart
