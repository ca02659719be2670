"""Databases of other crawlers: a dump of Nutch's CrawlDb, and StormCrawler's status index."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import msgspec

from recrawl.tables.captures.lines import read_lines
from recrawl.tables.captures.looks import Look, Tally

NUTCH_WANTED: Final = (
    "records of `nutch readdb crawldb -dump`, which begin with address and Version"
)
STORMCRAWLER_WANTED: Final = "lines of JSON with url, status and metadata, of a status index"
_FIRST: Final = re.compile(r"^(\S+)\tVersion: \d+$")
_FETCHED: Final = ("db_fetched", "db_notmodified")
_JAVA_DATE: Final = re.compile(r"^\w{3} (\w{3} \d{2} \d{2}:\d{2}:\d{2}) (\S+) (\d{4})$")
_UTC: Final = ("UTC", "GMT", "Z")


def read_nutch(path: Path, tally: Tally) -> Iterator[Look]:
    """Yield the pages of a dump as text; a page that was fetched was last seen an interval ago.

    Raises
    ------
    InvalidTable
        The file cannot be read.
    """
    url, first, told = "", 0, dict[str, str]()
    for number, line in read_lines(path, tally):
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        begins = _FIRST.match(text)
        if begins:
            yield from _nutch_looks(url, told, path, first, tally)
            url, first, told = begins[1], number, {}
            tally.n_records += 1
        elif not first:
            tally.n_records += 1
            tally.bad(path, f"line {number}", "is of no record")
        elif not text.startswith((" ", "\t")):
            name, _, value = text.partition(": ")
            told[name] = value
    yield from _nutch_looks(url, told, path, first, tally)


def _nutch_looks(
    url: str, told: dict[str, str], path: Path, line: int, tally: Tally
) -> Iterator[Look]:
    if not line:
        return
    try:
        looks = _of_nutch(url, told)
    except ValueError as error:
        tally.bad(path, f"line {line}", str(error))
        return
    if not looks:
        tally.n_left_out += 1
    yield from looks


def _of_nutch(url: str, told: dict[str, str]) -> list[Look]:
    status = re.search(r"\((\w+)\)", told.get("Status", ""))
    if status is None:
        raise ValueError("has no Status")
    if status[1] not in _FETCHED:
        return []
    interval = re.match(r"(\d+) seconds", told.get("Retry interval", ""))
    if interval is None:
        raise ValueError("has no Retry interval in seconds")
    seen_s = _java_instant(told.get("Fetch time", ""), "Fetch time") - float(interval[1])
    changed_s = _java_instant(told.get("Modified time", ""), "Modified time")
    mark = told.get("Signature", "").strip()
    if mark in ("", "null"):
        raise ValueError("has no Signature")
    return list(_last_change(url, changed_s, seen_s, mark.encode()))


def _last_change(url: str, changed_s: float, seen_s: float, mark: bytes) -> Iterator[Look]:
    """Yield when a page changed last, where that is known, and when it was seen last."""
    if 0.0 < changed_s < seen_s:
        yield Look(url, changed_s, mark, status=200)
    yield Look(url, seen_s, mark, status=200)


def _java_instant(text: str, name: str) -> float:
    found = _JAVA_DATE.match(text)
    if found is None:
        raise ValueError(f"{name} {text[:40]!r} is no date as Java writes it")
    if found[2] not in _UTC:
        raise ValueError(f"{name} is in zone {found[2]}; dump it with TZ=UTC")
    at = datetime.strptime(f"{found[1]} {found[3]} +0000", "%b %d %H:%M:%S %Y %z")
    return at.timestamp()


def read_stormcrawler(path: Path, tally: Tally) -> Iterator[Look]:
    """Yield the pages of a status index, one document a line, with or without its envelope.

    Raises
    ------
    InvalidTable
        The file cannot be read.
    """
    for number, line in read_lines(path, tally):
        tally.n_records += 1
        try:
            looks = list(_storm_looks(_document(line)))
        except ValueError as error:
            tally.bad(path, f"line {number}", str(error))
            continue
        if not looks:
            tally.n_left_out += 1
        yield from looks


def _document(line: bytes) -> dict[str, Any]:
    """Return a document, out of its envelope if it has one."""
    try:
        told = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        told = None
    source = told.get("_source", told) if isinstance(told, dict) else None
    if not isinstance(source, dict):
        raise ValueError("is no JSON object")  # noqa: TRY004 - of what is read, not of a caller
    return source


def _storm_looks(source: dict[str, Any]) -> Iterator[Look]:
    url, status = source.get("url"), source.get("status")
    if not isinstance(url, str) or not isinstance(status, str):
        raise ValueError("has no url and status")  # noqa: TRY004 - of what is read
    if status != "FETCHED":
        return
    given = source.get("metadata")
    told = {}
    for name, value in (given if isinstance(given, dict) else {}).items():
        first = value[0] if isinstance(value, list) and value else value
        told[unquote(name)] = str(first)
    seen = told.get("lastProcessedDate")
    if seen is not None:
        seen_s = _instant(seen, "lastProcessedDate")
    elif "fetchInterval" in told and "nextFetchDate" in source:
        minutes = told["fetchInterval"]
        if not minutes.isdigit():
            raise ValueError(f"fetchInterval {minutes[:20]!r} is no number of minutes")
        seen_s = _instant(str(source["nextFetchDate"]), "nextFetchDate") - 60.0 * float(minutes)
    else:
        raise ValueError("says by neither lastProcessedDate nor fetchInterval when it was fetched")
    mark = told.get("signature")
    if mark is None:
        raise ValueError("has no signature: persist it (metadata.persist)")
    changed = told.get("signatureChangeDate")
    changed_s = 0.0 if changed is None else _instant(changed, "signatureChangeDate")
    yield from _last_change(url, changed_s, seen_s, mark.encode())


def _instant(text: str, name: str) -> float:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{name} {text[:40]!r} is no date") from None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
