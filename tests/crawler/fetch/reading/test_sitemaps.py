"""Sitemaps: every form of them, and nothing that a hostile one could do."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.crawler.fetch.reading.sitemaps import MAX_ENTRIES, MAX_SITEMAP_BYTES, read_sitemap

A = "http://a.test"
Pages = list[tuple[str, float | None]]


def read(body: str | bytes) -> tuple[Pages, Pages]:
    return read_sitemap(body.encode() if isinstance(body, str) else body, f"{A}/sitemap.xml")


def entry(path: str, lastmod: str | None = None) -> str:
    dated = "" if lastmod is None else f"<lastmod>{lastmod}</lastmod>"
    return f"<url><loc>{A}{path}</loc>{dated}</url>"


def urlset(*entries: str) -> str:
    return (
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{"".join(entries)}</urlset>'
    )


def test_pages_and_dates_are_read_in_order() -> None:
    """With the declaration, extensions and comments that real files have."""
    body = (
        '<?xml version="1.0" encoding="UTF-8"?><!-- made by hand -->'
        + urlset(
            entry("/2", "2026-01-05"),
            "<url><loc> http://a.test/1\n</loc><changefreq>daily</changefreq>"
            '<x:image xmlns:x="http://x"><x:loc>http://a.test/picture.png</x:loc></x:image></url>',
        )
    )  # fmt: skip

    pages, sitemaps = read(body)

    assert pages[0] == (f"{A}/2", 1_767_571_200.0)
    assert [page for page, _ in pages][1:] == [f"{A}/1"]
    assert sitemaps == []


def test_an_index_names_further_sitemaps() -> None:
    """Which are no pages, and may be dated."""
    date = "<lastmod>2026-01-05</lastmod>"
    body = f"<sitemapindex><sitemap><loc>{A}/1.xml</loc></sitemap><sitemap><loc>2.xml.gz</loc>"

    assert read(f"{body}{date}</sitemap></sitemapindex>") == (
        [],
        [(f"{A}/1.xml", None), (f"{A}/2.xml.gz", 1_767_571_200.0)],
    )


def test_gzip_is_told_by_its_first_bytes() -> None:
    """Not by name or header, which servers get wrong."""
    assert read(gzip.compress(urlset(entry("/x")).encode())) == ([(f"{A}/x", None)], [])


def test_an_archive_may_have_several_members_and_be_broken() -> None:
    """One after the other, as some programs append; what was read before a break counts."""
    head, *entries, tail = urlset("", entry("/1"), entry("/2"), "").partition(entry("/2"))
    parts = [gzip.compress(part.encode()) for part in (head, *entries, tail)]

    assert [page for page, _ in read(b"".join(parts))[0]] == [f"{A}/1", f"{A}/2"]
    assert [page for page, _ in read(b"".join([*parts, b"no archive"]))[0]] == [f"{A}/1", f"{A}/2"]
    large = gzip.compress(urlset(*(entry(f"/{n * n}") for n in range(40_000))).encode())
    assert len(large) > 2 * 65_536
    broken = large[:-70_000] + b"\xff" * 70_000
    assert 1_000 < len(read(broken)[0]) < 40_000


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("form", ["xml", "undeclared", "text"])
def test_it_may_be_in_utf_16(encoding: str, form: str) -> None:
    """Which the mark at its beginning tells."""
    mark = "" if encoding == "utf-16" else "\ufeff"
    declared = '<?xml version="1.0" encoding="UTF-16"?>' if form == "xml" else ""
    body = f"{A}/ü\n{A}/2" if form == "text" else declared + urlset(entry("/ü"), entry("/2"))

    pages, _ = read((mark + body).encode(encoding))

    assert [page for page, _ in pages] == [f"{A}/%C3%BC", f"{A}/2"]


def test_an_archive_may_be_packed_again() -> None:
    """As where a server packs what it sends, whatever it is; but not for ever."""
    packed = urlset(entry("/x")).encode()
    found = []
    for _ in range(4):
        packed = gzip.compress(packed)
        found.append(len(read(packed)[0]))

    assert found == [1, 1, 1, 0]


def test_a_mark_of_the_order_of_bytes_is_no_part_of_it() -> None:
    """Which many editors write before XML."""
    assert read("\ufeff" + urlset(entry("/x"))) == ([(f"{A}/x", None)], [])


@pytest.mark.parametrize("body", [b"\x1f\x8b", b"\x1f\x8bgarbage", gzip.compress(b"", mtime=0)])
def test_a_broken_archive_is_empty(body: bytes) -> None:
    """Rather than an error."""
    assert read(body) == ([], [])


def test_an_archive_that_was_cut_off_gives_what_came() -> None:
    """Half a file is half the pages."""
    noise = (f"/{number * 7919 % 100_003}" for number in range(2000))
    packed = gzip.compress(urlset(*map(entry, noise)).encode())

    pages, _ = read(packed[: len(packed) // 2])

    assert 500 < len(pages) < 1500


def test_text_sitemaps_have_one_address_a_line() -> None:
    """With a byte order mark, any line end, and lines that are something else."""
    body = f"\ufeff{A}/1\r\n\n  {A}/2  \nnot an address\nhttp://\n{A}/3".encode()

    assert [page for page, _ in read(body)[0]] == [f"{A}/1", f"{A}/2", f"{A}/3"]


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        (1_767_225_600.0, "2026"),
        (1_769_904_000.0, "2026-02"),
        (1_767_571_200.0, "2026-01-05"),
        (1_767_571_200.0, " 2026-01-05\n"),
        (1_767_571_200.0 + 36_900, "2026-01-05T10:15Z"),
        (1_767_571_200.0 + 36_900, "2026-01-05T10:15:00+00:00"),
        (1_767_571_200.0 + 36_900 - 7200, "2026-01-05T10:15:00+02:00"),
        (1_767_571_200.0 + 36_900.5, "2026-01-05T10:15:00.5Z"),
        (1_767_571_200.0 + 36_900, "2026-01-05T10:15:00"),
        (None, ""),
        (None, "yesterday"),
        (None, "2026-13-45"),
        (None, "0000"),
        (None, "0001-01-01T00:00:00+23:59"),
        (None, "9" * 5000),
    ],
)
def test_dates_in_every_form_of_the_standard(expected: float | None, text: str) -> None:
    """W3C dates, in UTC where they name no zone; what is no date is none."""
    pages, _ = read(urlset(entry("/x", text)))

    if text.startswith("0001"):  # the first day of the calendar: any instant will do
        assert len(pages) == 1
    else:
        assert pages == [(f"{A}/x", expected)]


def test_a_date_belongs_to_its_own_entry() -> None:
    """An entry without one does not inherit it, in whatever order they are written."""
    body = f"<urlset><url><lastmod>2026-01-05</lastmod><loc>{A}/1</loc></url>{entry('/2')}</urlset>"

    assert read(body)[0] == [(f"{A}/1", 1_767_571_200.0), (f"{A}/2", None)]


@pytest.mark.parametrize("location", ["", " ", "mailto:x@y", "javascript:x", "http://[bad"])
def test_entries_that_lead_nowhere_are_left_out(location: str) -> None:
    """And the next one is not affected."""
    body = urlset(f"<url><loc>{location}</loc></url>", entry("/ok"))

    assert read(body) == ([(f"{A}/ok", None)], [])


def test_a_broken_file_gives_what_can_be_read() -> None:
    """Before the break, at least."""
    body = urlset(entry("/1"), entry("/2")).replace("</urlset>", "<url><loc>&&<</ur <url>")

    assert [page for page, _ in read(body)[0]][:2] == [f"{A}/1", f"{A}/2"]


def lol(levels: int) -> str:
    first = '<!ENTITY a0 "lol">'
    return first + "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, levels + 1))


@pytest.mark.parametrize(
    "doctype",
    [
        f"<!DOCTYPE x [{lol(9)}]>",
        f"<!doctype x [{lol(9)}]>",
        f"<!DOCTYPE x [<!-- ] -->{lol(9)}]>",
        f"<!-- <!DOCTYPE y> --><!DOCTYPE x [{lol(9)}]>",
        '<!DOCTYPE x [<!ENTITY a9 SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE x [<!ENTITY a9 SYSTEM "http://127.0.0.1:9/x">]>',
        '<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd">',
        '<!DOCTYPE x [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]>',
    ],
)
@pytest.mark.timeout(20)
def test_entities_are_neither_expanded_nor_fetched(doctype: str) -> None:
    """A billion laughs and files of this machine: honest entries beside them may still count."""
    body = f'<?xml version="1.0"?>{doctype}' + urlset(
        "<url><loc>http://a.test/&a9;</loc></url>", entry("/honest")
    )

    pages, _ = read(body)

    text = " ".join(page for page, _ in pages)
    assert "lol" not in text
    assert "root" not in text
    assert len(text) < 1000


@pytest.mark.parametrize(
    "doctype",
    [
        "",
        '<!DOCTYPE urlset [<!ENTITY host "http://a.test"> <!ENTITY y "]>">]>',
        "<!DOCTYPE urlset [<!-- it's ]> --><!ENTITY host 'http://a.test'>]>",
        '<!DOCTYPE urlset PUBLIC "-//a//EN" "http://a.test/>.dtd" [<!ENTITY host "http://a.test">]>',
    ],
)
@pytest.mark.parametrize("broken", ["&host;/x", f"{A}/&host;x", f"{A}/&host;", "&#x41;&host;"])
def test_an_address_with_an_entity_is_left_out_and_others_are_as_written(
    doctype: str, broken: str
) -> None:
    """Nothing is said of where it leads; what other addresses say by reference stays in them."""
    after = entry("/?a=1&amp;b=2&#38;c=3")

    body = f'<?xml version="1.0"?>{doctype}{urlset(f"<url><loc>{broken}</loc></url>", after)}'

    assert read(body) == ([(f"{A}/?a=1&b=2&c=3", None)], [])


def test_a_sign_that_ought_to_be_written_by_reference_is_read() -> None:
    """It breaks neither its own address nor those after it; in CDATA it is right."""
    paths = ["/?a=1&b=2", "/?a=1&amp;b=2", "/?c&d", "/?e=1&f"]
    entries = [entry(path) for path in paths]
    entries.insert(2, f"<url><loc><![CDATA[{A}/?x=1&y;=2&z=3]]></loc></url>")

    pages, _ = read(urlset(*entries))

    expected = ["/?a=1&b=2", "/?a=1&b=2", "/?x=1&y;=2&z=3", "/?c&d", "/?e=1&f"]
    assert [page for page, _ in pages] == [A + path for path in expected]


@pytest.mark.parametrize(
    "piece",
    [b"&", b"&a", b"&#", b"<![CDATA[", b"<![CDATA[&]]>", b"<!DOCTYPE [<!--", b"<!DOCTYPE '"],
)
@pytest.mark.timeout(20)
def test_mending_takes_linear_time(piece: bytes) -> None:
    """Half a megabyte of anything ends long before the limit."""
    assert read(b"<" + piece * (500_000 // len(piece))) == ([], [])


@pytest.mark.parametrize("piece", [b"<!DOCTYPE", b"<!DOCTYPE [", b"<", b"<url>", b"<loc>", b"<!--"])
@pytest.mark.timeout(20)
def test_it_takes_linear_time(piece: bytes) -> None:
    """Half a megabyte of anything ends long before the limit."""
    assert read(b"<" + piece * (500_000 // len(piece))) == ([], [])


def test_entries_are_bounded() -> None:
    """The protocol allows 50,000 to a file."""
    body = urlset(*(entry(f"/{number}") for number in range(MAX_ENTRIES + 10)))
    text = "\n".join(f"{A}/{number}" for number in range(MAX_ENTRIES + 10))

    assert len(read(body)[0]) == MAX_ENTRIES
    assert len(read(text)[0]) == MAX_ENTRIES


def test_an_archive_that_grows_is_cut_at_the_protocols_bound() -> None:
    """Fifty megabytes, whatever the archive says: what lies behind is not looked at."""
    lines = f"{A}/first\n".encode() + b"#" * MAX_SITEMAP_BYTES + f"\n{A}/behind".encode()

    assert read(gzip.compress(lines, 1, mtime=0)) == ([(f"{A}/first", None)], [])


@given(st.binary(max_size=300) | st.binary(max_size=300).map(lambda tail: b"<urlset>" + tail))
def test_no_bytes_break_it(body: bytes) -> None:
    """Addresses that come out are in normal form."""
    pages, sitemaps = read(body)

    assert all(url.startswith("http") for url in [url for url, _ in pages + sitemaps])
