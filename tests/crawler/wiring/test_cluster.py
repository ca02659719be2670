"""One process of several: what holds from one crawl of its shards to the next."""

import asyncio
import contextlib
import gzip
import platform
from pathlib import Path

import pytest
from tests.databases import Server, databases

from recrawl.crawler.database.membership import Membership
from recrawl.crawler.frontier.postgres import owned
from recrawl.crawler.frontier.postgres.owned import PostgresFrontier
from recrawl.crawler.index.postgres import PostgresIndex
from recrawl.crawler.ports import AdmissionLimits
from recrawl.crawler.runtime.agreement import ENDED_IN_ORDER
from recrawl.crawler.settings import load_settings
from recrawl.crawler.telemetry.counters import CountingSink
from recrawl.crawler.wiring import rules
from recrawl.crawler.wiring.archives import folder_of
from recrawl.crawler.wiring.cluster import open_cluster
from recrawl.crawler.wiring.rules import settings_mark
from recrawl.errors import DatabaseReadOnly
from recrawl.terms import Discovery, Document

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


def test_a_crawl_with_nothing_to_write_looks_for_a_server_that_is_written(
    databases: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where its own can only be read by now: it would wait there for as long as nothing is due."""
    config = tmp_path / "recrawl.toml"
    config.write_text(
        'seeds = ["http://127.0.0.1:9/"]\ncontact = "mailto:a@b.test"\n'
        f'state = "{databases.made(2).address}"\n[cluster]\nshards = 2\nlease = "1s"\n'
        '[politeness]\nallow_private = ["127.0.0.1"]\n'
    )

    def refuse(_: Membership) -> None:
        raise DatabaseReadOnly("it can only be read")

    async def main() -> None:
        async with (
            open_cluster(load_settings(config), events=CountingSink()) as cluster,
            cluster.shards(asyncio.Event()) as crawl,
            asyncio.timeout(30),
        ):
            assert crawl is not None
            assert not cluster.changed.is_set()
            monkeypatch.setattr(Membership, "renew", refuse)
            await cluster.changed.wait()

    asyncio.run(main())


def test_a_crawl_does_not_begin_anew_for_shards_that_it_began_with(
    databases: Server, tmp_path: Path
) -> None:
    """What was seen of free shards before this process took them is no reason."""
    config = tmp_path / "recrawl.toml"
    config.write_text(
        'seeds = ["http://h1.test/"]\ncontact = "mailto:a@b.test"\n'
        f'state = "{databases.database().address}"\n[cluster]\nshards = 2\n'
    )

    async def main() -> bool:
        async with (
            open_cluster(load_settings(config), events=CountingSink()) as cluster,
            cluster.shards(asyncio.Event()) as crawl,
        ):
            assert crawl is not None
            return cluster.changed.is_set()

    assert not asyncio.run(main())


def test_a_crawl_that_began_with_some_shards_begins_anew_until_it_has_all(
    databases: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And an index and a state that are whole are not taken to differ on the way."""
    config = tmp_path / "recrawl.toml"
    database = databases.database()
    config.write_text(
        f'seeds = ["http://h1.test/"]\ncontact = "mailto:a@b.test"\nstate = "{database.address}"\n'
        '[scope]\nhosts = ["*.test"]\n[cluster]\nshards = 8\n'
    )
    hosts = [f"http://h{number}.test" for number in range(12)]
    member = Membership(database, shards=8, settings_mark=settings_mark(load_settings(config)))
    member.join("http://h1.test/")
    member.take(8)
    frontier, index = PostgresFrontier(member), PostgresIndex(database, member)
    frontier.admit([Discovery(f"{host}/", host) for host in hosts], 1.0, AdmissionLimits())
    frontier.agree([(f"{host}/", b"s") for host in hosts], 2.0)
    for host in hosts:
        index.replace(Document(f"{host}/", "A title", "A text", 1.0, b"s"))
    index.commit()
    frontier.save_facts(ENDED_IN_ORDER)
    frontier.close()
    index.close()
    member.leave()
    member.close()
    monkeypatch.setattr(owned, "_AT_ONCE", 1)
    monkeypatch.setattr(rules, "reading_mark", lambda settings: lambda url: 0)  # as noted above

    async def main() -> tuple[list[int], list[str]]:
        stop, seen, mended = asyncio.Event(), list[int](), list[str]()
        async with open_cluster(load_settings(config), events=CountingSink()) as cluster:
            while not seen or seen[-1] < len(hosts):
                async with cluster.shards(stop) as crawl:
                    assert crawl is not None
                    seen.append(len(crawl.dispatcher.hosts()))
                    mended += crawl.mended
                    if seen[-1] < len(hosts):
                        await asyncio.wait_for(cluster.changed.wait(), 60.0)
        return seen, mended

    seen, mended = asyncio.run(main())
    assert 0 < seen[0] < len(hosts)
    assert len(seen) == 3
    assert not mended


@pytest.mark.parametrize("is_stopped", [True, False])
def test_the_next_owner_of_a_host_knows_what_it_repeats(
    databases: Server, tmp_path: Path, *, is_stopped: bool
) -> None:
    """Whether a process ends, or gives some of its shards to one that comes."""
    database = databases.database()
    config = tmp_path / "recrawl.toml"
    config.write_text(
        'seeds = ["http://h1.test/"]\ncontact = "mailto:a@b.test"\n'
        f'state = "{database.address}"\n[cluster]\nshards = 2\n'
    )
    told = [f"The story of {name} is told." for name in "abcdefghijkl"]
    pages = [
        Document(f"http://h1.test/{n}", "A", f"Home\nMenu\n{text}\nFoot\nEnd", 1.0, b"s")
        for n, text in enumerate(told)
    ]

    def left_out() -> str:
        with contextlib.closing(PostgresIndex(database)) as reader:
            return reader.own_text.parted(pages[0]).left_out

    async def main() -> tuple[str, str]:
        stop = asyncio.Event()
        settings = load_settings(config)
        async with open_cluster(settings, events=CountingSink()) as cluster:
            async with cluster.shards(stop) as crawl:
                assert crawl is not None
                for page in pages:
                    crawl.world.index.replace(page)
                crawl.world.index.commit()
                before = left_out()
            if not is_stopped:
                other = Membership(database, shards=2, settings_mark=settings_mark(settings))
                with contextlib.closing(other):
                    other.join("http://h1.test/")
                    async with cluster.shards(stop):
                        return before, left_out()
        return before, left_out()

    assert asyncio.run(main()) == ("", "Home\nMenu\nFoot\nEnd")


def test_what_a_killed_process_left_of_its_archive_is_mended_and_what_others_write_is_not(
    databases: Server, tmp_path: Path
) -> None:
    """Folders are called by machine and process; the database knows who has ended."""
    database = databases.database()
    ended, living, own = (Membership(database, shards=2) for _ in range(3))
    for member in (ended, living, own):
        member.join("http://a.test/")
        folder = tmp_path / f"{platform.node()}-{member.number}"
        folder.mkdir()
        (folder / "1.warc.gz.open").write_bytes(gzip.compress(b"a record") + b"the next, cut")
    ended.leave()

    assert folder_of(tmp_path, own) == folder
    found = {path.relative_to(tmp_path).as_posix() for path in tmp_path.glob("*/*")}
    prefix = f"{platform.node()}-"
    assert found == {
        f"{prefix}{ended.number}/1.warc.gz",
        f"{prefix}{living.number}/1.warc.gz.open",
        f"{prefix}{own.number}/1.warc.gz.open",
    }
    for member in (ended, living, own):
        member.close()
