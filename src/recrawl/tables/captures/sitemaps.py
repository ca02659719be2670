"""Sitemaps as they were at known instants: the dates in them say when pages changed."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from lxml import etree

from recrawl.errors import InputError, InvalidTable
from recrawl.tables.captures.cdx import compact_instant
from recrawl.tables.captures.lines import open_counted
from recrawl.tables.captures.looks import Look, Tally

WANTED: Final = "url elements with loc and lastmod"
_IN_NAME: Final = re.compile(r"(?<!\d)(\d{14}|\d{8})(?!\d)|(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)")


def snapshot_instant(path: Path) -> float:
    """Return when a snapshot was taken, by the date in its name.

    Raises
    ------
    InputError
        There is none.
    """
    found = _IN_NAME.search(path.name)
    try:
        if found:
            return compact_instant(found[1] or "".join(found.group(2, 3, 4)))
    except ValueError:
        pass
    raise InputError(
        f"{path}: when was it taken? Put the date into its name, as sitemap-20260822093000.xml or "
        "sitemap-2026-08-22.xml"
    )


def read_sitemap(path: Path, tally: Tally) -> Iterator[Look]:
    """Yield what a sitemap says of each page: its last change, and none since.

    The date in the name of the file is when it was taken.

    Raises
    ------
    InvalidTable
        It cannot be read, or is not XML.
    InputError
        There is no date in its name.
    """
    seen_s, before = snapshot_instant(path), tally.done_bytes
    with open_counted(path) as (file, raw):
        try:
            parts = etree.iterparse(
                file, events=("end",), resolve_entities=False, no_network=True, load_dtd=False
            )
            for _, part in parts:
                name = etree.QName(part).localname if isinstance(part.tag, str) else ""
                if name == "sitemap":
                    tally.n_left_out += 1
                if name == "url":
                    tally.n_records += 1
                    tally.done_bytes = before + raw.tell()
                    yield from _looks(part, path, seen_s, tally)
                if name in ("url", "sitemap"):
                    part.clear()
                    while part.getprevious() is not None:
                        del part.getparent()[0]
        except etree.XMLSyntaxError as error:
            raise InvalidTable(f"{path}, line {error.lineno}: is no XML ({error.msg})") from None
    tally.done_bytes = before + path.stat().st_size


def _looks(part: etree._Element, path: Path, seen_s: float, tally: Tally) -> Iterator[Look]:
    texts = {
        etree.QName(one).localname: (one.text or "").strip()
        for one in part
        if isinstance(one.tag, str)
    }
    url, date = texts.get("loc", ""), texts.get("lastmod", "")
    place = f"line {part.sourceline}"
    if not url.startswith(("http://", "https://")):
        tally.bad(path, place, f"loc {url[:80]!r} is no http or https address")
        return
    if not date:
        tally.n_left_out += 1
        return
    try:
        at = datetime.fromisoformat(date)
        changed_s = (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    except ValueError:
        tally.bad(path, place, f"lastmod {date[:40]!r} is no date")
        return
    if changed_s > seen_s:
        tally.bad(path, place, f"lastmod {date[:40]} is after the snapshot was taken")
        return
    mark = str(changed_s).encode()
    yield Look(url, changed_s, mark, status=200)
    yield Look(url, seen_s, mark, status=200)
