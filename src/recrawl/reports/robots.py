"""The robots' control in force, and what theory expects of it: optimal, or as room permits."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from recrawl.control.room import most_to_win
from recrawl.fleet import ControlledBuffer, RobotOptimum, solve_robots
from recrawl.fleet.curve import evaluate_targets
from recrawl.fleet.measures import FleetMeasures, measure_occupancy
from recrawl.fleet.static import solve_static
from recrawl.fleet.waiting import share_waiting_longer
from recrawl.reports.status import parted

__all__ = ["control_curve", "safe_control_report"]

_LEAST_SEEN = 50.0  # pages, before rates are shown
_DEADLINE_S = 600.0
_MEASURES = ("starvation", "loss_rate", "throughput", "buffer_mean", "robots_mean")


def control_curve(facts: Mapping[str, float], weight: float | None = None) -> dict[str, Any] | None:
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
        worth having. None for a state that does not tell.
    """
    if "robots" not in facts or "buffer_capacity" not in facts:
        return None
    robots, capacity = int(facts["robots"]), int(facts["buffer_capacity"])
    own = facts.get("starvation_weight", 0.0)
    rates = _rates(facts)
    limit_s = facts.get("buffer_deadline_s", _DEADLINE_S)
    in_force = weight is None and facts.get("control_known", 1.0) > 0.0
    in_force = in_force and not facts.get("control_dropped")
    if rates is not None and own > 0.0 and (weight is not None or in_force):
        return _optimal(robots, capacity, *rates, own if weight is None else weight, limit_s)
    targets = [min(robots, capacity - length) for length in range(capacity + 1)]
    told: dict[str, Any] = {
        "kind": "room", "robots": robots, "capacity": capacity, "targets": targets,
    }  # fmt: skip
    if rates is not None and own > 0.0:
        told |= _room(robots, capacity, *rates, limit_s)
        told["best"] = _optimal(robots, capacity, *rates, own, limit_s)
    return told


def safe_control_report(facts: Mapping[str, float]) -> dict[str, Any] | None:
    """Return prediction beside measurement while robots run as room permits; None before any.

    The keys are those of ``reports.status.control_report``, and ``to_win``, a bound on the share
    of the indexer's time that another control could win, and ``static``, the best fixed number.
    """
    rates = _rates(facts)
    if facts.get("control_known", 1.0) > 0.0 or rates is None:
        return None
    robots, capacity = int(facts["robots"]), int(facts["buffer_capacity"])
    foreseen = _room(robots, capacity, *rates, facts.get("buffer_deadline_s", _DEADLINE_S))
    measures = {
        name: {"predicted": foreseen[name], "measured": facts[f"safe_{name}"]} for name in _MEASURES
    }
    static = solve_static(_model(robots, capacity, *rates, facts["starvation_weight"]))
    compared = {f"predicted_{name}": pair["predicted"] for name, pair in measures.items()}
    compared |= {f"measured_{name}": pair["measured"] for name, pair in measures.items()}
    return {
        "seconds": facts["safe_seconds"],
        "fetch_rate": rates[0],
        "index_rate": rates[1],
        "dropped": False,
        "measures": measures,
        "parted": parted(compared | {"measured_seconds": facts["safe_seconds"]}),
        "to_win": most_to_win(robots, capacity, rates[0] / rates[1]),
        "static": {
            "robots": static.robots,
            "starvation": static.starvation,
            "loss_rate": static.loss_rate,
        },
    }


def _rates(facts: Mapping[str, float]) -> tuple[float, float] | None:
    """Return pages a second of a robot and of the indexer, as planned with or as measured."""
    if facts.get("control_known", 1.0) > 0.0:
        found = facts.get("control_fetch_rate", 0.0), facts.get("control_index_rate", 0.0)
        return found if min(found) > 0.0 else None
    found = facts.get("safe_fetch_rate", 0.0), facts.get("safe_index_rate", 0.0)
    return found if min(found) > 0.0 and facts.get("safe_pages", 0.0) >= _LEAST_SEEN else None


def _model(
    robots: int, capacity: int, fetch_rate: float, index_rate: float, weight: float
) -> ControlledBuffer:
    return ControlledBuffer(
        robots, capacity, fetch_rate, index_rate, starvation_weight=weight * index_rate
    )


def _optimal(
    robots: int, capacity: int, fetch_rate: float, index_rate: float, weight: float, limit_s: float
) -> dict[str, Any]:
    best = _solved(robots, capacity, fetch_rate, index_rate, weight)
    told = {
        "kind": "optimal",
        "robots": robots,
        "capacity": capacity,
        "targets": [min(target, robots) for target in best.targets],
        "is_curve": best.is_curve,
    } | _told(best.measures)
    if best.is_curve:
        occupancy = evaluate_targets(best.model, best.targets)
        told["obsolete_share"] = share_waiting_longer(best.model, occupancy, limit_s)
    return told


@lru_cache(maxsize=64)
def _room(
    robots: int, capacity: int, fetch_rate: float, index_rate: float, limit_s: float
) -> dict[str, Any]:
    """Return what running as room permits is to bring."""
    model = _model(robots, capacity, fetch_rate, index_rate, 1.0)
    targets = tuple(int(n) for n in np.minimum(robots, capacity - np.arange(capacity + 1)))
    occupancy = evaluate_targets(model, targets)
    told = _told(measure_occupancy(model, occupancy))
    return told | {"obsolete_share": share_waiting_longer(model, occupancy, limit_s)}


@lru_cache(maxsize=64)
def _solved(
    robots: int, capacity: int, fetch_rate: float, index_rate: float, weight: float
) -> RobotOptimum:
    return solve_robots(_model(robots, capacity, fetch_rate, index_rate, weight))


def _told(measures: FleetMeasures) -> dict[str, Any]:
    return {name: getattr(measures, name) for name in _MEASURES} | {
        "sojourn_s": measures.response_time
    }
