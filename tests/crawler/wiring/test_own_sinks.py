"""A sink that somebody wrote in Python, named in the configuration."""

import importlib
import json
from pathlib import Path

import pytest
from tests.fed import Fed

from recrawl.cli.app import main

SINK = """
import json
import threading
from recrawl.terms import Taken, Verdict

class Kept:
    def __init__(self, secret):
        self.path = secret().decode()
    def apply(self, items, batch):
        with open(self.path, "a") as file:
            for item in items:
                file.write(json.dumps([item.change.url, item.record.get("chunks")]) + "\\n")
        return [Taken(Verdict.OK) for _ in items]
    def scan(self):
        return None
    def close(self):
        pass

class Refuses(Kept):
    def apply(self, items, batch):
        return [Taken(Verdict.REJECT, "a rule") for _ in items]
    def scan(self):
        return []

class Slow(Kept):
    def apply(self, items, batch):
        TOLD.wait(30)
        return [Taken(Verdict.OK) for _ in items]

class Half:
    def __init__(self, secret):
        pass

def broken(secret):
    raise ValueError("no such thing")

number = 3
TOLD = threading.Event()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state with two pages, and a module with sinks."""
    fed = Fed(tmp_path / "state")
    fed.put("/a", "/b", text="words")
    fed.close()
    (tmp_path / "own_sinks_of_a_test.py").write_text(SINK)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("WHERE", str(tmp_path / "out.txt"))
    return tmp_path


def deliver(folder: Path, name: str, *command: str, more: str = "") -> int:
    """Deliver what there is, once; or do with the sink what a command says."""
    config = folder / "recrawl.toml"
    config.write_text(
        'seeds = ["http://a.test/"]\ncontact = "mailto:me@a.test"\nstate = "state"\n[[deliver]]\n'
        f'python = "{name}"\ncontent = "markdown"\nchunks = 100\nsecret_env = "WHERE"\n{more}'
    )
    with pytest.raises(SystemExit) as ended:
        main([*(command or ("deliver", "--once")), "--config", str(config)])
    return int(str(ended.value.code))


def test_it_is_told_what_others_are(folder: Path) -> None:
    """Each page, with the content and the pieces that it asked for."""
    assert deliver(folder, "own_sinks_of_a_test:Kept") == 0
    lines = (folder / "out.txt").read_text().splitlines()
    told = {url[-2:]: chunks for url, chunks in map(json.loads, lines)}
    assert set(told) == {"/a", "/b"}
    assert all(len(chunks) == 1 and chunks[0]["id"] for chunks in told.values())


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nowhere_at_all:Sink", "PYTHONPATH"),
        ("own_sinks_of_a_test:Nothing", "Nothing"),
        ("own_sinks_of_a_test:number", "makes no sink"),
    ],
)
def test_what_is_no_sink_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, words: str
) -> None:
    """Before anything is delivered."""
    assert deliver(folder, name) == 2
    err = capsys.readouterr().err
    assert words in err
    assert err.count("\n") == 1
    assert not (folder / "out.txt").exists()


def test_a_comparison_that_mends_nothing_is_no_success(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "own_sinks_of_a_test:Refuses"

    assert deliver(folder, name, "sync", name, "--verify") == 1
    told = capsys.readouterr()
    assert "2 were missing there" in told.out
    assert "2 pages are as they were there: it does not take them" in told.err


def test_of_one_that_does_not_answer_in_time_is_said_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is waited for: nobody but itself can end it."""
    told: list[str] = []

    def say(words: str) -> None:
        told.append(words)
        importlib.import_module("own_sinks_of_a_test").TOLD.set()

    monkeypatch.setattr("recrawl.cli.crawler.deliver.note", say)

    assert deliver(folder, "own_sinks_of_a_test:Slow", more='timeout = "0.2s"\n') == 0
    assert told == [
        "own_sinks_of_a_test:Slow: no answer for 0.2 s; it is waited for until it gives one"
    ]
