"""Web archives as a recorded site: what was captured, by time, with links that lead on."""

import gzip
import random
import zipfile
from collections.abc import Iterable
from datetime import UTC, datetime
from hashlib import sha1
from pathlib import Path
from typing import Literal

import pytest

from recrawl.cli.crawler.recorded import Replay, _note_poverty, plan_of
from recrawl.cli.crawler.stage import OWN, play_virtually
from recrawl.errors import InputError
from recrawl.simulation.recorded.archive import read_captures
from recrawl.simulation.recorded.recording import Recording, Source
from recrawl.simulation.recorded.site import RecordedSite

DAY_S = 86_400.0
START_S = datetime(2024, 1, 1, tzinfo=UTC).timestamp()
HOST = "recorded.localhost"
Record = tuple[str, float, int, str, bytes]
HTML = "text/html"


def _archive(path: Path, records: Iterable[Record], *, digests: bool = True) -> Path:
    """Write answers: address, day, status, type or location, body."""
    with path.open("wb") as file:
        for url, day, status, said, body in records:
            name = "Location" if 300 <= status < 400 else "Content-Type"
            answer = f"HTTP/1.1 {status} X\r\n{name}: {said}\r\n\r\n".encode() + body
            at = datetime.fromtimestamp(START_S + day * DAY_S, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            lines = [
                "WARC/1.0", "WARC-Type: response", f"WARC-Target-URI: {url}", f"WARC-Date: {at}",
                *([f"WARC-Payload-Digest: sha1:{sha1(body).hexdigest()}"] if digests else []),
                "Content-Type: application/http", f"Content-Length: {len(answer)}",
            ]  # fmt: skip
            record = "\r\n".join([*lines, "", ""]).encode() + answer + b"\r\n\r\n"
            file.write(gzip.compress(record) if path.suffix == ".gz" else record)
    return path


SITE: list[Record] = [
    ("https://www.a.test/", 0.0, 200, HTML, b'<a href="/b?x=1&amp;y=2">b</a> <a href="c/">c</a>'),
    ("https://www.a.test/b?x=1&y=2", 0.0, 200, HTML, b"<p>first</p>"),
    ("https://www.a.test/c/", 0.5, 200, f"{HTML}; charset=latin-1", b"<p>caf\xe9</p>"),
    ("https://www.a.test/b?x=1&y=2", 3.0, 200, HTML, b"<p>second</p>"),
    ("https://www.a.test/b?x=1&y=2", 2.0, 200, HTML, b"<p>first</p>"),
    ("https://www.a.test/c/", 4.0, 301, "https://b.test/new#part", b""),
    ("https://b.test/new", 4.0, 200, HTML, b'<base href="https://www.a.test/x/"><a href="../">'),
    ("https://www.a.test/b?x=1&y=2", 5.0, 404, HTML, b"no"),
    ("https://www.a.test/b?x=1&y=2", 5.5, 503, HTML, b"trouble says nothing"),
    ("https://www.a.test/b?x=1&y=2", 6.0, 200, HTML, b"<p>second</p>"),
    ("https://www.a.test/pic.png", 1.0, 200, "image/png", b"\x89PNG"),
]  # fmt: skip


def _at(site: RecordedSite, path: str, day: float) -> tuple[int, str]:
    answer = site.answer(HOST, path, START_S + day * DAY_S)
    return answer.status, answer.headers.get("Location") or answer.body.decode()


@pytest.mark.parametrize("name", ["one.warc", "one.warc.gz", "both.wacz"])
def test_pages_are_what_was_captured_at_each_instant(tmp_path: Path, name: str) -> None:
    """In any order, over several files or in a package: changes, ends, moves, what came back."""
    first = "one.warc.gz" if name == "both.wacz" else name
    files = [
        _archive(tmp_path / first, SITE[::2]),
        _archive(tmp_path / "two.warc", SITE[1::2]),
    ]
    if name == "both.wacz":
        with zipfile.ZipFile(tmp_path / name, "w") as package:
            package.write(__file__, "pages/pages.jsonl", zipfile.ZIP_DEFLATED)
            for file in files:
                package.write(file, f"archive/{file.name}")
                file.unlink()
        files = [tmp_path / name]
    source = Source(archives=tuple(map(str, files)))
    site = Recording(source, "*", START_S, 8.0).site(80)
    b = "/www.a.test/b%3Fx%3D1%26y%3D2"

    assert [_at(site, b, day) for day in (0.1, 2.5, 3.1)] == [
        (200, "<p>first</p>"), (200, "<p>first</p>"), (200, "<p>second</p>")
    ]  # fmt: skip
    assert [_at(site, b, day)[0] in (404, 410) for day in (5.2, 5.7, 6.1)] == [True, True, False]
    assert _at(site, "/www.a.test/c/", 1.0) == (200, "<p>café</p>")
    assert _at(site, "/www.a.test/c/", 4.1) == (301, f"http://{HOST}/b.test/new")
    assert _at(site, "/", 0.1)[1].count('href="/www.a.test/"') >= 1
    assert _at(site, "/www.a.test/pic.png", 2.0)[0] == 404
    log, _ = source.read()
    assert (log.records, log.n_left_out) == (len(SITE), 2)
    changes = {page.path: page.changes.tolist() for page in site.web.pages}
    assert changes["/www.a.test/b?x=1&y=2"] in ([3.0], [])  # the second life has none
    site.close()


def test_links_lead_to_where_the_archive_is_served(tmp_path: Path) -> None:
    """By the address that the page was captured at, or by its base; others stay as they are."""
    page = (
        b"<a href='//b.test/new#part'>1</a><a href=../c/>2</a><A HREF=\"https://www.a.test/\">3</A>"
        b'<a href="https://else.test/">4</a><a href="#here">5</a><a href="javascript:x">6</a>'
        b'<a href="http://[broken">7</a>'
    )
    archive = _archive(
        tmp_path / "a.warc", [("https://www.a.test/d/e", 0.0, 200, HTML, page), *SITE]
    )
    site = Recording(Source(archives=(str(archive),)), "*", START_S, 8.0).site(80)

    turned = _at(site, "/www.a.test/d/e", 1.0)[1]
    assert 'href="/b.test/new#part"' in turned
    assert 'href="/www.a.test/c/"' in turned
    assert 'HREF="/www.a.test/"' in turned
    for kept in ('"https://else.test/"', '"#here"', '"javascript:x"', '"http://[broken"'):
        assert f"href={kept}" in turned
    assert 'href="/www.a.test/"' in _at(site, "/b.test/new", 5.0)[1]


def test_an_archive_that_is_cut_gives_what_came_before(tmp_path: Path) -> None:
    """And of a digest that is missing what was said is hashed."""
    whole = _archive(tmp_path / "a.warc.gz", SITE, digests=False)
    cut = tmp_path / "cut.warc.gz"
    cut.write_bytes(whole.read_bytes()[:1500])

    log, _ = read_captures([cut])

    assert 0 < log.records < len(SITE)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no"),
        (b"nothing of that kind\n" * 40, "no WARC file"),
        (b"\x1f\x8b broken", "no WARC"),
    ],
)
def test_what_is_no_archive_is_said(tmp_path: Path, content: bytes, words: str) -> None:
    """By its name."""
    path = tmp_path / "a.warc.gz"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"--warc: .*a.warc.gz") as refused:
        read_captures([path])
    assert words in str(refused.value)
    with pytest.raises(InputError, match="No such file"):
        read_captures([tmp_path / "absent.warc"])


@pytest.mark.slow
def test_true_dates_of_a_sitemap_are_worth_points(tmp_path: Path) -> None:
    """Pages change by chance, some are linked before they are there; one visit for each change."""
    chance = random.Random(3)
    records: list[Record] = []
    for number in range(120):
        rate, version = chance.expovariate(1 / 0.15), 0
        day = 0.0 if number < 90 else chance.uniform(0.0, 20.0)
        while day < 30.0:
            links = "".join(f'<a href="/p/{chance.randrange(120)}.html">x</a>' for _ in range(5))
            body = f"<main><h1>Page {number}</h1>{'words ' * 30}{version}{links}</main>".encode()
            records.append((f"https://a.test/p/{number}.html", day, 200, HTML, body))
            version, day = version + 1, day + chance.expovariate(rate)
    links = "".join(f'<a href="/p/{number}.html">x</a>' for number in range(0, 120, 3))
    records.append(("https://a.test/", 0.0, 200, HTML, f"<main>{links}</main>".encode()))
    source = Source(archives=(str(_archive(tmp_path / "a.warc.gz", records)),))

    def fresh(sitemap: Literal["true", "none", "lying"]) -> float:
        asked = Replay(budget="1x", sitemap=sitemap, feed="none")
        return play_virtually(OWN, plan_of(asked, source, 60.0)).freshness

    without = fresh("none")
    assert fresh("true") > without + 0.05
    assert fresh("lying") > without - 0.02


def test_a_budget_pays_four_requests_for_each_page_unless_another_is_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of few changes: one for each of them hardly pays for robots.txt, and that is said."""
    source = Source(archives=(str(_archive(tmp_path / "a.warc", SITE)),))

    def budgets(budget: str | None) -> float:
        plan = plan_of(Replay(budget=budget, days=6.0), source, 60.0)
        _note_poverty(plan)
        return plan.budget_per_s * plan.recording.days * DAY_S

    n_pages = len(plan_of(Replay(days=6.0), source, 60.0).recording.web().pages)

    assert budgets(None) == pytest.approx(4 * n_pages)
    assert "pays" not in capsys.readouterr().err
    n_changes = budgets("1x")
    assert 0 < n_changes < 2 * n_pages
    said = f"pays {n_changes:,.0f} requests, {0.5 * n_changes:,.0f} of them for robots.txt"
    assert said in capsys.readouterr().err
