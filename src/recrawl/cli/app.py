"""The command ``recrawl``: the list of verbs, and how every verb ends.

Verbs are named by strings, so that ``recrawl --help`` imports none of them.
"""

import contextlib
import errno
import sys
from collections.abc import Iterator

from cyclopts import App, CycloptsError, Group, Parameter

from recrawl.cli.arguments import checked_arguments, complaint
from recrawl.cli.help import Paragraphs
from recrawl.cli.output import note
from recrawl.cli.streams import close_stream, is_unheard, open_streams
from recrawl.errors import TOO_FEW_THREADS, InputError, MissingPart, RecrawlError, missing_part
from recrawl.version import VERSION

app = App(
    name="recrawl",
    help="Keep an index of a changing web fresh, with the fewest fetches.",
    version=VERSION,
    version_flags=["--version"],
    help_flags=["--help", "-h"],
    help_format="plaintext",  # markdown would cost a quarter of the start
    help_formatter=Paragraphs(),
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
    ("visit", "crawler.visit:visit", CRAWLER, "Have pages visited now, before all others."),
    ("status", "crawler.status:status", CRAWLER, "Tell how the crawl and its index are doing."),
    ("explain", "crawler.explain:explain", CRAWLER, "Tell why a page is visited when it is."),
    ("importance", "crawler.importance:app", CRAWLER, "Count what people ask for."),
    ("search", "crawler.search:search", CRAWLER, "Search the index."),
    ("serve", "crawler.serve:serve", CRAWLER, "Search and a live view, in a browser."),
    (
        "frontier-service",
        "crawler.frontier_service:frontier_service",
        CRAWLER,
        "Decide when other crawlers fetch.",
    ),
    ("export", "crawler.export:export", CRAWLER, "Take pages and visits away as tables."),
    ("changes", "crawler.changes:changes", CRAWLER, "Tell what became of pages, in order."),
    ("extract", "crawler.extract:extract", CRAWLER, "Show what of a page is content."),
    ("deliver", "crawler.deliver:deliver", CRAWLER, "Bring changes to where they are needed."),
    ("sync", "crawler.deliver:sync", CRAWLER, "Bring one sink up to date, and compare it."),
    ("check", "crawler.upkeep:check", CRAWLER, "Tell whether state and index are whole."),
    ("backup", "crawler.upkeep:backup", CRAWLER, "Copy state and index, while the crawl goes on."),
    ("restore", "crawler.upkeep:restore", CRAWLER, "Go on from a backup."),
    ("move", "crawler.move:move", CRAWLER, "Take a state to a database, or back."),
    ("plan", "plan.verb:main", DECISIONS, "How often to visit each page, from a table."),
    ("order", "order.verb:main", DECISIONS, "Which page comes next, from a plan."),
    ("probe", "probe.verb:main", DECISIONS, "Exactly when to probe a source, or many."),
    ("robots", "robots.verb:main", DECISIONS, "How many robots, by the buffer's length."),
    ("simulate", "simulate.verb:main", DECISIONS, "A buffer model, event by event."),
    ("backtest", "backtest.verb:main", DECISIONS, "What policies would have achieved."),
    ("history", "history.verb:app", DECISIONS, "Make a history of what others have seen."),
    ("fit", "fit.verb:app", DECISIONS, "Learn a model from a log."),
    ("reproduce", "reproduce:main", DECISIONS, "The papers' figures, beside ours."),
)
for _order, (_name, _target, _group, _help) in enumerate(VERBS):
    app.command(f"recrawl.cli.{_target}", name=_name, group=_group, help=_help, sort_key=_order)
_ABOUT = (
    ("--install-completion", "install_completion", "Have your shell complete verbs and options."),
    ("--show-completion", "show_completion", "Print that completion instead: bash, zsh or fish."),
    ("--show-man", "show_man", "Print the manual page."),
)
for _name, _target, _help in _ABOUT:
    app.command(f"recrawl.cli.manual:{_target}", name=_name, group=OPTIONS, help=_help)


_LONGEST_MESSAGE = 2_000  # characters; names and values in it are whatever somebody wrote
_EXPECTED = (CycloptsError, RecrawlError, MemoryError, OverflowError, BaseExceptionGroup)
_WRONG_NAMES = (
    errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.ELOOP, errno.EACCES,
    errno.EPERM, errno.EROFS, errno.EINVAL,
)  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    """Run one verb and turn what it raises into an exit code and one message.

    Exit codes: 0 done, 1 failed while running or nobody could be told, 2 the input is wrong, 130
    stopped by Ctrl-C.
    """
    open_streams()
    code = _outcome(sys.argv[1:] if arguments is None else arguments)
    try:
        sys.stdout.flush()
    except OSError as error:
        code = _unheard(error)
    try:
        sys.stderr.flush()
    except OSError:  # its reader left: that it did is no fault of its own
        close_stream(sys.stderr)
    sys.exit(code)


def _outcome(arguments: list[str]) -> int:
    try:
        code = app(checked_arguments(arguments), exit_on_error=False, print_error=False)
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        if is_unheard(error):
            return _unheard(error)
        if error.filename is None and not _lacks_threads(error):
            raise
        return _complain(_words_of(error), _code_of(error))
    except ImportError as error:
        missing = error if isinstance(error, MissingPart) else missing_part(error)
        if missing is None:
            raise
        return _complain(str(missing), 2)
    except (*_EXPECTED, RuntimeError) as error:
        # From concurrent parts: the first known cause speaks.
        known = next(_known(error), None)
        if known is None:
            raise
        return _complain(_words_of(known), _code_of(known))
    return code if isinstance(code, int) else 0


def _lacks_threads(error: BaseException) -> bool:
    """Tell whether the system allowed no more threads, or no more processes."""
    is_thread = isinstance(error, RuntimeError) and "new thread" in str(error)
    return is_thread or (isinstance(error, OSError) and error.errno == errno.EAGAIN)


def _words_of(error: BaseException) -> str:
    if _lacks_threads(error):
        return TOO_FEW_THREADS
    if isinstance(error, OSError):
        return f"{error.filename!s}: {error.strerror}"
    if isinstance(error, CycloptsError):
        return complaint(error)
    if isinstance(error, MemoryError):
        return "this takes more memory than there is; ask for less at once"
    if isinstance(error, OverflowError):
        return "the numbers given are too large or too small to be computed with"
    return str(error)


def _code_of(error: BaseException) -> int:
    if isinstance(error, OSError):
        return 2 if error.errno in _WRONG_NAMES else 1
    return 2 if isinstance(error, CycloptsError | InputError | OverflowError) else 1


def _unheard(error: OSError) -> int:
    """End where stdout cannot be written to: in silence if its reader left, as `| head` does."""
    close_stream(sys.stdout)
    if isinstance(error, BrokenPipeError):
        return 1
    return _complain(f"standard output cannot be written: {error.strerror}", 1)


def _known(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from _known(one)
    elif isinstance(error, _EXPECTED) or _lacks_threads(error):
        yield error


def _complain(message: str, code: int) -> int:
    with contextlib.suppress(OSError):  # the code tells it all the same
        told = " ".join(message[:_LONGEST_MESSAGE].split("\n"))
        note(f"recrawl: {told}{' ...' if len(message) > _LONGEST_MESSAGE else ''}")
    return code
