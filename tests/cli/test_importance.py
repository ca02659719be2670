"""Counts from logs and tables reach the state; what is wrong with them is said once."""

import gzip
import json
from pathlib import Path

import pytest

from recrawl.cli import main
from recrawl.crawler.frontier.sqlite import SqliteFrontier
from recrawl.crawler.ports import AdmissionLimits
from recrawl.terms import Discovery

HOST = "https://a.test"
BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


def line(path: str, *, status: int = 200, agent: str = BROWSER, day: int = 3) -> str:
    return (
        f'203.0.113.9 - - [{day:02}/Nov/2026:10:00:00 +0100] "GET {path} HTTP/2.0" {status} 512 '
        f'"https://x.test/" "{agent}"'
    )


@pytest.fixture
def state(tmp_path: Path) -> Path:
    frontier = SqliteFrontier(tmp_path / "state")
    found = [Discovery(f"{HOST}/{name}", HOST) for name in ("a", "b", "c?x=1")]
    frontier.admit(found, 0.0, AdmissionLimits())
    frontier.close()
    return tmp_path / "state"


def counted(state: Path) -> dict[str, float]:
    frontier = SqliteFrontier(state, read_only=True)
    urls = {row[0]: row[2] for row in frontier.worths.addresses(after=0, limit=9)}
    told = {urls[row[0]]: round(row[2], 3) for row in frontier.worths.tallies()}
    frontier.close()
    return told


def call(*words: object) -> int:
    with pytest.raises(SystemExit) as end:
        main([*map(str, words)])
    assert isinstance(end.value.code, int)
    return end.value.code


def test_a_log_counts_people_and_each_line_once(
    state: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "access.log"
    first = [
        line("/a"),
        line("/a"),
        line("/c?x=1&utm_source=z"),
        line("/b", status=404),
        line("/b", agent="Googlebot/2.1"),
        line("/none"),
        '1.2.3.4 - - [broken] "GET',
    ]
    log.write_text("\n".join(first) + "\n")

    assert call("importance", "from-log", log, "--state", state, "--json") == 0
    told = capsys.readouterr()
    log.write_text("\n".join([*first, line("/b", day=4)]) + "\n")
    assert call("importance", "from-log", log, "--state", state) == 0

    report = json.loads(told.out)
    assert report == {
        "requests": 4, "addresses": 3, "known": 2, "robots": 1, "other": 1, "read_before": 0,
        "broken": 1,
    }  # fmt: skip
    assert "1 of 7 lines cannot be read (line 7)" in told.err
    assert counted(state) == {f"{HOST}/a": 2.0, f"{HOST}/c?x=1": 1.0, f"{HOST}/b": 1.0}


@pytest.mark.parametrize(
    "logged",
    [
        {  # Caddy
            "ts": 1762167600.5,
            "request": {
                "method": "GET", "host": "a.test", "uri": "/a",
                "headers": {"User-Agent": [BROWSER]},
            },
            "status": 200,
        },
        {  # nginx, as people write it
            "time_iso8601": "2026-11-03T10:00:00+01:00", "request": "GET /a HTTP/1.1",
            "status": "304", "http_user_agent": BROWSER, "host": "a.test",
        },
        {  # Apache
            "time": "03/Nov/2026:10:00:00 +0100", "method": "GET", "uri": "/a", "status": 200,
            "agent": BROWSER,
        },
    ],
)  # fmt: skip
def test_lines_of_json_are_read(state: Path, tmp_path: Path, logged: dict[str, object]) -> None:
    log = tmp_path / "log.gz"
    log.write_bytes(gzip.compress(json.dumps(logged).encode() + b"\n"))

    assert call("importance", "from-log", log, "--state", state) == 0
    assert counted(state) == {f"{HOST}/a": 1.0}


def test_lines_that_tell_their_host_are_counted_for_it(state: Path, tmp_path: Path) -> None:
    log = tmp_path / "vhosts.log"
    log.write_text(f"a.test:443 {line('/a')}\nother.test {line('/b')}\n")

    assert call("importance", "from-log", log, "--state", state) == 0
    assert call("importance", "from-table", _table(tmp_path, "/a,2"), "--address", "page",
                "--count", "clicks", "--state", state) == 0  # fmt: skip
    assert counted(state)[f"{HOST}/a"] in (1.0, 2.0)


def _table(folder: Path, *rows: str) -> Path:
    path = folder / "clicks.csv"
    path.write_text("\n".join(["page,clicks", *rows]) + "\n")
    return path


def test_a_table_takes_the_place_of_the_one_before(state: Path, tmp_path: Path) -> None:
    words = ("--address", "page", "--count", "clicks", "--state", state)
    first = _table(tmp_path, f"{HOST}/a,5", "/b,7", f"{HOST}/a,1")
    assert call("importance", "from-table", first, *words) == 0
    before = counted(state)
    assert call("importance", "from-table", _table(tmp_path, "/b,1"), *words) == 0

    assert before == {f"{HOST}/a": 6.0, f"{HOST}/b": 7.0}
    assert counted(state) == {f"{HOST}/b": 1.0}


@pytest.mark.parametrize(
    ("rows", "words", "said"),
    [
        (["/a,-1"], (), "row 1, column clicks: -1"),
        (["/a,nan"], (), "column clicks: there is no number"),
        (["/a,many"], (), "column clicks: 'many'"),
        (["/a,0"], (), "all counts are 0"),
        (["a b c,1"], (), "no value of column page"),
        (["/a,1"], ("--address", "url"), "column url is missing"),
        (["/a,1"], ("--count", "visits"), "column visits is missing"),
    ],
)
def test_a_table_that_makes_no_sense_is_refused(
    state: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    rows: list[str],
    words: tuple[str, ...],
    said: str,
) -> None:
    usual = {"--address": "page", "--count": "clicks"}
    usual.update(zip(words[::2], words[1::2], strict=True))
    flat = [word for pair in usual.items() for word in pair]

    code = call("importance", "from-table", _table(tmp_path, *rows), *flat, "--state", state)

    assert code == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1
    assert counted(state) == {}


@pytest.mark.parametrize("content", ["", "nonsense\n", "\x1f\x8bnonsense", '{"a": 1}\n'])
def test_a_log_of_which_no_line_can_be_read_is_refused(
    state: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str
) -> None:
    log = tmp_path / "access.log"
    log.write_bytes(content.encode("latin-1"))

    assert call("importance", "from-log", log, "--state", state) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_hostile_lines_are_counted_as_broken_and_never_held_whole(
    state: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "access.log"
    strange = [
        '{"request":{"headers":[]}}',
        '{"request":{"headers":{"User-Agent":3}}}',
        "x" * 300_000,
    ]
    log.write_text("\n".join([line("/a"), *strange, line("/b")]) + "\n")

    assert call("importance", "from-log", log, "--state", state, "--json") == 0

    told = capsys.readouterr()
    assert json.loads(told.out)["broken"] == 3
    assert "3 of 5 lines cannot be read (line 2, 3, 4)" in told.err
    assert counted(state) == {f"{HOST}/a": 1.0, f"{HOST}/b": 1.0}


def test_a_clock_that_ran_ahead_keeps_no_later_log_from_being_read(
    state: Path, tmp_path: Path
) -> None:
    ahead, later = tmp_path / "ahead.log", tmp_path / "later.log"
    ahead.write_text(line("/a").replace("2026", "2096") + "\n")
    later.write_text(line("/b").replace("2026", "2095") + "\n")

    assert call("importance", "from-log", ahead, "--state", state) == 0
    assert call("importance", "from-log", later, "--state", state) == 0

    assert set(counted(state)) == {f"{HOST}/a", f"{HOST}/b"}


def test_a_damaged_gzip_log_is_one_message(
    state: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "access.log.gz"
    packed = bytearray(gzip.compress("\n".join(line(f"/{n}") for n in range(2_000)).encode()))
    packed[200:240] = bytes(40)
    log.write_bytes(packed)

    assert call("importance", "from-log", log, "--state", state) == 2

    assert "is no whole gzip file" in capsys.readouterr().err
