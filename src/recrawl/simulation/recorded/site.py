"""Answers of a recorded web: pages as they were, directories, sitemap, feed, robots.txt.

Pure but for reading blobs: the address and the time in, the answer out.
"""

import hashlib
from bisect import bisect_right
from collections import Counter, OrderedDict
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import formatdate
from html import escape
from math import inf
from typing import Final
from urllib.parse import quote, unquote

from recrawl.simulation.recorded.log import Contents
from recrawl.simulation.recorded.render import is_page, render, title_of
from recrawl.simulation.recorded.web import RecordedPage, RecordedWeb
from recrawl.simulation.site import Answer
from recrawl.simulation.web import DAY_S, LivePage

_IN_A_LIST: Final = 500  # entries of a directory on one page
_IN_THE_FEED: Final = 50
_IN_A_SITEMAP: Final = 50_000
_KEPT_BYTES: Final = 64 << 20
_TOO_LARGE: Final = "<p>This file is too large to be shown.</p>"


@dataclass(frozen=True, slots=True)
class Habits:
    """Good and bad habits of a site.

    Parameters
    ----------
    validators : of pages: true, none, or lying (another ETag at every request)
    sitemap : true, none, or lying (all pages changed just now)
    feed : true or none
    errors : share of requests that are answered by 503
    """

    validators: str = "true"
    sitemap: str = "true"
    feed: str = "true"
    errors: float = 0.0


class RecordedSite:
    """One host whose pages are those of a recorded web.

    Parameters
    ----------
    web : the truth
    contents : of its pages
    epoch_s : instant of its day 0, seconds since the epoch
    port : the host is called ``http://recorded.localhost:port``
    title : of the site
    habits : how well it behaves
    """

    def __init__(
        self,
        web: RecordedWeb,
        contents: Contents,
        *,
        epoch_s: float,
        port: int = 80,
        title: str = "Recorded",
        habits: Habits | None = None,
    ) -> None:
        self.web = web
        self.requests: Counter[str] = Counter()
        self._contents, self._epoch_s, self._title = contents, epoch_s, title
        self._habits = habits or Habits()
        self._netloc = "recorded.localhost" + ("" if port == 80 else f":{port}")
        self._made: OrderedDict[tuple[str, str], bytes] = OrderedDict()
        self._made_bytes = 0
        self._order = sorted(
            (day, page.number)
            for page in web.pages
            for day in (page.born, *page.changes.tolist())
            if day > 0.0
        )

    @property
    def hosts(self) -> list[str]:
        """Address of the host, without a slash at the end."""
        return [f"http://{self._netloc}"]

    def close(self) -> None:
        """Let go of what contents are read from."""
        self._contents.close()

    def url_of(self, page: LivePage) -> str:
        """Return the address of a page."""
        return self.hosts[0] + quote(page.path)

    def page_of(self, url: str, day: float) -> LivePage | None:
        """Return the page at an address at an instant."""
        netloc, _, path = url.partition("://")[2].partition("/")
        return self.web.life("/" + unquote(path), day) if netloc == self._netloc else None

    def day(self, now_s: float) -> float:
        """Return an instant in days of the web."""
        return (now_s - self._epoch_s) / DAY_S

    def answer(
        self,
        netloc: str,
        path: str,
        now_s: float,
        *,
        if_none_match: str | None = None,
        if_modified_since: str | None = None,
    ) -> Answer:
        """Answer a GET, and count it by kind."""
        kind, reply = self._answer(netloc, path, now_s, if_none_match, if_modified_since)
        self.requests[kind] += 1
        return reply

    def _answer(
        self, netloc: str, raw: str, now_s: float, etag: str | None, since: str | None
    ) -> tuple[str, Answer]:
        day = self.day(now_s)
        if netloc != self._netloc:
            return "elsewhere", Answer(404)
        if raw == "/robots.txt":
            return "robots.txt", Answer(200, self._robots(), "text/plain")
        if self._habits.errors and _drawn(f"{raw} {now_s}") < self._habits.errors:
            return "error", Answer(503)
        bare, _, query = raw.partition("?")
        path = unquote(bare)
        if path.startswith("/sitemap") and self._habits.sitemap != "none":
            return "sitemap", self._sitemap(path, day)
        if path == "/feed.atom" and self._habits.feed != "none":
            return "feed", Answer(200, self._feed(day).encode(), "application/atom+xml")
        page = self.web.life(path, day)
        if page is not None:
            return self._page(page, day, etag, since)
        listing = self._directory(path, query, day)
        return ("directory", listing) if listing else ("not there", Answer(404))

    def _page(
        self, page: RecordedPage, day: float, etag: str | None, since: str | None
    ) -> tuple[str, Answer]:
        if day < page.born:
            return "not there", Answer(404)
        if day >= page.until:
            if page.moved_to is not None:
                location = self.hosts[0] + quote("/" + page.moved_to)
                return "moved", Answer(301, headers={"Location": location})
            return "gone", Answer(page.gone_status or 404)
        version = page.version(day)
        blob = page.blobs[version]
        changed = page.changes[version - 1] if version else page.born
        headers: dict[str, str] = {}
        if self._habits.validators == "true":
            modified = formatdate(self._epoch_s + changed * DAY_S, usegmt=True)
            headers = {"ETag": f'"{blob[:20]}"', "Last-Modified": modified}
            if etag == headers["ETag"] or (not etag and since == modified):
                return "not modified", Answer(304, headers=headers)
        elif self._habits.validators == "lying":
            now = self._epoch_s + day * DAY_S
            headers = {"ETag": f'"{now}"', "Last-Modified": formatdate(now, usegmt=True)}
        return "page", Answer(200, self._body(page.path, blob), headers=headers)

    def _body(self, path: str, blob: str) -> bytes:
        key = (path, blob)
        if key in self._made:
            self._made.move_to_end(key)
            return self._made[key]
        content = self._contents.read(blob)
        if content is not None and (self._contents.are_pages or is_page(path)):
            body = content
        else:
            shown = None if content is None else render(path, content)
            body = self._frame(path, shown if shown is not None else _TOO_LARGE)
        self._made[key] = body
        self._made_bytes += len(body)
        while self._made_bytes > _KEPT_BYTES and len(self._made) > 1:
            self._made_bytes -= len(self._made.popitem(last=False)[1])
        return body

    def _frame(self, path: str, main: str) -> bytes:
        """Lay a page out as sites do: a header with where one is, the page, a footer."""
        parts = path.strip("/").split("/")
        trail = ['<a href="/">Home</a>']
        for depth in range(1, len(parts)):
            at = quote("/" + "/".join(parts[:depth]) + "/")
            trail.append(f'<a href="{at}">{escape(parts[depth - 1])}</a>')
        tops = "".join(
            f'<li><a href="{quote(one)}">{escape(one.strip("/"))}</a></li>'
            for one in self.web.by_directory["/"][0][:30]
        )
        title = escape(title_of(path.rstrip("/")) or self._title)
        return (
            f"<!doctype html><html lang=en><head><title>{title} - {escape(self._title)}</title>"
            '<link rel="alternate" type="application/atom+xml" href="/feed.atom"></head><body>'
            f"<header><nav>{' / '.join(trail)}</nav><nav><ul>{tops}</ul></nav></header>"
            f"<main>{main}</main><footer>{escape(self._title)}, as it was.</footer></body></html>"
        ).encode()

    def _directory(self, path: str, query: str, day: float) -> Answer | None:
        found = self.web.by_directory.get(path)
        if found is None:
            return None
        entries = [one for one in found[0] if self._is_there(one, day)]
        for one in found[1]:
            page = self.web.life(one, day)
            if page is not None and page.exists(day):
                entries.append(one)
        if not entries and path != "/":
            return None
        number = int(query[5:]) if query.startswith("page=") and query[5:].isdecimal() else 1
        shown = entries[(number - 1) * _IN_A_LIST : number * _IN_A_LIST]
        links = "".join(
            f'<li><a href="{quote(one)}">{escape(one[len(path) :])}</a></li>' for one in shown
        )
        more = (
            f'<p><a rel="next" href="{quote(path)}?page={number + 1}">More</a></p>'
            if number * _IN_A_LIST < len(entries)
            else ""
        )
        name = escape(path.strip("/") or self._title)
        return Answer(200, self._frame(path, f"<h1>{name}</h1><ul>{links}</ul>{more}"))

    def _is_there(self, directory: str, day: float) -> bool:
        within, files = self.web.by_directory[directory]
        for one in files:
            page = self.web.life(one, day)
            if page is not None and page.exists(day):
                return True
        return any(self._is_there(one, day) for one in within)

    def _robots(self) -> bytes:
        sitemap = (
            "" if self._habits.sitemap == "none" else f"Sitemap: {self.hosts[0]}/sitemap.xml\n"
        )
        return f"User-agent: *\nDisallow: /private/\n\n{sitemap}".encode()

    def _sitemap(self, path: str, day: float) -> Answer:
        entries = []
        for page in self.web.pages:
            if not page.exists(day):
                continue
            version = page.version(day)
            changed = page.changes[version - 1] if version else page.born
            stamp = _stamp(self._epoch_s, day if self._habits.sitemap == "lying" else changed)
            entries.append(
                f"<url><loc>{escape(self.url_of(page))}</loc><lastmod>{stamp}</lastmod></url>"
            )
        kind, inner = "urlset", entries
        if path != "/sitemap.xml":
            number = path[len("/sitemap-") : -len(".xml")]
            if not number.isdecimal():
                return Answer(404)
            first = int(number) * _IN_A_SITEMAP
            inner = entries[first : first + _IN_A_SITEMAP]
        elif len(entries) > _IN_A_SITEMAP:
            kind = "sitemapindex"
            inner = [
                f"<sitemap><loc>{self.hosts[0]}/sitemap-{n}.xml</loc></sitemap>"
                for n in range(-(-len(entries) // _IN_A_SITEMAP))
            ]
        text = (
            '<?xml version="1.0" encoding="UTF-8"?>'
            f'<{kind} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{"".join(inner)}</{kind}>'
        )
        return Answer(200, text.encode(), "application/xml")

    def _feed(self, day: float) -> str:
        latest = self._order[: bisect_right(self._order, (day, inf))][-_IN_THE_FEED:]
        entries = []
        for changed, number in reversed(latest):
            page = self.web.pages[number]
            url = escape(self.url_of(page))
            entries.append(
                f"<entry><title>{escape(title_of(page.path))}</title><id>{url}</id>"
                f'<link href="{url}"/><updated>{_stamp(self._epoch_s, changed)}</updated></entry>'
            )
        updated = _stamp(self._epoch_s, latest[-1][0] if latest else 0.0)
        return (
            '<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom">'
            f"<title>{escape(self._title)}</title><id>{self.hosts[0]}/</id>"
            f"<updated>{updated}</updated>{''.join(entries)}</feed>"
        )


def _stamp(epoch_s: float, day: float) -> str:
    return datetime.fromtimestamp(epoch_s + day * DAY_S, UTC).isoformat(timespec="seconds")


def _drawn(key: str) -> float:
    """A number in [0, 1) that follows from the key."""
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=6).digest()) / 2.0**48
