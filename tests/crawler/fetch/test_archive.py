"""WARC files that other programs can read, whole after any end."""

from pathlib import Path
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from recrawl.crawler.fetch.archive import WarcArchive, mend
from recrawl.errors import StateError
from recrawl.terms import FetchResponse

# warcio leaves the file in memory that it computes digests from to the garbage collector.
pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)

URL = "http://a.test/page"
AT_S = 1_800_000_000.25


def page(body: bytes = b"<main>owls</main>", **fields: Any) -> FetchResponse:
    headers = (("Content-Type", "text/html"), ("Content-Encoding", "gzip"), ("Content-Length", "9"))
    return FetchResponse(URL, 200, body, "text/html", headers=headers, **fields)


def archive(folder: Path, **options: Any) -> WarcArchive:
    return WarcArchive(folder, software="recrawl/test", **options)


def records(folder: Path) -> list[tuple[str, Any]]:
    """Return (type, record) of every record in closed files, in order."""
    found = []
    for path in sorted(folder.glob("*.warc.gz")):
        with path.open("rb") as file:
            for record in ArchiveIterator(file):
                record.content = record.content_stream().read()
                found.append((record.rec_type, record))
    return found


def test_pages_are_kept_whole_and_what_is_known_as_revisits(tmp_path: Path) -> None:
    """The same body, and a 304, refer to the copy that is there."""
    kept = archive(tmp_path)
    for response in (page(), page(), FetchResponse(URL, 304), page(b"<main>new</main>")):
        kept.write(response, AT_S)
    kept.close()

    found = records(tmp_path)

    assert [kind for kind, _ in found] == ["warcinfo", "response", "revisit", "revisit", "response"]
    first, same, unmodified = (record for _, record in found[1:4])
    assert first.content == b"<main>owls</main>"
    assert first.rec_headers["WARC-Date"] == "2027-01-15T08:00:00.250000Z"
    assert first.http_headers["Content-Type"] == "text/html"
    assert first.http_headers["Content-Length"] == "17"
    assert first.http_headers["X-Archive-Orig-Content-Encoding"] == "gzip"
    assert same.rec_headers["WARC-Payload-Digest"] == first.rec_headers["WARC-Payload-Digest"]
    assert same.rec_headers["WARC-Refers-To-Date"] == first.rec_headers["WARC-Date"]
    assert unmodified.rec_headers["WARC-Profile"].endswith("server-not-modified")
    assert unmodified.http_headers.statusline == "304 Not Modified"
    for path in tmp_path.glob("*.warc.gz"):
        assert Checker(_Quietly()).process_one(str(path)) in (None, 0, False)
        assert path.stat().st_mode & 0o777 == 0o600


class _Quietly:
    """What warcio's checker is told on its command line."""

    verbose = False
    inputs = ()


def test_a_file_is_whole_after_a_kill_at_any_byte(tmp_path: Path) -> None:
    """What is left open is cut after its last whole record."""
    kept = archive(tmp_path)
    ends = []
    for number in range(3):
        kept.write(page(b"%d" % number), AT_S)
        ends.append(next(tmp_path.iterdir()).stat().st_size)
    whole = next(tmp_path.iterdir()).read_bytes()
    kept.close()

    for size in {*range(0, len(whole), 37), ends[0], ends[1] - 1, ends[2] - 1}:
        folder = tmp_path / str(size)
        folder.mkdir()
        left = folder / "recrawl-1.warc.gz.open"
        left.write_bytes(whole[:size])
        mend(left)
        told = records(folder)
        n_whole = sum(end <= size for end in ends)
        assert len([kind for kind, _ in told if kind == "response"]) == n_whole


def test_a_start_closes_what_a_kill_left_open(tmp_path: Path) -> None:
    """And takes another name for its own."""
    archive(tmp_path).write(page(), AT_S)
    second = archive(tmp_path)
    second.write(page(), AT_S)
    second.close()

    assert len(list(tmp_path.glob("*.warc.gz"))) == 2
    assert not list(tmp_path.glob("*.open"))
    assert [kind for kind, _ in records(tmp_path)] == ["warcinfo", "response"] * 2


def test_files_end_at_their_size(tmp_path: Path) -> None:
    """Another is begun for the next record."""
    kept = archive(tmp_path, max_bytes=1_000)
    for number in range(5):
        kept.write(page(bytes(range(256)) * (number + 1)), AT_S)
    kept.close()

    assert len(list(tmp_path.glob("*.warc.gz"))) > 1
    assert [kind for kind, _ in records(tmp_path)].count("response") == 5


def test_a_cut_body_is_marked(tmp_path: Path) -> None:
    """As the standard wants it."""
    kept = archive(tmp_path)
    kept.write(page(truncated=True), AT_S)
    kept.close()

    assert records(tmp_path)[1][1].rec_headers["WARC-Truncated"] == "length"


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """Before anything is fetched."""
    (tmp_path / "file").write_text("")

    with pytest.raises(StateError, match=r"archive .*file"):
        archive(tmp_path / "file")
