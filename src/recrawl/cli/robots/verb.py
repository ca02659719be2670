"""The verb ``robots``: how many robots to run, by the length of the indexing buffer."""

from collections.abc import Mapping
from pathlib import Path

from recrawl.cli.options import JsonForTables
from recrawl.cli.robots.bursty import BurstyRequest, advise_bursty, write_example
from recrawl.cli.robots.phased import PhasedRequest, advise_phased
from recrawl.cli.robots.plain import PlainRequest, advise_plain
from recrawl.cli.robots.rates import RatesGiven
from recrawl.cli.robots.response import advise_response
from recrawl.cli.sizes import check_seed, check_whole
from recrawl.errors import InputError

__all__ = ["main"]

_MOST_STATES = 4_000_000
_LARGEST = 1e30


def main(  # noqa: PLR0913 - the options of the verb
    model_file: Path | None = None,
    /,
    *,
    example: bool = False,
    map: str | None = None,  # noqa: A002 - what it is called
    limit: tuple[str, ...] = (),
    front: str | None = None,
    study: str | None = None,
    window: int | None = None,
    times: str | None = None,
    replay: Path | None = None,
    merge: str | None = None,
    buffer: int | None = None,
    fetch_rate: str | None = None,
    index_rate: str | None = None,
    robots: int | None = None,
    starvation_weight: float | None = None,
    loss_weight: float = 1.0,
    holding_cost: float = 0.0,
    robot_cost: float = 0.0,
    response_weight: float | None = None,
    from_log: Path | None = None,
    service_times: Path | None = None,
    robots_in_log: int | None = None,
    policy: Path | None = None,
    sweep: str | None = None,
    classes: str | None = None,
    environment: str | None = None,
    index_phases: int = 1,
    simulate: int | None = None,
    seed: int = 0,
    plot: Path | None = None,
    json: JsonForTables = False,
) -> None:
    """Decide how many robots to run at each length of the indexing buffer.

    Robots bring pages into a buffer; the indexer takes them out. Too few robots and the indexer
    starves, too many and pages are lost. The answer is the control of least cost, exact, beside
    the best fixed number.

    With a MODEL.toml: bursts, any service time, pages that go stale while they wait.

    Parameters
    ----------
    model_file
        A model in a file; recrawl robots --example shows one. The options from --map to --merge
        go with it, the others (but --plot and --json) without it.
    example
        Write a commented model to the file, or print it.
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
    plot
        Draw the policy (with a sweep: the trade-off) into this .png, .svg or .pdf file.
    """
    talim = {
        "--buffer": buffer,
        "--fetch-rate": fetch_rate,
        "--index-rate": index_rate,
        "--robots": robots,
        "--starvation-weight": starvation_weight,
        "--response-weight": response_weight,
        "--from-log": from_log,
        "--service-times": service_times,
        "--policy": policy,
        "--sweep": sweep,
        "--classes": classes,
        "--environment": environment,
        "--simulate": simulate,
    }
    bursty = {"--map": map, "--front": front, "--study": study, "--times": times}
    if model_file is not None or example:
        _refuse(talim, "is for a model given by options; leave it out with a model file")
        if example:
            write_example(model_file)
            return
        assert model_file is not None
        asked = BurstyRequest(map, limit, front, study, window, times, plot, replay, merge)
        advise_bursty(model_file, asked, as_json=json)
        return
    _refuse(
        bursty
        | {"--limit": limit or None, "--window": window, "--replay": replay, "--merge": merge},
        "goes with a model file: recrawl robots MODEL.toml",
    )
    if buffer is None:
        raise InputError("--buffer: missing; say how many pages fit, or give a MODEL.toml")
    _check_sizes(buffer, robots, index_phases, simulate, seed)
    weights = (starvation_weight or 0.0, loss_weight, holding_cost, robot_cost)
    names = ("--starvation-weight", "--loss-weight", "--holding-cost", "--robot-cost")
    for name, weight in zip(names, weights, strict=True):
        if not (weight == 0 or 1 / _LARGEST <= weight <= _LARGEST):
            raise InputError(
                f"{name}: {weight:g} must be 0, or between {1 / _LARGEST:g} and {_LARGEST:g}"
            )
    given = RatesGiven(fetch_rate, index_rate, from_log, service_times, robots_in_log)
    rates = given.read(classes=classes is not None)
    if starvation_weight is None:
        starvation_weight = loss_weight * rates.index * (buffer + 2) / max(buffer, 1)
    if classes is not None or environment is not None or index_phases != 1:
        _refuse_with_phases(robot_cost, response_weight, sweep, policy, plot)
        phased = PhasedRequest(
            classes,
            environment,
            index_phases,
            robots,
            buffer,
            rates.fetch,
            rates.index,
            (starvation_weight, loss_weight, holding_cost),
            simulate,
            seed,
            rates.unit,
        )
        advise_phased(phased, as_json=json)
        return
    plain = PlainRequest(
        rates,
        buffer,
        robots,
        starvation_weight,
        loss_weight,
        holding_cost,
        robot_cost,
        policy,
        sweep,
        simulate,
        seed,
        plot,
    )
    if response_weight is not None:
        advise_response(plain, response_weight, as_json=json)
        return
    advise_plain(plain, as_json=json)


def _check_sizes(
    buffer: int, robots: int | None, index_phases: int, simulate: int | None, seed: int
) -> None:
    """Refuse sizes that take more memory or time than there is, before anything is built."""
    check_whole("--buffer", buffer, _MOST_STATES)
    check_whole("--index-phases", index_phases, 1000)
    check_seed(seed)
    if robots is not None:
        check_whole("--robots", robots, _MOST_STATES)
        if (buffer + 1) * (robots + 1) > _MOST_STATES:
            raise InputError(
                f"--robots: {robots} robots and a buffer of {buffer} make more than "
                f"{_MOST_STATES:,} states; ask for less"
            )
    if simulate is not None:
        check_whole("--simulate", simulate, 1_000_000_000, least=3_200)


def _refuse(options: Mapping[str, object], why: str) -> None:
    for name, value in options.items():
        if value is not None:
            raise InputError(f"{name}: {why}")


def _refuse_with_phases(
    robot_cost: float,
    response_weight: float | None,
    sweep: str | None,
    policy: Path | None,
    plot: Path | None,
) -> None:
    given = {
        "--robot-cost": robot_cost != 0,
        "--response-weight": response_weight is not None,
        "--sweep": sweep is not None,
        "--policy": policy is not None,
        "--plot": plot is not None,
    }
    for name, is_given in given.items():
        if is_given:
            raise InputError(
                f"{name}: is for one class of robots and exponential times; leave it out, or "
                "leave out --classes, --environment and --index-phases"
            )
