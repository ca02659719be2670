"""What archives, crawlers and monitors have seen, as visits: samples, bad lines, any order."""

import gzip
import json
import os
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from recrawl.cli.app import main
from recrawl.errors import InputError, InvalidTable
from recrawl.simulation.recorded.warc_files import warc_files
from recrawl.tables.captures.cdx import compact_instant, read_cdx
from recrawl.tables.captures.crawlers import read_nutch, read_stormcrawler
from recrawl.tables.captures.looks import Look, Tally
from recrawl.tables.captures.monitors import read_changedetection
from recrawl.tables.captures.server_logs import AgentLog
from recrawl.tables.captures.sitemaps import read_sitemap
from recrawl.tables.captures.sorted_looks import SortedLooks
from recrawl.tables.captures.warc import read_warc

SAMPLES = Path(__file__).parent / "samples"
Read = Callable[[Path, Tally], Iterator[Look]]


def visits(read: Read, *names: str) -> tuple[list[tuple[str, str, str, bool | None]], Tally]:
    """Return page, instant, outcome and changed of what samples hold, and the tally."""
    tally = Tally()
    with SortedLooks() as looks:
        for name in names:
            for _ in looks.add(read(SAMPLES / name, tally)):
                pass
        rows = [row for batch in looks.batches() for row in batch.to_pylist()]
    return [
        (
            row["url"].removeprefix("http://site.test"),
            row["visited_at"].strftime("%m-%dT%H:%M:%S"),
            row["outcome"],
            row["changed"],
        )
        for row in rows
    ], tally


ARCHIVED = [
    ("/", "01-01T10:00:00", "new", None),
    ("/", "01-02T10:00:00", "unchanged", False),
    ("/", "01-03T10:00:00", "unchanged", False),
    ("/", "01-04T10:00:00", "changed", True),
    ("/news", "01-01T10:00:05", "new", None),
    ("/news", "01-02T10:00:05", "changed", True),
    ("/news", "01-03T10:00:05", "unchanged", False),
    ("/old", "01-04T10:00:09", "not-found", None),
]
WITHOUT_304 = [row for row in ARCHIVED if row[:2] != ("/news", "01-03T10:00:05")]


@pytest.mark.parametrize(
    ("read", "name", "expected"),
    [
        (read_warc, "site.warc.gz", ARCHIVED),
        (read_cdx, "site.cdxj", ARCHIVED),
        (read_cdx, "site-11.cdx", WITHOUT_304),
        (read_cdx, "site-9.cdx", WITHOUT_304),
        (read_cdx, "wayback.cdx", [row for row in ARCHIVED[:4] if "03T" not in row[1]]),
        (
            read_cdx,
            "commoncrawl.cdxj",
            [("/", "01-01T10:00:00", "new", None), ("/", "02-05T10:00:00", "changed", True)],
        ),
    ],
)
def test_an_archive_and_its_index_tell_the_same(
    read: Read, name: str, expected: list[object]
) -> None:
    """Digests are changes; revisits and 304 are none; a 404 tells nothing of the content."""
    found, tally = visits(read, name)

    assert found == expected
    assert tally.n_bad == 0


def test_what_several_files_hold_twice_counts_once() -> None:
    assert visits(read_cdx, "site.cdxj", "site-11.cdx", "wayback.cdx")[0] == ARCHIVED


def test_dates_in_sitemaps_are_changes() -> None:
    """Exact where dated; the undated is left out, and what is no date is told."""
    found, tally = visits(read_sitemap, "sitemap-2026-01-12.xml", "sitemap-2026-01-05.xml")

    assert found == [
        ("/", "01-04T10:00:00", "new", None),
        ("/", "01-05T00:00:00", "unchanged", False),
        ("/", "01-12T00:00:00", "unchanged", False),
        ("/news", "01-02T00:00:00", "new", None),
        ("/news", "01-05T00:00:00", "unchanged", False),
        ("/news", "01-09T10:00:00", "changed", True),
        ("/news", "01-12T00:00:00", "unchanged", False),
    ]
    assert (tally.n_records, tally.n_bad, tally.n_left_out) == (8, 2, 2)
    assert "line 6: lastmod 'last week' is no date" in tally.first_bad[0]


def test_a_dump_of_nutch_tells_the_last_fetch_and_change() -> None:
    found, tally = visits(read_nutch, "nutch.txt")

    assert found == [
        ("/", "01-04T10:00:00", "new", None),
        ("/", "01-25T10:00:00", "unchanged", False),
    ]
    assert (tally.n_records, tally.n_bad, tally.n_left_out) == (3, 1, 1)
    assert tally.first_bad[0].endswith("line 23: Fetch time is in zone CET; dump it with TZ=UTC")


def test_a_status_index_tells_the_last_fetch_and_change() -> None:
    found, tally = visits(read_stormcrawler, "stormcrawler.ndjson")

    assert found == [
        ("/", "01-04T10:00:00", "new", None),
        ("/", "01-25T10:00:00", "unchanged", False),
        ("/news", "01-25T10:00:00", "new", None),
    ]
    assert (tally.n_records, tally.n_bad, tally.n_left_out) == (4, 1, 1)
    assert "line 4: has no signature" in tally.first_bad[0]


def test_snapshots_of_a_monitor_are_changes_seen_to_its_interval() -> None:
    found, tally = visits(read_changedetection, "changedetection")

    assert found == [
        ("/news", "01-01T10:00:05", "new", None),
        ("/news", "01-02T07:00:05", "unchanged", False),
        ("/news", "01-02T10:00:05", "changed", True),
        ("/news", "01-05T08:00:00", "unchanged", False),
    ]
    assert (tally.n_records, tally.n_left_out) == (2, 1)


def test_a_crawler_in_a_log_is_told_by_304() -> None:
    log = AgentLog("nutch", "https://site.test")
    tally = Tally()
    found = list(log.read(SAMPLES / "access.log", tally))

    assert [(look.url, look.changed) for look in found] == [
        ("https://site.test/", True),
        ("https://site.test/", False),
        ("https://site.test/", True),
        ("https://site.test/gone", None),
    ]
    assert (tally.n_bad, tally.n_left_out) == (1, 1)
    log.check()
    with pytest.raises(InvalidTable, match="no GET of 'absent' is in the log"):
        AgentLog("absent").check()
    with pytest.raises(InvalidTable, match="does not tell the host"):
        list(AgentLog("nutch").read(SAMPLES / "access.log", Tally()))
    firefox = AgentLog("mozilla", "https://site.test")
    list(firefox.read(SAMPLES / "access.log", Tally()))
    with pytest.raises(InvalidTable, match="was never answered 304 in 1 requests"):
        firefox.check()


@pytest.mark.parametrize(
    ("text", "instant"),
    [("20260102030405", 1_767_323_045.0), ("2026", 1_767_225_600.0), ("202601", 1_767_225_600.0)],
)
def test_compact_dates_may_be_short(text: str, instant: float) -> None:
    assert compact_instant(text) == instant


@pytest.mark.parametrize("text", ["", "20261302000000", "x", "٢٠٢٦", "2026010203040599999999"])
def test_what_is_no_compact_date_says_so(text: str) -> None:
    with pytest.raises(ValueError, match="is no date such as"):
        compact_instant(text)


@pytest.mark.parametrize("verb", ["cdx", "warc", "nutch", "stormcrawler", "sitemaps", "visits"])
@pytest.mark.parametrize("name", ["access.log", "site.cdxj", "nutch.txt", "stormcrawler.ndjson"])
def test_no_format_is_taken_for_another(
    verb: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One message with file and line, exit code 2, and nothing written."""
    if name.rpartition(".")[2] in {"cdx": "cdxj", "nutch": "txt", "stormcrawler": "ndjson"}.get(
        verb, ""
    ):
        pytest.skip("that is its own")
    given = tmp_path / f"2026-01-01-{name}"
    given.write_bytes((SAMPLES / name).read_bytes())
    with pytest.raises(SystemExit) as ended:
        main(["history", f"from-{verb}", str(given), "--out", str(tmp_path / "out.csv")])

    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert said.count("recrawl:") == 1
    assert str(given) in said
    assert [path.name for path in tmp_path.iterdir()] == [given.name]


def test_an_archive_packed_as_a_whole_is_read_like_one_packed_by_record(tmp_path: Path) -> None:
    by_record = SAMPLES / "site.warc.gz"
    whole = tmp_path / "whole.warc.gz"
    whole.write_bytes(gzip.compress(gzip.decompress(by_record.read_bytes())))
    assert list(read_warc(whole, Tally())) == list(read_warc(by_record, Tally()))


def test_what_lies_between_the_records_of_an_archive_is_told_and_passed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    plain = gzip.decompress((SAMPLES / "site.warc.gz").read_bytes())
    odd = tmp_path / "odd.warc"
    place = plain.index(b"WARC/", plain.index(b"WARC-Type: response"))
    odd.write_bytes(plain[: place - 4] + b"left over\r\n\r\n\r\n" + plain[place:])
    tally = Tally()
    assert list(read_warc(odd, tally)) == list(read_warc(SAMPLES / "site.warc.gz", Tally()))
    assert tally.n_bad == 1
    assert "is something that is no record" in tally.first_bad[0]
    assert capfd.readouterr().err == ""


def test_lines_of_any_length_and_files_that_are_cut(tmp_path: Path) -> None:
    good = (SAMPLES / "wayback.cdx").read_bytes()
    long = tmp_path / "long.cdx.gz"
    long.write_bytes(gzip.compress(good + b"x" * 3_000_000 + b"\n" + good))
    tally = Tally()

    assert len(list(read_cdx(long, tally))) == 6
    assert tally.first_bad == [f"{long}, line 4: is longer than 1,048,576 bytes"]
    long.write_bytes(long.read_bytes()[:-20])
    with pytest.raises(InvalidTable, match="is no whole gzip file"):
        list(read_cdx(long, Tally()))
    cut = tmp_path / "cut.warc.gz"
    cut.write_bytes((SAMPLES / "site.warc.gz").read_bytes()[:700])
    tally = Tally()
    assert len(list(read_warc(cut, tally))) >= 2


def test_looks_in_any_order_are_visits_in_order() -> None:
    """A hundred thousand pages backwards in time, sorted outside of memory."""
    n = 100_000
    looks = (
        Look(f"http://a.test/{k % 500}", 1e9 + 60.0 * (n - k), str((n - k) // 5_000).encode())
        for k in range(n)
    )
    with SortedLooks() as taken:
        assert sum(taken.add(looks)) == n
        last = ("", 0)
        for batch in taken.batches():
            for url, at in zip(
                batch.column("url").to_pylist(),
                batch.column("visited_at").cast("int64").to_pylist(),
                strict=True,
            ):
                assert (url, at) > last
                last = (url, at)
        assert (taken.n_pages, taken.n_visits, taken.n_told) == (500, n, n - 500)
        assert taken.n_changes == 499 * 19 + 20


def test_what_is_in_the_future_is_left_out() -> None:
    with SortedLooks() as looks:
        list(looks.add([Look("http://a.test/", 9e9, b"x"), Look("http://a.test/", 1e9, b"x")]))

        assert sum(batch.num_rows for batch in looks.batches()) == 1
        assert looks.n_future == 1


def test_what_is_imported_can_be_fitted_replayed_and_begun_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Visits of an index go to fit changes, backtest and init --history."""
    monkeypatch.chdir(tmp_path)
    lines = [
        f"test,site)/{page} 2026{month:02}{day:02}120000 http://site.test/{page} text/html 200 "
        f"{'D' * 28}{(31 * month + day) // (page + 1):04} 9\n"
        for page in range(6)
        for month in range(1, 7)
        for day in range(1, 28)
    ]
    Path("site.cdx").write_text("".join(lines), encoding="utf-8")

    def run(*arguments: str) -> str:
        with pytest.raises(SystemExit) as ended:
            main(list(arguments))
        said = capsys.readouterr()
        assert ended.value.code == 0, said.err
        return said.out

    told = json.loads(run("history", "from-cdx", "site.cdx", "--json"))
    assert (told["pages"], told["visits"]) == (6, 6 * 6 * 27)
    assert told["seen"].startswith("censored")
    fitted = json.loads(run("fit", "changes", "visits.parquet", "--json", "--out", "pages.csv"))
    rates = fitted["rates"]
    assert rates["http://site.test/0"] > rates["http://site.test/5"] > 0
    run("plan", "pages.csv", "--budget", "3/d", "--unit", "d", "--out", "plan.csv")
    run("backtest", "visits.parquet", "--budget", "1x", "--policies", "uniform")
    said = run("init", "http://site.test/", "--contact", "me@site.test", "--history",
               "visits.parquet")  # fmt: skip
    assert "The crawl begins with 6 pages and 972 visits of them." in said
    explained = json.loads(run("explain", "http://site.test/5", "--json"))
    assert explained["state"] == "discovered"
    assert len(explained["recent"]) == 10
    joined = json.loads(
        run("history", "from-visits", "visits.parquet", "--out", "again.parquet", "--json")
    )
    assert joined["changes"] == told["changes"]
    names = ["url", "visited_at", "outcome", "changed"]
    before, after = (pq.read_table(f, columns=names) for f in ("visits.parquet", "again.parquet"))
    assert before.equals(after)
    with pytest.raises(SystemExit) as ended:
        main(["init", "http://site.test/", "--out", "b.toml", "--history", "visits.parquet"])
    assert ended.value.code == 2
    assert "holds a crawl already" in capsys.readouterr().err
    assert not Path("b.toml").exists()


def test_a_snapshot_without_a_date_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Put the date into its name"):
        next(read_sitemap(tmp_path / "sitemap.xml", Tally()))


_CAPTURES = [
    ("20200101000000", "http://a.test/", "200", "X"),
    ("20200102000000", "http://a.test/", "200", "Y"),
]
_OBJECTS = "".join(
    json.dumps({"urlkey": "test,a)/", "timestamp": at, "url": url, "status": code, "digest": mark})
    + "\n"
    for at, url, code, mark in _CAPTURES
)
_ROWS = [["timestamp", "original", "statuscode", "digest"], *map(list, _CAPTURES)]
_LISTS = "[" + ",\n".join(map(json.dumps, _ROWS)) + "]\n"


def test_files_put_together_or_begun_with_a_mark_are_read_whole(tmp_path: Path) -> None:
    """Each file of an index has its header; some editors write a mark before the first line."""
    columns = " CDX N b a s k"
    rows = [f"test,a)/ {at} {url} {status} {mark}" for at, url, status, mark in _CAPTURES]
    text = "\n".join([columns, rows[0], f"{columns} S", f"{rows[1]} 7", ""])
    (tmp_path / "index").write_text(f"\ufeff{text}")
    tally = Tally()

    assert [look.mark for look in read_cdx(tmp_path / "index", tally)] == [b"X", b"Y"]
    assert tally.n_bad == 0


@pytest.mark.parametrize(
    ("named", "address"),
    [
        ("a.test:443", "https://a.test/x"),
        ("a.test:80", "http://a.test/x"),
        ("a.test:8080", "http://a.test:8080/x"),
        ("b.test:80", "https://b.test/x"),  # of --host
    ],
)
def test_the_port_of_a_line_says_whether_it_was_https(
    named: str, address: str, tmp_path: Path
) -> None:
    """Apache's formats for several hosts write name and port."""
    line = f'{named} ::1 - - [01/Nov/2026:10:08:00 +0000] "GET /x HTTP/1.1" 304 0 "-" "mybot"\n'
    (tmp_path / "log").write_text(line)
    (look,) = AgentLog("mybot", "https://b.test").read(tmp_path / "log", Tally())

    assert look.url == address


@pytest.mark.parametrize("text", [_OBJECTS, _LISTS, _LISTS.replace("]\n", "]\n\n")])
def test_what_servers_answer_as_json_is_an_index(text: str, tmp_path: Path) -> None:
    """Objects of Common Crawl, lists of the Wayback Machine: what most people have at hand."""
    (tmp_path / "index").write_text(text)
    tally = Tally()

    looks = list(read_cdx(tmp_path / "index", tally))

    assert [(look.at_s, look.mark) for look in looks] == [
        (1_577_836_800.0, b"X"),
        (1_577_923_200.0, b"Y"),
    ]
    assert (tally.n_records, tally.n_bad) == (2, 0)


@pytest.mark.parametrize(
    "text", ["[[broken\n", '[["timestamp", 5]]\n', '["a", "b"]\n', '{"x": 1}\n']
)
def test_json_that_is_no_index_is_counted(text: str, tmp_path: Path) -> None:
    """Line by line, as everything else."""
    (tmp_path / "index").write_text(text)
    tally = Tally()
    assert list(read_cdx(tmp_path / "index", tally)) == []
    assert tally.n_bad == 1


def test_an_index_may_come_through_a_pipe(tmp_path: Path) -> None:
    """Packed, as archives hand it out."""
    os.mkfifo(tmp_path / "pipe")
    packed = gzip.compress(_OBJECTS.encode())
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(packed,))
    writer.start()
    assert len(list(read_cdx(tmp_path / "pipe", Tally()))) == 2
    writer.join()


def test_archives_in_a_package_are_read_as_if_they_were_not(tmp_path: Path) -> None:
    """What lies beside them is no archive; looks and counts are the same."""
    package = tmp_path / "site.wacz"
    with zipfile.ZipFile(package, "w") as packed:
        packed.writestr("datapackage.json", "{}")
        packed.write(SAMPLES / "site.warc.gz", "archive/data.warc.gz")
        packed.write(SAMPLES / "site.warc.gz", "archive/again.warc.gz")
    one, two = Tally(), Tally()

    plain = list(read_warc(SAMPLES / "site.warc.gz", one))

    assert list(read_warc(package, two)) == [*plain, *plain]
    assert (two.n_records, two.n_left_out) == (2 * one.n_records, 2 * one.n_left_out)
    assert two.done_bytes == package.stat().st_size
    for held in warc_files(package):  # and nothing of what lies behind it
        with held.open() as file:
            assert file.read() == (SAMPLES / "site.warc.gz").read_bytes()


@pytest.mark.parametrize(
    ("entry", "content", "method", "message"),
    [
        ("data.warc", b"WARC/1.0", zipfile.ZIP_STORED, "without WARC files below archive/"),
        ("archive/data.warc", b"WARC/1.0", zipfile.ZIP_DEFLATED, "unzip it, and name the WARC"),
        ("archive/data.warc", b"ARC/1.0", zipfile.ZIP_STORED, "does not begin with WARC/"),
        ("archive/data.warc.gz", b"\x1f\x8bno", zipfile.ZIP_STORED, "no whole gzip file"),
    ],
)
def test_packages_that_hold_no_archive_to_read_are_refused(
    tmp_path: Path, entry: str, content: bytes, method: int, message: str
) -> None:
    package = tmp_path / "site.wacz"
    with zipfile.ZipFile(package, "w", method) as packed:
        packed.writestr(entry, content)

    with pytest.raises(InvalidTable, match=message):
        list(read_warc(package, Tally()))
    package.write_bytes(package.read_bytes()[:-20])
    with pytest.raises(InvalidTable, match="no whole zip"):
        list(read_warc(package, Tally()))
