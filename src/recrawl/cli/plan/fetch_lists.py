"""Plans as other crawlers take them: start requests, seeds, fetch lists."""

from collections.abc import Callable
from pathlib import Path
from typing import IO, Final
from xml.sax.saxutils import escape

import msgspec
import numpy as np
import pyarrow as pa

from recrawl.api.plan_solution import SolvedPlan, with_rates
from recrawl.cli.plan.progress import track
from recrawl.errors import InputError
from recrawl.tables.columns import plain
from recrawl.tables.complaints import told_columns
from recrawl.tables.reading import PageTable
from recrawl.whole_files import whole_file

_MOST_OF_SITEMAP: Final = 50_000  # by its protocol
_CHANGES: Final = (
    ("always", 600.0), ("hourly", 2 * 3_600.0), ("daily", 2 * 86_400.0), ("weekly", 14 * 86_400.0),
    ("monthly", 60 * 86_400.0), ("yearly", float("inf")),
)  # fmt: skip
_HEAD: Final = {
    "sitemap": '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
}
_TAIL: Final = {"sitemap": "</urlset>\n"}


def _scrapy(url: str, interval_s: float, share: float, number: int) -> str:
    priority = max(0, round(100 * share))
    request = {"url": url, "priority": priority, "meta": {"recrawl_interval_s": round(interval_s)}}
    return msgspec.json.encode(request).decode() + "\n"


def _nutch(url: str, interval_s: float, share: float, number: int) -> str:
    return f"{url}\tnutch.score={share:.4f}\tnutch.fetchInterval={max(1, round(interval_s))}\n"


def _stormcrawler(url: str, interval_s: float, share: float, number: int) -> str:
    return f"{url}\tfetchInterval={max(1, round(interval_s / 60.0))}\n"


def _curl(url: str, interval_s: float, share: float, number: int) -> str:
    quoted = url.replace("\\", "\\\\").replace('"', '\\"')
    return f'url = "{quoted}"\noutput = "{number:08}"\n'


def _sitemap(url: str, interval_s: float, share: float, number: int) -> str:
    often = next(name for name, longest_s in _CHANGES if interval_s <= longest_s)
    return (
        f"  <url><loc>{escape(url)}</loc><changefreq>{often}</changefreq>"
        f"<priority>{share:.1f}</priority></url>\n"
    )


FORMS: Final[dict[str, Callable[[str, float, float, int], str]]] = {
    "scrapy": _scrapy,
    "nutch": _nutch,
    "stormcrawler": _stormcrawler,
    "curl": _curl,
    "sitemap": _sitemap,
}


def check_form(form: str, out: Path | None, table: PageTable) -> None:
    """Refuse what could not be written, before any work is done.

    Raises
    ------
    InputError
        There is no file to write to, no address in the table, or it is too long for the form.
    """
    if out is None:
        raise InputError(f"--for: {form} needs a file to write to; give --out FILE")
    if not out.parent.is_dir():
        raise InputError(f"--out: there is no directory {out.parent}")
    if "url" not in table.columns:
        raise InputError(
            f"--for: {table.path} has no column url, which every fetch list needs; "
            f"{told_columns(table.columns)}"
        )


def write_fetch_list(table: PageTable, solved: SolvedPlan, form: str, out: Path) -> tuple[int, int]:
    """Write the pages that are to be visited; return how many there are, and how many are left out.

    All of it or nothing. What is left out has the crawl rate 0: no visit of it pays.

    Raises
    ------
    InputError
        An address cannot stand in the form, or there are too many.
    StateError
        The file cannot be written.
    """
    with whole_file(out) as part, part.open("w", encoding="utf-8") as file:
        return _write(file, table, solved, form)


def _write(file: IO[str], table: PageTable, solved: SolvedPlan, form: str) -> tuple[int, int]:
    spool, unit_s = solved.problem.spool, solved.question.unit_s
    greatest = max(float(solved.prices.rates(part).max(initial=0.0)) for part in spool)
    n_listed = n_left_out = 0
    line = FORMS[form]
    file.write(_HEAD.get(form, ""))
    for batch in with_rates(track(table, ["url"], "writing"), solved.rates()):
        rates = np.asarray(batch.column("crawl_rate").to_numpy(), np.float64) / unit_s
        urls = plain(batch.column("url")).cast(pa.string()).to_pylist()
        for url, rate in zip(urls, rates.tolist(), strict=True):
            row = n_listed + n_left_out + 1
            if rate <= 0.0:
                n_left_out += 1
                continue
            if not url or any(sign.isspace() or not sign.isprintable() for sign in url):
                raise InputError(
                    f"{table.path}, row {row}, column url: {url!r} cannot stand in a fetch list; "
                    "encode spaces as %20"
                )
            n_listed += 1
            file.write(line(url, 1.0 / rate, rate / greatest, n_listed))
    if form == "sitemap" and n_listed > _MOST_OF_SITEMAP:
        raise InputError(
            f"--for: {n_listed:,} pages do not fit into a sitemap; it holds {_MOST_OF_SITEMAP:,}"
        )
    file.write(_TAIL.get(form, ""))
    return n_listed, n_left_out
