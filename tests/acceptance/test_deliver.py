"""Delivery by the command line: beside a crawl, after one, and through ends of any kind."""

import json
import signal
import sqlite3
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.command import answer, recrawl, start, write_config
from tests.acceptance.servers import Exchange, LocalServer, serving
from tests.fed import HOST, Fed
from tests.postgres import Postgres, postgres

from recrawl.testing.conformance.sinks import replayed

pytestmark = pytest.mark.acceptance

CRAWL = """
seeds = ["http://site.localhost:{port}/"]
contact = "mailto:tester@site.test"
budget = "2000/s"
[politeness]
delay = "0s"
allow_private = ["*.localhost"]
"""
PLAIN = 'seeds = ["http://a.test/"]\ncontact = "mailto:tester@site.test"\nstate = "state"\n'


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def fed(tmp_path: Path) -> Iterator[Fed]:
    """A state with three pages, one of which went."""
    made = Fed(tmp_path / "state")
    made.put("/a", "/b", "/c")
    made.drop("/b")
    yield made
    made.close()


async def site(exchange: Exchange) -> None:
    pages = {"/": "<title>Home</title><main><a href='/a'>a</a> home page</main>",
             "/a": "<title>A</title><main>the page a says this</main>"}  # fmt: skip
    body = pages.get(exchange.path)
    await exchange.reply(body or "", status=200 if body else 404)


@pytest.mark.slow
def test_a_crawl_delivers_what_it_finds(tmp_path: Path) -> None:
    """Beside the crawl, to each sink by itself, one of which is not there."""
    with serving(site) as server:
        text = CRAWL.format(port=server.port)
        text += '[[deliver]]\nto = "out/{date}.ndjson"\nname = "files"\n'
        text += '[[deliver]]\nto = "http://127.0.0.1:9/"\nname = "nobody"\n'
        write_config(tmp_path, text)
        ended = recrawl("run", "--once", "-q", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert len(list((tmp_path / "out").glob("*.ndjson"))) == 1, "the crawl delivered nothing"
    again = recrawl("deliver", "--once", "--json", cwd=tmp_path)
    told = {row["sink"]: row for row in json.loads(again.stdout)["deliver"]}
    (path,) = (tmp_path / "out").glob("*.ndjson")

    assert again.returncode == 1
    assert {record["url"].rpartition("/")[2]: record["text"] for record in records(path)} == {
        "": "a home page", "a": "the page a says this",
    }  # fmt: skip
    assert (told["files"]["delivered"], told["files"]["behind"]) == (2, 0)
    assert (told["nobody"]["delivered"], told["nobody"]["behind"]) == (0, 2)
    assert "127.0.0.1:9" in told["nobody"]["trouble"]
    status = recrawl("status", cwd=tmp_path).stdout
    assert "Delivery to nobody: 0 changes, 2 to come; failed" in status
    assert answer("status", cwd=tmp_path)["deliver"][0]["sink"] == "files"


def test_a_sink_goes_on_where_it_was(tmp_path: Path, fed: Fed) -> None:
    """With what its settings ask for; `sync` takes one of them."""
    write_config(
        tmp_path,
        PLAIN + '[[deliver]]\nto = "a.ndjson"\npaths = ["/a*"]\ncontent = "markdown"\n'
        '[[deliver]]\nto = "all.ndjson"\n',
    )
    assert recrawl("sync", "a.ndjson", cwd=tmp_path).returncode == 0
    assert not (tmp_path / "all.ndjson").exists()
    fed.put("/aa", text="new")
    done = recrawl("deliver", "--once", cwd=tmp_path)

    assert "a.ndjson: 2 delivered, 0 to come" in done.stdout
    told = [(row["seq"], row.get("markdown")) for row in records(tmp_path / "a.ndjson")]
    assert told == [(1, "# Title\n\nwords of /a\n"), (5, "# Title\n\nnew of /aa\n")]
    assert [row["seq"] for row in records(tmp_path / "all.ndjson")] == [1, 3, 4, 5]


@pytest.mark.slow
def test_a_sink_that_gets_another_form_is_told_of_once(tmp_path: Path, fed: Fed) -> None:
    """What it has stays; which command brings the rest is said, and it does."""
    sink = '[[deliver]]\nto = "out/{date}.ndjson"\nname = "files"\n'
    write_config(tmp_path, PLAIN + sink + 'paths = ["/a"]\n')
    first = recrawl("deliver", "--once", cwd=tmp_path)
    write_config(tmp_path, PLAIN + sink)
    second, third = (recrawl("deliver", "--once", cwd=tmp_path) for _ in range(2))
    recrawl("sync", "files", "--verify", cwd=tmp_path)
    (path,) = (tmp_path / "out").glob("*.ndjson")

    assert "others than before" not in first.stderr + third.stderr
    assert "`recrawl sync files --verify` brings the pages that it lacks" in second.stderr
    assert {record["url"].rpartition("/")[2] for record in records(path)} == {"a", "c"}


def test_a_sink_that_takes_nothing_is_told_of_once(tmp_path: Path, fed: Fed) -> None:
    """Such as a table with a new rule: what it refuses does not come again."""
    said = '{"status": "reject", "why": "a rule"}'
    program = f"import sys\nfor _ in sys.stdin: print({said!r}, flush=True)"
    command = json.dumps([sys.executable, "-c", program])
    write_config(
        tmp_path, PLAIN + f'[[deliver]]\ncommand = {command}\nname = "strict"\nbatch = 1\n'
    )
    ended = recrawl("deliver", "--once", cwd=tmp_path)

    assert ended.stderr.count("strict: changes are put aside, not taken: a rule") == 1
    assert "strict: 0 delivered, 0 to come, 3 not taken" in ended.stdout


def test_a_sink_that_was_taken_out_has_nothing_to_come(tmp_path: Path, fed: Fed) -> None:
    """What is still to come for it, and what was wrong with it, is nobody's trouble any more."""
    write_config(tmp_path, PLAIN + '[[deliver]]\nto = "a.ndjson"\n')
    assert recrawl("deliver", "--once", cwd=tmp_path).returncode == 0
    there = recrawl("status", cwd=tmp_path).stdout
    write_config(tmp_path, PLAIN)
    gone = recrawl("status", cwd=tmp_path).stdout

    assert "Delivery to a.ndjson: 3 changes, 0 to come" in there
    assert "Delivery to a.ndjson: 3 changes, and no sink of the configuration any more" in gone


def test_one_process_delivers_at_a_time(tmp_path: Path, fed: Fed) -> None:
    """Or what it counts would be wrong."""
    write_config(tmp_path, PLAIN + '[[deliver]]\nto = "a.ndjson"\n')
    first = start("deliver", cwd=tmp_path)
    try:
        while not (tmp_path / "a.ndjson").exists():
            assert first.poll() is None
            time.sleep(0.01)
        second = recrawl("deliver", "--once", cwd=tmp_path)
        assert second.returncode == 1
        assert "one process does at a time" in second.stderr
    finally:
        first.send_signal(signal.SIGTERM)
        out, _ = first.communicate(timeout=60)
    assert first.returncode == 0
    assert "a.ndjson: 3 delivered, 0 to come" in out


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["deliver", "--config", "plain.toml"], 2, "there is no [[deliver]]"),
        (["sync", "nobody"], 2, "'nobody' is no sink of recrawl.toml; there is 'a.ndjson'"),
        (["sync", "hook", "--verify"], 2, "cannot tell what it holds"),
    ],
)
def test_what_cannot_be_delivered_is_said(
    tmp_path: Path, fed: Fed, arguments: list[str], code: int, words: str
) -> None:
    """In one message."""
    hook = '[[deliver]]\nto = "http://127.0.0.1:9/"\nname = "hook"\n'
    write_config(tmp_path, PLAIN + '[[deliver]]\nto = "a.ndjson"\n' + hook)
    (tmp_path / "plain.toml").write_text(PLAIN)
    ended = recrawl(*arguments, cwd=tmp_path)

    assert ended.returncode == code
    assert words in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_secret_that_is_not_there_is_said_and_never_shown(tmp_path: Path, fed: Fed) -> None:
    """Whatever it is worth: neither in messages nor in the state."""
    (tmp_path / "key").write_text("whsec_!!s3cret")
    write_config(
        tmp_path,
        PLAIN + '[[deliver]]\nto = "http://127.0.0.1:9/"\nsecret_env = "NO_SUCH_VARIABLE"\n'
        '[[deliver]]\nto = "http://127.0.0.1:9/b"\nsecret_file = "key"\n'
        '[[deliver]]\nto = "http://127.0.0.1:9/c"\nsecret_file = "nowhere"\n',
    )
    ended = recrawl("deliver", "--once", cwd=tmp_path)

    assert ended.returncode == 1
    assert "NO_SUCH_VARIABLE is not set" in ended.stderr
    assert "has no Base64 after whsec_" in ended.stderr
    assert "nowhere: No such file" in ended.stderr
    held = (tmp_path / "state" / "state.sqlite3").read_bytes()
    assert b"s3cret" not in held + ended.stderr.encode() + ended.stdout.encode()


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    with postgres() as running:
        yield running


@pytest.mark.slow
def test_a_comparison_mends_a_table(tmp_path: Path, fed: Fed, server: Postgres) -> None:
    """Rows that somebody deleted, changed or brought back."""
    import psycopg

    write_config(tmp_path, PLAIN + f'[[deliver]]\nto = "{server.address}"\nname = "pg"\n')
    assert recrawl("sync", "pg", cwd=tmp_path).returncode == 0
    with psycopg.connect(server.address, autocommit=True) as connection:
        connection.execute("DELETE FROM documents WHERE url LIKE '%%/a'")
        connection.execute("UPDATE documents SET version = 1, text = 'x' WHERE url LIKE '%%/c'")
        connection.execute(
            "INSERT INTO documents (url, version, changed_at) VALUES (%s, 1, now())", (f"{HOST}/b",)
        )
    found = answer("sync", "pg", "--verify", cwd=tmp_path)
    with psycopg.connect(server.address) as connection:
        rows = connection.execute("SELECT url, text FROM documents ORDER BY url").fetchall()

    assert (found["missing"], found["older"], found["extra"], found["mended"]) == (1, 1, 1, 3)
    assert rows == [(f"{HOST}/a", "words of /a"), (f"{HOST}/c", "words of /c")]
    assert answer("sync", "pg", "--verify", cwd=tmp_path)["mended"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["out/{date}.ndjson", "out/{date}-{seq}.parquet"])
def test_a_comparison_mends_files(tmp_path: Path, fed: Fed, name: str) -> None:
    """Lines that somebody cut out, or a file that is gone; what was told is not told again."""
    write_config(tmp_path, PLAIN + f'[[deliver]]\nto = "{name}"\nname = "files"\nbatch = 1\n')
    assert answer("sync", "files", "--verify", cwd=tmp_path)["mended"] == 0
    first = sorted((tmp_path / "out").iterdir())[0]
    if name.endswith("ndjson"):
        first.write_text("".join(first.read_text().splitlines(keepends=True)[1:]))
    else:
        first.unlink()
    fed.put("/d")
    found = answer("sync", "files", "--verify", cwd=tmp_path)

    assert (found["pages"], found["missing"], found["mended"]) == (3, 1, 1)
    assert answer("sync", "files", "--verify", cwd=tmp_path)["mended"] == 0
    fed.put("/a", text="later")
    assert recrawl("deliver", "--once", cwd=tmp_path).returncode == 0
    assert answer("sync", "files", "--verify", cwd=tmp_path)["mended"] == 0


class Receiver:
    """Follows a webhook as it is advised to, and fails now and then."""

    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []
        self.ids: set[str] = set()
        self.versions: dict[str, int] = {}
        self.n = 0

    async def __call__(self, exchange: Exchange) -> None:
        self.n += 1
        if self.n % 5 == 0:
            exchange.reset()
            return
        if exchange.headers["webhook-id"] not in self.ids:
            for record in json.loads(exchange.body)["data"]:
                if record["version"] > self.versions.get(record["url"], 0):
                    self.versions[record["url"]] = record["version"]
                    self.records.append(record)
            self.ids.add(exchange.headers["webhook-id"])
        if self.n % 7 == 0:  # it has taken all, and does not say so
            exchange.reset()
            return
        await exchange.reply(status=200)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_whatever_is_killed_everything_has_its_effect_once(tmp_path: Path) -> None:
    """Ourselves, the database and the receiver, one after the other while pages come and go."""
    kill_in_delivery(tmp_path, 16)


def kill_in_delivery(folder: Path, kills: int) -> None:
    """Deliver, kill, and deliver to the end; what every sink holds is what the index holds."""
    import random

    moments, receiver = random.Random(1), Receiver()
    fed = Fed(folder / "state")
    with postgres() as database, serving(receiver) as hook:
        write_config(folder, PLAIN + _sinks(database, hook))
        for number in range(kills):
            _change(fed, moments, number)
            courier = start("deliver", "-q", cwd=folder)
            time.sleep(moments.uniform(0.2, 1.2))  # the moment is what is tested
            if number % 4 == 3:
                database.stop("immediate")
                time.sleep(moments.uniform(0.0, 0.3))
                database.start()
            courier.send_signal(signal.SIGKILL)
            courier.communicate()
        _forgive(folder)
        for _ in range(60):
            if recrawl("deliver", "--once", "-q", cwd=folder).returncode == 0:
                break
            _forgive(folder)
        _check(folder, fed, database, receiver)
    fed.close()


def _sinks(database: Postgres, hook: LocalServer) -> str:
    return (
        f'[[deliver]]\nto = "{database.address}"\nname = "pg"\nbatch = 7\n'
        f'[[deliver]]\nto = "http://127.0.0.1:{hook.port}/"\nname = "hook"\nbatch = 5\n'
        '[[deliver]]\nto = "out/{date}.ndjson.zst"\nname = "files"\nbatch = 3\n'
        f'[[deliver]]\ncommand = ["{sys.executable}", "-c", "import sys\\n'
        '[print(\'{}\', flush=True) for line in sys.stdin]"]\nname = "command"\n'
    )


def _change(fed: Fed, moments: Any, number: int) -> None:
    for _ in range(3):
        paths = {f"/{moments.randrange(40)}" for _ in range(12)}
        fed.put(*sorted(paths), text=f"edition {number}")
    live = [change.url[len(HOST) :] for change in fed.frontier.feed.live()]
    for path in moments.sample(live, min(3, len(live))):
        fed.drop(path)


def _forgive(folder: Path) -> None:
    """Have what is left alone for a while be tried at once."""
    state = sqlite3.connect(folder / "state" / "state.sqlite3", timeout=10.0)
    state.execute("UPDATE delivery SET next_s = NULL")
    state.commit()
    state.close()


def _check(folder: Path, fed: Fed, database: Postgres, receiver: Receiver) -> None:
    import psycopg
    import pyarrow as pa

    expected = {change.url: change.version for change in fed.frontier.feed.live()}
    texts = {url: copy.text for url in expected if (copy := fed.index.copy(url)) is not None}
    with psycopg.connect(database.address) as connection:
        rows = connection.execute("SELECT url, version, text FROM documents").fetchall()
    written: list[dict[str, Any]] = []
    for path in sorted((folder / "out").glob("*.zst")):
        with pa.input_stream(path, compression="zstd") as stream:
            written += [json.loads(line) for line in bytes(stream.read()).splitlines()]
    paths = {url.rpartition("/")[2]: version for url, version in expected.items()}

    assert {row[0]: row[1] for row in rows} == expected
    assert {row[0]: row[2] for row in rows} == texts
    assert replayed(receiver.records) == paths
    assert replayed(written) == paths
    numbers = [record["seq"] for record in written]
    assert numbers == sorted(set(numbers)), "a line is there twice, or out of order"
    for told in (receiver.records, written):
        last: dict[str, int] = {}
        for record in told:
            assert record["version"] > last.get(record["url"], 0)
            last[record["url"]] = record["version"]
