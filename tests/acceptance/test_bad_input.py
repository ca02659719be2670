"""Bad input: one clear message, the right exit code, nothing written, nothing lost."""

import os
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.acceptance.command import recrawl, write_config

from recrawl.cli import main
from recrawl.crawler.frontier.sqlite import SqliteFrontier

pytestmark = pytest.mark.acceptance

GOOD = """
seeds = ["http://site.localhost:9/"]
contact = "mailto:tester@site.test"
"""
ALLOWED = '[politeness]\nallow_private = ["*.localhost"]\n'
SOURCE = "[[sources]]\nurl = 'http://site.localhost:9/feed'\nprobes = 3\n"


Ended = subprocess.CompletedProcess[str]
Command = Callable[..., Ended]


@pytest.fixture
def here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """Give `recrawl` in this process, which need not import everything anew for each refusal."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> Ended:
        with pytest.raises(SystemExit) as ended:
            main(list(arguments))
        assert isinstance(ended.value.code, int)
        return subprocess.CompletedProcess(arguments, ended.value.code, *capsys.readouterr())

    return call


def complaint(ended: Ended, code: int = 2) -> str:
    """Return the one line that was said."""
    assert ended.returncode == code, (ended.returncode, ended.stderr)
    assert "Traceback" not in ended.stderr
    assert ended.stdout == ""
    lines = ended.stderr.strip().splitlines()
    assert len(lines) == 1, ended.stderr
    assert lines[0].startswith("recrawl: ")
    return lines[0]


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (GOOD + "bugdet = '1/h'", ["bugdet", "did you mean 'budget'"]),
        (GOOD + "[politeness]\ndelya = '1s'", ["delya", "[politeness]", "'delay'"]),
        (GOOD + "budget = '1000'", ["budget", "'1000'", "1000/h"]),
        (GOOD + "budget = '0/h'", ["budget", "0/h"]),
        (GOOD + "budget = '1e9/s'", ["budget", "100000/s"]),
        (GOOD + "budget = 5", ["budget"]),
        (GOOD + "robots = 0", ["robots", "at least 1"]),
        (GOOD + "[politeness]\ndelay = '1 parsec'", ["politeness.delay", "parsec", "30s"]),
        (GOOD + "[fetch]\nmax_bytes = 'lots'", ["fetch.max_bytes", "lots"]),
        (GOOD + "[revisit]\nmin_interval='2d'\nmax_interval='1d'", ["min_interval", "longer"]),
        (GOOD + "[plan]\ndiscovery_share = 2.0", ["discovery_share", "between 0 and 1"]),
        (GOOD + "[index]\nlanguage = 'klingon'", ["index.language", "klingon", "english"]),
        (GOOD + "[[weights]]\npath='/x'\nweight=-1", ["weights", "-1"]),
        (GOOD + "[scope]\nhosts = []", ["scope.hosts"]),
        (GOOD + "seed_file = 'nowhere.txt'", ["seed_file", "nowhere.txt", "No such file"]),
        ('seeds = ["http://a.test/"]', ["contact", "reach you"]),
        ('seeds = ["http://a.test/"]\ncontact = "me"', ["contact", "'me'"]),
        ('contact = "me@site.test"', ["seeds"]),
        ('seeds = ["ftp://a.test/"]\ncontact = "me@site.test"', ["seeds", "ftp://a.test/"]),
        (GOOD + SOURCE + "time_zone = 'Mars/Base'", ["time_zone", "Mars/Base", "Europe/Paris"]),
        (GOOD + SOURCE + "min_gap = '7d'", ["sources", "3 probes", "at most 1"]),
        ("seeds = [", ["not valid TOML"]),
        (GOOD + "name = 'my bot/2'", ["name", "my bot/2"]),
        (GOOD, ["seeds", 'allow_private = ["site.localhost"]']),
    ],
)
def test_a_wrong_config_is_refused_with_the_key_and_the_value(
    tmp_path: Path, here: Command, config: str, words: list[str]
) -> None:
    write_config(tmp_path, config)

    said = complaint(here("run"))

    for word in ["recrawl.toml", *words]:
        assert word in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["recrawl.toml"]


def test_the_command_itself_says_so_too(tmp_path: Path) -> None:
    """As a process of its own, with its exit code and its streams."""
    write_config(tmp_path, GOOD + "bugdet = '1/h'")

    assert "did you mean 'budget'" in complaint(recrawl("run", cwd=tmp_path))
    assert "nowhere.toml" in complaint(recrawl("run", "nowhere.toml", cwd=tmp_path))


def test_a_bad_line_of_a_seed_file_is_named(tmp_path: Path, here: Command) -> None:
    (tmp_path / "seeds.txt").write_text("http://a.test/\n\n# fine\nnot a url\n")
    write_config(tmp_path, "seed_file = 'seeds.txt'\ncontact = 'me@site.test'")

    said = complaint(here("run"))

    assert "line 4" in said
    assert "not a url" in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "nowhere.toml"], ["nowhere.toml", "No such file", "recrawl init"]),
        (["run", "--for", "soon"], ["--for", "soon"]),
        (["status"], ["recrawl.toml", "--state"]),
        (["status", "--state", "nowhere"], ["nowhere"]),
        (["search"], ["at least one word"]),
        (["demo", "--seconds", "0"], ["--seconds"]),
        (["demo", "--pages", "0"], ["--pages"]),
        (["init", "gopher://x"], ["gopher://x"]),
        (["explain", "not a url"], ["not a url"]),
        (["export", "pages", "--out", "x.xlsx", "--state", "."], [".parquet"]),
    ],
)
def test_wrong_arguments_are_named(
    tmp_path: Path, here: Command, arguments: list[str], words: list[str]
) -> None:
    if arguments == ["run", "--for", "soon"]:
        write_config(tmp_path, GOOD + ALLOWED)

    said = complaint(here(*arguments))

    for word in words:
        assert word in said


def test_a_state_directory_in_use_is_left_alone(tmp_path: Path) -> None:
    """The second crawl is told who holds it."""
    write_config(tmp_path, GOOD + ALLOWED)
    held = SqliteFrontier(tmp_path / "recrawl-state")
    try:
        said = complaint(recrawl("run", cwd=tmp_path), code=1)
    finally:
        held.close()

    assert f"in use by process {os.getpid()}" in said


def test_a_state_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    write_config(tmp_path, GOOD + ALLOWED)
    state = tmp_path / "recrawl-state"
    SqliteFrontier(state).close()
    with sqlite3.connect(state / "state.sqlite3") as database:
        database.execute("PRAGMA user_version = 999")
    database.close()
    before = (state / "state.sqlite3").read_bytes()

    for verb in ("run", "status"):
        said = complaint(recrawl(verb, cwd=tmp_path), code=1)
        assert "newer version" in said
    assert (state / "state.sqlite3").read_bytes() == before


@pytest.mark.parametrize("damage", [b"not a database at all" * 100, b""])
def test_a_damaged_state_is_left_alone(tmp_path: Path, damage: bytes) -> None:
    write_config(tmp_path, GOOD + ALLOWED)
    state = tmp_path / "recrawl-state"
    SqliteFrontier(state).close()
    file = state / "state.sqlite3"
    whole = file.read_bytes()
    file.write_bytes(damage or whole[:1500] + b"\xff" * 3000 + whole[4500:])
    before = file.read_bytes()

    said = complaint(recrawl("run", cwd=tmp_path), code=1)

    assert "damaged" in said
    assert file.read_bytes() == before


def test_a_full_disk_loses_nothing_and_is_said(tmp_path: Path) -> None:
    """A small file system of its own; what was acknowledged is there when there is room again."""
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1500k", "tmpfs", str(small)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("mounting a small file system needs root")
    try:
        write_config(tmp_path, GOOD + 'state = "small/state"\n' + ALLOWED)
        SqliteFrontier(small / "state").close()
        filler = small / "filler"
        free = subprocess.run(
            ["df", "--output=avail", str(small)], capture_output=True, text=True, check=True
        )
        filler.write_bytes(b"x" * (int(free.stdout.split()[1]) * 1024 - 4096))

        said = complaint(recrawl("run", "-q", "--for", "5s", cwd=tmp_path), code=1)
        filler.unlink()
        after = recrawl("status", cwd=tmp_path)

        assert "full" in said or "space" in said
        assert after.returncode == 0, after.stderr
    finally:
        subprocess.run(["umount", str(small)], check=False)
