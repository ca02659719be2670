"""Two processes whose hosts share a server: they ask it as one."""

import asyncio
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.databases import Server, databases
from tests.servers_of_names import NamedServer

from recrawl.crawler.database.membership import Standing
from recrawl.crawler.runtime.crawl import Crawl
from recrawl.crawler.settings import Settings, load_settings
from recrawl.crawler.telemetry.counters import CountingSink
from recrawl.crawler.wiring.cluster import Cluster, open_cluster
from recrawl.errors import DatabaseAway
from recrawl.terms import Database

__all__ = ["databases"]

DELAY_S = 0.05
NAMES = [f"u{number}.localhost" for number in range(16)]


def _settings(server: NamedServer, database: Database, folder: Path) -> Settings:
    config = folder / "recrawl.toml"
    seeds = ", ".join(f'"http://{name}:{server.port}/"' for name in NAMES)
    config.write_text(
        f'seeds = [{seeds}]\ncontact = "mailto:a@b.test"\nstate = "{database.address}"\n'
        'budget = "1000/s"\n[cluster]\nshards = 8\nlease = "1s"\n[fetch]\ntimeout = "1s"\n'
        '[politeness]\ndelay = "50ms"\nper_address = true\nallow_private = ["*.localhost"]\n'
        '[revisit]\nmin_interval = "500ms"\ninitial_interval = "1s"\nmax_interval = "2s"\n'
    )
    return load_settings(config)


class _Process:
    """One of several processes, on the same loop."""

    def __init__(self, settings: Settings) -> None:
        self.stop = asyncio.Event()
        self.counts = CountingSink()
        self.cluster: Cluster | None = None
        self.crawl: Crawl | None = None
        self.task = asyncio.create_task(self._run(settings))

    async def _run(self, settings: Settings) -> None:
        async with open_cluster(settings, events=self.counts) as self.cluster:
            while not self.stop.is_set():
                self.cluster.changed.clear()
                async with self.cluster.shards(self.stop) as self.crawl:
                    if self.crawl is None:
                        break
                    async with self.crawl.running():
                        await _first(self.cluster.changed, self.stop)

    @property
    def n_visits(self) -> int:
        return sum(self.counts.outcomes.values())

    async def visits(self, least: int) -> None:
        """Wait until it has made so many."""
        while self.n_visits < least:
            if self.task.done():
                self.task.result()
            await asyncio.sleep(0.02)

    async def end(self) -> None:
        self.stop.set()
        await self.task


async def _first(*events: asyncio.Event) -> None:
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for wait in waits:
        wait.cancel()


@pytest.mark.slow
def test_a_server_whose_hosts_two_processes_own_is_asked_as_one(
    databases: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By both in turns, while they come and go; each visits the hosts of its shards."""
    monkeypatch.setattr("recrawl.crawler.control.dispatching.ip_addresses._HOLD_S", 0.3)

    async def main() -> NamedServer:
        async with NamedServer().listening() as server:
            settings = _settings(server, databases.database(), tmp_path)
            first = _Process(settings)
            await first.visits(5)
            second = _Process(settings)
            await second.visits(10)
            before = first.n_visits
            await first.visits(before + 10)
            await second.visits(second.n_visits + 10)
            await first.end()
            while len(server.hosts) < len(NAMES):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
            await second.visits(second.n_visits + 10)
            await second.end()
            return server

    server = asyncio.run(main())
    assert server.most == 1
    assert server.least_s >= DELAY_S - 0.005
    assert set(server.hosts) == set(NAMES)


def _away() -> Standing:
    raise DatabaseAway("the network is down")


@pytest.mark.slow
def test_a_server_goes_to_the_other_process_when_its_owner_is_cut_off(
    databases: Server, tmp_path: Path
) -> None:
    """Once its lease has ended, and a time-out more; then its hosts are visited from there."""

    async def main() -> NamedServer:
        async with NamedServer().listening() as server:
            settings = _settings(server, databases.database(), tmp_path)
            first = _Process(settings)
            await first.visits(3)
            second = _Process(settings)
            await second.visits(3)
            assert first.cluster is not None
            assert first.crawl is not None
            lost = first.cluster._member.number
            had = {urlsplit(one.host).hostname for one in first.crawl.dispatcher.hosts()}
            first.cluster._member.renew = _away  # type: ignore[method-assign]
            assert second.cluster is not None
            ended = second.cluster._member.ended
            while not await second.cluster._on_member(ended, [lost]):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            server.hosts.clear()
            while not had & server.hosts.keys():  # noqa: ASYNC110
                await asyncio.sleep(0.02)
            await second.end()
            first.stop.set()
            await asyncio.gather(first.task, return_exceptions=True)
            return server

    server = asyncio.run(main())
    assert server.most == 1
    assert server.least_s >= DELAY_S - 0.005


@pytest.mark.slow
def test_plans_of_two_processes_share_a_server_that_hosts_of_both_lead_to(
    databases: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One alone counts on the whole of it, two on a whole together."""
    monkeypatch.setattr("recrawl.crawler.wiring.cluster._TELL_S", 0.1)

    def parts(*processes: _Process) -> list[float]:
        """Return what each process's plan counts on of its only server."""
        crawls = [process.crawl for process in processes]
        ips = [crawl.dispatcher.ips for crawl in crawls if crawl is not None]
        return [one.part for each in ips if each is not None for one in each.all()]

    async def main() -> tuple[list[float], list[float]]:
        async with NamedServer().listening() as server:
            settings = _settings(server, databases.database(), tmp_path)
            first = _Process(settings)
            await first.visits(5)
            alone = parts(first)
            second = _Process(settings)
            both: list[float] = []
            # Until the shards are parted, the one that has had them has most of it.
            while len(both) < 2 or min(both) <= 0.2 or not 0.99 < sum(both) < 1.01:
                await asyncio.sleep(0.02)
                both = parts(first, second)
            await second.end()
            await first.end()
            return alone, both

    alone, both = asyncio.run(main())

    assert alone == [1.0]
    assert sum(both) == pytest.approx(1.0, abs=0.01)
