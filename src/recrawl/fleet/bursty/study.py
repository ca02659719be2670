"""Parametric studies: the best threshold rule as the buffer or a law changes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from recrawl.errors import InvalidModel
from recrawl.fleet.bursty.measures import BufferMeasures, evaluate_map
from recrawl.fleet.bursty.model import BurstyBuffer
from recrawl.fleet.bursty.search import list_thresholds
from recrawl.learning.phase_type_moments import fit_two_moments
from recrawl.processes.phase_type import PhaseType

Study: TypeAlias = Literal[
    "capacity", "service-mean", "service-scv", "obsolescence-mean", "obsolescence-scv"
]
STUDIES: tuple[Study, ...] = (
    "capacity",
    "service-mean",
    "service-scv",
    "obsolescence-mean",
    "obsolescence-scv",
)


@dataclass(frozen=True, slots=True)
class StudyPoint:
    """One value of the parameter: the best threshold rule and all fixed numbers of robots.

    Parameters
    ----------
    value : of the parameter
    best : measures of the best threshold rule
    fixed : J of each fixed number of robots, in the order of the modes
    """

    value: float
    best: BufferMeasures
    fixed: tuple[float, ...]

    @property
    def gain_percent(self) -> float:
        """By how much the best fixed number costs more, in percent of it (as the paper)."""
        least = min(self.fixed)
        return 100 * (least - self.best.cost) / least


def vary(model: BurstyBuffer, what: Study, value: float) -> BurstyBuffer:
    """Return the model with one parameter changed.

    Parameters
    ----------
    what : ``capacity``; a mean scales the law as it is; an ``scv`` (squared coefficient of
        variation) replaces the law by one of two moments with the mean that it has
    """
    if what == "capacity":
        if value != int(value):
            raise InvalidModel(f"capacity must be a whole number, got {value:g}")
        return replace(model, capacity=int(value))
    part, _, moment = what.partition("-")
    law: PhaseType | None = getattr(model, part, None)
    if what not in STUDIES:
        raise InvalidModel(f"{what!r} cannot be varied; {', '.join(STUDIES)} can")
    if law is None:
        raise InvalidModel(f"{what}: pages of this model never go stale")
    scales = moment == "mean"
    changed = law.scaled(value / law.mean) if scales else fit_two_moments(law.mean, value)
    return replace(model, **{part: changed})  # type: ignore[arg-type]  # a law for a law


def study_buffer(model: BurstyBuffer, what: Study, values: Iterable[float]) -> Iterator[StudyPoint]:
    """Solve all threshold rules for each value of a parameter; yields as they are solved.

    Parameters
    ----------
    model : the buffer as it is otherwise
    what : the parameter, as of :func:`vary`
    values : of it: whole numbers >= 1 of capacity, > 0 of a mean, >= 1 / 200 of an scv
    """
    for value in values:
        changed = vary(model, what, value)
        table = list_thresholds(changed)
        costs = table.costs()
        best = evaluate_map(changed, table.robots_by_length(int(np.argmin(costs))))
        always = table.levels_by_mode == changed.levels
        fixed = tuple(float(costs[np.flatnonzero(column)[0]]) for column in always.T)
        yield StudyPoint(float(value), best, fixed)
