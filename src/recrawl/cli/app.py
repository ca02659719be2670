"""The command ``recrawl``: the list of verbs, and how every verb ends.

Verbs are named by strings, so that ``recrawl --help`` imports none of them.
"""

import sys
from collections.abc import Iterator

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
    ("demo", "recrawl.cli.demo:demo", "Crawl a small changing web on this machine for a minute."),
    ("init", "recrawl.cli.init:init", "Write a commented configuration for a site."),
    ("run", "recrawl.cli.run:run", "Crawl a site and keep its index fresh until stopped."),
    ("status", "recrawl.cli.status:status", "Tell how the crawl and its index are doing."),
    ("explain", "recrawl.cli.explain:explain", "Tell why a page is visited when it is."),
    ("search", "recrawl.cli.search:search", "Search the index."),
    ("export", "recrawl.cli.export:export", "Take pages and visits away as tables."),
    ("robots", "recrawl.cli.robots:main", "How many robots to run, by the length of the buffer."),
    (
        "reproduce",
        "recrawl.cli.reproduce:main",
        "The papers' tables and figures, printed beside ours.",
    ),
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
    except BaseExceptionGroup as group:  # from concurrent parts: the first known cause speaks
        known = next(_known(group), None)
        if known is None:
            raise
        sys.exit(_complain(str(known), 2 if isinstance(known, InputError) else 1))
    except BrokenPipeError:  # the reader of our output went away, as `| head` does
        sys.stderr.close()
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(code if isinstance(code, int) else 0)


def _known(group: BaseExceptionGroup[BaseException]) -> Iterator[RecrawlError]:
    for error in group.exceptions:
        if isinstance(error, RecrawlError):
            yield error
        elif isinstance(error, BaseExceptionGroup):
            yield from _known(error)


def _complain(message: str, code: int) -> int:
    print(f"recrawl: {message}", file=sys.stderr)
    return code
