"""The command ``recrawl``: the list of verbs, and how every verb ends.

Verbs are named by strings, so that ``recrawl --help`` imports none of them.
"""

import sys

from cyclopts import App, CycloptsError

from recrawl import __version__
from recrawl.errors import InputError, RecrawlError

__all__ = ["app", "main"]

app = App(
    name="recrawl",
    help="Keep an index of a changing web fresh, with the fewest fetches.",
    version=__version__,
    version_flags=["--version"],
    help_flags=["--help", "-h"],
    result_action="return_value",
)

VERBS: tuple[tuple[str, str, str], ...] = (
    # name, function, help
    ("plan", "recrawl.cli.plan:main", "Decide how often to visit each page, from a table."),
)
for _name, _target, _help in VERBS:
    app.command(_target, name=_name, help=_help)


def main(arguments: list[str] | None = None) -> None:
    """Run one verb and turn what it raises into an exit code and one message.

    Exit codes: 0 done, 1 failed while running, 2 the input is wrong.
    """
    try:
        code = app(arguments, exit_on_error=False, print_error=False)
    except CycloptsError as error:
        sys.exit(_complain(str(error), 2))
    except InputError as error:
        sys.exit(_complain(str(error), 2))
    except RecrawlError as error:
        sys.exit(_complain(str(error), 1))
    except BrokenPipeError:  # the reader of our output went away, as `| head` does
        sys.stderr.close()
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(code if isinstance(code, int) else 0)


def _complain(message: str, code: int) -> int:
    print(f"recrawl: {message}", file=sys.stderr)
    return code
