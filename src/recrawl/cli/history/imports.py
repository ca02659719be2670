"""``recrawl history from-...``: visits by others, of archives, crawlers and monitors."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from recrawl.cli.options import Json
from recrawl.cli.output import note, print_json, progress_console, say
from recrawl.crawler.control.urls import host_of, normalise
from recrawl.errors import InputError, InvalidTable
from recrawl.tables.captures.looks import Look, Tally
from recrawl.tables.captures.sorted_looks import SortedLooks
from recrawl.tables.writing import check_out, write_batches

Visits = Annotated[
    Path,
    Parameter(help="Visits, for recrawl fit changes and backtest: .parquet, .csv or .jsonl."),
]
Read = Callable[[Path, Tally], Iterator[Look]]
_OUT = Path("visits.parquet")
_BETWEEN = (
    "censored: several changes between two looks are seen as one, and when in between is not known"
)


def from_cdx(*indexes: Path, out: Visits = _OUT, json_: Json = False) -> None:
    """Make visits of the index of a web archive: CDX, CDXJ, Common Crawl's.

    A capture whose digest differs from that of the capture before is a change.

    Parameters
    ----------
    indexes
        Files of lines, compressed by gzip or not, in any order.
    """
    from recrawl.tables.captures.cdx import WANTED, read_cdx

    _import(indexes, out, read_cdx, WANTED, _BETWEEN, json_=json_)


def from_warc(*archives: Path, out: Visits = _OUT, json_: Json = False) -> None:
    """Make visits of WARC files: each response or revisit record is one.

    Parameters
    ----------
    archives
        WARC files, compressed or not, or packages of them (WACZ), in any order; needs the extra
        warc.
    """
    from recrawl.tables.captures.warc import WANTED, read_warc

    _import(archives, out, read_warc, WANTED, _BETWEEN, json_=json_)


def from_sitemaps(*sitemaps: Path, out: Visits = _OUT, json_: Json = False) -> None:
    """Make visits of sitemaps as they were at several times: the dates in them are changes.

    Parameters
    ----------
    sitemaps
        XML files, compressed by gzip or not; the date that each was taken is in its name, as in
        sitemap-20260822093000.xml or sitemap-2026-08-22.xml.gz.
    """
    from recrawl.tables.captures.sitemaps import WANTED, read_sitemap, snapshot_instant

    for path in sitemaps:
        snapshot_instant(path)
    seen = (
        "the last change before each sitemap is exact as far as its date goes, and all before that "
        "are seen as one"
    )
    _import(sitemaps, out, read_sitemap, WANTED, seen, json_=json_)


def from_nutch(*dumps: Path, out: Visits = _OUT, json_: Json = False) -> None:
    """Make visits of dumps of Nutch's CrawlDb, as text; several tell more than one.

    Parameters
    ----------
    dumps
        Files that nutch readdb crawldb -dump wrote, with TZ=UTC, compressed by gzip or not.
    """
    from recrawl.tables.captures.crawlers import NUTCH_WANTED, read_nutch

    _import(dumps, out, read_nutch, NUTCH_WANTED, _LAST, json_=json_)


_LAST = (
    "each file tells the last fetch, and the last change as far as the crawler kept it: exact to "
    "its interval, and what lies before is censored"
)


def from_stormcrawler(*indexes: Path, out: Visits = _OUT, json_: Json = False) -> None:
    """Make visits of StormCrawler's status index, exported as lines of JSON.

    Parameters
    ----------
    indexes
        One document a line, with or without its envelope, compressed by gzip or not; signature,
        signatureChangeDate and lastProcessedDate are to be persisted.
    """
    from recrawl.tables.captures.crawlers import STORMCRAWLER_WANTED, read_stormcrawler

    _import(indexes, out, read_stormcrawler, STORMCRAWLER_WANTED, _LAST, json_=json_)


def from_changedetection(*datastores: Path, out: Visits = _OUT, json_: Json = False) -> None:
    """Make visits of the datastore of changedetection.io.

    Parameters
    ----------
    datastores
        Folders that hold url-watches.json, or a watch.json in each folder.
    """
    from recrawl.tables.captures.monitors import WANTED, read_changedetection

    seen = (
        "changes are exact to the interval of a watch, where it has one of its own; otherwise only "
        "that there was one since the snapshot before"
    )
    _import(datastores, out, read_changedetection, WANTED, seen, json_=json_)


def from_log(
    *logs: Path, agent: str, host: str | None = None, out: Visits = _OUT, json_: Json = False
) -> None:
    """Make visits of access logs, of a crawler that asks for what is new only.

    Its GET that is answered 304 found no change, and one with a page found one.

    Parameters
    ----------
    logs
        Combined format or JSON lines, compressed by gzip or not.
    agent
        Part of what the crawler calls itself.
    host
        Address of the site where lines do not tell it, such as https://example.org.
    """
    from recrawl.tables.captures.server_logs import WANTED, AgentLog

    if not agent.strip():
        raise InputError("--agent: give a part of what the crawler calls itself, such as Nutch")
    site = ""
    if host is not None:
        url = normalise(host)
        if url is None:
            raise InputError(f"--host: {host!r} is no address, such as https://example.org")
        site = host_of(url)
    log = AgentLog(agent.strip(), site)
    _import(logs, out, log.read, WANTED, _BETWEEN, check=log.check, json_=json_)


def from_visits(*tables: Path, out: Visits = _OUT, json_: Json = False) -> None:
    """Join tables of visits, as recrawl export visits and scrapy recrawl visits write them.

    Parameters
    ----------
    tables
        Files with url, visited_at and changed: Parquet, CSV or JSON Lines.
    """
    from recrawl.tables.captures.own_visits import WANTED, read_visits

    _import(tables, out, read_visits, WANTED, _BETWEEN, json_=json_)


def add_imports(app: App) -> None:
    """Give the verb ``history`` its importers."""
    for command in (
        from_cdx,
        from_warc,
        from_sitemaps,
        from_nutch,
        from_stormcrawler,
        from_changedetection,
        from_log,
        from_visits,
    ):
        app.command(command, name=command.__name__.replace("_", "-"))


def _import(
    paths: Sequence[Path],
    out: Path,
    read: Read,
    wanted: str,
    seen: str,
    *,
    check: Callable[[], None] = lambda: None,
    json_: bool,
) -> None:
    """Read all files, and write what they tell; all of it or nothing."""
    check_out(out)
    if not paths:
        raise InputError("give at least one file to read")
    for path in paths:
        if not path.exists():
            raise InvalidTable(f"{path}: No such file or directory")
        if path.resolve() == out.resolve():
            raise InputError(f"--out: {out} is what is read; choose another file")
    total = Tally()
    with SortedLooks() as looks:
        with _progress(paths) as advance:
            for path in paths:
                tally = Tally()
                for _ in looks.add(read(path, tally)):
                    advance(total.done_bytes + tally.done_bytes)
                tally.check(path, wanted)
                _join(total, tally)
        check()
        batches = looks.batches()
        first = next(batches, None)
        if first is None:
            raise InvalidTable(
                f"{paths[0]}: none of {total.n_records:,} records is a look at a page"
            )
        write_batches(out, first, batches)
        _tell(looks, total, out, seen, json_=json_)


def _join(total: Tally, tally: Tally) -> None:
    total.n_records += tally.n_records
    total.n_bad += tally.n_bad
    total.n_left_out += tally.n_left_out
    total.done_bytes += tally.done_bytes
    total.first_bad = [*total.first_bad, *tally.first_bad][:3]


def _tell(looks: SortedLooks, total: Tally, out: Path, seen: str, *, json_: bool) -> None:
    if json_:
        print_json(
            {
                "out": str(out),
                "records": total.n_records,
                "unreadable": total.n_bad,
                "first_unreadable": total.first_bad,
                "left_out": total.n_left_out,
                "in_the_future": looks.n_future,
                "pages": looks.n_pages,
                "visits": looks.n_visits,
                "told": looks.n_told,
                "changes": looks.n_changes,
                "seen": seen,
            }
        )
        return
    say(
        f"{looks.n_visits:,} visits of {looks.n_pages:,} pages: {out}; {looks.n_told:,} tell "
        f"whether a page had changed, and {looks.n_changes:,} that it had"
    )
    say(f"What they could see: {seen}.")
    if total.n_left_out:
        note(f"{total.n_left_out:,} of {total.n_records:,} records are no look at a page")
    if looks.n_future:
        note(f"{looks.n_future:,} looks are left out, as they are in the future")
    if total.n_bad:
        note(f"{total.n_bad:,} of {total.n_records:,} records cannot be read; the first:")
        for words in total.first_bad:
            note(f"  {words}")


@contextmanager
def _progress(paths: Sequence[Path]) -> Iterator[Callable[[int], None]]:
    """Show a bar over the bytes of all files, where somebody looks."""
    n_bytes = sum(path.stat().st_size for path in paths if path.is_file())
    console = progress_console()
    if not console.is_terminal or not n_bytes:
        yield lambda _: None
        return
    from rich.progress import BarColumn, Progress, TimeRemainingColumn

    with Progress("reading", BarColumn(), TimeRemainingColumn(), console=console) as bar:
        task = bar.add_task("reading", total=n_bytes)
        yield lambda done: bar.update(task, completed=done)
