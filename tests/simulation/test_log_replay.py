"""Logs run again under another control: against exact measures, and a slow twin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.errors import InvalidModel
from recrawl.fleet.bursty import BufferCosts, BurstyBuffer, evaluate_map
from recrawl.learning.batch_log import BatchLog, split_log
from recrawl.processes.batch_arrivals import BatchArrivals
from recrawl.processes.markovian_arrivals import MarkovianArrivals
from recrawl.processes.phase_type import PhaseType
from recrawl.simulation.log_replay import replay_log

COSTS = BufferCosts(loss=2.0, sojourn=0.1, robots=0.05, starvation=3.0)


def buffer(
    admission: str, capacity: int = 4, sizes: tuple[float, ...] = (0.7, 0.0, 0.3)
) -> BurstyBuffer:
    """Poisson batches of 1 or 3 pages from each robot, indexing times that vary."""
    modes = [BatchArrivals.of(MarkovianArrivals.poisson(0.3 * r), sizes) for r in (1, 2, 3)]
    service = PhaseType.hyperexponential([0.8, 0.2], [0.5, 3.0])
    return BurstyBuffer(capacity, modes, service, costs=COSTS, admission=admission)  # type: ignore[arg-type]


def drawn_log(seed: int, batches: int, robots: int) -> tuple[BatchLog, np.ndarray]:
    """A log of such robots, and indexing times of the pages."""
    random = np.random.default_rng(seed)
    gaps = random.exponential(1 / (0.3 * robots), batches)
    sizes = random.choice([1, 3], batches + 1, p=[0.7, 0.3])
    log = BatchLog(gaps, np.array([0, batches]), sizes, np.zeros(0), 0)
    slow = random.random(2 * batches) < 0.2
    return log, random.exponential(np.where(slow, 3.0, 0.5))


@pytest.mark.parametrize("admission", ["partial", "reject", "complete"])
def test_a_log_of_the_model_costs_what_the_model_says(admission: str) -> None:
    """150,000 batches of two robots, run under a map of one to three: all measures, to 3 errors."""
    model = buffer(admission)
    control = (3, 3, 2, 1, 1, 1, 1)[: model.levels]
    exact, (log, services) = evaluate_map(model, control), drawn_log(1, 150_000, 2)

    found = replay_log(model, control, log, 2, services)

    for name in ("cost", "loss", "starvation", "robots_mean", "buffer_mean", "sojourn_served"):
        assert getattr(found, name).holds(getattr(exact, name), widths=1.5), name
        assert getattr(found, name).half_width < 0.03 * getattr(exact, name)
    assert found.pages == log.sizes[1:].sum()


def slowly(
    log: BatchLog,
    robots: int,
    services: np.ndarray,
    control: tuple[int, ...],
    rule: tuple[int, str],
) -> tuple[float, ...]:
    """The same by small steps of the next thing to happen, in lists."""
    capacity, admission = rule
    queue: list[float] = []  # what is left to index of each page
    time = idle = area = worked = 0.0
    lost = drawn = 0
    for gap, size in zip(log.intervals, log.sizes[1:], strict=True):
        work = gap * robots
        while work > 0:
            speed = control[len(queue)]
            step = work / speed if speed else np.inf
            if queue:
                step = min(step, queue[0])
            time, area, worked = time + step, area + step * len(queue), worked + step * speed
            idle += 0.0 if queue else step
            finished = bool(queue) and step == queue[0]
            arrived = bool(speed) and step == work / speed
            work = 0.0 if arrived else work - step * speed
            if queue:
                queue[0] -= step
            if finished and not arrived:
                queue.pop(0)
        room = capacity - len(queue)
        fits = {"partial": min(size, max(room, 0)), "reject": size if size <= room else 0}
        taken = int(fits.get(admission, size if room > 0 else 0))
        lost += int(size) - taken
        for _ in range(taken):
            queue.append(float(services[drawn % services.size]))
            drawn += 1
    return time, idle / time, area / time, worked / time, lost / log.sizes[1:].sum()


@given(st.integers(0, 2**32 - 1), st.sampled_from(["partial", "reject", "complete"]))
@settings(max_examples=25)
def test_every_step_is_right(seed: int, admission: str) -> None:
    """By a slow twin on short logs; controls that rest at some lengths too."""
    random = np.random.default_rng(seed)
    log, services = drawn_log(seed, 400, 2)
    model = buffer(admission)
    control = (int(random.integers(1, 4)), *random.integers(0, 4, model.levels - 1).tolist())

    found = replay_log(model, control, log, 2, services)

    _, idle, pages, worked, lost = slowly(log, 2, services, control, (4, admission))
    assert found.starvation.mean == pytest.approx(idle, rel=1e-9)
    assert found.buffer_mean.mean == pytest.approx(pages, rel=1e-9)
    assert found.robots_mean.mean == pytest.approx(worked, rel=1e-9)
    assert found.loss.mean == pytest.approx(lost, rel=1e-12)


def test_the_robots_of_the_log_get_its_own_times() -> None:
    """The same number as in the log: it takes as long; twice as many, half as long when idle."""
    log, _ = drawn_log(4, 640, 2)
    model = buffer("partial", capacity=2_000)

    same = replay_log(model, (2,) * 2_001, log, 2, [0.0])
    twice = replay_log(model, (4,) * 2_001, log, 2, [0.0])

    assert same.starvation.mean == twice.starvation.mean == 1.0
    assert (same.robots_mean.mean, twice.robots_mean.mean) == (2.0, 4.0)
    assert same.loss.mean == 0.0


def test_stops_are_no_arrivals() -> None:
    """Of two stretches each first batch belongs to no gap."""
    times = np.concatenate([np.arange(200) * 1.0, 1e6 + np.arange(200) * 1.0])
    log = split_log(times, stop=1000.0)

    found = replay_log(buffer("partial"), (1,) * 5, log, 1, [0.5])

    assert found.pages == log.intervals.size == 398
    assert found.starvation.mean == pytest.approx(0.5, abs=0.01)


def test_batches_that_never_fit_are_lost() -> None:
    """Each larger than the buffer, where it is all or nothing: always idle, and no stay to tell."""
    log = BatchLog(np.ones(320), np.array([0, 320]), np.full(321, 5), np.zeros(0), 0)

    found = replay_log(buffer("reject"), (1,) * 5, log, 1, [1.0])

    assert found.loss.mean == found.starvation.mean == 1.0
    assert found.sojourn_served.mean == 0.0
    assert found.sojourn_served.half_width == found.cost.half_width == np.inf


def test_refusals() -> None:
    """Each with its name, value and bound."""
    log, services = drawn_log(1, 400, 2)
    model = buffer("partial")
    stale = BurstyBuffer(4, model.arrivals, model.service, PhaseType.exponential(1.0))
    short, _ = drawn_log(1, 319, 2)
    with pytest.raises(InvalidModel, match="does not tell when pages would have gone stale"):
        replay_log(stale, (1,) * 5, log, 2, services)
    with pytest.raises(InvalidModel, match=r"4 numbers were given, 0 \.\. 4 pages need 5"):
        replay_log(model, (1,) * 4, log, 2, services)
    with pytest.raises(InvalidModel, match="must be >= 0, and > 0 at 0 pages"):
        replay_log(model, (0, 1, 1, 1, 1), log, 2, services)
    with pytest.raises(InvalidModel, match="robots_in_log must be finite and > 0, got 0"):
        replay_log(model, (1,) * 5, log, 0, services)
    with pytest.raises(InvalidModel, match="services must be a vector of at least one time"):
        replay_log(model, (1,) * 5, log, 2, [-1.0])
    with pytest.raises(InvalidModel, match="319 batches are too few; 320 are needed"):
        replay_log(model, (1,) * 5, short, 2, services)
    with pytest.raises(InvalidModel, match="a batch of 3 pages, but the largest of the model is 1"):
        replay_log(buffer("complete", sizes=(1.0,)), (1,) * 5, log, 2, services)
