"""Answers of the synthetic web: pages as HTML, sitemaps, robots.txt, validators, redirects.

Pure: the address and the time in, the answer out. The HTTP server and the virtual fetcher both ask
here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import formatdate
from html import escape
from typing import Protocol

import numpy as np

from recrawl.simulation.web import DAY_S, LivePage, SyntheticPage, SyntheticWeb

_WORDS = (
    "the water moves slowly past a stone wall and every morning someone opens the gate to let "
    "light through while boats carry fruit letters tools and news from one bank to another so "
    "people on both sides know what has changed since yesterday and what has stayed as it was when "
    "old maps were drawn by hand with ink made of oak a keeper writes numbers into ledger after "
    "each tide counts birds mends nets reads clouds waits for wind then sails home under stars"
).split()


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer."""

    status: int
    body: bytes = b""
    content_type: str = "text/html; charset=utf-8"
    headers: dict[str, str] = field(default_factory=dict)


class LiveWeb(Protocol):
    """Pages whose whole history is known."""

    @property
    def pages(self) -> Sequence[LivePage]:
        """All of them, in the order of their numbers."""
        ...


class ServedSite(Protocol):
    """Site of a changing web, with the truth about it."""

    @property
    def web(self) -> LiveWeb:
        """The truth."""
        ...

    @property
    def hosts(self) -> list[str]:
        """Addresses of the hosts, without a slash at the end."""
        ...

    def page_of(self, url: str, day: float) -> LivePage | None:
        """Return the page at an address at an instant."""
        ...

    def day(self, now_s: float) -> float:
        """Return an instant in days of the web."""
        ...

    def answer(
        self,
        netloc: str,
        path: str,
        now_s: float,
        *,
        if_none_match: str | None = None,
        if_modified_since: str | None = None,
    ) -> Answer:
        """Answer a GET."""
        ...

    def close(self) -> None:
        """Let go of what contents are read from."""
        ...


class Site:
    """The hosts of a synthetic web.

    Parameters
    ----------
    web : the truth
    epoch_s : instant of its day 0, seconds since the epoch
    suffix, port : hosts are called ``http://NAME.suffix:port``
    """

    def __init__(
        self, web: SyntheticWeb, *, epoch_s: float, suffix: str = "localhost", port: int = 80
    ) -> None:
        self.web: SyntheticWeb = web
        self._epoch_s = epoch_s
        self._suffix = suffix
        self._port = port
        self._hosts = {host.partition("://")[2]: number for number, host in enumerate(self.hosts)}

    @property
    def hosts(self) -> list[str]:
        """Addresses of the hosts, without a slash at the end."""
        port = "" if self._port == 80 else f":{self._port}"
        return [f"http://{name}.{self._suffix}{port}" for name in self.web.hosts]

    def close(self) -> None:
        """Nothing is held."""

    def url_of(self, page: SyntheticPage) -> str:
        """Return the address of a page."""
        return self.hosts[page.host] + page.path

    def page_of(self, url: str, day: float) -> SyntheticPage | None:
        """Return the page at an address, which is the same at any instant."""
        netloc, _, path = url.partition("://")[2].partition("/")
        host = self._hosts.get(netloc)
        return None if host is None else self.web.by_address.get((host, "/" + path))

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
        """Answer a GET."""
        host = self._hosts.get(netloc)
        if host is None:
            return Answer(404)
        day = self.day(now_s)
        if path == "/robots.txt":
            return Answer(200, self._robots(host).encode(), "text/plain")
        if path == "/sitemap.xml":
            return Answer(200, self._sitemap(host, day).encode(), "application/xml")
        page = self.web.by_address.get((host, path))
        if page is None:
            return self._listing(host, path, day)
        return self._page(page, day, if_none_match, if_modified_since)

    def _page(
        self,
        page: SyntheticPage,
        day: float,
        if_none_match: str | None,
        if_modified_since: str | None,
    ) -> Answer:
        if day < page.born:
            return Answer(404)
        if day >= page.until:
            if page.moved_to is not None:
                target = self.url_of(self.web.pages[page.moved_to])
                return Answer(301, headers={"Location": target})
            return Answer(page.gone_status or 404)
        version = page.version(day)
        headers: dict[str, str] = {}
        if page.host != 2:  # one host sends no validators, as many do not
            changed = page.changes[version - 1] if version else max(page.born, 0.0)
            modified = formatdate(self._epoch_s + changed * DAY_S, usegmt=True)
            etag = f'"{page.number}-{version}"'
            headers = {"ETag": etag, "Last-Modified": modified}
            matches = if_none_match == etag if if_none_match else False
            if matches or (not if_none_match and if_modified_since == modified):
                return Answer(304, headers=headers)
        return Answer(200, self._html(page, version, day).encode(), headers=headers)

    def _html(self, page: SyntheticPage, version: int, day: float) -> str:
        title = page.path.rpartition("/")[2].rpartition("-")[0].replace("-", " ").title()
        section = page.path.split("/")[1]
        steady = _paragraphs(page.number, 0, 3)
        fresh = _paragraphs(page.number, version + 1, 1)
        siblings = [
            other
            for other in self.web.by_section[page.host, section]
            if other.number != page.number and other.exists(day)
        ][:8]
        links = "".join(
            f'<li><a href="{self.url_of(other)}">{escape(other.path.rpartition("/")[2])}</a></li>'
            for other in siblings
        )
        served = datetime.fromtimestamp(self._epoch_s + day * DAY_S, UTC).isoformat(" ", "seconds")
        return (
            f"<!doctype html><html lang=en><head><title>{escape(title)}</title></head><body>"
            f'<header><nav><a href="/">{self.web.hosts[page.host]}</a> '
            f'<a href="/{section}/">{section}</a></nav></header>'
            f"<main><h1>{escape(title)}</h1>{steady}"
            f"<p>Revision {version} of this page.</p>{fresh}"
            f"<ul>{links}</ul></main>"
            f"<footer>Served {served}; request {int(day * DAY_S)}</footer></body></html>"
        )

    def _listing(self, host: int, path: str, day: float) -> Answer:
        name = path.strip("/")
        if path == "/":
            sections = sorted({key[1] for key in self.web.by_section if key[0] == host})
            links = "".join(f'<li><a href="/{section}/">{section}</a></li>' for section in sections)
            return Answer(200, _frame(self.web.hosts[host], f"<ul>{links}</ul>"))
        pages = self.web.by_section.get((host, name))
        if pages is None or not path.endswith("/"):
            return Answer(404)
        links = "".join(
            f'<li><a href="{page.path}">{page.path.rpartition("/")[2]}</a></li>'
            for page in pages
            if page.exists(day)
        )
        return Answer(200, _frame(name, f"<ul>{links}</ul>"))

    def _robots(self, host: int) -> str:
        delay = ("1", "2", "0.5", "1")[host % 4]
        return (
            f"User-agent: *\nDisallow: /private/\nCrawl-delay: {delay}\n\n"
            f"Sitemap: {self.hosts[host]}/sitemap.xml\n"
        )

    def _sitemap(self, host: int, day: float) -> str:
        entries = []
        for page in self.web.pages:
            if page.host != host or not page.exists(day):
                continue
            version = page.version(day)
            # One host stamps everything with today's date, as careless generators do.
            changed = day if host == 3 else (page.changes[version - 1] if version else page.born)
            stamp = datetime.fromtimestamp(self._epoch_s + changed * DAY_S, UTC)
            entries.append(
                f"<url><loc>{self.url_of(page)}</loc>"
                f"<lastmod>{stamp.isoformat(timespec='seconds')}</lastmod></url>"
            )
        return (
            '<?xml version="1.0" encoding="UTF-8"?>'
            '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
            f"{''.join(entries)}</urlset>"
        )


def _frame(title: str, body: str) -> bytes:
    return (
        f"<!doctype html><html lang=en><head><title>{escape(title)}</title></head>"
        f"<body><main><h1>{escape(title)}</h1>{body}</main></body></html>"
    ).encode()


def _paragraphs(number: int, version: int, count: int) -> str:
    random = np.random.default_rng([number, version])
    words = [_WORDS[place] for place in random.integers(len(_WORDS), size=40 * count)]
    lines = (" ".join(words[start : start + 40]) for start in range(0, len(words), 40))
    return "".join(f"<p>{line.capitalize()}.</p>" for line in lines)
