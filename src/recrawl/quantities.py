"""Durations, rates and sizes as people write them: ``90m``, ``1000/h``, ``2MiB``."""

import math
import re
from collections.abc import Mapping
from typing import Final

from recrawl.errors import InputError

UNIT_S: Mapping[str, float] = {
    "ms": 1e-3,
    "s": 1.0,
    "min": 60.0,
    "m": 60.0,
    "h": 3600.0,
    "d": 86_400.0,
    "w": 604_800.0,
    "y": 31_557_600.0,
}
_NUMBERS: Final = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_LEAST, _MOST = 1e-15, 1e15  # seconds, or times a second: thirty million years either way
_MOST_SHOWN: Final = 10**6  # a whole number of more digits is read by nobody
_DURATION: Final = re.compile(r"\s*([0-9.]+(?:e[+-]?[0-9]+)?)\s*([a-z]+)\s*", re.IGNORECASE)
_RATE: Final = re.compile(r"\s*([0-9.]+(?:e[+-]?[0-9]+)?)\s*(?:/|per)\s*([a-z]+)\s*", re.IGNORECASE)


def parse_duration_s(text: str, *, name: str) -> float:
    """Read ``90m``, ``12h``, ``1.5d`` as seconds.

    Parameters
    ----------
    text : a number and a unit; 0, or from 1e-15 to 1e15 seconds
    name : what messages call it

    Raises
    ------
    InputError
        When the text is no duration; the message shows the form.
    """
    match = _DURATION.fullmatch(str(text))  # of a program it may be a number
    if match is None or match[2].lower() not in UNIT_S:
        raise InputError(
            f"{name}: {text!r:.200} is not a duration; write a number and a unit, "
            "such as 30s, 90m, 12h, 14d or 2w"
        )
    return _bounded(_number(match[1], name) * UNIT_S[match[2].lower()], text, name)


def parse_rate_per_s(text: str, *, name: str) -> float:
    """Read ``1000/h``, ``6/min``, ``50/s`` as a number per second.

    Parameters
    ----------
    text : a number, a slash and a unit of time; 0, or from 1e-15 to 1e15 per second
    name : what messages call it

    Raises
    ------
    InputError
        When the text is no rate; the message shows the form.
    """
    match = _RATE.fullmatch(str(text))
    if match is None or match[2].lower() not in UNIT_S:
        raise InputError(
            f"{name}: {text!r:.200} is not a rate; write a number, a slash and a unit, "
            "such as 1000/h, 6/min or 50000/d"
        )
    return _bounded(_number(match[1], name) / UNIT_S[match[2].lower()], text, name)


def _bounded(value: float, text: str, name: str) -> float:
    if value and not _LEAST <= value <= _MOST:
        size = "large" if value > 1 else "small"
        raise InputError(f"{name}: {text!r} is too {size} to mean anything")
    return value


def _number(text: str, name: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise InputError(f"{name}: {text!r} is not a number") from None
    if not math.isfinite(value):
        raise InputError(f"{name}: {text!r} is not finite")
    return value


def show_duration(seconds: float) -> str:
    """Write a duration as people do: ``4.2s``, ``17min``, ``3.5h``, ``12d``."""
    if not math.isfinite(seconds):
        return "never"
    size = abs(seconds)
    for unit in ("y", "d", "h", "min", "s"):
        if size >= UNIT_S[unit]:
            return f"{seconds / UNIT_S[unit]:.3g}{unit}"
    return f"{seconds:.3g}s"


def show_number(n: int) -> str:
    """Write a number as people do within a sentence: ``three``, ``12``, ``1,200``."""
    return _NUMBERS[n] if 0 <= n < len(_NUMBERS) else f"{n:,}"


def show_rate(per_second: float) -> str:
    """Write a rate as people do: ``200/d`` rather than ``8.333/h``.

    In the shortest unit in which it is a whole number; where there is none, in the shortest in
    which it is above one.
    """
    units = [unit for unit in ("s", "min", "h", "d") if per_second * UNIT_S[unit] >= 1]
    for unit in units:
        number = per_second * UNIT_S[unit]
        if round(number) < _MOST_SHOWN and math.isclose(number, round(number), rel_tol=1e-9):
            return f"{round(number)}/{unit}"
    return show_measured_rate(per_second)


def show_measured_rate(per_second: float) -> str:
    """Write a rate that nobody chose, to four figures, in the first unit where it is above 1."""
    unit = next((unit for unit in ("s", "min", "h", "d") if per_second * UNIT_S[unit] >= 1), "y")
    return f"{per_second * UNIT_S[unit]:.4g}/{unit}"


_BYTES: Final[Mapping[str, int]] = {
    "": 1,
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
}
_SIZE: Final = re.compile(r"\s*([0-9.]+)\s*([a-z]*)\s*", re.IGNORECASE)


def parse_bytes(text: str, *, name: str) -> int:
    """Read ``500KiB``, ``4MB``, ``1000`` as bytes.

    Parameters
    ----------
    text : a number, and a unit unless it is bytes; what is less than a byte is cut off
    name : what messages call it

    Raises
    ------
    InputError
        When the text is no size; the message shows the form.
    """
    match = _SIZE.fullmatch(text)
    if match is None or match[2].lower() not in _BYTES:
        raise InputError(
            f"{name}: {text!r} is not a size; write a number and a unit, such as 500KiB or 4MiB"
        )
    return int(_number(match[1], name) * _BYTES[match[2].lower()])


def show_bytes(size: float) -> str:
    """Write a size as people do: ``812 B``, ``3.4 MiB``."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            break
        size /= 1024
    return f"{size:.3g} {unit}"
