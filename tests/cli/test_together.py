"""What a process that shares a crawl says of a database in trouble, and how often it tries it."""

import asyncio
import contextlib
import io
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.databases import Server, databases

from recrawl.cli.crawler import together
from recrawl.cli.crawler.attending import Ears
from recrawl.crawler.database.membership import Membership
from recrawl.crawler.database.shards import shard_of
from recrawl.crawler.settings import load_settings
from recrawl.crawler.telemetry.counters import CountingSink
from recrawl.crawler.telemetry.lines import TextLinesSink
from recrawl.crawler.wiring import cluster
from recrawl.crawler.wiring.rules import settings_mark
from recrawl.errors import DatabaseAway, DatabaseReadOnly

__all__ = ["databases"]

EARS = Ears(None, "text", "info", None)
_FULL = DatabaseAway("db.test: too many connections")
_READ_ONLY = DatabaseReadOnly("db.test can only be read")
_WITHIN = ExceptionGroup("of parts", [ExceptionGroup("of one of them", [_READ_ONLY])])


def test_a_process_without_a_host_says_that_others_have_them(
    databases: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A site of one host is one process's, whichever number of them there is."""
    config = tmp_path / "recrawl.toml"
    database, seed = databases.database(), "http://127.0.0.1:9/"
    config.write_text(
        f'seeds = ["{seed}"]\ncontact = "mailto:a@b.test"\nstate = "{database.address}"\n'
        "[cluster]\nshards = 2\n"
    )
    settings = load_settings(config)
    other = Membership(database, shards=2, settings_mark=settings_mark(settings))
    other.join(seed)
    other.take(2)
    other.release([1 - shard_of("http://127.0.0.1:9", 2)])
    member = cluster.Joining(settings)()
    asyncio.run(
        together.run_together(
            settings, limit_s=0.5, once=False, quiet=False, ears=EARS, watch=None, member=member
        )
    )
    other.close()

    assert "are other processes'" in capsys.readouterr().err


def test_trouble_is_said_once_and_tried_again_after_pauses_that_grow(
    databases: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Also where the process may join, and only its crawl finds no place; in its log, if quiet."""
    config = tmp_path / "recrawl.toml"
    place = databases.database().address
    config.write_text(
        f'seeds = ["http://127.0.0.1:9/"]\ncontact = "mailto:a@b.test"\nstate = "{place}"\n'
    )
    settings = load_settings(config)
    troubles: list[Exception] = [_FULL, _FULL, _FULL, _READ_ONLY, _WITHIN]
    pauses = list[float]()

    @contextlib.asynccontextmanager
    async def shards(*_: object) -> AsyncIterator[None]:
        if troubles:
            raise troubles.pop(0)
        yield None

    async def pause(seconds: float, _: asyncio.Event) -> None:
        pauses.append(seconds)

    monkeypatch.setattr(cluster.Cluster, "shards", shards)
    monkeypatch.setattr(cluster, "_pause", pause)
    member = cluster.Joining(settings)()
    asyncio.run(
        together.run_together(
            settings, limit_s=None, once=False, quiet=False, ears=EARS, watch=None, member=member
        )
    )

    said = capsys.readouterr().err.splitlines()
    assert [line.partition(";")[0] for line in said] == [f"Note: {_FULL}", f"Note: {_READ_ONLY}"]
    assert pauses == [1.0, 2.0, 4.0, 8.0, 16.0]

    troubles, log = [_FULL], io.StringIO()
    counts = CountingSink(TextLinesSink(log, lambda: 0.0, "warning"))
    monkeypatch.setattr(together, "CountingSink", lambda: counts)
    member = cluster.Joining(settings)()
    asyncio.run(
        together.run_together(
            settings, limit_s=None, once=False, quiet=True, ears=EARS, watch=None, member=member
        )
    )
    assert log.getvalue() == f"1970-01-01T00:00:00Z warning state-away said='{_FULL}'\n"
    assert capsys.readouterr().err == ""
