"""The robots' control in force, and what theory expects of it: optimal, or as room permits."""

from dataclasses import asdict
from functools import lru_cache
from typing import Any

import numpy as np

from recrawl.crawler.control.fleet.activation import TargetRobots
from recrawl.crawler.control.fleet.regularity import Regularity, plan_robots
from recrawl.crawler.control.fleet.room import most_to_win
from recrawl.crawler.facts import MEASURES, CrawlFacts, SafeFacts, SolvedFacts
from recrawl.crawler.reports.status import beside, parted
from recrawl.fleet import ControlledBuffer, RobotOptimum, solve_robots
from recrawl.fleet.curve import evaluate_targets
from recrawl.fleet.measures import FleetMeasures, measure_occupancy
from recrawl.fleet.static import solve_static
from recrawl.fleet.waiting import share_waiting_longer
from recrawl.kernels.compile import seldom

_LEAST_SEEN = 50.0  # pages, before rates are shown


@seldom()
def control_curve(facts: CrawlFacts, weight: float | None = None) -> dict[str, Any] | None:
    """Return the robots to aim for at each length of the buffer, and what that is to bring.

    Parameters
    ----------
    facts : of the state
    weight : starvation weight to find the best control for; default: the control in force

    Returns
    -------
    dict or None
        ``kind``: ``optimal`` with predictions; or ``room``, where robots run as room permits,
        with predictions once rates are known and ``best`` beside them, the optimum that was not
        worth having. None for a state that does not tell. A control in force for irregular times
        is told as such; for another weight times pass for exponential.
    """
    settings, control, solved = facts.settings, facts.control, facts.solved
    if settings.robots is None or settings.buffer_capacity is None:
        return None
    robots, capacity = int(settings.robots), int(settings.buffer_capacity)
    own, limit_s = settings.starvation_weight, settings.buffer_deadline_s
    rates, servers = _rates(facts), int(settings.servers)
    in_force = control.known and not control.dropped
    if rates is not None and own > 0.0 and (weight is not None or in_force):
        if weight is None and solved is not None and solved.is_general:
            return _general(robots, capacity, *rates, own, _regularity(solved))
        weight = own if weight is None else weight
        return _optimal(robots, capacity, *rates, weight, servers, limit_s)
    targets = [min(robots, capacity - length) for length in range(capacity + 1)]
    told: dict[str, Any] = {
        "kind": "room", "robots": robots, "capacity": capacity, "targets": targets,
    }  # fmt: skip
    if rates is not None and own > 0.0:
        told |= _room(robots, capacity, *rates, servers, limit_s)
        told["best"] = _optimal(robots, capacity, *rates, own, servers, limit_s)
    return told


@seldom()
def safe_control_report(facts: CrawlFacts) -> dict[str, Any] | None:
    """Return prediction beside measurement while robots run as room permits; None before any.

    The keys are those of ``reports.status.control_report``, and ``to_win``, a bound on the share
    of the indexer's time that another control could win, and ``static``, the best fixed number.
    """
    rates, safe, settings = _rates(facts), facts.safe, facts.settings
    if facts.control.known or rates is None or safe is None:
        return None
    if settings.robots is None or settings.buffer_capacity is None:
        return None
    robots, capacity = int(settings.robots), int(settings.buffer_capacity)
    servers = int(settings.servers)
    foreseen = _room(robots, capacity, *rates, servers, settings.buffer_deadline_s)
    measures = beside(foreseen, asdict(safe))
    static = _best_fixed(robots, capacity, *rates, settings.starvation_weight, servers)
    return {
        "seconds": safe.seconds,
        "fetch_rate": rates[0],
        "index_rate": rates[1],
        "dropped": False,
        "measures": measures,
        "parted": parted(measures, safe.seconds),
        "to_win": most_to_win(robots, capacity, rates[0] / rates[1], servers),
        "static": static,
    }


def _rates(facts: CrawlFacts) -> tuple[float, float] | None:
    """Return pages a second of a robot and of the indexer, as planned with or as measured."""
    told = facts.solved if facts.control.known else facts.safe
    if told is None or min(told.fetch_rate, told.index_rate) <= 0.0:
        return None
    if isinstance(told, SafeFacts) and told.pages < _LEAST_SEEN:
        return None
    return told.fetch_rate, told.index_rate


def _regularity(solved: SolvedFacts) -> Regularity:
    return Regularity(
        solved.service_variation,
        solved.service_third or None,
        solved.arrival_variation,
        solved.arrival_correlation,
    )


def _model(
    robots: int,
    capacity: int,
    fetch_rate: float,
    index_rate: float,
    weight: float,
    servers: int = 1,
) -> ControlledBuffer:
    at_work = np.minimum(np.arange(capacity + 1.0), servers)
    return ControlledBuffer(
        robots,
        capacity,
        fetch_rate,
        index_rate if servers == 1 else index_rate * at_work,
        starvation_weight=weight * servers * index_rate,
    )


@lru_cache(maxsize=64)
def _best_fixed(
    robots: int, capacity: int, fetch_rate: float, index_rate: float, weight: float, servers: int
) -> dict[str, Any]:
    """Return the best number of robots that always run, and what it is to bring."""
    model = _model(robots, capacity, fetch_rate, index_rate, weight, servers)
    if servers == 1:
        best = solve_static(model)
        return {name: getattr(best, name) for name in ("robots", "starvation", "loss_rate")}
    fixed = {
        n: measure_occupancy(model, evaluate_targets(model, (n,) * (capacity + 1)))
        for n in range(1, robots + 1)
    }
    number = min(fixed, key=lambda n: fixed[n].cost)
    found = fixed[number]
    return {"robots": number, "starvation": found.starvation, "loss_rate": found.loss_rate}


@lru_cache(maxsize=16)
def _general(
    robots: int,
    capacity: int,
    fetch_rate: float,
    index_rate: float,
    weight: float,
    regularity: Regularity,
) -> dict[str, Any]:
    """Return the control for irregular times that is in force, as the crawl plans it."""
    plan = plan_robots(_model(robots, capacity, fetch_rate, index_rate, weight), regularity)
    assert isinstance(plan.policy, TargetRobots)
    return {
        "kind": "optimal",
        "robots": robots,
        "capacity": capacity,
        "targets": list(plan.policy.targets),
        "is_curve": True,
    } | _told(plan.measures)


def _optimal(
    robots: int,
    capacity: int,
    fetch_rate: float,
    index_rate: float,
    weight: float,
    servers: int,
    limit_s: float,
) -> dict[str, Any]:
    best = _solved(robots, capacity, fetch_rate, index_rate, weight, servers)
    told = {
        "kind": "optimal",
        "robots": robots,
        "capacity": capacity,
        "targets": [min(target, robots) for target in best.targets],
        "is_curve": best.is_curve,
    } | _told(best.measures)
    if best.is_curve:
        occupancy = evaluate_targets(best.model, best.targets)
        told["obsolete_share"] = share_waiting_longer(
            best.model, occupancy, limit_s, servers=servers
        )
    return told


@lru_cache(maxsize=64)
def _room(
    robots: int, capacity: int, fetch_rate: float, index_rate: float, servers: int, limit_s: float
) -> dict[str, Any]:
    """Return what running as room permits is to bring."""
    model = _model(robots, capacity, fetch_rate, index_rate, 1.0, servers)
    targets = tuple(int(n) for n in np.minimum(robots, capacity - np.arange(capacity + 1)))
    occupancy = evaluate_targets(model, targets)
    told = _told(measure_occupancy(model, occupancy))
    return told | {
        "obsolete_share": share_waiting_longer(model, occupancy, limit_s, servers=servers)
    }


@lru_cache(maxsize=64)
def _solved(
    robots: int, capacity: int, fetch_rate: float, index_rate: float, weight: float, servers: int
) -> RobotOptimum:
    return solve_robots(_model(robots, capacity, fetch_rate, index_rate, weight, servers))


def _told(measures: FleetMeasures) -> dict[str, Any]:
    return {name: getattr(measures, name) for name in MEASURES} | {
        "sojourn_s": measures.response_time
    }
