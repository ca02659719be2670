"""What the verbs share when they print: JSON, tables, durations as people write them.

Tables and progress go to people; with ``--json`` one JSON object goes to stdout and nothing else.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from recrawl.quantities import (
    UNIT_S,
    parse_duration_s,
    parse_rate_per_s,
    show_duration,
    show_rate,
)

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "UNIT_S",
    "called_as",
    "console",
    "parse_duration_s",
    "parse_rate_per_s",
    "print_json",
    "print_table",
    "progress_console",
    "show_duration",
    "show_rate",
]


def called_as() -> str:
    """Return what a person types to call recrawl here: a checkout that is not activated differs."""
    return os.environ.get("RECRAWL_CALLED_AS", "recrawl")


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
