"""Every sink through the suite of sinks, each over the real thing or its documented protocol."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.acceptance.servers import Exchange, LocalServer, serving
from tests.crawler.delivery.engine import Engine
from tests.crawler.delivery.engines import Meilisearch, ScriptedEngine, Solr, Typesense
from tests.postgres import Postgres, postgres

from recrawl.crawler.delivery.bulk import BulkSink
from recrawl.crawler.delivery.command import CommandSink
from recrawl.crawler.delivery.engines import MeilisearchSink, SolrSink, TypesenseSink
from recrawl.crawler.delivery.files import LineFiles, TableFiles
from recrawl.crawler.delivery.postgresql import PostgresSink
from recrawl.crawler.delivery.webhook import WebhookSink
from recrawl.crawler.ports import Sink
from recrawl.errors import SinkError
from recrawl.testing.conformance import SinkSuite
from recrawl.testing.conformance.sinks import replayed


class TestLines(SinkSuite):
    name = "{date}.ndjson"

    def make(self, directory: Path) -> Sink:
        return LineFiles(directory / "changes" / self.name)

    def text(self, path: Path) -> str:
        return path.read_text()

    def held(self, directory: Path) -> dict[str, int]:
        paths = sorted((directory / "changes").glob("2*"))
        lines = [line for path in paths for line in self.text(path).split("\n")[:-1]]
        assert len({json.loads(line)["seq"] for line in lines}) == len(lines), "written twice"
        return replayed([json.loads(line) for line in lines])

    def away(self, directory: Path, *, is_away: bool) -> None:
        folder, aside = directory / "changes", directory / "aside"
        if is_away:
            folder.rename(aside)
            folder.write_text("no folder")
        else:
            folder.unlink()
            aside.rename(folder)


class TestCompressedLines(TestLines):
    name = "{date}.ndjson.zst"

    def text(self, path: Path) -> str:
        with pa.input_stream(path, compression="zstd") as stream:  # as others would
            return bytes(stream.read()).decode()


class TestTables(SinkSuite):
    def make(self, directory: Path) -> Sink:
        return TableFiles(directory / "changes" / "{date}-{seq}.parquet", "text")

    def held(self, directory: Path) -> dict[str, int]:
        rows: list[dict[str, object]] = []
        for path in sorted((directory / "changes").glob("*.parquet")):
            rows += pq.read_table(path).to_pylist()
        assert len({row["seq"] for row in rows}) == len(rows), "written twice"
        return replayed(rows)

    away = TestLines.away


FOLLOWER = """
import json, pathlib, sys
path = pathlib.Path(sys.argv[1])
held = json.loads(path.read_text()) if path.exists() else {}
for line in sys.stdin:
    change = json.loads(line)
    name = change["url"].rpartition("/")[2]
    old = held.get(name, [0, False])[0]
    if change["version"] > old:
        held[name] = [change["version"], change["kind"] in ("removed", "moved")]
        path.write_text(json.dumps(held))
    print(json.dumps({} if change["version"] > old else {"status": "stale"}), flush=True)
"""


class TestCommand(SinkSuite):
    def make(self, directory: Path) -> Sink:
        (directory / "follow.py").write_text(FOLLOWER)
        command = [sys.executable, str(directory / "follow.py"), str(directory / "held.json")]
        return CommandSink(command, timeout_s=20.0)

    def held(self, directory: Path) -> dict[str, int]:
        held = json.loads((directory / "held.json").read_text())
        return {name: version for name, (version, gone) in held.items() if not gone}

    def away(self, directory: Path, *, is_away: bool) -> None:
        held, aside = directory / "held.json", directory / "aside.json"
        if is_away:
            held.rename(aside)
            held.mkdir()
        else:
            held.rmdir()
            aside.rename(held)


class Receiver:
    """What a receiver of webhooks is advised to do: forget ids it knows, and look at versions."""

    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []
        self.ids: set[str] = set()
        self.versions: dict[str, int] = {}
        self.is_away = False

    async def __call__(self, exchange: Exchange) -> None:
        if self.is_away:
            exchange.reset()
            return
        if exchange.headers["webhook-id"] not in self.ids:
            for record in json.loads(exchange.body)["data"]:
                if record["version"] > self.versions.get(record["url"], 0):
                    self.versions[record["url"]] = record["version"]
                    self.records.append(record)
        self.ids.add(exchange.headers["webhook-id"])
        await exchange.reply(status=204)


class TestWebhook(SinkSuite):
    @pytest.fixture(autouse=True)
    def receiver(self) -> Iterator[None]:
        self.behind = Receiver()
        with serving(self.behind) as server:
            self.server = server
            yield

    def make(self, directory: Path) -> Sink:
        url = f"http://127.0.0.1:{self.server.port}/hook?x=1"
        return WebhookSink(url, name="hook", secret=lambda: b"k" * 24, timeout_s=10.0)

    def held(self, directory: Path) -> dict[str, int]:
        return replayed(self.behind.records)

    def away(self, directory: Path, *, is_away: bool) -> None:
        self.behind.is_away = is_away


class TestBulk(SinkSuite):
    @pytest.fixture(autouse=True)
    def engine(self) -> Iterator[None]:
        self.behind = Engine()
        with serving(self.behind) as server:
            self.server: LocalServer = server
            yield

    def make(self, directory: Path) -> Sink:
        url = f"http://127.0.0.1:{self.server.port}/docs"
        return BulkSink(url, secret=None, timeout_s=10.0)

    def held(self, directory: Path) -> dict[str, int]:
        return {key.rpartition("/")[2]: held[0] for key, held in self.behind.documents.items()}

    def away(self, directory: Path, *, is_away: bool) -> None:
        self.behind.is_away = is_away


class TestMeilisearch(SinkSuite):
    engine: type[ScriptedEngine] = Meilisearch
    kind: type[MeilisearchSink | SolrSink | TypesenseSink] = MeilisearchSink
    path = "docs"

    @pytest.fixture(autouse=True)
    def running(self) -> Iterator[None]:
        self.behind = self.engine()
        with serving(self.behind) as server:
            self.server: LocalServer = server
            yield

    def make(self, directory: Path) -> Sink:
        url = f"http://127.0.0.1:{self.server.port}/{self.path}"
        return self.kind(url, secret=None, timeout_s=10.0)

    def held(self, directory: Path) -> dict[str, int]:
        return self.behind.versions()

    def away(self, directory: Path, *, is_away: bool) -> None:
        self.behind.is_away = is_away


class TestTypesense(TestMeilisearch):
    engine, kind = Typesense, TypesenseSink


class TestSolr(TestMeilisearch):
    engine, kind, path = Solr, SolrSink, "solr/docs"


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    """The real server, once for all."""
    with postgres() as running:
        yield running


class TestPostgres(SinkSuite):
    keeps_removed = False
    importance = False

    @pytest.fixture(autouse=True)
    def table(self, server: Postgres) -> Iterator[None]:
        import psycopg

        self.server = server
        yield
        with psycopg.connect(server.address, autocommit=True) as connection:
            connection.execute("DROP TABLE IF EXISTS documents")

    def make(self, directory: Path) -> Sink:
        return PostgresSink(
            self.server.address, table="documents", keeps_removed=self.keeps_removed,
            importance=self.importance, secret=None, timeout_s=10.0,
        )  # fmt: skip

    def held(self, directory: Path) -> dict[str, int]:
        import psycopg

        with psycopg.connect(self.server.address) as connection:
            rows = connection.execute(
                "SELECT url, version, removed_at IS NULL, text IS NULL FROM documents"
            ).fetchall()
        assert all(is_live or (self.keeps_removed and no_text) for *_, is_live, no_text in rows)
        return {url.rpartition("/")[2]: version for url, version, is_live, _ in rows if is_live}

    def away(self, directory: Path, *, is_away: bool) -> None:
        if is_away:
            self.server.stop("immediate")
        else:
            self.server.start()


class TestPostgresThatMarks(TestPostgres):
    keeps_removed = True


class TestPostgresWithImportance(TestPostgres):
    importance = True

    def test_a_row_says_what_its_page_is_worth(self, sink: Sink, tmp_path: Path) -> None:
        """As the latest change of the page does, with all else that it says."""
        import psycopg

        self._apply(sink, 1, "na", "nb")
        self._apply(sink, 3, "ib")
        with psycopg.connect(self.server.address) as connection:
            query = "SELECT url, version, importance, text FROM documents ORDER BY url"
            rows = connection.execute(query).fetchall()

        assert [(url[-1], *rest) for url, *rest in rows] == [
            ("a", 1, None, "words"), ("b", 3, 2.5, "words"),
        ]  # fmt: skip

    def test_a_table_from_before_needs_the_column(self, sink: Sink, tmp_path: Path) -> None:
        """It is said how to make it; then all goes on."""
        import psycopg

        before = PostgresSink(
            self.server.address, table="documents", keeps_removed=False, secret=None, timeout_s=10.0
        )
        self._apply(before, 1, "na")
        before.close()
        with pytest.raises(SinkError, match="ALTER TABLE documents ADD COLUMN importance") as said:
            self._apply(sink, 2, "ia")
        wanted = str(said.value).partition("ALTER")[2].partition(" makes")[0]
        with psycopg.connect(self.server.address, autocommit=True) as connection:
            connection.execute(f"ALTER{wanted}".encode())
        self._apply(sink, 2, "ia")

        assert self.held(tmp_path) == {"a": 2}
