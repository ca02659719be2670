"""A crawl through a web that wants to break it: one run, one check per trick.

Each trick has a host of its own below ``localhost``, so that a blocked host hides nothing else.
"""

import asyncio
import gzip
import itertools
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import brotli
import pytest
from tests.acceptance.command import answer, recrawl, recrawl_measured, rows, write_config
from tests.acceptance.servers import Exchange, LocalServer, serving

pytestmark = pytest.mark.acceptance

CONFIG = """
seeds = ["http://start.localhost:{port}/"]
contact = "mailto:tester@site.test"
budget = "200/s"
[scope]
hosts = ["*.localhost", "10.0.0.1", "169.254.169.254", "127.0.0.1:{port}"]
max_query_variants = 5
[politeness]
delay = "0s"
first_backoff = "300s"
allow_private = ["*.localhost"]
[fetch]
timeout = "2s"
max_bytes = "1MB"
[reading]
cpu = "500ms"
"""

ESCAPES = "\x1b[31mred\x1b[0m \u202eevil\u202c \x07bell \x9bcsi"
TRICKS = (
    "ok gzip-bomb br-bomb endless slow header-flood long-header bad-gzip short reset dup-length "
    "loop private metadata file literal latin utf16 badutf nul cookie auth lies other titles "
    "calendar deep repeat sitemap robots-huge session empty base hugelink deflate unclosed "
    "attributes"
).split()


def home(port: int, name: str) -> str:
    return f"http://{name}.localhost:{port}/"


class Torture:
    """The handler: the host's name says which trick."""

    def __init__(self) -> None:
        self.port = 0
        zeroes = bytes(200_000_000)
        self.gzip_bytes = gzip.compress(zeroes, 9)
        self.brotli_bytes = brotli.compress(zeroes, quality=5)

    async def __call__(self, exchange: Exchange) -> None:
        name = exchange.host.partition(".")[0]
        method = getattr(self, name.replace("-", "_"), None)
        robots_less = exchange.path == "/robots.txt" and name not in ("robots-huge", "sitemap")
        if robots_less or (exchange.path == "/sitemap.xml" and name != "sitemap"):
            await exchange.reply(status=404)
        elif method is None:
            await exchange.reply(f"<main>plain words of {name}</main>")
        else:
            await method(exchange)

    async def start(self, exchange: Exchange) -> None:
        links = "".join(f'<a href="{home(self.port, name)}">{name}</a>' for name in TRICKS)
        links += f'<a href="http://127.0.0.1:{self.port}/literal">x</a>'
        await exchange.reply(f"<main>start {links}</main>")

    async def gzip_bomb(self, exchange: Exchange) -> None:
        await exchange.reply(self.gzip_bytes, Content_Encoding="gzip")

    async def br_bomb(self, exchange: Exchange) -> None:
        await exchange.reply(self.brotli_bytes, Content_Encoding="br")

    async def deflate(self, exchange: Exchange) -> None:
        raw = zlib.compressobj(wbits=-15)
        body = raw.compress(b"<main>raw deflate words</main>") + raw.flush()
        await exchange.reply(body, Content_Encoding="deflate")

    async def endless(self, exchange: Exchange) -> None:
        await exchange.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while not exchange.writer.is_closing():
            await exchange.send(b"10000\r\n" + b"x" * 65536 + b"\r\n")

    async def slow(self, exchange: Exchange) -> None:
        await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        for _ in range(100):
            await exchange.send(b"x")
            await asyncio.sleep(0.1)

    async def header_flood(self, exchange: Exchange) -> None:
        flood = b"".join(b"X-%d: y\r\n" % number for number in range(50_000))
        await exchange.send(b"HTTP/1.1 200 OK\r\n" + flood + b"Content-Length: 0\r\n\r\n")

    async def long_header(self, exchange: Exchange) -> None:
        await exchange.send(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 10**6 + b"\r\n\r\n")

    async def bad_gzip(self, exchange: Exchange) -> None:
        await exchange.reply(b"\x1f\x8b\x08nonsense", Content_Encoding="gzip")

    async def short(self, exchange: Exchange) -> None:
        await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf")
        exchange.writer.close()

    async def reset(self, exchange: Exchange) -> None:
        exchange.reset()

    async def dup_length(self, exchange: Exchange) -> None:
        await exchange.send(
            b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 9\r\n\r\nwordwords"
        )

    async def loop(self, exchange: Exchange) -> None:
        await exchange.reply(status=302, Location="/b" if exchange.path == "/" else "/")

    async def private(self, exchange: Exchange) -> None:
        await exchange.reply(status=302, Location="http://10.0.0.1/inside")

    async def metadata(self, exchange: Exchange) -> None:
        await exchange.reply(status=301, Location="http://169.254.169.254/latest/meta-data/")

    async def file(self, exchange: Exchange) -> None:
        await exchange.reply(status=302, Location="file:///etc/passwd")

    async def latin(self, exchange: Exchange) -> None:
        body = "<main>caf\xe9 cr\xe8me</main>".encode("latin-1")
        await exchange.reply(body, Content_Type="text/html; charset=ISO-8859-1")

    async def utf16(self, exchange: Exchange) -> None:
        await exchange.reply("<main>utf sixteen w\xf6rds</main>".encode("utf-16"))

    async def badutf(self, exchange: Exchange) -> None:
        await exchange.reply(b"<main>broken \xff\xfe\xc3 words</main>")

    async def nul(self, exchange: Exchange) -> None:
        await exchange.reply(b"<main>nul \x00 words <p><div></main></b>" + b"<" * 1000)

    async def cookie(self, exchange: Exchange) -> None:
        if "cookie" in exchange.headers:
            await exchange.reply("<main>tracked</main>")
        else:
            await exchange.reply("<main>no cookie kept</main>", Set_Cookie="id=1; Path=/")

    async def auth(self, exchange: Exchange) -> None:
        await exchange.reply("secret", status=401, WWW_Authenticate='Basic realm="x"')

    async def lies(self, exchange: Exchange) -> None:
        await exchange.reply(b"%PDF-1.7 \x00\x01", Content_Type="application/pdf")

    async def other(self, exchange: Exchange) -> None:
        await exchange.reply(b"PK\x03\x04 \x00\x01", Content_Type="application/zip")

    async def titles(self, exchange: Exchange) -> None:
        await exchange.reply(f"<title>{ESCAPES}</title><main>hostile title words</main>")

    async def calendar(self, exchange: Exchange) -> None:
        month = int(exchange.path.partition("=")[2] or 0)
        links = "".join(f'<a href="/?month={month + step}">x</a>' for step in range(1, 9))
        await exchange.reply(f"<main>month {month} {links}</main>")

    async def deep(self, exchange: Exchange) -> None:
        depth = exchange.path.count("/")
        await exchange.reply(f'<main>level {depth} <a href="{exchange.path}d{depth}/">x</a></main>')

    async def repeat(self, exchange: Exchange) -> None:
        await exchange.reply(f'<main>again <a href="{exchange.path}again/">x</a></main>')

    async def sitemap(self, exchange: Exchange) -> None:
        if exchange.path == "/robots.txt":
            named = home(self.port, "sitemap") + "bomb.xml"
            await exchange.reply(f"Sitemap: {named}", Content_Type="text/plain")
        elif exchange.path == "/bomb.xml":
            entities = '<!ENTITY a0 "aaaaaaaaaa">' + "".join(
                f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12)
            )
            url = home(self.port, "sitemap") + "listed"
            await exchange.reply(
                f"<!DOCTYPE x [{entities}]><urlset><url><loc>&a11;</loc></url>"
                f"<url><loc>{url}</loc></url></urlset>",
                Content_Type="application/xml",
            )
        else:
            await exchange.reply(f"<main>sitemap host {exchange.path}</main>")

    async def robots_huge(self, exchange: Exchange) -> None:
        if exchange.path != "/robots.txt":
            await exchange.reply('<main>huge robots <a href="/no/page">x</a></main>')
            return
        rules = b"User-agent: *\nDisallow: /no/\n" + b"# filler\n" * 200_000
        await exchange.reply(rules, Content_Type="text/plain")

    async def session(self, exchange: Exchange) -> None:
        links = "".join(f'<a href="/p;jsessionid={n}?utm_source={n}#f{n}">x</a>' for n in range(50))
        await exchange.reply(f"<main>session {exchange.path} {links}</main>")

    async def empty(self, exchange: Exchange) -> None:
        await exchange.reply(b"")

    async def base(self, exchange: Exchange) -> None:
        await exchange.reply('<base href="/sub/"><main>base <a href="page">x</a></main>')

    async def unclosed(self, exchange: Exchange) -> None:
        opened = "".join(f"<font a{number}>" for number in range(400))
        await exchange.reply(f"<p>{opened}{'<p>x' * 20_000}")

    async def attributes(self, exchange: Exchange) -> None:
        names = " ".join(f"a{number}" for number in range(100_000))
        await exchange.reply(f"<p {names}>words")

    async def hugelink(self, exchange: Exchange) -> None:
        await exchange.reply(f'<main>long <a href="/{"x" * 5000}">x</a></main>')


@dataclass(frozen=True)
class Crawled:
    """What one run through the torture left behind."""

    server: LocalServer
    cwd: Path
    pages: dict[str, dict[str, Any]]
    visits: dict[str, list[dict[str, Any]]]
    peak_kib: int
    log: str

    def page(self, name: str, path: str = "/") -> dict[str, Any]:
        return self.pages[f"http://{name}.localhost:{self.server.port}{path}"]

    def visit(self, name: str, path: str = "/") -> dict[str, Any]:
        return self.visits[f"http://{name}.localhost:{self.server.port}{path}"][0]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    torture = Torture()
    cwd = tmp_path_factory.mktemp("torture")
    with serving(torture) as server:
        torture.port = server.port
        write_config(cwd, CONFIG.format(port=server.port))
        ended, peak_kib = recrawl_measured("run", "--once", "--for", "60s", cwd=cwd)
        assert ended.returncode == 0, ended.stderr
        pages = {row["url"]: row for row in rows(cwd, "pages")}
        visits: dict[str, list[dict[str, Any]]] = {}
        for row in rows(cwd, "visits"):
            visits.setdefault(row["url"], []).append(row)
        yield Crawled(server, cwd, pages, visits, peak_kib, ended.stderr)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ok", "plain words of ok"),
        ("latin", "café crème"),
        ("utf16", "sixteen wörds"),
        ("badutf", "broken"),
        ("nul", "nul"),
        ("deflate", "raw deflate"),
        ("cookie", "no cookie kept"),
        ("titles", "hostile title"),
    ],
)
def test_readable_pages_are_indexed_whatever_their_encoding(
    crawled: Crawled, name: str, words: str
) -> None:
    found = answer("search", words, cwd=crawled.cwd)

    assert crawled.page(name)["state"] == "indexed"
    assert crawled.page(name)["url"] in [hit["url"] for hit in found["hits"]]


@pytest.mark.parametrize("name", ["gzip-bomb", "br-bomb", "endless"])
def test_more_bytes_than_allowed_are_not_read(crawled: Crawled, name: str) -> None:
    """Decompression bombs and bodies without end."""
    assert crawled.visit(name)["outcome"] == "too-large"
    assert crawled.page(name)["state"] == "excluded"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("slow", "timeout"),
        ("bad-gzip", "encoding"),
        ("short", "disconnected"),
        ("reset", "disconnected"),
        ("header-flood", "protocol"),
        ("long-header", "protocol"),
        ("dup-length", "protocol"),
    ],
)
def test_broken_answers_are_failures_with_a_reason(crawled: Crawled, name: str, kind: str) -> None:
    visit = crawled.visit(name)

    assert visit["outcome"] == "failed"
    assert visit["note"].split(":")[0] in (kind, "protocol", "disconnected")


@pytest.mark.parametrize("name", ["unclosed", "attributes"])
def test_pages_that_cannot_be_read_are_quarantined(crawled: Crawled, name: str) -> None:
    """Once, with a reason, and `status` tells of them; the page is not asked for again at once."""
    told = recrawl("status", cwd=crawled.cwd).stdout

    assert [visit["outcome"] for visit in crawled.visits[crawled.page(name)["url"]]] == ["poison"]
    assert "within" in crawled.visit(name)["note"] or "more than" in crawled.visit(name)["note"]
    assert crawled.page(name)["state"] == "discovered"
    assert crawled.page(name)["due_s"] > crawled.visit(name)["visited_at_s"] + 500.0
    assert "Poison: 2 visits" in told


def test_a_slow_body_is_cut_off_in_time(crawled: Crawled) -> None:
    assert crawled.visit("slow")["note"].startswith("timeout")


def test_redirects_never_lead_into_private_networks(crawled: Crawled) -> None:
    """Even to hosts in scope: only names listed under allow_private may resolve inside."""
    inside = [url for url in crawled.pages if "10.0.0.1" in url or "169.254" in url]

    assert len(inside) == 2
    assert not any("inside" in key or "meta-data" in key for key in crawled.server.requests)
    for url in inside:
        assert not crawled.visits.get(url)
        assert crawled.pages[url]["state"] == "discovered"
    assert "a private address" in crawled.log


def test_an_address_written_as_a_number_is_private_too(crawled: Crawled) -> None:
    """127.0.0.1 is in scope, but not allowed by name."""
    assert not any(key.startswith("127.0.0.1") for key in crawled.server.requests)


def test_other_schemes_are_not_followed(crawled: Crawled) -> None:
    assert crawled.visit("file")["outcome"] == "denied"
    assert not any(url.startswith("file") for url in crawled.pages)


def test_redirect_loops_end(crawled: Crawled) -> None:
    assert crawled.page("loop")["state"] == "moved"
    assert crawled.server.requests[f"loop.localhost:{crawled.server.port}/"] <= 2


def test_traps_are_bounded(crawled: Crawled) -> None:
    """Calendars by variants, endless paths by length, loops by repetition, sessions by form."""

    def count(name: str) -> int:
        return sum(f"//{name}.localhost" in url for url in crawled.pages)

    assert count("calendar") <= 1 + 5 + 1
    assert count("deep") <= 1 + 24 + 1
    assert count("repeat") <= 5 + 1
    assert count("session") <= 2 + 1
    assert count("hugelink") <= 1 + 1


def test_prompts_and_what_is_not_what_it_says_are_left_alone(crawled: Crawled) -> None:
    """No password is tried; what is no PDF is not indexed."""
    assert crawled.visit("auth")["outcome"] == "denied"
    assert crawled.visit("other")["outcome"] == "unsupported"
    assert crawled.page("lies")["state"] == "excluded"
    assert crawled.server.requests[f"auth.localhost:{crawled.server.port}/"] == 1


def test_a_sitemap_bomb_is_read_past(crawled: Crawled) -> None:
    """Entities stay unexpanded, and the honest entry beside them counts."""
    assert crawled.page("sitemap", "/listed")["state"] == "indexed"


def test_a_huge_robots_txt_is_read_as_far_as_the_rfc_asks(crawled: Crawled) -> None:
    """500 KiB: the rule at its top holds."""
    assert crawled.page("robots-huge")["state"] == "indexed"
    assert crawled.page("robots-huge", "/no/page")["state"] == "disallowed"


def test_the_base_element_counts(crawled: Crawled) -> None:
    assert crawled.page("base", "/sub/page")["state"] == "indexed"


def test_hostile_titles_cannot_command_a_terminal(crawled: Crawled) -> None:
    """Neither stored nor printed: no escape, no bell, no text direction."""
    shown = recrawl("search", "hostile", "title", cwd=crawled.cwd).stdout

    assert "red" in shown
    for sign in itertools.chain("\x1b\x07\x9b", "\u202e\u202c"):
        assert sign not in shown
        assert sign not in str(crawled.page("titles")["title"])


def test_memory_stays_bounded(crawled: Crawled) -> None:
    """Through 200 MB bombs and endless bodies; the interpreter and its libraries included."""
    assert crawled.peak_kib < 600 * 1024
