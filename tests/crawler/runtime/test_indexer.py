"""What becomes of a page that a robot brought, and when it is written."""

import asyncio
from dataclasses import replace
from math import inf
from typing import Any

import pytest

from recrawl.crawler.control.addresses.admission import Admission
from recrawl.crawler.control.addresses.classifier import AddressClassifier
from recrawl.crawler.control.addresses.scope import Scope
from recrawl.crawler.control.addresses.yields import AddressYields
from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.control.urls import host_of
from recrawl.crawler.control.worth.tiers import ASKED
from recrawl.crawler.runtime.reading import MAX_OF_HOST
from recrawl.crawler.runtime.recorder import Recorder
from recrawl.errors import PoisonPage, ReadingCut, ReadingPutOff
from recrawl.terms import (
    BufferedPage,
    Discovery,
    Extract,
    FetchResponse,
    Lease,
    PageState,
    PageUpdate,
)
from recrawl.testing import Setup, VirtualCrawl, run_virtually, virtual_crawl
from recrawl.testing.worlds import EPOCH_S

A = "http://a.test"


async def served(
    said: Extract | Exception, lease: Lease | None = None, **rules: Any
) -> VirtualCrawl:
    """Serve one page, of which its reader says something, at once or after a while."""
    virtual = virtual_crawl(Setup(rules=rules))
    crawl, reader = virtual.crawl, virtual.crawl.world.extractor
    await crawl.prepare()

    async def page(_: FetchResponse) -> Extract:
        assert isinstance(said, Exception)
        raise said

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(reader, "at_once", lambda _: said if isinstance(said, Extract) else None)
        patched.setattr(reader, "page", page)
        response = FetchResponse(f"{A}/", 200, b"<p>something", "text/html")
        lease = lease or Lease(1, f"{A}/", 1, 1, EPOCH_S, depth=1)
        crawl.buffer.offer(BufferedPage(lease, response, EPOCH_S, EPOCH_S + 60.0, b"r"))
        assert await crawl.indexer.serve_one()
    await crawl.recorder.flush()
    return virtual


def outcomes(virtual: VirtualCrawl) -> dict[str, int]:
    return dict(virtual.counts.outcomes)


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        (Extract(unreadable="is locked"), "unsupported"),
        (Extract(sends_to=f"{A}/there"), "redirected"),
        (Extract(noindex=True, signature=b"s"), None),
        (Extract(text="some", signature=b"s"), None),
    ],
)
def test_a_page_that_was_read_has_been_served(said: Extract, outcome: str | None) -> None:
    """Whatever it says; what comes into the index, or goes, is told of when it is written."""
    virtual = run_virtually(served(said))

    assert virtual.crawl.indexer.served == 1
    assert outcome is None or outcomes(virtual) == {outcome: 1}


@pytest.mark.parametrize(
    ("error", "outcome"),
    [(PoisonPage("a bomb"), "poison"), (ReadingPutOff("too much"), "deferred")],
)
def test_a_page_that_could_not_be_read_is_on_record(error: Exception, outcome: str) -> None:
    """It waits for another time, and says why."""
    virtual = run_virtually(served(error))

    assert outcomes(virtual) == {outcome: 1}
    known = virtual.frontier.details(f"{A}/")
    assert known is not None
    assert (known.recent[0].note, known.state) == (str(error), PageState.DISCOVERED)
    assert virtual.crawl.indexer.abandoned == []


def test_a_page_whose_reading_was_cut_off_is_given_back() -> None:
    virtual = run_virtually(served(ReadingCut("the end")))

    assert [lease.url for lease in virtual.crawl.indexer.abandoned] == [f"{A}/"]
    assert outcomes(virtual) == {}


def test_a_page_for_which_its_host_has_no_room_is_deferred_while_another_host_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Eight pages of the host take a minute each to read; the other host's is read meanwhile."""
    other = "http://b.test"

    async def page(response: FetchResponse) -> Extract:
        await asyncio.sleep(60.0 if response.url.startswith(A) else 0.0)
        return Extract(text="some", signature=b"s")

    async def main() -> tuple[dict[str, int], float]:
        virtual = virtual_crawl(Setup(rules={"patience_s": 1.0}))
        crawl, frontier = virtual.crawl, virtual.frontier
        await crawl.prepare()
        monkeypatch.setattr(crawl.world.extractor, "at_once", lambda _: None)
        monkeypatch.setattr(crawl.world.extractor, "page", page)
        urls = [f"{A}/{n}" for n in range(MAX_OF_HOST + 1)] + [f"{other}/"]
        found = [Discovery(url, host_of(url)) for url in urls]
        leases = {
            lease.url: lease
            for host_id in frontier.admit(found, EPOCH_S, crawl.rules.limits)
            for lease in frontier.lease(
                host_id, limit=99, due_by_s=EPOCH_S, now_s=EPOCH_S, until_s=EPOCH_S + 99.0
            )
        }
        loop = asyncio.get_running_loop()
        async with asyncio.TaskGroup() as group:
            crawl.reading.begin(group)
            for url in urls[:-2]:
                response = FetchResponse(url, 200, b"<p>some", "text/html")
                crawl.buffer.offer(BufferedPage(leases[url], response, EPOCH_S, inf, b"r"))
                await crawl.indexer.serve_one()
            began_s = loop.time()
            for url in urls[-2:]:
                response = FetchResponse(url, 200, b"<p>some", "text/html")
                crawl.buffer.offer(BufferedPage(leases[url], response, EPOCH_S, inf, b"r"))
            await crawl.indexer.serve_one()
            await crawl.indexer.serve_one()
            took_s = loop.time() - began_s
        await crawl.indexer.commit()
        return outcomes(virtual), took_s

    told, took_s = run_virtually(main())

    assert told == {"deferred": 1, "new": MAX_OF_HOST + 1}
    assert took_s < 5.0


@pytest.mark.parametrize(
    ("path", "leads_to", "told"),
    [
        ("/things?state=1", "/things?state=1&label=2", False),
        ("/things?state=1", "/things/7", True),
        ("/tags/lamp+red", "/tags/lamp+red+old", False),
        ("/things?state=1", "/things/7?place=2", False),
        ("/things", "/things/7", None),
    ],
)
def test_a_list_that_is_chosen_tells_whether_it_leads_to_more_than_itself(
    monkeypatch: pytest.MonkeyPatch, path: str, leads_to: str, told: bool | None
) -> None:
    """Chosen by a query, or by words that are joined; it says nothing but what its links say.

    What differs from a known page by a parameter that means nothing is no more than that.
    """
    seen: list[PageUpdate] = []

    def observe(_: AddressYields, update: PageUpdate) -> list[tuple[int, int]]:
        seen.append(update)
        return []

    monkeypatch.setattr(AddressYields, "observe", observe)
    monkeypatch.setattr(AddressClassifier, "repeats", lambda _, url: "place=" in url)
    lease = Lease(1, f"{A}{path}", 1, 1, EPOCH_S, depth=1)
    said = Extract(text="a lamp", anchors=("a lamp",), links=(f"{A}{leads_to}",), signature=b"s")

    async def main() -> None:
        virtual = await served(said, lease)
        await virtual.crawl.indexer.commit()

    run_virtually(main())

    assert [update.told_news for update in seen] == [told]


@pytest.mark.parametrize(("known", "told"), [([], None), ([f"{A}/things?page=2"], False)])
def test_a_list_that_is_known_in_another_order_tells_where_it_leads_to(
    monkeypatch: pytest.MonkeyPatch, known: list[str], told: bool | None
) -> None:
    """A table says more than its links do, and each order of it has other rows on a page."""
    seen: list[PageUpdate] = []

    def observe(_: AddressYields, update: PageUpdate) -> list[tuple[int, int]]:
        seen.append(update)
        return []

    monkeypatch.setattr(AddressYields, "observe", observe)
    monkeypatch.setattr(Recorder, "knows", lambda _, url: url in known)
    lease = Lease(1, f"{A}/things?page=2&sort=size", 1, 1, EPOCH_S, depth=1)
    said = Extract(
        text="red lamp small, new; blue lamp small, new",
        anchors=("red lamp", "blue lamp", "size"),
        links=(f"{A}/things?page=2&sort=name",),
        signature=b"s",
    )

    async def main() -> None:
        virtual = await served(said, lease)
        await virtual.crawl.indexer.commit()

    run_virtually(main())

    assert [update.told_news for update in seen] == [told]


def test_where_a_reader_is_sent_is_one_redirect_further_and_no_link() -> None:
    virtual = run_virtually(served(Extract(sends_to=f"{A}/there", links=(f"{A}/there",))))

    (sent,) = (
        lease
        for lease in virtual.frontier.lease(
            1, limit=9, due_by_s=EPOCH_S, now_s=EPOCH_S, until_s=EPOCH_S
        )
        if lease.url == f"{A}/there"
    )
    assert (sent.depth, sent.hops) == (1, 1)


@pytest.mark.parametrize(("depth", "n_beyond"), [(1, 0), (2, 2)])
def test_what_lies_beyond_the_bounds_is_counted_at_the_first_visit(
    depth: int, n_beyond: int
) -> None:
    links = (f"{A}/one", f"{A}/two")
    lease = Lease(1, f"{A}/", 1, 1, EPOCH_S, depth=depth)
    scope = Admission(Scope(hosts=("*",), max_depth=2))

    virtual = run_virtually(
        served(Extract(text="some", signature=b"s", links=links), lease, admission=scope)
    )

    assert sum(n for _, _, n in virtual.frontier.refused()) == n_beyond


@pytest.mark.parametrize(
    ("rules", "is_written"),
    [
        ({}, False),
        ({"commit_characters": 100}, True),
        ({"commit_characters": 101}, False),
        ({"commit_pages": 1}, True),
    ],
)
def test_much_that_is_staged_is_written_at_once(*, rules: dict[str, Any], is_written: bool) -> None:
    """By the number of pages, or of characters; else after some time."""
    said = Extract(text="x" * 100, signature=b"s")

    virtual = run_virtually(served(said, commit_s=1_000.0, **rules))

    assert virtual.index.n_documents() == is_written
    assert virtual.crawl.indexer.has_staged != is_written


INDEXED, BEFORE_S = PageState.INDEXED, EPOCH_S - 9.0


@pytest.mark.parametrize(
    ("outcome", "state", "signature", "last_visit_s"),
    [
        ("unchanged", INDEXED, b"s", BEFORE_S),
        ("changed", INDEXED, b"other", BEFORE_S),
        ("changed", PageState.MISSING, b"other", BEFORE_S),
        ("new", PageState.GONE, b"other", BEFORE_S),
        ("new", INDEXED, None, BEFORE_S),
        ("new", INDEXED, b"other", None),
    ],
)
def test_a_copy_is_new_where_none_is_known_that_it_could_be_held_against(
    outcome: str, state: PageState, signature: bytes | None, last_visit_s: float | None
) -> None:
    lease = Lease(
        1, f"{A}/", 1, 1, EPOCH_S, state=state, signature=signature, last_visit_s=last_visit_s
    )

    async def main() -> VirtualCrawl:
        virtual = await served(Extract(text="some", signature=b"s"), lease)
        await virtual.crawl.indexer.commit()
        return virtual

    assert outcomes(run_virtually(main())) == {outcome: 1}


def test_what_has_changed_of_a_copy_is_kept_with_its_visit() -> None:
    """The lines that went and came; of a first copy there are none."""

    async def main() -> VirtualCrawl:
        virtual = virtual_crawl(Setup(revisit=RevisitRules(60.0, 100.0, 60.0)))
        page = FetchResponse(f"{A}/", 200, b"the first text", "text/plain")
        virtual.web.reply(page.url, page, replace(page, body=b"the second text"))
        await virtual.run_for(150.0)
        return virtual

    (told,) = run_virtually(main()).frontier.differences(limit=9)

    assert "-the first text" in str(told)
    assert "+the second text" in str(told)


def test_what_many_ask_for_is_written_together_while_writing_takes_long() -> None:
    """The first at once, the others as soon as half of the time has been for reading."""
    written = list[float]()

    async def main() -> None:
        virtual = virtual_crawl(Setup(rules={"commit_s": 60.0}))
        crawl, loop = virtual.crawl, asyncio.get_running_loop()
        await crawl.prepare()
        await asyncio.sleep(1_000.0)

        async def slowly() -> None:
            await asyncio.sleep(2.0)
            written.append(loop.time())

        said = Extract(text="some", signature=b"s")
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(crawl.world.extractor, "at_once", lambda _: said)
            patched.setattr(crawl.recorder, "flush", slowly)
            for number in range(9):
                url = f"{A}/{number}"
                lease = Lease(number, url, 1, 1, EPOCH_S, depth=1, tier=ASKED)
                response = FetchResponse(url, 200, b"<p>something", "text/html")
                crawl.buffer.offer(BufferedPage(lease, response, EPOCH_S, inf, b"r"))
                await crawl.indexer.serve_one()
            while crawl.indexer.has_staged:
                await crawl.indexer.serve_one()

    run_virtually(main())

    assert len(written) == 2
    assert written[1] - written[0] == pytest.approx(2.0 + 2.0)


def test_what_waits_to_be_written_holds_no_bodies() -> None:
    """A thousand large pages of few words would else be in memory at once."""
    freed = list[int]()

    class Body(bytes):
        def __del__(self) -> None:
            freed.append(len(self))

    async def main() -> VirtualCrawl:
        virtual = virtual_crawl(Setup(rules={"commit_s": 1_000.0}))
        crawl = virtual.crawl
        await crawl.prepare()
        lease = Lease(1, f"{A}/", 1, 1, EPOCH_S, depth=1)
        response, again = (
            FetchResponse(lease.url, 200, Body(body), "text/html") for body in (b"<p>some", b"<p>")
        )
        crawl.buffer.offer(
            BufferedPage(lease, response, EPOCH_S, EPOCH_S + 60.0, b"r", again=again)
        )
        del response, again
        await crawl.indexer.serve_one()
        return virtual

    virtual = run_virtually(main())

    assert virtual.crawl.indexer.has_staged
    assert sorted(freed) == [len(b"<p>"), len(b"<p>some")]


@pytest.mark.parametrize(("name", "is_read"), [("{}", True), ("Thing", False)])
def test_the_first_line_of_a_page_without_headings_tells_it_from_others(
    *, name: str, is_read: bool
) -> None:
    """Of a shop whose pages have one title, and hardly a word of their own but a name in bold."""
    n = 60
    letters = [f"{'abcdef'[number % 6] * 4}{'ghijklmnop'[number // 6] * 4}" for number in range(n)]
    more = " ".join(f"word{number}" for number in range(40))

    async def main() -> VirtualCrawl:
        virtual = virtual_crawl(Setup(), once=True)
        urls = [f"{A}/shop?thing={number}" for number in range(n)]
        links = "".join(f"<p><a href='{url}'>thing</a>" for url in urls)
        virtual.web.reply(f"{A}/", FetchResponse(f"{A}/", 200, links.encode(), "text/html"))
        for number, url in enumerate(urls):
            text = f"<title>Shop</title><b>{name.format(letters[number])}</b><p>{more} {number}"
            virtual.web.reply(url, FetchResponse(url, 200, text.encode(), "text/html"))
        await virtual.run_for(600.0)
        return virtual

    asked = {one.url for one in run_virtually(main()).web.requests if "thing=" in one.url}
    assert (len(asked) == n) == is_read
    assert is_read or len(asked) <= 25


def test_other_pages_get_their_turn_while_many_links_are_looked_at() -> None:
    """And none of the links is lost on the way."""
    links = tuple(f"{A}/{n}" for n in range(9_000))
    turns = 0

    async def turning() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def main() -> tuple[VirtualCrawl, int]:
        others = asyncio.ensure_future(turning())
        await served(Extract(text="some", signature=b"s", links=links[:10]))
        before = turns
        virtual = await served(Extract(text="some", signature=b"s", links=links))
        others.cancel()
        return virtual, turns - 2 * before

    virtual, more = run_virtually(main())

    assert more >= 4
    assert sum(virtual.frontier.n_pages_by_state().values()) >= len(links)
