"""`recrawl importance`: count what people ask for, from logs and tables."""

from collections import Counter
from contextlib import closing
from pathlib import Path
from time import time
from typing import Annotated, Final

import numpy as np
from cyclopts import Parameter

from recrawl.cli.crawler.place import HERE, CrawlNamed
from recrawl.cli.options import Json, verb_of_verbs
from recrawl.cli.output import note, print_json, say
from recrawl.crawler.control.urls import host_of, normalise
from recrawl.crawler.ports import StatePlace
from recrawl.crawler.settings import Settings
from recrawl.crawler.wiring.stores import open_frontier, open_tallies
from recrawl.errors import InputError, InvalidTable
from recrawl.tables.access_logs import LogCounts, count_requests, open_log

app = verb_of_verbs(
    "importance", "Count what people ask for: pages that many read are kept fresh first."
)
_HALF_LIFE_S: Final = 30 * 86_400.0


@app.command(name="from-log")
def from_log(
    log: Annotated[Path, Parameter(allow_leading_hyphen=True)],
    *,
    host: str | None = None,
    crawl: CrawlNamed = HERE,
    json_: Json = False,
) -> int:
    """Count the requests of people in the log of a web server, and have pages weigh by them.

    Reads the combined format of nginx and Apache, and JSON lines such as Caddy's, compressed or
    not. Robots are left out. Lines up to the latest that was read before are not counted again, so
    that a log can be read every day. Works beside a running crawl.

    Parameters
    ----------
    log
        The log.
    host
        Address of the host that it is of, where its lines do not tell, such as
        https://example.org.  [default: the crawl's, if it has one]
    """
    directory, settings = crawl.place(), crawl.settings()
    with open_log(log) as lines:
        hosts = _hosts(directory)
        own = _checked_host(host) if host is not None else None
        with closing(open_tallies(directory)) as door:
            name = own or "any"
            found = count_requests(log, lines, later_than_s=door.read_until_s(name))
            counts = _addresses(log, found, own, hosts)
            # A clock that ran ahead must not keep later logs from being read.
            until_s = max(min(found.latest_s, time()), door.read_until_s(name))
            half_life_s = settings.count_half_life_s if settings else _HALF_LIFE_S
            known = door.add("logs", counts, half_life_s, read_until=(name, until_s))
    report: dict[str, object] = {
        "requests": sum(found.counts.values()),
        "addresses": len(counts),
        "known": known,
        "robots": found.n_robots,
        "other": found.n_other,
        "read_before": found.n_old,
        "broken": found.n_broken,
    }
    if json_:
        print_json(report)
    else:
        say(
            f"Counted {report['requests']:,} requests for {len(counts):,} addresses, of which the "
            f"crawl knows {known:,}. Left out: {found.n_robots:,} by robots, {found.n_other:,} "
            f"that were no successful GET, {found.n_old:,} read before."
        )
    if found.n_broken:
        where = ", ".join(map(str, found.first_broken))
        note(f"{log}: {found.n_broken:,} of {found.n_lines:,} lines cannot be read (line {where})")
    if found.n_rare:
        note(f"{log}: {found.n_rare:,} requests left out, for the rarest of a million addresses")
    _remind(settings, "logs")
    return 0


@app.command(name="from-table")
def from_table(
    table: Annotated[Path, Parameter(allow_leading_hyphen=True)],
    *,
    address: str,
    count: str,
    crawl: CrawlNamed = HERE,
    json_: Json = False,
) -> int:
    """Have pages weigh by counts in a table, as Search Console, Matomo and Plausible export them.

    The counts take the place of those of the table before. Works beside a running crawl.

    Parameters
    ----------
    table
        CSV, Parquet or JSON Lines.
    address
        Its column of addresses; a path is meant on the crawl's host, if it has one.
    count
        Its column of counts.
    """
    directory, settings = crawl.place(), crawl.settings()
    told = _read_counts(table, address, count)
    hosts = _hosts(directory)
    counts: dict[str, float] = {}
    strange = 0
    for text, n in told:
        url = _address(text, None, hosts)
        if url is None:
            strange += 1
        else:
            counts[url] = counts.get(url, 0.0) + n
    if not counts:
        raise InvalidTable(
            f"{table}: no value of column {address} is an http or https address, or a path of a "
            "crawl of one host"
        )
    with closing(open_tallies(directory)) as door:
        known = door.add("table", counts, _HALF_LIFE_S, anew=True)
    if json_:
        print_json({"addresses": len(counts), "known": known, "not_addresses": strange})
    else:
        say(f"Read counts of {len(counts):,} addresses, of which the crawl knows {known:,}.")
    if strange:
        note(f"{table}: {strange:,} values of column {address} are no addresses")
    _remind(settings, "table")
    return 0


def _remind(settings: Settings | None, source: str) -> None:
    if settings is not None and not dict(settings.importance).get(source):
        note(f"These counts have no say yet: give {source} a share under [importance].")


def _hosts(directory: StatePlace) -> list[str]:
    with closing(open_frontier(directory, read_only=True)) as frontier:
        return [record.host for record in frontier.hosts()]


def _checked_host(text: str) -> str:
    url = normalise(text if "://" in text else f"https://{text}")
    if url is None or url != f"{host_of(url)}/":
        raise InputError(f"--host: {text[:200]!r} is no address of a host, as https://example.org")
    return host_of(url)


def _addresses(log: Path, found: LogCounts, own: str | None, hosts: list[str]) -> dict[str, float]:
    """Return counts by address; one that names no host is of ``own``, or of the only host."""
    if own is None and len(hosts) != 1 and any(not host for host, _ in found.counts):
        raise InputError(
            f"{log}: its lines do not tell the host, and the crawl has {len(hosts)}; name it with "
            "--host https://example.org"
        )
    by_name = {host.partition("://")[2]: host for host in hosts}
    counts: Counter[str] = Counter()
    for (host, target), n in found.counts.items():
        base = own or by_name.get(host) or (f"https://{host}" if host else hosts[0])
        url = _address(target, base, hosts)
        if url is not None:
            counts[url] += n
    return dict(counts)


def _address(text: str, base: str | None, hosts: list[str]) -> str | None:
    """Return the normal form of an address or path."""
    if text.startswith("/") and not text.startswith("//"):
        base = base or (hosts[0] if len(hosts) == 1 else None)
        return None if base is None else normalise(base + text)
    return normalise(text)


def _read_counts(table: Path, address: str, count: str) -> list[tuple[str, float]]:
    """Return the addresses and counts of a table, checked."""
    from recrawl.tables.reading import check_needs, read_table

    read = read_table(table)
    for column in (address, count):
        check_needs(table, [column], read.column_names)
    texts, values = read.column(address).to_pylist(), read.column(count).to_pylist()
    told = []
    for row, (text, value) in enumerate(zip(texts, values, strict=True), start=1):
        if value is None:
            raise InvalidTable(f"{table}, row {row}, column {count}: there is no number")
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InvalidTable(f"{table}, row {row}, column {count}: {value!r} must be a number")
        if not (np.isfinite(value) and 0 <= value <= 1e15):
            raise InvalidTable(
                f"{table}, row {row}, column {count}: {value:g} must be finite and >= 0"
            )
        if text is None:
            raise InvalidTable(f"{table}, row {row}, column {address}: the value is missing")
        told.append((str(text), float(value)))
    if not sum(n for _, n in told) > 0:
        raise InvalidTable(f"{table}, column {count}: all counts are 0, they tell nothing")
    return told
