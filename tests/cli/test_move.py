"""`recrawl move`: into a database and back, and what cannot be meant."""

import contextlib
import json
import sqlite3
from pathlib import Path

import psycopg
import pytest
from tests.acceptance.command import recrawl
from tests.acceptance.farm import Farm
from tests.databases import Server, databases

from recrawl.cli import main

__all__ = ["databases"]


def _content(state: Path) -> dict[str, list[tuple[object, ...]]]:
    """Return every row of every table, but for what only a living process has."""
    with contextlib.closing(sqlite3.connect(state / "state.sqlite3")) as db:
        tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type='table'")]
        told = {}
        for table in tables:
            names = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
            kept = ", ".join(name for name in names if not name.startswith("lease"))
            told[table] = sorted(db.execute(f"SELECT {kept} FROM {table}").fetchall(), key=repr)
    told["label"] = [row for row in told["label"] if row[0] != "version"]
    return told


@pytest.mark.slow
def test_a_state_goes_to_a_database_and_back_as_it_was(databases: Server, tmp_path: Path) -> None:
    """Every row, every number, every copy; and there it can be crawled on."""
    database = databases.database()
    farm = Farm(3, 4)
    config = farm.config(tmp_path, None, politeness__delay='"0s"', index__commit_every='"100ms"')
    assert recrawl("run", config, "--once", "--quiet", cwd=tmp_path).returncode == 0
    with contextlib.closing(sqlite3.connect(tmp_path / "state" / "state.sqlite3")) as db, db:
        for table in ("page", "host"):  # a first pass leaves little
            kept = "belief" if table == "page" else "host_belief"
            db.execute(f"INSERT OR REPLACE INTO {kept} SELECT id, randomblob(169) FROM {table}")
        db.execute("INSERT INTO label VALUES ('form of a sink', 'text'), ('log:a', '1')")

    there = recrawl("move", "state", database.address, "--shards", "16", "--json", cwd=tmp_path)
    back = recrawl("move", database.address, "again", "--json", cwd=tmp_path)

    assert there.returncode == back.returncode == 0, there.stderr + back.stderr
    assert json.loads(there.stdout)["pages"] == json.loads(back.stdout)["pages"] > 15
    assert _content(tmp_path / "again") == _content(tmp_path / "state")
    assert recrawl("check", "--state", "again", cwd=tmp_path).returncode == 0
    assert recrawl("check", "--state", database.address, cwd=tmp_path).returncode == 0
    found = [
        recrawl("search", "word1x2y3", "--json", "--state", place, cwd=tmp_path).stdout
        for place in ("state", database.address)
    ]
    assert all(f"http://{farm.name(1)}/2" in told for told in found)
    onward = farm.config(tmp_path, database)
    run = recrawl("run", onward, "--for", "3s", "--quiet", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    farm.close()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("state", "other"), "both folders"),
        (("postgresql://a/b", "postgresql://a/c"), "both databases"),
        (("nothing", "FULL"), "holds no crawl"),
        (("postgresql://nobody@127.0.0.1:1/none", "new"), "cannot be reached"),
        (("EMPTY", "new"), "holds no crawl"),
        (("mysql://a/b", "new"), "no place for a state"),
        (("state", "EMPTY", "--shards", "0"), "--shards: 0"),
    ],
)
def test_what_cannot_be_moved_is_said_in_a_line(
    databases: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    words: str,
) -> None:
    """And nothing is written."""
    monkeypatch.chdir(tmp_path)
    named = {"EMPTY": databases.database().address}
    if "FULL" in arguments:
        full = databases.database()
        named["FULL"] = full.address
        with psycopg.connect(full.address) as connection:
            connection.execute("CREATE TABLE mine (n int)")

    with pytest.raises(SystemExit) as ended:
        main(["move", *(named.get(one, one) for one in arguments)])
    said = capsys.readouterr().err

    assert ended.value.code == 2
    assert words in said
    assert said.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_verbs_that_a_database_has_no_use_for_say_so(databases: Server, tmp_path: Path) -> None:
    """Each names what does the same there."""
    place = databases.database().address
    config = tmp_path / "recrawl.toml"
    text = f'seeds = ["http://a.test/"]\ncontact = "mailto:a@b.test"\nstate = "{place}"\n'
    config.write_text(text)

    for arguments, words in (
        (("backup", "there", "--state", place), "pg_dump"),
        (("run", config, "--config-reload"), "--config-reload is for a crawl of one machine"),
        (("status", "--state", place), "holds no crawl"),
        (("status", "--state", "mysql://a/b"), "no place for a state"),
    ):
        ended = recrawl(*arguments, cwd=tmp_path)
        assert ended.returncode == 2, ended.stderr
        assert words in ended.stderr
