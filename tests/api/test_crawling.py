"""A crawl inside another program, against a real server."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from tests.acceptance.servers import Exchange, serving

import recrawl


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


def settings_for(port: int, state: Path) -> recrawl.Settings:
    return recrawl.Settings(
        seeds=[f"http://127.0.0.1:{port}/"],
        contact="me@my.domain",
        state=state,
        allow_private=("127.0.0.1",),
        delay_s=0.0,
        budget_per_s=100.0,
        commit_s=0.05,
    )


def test_crawl_search_visit_and_read(tmp_path: Path) -> None:
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
            (answer,) = await crawl.visit([home], timeout_s=30.0)
            with pytest.raises(recrawl.StateError, match="runs already"):
                await crawl.run()
            assert answer.outcome == "unchanged"
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            await crawl.run(for_s=0.1)
            assert crawl.status()["pages"]["indexed"] == 2

    with serving(site) as server:
        settings = settings_for(server.port, tmp_path / "state")
        asyncio.run(program(settings))
    assert heard.urls.count(settings.seeds[0]) == 2

    with recrawl.open_state(settings.state) as state:
        assert state.pages().num_rows == 3  # the sitemap that is not there is one
        assert state.visits().num_rows >= 3
        assert state.explain(settings.seeds[0])["due_why"] == "a week after visit 2"
        assert [hit.title for hit in state.search("task group")] == ["Tasks"]
        with pytest.raises(recrawl.InputError, match="is not known to this crawl"):
            state.explain("http://other.test/")


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
