"""Exact measures: benchmark instances, brute force, balance, other models, simulation."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fleet.bursty.instances import INSTANCES, NAMES, brute_force, instance, random_model

from recrawl.errors import InvalidModel, NotConverged
from recrawl.fleet import ControlledBuffer, RobotPolicy, evaluate_policy
from recrawl.fleet.bursty import BufferCosts, BurstyBuffer, evaluate_map, follow_sojourns
from recrawl.fleet.bursty.iterative import solve_phases
from recrawl.processes.batch_arrivals import BatchArrivals
from recrawl.processes.phase_type import PhaseType
from recrawl.simulation.bursty_queue import simulate_bursty

A_MAP = (3, 3, 1, 1, 1, 1)


def unpacked(sigma: list[int] | list[list[int]]) -> list[int]:
    return [
        r for part in sigma for r in ([part[0]] * part[1] if isinstance(part, list) else [part])
    ]


@pytest.mark.parametrize("name", ["paper", "A", "B", "C"])
def test_benchmark_instances(name: str) -> None:
    """All measures of all policies to 1e-8, the smallest probabilities included."""
    model = instance(name)

    for policy in INSTANCES[name]["policies"]:
        found = evaluate_map(model, unpacked(policy["sigma"]))

        for symbol, measure in NAMES.items():
            assert getattr(found, measure) == pytest.approx(policy[symbol], rel=1e-8), symbol
        lengths = np.array(found.length_distribution)
        known = np.array(policy["p_n"])
        if known.size < lengths.size:
            lengths = np.concatenate([lengths[:6], lengths[-3:]])
        np.testing.assert_allclose(lengths, known, rtol=1e-8)
        np.testing.assert_allclose(found.time_at_robots, policy["P_mode"], rtol=1e-8, atol=1e-30)


@pytest.mark.parametrize("name", ["paper", "A", "C"])
def test_transforms_of_the_stay(name: str) -> None:
    """Served, stale and accepted pages at two points, for every policy."""
    model = instance(name)
    for policy in INSTANCES[name]["policies"]:
        stays = follow_sojourns(model, policy["sigma"])

        served, stale = (part.real for part in stays.transforms(0.0))
        assert (served, stale) == pytest.approx((policy["P_succ"], policy["P_obs"]), rel=1e-9)
        for s, known in policy["lst"].items():
            f, g = (part.real for part in stays.transforms(float(s)))
            assert f / served == pytest.approx(known["served"], rel=1e-8)
            assert g / stale == pytest.approx(known["obsolete"], rel=1e-8)
            assert (f + g) / (served + stale) == pytest.approx(known["accepted"], rel=1e-8)


@pytest.mark.slow
def test_sixty_five_thousand_states() -> None:
    """A14: no matrix over the states is made."""
    known = INSTANCES["A14"]

    found = evaluate_map(instance("A", 14), (3,) * 3 + (1,) * 12)

    assert found.states == known["states"]
    for symbol in set(NAMES) & set(known):
        assert getattr(found, NAMES[symbol]) == pytest.approx(known[symbol], rel=1e-8), symbol
    np.testing.assert_allclose(found.length_distribution, known["p_n"], rtol=1e-8)


@pytest.mark.parametrize("seed", range(12))
def test_against_a_generator_written_down_event_by_event(seed: int) -> None:
    """Random laws with cycles, batches and all admissions, to 1e-10."""
    model = random_model(seed)
    robots = [int(r) for r in np.random.default_rng(seed).integers(1, 3, model.levels)]

    found = evaluate_map(model, robots)

    for name, value in brute_force(model, model.modes(robots)).items():
        assert getattr(found, name) == pytest.approx(value, rel=1e-10, abs=1e-12), name


@given(st.integers(0, 10_000), st.sampled_from([0, 1, 2]), st.data())
@settings(max_examples=25, deadline=None)
def test_flow_balance_and_little(seed: int, stale_phases: int, data: st.DataObject) -> None:
    """What comes is lost, goes stale or is served; and L = lambda times the mean stay."""
    model = random_model(seed, stale_phases=stale_phases)
    robots = data.draw(
        st.lists(st.sampled_from([1, 2]), min_size=model.levels, max_size=model.levels)
    )

    found = evaluate_map(model, robots)
    stays = follow_sojourns(model, robots)

    assert found.loss + found.obsolescence + found.success == pytest.approx(1, abs=1e-11)
    lengths = np.array(found.length_distribution)
    assert lengths.sum() == pytest.approx(1, abs=1e-12)
    pages = np.arange(model.levels) @ lengths
    assert found.buffer_mean == pytest.approx(pages, rel=1e-9)
    h = 1e-5 / max(found.sojourn_accepted, 1e-9)
    slope = sum(stays.transforms(0.0)) - sum(stays.transforms(h))
    assert found.arrival_rate * slope.real / h == pytest.approx(pages, rel=1e-3)


def test_time_can_be_measured_in_any_unit() -> None:
    """All rates times seven: probabilities stay, times shrink."""
    model = instance("A")
    fast = BurstyBuffer(
        model.capacity,
        [BatchArrivals(7 * process.matrices) for process in model.arrivals],
        model.service.scaled(1 / 7),
        model.obsolescence.scaled(1 / 7) if model.obsolescence else None,
    )

    slow, quick = evaluate_map(model, A_MAP), evaluate_map(fast, A_MAP)

    assert quick.loss == pytest.approx(slow.loss, rel=1e-9)
    assert quick.sojourn_served == pytest.approx(slow.sojourn_served / 7, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("robots", [3, 12])
def test_talims_model_where_they_overlap(robots: int) -> None:
    """A fixed number of robots, exponential, no obsolescence: the same numbers."""
    talim = ControlledBuffer(16, 5, 0.1, 1.0, 1.4)
    (other, *_) = evaluate_policy(talim, RobotPolicy.static(robots, buffer=5, robots=16))
    poisson = BatchArrivals([[[-0.1 * robots]], [[0.1 * robots]]])
    costs = BufferCosts(loss=1.0, starvation=1.4)
    model = BurstyBuffer(5, [poisson], PhaseType.exponential(1.0), robots=(robots,), costs=costs)

    ours = evaluate_map(model, (robots,) * 6)

    assert ours.cost == pytest.approx(other.cost, rel=1e-12)
    assert ours.loss * ours.arrival_rate == pytest.approx(other.loss_rate, rel=1e-12)
    assert ours.sojourn_served == pytest.approx(other.response_time, rel=1e-12)


def test_large_blocks_are_eliminated_by_lapack_to_the_same_law() -> None:
    """Blocks of 24 without batches: the compiled and the library elimination agree."""
    rng = np.random.default_rng(5)
    parts = rng.uniform(0.1, 1, (2, 6, 6))
    parts[0] *= 1 - np.eye(6)
    parts[0] -= np.diag(parts.sum(axis=(0, 2)))
    service = PhaseType.erlang(4, 0.4)
    model = BurstyBuffer(30, [BatchArrivals(parts)], service, PhaseType.exponential(9.0))
    wide = BatchArrivals([*parts, np.zeros((6, 6))])  # no batches, but room for them

    large = evaluate_map(model, (1,) * 31)
    small = evaluate_map(replace(model, arrivals=[wide]), (1,) * 31)

    np.testing.assert_allclose(large.length_distribution, small.length_distribution, rtol=1e-9)
    assert large.obsolescence == pytest.approx(small.obsolescence, rel=1e-11)


def test_defective_clocks() -> None:
    """Erlang obsolescence, whose generator has no eigenvectors enough, against brute force."""
    model = replace(instance("A", 4), obsolescence=PhaseType.erlang(3, 2.0))
    robots = (4, 3, 2, 1, 1)

    found = evaluate_map(model, robots)

    for name, value in brute_force(model, model.modes(robots)).items():
        assert getattr(found, name) == pytest.approx(value, rel=1e-10), name


def test_distributions_of_the_stay() -> None:
    """One page at a time, never stale, a light load: M/M/1/N in closed form."""
    rate, speed, capacity = 0.3, 1.0, 4
    model = BurstyBuffer(
        capacity, [BatchArrivals([[[-rate]], [[rate]]])], PhaseType.exponential(1 / speed)
    )
    weights = (rate / speed) ** np.arange(capacity)  # pages met by an accepted one
    times = np.array([0.2, 1.0, 5.0])

    found = follow_sojourns(model, (1,) * 5).distribution(times)

    stages = [PhaseType.erlang(k + 1, (k + 1) / speed).distribution(times) for k in range(4)]
    np.testing.assert_allclose(found, weights @ np.array(stages) / weights.sum(), atol=1e-7)


def test_the_simulation_agrees_within_its_intervals() -> None:
    """Sojourn distributions included; phases, batches; 3 half widths, seed 4."""
    model = replace(instance("A"), obsolescence=PhaseType.erlang(2, 2.0))
    found = simulate_bursty(
        model, A_MAP, np.random.default_rng(4), events=1_000_000, times=[0.3, 1.0, 3.0]
    )
    exact, stays = evaluate_map(model, A_MAP), follow_sojourns(model, A_MAP)

    for name in ("cost", "loss", "obsolescence", "success", "starvation", "robots_mean"):
        assert getattr(found, name).holds(getattr(exact, name), widths=3), name
    for name in ("arrival_rate", "buffer_mean", "sojourn_served", "sojourn_obsolete"):
        assert getattr(found, name).holds(getattr(exact, name), widths=3), name
    for which, row in (("served", found.served_within), ("obsolete", found.obsolete_within)):
        for value, seen in zip(stays.distribution(found.times, which=which), row, strict=True):
            assert seen.holds(value, widths=3)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_the_simulation_agrees_on_random_models(seed: int) -> None:
    """All admissions; 4 half widths over 3 million events."""
    model = random_model(seed)
    robots = [int(r) for r in np.random.default_rng(seed).integers(1, 3, model.levels)]

    found = simulate_bursty(model, robots, np.random.default_rng(seed), events=3_000_000)

    exact = evaluate_map(model, robots)
    for name in ("cost", "loss", "obsolescence", "success", "buffer_mean", "sojourn_served"):
        assert getattr(found, name).holds(getattr(exact, name), widths=4), name


def test_what_is_too_large_is_said_with_its_size() -> None:
    """States and memory, and what else there is."""
    with pytest.raises(InvalidModel, match=r"4\.29e\+09 states .W = 2, M = 2., which would take"):
        evaluate_map(instance("A", 30), (1,) * 31)
    with pytest.raises(InvalidModel, match="window closure"):
        evaluate_map(instance("A", 4000), (1,) * 4001)


def test_stopping_short_is_an_error() -> None:
    """Never a silent wrong answer."""
    model = instance("A")

    with pytest.raises(NotConverged, match="after 3 iterations"):
        solve_phases(model, model.modes(A_MAP), most_iterations=3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"capacity": 0}, "capacity must be at least 1, got 0"),
        ({"arrivals": []}, "at least one process"),
        ({"robots": (1, 2)}, "4 processes are given"),
        ({"robots": (1, 3, 2, 4)}, "increasing"),
        ({"admission": "some"}, "partial, reject or complete, got 'some'"),
        ({"admission": "reject", "capacity": 3}, "batches of 4 pages come"),
        ({"service": PhaseType([1, 0], [[-1, 0], [1, -2]])}, "service: phase 1 is never visited"),
    ],
)
def test_bad_models_are_refused(change: dict[str, Any], message: str) -> None:
    """Each with what would be right."""
    with pytest.raises(InvalidModel, match=message):
        replace(instance("A"), **change)


def test_other_refusals() -> None:
    """Maps that do not fit, sizes that differ, costs below zero, simulations too short."""
    model = instance("A")
    with pytest.raises(InvalidModel, match=r"5 numbers were given, 0 .. 5 pages need 6"):
        evaluate_map(model, (1,) * 5)
    with pytest.raises(InvalidModel, match="7 robots at 2 pages, but the modes are 1, 2, 3, 4"):
        evaluate_map(model, (1, 1, 7, 1, 1, 1))
    with pytest.raises(InvalidModel, match="process 2 has 1 phases and the first 2"):
        replace(model, arrivals=[model.arrivals[0], BatchArrivals([[[-1]], [[1]]])], robots=())
    with pytest.raises(InvalidModel, match=r"costs.loss must be finite and >= 0, got -1"):
        BufferCosts(loss=-1)
    with pytest.raises(InvalidModel, match="events must be at least 3200"):
        simulate_bursty(model, A_MAP, np.random.default_rng(0), events=10)
    with pytest.raises(InvalidModel, match="served, obsolete or accepted, got 'lost'"):
        follow_sojourns(model, A_MAP).distribution([1.0], which="lost")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["hyperexponential", "erlang"])
@pytest.mark.parametrize("seed", range(20))
def test_one_waiting_place_with_phases_of_obsolescence_is_exact(kind: str, seed: int) -> None:
    """States: empty, one in service, and one waiting in each phase; written out and solved."""
    random = np.random.default_rng(seed)
    rate, served = random.uniform(0.2, 5.0, 2)
    if kind == "erlang":
        stale = PhaseType.erlang(int(random.integers(2, 5)), float(random.uniform(0.2, 5.0)))
    else:
        share = float(random.uniform(0.1, 0.9))
        stale = PhaseType.hyperexponential([share, 1 - share], 10.0 ** random.uniform(-2, 2, 2))
    model = BurstyBuffer(
        2,
        [BatchArrivals([[[-rate]], [[rate]]])],
        PhaseType.exponential(float(1.0 / served)),
        stale,
        robots=[1],
    )
    v = stale.initial.size
    q = np.zeros((2 + v, 2 + v))
    q[0, 1], q[1, 0], q[1, 2:] = rate, served, rate * stale.initial
    q[2:, 1] = served + stale.exits
    q[2:, 2:] = stale.generator - np.diag(np.diag(stale.generator))
    q -= np.diag(q.sum(axis=1))
    law = np.linalg.lstsq(np.vstack([q.T, np.ones(2 + v)]), np.eye(3 + v)[2 + v], rcond=None)[0]

    told = evaluate_map(model, (1, 1, 1))

    assert told.length_distribution == pytest.approx((law[0], law[1], law[2:].sum()), abs=1e-10)
    assert told.obsolescence == pytest.approx(law[2:] @ stale.exits / rate, abs=1e-10)
    assert told.loss + told.obsolescence + told.success == pytest.approx(1.0, abs=1e-10)
    assert told.residual < 1e-10
