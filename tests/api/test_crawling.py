"""A crawl inside another program, against a real server."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.acceptance.servers import Exchange, serving
from tests.databases import databases

import recrawl
from recrawl.crawler.runtime.clock import WallClock
from recrawl.terms import Database

__all__ = ["databases"]


async def site(exchange: Exchange) -> None:
    """Two pages."""
    pages = {
        "/": "<title>Home</title><main><a href='/tasks'>tasks</a> welcome everybody</main>",
        "/tasks": "<title>Tasks</title><main>a task group waits for all of its tasks</main>",
    }
    body = pages.get(exchange.path)
    await exchange.reply(body or "", status=200 if body else 404)


class Heard(recrawl.EventSink):
    """Notes the addresses of visits."""

    def __init__(self) -> None:
        self.urls: list[str] = []

    def emit(self, event: str, fields: Mapping[str, object]) -> None:
        if event == "visit":
            self.urls.append(str(fields["url"]))


class Weekly:
    """Visits each page a week after its last visit, and remembers how often it did."""

    name = "weekly"

    def after_visit(self, visit: recrawl.PageVisit) -> recrawl.NextVisit:
        times = int.from_bytes(visit.memory) + 1
        return recrawl.NextVisit(
            visit.at_s + 604_800.0, f"a week after visit {times}", memory=times.to_bytes(4)
        )

    def replan(self, question: recrawl.Replan) -> None:
        return None


@pytest.fixture(params=["folder", pytest.param("database", marks=pytest.mark.slow)])
def state(request: pytest.FixtureRequest, tmp_path: Path) -> Path | Database:
    """Where a crawl keeps what it knows."""
    if request.param == "folder":
        return tmp_path / "state"
    database: Database = request.getfixturevalue("databases").database()
    return database


def settings_for(port: int, state: Path | Database) -> recrawl.Settings:
    return recrawl.Settings(
        seeds=[f"http://127.0.0.1:{port}/"],
        contact="me@my.domain",
        state=state,
        allow_private=("127.0.0.1",),
        delay_s=0.0,
        budget_per_s=100.0,
        commit_s=0.05,
    )


def test_crawl_search_visit_and_read(state: Path | Database) -> None:
    """All that the front door promises, in one program."""
    heard = Heard()

    async def program(settings: recrawl.Settings) -> None:
        home = settings.seeds[0]
        async with recrawl.open_crawl(settings, revisit=Weekly(), events=heard) as crawl:
            await crawl.run(once=True)
            assert [hit.title for hit in crawl.search("task group")] == ["Tasks"]
            with pytest.raises(recrawl.StateError, match="does not run"):
                await crawl.visit([home])
            with pytest.raises(recrawl.InputError, match="does not belong to this crawl"):
                await crawl.visit(["http://other.test/"], wait=False)
            running = asyncio.create_task(crawl.run())
            with pytest.raises(recrawl.InputError, match="urls: None is no http or https address"):
                await crawl.visit([None])  # type: ignore[list-item]
            (answer,) = await crawl.visit(home, timeout_s=30.0)
            with pytest.raises(recrawl.StateError, match="runs already"):
                await crawl.run()
            assert answer.outcome == "unchanged"
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            await crawl.run(for_s=0.1)
            assert crawl.status()["pages"]["indexed"] == 2

    with serving(site) as server:
        settings = settings_for(server.port, state)
        asyncio.run(program(settings))
    assert heard.urls.count(settings.seeds[0]) == 2

    with recrawl.open_state(settings.state) as held:
        assert held.pages().num_rows == 3  # the sitemap that is not there is one
        assert held.visits().num_rows >= 3
        assert held.explain(settings.seeds[0])["due_why"] == "a week after visit 2"
        assert [hit.title for hit in held.search("task group")] == ["Tasks"]
        with pytest.raises(recrawl.InputError, match="is not known to this crawl"):
            held.explain("http://other.test/")
        asked: list[tuple[Any, dict[str, Any]]]
        asked = [(None, {}), ("task", {"limit": -1}), ("a", {"limit": 1.5}), ("a", {"offset": -1})]
        for query, given in asked:
            with pytest.raises(recrawl.InputError, match=rf"^{next(iter(given), 'query')}: "):
                held.search(query, **given)
    for look in (held.pages, held.visits, held.status, lambda: held.search("task")):
        with pytest.raises(recrawl.StateError, match="this state is closed"):
            look()
    held.close()  # once more does no harm


def test_a_state_that_is_not_there(tmp_path: Path) -> None:
    """One message, and nothing is made."""
    with pytest.raises(recrawl.StateError):
        recrawl.open_state(tmp_path / "nowhere")

    assert not (tmp_path / "nowhere").exists()


def test_an_index_of_ones_own(tmp_path: Path) -> None:
    """Any object that keeps the promises of the port; the folder of recrawl's own stays away."""
    from recrawl.crawler.index.memory import MemoryIndex

    async def program(settings: recrawl.Settings) -> int:
        index = MemoryIndex()
        async with recrawl.open_crawl(settings, index=index) as crawl:
            await crawl.run(once=True)
        return index.n_documents()

    with serving(site) as server:
        settings = replace(settings_for(server.port, tmp_path / "state"), sitemaps=False)
        assert asyncio.run(program(settings)) == 2
    assert not (tmp_path / "state" / "index").exists()


def test_changes_are_delivered_meanwhile(tmp_path: Path) -> None:
    """As by `recrawl run`; where another process delivers, that is said and left to it."""
    from recrawl.crawler.settings.values import SinkSettings
    from recrawl.crawler.wiring.deliveries import delivering

    said: list[str] = []

    class Told(recrawl.EventSink):
        def emit(self, event: str, fields: Mapping[str, object]) -> None:
            if event == "delivery":
                said.append(str(fields["said"]))

    async def program(settings: recrawl.Settings) -> None:
        async with recrawl.open_crawl(settings, events=Told()) as crawl:
            await crawl.run(once=True)
            await asyncio.sleep(0)

    told = tmp_path / "changes.ndjson"
    sinks = (SinkSettings(name="file", kind="lines", to=str(told)),)
    with serving(site) as server:
        settings = replace(settings_for(server.port, tmp_path / "state"), deliver=sinks)
        asyncio.run(program(settings))
        lines = told.read_text().splitlines()
        told.unlink()
        with delivering(tmp_path / "state", at_once=True):
            asyncio.run(program(settings))

    assert sorted(json.loads(line)["title"] for line in lines) == ["Home", "Tasks"]
    assert not told.exists()
    assert ["one process does at a time" in words for words in said] == [True]


@pytest.mark.parametrize("cancelled", [True, False])
def test_what_runs_is_ended_in_order_when_the_crawl_is_closed(
    state: Path | Database, *, cancelled: bool
) -> None:
    """Cancelled a moment ago or not at all: nothing is cut off from its state."""

    async def program(settings: recrawl.Settings) -> None:
        async with recrawl.open_crawl(settings) as crawl:
            running = asyncio.create_task(crawl.run())
            await crawl.visit([f"{settings.seeds[0]}tasks"])
            if cancelled:
                running.cancel()
        assert not crawl.is_running
        (ended,) = await asyncio.gather(running, return_exceptions=True)
        assert isinstance(ended, asyncio.CancelledError) if cancelled else ended is None
        for call in (crawl.status, lambda: crawl.search("task")):
            with pytest.raises(recrawl.StateError, match="is closed"):
                call()
        with pytest.raises(recrawl.StateError, match="is closed"):
            await crawl.run()

    with serving(site) as server:
        asyncio.run(program(settings_for(server.port, state)))


class Begun(recrawl.EventSink):
    """Tells when a crawl says its first word."""

    def __init__(self) -> None:
        self.event = asyncio.Event()

    def emit(self, event: str, fields: Mapping[str, object]) -> None:
        self.event.set()


def test_nobody_waits_for_a_crawl_that_has_ended(state: Path | Database) -> None:
    """Its end answers who waits for a visit, with what is known."""

    async def program(settings: recrawl.Settings) -> None:
        begun = Begun()
        async with recrawl.open_crawl(replace(settings, delay_s=900.0), events=begun) as crawl:
            running = asyncio.create_task(crawl.run())
            waiting = asyncio.create_task(crawl.visit([f"{settings.seeds[0]}tasks"]))
            await begun.event.wait()
            running.cancel()
            async with asyncio.timeout(10.0):
                answers = await waiting
            assert [one.outcome for one in answers] == [None]

    with serving(site) as server:
        asyncio.run(program(settings_for(server.port, state)))


class NoRemove:
    """An index that lacks what is needed when a page goes."""

    def signature(self, url: str) -> None:
        return None


class Sparse:
    """An index of its own that lacks only what may be inherited."""

    replace = remove = commit = signature = search = urls = print


class Least(Sparse, recrawl.PageIndex):  # type: ignore[misc]
    """The same, that inherits it."""


def test_an_index_needs_six_methods() -> None:
    """With the rest as it is inherited every new signature is a change; nothing else is told."""
    least, page = Least(), recrawl.Document("http://a.test/", "A", "text", 0.0, b"s")

    assert (least.copy(page.url), least.same(page)) == (None, False)
    assert (least.difference(page), least.edit(page)) == (None, None)
    assert (least.misread("a"), least.suggest("a")) == ([], None)
    with pytest.raises(TypeError, match="abstract"):
        type("Lacking", (recrawl.PageIndex,), {"replace": print})()


def test_parts_are_checked_before_the_crawl_begins(tmp_path: Path) -> None:
    """A class in the place of an object, and methods that would be missed in days only."""

    async def opened(**parts: object) -> None:
        async with recrawl.open_crawl(settings_for(1, tmp_path), **parts):  # type: ignore[arg-type]
            raise AssertionError

    for parts, said in (
        ({"revisit": Weekly}, "revisit: Weekly is a class; give an object"),
        ({"index": NoRemove()}, "index: NoRemove has no .*remove"),
        (
            {"index": Sparse()},
            "index: Sparse has no close, .*inherits from recrawl.PageIndex",
        ),
        ({"events": print}, "events: builtin_function_or_method has no emit"),
    ):
        with pytest.raises(recrawl.InputError, match=said):
            asyncio.run(opened(**parts))
    assert not list(tmp_path.iterdir())


def test_a_database_goes_with_adapters_of_its_own() -> None:
    """It is said before the database is asked, which is not there."""
    database = Database("postgresql://nobody@127.0.0.1:1/none")

    async def opened(**parts: object) -> None:
        async with recrawl.open_crawl(settings_for(1, database), **parts):  # type: ignore[arg-type]
            raise AssertionError

    for name, part in (("clock", WallClock()), ("index", Least())):
        parts: dict[str, object] = {name: part}
        with pytest.raises(recrawl.InputError, match="is a database, into which"):
            asyncio.run(opened(**parts))
    with pytest.raises(recrawl.StateError, match="cannot be reached"):
        asyncio.run(opened())


def test_an_answer_that_is_none_is_the_fault_of_its_policy() -> None:
    """It was said that the state is damaged."""
    with pytest.raises(recrawl.RecrawlError, match="due_s must be an instant, got nan"):
        recrawl.NextVisit(float("nan"), "never")
    for due_s in ("tomorrow", None, 10**400):
        with pytest.raises(recrawl.RecrawlError, match="due_s must be an instant, got"):
            recrawl.NextVisit(due_s, "never")  # type: ignore[arg-type]
    with pytest.raises(recrawl.RecrawlError, match="interval_s must be a time, or None, got '1h'"):
        recrawl.NextVisit(0.0, "now", interval_s="1h")  # type: ignore[arg-type]
    for why in (None, "\ud800"):
        with pytest.raises(recrawl.RecrawlError, match="why must be a text"):
            recrawl.NextVisit(0.0, why)  # type: ignore[arg-type]
    seven: Any = np.int64(7)
    assert type(recrawl.NextVisit(seven, "numbers of numpy are as good").due_s) is float
    with pytest.raises(recrawl.RecrawlError, match="memory must be bytes"):
        recrawl.NextVisit(0.0, "now", memory="text")  # type: ignore[arg-type]
    with pytest.raises(recrawl.RecrawlError, match="memory must be 65,536 bytes at most"):
        recrawl.NextVisit(0.0, "now", memory=bytes(65_537))
    assert recrawl.NextVisit(0.0, "now", memory=bytes(65_536)).memory == bytes(65_536)


class Wrong(Weekly):
    """Answers what its fields say."""

    name = "wrong"

    def __init__(self, due: Any = None, plan: Any = None) -> None:
        self.due, self.plan = due, plan

    def after_visit(self, visit: recrawl.PageVisit) -> Any:
        return self.due or super().after_visit(visit)

    def replan(self, question: recrawl.Replan) -> Any:
        return self.plan


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (Wrong(due=7.0), "wrong: after_visit must return a NextVisit, got 7.0"),
        (Wrong(plan=[7.0]), r"wrong: replan must return a Schedule or None, got \[7.0\]"),
        (
            Wrong(plan=recrawl.Schedule(np.ones(1), np.ones(1), 0.0, 0.0, 0)),
            r"wrong: crawl_rates of a schedule must be an array of shape \(2,\)",
        ),
    ],
)
def test_a_policy_that_answers_something_else_is_named(
    tmp_path: Path, policy: Wrong, said: str
) -> None:
    """In a crawl as in a replay: it was said that an object has no attribute."""

    async def program(settings: recrawl.Settings) -> None:
        async with recrawl.open_crawl(settings, revisit=policy) as crawl:
            await crawl.run(once=True)

    with serving(site) as server, pytest.raises(ExceptionGroup) as raised:
        asyncio.run(program(settings_for(server.port, tmp_path / "state")))
    assert raised.group_contains(recrawl.RecrawlError, match=said)

    days = [86_400.0 * day for day in range(1, 61)]
    changes = {"url": ["/a"] * 60 + ["/b"], "changed_at": [*days, 86_400.0]}
    with pytest.raises(recrawl.RecrawlError, match=said):
        recrawl.backtest(changes, budgets=["2x"], policies=[policy], resamples=20)


FORKED = """
import asyncio, os, sys, recrawl

async def program():
    settings = recrawl.Settings(["http://a.test/"], "me@my.domain", state=sys.argv[1])
    async with recrawl.open_crawl(settings) as crawl:
        if not os.fork():
            try:
                crawl.search("task")
            except recrawl.StateError as error:
                print(error, flush=True)
            os._exit(0)
        os.wait()

asyncio.run(program())
"""


def test_a_fork_is_told_that_the_crawl_is_not_its_own(tmp_path: Path) -> None:
    """Its threads are not there: a search waited for them for ever."""
    command = [sys.executable, "-W", "ignore", "-c", FORKED, str(tmp_path / "state")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert "was opened by another process" in ended.stdout
