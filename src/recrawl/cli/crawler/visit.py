"""`recrawl visit`: have pages visited now, before all others."""

import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated, Final

from cyclopts import Parameter

from recrawl.cli.crawler.place import HERE, CrawlNamed
from recrawl.cli.options import Json
from recrawl.cli.output import note, print_json, print_table
from recrawl.crawler.control.addresses.scope import Scope, why_outside
from recrawl.crawler.control.urls import normalise
from recrawl.crawler.settings import load_settings
from recrawl.crawler.wiring.rules import crawl_rules
from recrawl.crawler.wiring.stores import is_running, open_door
from recrawl.errors import InputError
from recrawl.quantities import parse_duration_s
from recrawl.terms import VisitAnswer

_MOST: Final = 1_000_000
_FAILED: Final = frozenset(
    {"refused", "disallowed", "failed", "server-error", "denied", "too-large", "unsupported"}
)
_LOOK_S: Final = 0.25


def visit(
    *urls: str,
    from_: Annotated[Path | None, Parameter(name="--from")] = None,
    wait: bool = False,
    timeout: str = "5m",
    crawl: CrawlNamed = HERE,
    json_: Json = False,
) -> int:
    """Have pages visited now: before all others, within politeness and budget.

    Works beside a running crawl; without one, the next start begins with them. An address that the
    crawl does not know yet is taken in, if it belongs to its scope.

    Parameters
    ----------
    urls
        Addresses of pages.
    from_
        Read further addresses from this file, one a line; - reads them from standard input.
    wait
        Return when they have been visited and what changed can be found, and say what came of each.
        Exit code 1 if some could not be.
    timeout
        With --wait: wait no longer than this.
    """
    timeout_s = parse_duration_s(timeout, name="--timeout")
    directory = crawl.place()
    scope = (
        None if crawl.state is not None else crawl_rules(load_settings(crawl.path)).admission.scope
    )
    asked = list(dict.fromkeys(_checked(_given(urls, from_), scope)))
    if not asked:
        raise InputError("visit what? Give at least one address, or --from FILE")
    if wait and not is_running(directory):
        raise InputError(
            "--wait: no crawl runs here; start `recrawl run` first, or leave --wait out"
        )
    with closing(open_door(directory)) as door:
        numbers = door.ask(asked)
        answers = [VisitAnswer(number, url) for number, url in zip(numbers, asked, strict=True)]
        deadline_s = time.monotonic() + timeout_s
        while wait and any(one.outcome is None for one in answers):
            if time.monotonic() > deadline_s or not is_running(directory):
                break
            time.sleep(_LOOK_S)
            answers = door.answers(numbers)
    if json_:
        print_json(
            {
                "asked": len(asked),
                "visits": [
                    {"url": one.url, "outcome": one.outcome, "note": one.note} for one in answers
                ],
            }
        )
    elif wait:
        _show(answers)
    else:
        running = "" if is_running(directory) else " when `recrawl run` is started"
        note(f"{len(asked):,} to be visited before all others{running}.")
    failed = any(one.outcome is None or one.outcome in _FAILED for one in answers)
    return 1 if wait and failed else 0


def _given(urls: Sequence[str], source: Path | None) -> Iterator[tuple[str, str]]:
    """Yield where each address was given, and the address."""
    yield from (("visit", url) for url in urls)
    if source is None:
        return
    try:
        if str(source) == "-":
            yield from _lines("standard input", sys.stdin)
        else:
            with source.open(encoding="utf-8-sig") as lines:
                yield from _lines(str(source), lines)
    except OSError as error:
        raise InputError(f"--from: {source}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"--from: {source} is not UTF-8") from error


def _lines(name: str, lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(lines, start=1):
        if number > _MOST:
            raise InputError(f"--from: {name} has more than {_MOST:,} lines; split it")
        text = line.strip()
        if text and not text.startswith("#"):
            yield f"{name}, line {number}", text


def _checked(given: Iterable[tuple[str, str]], scope: Scope | None) -> Iterator[str]:
    for where, text in given:
        url = normalise(text)
        if url is None:
            raise InputError(
                f"{where}: {text[:200]!r} is no http or https address, such as https://example.org/"
            )
        outside = None if scope is None else why_outside(scope, url, depth=0, hops=0)
        if outside is not None:
            raise InputError(f"{where}: {url} does not belong to this crawl: {outside}")
        yield url


def _show(answers: Sequence[VisitAnswer]) -> None:
    if len(answers) <= 50:
        rows = [(one.url, one.outcome or "still to come", one.note or "") for one in answers]
        print_table(("address", "came of it", ""), rows)
        return
    counted = Counter(one.outcome or "still to come" for one in answers)
    print_table(("came of it", "pages"), [(name, f"{n:,}") for name, n in counted.most_common()])
