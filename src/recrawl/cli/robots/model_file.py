"""A buffer model that people write as TOML, and a commented example of one."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from recrawl.crawler.settings.toml import explain_mismatch, read_toml
from recrawl.errors import InputError, InvalidModel, InvalidTable
from recrawl.fleet.bursty import (
    BufferCosts,
    BurstyBuffer,
    independent_robots,
    marked_robots,
    thinned_robots,
)
from recrawl.learning.phase_type_moments import fit_three_moments, fit_two_moments
from recrawl.processes.batch_arrivals import BatchArrivals
from recrawl.processes.markovian_arrivals import MarkovianArrivals
from recrawl.processes.phase_type import PhaseType

EXAMPLE = """\
# A buffer model for recrawl robots and recrawl simulate. Any unit of time, the same throughout.

capacity = 5            # pages in the system, the one being indexed included
admission = "partial"   # of a batch without room for all: partial | reject | complete
robots = [1, 2, 3, 4]   # what each arrival process below stands for; left out: 1, 2, ...

[service]               # how long the indexer takes for a page
initial = [0.6, 0.4]    # a phase type: law of the first phase ...
generator = [[-3, 2], [1, -3]]   # ... and rates between phases; rows sum to 0 or less
# or by moments: mean = 0.65, scv = 0.95 (squared coefficient of variation),
# or three of them: moments = [m1, m2, m3]

[obsolescence]          # time until a waiting page is stale; leave out: never
kind = "exponential"    # exponential | erlang | hyperexponential | coxian | phase-type
mean = 5
# erlang: mean, stages; hyperexponential: probabilities, means; coxian: rates, go_on

# One table for each entry of robots: a batch Markovian arrival process D = [D0, D1, D2, ...].
# Dk holds the rates of transitions that bring k pages; all rows of D0 + D1 + ... sum to 0.
[[arrivals]]
D = [[[-10, 2], [0, -0.5]], [[0.05, 3], [0.29, 0.005]], [[0.05, 4.9], [0.2, 0.005]]]
[[arrivals]]
D = [[[-5.65, 1.1], [0, -0.85]], [[0.01, 2.5], [0.25, 0]], [[0.02, 0.5], [0.25, 0]],
     [[0.02, 1.5], [0.1, 0.25]]]
[[arrivals]]
D = [[[-2.48, 0.48], [0.48, -3.48]], [[1.5, 0], [0, 2.25]], [[0.5, 0], [0, 0.75]]]
[[arrivals]]
D = [[[-1.45, 0.45], [0.6, -2.6]], [[0.25, 0], [0, 0.5]], [[0, 0], [0, 0]], [[0, 0], [0, 0]],
     [[0.75, 0], [0, 1.5]]]
# A Poisson process of batches is written: rate = 0.5, sizes = [0.7, 0.3]   (1 or 2 pages)
# Instead of [[arrivals]], one of:
#   [[crawlers]] D = ...   robots with processes of their own; with r robots the first r run
#                          (and at the top: idle = "silent" or "frozen")
#   [thinning] D = ..., shares = [0.3, 0.6, 1.0]      one process; a share of its batches passes
#   [marked] D0 = ..., robots = [[D1, D2], [D1, D2]]  one process; its batches belong to robots

[costs]                 # J = lambda (loss P_loss + obsolescence P_obs) + sojourn V_served
loss = 5                #     + robots N_active + starvation P_starvation
obsolescence = 10
sojourn = 2
robots = 20
starvation = 300
"""

_MOST_PAGES, _MOST_STAGES = 100_000, 1_000
Value = TypeVar("Value")
Rows = list[list[float]]


class LawFile(msgspec.Struct, forbid_unknown_fields=True):
    """A random time."""

    kind: (
        Literal["exponential", "erlang", "hyperexponential", "coxian", "phase-type", "moments"]
        | None
    ) = None
    mean: float | None = None
    scv: float | None = None
    moments: list[float] | None = None
    stages: int | None = None
    probabilities: list[float] | None = None
    means: list[float] | None = None
    rates: list[float] | None = None
    go_on: list[float] | None = None
    initial: list[float] | None = None
    generator: Rows | None = None


class ArrivalsFile(msgspec.Struct, forbid_unknown_fields=True):
    """One arrival process."""

    D: list[Rows] | None = None
    rate: float | None = None
    sizes: list[float] = msgspec.field(default_factory=lambda: [1.0])


class ThinningFile(msgspec.Struct, forbid_unknown_fields=True):
    """One process of which each mode lets a share pass."""

    D: list[Rows]
    shares: list[float]


class MarkedFile(msgspec.Struct, forbid_unknown_fields=True):
    """One process whose batches are marked with robots."""

    D0: Rows
    robots: list[list[Rows]]


class CostsFile(msgspec.Struct, forbid_unknown_fields=True):
    """Coefficients of the criterion."""

    loss: float = 0.0
    obsolescence: float = 0.0
    sojourn: float = 0.0
    robots: float = 0.0
    starvation: float = 0.0


class ModelFile(msgspec.Struct, forbid_unknown_fields=True):
    """The whole file."""

    capacity: int
    service: LawFile
    admission: Literal["partial", "reject", "complete"] = "partial"
    robots: list[int] = []
    obsolescence: LawFile | None = None
    arrivals: list[ArrivalsFile] = []
    crawlers: list[ArrivalsFile] = []
    idle: Literal["silent", "frozen"] = "silent"
    thinning: ThinningFile | None = None
    marked: MarkedFile | None = None
    costs: CostsFile = msgspec.field(default_factory=CostsFile)


def read_model(path: Path) -> BurstyBuffer:
    """Read a model.

    Raises
    ------
    InvalidTable
        If the file cannot be read, or a key is unknown, missing or of the wrong kind.
    InvalidModel
        If numbers make no sense; the message says which table, which matrix, which row.
    """
    try:
        given = msgspec.convert(read_toml(path), ModelFile)
    except msgspec.ValidationError as error:
        raise InvalidTable(
            f"{path}: {explain_mismatch(str(error))}; recrawl robots --example writes a commented "
            "model"
        ) from error
    return _named(str(path), lambda: _build(given))


def _build(given: ModelFile) -> BurstyBuffer:
    if not 1 <= given.capacity <= _MOST_PAGES:
        raise InvalidModel(f"capacity must be between 1 and {_MOST_PAGES:,}, got {given.capacity}")
    modes = _modes(given)
    stale = given.obsolescence
    return BurstyBuffer(
        given.capacity,
        modes,
        _law("service", given.service),
        _law("obsolescence", stale) if stale is not None else None,
        robots=given.robots,
        costs=BufferCosts(**msgspec.structs.asdict(given.costs)),
        admission=given.admission,
    )


def _square(name: str, matrices: Sequence[Rows]) -> None:
    """Refuse matrices that are not square, all of one size."""
    size = len(matrices[0]) if matrices else 0
    for number, rows in enumerate(matrices):
        if not rows or len(rows) != size or any(len(row) != size for row in rows):
            raise InvalidModel(
                f"{name}: matrix {number} has rows of {', '.join(str(len(row)) for row in rows)} "
                f"numbers; all matrices must be square and of one size, here {size} x {size}"
            )


def _named(name: str, make: Callable[[], Value]) -> Value:
    try:
        return make()
    except InputError as error:
        raise InvalidModel(f"{name}: {error}") from error


def _modes(given: ModelFile) -> tuple[BatchArrivals, ...]:
    kinds = {
        "arrivals": bool(given.arrivals),
        "crawlers": bool(given.crawlers),
        "thinning": given.thinning is not None,
        "marked": given.marked is not None,
    }
    if sum(kinds.values()) != 1:
        shown = ", ".join(name for name, is_given in kinds.items() if is_given) or "none"
        raise InvalidModel(
            f"give exactly one of arrivals, crawlers, thinning and marked; given: {shown}"
        )
    if given.arrivals:
        return tuple(
            _named(f"arrivals {number}", lambda one=one: _process(one))  # type: ignore[misc]
            for number, one in enumerate(given.arrivals, start=1)
        )
    if given.crawlers:
        robots = [
            _named(f"crawlers {number}", lambda one=one: _process(one))  # type: ignore[misc]
            for number, one in enumerate(given.crawlers, start=1)
        ]
        return independent_robots(robots, idle=given.idle)
    if given.thinning is not None:
        thinning = given.thinning
        _named("thinning", lambda: _square("D", thinning.D))
        whole = _named("thinning", lambda: BatchArrivals(thinning.D))
        return _named("thinning", lambda: thinned_robots(whole, thinning.shares))
    marked = given.marked
    assert marked is not None
    parts = [marked.D0, *(rows for one in marked.robots for rows in one)]
    _named("marked", lambda: _square("D0 and robots", parts))
    return _named("marked", lambda: marked_robots(marked.D0, marked.robots))


def _process(given: ArrivalsFile) -> BatchArrivals:
    if given.D is not None and given.rate is None:
        _square("D", given.D)
        return BatchArrivals(given.D)
    if given.rate is None or given.D is not None:
        raise InvalidModel("give either D = [D0, D1, ...] or rate = (and sizes = [...])")
    if not given.rate > 0:
        raise InvalidModel(f"rate must be > 0, got {given.rate:g}")
    return BatchArrivals.of(MarkovianArrivals.poisson(given.rate), given.sizes)


def _law(name: str, given: LawFile) -> PhaseType:
    kind = given.kind or _kind(name, given)
    if given.stages is not None and not 1 <= given.stages <= _MOST_STAGES:
        raise InvalidModel(
            f"{name}: stages must be between 1 and {_MOST_STAGES}, got {given.stages}"
        )
    needs: Mapping[str, tuple[str, ...]] = {
        "exponential": ("mean",),
        "erlang": ("mean", "stages"),
        "hyperexponential": ("probabilities", "means"),
        "coxian": ("rates", "go_on"),
        "phase-type": ("initial", "generator"),
    }
    if kind == "hyperexponential" and given.scv is not None:
        kind = "moments"
    for key in needs.get(kind, ()):
        if getattr(given, key) is None:
            raise InvalidModel(f"{name}: kind = '{kind}' needs {' and '.join(needs[kind])}")
    if kind == "phase-type":
        _named(name, lambda: _square("generator", [given.generator or []]))
    makers: Mapping[str, Callable[[], PhaseType]] = {
        "exponential": lambda: PhaseType.exponential(given.mean or 0.0),
        "erlang": lambda: PhaseType.erlang(given.stages or 0, given.mean or 0.0),
        "hyperexponential": lambda: PhaseType.hyperexponential(
            given.probabilities or [], given.means or []
        ),
        "coxian": lambda: PhaseType.coxian(given.rates or [], given.go_on or []),
        "phase-type": lambda: PhaseType(given.initial or [], given.generator or [[]]),
        "moments": lambda: _by_moments(given),
    }
    return _named(name, makers[kind])


def _kind(name: str, given: LawFile) -> str:
    if given.generator is not None:
        return "phase-type"
    if given.moments is not None or given.scv is not None:
        return "moments"
    if given.mean is not None:
        return "exponential"
    raise InvalidModel(
        f"{name}: give initial and generator, mean and scv, moments = [m1, m2, m3], or a kind"
    )


def _by_moments(given: LawFile) -> PhaseType:
    if given.moments is not None:
        if len(given.moments) != 3:
            raise InvalidModel(f"moments must be three numbers, got {given.moments}")
        return fit_three_moments(*given.moments)
    if given.mean is None or given.scv is None:
        raise InvalidModel("give mean and scv, or moments = [m1, m2, m3]")
    return fit_two_moments(given.mean, given.scv)
