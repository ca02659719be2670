"""Options of the verb ``robots``: those that go with a model file, and those that are a model."""

from dataclasses import dataclass, fields
from pathlib import Path

from cyclopts import Parameter

from recrawl.cli.sizes import check_seed, check_whole
from recrawl.errors import InputError

_MOST_STATES = 4_000_000
_LARGEST = 1e30


def refuse(options: "ModelOptions | FleetOptions", names: str, why: str) -> None:
    """Refuse the first of these options that was given.

    Raises
    ------
    InputError
        Naming it, and why.
    """
    unsaid = {one.name: one.default for one in fields(options)}
    for name in names.split():
        if getattr(options, name) != unsaid[name]:
            raise InputError(f"--{name.replace('_', '-')}: {why}")


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Options beside a model file.

    Parameters
    ----------
    map
        Robots at 0, 1, ... pages to evaluate too, such as 3,3,3,1 or 3*25,1*76; or robots and
        thresholds, 4,3,1:0,2 (4 robots at 0 pages, 3 up to 2, then 1).
    limit
        Keep a measure below a value: loss=0.1; may be given several times.
    front
        Show the trade-off between two measures: loss,starvation.
    study
        Solve for many values of capacity, service-mean, service-scv, obsolescence-mean or
        obsolescence-scv: capacity=1:30, service-scv=0.5,1,2,4.
    window
        Phases of obsolescence of so many oldest pages only: approximate, for large buffers.
    times
        Also give the chance that a page stays no longer than these times.
    replay
        Run this log (arrived_at, robots, index_seconds) again under the best fixed number and the
        control, and put what they cost on it beside what the model promises.
    merge
        Gaps of at most that in the log are within a batch, such as 50ms.
    """

    map: str | None = None
    limit: tuple[str, ...] = ()
    front: str | None = None
    study: str | None = None
    window: int | None = None
    times: str | None = None
    replay: Path | None = None
    merge: str | None = None


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class FleetOptions:
    """Model of robots and a buffer, as options; without ``robots`` as many as are worth having.

    Parameters
    ----------
    buffer
        Pages that fit into the buffer, the one being indexed included.
    fetch_rate
        Pages one active robot brings per unit of time: a number, or 6/min, 1000/h.
    index_rate
        Pages the indexer finishes per unit of time while busy, written as the fetch rate.
    robots
        Robots available; leave out to have as many as are worth having.
    starvation_weight
        Cost of an idle indexer per unit of time, where a lost page costs the loss weight.
        Left out: the weight at which it is right for robots to just keep up with the indexer.
    loss_weight
        Cost of a page that finds the buffer full.
    holding_cost
        Cost per buffered page and unit of time.
    robot_cost
        Cost per active robot and unit of time.
    response_weight
        Cost per unit of time of the mean time from a page's arrival until it is indexed; with it
        say --robots.
    from_log
        Measure the rates from an arrival log: a table with arrived_at, robots and, if known,
        index_seconds.
    service_times
        Table of times the indexer took, column index_seconds, for a log without them.
    robots_in_log
        How many robots were active during the log, if it has no column robots.
    policy
        JSON file with a policy of your own to compare: {"targets": [...]} or
        {"arrival": [[...]], "departure": [[...]]}.
    sweep
        Solve for many weights of starvation, first:last:how many, such as 0.1:10:9.
    classes
        Robots of several kinds, count@rate, such as 8@0.05,4@0.2; with an environment one rate
        for each phase, such as 12@0.05/0.2.
    environment
        Rates of leaving each phase of the environment for the next, in a circle, such as 0.1,0.2.
    index_phases
        Erlang phases of the indexing time; more phases, less variation.
    simulate
        Also simulate so many events and report 95 % confidence intervals.
    seed
        Seed of the simulation.
    """

    buffer: int | None = None
    fetch_rate: str | None = None
    index_rate: str | None = None
    robots: int | None = None
    starvation_weight: float | None = None
    loss_weight: float = 1.0
    holding_cost: float = 0.0
    robot_cost: float = 0.0
    response_weight: float | None = None
    from_log: Path | None = None
    service_times: Path | None = None
    robots_in_log: int | None = None
    policy: Path | None = None
    sweep: str | None = None
    classes: str | None = None
    environment: str | None = None
    index_phases: int = 1
    simulate: int | None = None
    seed: int = 0

    @property
    def has_phases(self) -> bool:
        """Whether there are classes of robots, an environment, or phases of indexing."""
        return bool(
            self.classes is not None or self.environment is not None or self.index_phases != 1
        )

    @property
    def capacity(self) -> int:
        """Pages that fit into the buffer.

        Raises
        ------
        InputError
            It was not said.
        """
        if self.buffer is None:
            raise InputError("--buffer: missing; say how many pages fit, or give a MODEL.toml")
        return self.buffer

    def check(self) -> None:
        """Refuse sizes that take more memory or time than there is, before anything is built.

        Raises
        ------
        InputError
            A size or a weight is outside its bounds.
        """
        check_whole("--buffer", self.capacity, _MOST_STATES)
        check_whole("--index-phases", self.index_phases, 1000)
        check_seed(self.seed)
        if self.robots is not None:
            check_whole("--robots", self.robots, _MOST_STATES)
            if (self.capacity + 1) * (self.robots + 1) > _MOST_STATES:
                raise InputError(
                    f"--robots: {self.robots} robots and a buffer of {self.buffer} make more than "
                    f"{_MOST_STATES:,} states; ask for less"
                )
        if self.simulate is not None:
            check_whole("--simulate", self.simulate, 1_000_000_000, least=3_200)
        for name in ("starvation_weight", "loss_weight", "holding_cost", "robot_cost"):
            weight = getattr(self, name) or 0.0
            if not (weight == 0 or 1 / _LARGEST <= weight <= _LARGEST):
                raise InputError(
                    f"--{name.replace('_', '-')}: {weight:g} must be 0, or between "
                    f"{1 / _LARGEST:g} and {_LARGEST:g}"
                )
