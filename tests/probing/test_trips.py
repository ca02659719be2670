"""Trips to several sources: against every plan of small grids, and the bound."""

import itertools
from typing import Any

import numpy as np
import pytest

from recrawl.errors import InvalidModel
from recrawl.probing import (
    DBWORLD,
    MICRONET,
    ProbedSource,
    Profile,
    plan_trips,
    solve_at_price,
    work_hours,
)


def drawn(seed: int, n_sources: int, period: float = 8.0) -> list[ProbedSource]:
    """Sources whose updates and worths change from hour to hour."""
    random = np.random.default_rng(seed)
    hours = np.arange(period + 1)
    return [
        ProbedSource(
            Profile.steps(hours, random.gamma(1.0, 1.0, int(period))),
            Profile.steps(hours, random.uniform(0.2, 1.0, int(period))),
        )
        for _ in range(n_sources)
    ]


def cheapest(
    sources: list[ProbedSource], times: np.ndarray, trip_cost: float, probe_costs: np.ndarray
) -> float:
    """The least cost over all trips and, for each, all probes, by trying all of them."""
    inner, best = range(1, times.size - 1), np.inf
    choices = [
        (*some, times.size - 1)
        for k in range(len(inner) + 1)
        for some in itertools.combinations(inner, k)
    ]
    tables = [
        {one: s.cost(times[list(one)]) + c * len(one) for one in choices}
        for s, c in zip(sources, probe_costs, strict=True)
    ]
    for trips in choices:
        allowed = [one for one in choices if set(one) <= set(trips)]
        cost = trip_cost * len(trips) + sum(min(t[one] for one in allowed) for t in tables)
        best = min(best, cost)
    return best


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("trip_cost", [0.0, 0.5, 3.0])
@pytest.mark.parametrize("probe_cost", [0.0, 0.4])
def test_against_every_plan(seed: int, trip_cost: float, probe_cost: float) -> None:
    """Three sources, a grid of eight hours: the bound holds and the plan is the best or near."""
    sources, times = drawn(seed, 3), np.arange(9.0)
    probe_costs = probe_cost * np.array([1.0, 0.5, 2.0])

    found = plan_trips(sources, times, trip_cost, probe_costs)

    best = cheapest(sources, times, trip_cost, probe_costs)
    assert found.bound <= best * (1 + 1e-9)
    assert found.cost == pytest.approx(best, rel=1e-9)
    assert found.gap < 0.02
    if not probe_cost or not trip_cost:
        assert found.gap < 1e-9
    again = trip_cost * found.trips.size + sum(
        s.cost(found.trips[on]) + c * np.count_nonzero(on)
        for s, c, on in zip(sources, probe_costs, found.probed.T, strict=True)
    )
    assert found.cost == pytest.approx(again, rel=1e-9)
    assert np.all(found.probed[-1])
    assert np.all(found.probed.any(axis=1))


def test_a_week_of_two_lists_on_one_host() -> None:
    """The patterns of Eckstein et al., hour by hour: an eighth cheaper than apart."""
    times, importance = np.arange(169) / 24, work_hours(9, 18, 3.0)
    sources = [ProbedSource(DBWORLD, importance), ProbedSource(MICRONET, importance)]

    found = plan_trips(sources, times, 1.0, 0.3)

    alone = sum(plan_trips([source], times, 1.3).cost for source in sources)
    assert found.gap < 0.005
    assert found.cost < 0.875 * alone
    assert np.count_nonzero(found.probed[:, 1]) <= np.count_nonzero(found.probed[:, 0])


def test_one_source_is_the_schedule_that_is_known() -> None:
    """At a price of a probe, by the dynamic programme of one source."""
    (source,), times = drawn(3, 1), np.arange(9.0)

    found = plan_trips([source], times, 0.7)

    known = solve_at_price(source, 0.7, times)
    assert found.cost == pytest.approx(known.cost + 0.7 * known.probes.size, rel=1e-9)
    assert found.gap < 1e-12


@pytest.mark.parametrize(
    ("message", "change"),
    [
        ("sources: none are given", {"sources": []}),
        ("times must be a vector of 2 to", {"times": [0.0]}),
        ("times go from 0 to 7, but the period of source 0 from 0 to 8", {"times": [0.0, 7.0]}),
        ("source 0 has a gap of 0.5", {"sources": [drawn(1, 1)[0].with_gap(0.5)]}),
        ("trip_cost must be finite and >= 0, got -1.0", {"trip_cost": -1.0}),
        ("probe_costs must be finite and >= 0", {"probe_costs": [np.nan]}),
    ],
)
def test_refusals(message: str, change: dict[str, Any]) -> None:
    """What cannot be is said."""
    given: dict[str, Any] = {
        "sources": drawn(1, 1),
        "times": np.arange(9.0),
        "trip_cost": 1.0,
        "probe_costs": 0.0,
    }
    with pytest.raises(InvalidModel, match=message):
        plan_trips(**given | change)
