"""The one door through which the verbs speak: texts, tables, progress, JSON.

Tables and progress go to people; with ``--json`` one JSON object goes to stdout and nothing else.
Whatever is printed is text, never markup, and no character of it commands a terminal: much of it
was crawled, or typed by somebody else.
"""

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from rich.console import Console

_HARMLESS: Final = "\t\u200c\u200d"
# Spaces of other widths, or at which no line ends: of French and Japanese texts, and of code.
_SPACES: Final = (
    "\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
)
_AS_SPACES: Final = str.maketrans(dict.fromkeys(_SPACES, " "))


def printable(text: str) -> str:
    """Return text in which no character commands a terminal; line ends and tabs stay.

    So do the joiners that Persian words and emoji are written with. Spaces of any width are spaces.
    """
    return "\n".join(map(_printable_line, text.split("\n")))


def _printable_line(line: str) -> str:
    if line.isprintable():  # as nearly all are: of megabytes, sign by sign takes seconds
        return line
    return "".join(
        sign if sign.isprintable() or sign in _HARMLESS else "\N{REPLACEMENT CHARACTER}"
        for sign in line.translate(_AS_SPACES)
    )


def say(text: str) -> None:
    """Write a line to stdout."""
    sys.stdout.write(printable(text) + "\n")


def write(text: str) -> None:
    """Write lines that end with a line break to stdout, at once."""
    sys.stdout.write(printable(text))
    sys.stdout.flush()


def note(text: str) -> None:
    """Write a line to stderr: what goes on, beside the answer."""
    sys.stderr.write(printable(text) + "\n")
    sys.stderr.flush()


def called_as() -> str:
    """Return what a person types to call recrawl here: a checkout that is not activated differs."""
    return os.environ.get("RECRAWL_CALLED_AS", "recrawl")


def print_json(answer: Mapping[str, object]) -> None:
    """Write one JSON object to stdout; numbers that are not finite become null."""
    text = msgspec.json.format(msgspec.json.encode(answer), indent=2).decode()
    if not (sys.stdout.encoding or "utf-8").lower().startswith("utf"):
        text = "".join(sign if sign.isascii() else _escaped(sign) for sign in text)
    sys.stdout.write(text + "\n")


def _escaped(sign: str) -> str:
    units = sign.encode("utf-16-be").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))


def console() -> "Console":
    """Return the console for answers: stdout, plain when it is not a terminal."""
    if sys.stdout.isatty():
        return _plain_console()
    return _plain_console(soft_wrap=True, width=200)  # a file has room: cut no table


def progress_console() -> "Console":
    """Return the console for progress and logs: stderr."""
    return _plain_console(stderr=True)


def _plain_console(
    *, stderr: bool = False, soft_wrap: bool = False, width: int | None = None
) -> "Console":
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

    class PlainConsole(Console):
        """Takes no markup, and lets through no character that commands a terminal but its own."""

        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterable[Segment]:
            for part in super().render(renderable, options):
                if part.control or part.text.isprintable():
                    yield part
                else:
                    yield Segment(printable(part.text), part.style)

    return PlainConsole(
        stderr=stderr, soft_wrap=soft_wrap, width=width, markup=False, emoji=False, highlight=False
    )


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
