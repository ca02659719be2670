"""``recrawl init --history``: what others have seen, taken into the state of a new crawl."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from recrawl.cli.output import say
from recrawl.crawler.settings import Settings
from recrawl.errors import InputError

if TYPE_CHECKING:
    from recrawl.crawler.wiring.warm_start import KnownVisit
    from recrawl.tables.captures.sorted_looks import SortedLooks


@contextmanager
def read_history(path: Path, settings: Settings) -> Iterator["SortedLooks"]:
    """Read a table of visits whole, before anything is written.

    Raises
    ------
    InputError
        There is a state already, or the table is wrong.
    """
    from recrawl.tables.captures.looks import Tally
    from recrawl.tables.captures.own_visits import WANTED, read_visits
    from recrawl.tables.captures.sorted_looks import SortedLooks

    if not isinstance(settings.state, Path):
        raise InputError(
            f"--history: {settings.state} is a database; begin in a folder, and `recrawl move` the "
            "state there"
        )
    if (settings.state / "state.sqlite3").exists():
        raise InputError(
            f"--history: {settings.state} holds a crawl already; only a new one begins with a "
            "history"
        )
    tally = Tally()
    with SortedLooks() as looks:
        for _ in looks.add(read_visits(path, tally)):
            pass
        tally.check(path, WANTED)
        if tally.n_bad:
            raise InputError(tally.first_bad[0])
        yield looks


def start_warm(looks: "SortedLooks", settings: Settings) -> None:
    """Take the visits into the state, and say how many there were."""
    from recrawl.crawler.wiring.warm_start import warm_start

    n_pages, n_visits, n_outside = warm_start(settings, _visits(looks))
    say(f"The crawl begins with {n_pages:,} pages and {n_visits:,} visits of them.")
    if n_outside:
        say(f"{n_outside:,} pages do not belong to it, and are left out.")


def _visits(looks: "SortedLooks") -> Iterator["KnownVisit"]:
    for batch in looks.batches():
        columns = batch.to_pydict()
        for url, at, outcome, changed in zip(
            columns["url"],
            columns["visited_at"],
            columns["outcome"],
            columns["changed"],
            strict=True,
        ):
            yield url, at.timestamp(), outcome, changed
