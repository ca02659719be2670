"""The law of access times that ``--access-time`` names; its mean follows from the rates."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import numpy as np

from recrawl.errors import InputError, InvalidTable
from recrawl.processes.access_times import AccessTime, ConstantTime, ObservedTimes
from recrawl.processes.phase_type import PhaseType
from recrawl.tables.reading import open_page_table

AccessLaw: TypeAlias = Callable[[float], AccessTime]  # from the mean


def access_law(text: str) -> AccessLaw:
    """Return the law by its name, ``constant``, ``exponential``, ``erlang:K`` or ``hyper:CV2``.

    Anything else is the name of a table with a column access_time, whose values are the law.

    Raises
    ------
    InputError
        No law and no file of this name, or a parameter outside its domain.
    """
    name, _, parameter = text.partition(":")
    if text == "constant":
        return ConstantTime
    if text == "exponential":
        return PhaseType.exponential
    if name == "erlang" and parameter:
        stages = _number(text, parameter, least=1.0)
        if stages != int(stages) or stages > 1000:
            raise InputError(f"--access-time: {text} needs a whole number of stages, 1 to 1000")
        return lambda mean: PhaseType.erlang(int(stages), mean)
    if name == "hyper" and parameter:
        return _balanced(_number(text, parameter, least=1.0))
    if not Path(text).exists():
        raise InputError(
            f"--access-time: {text!r} is neither a law (constant, exponential, erlang:4, hyper:3 "
            "with its squared coefficient of variation) nor a file"
        )
    return _observed(Path(text))


def _number(text: str, parameter: str, *, least: float) -> float:
    try:
        value = float(parameter)
    except ValueError:
        value = np.nan
    if not (np.isfinite(value) and value >= least):
        raise InputError(f"--access-time: {text}: {parameter!r} must be a number >= {least:g}")
    return value


def _balanced(squared_variation: float) -> AccessLaw:
    """Two phases of equal share of the mean, which give this squared coefficient of variation."""
    p = 0.5 * (1.0 + np.sqrt((squared_variation - 1.0) / (squared_variation + 1.0)))
    if p == 0.5:
        return PhaseType.exponential
    shares = np.array([p, 1.0 - p])
    return lambda mean: PhaseType.hyperexponential(shares, mean / (2.0 * shares))


def _observed(path: Path) -> AccessLaw:
    table = open_page_table(path, ("access_time",), ("access_time",))
    parts, row = [], 1
    for _, batch in table.batches(["access_time"]):
        parts.append(table.numbers(batch, "access_time", row))
        row += batch.num_rows
    times = np.concatenate(parts) if parts else np.empty(0)
    if not times.size or not times.sum() > 0:
        raise InvalidTable(f"{path}, column access_time: at least one time > 0 is needed")
    return lambda mean: ObservedTimes(times * (mean / times.mean()))
