"""The rates of robots and indexer that the verb ``robots`` is asked about: given, or measured."""

import math
from dataclasses import dataclass
from pathlib import Path

from recrawl.cli.robots.arrival_log import read_arrival_log, read_service_times
from recrawl.cli.robots.options import FleetOptions
from recrawl.cli.robots.report import MeasuredRates
from recrawl.errors import InputError
from recrawl.fleet import estimate_fetch_rate, estimate_index_rate
from recrawl.quantities import parse_rate_per_s


@dataclass(frozen=True, slots=True)
class Rates:
    """Pages per unit of time that an active robot brings, and that the busy indexer finishes."""

    fetch: float
    index: float
    unit: str
    measured: MeasuredRates | None = None


def read_rates(asked: FleetOptions) -> Rates:
    """Return rates as given, or measured where there is a log; classes may have their own.

    Raises
    ------
    InputError
        If one is missing, is said twice, or makes no sense.
    """
    if asked.from_log is None:
        return _as_written(asked)
    measured = _measured(asked, asked.from_log)
    if asked.fetch_rate is not None:
        raise InputError("--fetch-rate: leave it out, --from-log measures it")
    known = measured.index
    index = known.rate if known else _rate(asked.index_rate, "--index-rate")[0]
    return Rates(measured.fetch.rate, index, "s", measured)


def _as_written(asked: FleetOptions) -> Rates:
    index, index_unit = _rate(asked.index_rate, "--index-rate")
    if asked.fetch_rate is None and asked.classes is not None:
        return Rates(index, index, index_unit)
    fetch, fetch_unit = _rate(asked.fetch_rate, "--fetch-rate")
    if fetch_unit != index_unit:
        raise InputError(
            f"--fetch-rate {asked.fetch_rate} and --index-rate {asked.index_rate}: give both "
            "with a unit, such as 6/min and 60/min, or both as numbers per one unit of time"
        )
    return Rates(fetch, index, fetch_unit)


def _measured(asked: FleetOptions, log: Path) -> MeasuredRates:
    times, robots, seconds = read_arrival_log(log, asked.robots_in_log)
    if asked.service_times is not None:
        seconds = read_service_times(asked.service_times)
    if asked.index_rate is not None:
        if _rate(asked.index_rate, "--index-rate")[1] != "s":
            raise InputError(
                f"--index-rate {asked.index_rate}: a log is measured in seconds, so give it "
                "with a unit, such as 2/s or 90/min"
            )
        return MeasuredRates(estimate_fetch_rate(times, robots), None)
    if seconds is None:
        raise InputError(
            f"{log}: no column index_seconds, and neither --service-times nor --index-rate was "
            "given, so nothing says how fast the indexer is"
        )
    return MeasuredRates(estimate_fetch_rate(times, robots), estimate_index_rate(seconds))


def _rate(text: str | None, name: str) -> tuple[float, str]:
    """Read a rate with a unit as one per second, or a bare number per unit of time."""
    if text is None:
        raise InputError(f"{name}: missing; write a number, or a rate such as 6/min or 1000/h")
    try:
        rate, unit = float(text), "unit of time"
    except ValueError:
        rate, unit = parse_rate_per_s(text, name=name), "s"
    if not (math.isfinite(rate) and rate > 0):
        raise InputError(f"{name}: must be finite and > 0, got {text}")
    if not 1e-15 <= rate <= 1e15:
        raise InputError(f"{name}: must be between 1e-15 and 1e15, got {text}")
    return rate, unit
