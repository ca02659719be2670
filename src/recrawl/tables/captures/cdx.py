"""Indexes of web archives: CDX with its header or in the usual columns, CDXJ, and JSON.

Each line is a capture of a page with a digest of its content. Files of archives are read, and what
servers answer: the Wayback Machine's (text, or JSON: a list in each line, the first with the names)
and Common Crawl's (an object in each line).
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from recrawl.tables.captures.lines import read_lines
from recrawl.tables.captures.looks import Look, Tally

WANTED: Final = (
    "lines of CDX (with a header ' CDX ...', or of 7, 9 or 11 columns), of CDXJ, or of the JSON "
    "that the Wayback Machine or Common Crawl answers"
)
# Letters of the format's own legend: b date, a address, k digest, s status, m type.
_LETTERS: Final = {
    "timestamp": "b",
    "original": "a",
    "url": "a",
    "digest": "k",
    "statuscode": "s",
    "status": "s",
    "mimetype": "m",
    "mime": "m",
}
_USUAL: Final = {7: "N b a m s k S", 9: "N b a m s k r V g", 11: "N b a m s k r M S V g"}


def read_cdx(path: Path, tally: Tally) -> Iterator[Look]:
    """Yield the captures of an index that tell the state of a page.

    Raises
    ------
    InvalidTable
        The file cannot be read.
    """
    columns: list[str] | None = None
    for number, line in read_lines(path, tally):
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        if text.lstrip().startswith("CDX "):  # also amid a file that several were put into
            columns = text.split()[1:]
            if not {"b", "a", "k"} <= set(columns):
                tally.n_records += 1
                tally.bad(
                    path, f"line {number}", "names no column b (date), a (address) and k (digest)"
                )
                return
            continue
        tally.n_records += 1
        try:
            if number == 1 and text.startswith("[["):
                columns = [_LETTERS.get(name, "-") for name in _values(text)]
                tally.n_records -= 1
                continue
            if text.endswith("}"):
                told = _of_json(text)
            else:
                parts = _values(text) if text.startswith("[") else text.split()
                told = _of_columns(parts, columns)
            look = _look(told)
        except ValueError as error:
            tally.bad(path, f"line {number}", str(error))
            continue
        if look is None:
            tally.n_left_out += 1
        else:
            yield look


def _of_json(text: str) -> dict[str, str | None]:
    head, _, body = text.partition("{")
    parts = head.split()
    if len(parts) not in (0, 2):
        raise ValueError("has no key and date before its {")
    try:
        told: dict[str, Any] = msgspec.json.decode("{" + body, type=dict)
    except (msgspec.DecodeError, RecursionError):
        raise ValueError("ends in no JSON object") from None
    values = {
        _LETTERS[name]: None if value is None else str(value)
        for name, value in told.items()
        if name in _LETTERS
    }
    return values | {"b": parts[1]} if parts else values


def _values(text: str) -> list[str]:
    """Return a row of a list of lists that has each in a line of its own."""
    row = text.strip().removesuffix(",").replace("[[", "[", 1)
    row = row.removesuffix("]") if row.endswith("]]") else row
    try:
        return msgspec.json.decode(row, type=list[str])
    except (msgspec.DecodeError, RecursionError):
        raise ValueError("is no list of texts") from None


def _of_columns(parts: list[str], columns: list[str] | None) -> dict[str, str | None]:
    if columns is None:
        usual = _USUAL.get(len(parts))
        if usual is None:
            raise ValueError(f"has {len(parts)} columns, and the file no header")
        columns = usual.split()
    if len(parts) != len(columns):
        raise ValueError(f"has {len(parts)} columns of {len(columns)}")
    return {
        letter: None if value == "-" else value
        for letter, value in zip(columns, parts, strict=True)
    }


def _look(told: dict[str, str | None]) -> Look | None:
    url, digest, date = told.get("a"), told.get("k"), told.get("b")
    if not url or not url.startswith(("http://", "https://")):
        if url and url.partition(":")[0] in ("dns", "whois", "warcinfo", "metadata", "urn"):
            return None
        raise ValueError(f"{(url or '')[:80]!r} is no http or https address")
    at_s = compact_instant(date or "")
    status = told.get("s")
    if status is not None and not (status.isdigit() and len(status) == 3):
        raise ValueError(f"{status[:20]!r} is no status")
    code = None if status is None else int(status)
    # A revisit has the digest of what it refers to, and often no status of its own.
    is_page = code is None or 200 <= code < 300 or code == 304
    if code == 304 and not digest:  # the server said that nothing had changed
        return Look(url, at_s, None, False, code)
    if is_page and not digest:
        raise ValueError("has no digest")
    # Some name the kind of digest before it, and some do not.
    mark = (digest or "").rpartition(":")[2].encode()
    return Look(url, at_s, mark if is_page else None, None, code)


def compact_instant(text: str) -> float:
    """Return ``20260822093000`` as seconds since the epoch; shorter ones are filled up.

    Raises
    ------
    ValueError
        It is no such date.
    """
    if not (text.isascii() and text.isdigit() and 4 <= len(text) <= 17):
        raise ValueError(f"{text[:30]!r} is no date such as 20260822093000")
    filled = (text + "0101000000"[len(text) - 4 :])[:14] if len(text) < 14 else text[:14]
    try:
        return datetime.strptime(filled, "%Y%m%d%H%M%S").replace(tzinfo=UTC).timestamp()
    except ValueError:
        raise ValueError(f"{text[:30]!r} is no date such as 20260822093000") from None
