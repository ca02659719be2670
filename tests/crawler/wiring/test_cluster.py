"""One process of several: what holds from one crawl of its shards to the next."""

import asyncio
from pathlib import Path

import pytest
from tests.databases import Server, databases

from recrawl.crawler.database.membership import Membership
from recrawl.crawler.settings import load_settings
from recrawl.crawler.telemetry.counters import CountingSink
from recrawl.crawler.wiring.cluster import open_cluster

__all__ = ["databases"]


def test_a_host_rests_from_one_crawl_to_the_next_however_late_their_clocks_were_set(
    databases: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first one's clock is a minute behind, as the answer of the database took so long."""
    config = tmp_path / "recrawl.toml"
    place = databases.database().address
    config.write_text(
        f'seeds = ["http://127.0.0.1:9/"]\ncontact = "mailto:a@b.test"\nstate = "{place}"\n'
        '[cluster]\nshards = 2\n[politeness]\ndelay = "20s"\nallow_private = ["127.0.0.1"]\n'
    )
    told, behind_s = Membership.now_s, [60.0, 0.0]
    monkeypatch.setattr(Membership, "now_s", lambda member: told(member) - behind_s.pop(0))

    async def main() -> float:
        stop = asyncio.Event()
        async with open_cluster(load_settings(config), events=CountingSink()) as cluster:
            async with cluster.shards(stop) as first:
                assert first is not None
            async with cluster.shards(stop) as second:
                assert second is not None
                (host,) = second.dispatcher.hosts()
                return host.politeness.ready_s - second.now_s

    assert 15.0 < asyncio.run(main()) <= 20.0
