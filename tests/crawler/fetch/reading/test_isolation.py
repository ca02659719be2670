"""Reading in processes of its own: what no page may do, and what becomes of one that tries."""

import asyncio
import codecs
import errno
import io
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NoReturn
from unittest.mock import Mock

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pypdf import PdfWriter
from tests.ending import ends

from recrawl.crawler.fetch.charsets import CHARSETS
from recrawl.crawler.fetch.reading.extract import PageExtractor
from recrawl.crawler.fetch.reading.in_place import InPlaceExtractor
from recrawl.crawler.fetch.reading.isolation.cheap import SMALL_BYTES, is_cheap
from recrawl.crawler.fetch.reading.isolation.extractor import IsolatedExtractor
from recrawl.crawler.fetch.reading.isolation.reader import Limits, Reader
from recrawl.errors import PoisonPage, ReadingCut, ReadingPutOff, StateError
from recrawl.terms import FetchResponse

PLENTY = Limits(cpu_s=30.0, memory_bytes=512 * 2**20)
OPENED = b"".join(b"<font a%d>" % number for number in range(400))
UNCLOSED = b"<p>" + OPENED + b"<p>x" * 20_000
ATTRIBUTES = b"<p " + b" ".join(b"a%d" % number for number in range(400_000)) + b">x"


def page(body: bytes, kind: str = "text/html", host: str = "a") -> FetchResponse:
    return FetchResponse(f"http://{host}.test/", 200, body, kind)


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have processor time alone decide, however busy the machine is."""
    monkeypatch.setattr("recrawl.crawler.fetch.reading.isolation.reader._SLACK_S", 100.0)


@pytest.fixture
def reader() -> Iterator[Reader]:
    made = Reader("recrawl", Limits(cpu_s=0.5, memory_bytes=160 * 2**20))
    yield made
    made.close()
    made.clear()


def process_of(reader: Reader) -> int:
    assert reader._process is not None
    return reader._process.pid


def test_a_page_that_takes_too_long_is_poison_and_the_next_one_is_read(reader: Reader) -> None:
    """By another process."""
    with pytest.raises(PoisonPage, match=r"more than 0\.5 s of processor time"):
        reader.ask("page", page(ATTRIBUTES))

    assert b"words" in reader.ask("page", page(b"<p>words"))
    assert reader.starts == 2


def test_a_page_that_takes_too_much_memory_is_poison() -> None:
    """The kernel holds the bound, whatever the parser does."""
    reader = Reader("recrawl", Limits(cpu_s=30.0, memory_bytes=160 * 2**20))
    try:
        with pytest.raises(PoisonPage, match=r"160 MiB|broke"):
            reader.ask("page", page(UNCLOSED))
    finally:
        reader.close()
        reader.clear()


def test_a_busy_machine_makes_no_page_poison() -> None:
    """A reader that gets a tenth of a processor has the time that is allowed all the same."""
    limits = Limits(cpu_s=2.0, memory_bytes=1)

    assert limits.wall_s / 10.0 >= limits.cpu_s


def test_what_a_reader_failed_with_is_told(reader: Reader) -> None:
    """It cannot load the parser of PDFs any more, once it is locked up."""
    with pytest.raises(PoisonPage, match=r"its reader failed \(\w+Error\)"):
        reader.ask("page", page(b"%PDF-1.4", "application/pdf"))


def test_a_reader_that_ended_between_two_pages_is_replaced(reader: Reader) -> None:
    """No page is to blame for that."""
    reader.ask("page", page(b"<p>one"))
    assert reader._process is not None
    reader._process.terminate()
    reader._process.wait()

    assert b"two" in reader.ask("page", page(b"<p>two"))


def test_a_reader_that_cannot_be_started_is_told_in_one_message(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where too many files are open."""
    full = OSError(errno.EMFILE, "Too many open files")
    monkeypatch.setattr(socket, "socketpair", Mock(side_effect=full))

    with pytest.raises(StateError, match="no reader can be started: Too many open files"):
        reader.ask("page", page(b"<p>words"))


def test_a_reader_takes_nothing_with_it(reader: Reader) -> None:
    """No environment, no file but its socket, nothing that it could open."""
    reader.ask("page", page(b"<p>words"))
    process = Path(f"/proc/{process_of(reader)}")
    limits = (process / "limits").read_text()

    assert (process / "environ").read_bytes() == b""
    assert os.readlink(process / "cwd") == "/"
    files = {os.readlink(file).partition(":")[0] for file in (process / "fd").iterdir()}
    assert files <= {"socket", "/dev/null", f"/proc/{process_of(reader)}/statm"}
    for name in ("Max open files", "Max file size", "Max core file size"):
        line = next(line for line in limits.splitlines() if line.startswith(name))
        assert line.split()[len(name.split())] == "0", line
    assert "NoNewPrivs:\t1" in (process / "status").read_text()


async def test_closing_ends_what_is_being_read_at_once() -> None:
    """And nothing is said of the page."""
    extractor = IsolatedExtractor("recrawl", PLENTY)
    reading = asyncio.ensure_future(extractor.page(page(ATTRIBUTES)))
    waiting = asyncio.ensure_future(extractor.page(page(ATTRIBUTES)))
    while not extractor._slow._reader.starts:  # noqa: ASYNC110 - until it has begun
        await asyncio.sleep(0.01)
    extractor.close()

    for call in (reading, waiting, extractor.page(page(b"<p>x"))):
        with pytest.raises(ReadingCut):
            await call


async def test_hosts_take_turns_where_reading_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sitemap waits for one of another host, not for all that this one has brought before."""
    order: list[str] = []

    def ask(_reader: Reader, _kind: str, response: FetchResponse) -> bytes:
        order.append(response.url)
        return b"[[], []]"

    monkeypatch.setattr(Reader, "ask", ask)
    extractor = IsolatedExtractor("recrawl", PLENTY)
    try:
        brought = [page(b"", host=host) for host in ("many", "many", "many", "other")]
        await asyncio.gather(*map(extractor.sitemap, brought))
    finally:
        extractor.close()

    many = "http://many.test/"
    assert order == [many, "http://other.test/", many, many]


async def test_a_host_of_poison_has_one_page_read_at_a_time() -> None:
    """The others are put off without a look, and called nothing; those of other hosts are not."""
    extractor = IsolatedExtractor("recrawl", Limits(0.2, 512 * 2**20))
    try:
        with pytest.raises(PoisonPage):
            await extractor.page(page(ATTRIBUTES))
        first = asyncio.ensure_future(extractor.page(page(ATTRIBUTES)))
        await asyncio.sleep(0)
        with pytest.raises(ReadingPutOff, match="another page of its host"):
            await extractor.page(page(ATTRIBUTES))
        assert (await extractor.page(page(b"<p>fine", host="b"))).text == "fine"
        with pytest.raises(PoisonPage):
            await first
    finally:
        extractor.close()


async def test_one_page_that_is_read_makes_a_host_one_of_poison_no_longer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A manual with a document that is too large is no hostile host."""

    def ask(_reader: Reader, _kind: str, response: FetchResponse) -> bytes:
        if response.body:
            raise PoisonPage("large")
        return b"[[], []]"

    monkeypatch.setattr(Reader, "ask", ask)
    extractor = IsolatedExtractor("recrawl", PLENTY)
    try:
        with pytest.raises(PoisonPage, match="large"):
            await extractor.sitemap(page(b"x"))
        await extractor.sitemap(page(b""))
        several = [extractor.sitemap(page(b"")) for _ in range(3)]
        assert await asyncio.gather(*several) == [([], [])] * 3
    finally:
        extractor.close()


async def test_a_host_whose_pages_were_read_sends_one_of_poison_without_harm_to_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They wait until they are read; but not those of one that sends poison again and again."""

    def ask(_reader: Reader, _kind: str, response: FetchResponse) -> bytes:
        if response.body:
            raise PoisonPage("large")
        return b"[[], []]"

    async def kinds(*bodies: bytes) -> list[type]:
        calls = (extractor.sitemap(page(body)) for body in bodies)
        return [type(one) for one in await asyncio.gather(*calls, return_exceptions=True)]

    monkeypatch.setattr(Reader, "ask", ask)
    extractor = IsolatedExtractor("recrawl", PLENTY)
    try:
        assert await kinds(b"") == [tuple]
        assert await kinds(b"x") == [PoisonPage]
        assert await kinds(b"", b"") == [tuple] * 2
        for _ in range(3):
            assert await kinds(b"x") == [PoisonPage]
        assert await kinds(b"x", b"") == [PoisonPage, ReadingPutOff]
    finally:
        extractor.close()


@pytest.mark.parametrize(
    "response",
    [
        page(b"<p>" + b"".join(b"<b %d>" % n for n in range(500)) + b"<p>x" * 490),
        page(b"<p><b " + b" ".join(b"a%d" % n for n in range(1_500)) + b">" + b"<p>x" * 500),
        page(b"<p x='>' " + b" ".join(b"a%d='>'" % n for n in range(1_000)) + b">"),
        page(b"<p>x" * 2_000),
        page(b"x" * (SMALL_BYTES + 1), "text/plain"),
        page("<p>x".encode("utf-16")),
        FetchResponse("http://a.test/", 200, b"<\0p\0>\0", "text/html", charset="utf-16le"),
    ],
)
def test_what_could_be_dear_is_not_read_at_once(response: FetchResponse) -> None:
    """Small bodies too, where a product of their parts is large."""
    assert not is_cheap(response)


def test_a_page_that_cannot_be_read_at_once_is_left_to_a_reader(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever the error is: in this process it would end the crawl."""
    extractor = IsolatedExtractor("recrawl", PLENTY)

    def fail(_: object, response: FetchResponse) -> NoReturn:
        raise KeyError(response.url)

    try:
        assert extractor.at_once(page(b"<p>x")) is not None
        monkeypatch.setattr(PageExtractor, "page", fail)
        assert extractor.at_once(page(b"<p>x")) is None
    finally:
        extractor.close()


def pdf(*pages: str, letters: str = "", title: str = "A quiet lantern") -> bytes:
    """Return a small document: a page for each text; its font tells what its signs stand for."""
    kids = " ".join(f"{3 + 2 * row} 0 R" for row in range(len(pages)))
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}/Resources<</Font<</F<</Type/Font"
        "/Subtype/Type1/BaseFont/Helvetica>>>>>>>>",
    ]
    for row, text in enumerate(pages):
        drawn = f"BT /F 12 Tf 72 700 Td ({text}) Tj ET"
        objects.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents {4 + 2 * row} 0 R>>"
        )
        objects.append(f"<</Length {len(drawn)}>>stream\n{drawn}\nendstream")
    if letters:
        told_at = 3 + 2 * len(pages)
        objects[1] = objects[1].replace("Helvetica", f"Helvetica/ToUnicode {told_at} 0 R")
        objects.append(f"<</Length {len(letters)}>>stream\n{letters}\nendstream")
    objects.append(f"<</Title({title})>>")
    body, places = "%PDF-1.4\n", []
    for number, told in enumerate(objects, start=1):
        places.append(len(body))
        body += f"{number} 0 obj{told}endobj\n"
    entries = "".join(f"{place:010} 00000 n \n" for place in places)
    n = len(objects) + 1
    table = f"xref\n0 {n}\n0000000000 65535 f \n{entries}"
    trailer = f"trailer<</Size {n}/Root 1 0 R/Info {n - 1} 0 R>>\nstartxref\n{len(body)}\n%%EOF"
    return f"{body}{table}{trailer}".encode()


def locked(*pages: str) -> bytes:
    """Return a small document that only a password opens."""
    writer, out = PdfWriter(clone_from=io.BytesIO(pdf(*pages))), io.BytesIO()
    writer.encrypt("lantern", algorithm="RC4-40")
    writer.write(out)
    return out.getvalue()


async def test_a_pdf_is_read_by_a_reader_only() -> None:
    """Its title and the text of its pages; of what is none it says why, and it ends no reader."""
    extractor = IsolatedExtractor("recrawl", PLENTY)
    response = page(pdf("in the harbour", "at night"), "application/pdf")
    try:
        assert extractor.at_once(response) is None
        found = await extractor.page(response)
        assert (found.title, found.text.split("\n")) == (
            "A quiet lantern",
            ["in the harbour", "at night"],
        )
        for body, why in (
            (b"%PDF-1.4 broken", "the PDF is damaged"),
            (pdf("x")[:200], "the PDF is damaged"),
            (b"", "it is called a PDF, and is none"),
            (b"<p>words", "it is called a PDF, and is none"),
            (locked("x"), "the PDF is encrypted"),
            (pdf("", title=""), "the PDF has no text, as where it was scanned"),
        ):
            none = await extractor.page(page(body, "application/pdf"))
            assert (none.unreadable, none.noindex, none.text.strip()) == (why, False, "")
        assert extractor._slow._reader.starts == 1
        assert (await extractor.page(response)).signature == found.signature
    finally:
        extractor.close()


async def test_a_pdf_whose_font_tells_its_letters_is_read() -> None:
    """As what most programs write does; no codec that this takes may be loaded too late."""
    letters = (
        "1 begincodespacerange <00> <ff> endcodespacerange\n"
        "2 beginbfchar <61> <0068> <62> <0069> endbfchar\n"
        "1 beginbfrange <63> <64> <006A> endbfrange"
    )
    extractor = IsolatedExtractor("recrawl", PLENTY)
    try:
        found = await extractor.page(page(pdf("abcd", letters=letters), "application/pdf"))
    finally:
        extractor.close()

    assert found.text == "hijk"


def test_ordinary_small_pages_are_read_at_once() -> None:
    """A hundred links, some emphasis, text."""
    links = b"".join(b'<li><a href="/page/%d">page %d</a></li>' % (n, n) for n in range(30))
    body = b"<!doctype html><title>t</title><main><h1>x</h1>" + b"<p>words <b>and</b> more" * 20

    assert is_cheap(page(body + links))
    assert is_cheap(page(b"plain words " * 1_000, "text/plain"))


TAGS = (
    "a b big code em font i nobr s small strike strong tt u p div table tr td th caption select "
    "option template svg math foreignObject li ul dl dd button form html body frameset ruby rt "
    "applet marquee object h1 pre textarea title script style"
).split()
PIECES = st.sampled_from(
    [f"<{tag}>" for tag in TAGS] + [f"</{tag}>" for tag in TAGS]
    + [f"<{tag} {name}>" for tag in TAGS[:14] for name in ("a", "b", "c=d", "e='f g'")]
    + ["x", " ", "<!--", "-->", "&amp;", "&notin", "<![CDATA[", "]]>", "<", "\n"]
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.lists(PIECES, min_size=1, max_size=6), st.integers(1, 400)), max_size=4)
)
@example([(["<b a>", "<i b>"], 60), (["<p>", "x"], 300)])
@example([(["<table>", "x", "<b>"], 200)])
@example([(["<b>", "<p>"], 100), (["</b>", "x"], 200)])
def test_what_is_read_at_once_is_cheap_in_memory_and_time(
    parts: list[tuple[list[str], int]],
) -> None:
    """In whatever way tags are nested and repeated: the tree stays small."""
    body = "".join("".join(pieces) * times for pieces, times in parts).encode()[:SMALL_BYTES]
    if not is_cheap(page(body)):
        return
    before_s, held = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    PageExtractor("recrawl").page(page(body))

    # Two orders of magnitude below what such a page could take.
    assert time.process_time() - before_s < 2.0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - held < 64 * 1024


def test_a_reader_does_not_outlive_whoever_started_it() -> None:
    """Not even when that one is killed while a page is read."""
    script = (
        "import sys\n"
        "from recrawl.crawler.fetch.reading.isolation.reader import Limits, Reader\n"
        "from recrawl.terms import FetchResponse\n"
        "reader = Reader('recrawl', Limits(60.0, 512 * 2**20))\n"
        "reader.ask('page', FetchResponse('http://a.test/', 200, b'x', 'text/html'))\n"
        "print(reader._process.pid, flush=True)\n"
        "body = b'<p ' + b' '.join(b'a%d' % n for n in range(400_000)) + b'>'\n"
        "reader.ask('page', FetchResponse('http://a.test/', 200, body, 'text/html'))\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)

    assert ends(child, within_s=30.0)


def test_a_reader_can_read_every_charset_and_mark() -> None:
    """It opens no file once it runs, and what decodes stands in files of its own."""
    reader, text = Reader("recrawl", PLENTY), "<main><p>Grüße from Köln"
    marked = [
        codecs.BOM_UTF8 + text.encode(),
        codecs.BOM_UTF16_LE + text.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + text.encode("utf-16-be"),
    ]
    try:
        for body in marked:
            for kind in ("text/html", "text/plain", "application/xml"):
                told = json.loads(reader.ask("page", page(body, kind)))
                assert "Grüße from Köln" in told["text"]
                assert "\ufeff" not in told["text"]
        for name in sorted(CHARSETS):
            body = text.encode(name, "replace")
            told = json.loads(reader.ask("page", replace(page(body), charset=name)))
            assert " from K" in told["text"], name
    finally:
        reader.close()
        reader.clear()
    assert reader.starts == 1


@pytest.mark.parametrize(
    "body",
    [
        b'<title>App</title><div id="root"></div><script src="a.js"></script>',
        b'<html lang="de"><title>T</title><meta name="robots" content="noindex, nofollow">'
        b"<h2>H</h2>x",
        b'<link rel="canonical" href="/c"><link rel="alternate" type="application/rss+xml" '
        b'href="/f"><a href="/l">link</a> text',
    ],
)
async def test_a_reader_tells_all_that_a_page_says(body: bytes) -> None:
    """Large pages are read elsewhere, and nothing of what they say is lost on the way."""
    extractor = IsolatedExtractor("recrawl", PLENTY)
    try:
        response = replace(page(body), refresh="0; url=/there")
        assert await extractor.page(response) == PageExtractor("recrawl").page(response)
    finally:
        extractor.close()


@pytest.mark.parametrize("is_apart", [True, False])
async def test_a_feed_may_be_a_sitemap(is_apart: bool) -> None:
    """As the protocol says; a reader of sitemaps has loaded nothing to read feeds by."""
    extractor = IsolatedExtractor("recrawl", PLENTY) if is_apart else InPlaceExtractor("recrawl")
    body = b"<?xml version='1.0'?><rss><channel><item><link>/1</link></item></channel></rss>"
    answers = [replace(page(told, "text/xml"), url="http://a.test/x") for told in (b"<p/>", body)]

    found = [await extractor.sitemap(answer) for answer in answers]
    extractor.close()

    assert found == [([], []), ([("http://a.test/1", None)], [])]
