"""What may go wrong with each kind of sink, and what is said of it."""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.acceptance.servers import Exchange, serving
from tests.crawler.delivery.engine import Engine
from tests.postgres import Postgres, postgres

from recrawl.crawler.delivery.bulk import BulkSink
from recrawl.crawler.delivery.command import CommandSink
from recrawl.crawler.delivery.files import LineFiles, TableFiles
from recrawl.crawler.delivery.postgresql import PostgresSink
from recrawl.crawler.delivery.webhook import WebhookSink, signature
from recrawl.crawler.ports import Sink
from recrawl.crawler.runtime.feed_reader import record_of
from recrawl.errors import SinkError
from recrawl.terms import Item, Verdict
from recrawl.testing.conformance.sinks import item_of

# -- webhooks --


def test_the_signature_is_that_of_standard_webhooks() -> None:
    """A pair of message and signature as published with the specification's libraries."""
    import base64

    key = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    told = signature(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, b'{"test": 2432232314}')

    assert told == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


class Hook:
    """Answers as it is told, and keeps what came."""

    def __init__(self) -> None:
        self.replies: list[dict[str, object]] = []
        self.came: list[Exchange] = []

    async def __call__(self, exchange: Exchange) -> None:
        self.came.append(exchange)
        reply = self.replies.pop(0) if self.replies else {"status": 200}
        await exchange.reply(**reply)


@pytest.fixture
def hook() -> Iterator[tuple[Hook, WebhookSink]]:
    behind = Hook()
    with serving(behind) as server:
        sink = WebhookSink(
            f"http://127.0.0.1:{server.port}/in?a=b", name="hook", secret=lambda: b"k" * 32,
            timeout_s=5.0,
        )  # fmt: skip
        yield behind, sink
        sink.close()


def test_a_batch_is_signed_and_named(hook: tuple[Hook, WebhookSink]) -> None:
    """Anybody who knows the secret can check who sent it, and whether it came before."""
    behind, sink = hook
    sink.apply([item_of(1, "na"), item_of(2, "rb")], "0-2")
    sink.apply([item_of(1, "na")], "0-2")
    first, second = behind.came
    headers, body = first.headers, json.loads(first.body)

    told = signature(
        b"k" * 32, headers["webhook-id"], int(headers["webhook-timestamp"]), first.body
    )
    assert headers["webhook-signature"] == told
    assert first.path == "/in?a=b"
    assert [one["kind"] for one in body["data"]] == ["new", "removed"]
    assert second.headers["webhook-id"] == headers["webhook-id"]


@pytest.mark.parametrize(
    ("reply", "words", "wait_s"),
    [
        ({"status": 500}, "answered 500", None),
        ({"status": 429, "Retry_After": "120"}, "answered 429", 120.0),
        ({"status": 503, "Retry_After": "Thu, 01 Jan 2015 00:00:00 GMT"}, "answered 503", 0.0),
        ({"status": 503, "Retry_After": "soon"}, "answered 503", None),
        ({"status": 302, "Location": "http://127.0.0.1:1/"}, "redirects are not followed", None),
        ({"body": "x" * 2_000_000}, "an answer of more than", None),
    ],
)
def test_a_receiver_that_does_not_take_it_is_asked_again(
    hook: tuple[Hook, WebhookSink], reply: dict[str, object], words: str, wait_s: float | None
) -> None:
    """No sooner than it says; no redirect is followed, and nothing endless is read."""
    behind, sink = hook
    behind.replies.append(reply)

    with pytest.raises(SinkError, match=words) as failed:
        sink.apply([item_of(1, "na")], "0-1")
    assert failed.value.retry_after_s == wait_s
    assert len(behind.came) == 1


def test_what_is_too_large_is_sent_in_pieces(hook: tuple[Hook, WebhookSink]) -> None:
    """Down to one change, which is put aside if that is too large too."""
    behind, sink = hook
    items = [item_of(seq, f"n{seq}") for seq in (1, 2, 3)]
    # All three; the first, which is too large; the other two, the second, the third.
    behind.replies = [{"status": status} for status in (413, 413, 413, 200, 200)]
    verdicts = [taken.verdict for taken in sink.apply(items, "0-3")]

    assert verdicts == [Verdict.REJECT, Verdict.OK, Verdict.OK]
    assert len({exchange.headers["webhook-id"] for exchange in behind.came}) == len(behind.came)


def test_a_server_that_speaks_no_http_is_trouble_of_its_own() -> None:
    """As is one that hangs up."""

    async def nonsense(exchange: Exchange) -> None:
        await exchange.send(b"\x00\x01 nonsense\r\n\r\n")
        exchange.writer.close()

    with serving(nonsense) as server:
        sink = WebhookSink(f"http://127.0.0.1:{server.port}/", name="h", secret=None, timeout_s=5.0)
        with pytest.raises(SinkError, match=r"127\.0\.0\.1"):
            sink.apply([item_of(1, "na")], "0-1")


# -- search engines --


@pytest.fixture
def engine() -> Iterator[tuple[Engine, BulkSink]]:
    behind = Engine()
    with serving(behind) as server:
        sink = BulkSink(
            f"http://127.0.0.1:{server.port}/docs", secret=lambda: b"user:pass", timeout_s=5.0
        )
        yield behind, sink
        sink.close()


def test_an_engine_judges_change_by_change(engine: tuple[Engine, BulkSink]) -> None:
    """One that it cannot take now, and one that it never will, hold up no other."""
    behind, sink = engine
    behind.refuses = {"b": 429, "c": 400}
    taken = sink.apply([item_of(1, "na"), item_of(2, "nb"), item_of(3, "nc"), item_of(4, "rd")], "")

    assert [one.verdict.value for one in taken] == ["ok", "retry", "reject", "ok"]
    assert behind.authorization == "Basic dXNlcjpwYXNz"
    assert "diff" not in behind.documents["http://a.test/a"][1]


def test_what_an_engine_finds_too_large_is_halved(engine: tuple[Engine, BulkSink]) -> None:
    """And a page that is too large by itself is put aside."""
    behind, sink = engine
    behind.most_bytes = 2_000
    items = [item_of(seq, f"n{seq}", "x" * (9_000 if seq == 3 else 400)) for seq in range(1, 6)]
    taken = sink.apply(items, "")

    assert [one.verdict.value for one in taken] == ["ok", "ok", "reject", "ok", "ok"]


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (200, "no json", "no JSON"),
        (200, "[]", "no JSON object"),
        (200, "[" * 100_000, "no JSON"),
        (200, '{"items": []}', "without a result for each change"),
        (200, '{"items": [{"index": {}}]}', "no status"),
        (200, '{"items": [7]}', "no status"),
        (401, '{"error": "no \\u001b[31m"}', "answered 401"),
    ],
)
def test_an_engine_that_answers_nonsense_is_asked_again(
    engine: tuple[Engine, BulkSink], status: int, body: str, words: str
) -> None:
    """In words that hold no sign that a terminal obeys."""
    behind, sink = engine
    behind.answer = (status, body)

    with pytest.raises(SinkError, match=words) as failed:
        sink.apply([item_of(1, "na")], "")
    assert str(failed.value).isprintable()


def test_an_address_longer_than_an_id_gets_a_hash_of_it(engine: tuple[Engine, BulkSink]) -> None:
    """And is found by a scan all the same."""
    _, sink = engine
    item = item_of(1, "n" + "x" * 600)
    sink.apply([item], "")

    assert list(sink.scan()) == [(item.change.url, 1)]


# -- PostgreSQL --


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    with postgres() as running:
        yield running


def table(server: Postgres, name: str, **told: object) -> PostgresSink:
    options = {"table": name, "keeps_removed": False, "secret": None, "timeout_s": 5.0} | told
    return PostgresSink(server.address, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ("url text PRIMARY KEY", "has no column version"),
        ("url text PRIMARY KEY, version text", "version of type text; it must be of type bigint"),
        (
            "url text, version bigint, title text, text text, language text, canonical text, "
            "content_type text, signature bytea, fetched_at timestamptz, changed_at timestamptz, "
            "removed_at timestamptz",
            "no unique index on url",
        ),
    ],
)
def test_a_table_of_another_shape_is_refused(server: Postgres, columns: str, words: str) -> None:
    """Before anything is written to it."""
    import psycopg

    with psycopg.connect(server.address, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS other")
        connection.execute(f"CREATE TABLE other ({columns})")
    sink = table(server, "other")
    with pytest.raises(SinkError, match=words):
        sink.apply([item_of(1, "na")], "")


def test_a_table_of_more_columns_will_do(server: Postgres) -> None:
    """One's own, with defaults; and a name with a schema before it."""
    import psycopg

    made = table(server, "public.wider")
    made.apply([item_of(1, "na")], "")
    made.close()
    with psycopg.connect(server.address, autocommit=True) as connection:
        connection.execute("ALTER TABLE wider ADD COLUMN seen int NOT NULL DEFAULT 7")
        sink = table(server, "wider")
        sink.apply([item_of(2, "nb", "a\0b")], "")
        rows = connection.execute("SELECT url, seen, text FROM wider ORDER BY url").fetchall()
    sink.close()

    assert [row[1:] for row in rows] == [(7, "words"), (7, "ab")]


def test_a_page_that_the_table_refuses_is_put_aside(server: Postgres) -> None:
    """By a rule of one's own; those beside it are stored."""
    import psycopg

    sink = table(server, "ruled")
    sink.apply([item_of(1, "na")], "")
    with psycopg.connect(server.address, autocommit=True) as connection:
        connection.execute("ALTER TABLE ruled ADD CHECK (text <> 'bad')")
    taken = sink.apply([item_of(2, "nb"), item_of(3, "nc", "bad"), item_of(4, "ra")], "")
    held = dict(sink.scan())
    sink.close()

    assert [one.verdict.value for one in taken] == ["ok", "reject", "ok"]
    assert "ruled_text_check" in taken[1].why
    assert held == {"http://a.test/b": 2}


def test_what_one_may_not_do_is_said(server: Postgres) -> None:
    """No such database, no right to write; and never the password."""
    import psycopg

    with psycopg.connect(server.address, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS guest")
        connection.execute("CREATE ROLE guest LOGIN")
    address = server.address.replace("tester@", "guest@")
    sink = PostgresSink(
        address, table="mine", keeps_removed=False, secret=lambda: b"s3cret", timeout_s=5.0
    )
    with pytest.raises(SinkError, match="permission denied") as failed:
        sink.apply([item_of(1, "na")], "")
    nowhere = PostgresSink(
        server.address.replace("/postgres", "/nowhere"), table="t", keeps_removed=False,
        secret=lambda: b"s3cret", timeout_s=5.0,
    )  # fmt: skip
    with pytest.raises(SinkError, match="nowhere") as lost:
        nowhere.apply([item_of(1, "na")], "")
    assert "s3cret" not in str(failed.value) + str(lost.value)


# -- files --


@pytest.mark.parametrize("ending", ["ndjson", "ndjson.zst"])
def test_a_file_is_whole_whatever_an_end_left_of_it(tmp_path: Path, ending: str) -> None:
    """Cut at every byte of its last part: it is mended, and nothing is there twice or missing."""
    path = tmp_path / f"c.{ending}"
    sink = LineFiles(path)
    sink.apply([item_of(1, "na"), item_of(2, "nb")], "")
    before = path.stat().st_size
    sink.apply([item_of(3, "nc"), item_of(4, "nd")], "")
    whole = path.read_bytes()
    for size in range(before, len(whole), 7 if ending == "ndjson" else 1):
        path.write_bytes(whole[:size])
        again = LineFiles(path)
        again.apply([item_of(seq, f"n{'_abcde'[seq]}") for seq in (2, 3, 4, 5)], "")
        assert _numbers(path) == [1, 2, 3, 4, 5], size


def _numbers(path: Path) -> list[int]:
    import pyarrow as pa

    text = path.read_bytes()
    if path.suffix == ".zst":
        with pa.input_stream(path, compression="zstd") as stream:
            text = bytes(stream.read())
    return [json.loads(line)["seq"] for line in text.splitlines()]


@pytest.mark.parametrize("name", ["{date}.ndjson", "{date}.ndjson.zst", "{seq}.parquet"])
def test_a_feed_that_was_set_back_is_written_too(tmp_path: Path, name: str) -> None:
    """Numbers come again after a restore; what is told under them is told by its version."""

    def sink() -> Sink:
        path = tmp_path / name
        return TableFiles(path, "text") if "seq" in name else LineFiles(path)

    def told(seq: int, path: str, version: int) -> Item:
        item = item_of(seq, f"n{path}")
        change = replace(item.change, version=version)
        return Item(change, item.content, record_of(change, "text", item.content))

    sink().apply([told(1, "a", 10), told(2, "b", 11)], "")
    sink().apply([told(3, "c", 12), told(4, "d", 13)], "")
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}
    restored = sink()
    again = [told(1, "a", 10), told(2, "b", 11), told(3, "x", 20), told(4, "a", 21)]
    verdicts = [one.verdict for one in restored.apply(again, "")]

    assert verdicts == [Verdict.STALE, Verdict.STALE, Verdict.OK, Verdict.OK]
    assert dict(sink().scan() or ()) == {
        f"http://a.test/{path}": version
        for path, version in {"a": 21, "b": 11, "c": 12, "d": 13, "x": 20}.items()
    }
    assert [one.verdict for one in sink().apply(again[2:], "")] == [Verdict.STALE] * 2


@pytest.mark.parametrize("name", ["c.ndjson", "c.ndjson.zst"])
def test_a_file_that_is_damaged_is_said_when_it_is_read(tmp_path: Path, name: str) -> None:
    """In its midst, where no end leaves anything."""
    path = tmp_path / name
    for seq in (1, 3, 5):
        LineFiles(path).apply([item_of(seq, "na"), item_of(seq + 1, "nb")], "")
    whole = path.read_bytes()
    path.write_bytes(whole[:20] + bytes(20) + whole[40:])
    with pytest.raises(SinkError, match="move it away"):
        list(LineFiles(path).scan() or ())


def test_a_file_of_something_else_is_left_alone(tmp_path: Path) -> None:
    """Not cut, and not added to."""
    path = tmp_path / "c.ndjson"
    path.write_text("my notes\n")
    with pytest.raises(SinkError, match="something else than changes"):
        LineFiles(path).apply([item_of(1, "na")], "")
    assert path.read_text() == "my notes\n"


# -- commands --


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("pass", "it ended"),
        ("import sys; sys.stdin.readline(); print('rubbish'); sys.stdin.read()", "column 1"),
        ("import sys; sys.stdin.readline(); print('7'); sys.stdin.read()", "no JSON object"),
        ("print('{}\\n' * 9, flush=True); import sys; sys.stdin.read()", "more answers than lines"),
        (
            'import sys; sys.stdin.readline(); print(\'{"status": "maybe"}\'); sys.stdin.read()',
            "'maybe' is none of",
        ),
        ("import sys; sys.stdin.read()", "no answer within 0.5 s"),
    ],
)
def test_a_command_that_fails_is_started_again(program: str, words: str) -> None:
    """Late, ended, or talking nonsense."""
    timeout_s = 0.5 if "no answer" in words else 60.0  # a busy machine starts nothing in half a s
    sink = CommandSink([sys.executable, "-u", "-c", program], timeout_s=timeout_s)
    for _ in range(2):
        with pytest.raises(SinkError, match=words):
            sink.apply([item_of(1, "na")], "")
    sink.close()


def test_a_command_that_is_not_there_is_said() -> None:
    """By its name."""
    with pytest.raises(SinkError, match="'no-such-program' cannot be started"):
        CommandSink(["no-such-program"], timeout_s=1.0).apply([item_of(1, "na")], "")
