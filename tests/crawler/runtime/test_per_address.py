"""Hosts of one IP address are asked as one: the whole engine, in virtual time and over sockets."""

import asyncio
import itertools
import socket
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult
from tests.servers_of_names import NamedServer

from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.control.dispatching.politeness import PolitenessRules
from recrawl.crawler.control.dispatching.retry import Backoff
from recrawl.crawler.control.dispatching.tasks import Resolve
from recrawl.crawler.fetch.http import HttpFetcher
from recrawl.crawler.fetch.names import OneAddress
from recrawl.crawler.frontier.sqlite import SqliteFrontier
from recrawl.crawler.runtime.crawl import Crawl, CrawlPlan
from recrawl.crawler.runtime.name_reader import NameReader
from recrawl.crawler.settings import Settings
from recrawl.crawler.telemetry.counters import CountingSink
from recrawl.crawler.wiring.crawls import open_parts
from recrawl.errors import FetchError, InvalidSettings
from recrawl.terms import FetchResponse
from recrawl.testing import ScriptedFetcher, Setup, VirtualCrawl, run_virtually, virtual_crawl

SERVER, OTHER = "192.0.2.1", "192.0.2.2"
RULES = PolitenessRules(delay_s=1.0, backoff=Backoff(jitter=0.0), per_address=True)
HOSTS = [f"http://u{number}.test" for number in range(12)]


def crawl(seconds: float, script: object, **options: object) -> VirtualCrawl:
    """Crawl hosts that the script puts somewhere."""

    async def main() -> VirtualCrawl:
        setup = Setup(seeds=[f"{host}/" for host in HOSTS], politeness=RULES)
        virtual = virtual_crawl(setup, **options)  # type: ignore[arg-type]
        for host in HOSTS:
            virtual.web.ips[host] = SERVER
            virtual.web.page(f"{host}/", "home", "/1", "/2")
            virtual.web.page(f"{host}/1", "one")
            virtual.web.page(f"{host}/2", "two")
        script(virtual.web)  # type: ignore[operator]
        await virtual.run_for(seconds)
        return virtual

    return run_virtually(main())


def gaps(virtual: VirtualCrawl, hosts: list[str]) -> list[float]:
    """Return the times between the starts of requests to hosts."""
    times = [one.at_s for one in virtual.web.requests if one.url.rpartition("/")[0] in hosts]
    return [later - earlier for earlier, later in itertools.pairwise(times)]


def test_hosts_of_one_server_are_asked_one_after_the_other_from_their_first_request() -> None:
    """A tenth of a second for each answer and a second of rest; others are not held up."""

    def script(web: ScriptedFetcher) -> None:
        for host in HOSTS[8:]:
            web.ips[host] = OTHER

    virtual = crawl(100.0, script)

    for hosts in (HOSTS[:8], HOSTS[8:]):
        assert min(gaps(virtual, hosts)) >= 1.1 - 1e-6
    assert len(list(virtual.index.urls())) == 3 * len(HOSTS)
    kept = {record.host: record.ip_address for record in virtual.frontier.hosts()}
    assert kept == dict.fromkeys(HOSTS[:8], SERVER) | dict.fromkeys(HOSTS[8:], OTHER)


def test_a_plan_promises_no_more_visits_than_their_server_allows() -> None:
    """One in a second for all hosts together; each for itself they would have one in a second."""

    async def main() -> VirtualCrawl:
        revisit = RevisitRules(min_interval_s=5.0, initial_interval_s=600.0)
        setup = Setup(seeds=[f"{host}/" for host in HOSTS], politeness=RULES, revisit=revisit)
        virtual = virtual_crawl(setup)
        for host in HOSTS:
            virtual.web.ips[host] = SERVER
            virtual.web.page(f"{host}/", "home", "/1", "/2")
            virtual.web.page(f"{host}/1", "one")
            virtual.web.page(f"{host}/2", "two")
        await virtual.run_for(1_500.0)
        return virtual

    virtual = run_virtually(main())
    pages = virtual.frontier.planned_pages()

    assert virtual.web.resolved.count(HOSTS[0]) == 5, "a name is looked up every five minutes"
    assert len(pages.page_ids) == 3 * len(HOSTS)
    assert 0.8 < pages.crawl_rates_per_s.sum() < 1.05


def test_a_refusal_of_one_host_is_heard_for_all_and_the_errors_of_another_are_not() -> None:
    """429 for five minutes; pages that fail hold up their own host."""

    def script(web: ScriptedFetcher) -> None:
        web.reply(
            f"{HOSTS[3]}/",
            FetchResponse(f"{HOSTS[3]}/", 429, retry_after="300"),
            FetchResponse(f"{HOSTS[3]}/", 404),
        )
        web.reply(f"{HOSTS[4]}/robots.txt", FetchError("timeout", "no answer"))

    virtual = crawl(600.0, script)

    refused = next(one.at_s for one in virtual.web.requests if one.url == f"{HOSTS[3]}/")
    later = [one.at_s for one in virtual.web.requests if one.at_s > refused]
    assert min(later) >= refused + 300.0
    assert len(gaps(virtual, HOSTS)) > 50
    assert len(virtual.web.asked(f"{HOSTS[4]}/robots.txt")) <= 3


def test_a_host_whose_name_is_not_known_is_not_asked_and_holds_nobody_up() -> None:
    """It rests, longer each time."""

    def script(web: ScriptedFetcher) -> None:
        web.ips[HOSTS[5]] = FetchError("dns", "no such name")

    virtual = crawl(300.0, script)

    assert not [one for one in virtual.web.requests if one.url.startswith(f"{HOSTS[5]}/")]
    assert virtual.web.resolved.count(HOSTS[5]) == 3  # at once, after one minute, and two more
    (record,) = [one for one in virtual.frontier.hosts() if one.host == HOSTS[5]]
    assert record.blocked_why == "the name of the host is not known"
    assert len(list(virtual.index.urls())) == 3 * (len(HOSTS) - 1)


def test_where_a_name_leads_and_that_it_leads_nowhere_is_kept_at_once() -> None:
    """Before its host is asked: a crawl that is killed now does not hurry that server."""

    async def main() -> None:
        virtual = virtual_crawl(Setup(politeness=RULES))
        crawl, task = virtual.crawl, Resolve(1, "http://a.test")
        await crawl.prepare()
        names = NameReader(crawl.world, crawl.dispatcher)
        virtual.web.ips["http://a.test"] = SERVER
        await names.read(task)
        assert virtual.frontier.hosts()[0].ip_address == SERVER
        virtual.web.ips["http://a.test"] = FetchError("dns", "no such name")
        await names.read(task)
        assert virtual.frontier.hosts()[0].failures == 1

    run_virtually(main())


def test_redirects_of_robots_txt_keep_the_distance() -> None:
    """They lead to another host of the server, or to one of another, and on."""

    def script(web: ScriptedFetcher) -> None:
        for host in HOSTS[6:]:
            web.ips[host] = OTHER
        for host, to in zip(HOSTS, [*HOSTS[1:], HOSTS[0]], strict=True):
            moved = FetchResponse(f"{host}/robots.txt", 301, location=f"{to}/rules")
            web.reply(f"{host}/robots.txt", moved)
            web.reply(f"{to}/rules", FetchResponse(f"{to}/rules", 200, b"User-agent: *"))

    virtual = crawl(200.0, script)

    for hosts in (HOSTS[:6], HOSTS[6:]):
        assert min(gaps(virtual, hosts)) >= 1.1 - 1e-6
    assert len(list(virtual.index.urls())) == 3 * len(HOSTS)
    assert all(virtual.web.asked(f"{host}/rules") for host in HOSTS)


def test_a_crawl_that_starts_again_leaves_a_server_alone_that_refused(tmp_path: Path) -> None:
    """Whichever of its hosts is asked first."""
    frontier = SqliteFrontier(tmp_path)

    def script(web: ScriptedFetcher) -> None:
        busy = FetchResponse(f"{HOSTS[0]}/", 429, retry_after="3000")
        web.reply(f"{HOSTS[0]}/", busy)

    first = crawl(50.0, script, frontier=frontier)
    asked = len(first.web.requests)
    again = crawl(50.0, lambda web: None, frontier=frontier)
    frontier.close()

    assert asked > 0
    assert again.web.requests == []


def test_a_fetcher_that_keeps_its_connections_to_itself_is_refused() -> None:
    """One message, before anything is asked."""

    async def main() -> None:
        virtual = virtual_crawl()
        world = replace(virtual.crawl.world, resolver=None)
        with pytest.raises(InvalidSettings, match=r"politeness\.per_address.*Resolver"):
            Crawl(
                world,
                virtual.crawl.rules,
                CrawlPlan(1.0, RULES),
                seeds=[],
                on_plan=world.on_state,
            )

    run_virtually(main())


# -- a real server --


DELAY_S = 0.03


@pytest.mark.parametrize("per_address", [True, False])
def test_many_names_on_one_server_are_one_to_ask(tmp_path: Path, per_address: bool) -> None:
    """Never two at once, never closer than the delay; without the setting they are asked at once.

    Names below localhost lead to 127.0.0.1.
    """
    names = [f"u{number}.localhost" for number in range(20)]

    async def crawled(server: NamedServer) -> None:
        settings = Settings(
            seeds=[f"http://{name}:{server.port}/" for name in names],
            contact="mailto:tests@recrawl.test",
            state=tmp_path / "state",
            budget_per_s=1_000.0,
            n_robots=16,
            delay_s=DELAY_S,
            allow_private=["*.localhost"],
            per_address=per_address,
        )
        async with open_parts(settings, events=CountingSink()) as opened:
            crawl = await opened.prepared()
            try:
                async with crawl.running():
                    while len(server.hosts) < 20 or server.n_asked < 50:  # noqa: ASYNC110
                        await asyncio.sleep(0.01)
            finally:
                crawl.world.extractor.close()

    async def main() -> NamedServer:
        async with NamedServer().listening() as server:
            await crawled(server)
            return server

    server = asyncio.run(main())
    assert set(server.hosts) == set(names)
    if per_address:
        assert server.most == 1
        assert server.least_s >= DELAY_S - 0.005
        assert server.connections == server.n_asked
    else:
        assert server.least_s < DELAY_S


def test_a_request_goes_where_its_name_led_when_it_was_resolved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not where it leads by now, nor over a connection that is left from before."""
    told = ["127.0.0.1"]

    async def main() -> list[str]:
        asked = list[str]()

        def at(ip: str) -> Callable[..., Awaitable[None]]:
            async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                await reader.readuntil(b"\r\n\r\n")
                asked.append(ip)
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                await writer.drain()
                await reader.read()  # until the connection is closed, which is at once
                writer.close()

            return answer

        first = await asyncio.start_server(at("127.0.0.1"), "127.0.0.1", 0)
        port = first.sockets[0].getsockname()[1]
        second = await asyncio.start_server(at("127.0.0.2"), "127.0.0.2", port)

        def names(*_: object, **__: object) -> list[tuple[object, ...]]:
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, 0)) for one in told]

        monkeypatch.setattr(socket, "getaddrinfo", names)
        host = f"http://moving.test:{port}"
        fetcher = HttpFetcher(user_agent="test", allow_private=["moving.test"], per_address=True)
        async with first, second, fetcher:
            assert await fetcher.resolve(host) == "127.0.0.1"
            told[:] = ["127.0.0.2"]
            await fetcher.fetch(f"{host}/1")
            assert await fetcher.resolve(host) == "127.0.0.2"
            await fetcher.fetch(f"{host}/2")
        return asked

    assert asyncio.run(main()) == ["127.0.0.1", "127.0.0.2"]


class Names(AbstractResolver):
    """Tells what is written in it."""

    def __init__(self, **told: list[str]) -> None:
        self.told = told

    async def resolve(self, host: str, port: int = 0, family: int = 0) -> list[ResolveResult]:
        if host not in self.told:
            raise OSError("no such name")
        return [
            ResolveResult(
                hostname=host, host=ip, port=port, family=socket.AF_INET, proto=0, flags=0
            )
            for ip in self.told[host]
        ]

    async def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("expected", "told"),
    [
        ("192.0.2.9", ["192.0.2.10", "192.0.2.9"]),
        ("192.0.2.9", ["2001:db8::1", "192.0.2.9"]),
        ("2001:db8::1", ["2001:0db8:0::1"]),
        ("192.0.2.9", ["::ffff:192.0.2.9"]),
        ("fe80::1", ["fe80::1%eth0"]),
    ],
)
async def test_of_several_ip_addresses_the_first_by_number_is_taken(
    expected: str, told: list[str]
) -> None:
    """IPv4 before IPv6; however they are written and in whatever order they come."""
    names = OneAddress(Names(a=told))

    assert await names.learn("A.") == expected
    (answer,) = await names.resolve("a", 80)
    assert (answer["host"], answer["port"]) == (expected, 80)


async def test_an_ip_address_without_a_connection_comes_last() -> None:
    """So a name is asked at the others; where there is no other it is tried again."""
    names = OneAddress(Names(a=["192.0.2.1", "192.0.2.2"], b=["192.0.2.1"]))
    seen = []
    for _ in range(3):
        seen.append(await names.learn("a"))
        names.fail("a")
    await names.learn("b")
    names.fail("b")

    assert seen == ["192.0.2.1", "192.0.2.2", "192.0.2.1"]
    assert await names.learn("b") == "192.0.2.1"


async def test_few_names_are_known_and_none_is_forgotten_that_is_gone_by(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The oldest goes, once nobody goes by it."""
    monkeypatch.setattr("recrawl.crawler.fetch.names._MOST", 10)
    now_s = [0.0]
    told = Names(**{f"n{number}": ["192.0.2.1"] for number in range(30)})
    names = OneAddress(told, now_s=lambda: now_s[0])
    for number in range(15):
        await names.learn(f"n{number}")
    told.told["n0"] = ["192.0.2.2"]
    young = (await names.resolve("n0"))[0]["host"]
    now_s[0] = 1_000.0
    for number in range(15, 30):
        await names.learn(f"n{number}")

    assert young == "192.0.2.1"
    assert len(names._known) == 15
    assert (await names.resolve("n0"))[0]["host"] == "192.0.2.2"


async def test_a_name_without_an_ip_address_is_a_failure_of_one_kind() -> None:
    """As when it is resolved for a request."""
    names = OneAddress(Names(a=[]))

    for name in ("a", "b"):
        with pytest.raises(FetchError) as told:
            await names.learn(name)
        assert told.value.kind == "dns"
    with pytest.raises(OSError, match="no such name"):
        await names.resolve("b")
