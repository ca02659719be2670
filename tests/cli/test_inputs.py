"""Bad input that once ended in a traceback, a crash, a hang or nonsense: one message each."""

import ast
import errno
import io
import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bench import bad_inputs
from hypothesis import given, settings
from hypothesis import strategies as st

import recrawl.cli
from recrawl.cli import main
from recrawl.cli.output import console, printable
from recrawl.cli.robots.model_file import EXAMPLE
from recrawl.cli.streams import open_log
from recrawl.errors import InvalidTable
from recrawl.tables.text_bytes import CheckedBytes

DEEP = "[" * 100_000
HUGE = "1e308"


@pytest.fixture
def complaint(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Run the command line on arguments that are wrong; return the one line that is said."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> str:
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert ended.value.code == 2, err
        assert out == ""
        assert len(err.splitlines()) == 1, err
        assert err.startswith("recrawl: ")
        return err

    return run


READERS = [
    ("plan", "FILE", "--budget", "9/d"),
    ("order", "FILE"),
    ("probe", "FILE", "--probes", "3"),
    ("fit", "arrivals", "FILE"),
    ("fit", "service", "FILE"),
    ("fit", "events", "FILE"),
    ("fit", "changes", "FILE"),
    ("backtest", "FILE"),
    ("robots", "--buffer", "3", "--index-rate", "1/s", "--from-log", "FILE"),
    ("reproduce", "eckstein-traces", "--data", "FILE"),
]
COLUMNS = "url,at,change_rate,crawl_rate,arrived_at,seconds,visited_at,changed,changed_at,robots"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("long.csv", "a" * 500_000 + ",rate\nx,1\n"),
        ("many.csv", ",".join(f"c{n}" for n in range(20_000)) + "\n" + "1," * 19_999 + "1\n"),
        ("value.csv", "url,change_rate,at\nx," + "z" * 100_000 + ",y\n"),
        ("long.jsonl", json.dumps({"k" * 500_000: 1}) + "\n"),
    ],
)
@pytest.mark.parametrize("reader", READERS, ids=" ".join)
def test_messages_stay_short_whatever_a_table_says(
    complaint, tmp_path: Path, reader: tuple[str, ...], name: str, text: str
) -> None:
    """Names and values of strangers fill no screen."""
    (tmp_path / name).write_text(text)
    assert len(complaint(*(name if word == "FILE" else word for word in reader))) < 1_000


ROW = "é,2026-01-01T00:00:00Z,1,1,1,1,2026-01-01T00:00:00Z,true,2026-01-01T00:00:00Z,1"


@pytest.mark.parametrize("verb", READERS, ids=lambda verb: " ".join(verb[:2]))
def test_every_verb_reads_tables_by_the_same_rule(complaint, tmp_path: Path, verb: tuple[str, ...]):
    """Text is UTF-8 without NUL, not nested deeply; names of columns differ; nothing is cut."""
    sink = io.BytesIO()
    pq.write_table(pa.table({"at": np.arange(3000.0), "change_rate": np.arange(3000.0)}), sink)
    whole = sink.getvalue()
    flipped = bytearray(whole)
    flipped[-200:-12] = bytes(byte ^ 0xFF for byte in flipped[-200:-12])
    cases: dict[str, tuple[bytes, str]] = {
        "latin.csv": (f"{COLUMNS}\n{ROW}\n".encode("latin-1"), "line 2: is not UTF-8"),
        "nul.csv": (f"{COLUMNS}\n{ROW}\n".replace("é", "a\0b").encode(), "NUL"),
        "deep.jsonl": (f'{{"url": {DEEP}\n'.encode(), "nested"),
        "open.jsonl": (b'{"url":\n' + b"[\n" * 100_000, "not a JSON object on one line"),
        "double.csv": (f"{COLUMNS},{COLUMNS}\n{ROW},{ROW}\n".encode(), "2 columns are named 'url'"),
        "cut.parquet": (whole[: len(whole) // 2], "damaged or was cut short"),
        "flipped.parquet": (bytes(flipped), "damaged or was cut short"),
    }
    for name, (content, words) in cases.items():
        (tmp_path / name).write_bytes(content)

        said = complaint(*(name if part == "FILE" else part for part in verb))

        assert words in said, (name, said)
        assert name in said


@settings(max_examples=200)
@given(st.binary(max_size=60), st.integers(1, 9))
def test_what_is_checked_is_text(content: bytes, size: int) -> None:
    """Whatever the pieces are in which it is read, and nothing is lost."""
    checked, read = CheckedBytes(io.BytesIO(content), Path("x"), is_json=False), b""
    try:
        while piece := checked.read(size):
            read += piece
    except InvalidTable:
        assert b"\0" in content or content.decode(errors="replace").encode() != content
    else:
        assert read == content.removeprefix(b"\xef\xbb\xbf") or size < 3
        read.decode()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("search", "x", "--offset", "9999999999"), "--offset"),
        (("search", "x", "--offset", "9223372036854775807"), "--offset"),
        (("search", "x", "--offset", 10**30), "--offset"),
        (("search", "\udcff"), "not UTF-8"),
        (("search", "x", "--limiq", "1"), "did you mean --limit"),
        (("robots", "--buffer", 10, "--fetch-rate", 1, "--index-rate", 2, "--robots", 10**9),
         "--robots"),
        (("robots", "--buffer", 10, "--fetch-rate", 1, "--index-rate", 2, "--index-phases", 10**5),
         "--index-phases"),
        (("robots", "--buffer", 3, "--fetch-rate", 1, "--index-rate", 2, "--seed", "9" * 40),
         "--seed"),
        (("robots", "--buffer", 3, "--fetch-rate", 1, "--index-rate", 2, "--loss-weight", HUGE),
         "--loss-weight"),
        (("probe", "dbworld", "--probes", 10**9), "--probes"),
        (("probe", "dbworld", "--every", "1e-9s"), "--every"),
        (("probe", "dbworld", "--probes", 3, "--threads", 0), "--threads"),
        (("fit", "service", "--moments", f"{HUGE},{HUGE}"), "--moments"),
        (("demo", "--seed", "9" * 40), "--seed"),
        (("demo", "--state", "given.csv"), "is no directory"),
        (("demo", "--days", "3"), "--days: goes with --git"),
        (("demo", "--git", "nowhere"), "there is no such directory"),
        (("demo", "--git", "folder", "--errors", "1"), "--errors: 1 must be a share"),
        (("demo", "--git", "folder", "--from", "soon"), "--from: 'soon' is no date"),
        (("demo", "--git", "folder", "--policies", "best"), "--policies: 'best' is none of"),
        (("init", "http://a.test/", "--budget", "-1/h"), "budget: '-1/h' is not a rate"),
        (("init", "http://a.test/", "--contact", "me@www.Example.net"), "reaches nobody"),
        (("init", "http://a.test/", "--contact", "https://example.com/bot"), "reaches nobody"),
        (("init", "http://a.test/", "--contact", "mailto:you@your.domain"), "reaches nobody"),
        (("run", "state.toml"), "state: '' names no folder"),
        (("run", "wrong.toml"), "line 3: not valid TOML: 'budget 5'"),
        (("run", "good.toml", "--for", "-1s"), "--for: '-1s' is not a duration"),
        (("plan", "huge.csv", "--budget", "9/d"), "row 1, column weight: 1e+308"),
        (("plan", "same.csv", "--budget", "9/d"), "row 2, column url: http://a.test/"),
        (("order", "same.csv"), "row 2, column url: http://a.test/"),
        (("probe", "one-each.csv", "--budget", "9/w"), "no source has updates at two times"),
        (("simulate", "ragged.toml"), "arrivals 1: D: matrix 0"),
        (("simulate", "deep.toml"), "nested too deeply"),
        (("robots", "deep.toml"), "nested too deeply"),
        (("robots", "--buffer", 3, "--fetch-rate", 1, "--index-rate", 2, "--policy", "deep.json"),
         "nested"),
        (("run", "good.toml", "--metrics", "0.0.0.0"), "--metrics: '0.0.0.0' must be a port, or"),
        (("run", "good.toml", "--metrics", "localhost:70000"), "up to 65535"),
        (("run", "good.toml", "--log"), "--log: needs a value"),
        (("run", "good.toml", "--log", "--quiet"), "--log: needs a value"),
        (("rnu",), "did you mean 'run'"),
        (("status", "good.toml"), "too many; did you mean --config good.toml?"),
        (("export", "visits", "good.toml", "--out", "x.csv"), "did you mean --config good.toml?"),
        (("check", "."), "too many; did you mean --state .?"),
        (("check", "x" * 300), "too many; see recrawl check --help"),
        (("plan", "same.csv", "--budget", "1/h", "--measur", "age"), "did you mean --measure"),
        (("plan", "same.csv"), "--budget is missing"),
        (("plan", "same.csv", "--budget"), "--budget: needs a value"),
        (("demo", "--pages", "many"), "--pages: 'many' is not a whole number"),
    ],
    ids=lambda part: None if isinstance(part, str) else " ".join(map(str, part))[:40],
)  # fmt: skip
def test_one_message_names_what_is_wrong(complaint, tmp_path: Path, arguments, words: str) -> None:
    seeds = 'seeds = ["http://a.test/"]\ncontact = "me@site.test"\n'
    files = {
        "given.csv": "x\n",
        "good.toml": seeds,
        "state.toml": seeds + 'state = ""\n',
        "wrong.toml": seeds + "budget 5\n",
        "huge.csv": f"change_rate,weight\n1,{HUGE}\n1,{HUGE}\n",
        "same.csv": "url,change_rate,crawl_rate\n" + "http://a.test/,1,1\n" * 30,
        "one-each.csv": "source,at\n"
        + "".join(f"s{n},2026-01-0{n}T00:00:00Z\n" for n in range(1, 7)),
        "ragged.toml": EXAMPLE.replace("[[-10, 2], [0, -0.5]]", "[[-10, 2, 7], [0]]"),
        "deep.toml": "capacity = " + "[" * 50_000,
        "deep.json": DEEP,
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).write_text(text)

    said = complaint(*arguments)

    assert words in said
    assert {path.name for path in tmp_path.iterdir()} == set(files)


def test_a_byte_order_mark_means_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a configuration, a CSV file and JSON Lines."""
    (tmp_path / "a.csv").write_text("\ufeffchange_rate\n1\n", encoding="utf-8")
    (tmp_path / "a.jsonl").write_text('\ufeff{"change_rate": 1}\n', encoding="utf-8")
    (tmp_path / "a.toml").write_text("\ufeff" + EXAMPLE, encoding="utf-8")
    for name in ("a.csv", "a.jsonl"):
        with pytest.raises(SystemExit) as ended:
            main(["plan", str(tmp_path / name), "--budget", "1/d", "--json"])
        assert ended.value.code == 0
        assert json.loads(capsys.readouterr().out)["pages"] == 1
    with pytest.raises(SystemExit) as ended:
        main(["simulate", str(tmp_path / "a.toml"), "--events", "3200", "--json"])
    assert ended.value.code == 0


def test_init_asks_nothing_and_says_which_scheme_it_took(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for given_address, taken, name in (
        ("localhost:8000", "http://localhost:8000/", "localhost"),
        ("10.0.0.7:8000", "http://10.0.0.7:8000/", "10.0.0.7"),
        ("http://[::1]:8000/", "http://[::1]:8000/", "::1"),
        ("site.test:8443", "https://site.test:8443/", "site.test"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(["init", given_address, "--force"])
        assert ended.value.code == 0
        assert "://" in given_address or taken in capsys.readouterr().out
        text = Path("recrawl.toml").read_text()
        assert f'seeds = ["{taken}"]' in text
        is_allowed = f'\nallow_private = ["{name}"]' in text
        assert is_allowed == (name != "site.test"), "what is named by its owner may be private"


def test_spaces_of_any_width_are_shown_as_spaces() -> None:
    """As of French and Japanese; what ends a line elsewhere is none."""
    assert (
        printable("Prix\xa0: 5\u202f€\n日本語\u3000テスト\u2028")
        == "Prix : 5 €\n日本語 テスト\ufffd"
    )


@settings(max_examples=200)
@given(st.text())
def test_no_text_commands_a_terminal_or_is_markup(text: str) -> None:
    """Whatever was crawled is shown as it is, but for what a terminal would obey."""
    assert all(sign.isprintable() or sign in "\n\t\u200c\u200d" for sign in printable(text))
    out = console()
    out.file = io.StringIO()
    out.print(f"[/b]{text}[link=http://evil]\x1b]8;;http://evil\x07", soft_wrap=True)
    shown = out.file.getvalue()
    assert "[/b]" in shown
    assert "[link=http://evil]" in shown
    assert "\x1b" not in shown
    assert "\x07" not in shown


def test_everything_is_printed_through_the_one_door() -> None:
    """No verb prints, writes to a stream, opens a console or reads markup of its own."""
    folder = Path(recrawl.cli.__file__).parent
    found = []
    for path in sorted(folder.rglob("*.py")):
        if path.name in ("output.py", "streams.py"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            bare = name in ("print", "Console", "sys.stdout.write", "sys.stderr.write")
            markup = name.endswith(("from_markup", "from_ansi"))
            if isinstance(node, ast.Call) and name == "TextColumn":
                markup = "markup=False" not in ast.unparse(node)
            if bare or markup or (isinstance(node, ast.keyword) and node.arg == "markup"
                                  and ast.unparse(node.value) != "False"):  # fmt: skip
                found.append(f"{path.relative_to(folder)}: {ast.unparse(node)}")
    assert found == []


def test_help_is_in_paragraphs_as_wide_as_the_terminal() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "recrawl", "importance", "from-log", "--help"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "COLUMNS": "60"},
    )
    about = ended.stdout.split("\n\n")[2].splitlines()
    assert len(about) > 3
    for line, below in pairwise(about):  # no word would have had room in the line before
        assert len(f"{line.rstrip()} {below.split()[0]}") > 60


@pytest.mark.parametrize(
    ("where", "code", "words"),
    [
        (">&-", 0, ""),
        (">/dev/full", 1, "No space left"),
        ("| true", 1, ""),
        ("2>/dev/full >&2", 1, ""),
    ],
)
@pytest.mark.parametrize("verb", ["--help", "robots --example", "robots --help"])
def test_output_that_goes_nowhere_ends_in_order(
    verb: str, where: str, code: int, words: str
) -> None:
    command = f"{sys.executable} -m recrawl {verb} {where}; exit ${{PIPESTATUS[0]}}"
    ended = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False
    )
    if where == "| true" and not ended.returncode:
        code = 0  # all was written before the reader left
    assert ended.returncode == code, ended.stderr
    assert words in ended.stderr
    assert len(ended.stderr.splitlines()) == bool(words)


def test_what_is_told_beside_the_work_is_lost_on_a_full_disk_and_ends_nothing() -> None:
    """A crawl whose errors went to a disk without room ended at its first note."""
    program = (
        "from recrawl.cli.output import note, say; from recrawl.cli.streams import open_streams;"
        "open_streams(); note('told'); say('done')"
    )
    ended = subprocess.run(
        ["bash", "-c", f'{sys.executable} -c "{program}" 2>/dev/full'],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (ended.returncode, ended.stdout) == (0, "done\n")


@pytest.mark.parametrize(
    "raised",
    [
        RuntimeError("can't start new thread"),
        BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"),
        ExceptionGroup("parts", [ValueError("x"), RuntimeError("can't start new thread")]),
    ],
)
def test_where_a_system_allows_no_more_threads_that_is_said(
    raised: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Services and containers bound them; a crawl ended with a traceback."""

    def failing(*_: object, **__: object) -> None:
        raise raised

    monkeypatch.setattr(recrawl.cli.app, "app", failing)
    with pytest.raises(SystemExit) as ended:
        main(["status"])

    assert ended.value.code == 1
    assert "no more threads or processes; raise that limit" in capsys.readouterr().err


def test_a_reader_of_errors_that_leaves_makes_no_code_of_its_own() -> None:
    """Python ends with 120 where what waits for standard error can go nowhere."""
    program = (
        "import sys; from recrawl.cli import app;"
        "app._outcome = lambda _: sys.stderr.write('x') and 0; app.main([])"
    )
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-c", program]
    ended = subprocess.run(
        command, stdout=subprocess.DEVNULL, stderr=writer, timeout=60, check=False
    )
    os.close(writer)

    assert ended.returncode == 0


def test_a_log_on_a_full_disk_ends_nothing_not_even_when_it_is_closed() -> None:
    """What waited to be written was tried once more at the end, and failed there."""
    with open_log(Path("/dev/full")) as log:
        for _ in range(1_000):
            log.write("visited\n")


def test_json_is_json_where_stdout_knows_no_umlauts() -> None:
    env = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    command = [sys.executable, "-m", "recrawl", "reproduce", "--json"]
    ended = subprocess.run(command, capture_output=True, env=env, timeout=60, check=False)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)


@pytest.mark.slow
def test_a_sample_of_all_bad_inputs_ends_well(tmp_path: Path) -> None:
    """The whole of it is bench/bad_inputs.py."""
    assert sum(1 for _ in bad_inputs.cases()) >= 2_000
    every = ["--every", "97", "--at-once", "1"]
    script = [sys.executable, str(Path(bad_inputs.__file__)), *every]
    ended = subprocess.run(
        script, cwd=tmp_path, capture_output=True, text=True, timeout=110, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
