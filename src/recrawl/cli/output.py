"""What the verbs share when they print: JSON, tables, durations as people write them.

Tables and progress go to people; with ``--json`` one JSON object goes to stdout and nothing else.
"""

import math
import re
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from recrawl.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "UNIT_S",
    "console",
    "parse_duration_s",
    "parse_rate_per_s",
    "print_json",
    "print_table",
    "progress_console",
    "show_duration",
    "show_rate",
]

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
_DURATION = re.compile(r"\s*([0-9.]+(?:e[+-]?[0-9]+)?)\s*([a-z]+)\s*", re.IGNORECASE)
_RATE = re.compile(r"\s*([0-9.]+(?:e[+-]?[0-9]+)?)\s*(?:/|per)\s*([a-z]+)\s*", re.IGNORECASE)


def parse_duration_s(text: str, *, name: str) -> float:
    """Read ``90m``, ``12h``, ``1.5d`` as seconds.

    Raises
    ------
    InputError
        When the text is no duration; the message names ``name`` and shows the form.
    """
    match = _DURATION.fullmatch(text)
    if match is None or match[2].lower() not in UNIT_S:
        raise InputError(
            f"{name}: {text!r} is not a duration; write a number and a unit, "
            "such as 30s, 90m, 12h, 14d or 2w"
        )
    return _number(match[1], name) * UNIT_S[match[2].lower()]


def parse_rate_per_s(text: str, *, name: str) -> float:
    """Read ``1000/h``, ``6/min``, ``50/s`` as a number per second.

    Raises
    ------
    InputError
        When the text is no rate; the message names ``name`` and shows the form.
    """
    match = _RATE.fullmatch(text)
    if match is None or match[2].lower() not in UNIT_S:
        raise InputError(
            f"{name}: {text!r} is not a rate; write a number, a slash and a unit, "
            "such as 1000/h, 6/min or 50000/d"
        )
    return _number(match[1], name) / UNIT_S[match[2].lower()]


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


def show_rate(per_second: float) -> str:
    """Write a rate in the unit in which it is a number above one, if there is one."""
    for unit in ("s", "min", "h", "d"):
        if per_second * UNIT_S[unit] >= 1:
            return f"{per_second * UNIT_S[unit]:.4g}/{unit}"
    return f"{per_second * UNIT_S['y']:.4g}/y"


def print_json(answer: Mapping[str, object]) -> None:
    """Write one JSON object to stdout; numbers that are not finite become null."""
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(answer), indent=2).decode() + "\n")


def console() -> "Console":
    """Return the console for answers: stdout, plain when it is not a terminal."""
    from rich.console import Console

    if sys.stdout.isatty():
        return Console(highlight=False)
    return Console(highlight=False, soft_wrap=True, width=200)  # a file has room: cut no table


def progress_console() -> "Console":
    """Return the console for progress and logs: stderr."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def print_table(
    headings: Sequence[str], rows: Sequence[Sequence[str]], *, title: str | None = None
) -> None:
    """Print a table with its first column to the left and all others to the right."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", title_style="bold")
    for number, heading in enumerate(headings):
        table.add_column(heading, justify="right" if number else "left")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console().print(table)
