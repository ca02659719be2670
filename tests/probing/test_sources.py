"""Many sources under one budget: brute force, greedy, duality, host limits, streaming."""

import itertools

import numpy as np
import pytest

from recrawl.errors import InvalidModel
from recrawl.probing import (
    DBWORLD,
    ProbedSource,
    Profile,
    SourceBatch,
    allocate_probes,
    cost_by_count,
    schedule_batches,
    work_hours,
)


def random_batch(rng: np.random.Generator, m: int, cells: int) -> SourceBatch:
    """Draw sources with few distinct values, so that many prices tie."""
    updates = np.asarray(rng.integers(0, 4, (m, cells)) + 0.05, dtype=np.float64)
    worth = np.asarray(rng.integers(0, 3, (m, cells)) + 0.1, dtype=np.float64)
    return SourceBatch.of(
        updates,
        worth,
        weights=rng.choice([0.5, 1.0, 2.0], m),
        gaps=rng.integers(1, 3, m).astype(np.int32),
        most=rng.integers(1, 8, m),
        hosts=rng.integers(-1, 2, m),
    )


def curve(batch: SourceBatch, s: int) -> np.ndarray:
    """Least cost of 1, 2, ... probes of one source, by the solver for one source."""
    cells = batch.updates.shape[1]
    edges = np.arange(cells + 1.0)
    gap = float(batch.gaps[s]) if batch.gaps[s] > 1 else 0.0
    worth = batch.importance[s if batch.importance.shape[0] > 1 else 0]
    source = ProbedSource(
        Profile.steps(edges, batch.weights[s] * batch.updates[s]), Profile.steps(edges, worth), gap
    )
    most = int(min(batch.most[s], cells // batch.gaps[s]))
    return np.asarray(cost_by_count(source, most, cells))


@pytest.mark.parametrize("seed", range(30))
def test_the_joint_optimum_is_that_of_all_allocations(seed: int) -> None:
    """Every split of the budget tried, with gaps, weights, largest numbers and a host limit."""
    rng = np.random.default_rng(seed)
    batch = random_batch(rng, int(rng.integers(1, 6)), int(rng.integers(3, 10)))
    curves = [curve(batch, s) for s in range(batch.size)]
    budget = int(rng.integers(batch.size, 5 * batch.size + 1))
    on_host = int((batch.hosts == 0).sum())
    limits = {0: int(rng.integers(max(on_host, 1), 12))} if seed % 2 else {}
    best = min(
        sum(line[n - 1] for line, n in zip(curves, counts, strict=True))
        for counts in itertools.product(*(range(1, line.size + 1) for line in curves))
        if sum(counts) <= budget
        and all(np.array(counts)[batch.hosts == h].sum() <= most for h, most in limits.items())
    )

    found = allocate_probes(lambda: [batch], budget, host_limits=limits)

    assert found.total_cost == pytest.approx(best, rel=1e-9, abs=1e-9)
    assert found.counts.sum() <= budget
    assert found.lower_bound <= found.total_cost
    assert found.integrality_gap < 1e-9


def test_a_greedy_allocation_of_many_is_no_better() -> None:
    """400 sources: always the best next probe, from curves computed one source at a time."""
    rng = np.random.default_rng(7)
    updates = rng.gamma(0.7, 1.0, (400, 48)) * rng.lognormal(0, 1, (400, 1))
    batch = SourceBatch.of(updates, rng.choice([1.0, 3.0], (1, 48)))
    curves = [curve(batch, s) for s in range(400)]
    gains = np.sort(np.concatenate([-np.diff(line) for line in curves]))[::-1]
    expected = sum(line[0] for line in curves) - gains[: 3000 - 400].sum()

    found = allocate_probes(lambda: [batch], 3000)

    assert found.counts.sum() == 3000
    assert found.total_cost == pytest.approx(expected, rel=1e-9)
    assert found.price == pytest.approx(gains[3000 - 400], rel=1e-9)


def test_batches_and_threads_do_not_matter() -> None:
    """Streaming in parts, on two threads, is the same as all at once."""
    rng = np.random.default_rng(3)
    whole = random_batch(rng, 200, 24)
    parts = [whole.part(first, first + 30) for first in range(0, 200, 30)]

    one = allocate_probes(lambda: [whole], 700, host_limits={1: 190})
    other = allocate_probes(lambda: iter(parts), 700, host_limits={1: 190}, threads=2)

    assert other.counts.tolist() == one.counts.tolist()
    assert other.total_cost == pytest.approx(one.total_cost, rel=1e-12)
    assert other.price == pytest.approx(one.price, rel=1e-9)
    assert one.host_prices[1] > one.price
    assert one.counts[whole.hosts == 1].sum() <= 190


def test_equal_sources_tie_and_the_budget_is_spent_to_the_last() -> None:
    """Copies of a pattern of four equal weeks: wide ties at one price, shared out arbitrarily."""
    source = ProbedSource(DBWORLD.repeat(4), work_hours(9, 18, 3).repeat(4))
    L, A = source.integrals(np.arange(673) / 24)
    batch = SourceBatch.of(np.tile(np.diff(L), (50, 1)), np.diff(A)[None])

    for budget in (50 * 28 + 17, 50 * 33, 601):
        found = allocate_probes(lambda: [batch], budget)
        assert found.counts.sum() == budget
        assert found.integrality_gap < 1e-9


def test_a_budget_beyond_need_has_no_price() -> None:
    """Every source as often as helps, and not more."""
    batch = random_batch(np.random.default_rng(0), 5, 8)

    found = allocate_probes(lambda: [batch], 1000)

    assert found.price == 0
    assert found.total_cost == pytest.approx(sum(curve(batch, s).min() for s in range(5)))


def test_schedules_have_the_numbers_and_costs_of_the_allocation() -> None:
    """Each source's cells increase, respect its gap and end with the last."""
    batch = random_batch(np.random.default_rng(5), 40, 20)
    found = allocate_probes(lambda: [batch], 150, host_limits={0: 40})

    (made,) = schedule_batches(lambda: [batch], found)

    assert made.costs == pytest.approx(found.costs)
    for s in range(40):
        points = made.points[made.starts[s] : made.starts[s + 1]]
        assert points.size == found.counts[s]
        assert points[-1] == 20
        assert np.all(np.diff(points, prepend=0) >= batch.gaps[s])


def test_rounds_are_told() -> None:
    """The progress callback hears of every price and ends at nothing unsettled or only ties."""
    heard: list[tuple[int, int]] = []
    batch = random_batch(np.random.default_rng(9), 60, 16)

    allocate_probes(lambda: [batch], 200, progress=lambda *told: heard.append(told))

    assert heard[0] == (1, 60) or heard[0][1] <= 60
    assert [number for number, _ in heard] == list(range(1, len(heard) + 1))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"updates": np.ones((2, 4)) * -1}, "updates must be finite and >= 0"),
        ({"updates": np.zeros((2, 4))}, "updates of source 0 is zero everywhere"),
        ({"importance": np.zeros((1, 4))}, "importance of source 0 is zero"),
        ({"importance": np.ones((3, 4))}, "importance must have shape"),
        ({"weights": 0.0}, "weights must be finite and > 0"),
        ({"gaps": 5}, "gaps must lie in 1 .. 4"),
        ({"most": 0}, "most must be at least 1"),
    ],
)
def test_wrong_sources_are_refused(change, said: str) -> None:
    """Each message names the field."""
    given = {"updates": np.ones((2, 4)), "importance": np.ones((1, 4))} | change
    with pytest.raises(InvalidModel, match=said):
        SourceBatch.of(given.pop("updates"), given.pop("importance"), **given)


def test_budgets_that_cannot_be_are_refused() -> None:
    """Every source is probed at least at the end of the period."""
    batch = SourceBatch.of(np.ones((3, 4)), np.ones((1, 4)), hosts=0)

    with pytest.raises(InvalidModel, match="budget of 2 probes is less than one for each of 3"):
        allocate_probes(lambda: [batch], 2)
    with pytest.raises(InvalidModel, match="host 0: a limit of 2 probes"):
        allocate_probes(lambda: [batch], 9, host_limits={0: 2})
    with pytest.raises(InvalidModel, match="no source"):
        allocate_probes(lambda: [], 9)
    with pytest.raises(InvalidModel, match="same grid"):
        allocate_probes(lambda: [batch, SourceBatch.of(np.ones((1, 5)), np.ones((1, 5)))], 9)
