"""The command ``recrawl``: the list of verbs, and how every verb ends.

Verbs are named by strings, so that ``recrawl --help`` imports none of them.
"""

import sys
from collections.abc import Iterator

from cyclopts import App, CycloptsError, Group, Parameter

from recrawl import __version__
from recrawl.errors import InputError, RecrawlError

__all__ = ["app", "main"]

app = App(
    name="recrawl",
    help="Keep an index of a changing web fresh, with the fewest fetches.",
    version=__version__,
    version_flags=["--version"],
    help_flags=["--help", "-h"],
    help_format="plaintext",  # markdown would cost a quarter of the start
    result_action="return_value",
    default_parameter=Parameter(negative=()),  # nothing is on that one would turn off
)

CRAWLER = Group("The crawler", sort_key=1)
DECISIONS = Group("Its decisions, each on its own", sort_key=2)
OPTIONS = Group("Options", sort_key=3)
app["--help"].group = app["--version"].group = OPTIONS

VERBS: tuple[tuple[str, str, Group, str], ...] = (
    # name, function within recrawl.cli, group, help
    ("demo", "crawler.demo:demo", CRAWLER, "Crawl a small changing web for a minute."),
    ("init", "crawler.init:init", CRAWLER, "Write a commented configuration for a site."),
    ("run", "crawler.run:run", CRAWLER, "Crawl a site and keep its index fresh."),
    ("status", "crawler.status:status", CRAWLER, "Tell how the crawl and its index are doing."),
    ("explain", "crawler.explain:explain", CRAWLER, "Tell why a page is visited when it is."),
    ("search", "crawler.search:search", CRAWLER, "Search the index."),
    ("serve", "crawler.serve:serve", CRAWLER, "Search and a live view, in a browser."),
    ("export", "crawler.export:export", CRAWLER, "Take pages and visits away as tables."),
    ("plan", "plan.verb:main", DECISIONS, "How often to visit each page, from a table."),
    ("order", "order.verb:main", DECISIONS, "Which page comes next, from a plan."),
    ("probe", "probe.verb:main", DECISIONS, "Exactly when to probe a source, or many."),
    ("robots", "robots.verb:main", DECISIONS, "How many robots, by the buffer's length."),
    ("simulate", "simulate.verb:main", DECISIONS, "A buffer model, event by event."),
    ("backtest", "backtest.verb:main", DECISIONS, "What policies would have achieved."),
    ("history", "history.verb:app", DECISIONS, "Make a history for backtest, from git."),
    ("fit", "fit.verb:app", DECISIONS, "Learn a model from a log."),
    ("reproduce", "reproductions.verb:main", DECISIONS, "The papers' figures, beside ours."),
)
for _order, (_name, _target, _group, _help) in enumerate(VERBS):
    app.command(f"recrawl.cli.{_target}", name=_name, group=_group, help=_help, sort_key=_order)


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
