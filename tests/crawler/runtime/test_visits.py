"""What follows from one visit, whatever came of it."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from typing_extensions import override

from recrawl.crawler.control.answers.second_looks import SecondLooks
from recrawl.crawler.control.dispatching.budget import FetchBudget
from recrawl.crawler.fetch.reading.in_place import InPlaceExtractor
from recrawl.crawler.frontier.worths import SqliteWorths
from recrawl.crawler.ports import EventSink
from recrawl.crawler.runtime.reading import SlowReading
from recrawl.crawler.runtime.recorder import Recorder
from recrawl.crawler.runtime.visits import Visitor
from recrawl.errors import FetchError
from recrawl.terms import Discovery, FetchResponse, Kind, Lease, PageState
from recrawl.testing import Setup, VirtualCrawl, run_virtually, virtual_crawl
from recrawl.testing.worlds import EPOCH_S

A = "http://a.test"


class Heard(EventSink):
    """Keeps what is told of visits."""

    def __init__(self) -> None:
        self.told: list[Mapping[str, object]] = []

    @override
    def emit(self, event: str, fields: Mapping[str, object]) -> None:
        self.told.append(fields)


class Counted(FetchBudget):
    """Counts what is spent."""

    n = 0

    @override
    def spend(self, now_s: float) -> None:
        self.n += 1


class EveryLook(SecondLooks):
    """Has every page looked at twice of which that is asked."""

    @override
    def take(self, *_: object) -> bool:
        return True


def visitor_of(virtual: VirtualCrawl) -> Visitor:
    crawl = virtual.crawl
    crawl.recorder.second_looks = EveryLook()
    return Visitor(
        crawl.world, crawl.rules, dispatcher=crawl.dispatcher, buffer=crawl.buffer,
        recorder=crawl.recorder, reading=crawl.reading,
    )  # fmt: skip


async def visited(
    lease: Lease, *answers: FetchResponse | FetchError, rest_s: float = 1.0
) -> tuple[VirtualCrawl, Heard, bool]:
    """Visit a page ten seconds after the epoch; tell whether it went to the buffer."""
    virtual, heard = virtual_crawl(), Heard()
    crawl = virtual.crawl
    await crawl.prepare()
    crawl.dispatcher.host(1).politeness.crawl_delay_s = rest_s
    crawl.dispatcher.budget = Counted(1.0)
    virtual.counts.then = heard
    virtual.web.reply(lease.url, *answers)
    await virtual.clock.sleep_until(EPOCH_S + 10.0)
    brought = await visitor_of(virtual).visit(lease)
    await crawl.recorder.flush()
    return virtual, heard, brought


def test_others_have_their_turn_while_a_long_sitemap_is_taken_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Robots and indexer wait for no more of it than some thousand addresses, of all taken in."""
    turns, taken = [0], list[tuple[int, int]]()
    add = Recorder.add

    def noted(
        self: Recorder, updates: Any = (), found: Sequence[Discovery] = (), **more: Any
    ) -> int:
        taken.append((turns[0], len(found)))
        asyncio.get_running_loop().call_soon(turn)
        return add(self, updates, found, **more)

    monkeypatch.setattr(Recorder, "add", noted)
    entries = "".join(f"<url><loc>{A}/{number}</loc></url>" for number in range(9_000))
    lease = Lease(1, f"{A}/sitemap.xml", 1, 1, EPOCH_S, kind=Kind.SITEMAP)
    page = FetchResponse(lease.url, 200, f"<urlset>{entries}</urlset>".encode(), "text/xml")

    def turn() -> None:
        turns[0] += 1

    async def main() -> int:
        virtual, _, _ = await visited(lease, page)
        return sum(virtual.frontier.n_pages_by_state().values())

    assert run_virtually(main()) >= 9_000
    parts = [(turn, n) for turn, n in taken if n]
    assert sum(n for _, n in parts) == 9_000
    assert max(n for _, n in parts) <= 2_000
    assert all(before < after for (before, _), (after, _) in pairwise(parts))


@pytest.mark.parametrize(
    ("state", "wait_s"), [(PageState.INDEXED, 60.0), (PageState.DISCOVERED, 600.0)]
)
def test_a_first_copy_is_worth_having_however_late(state: PageState, wait_s: float) -> None:
    """A later one of a page that changes within seconds is given up after the least interval."""
    lease = Lease(1, f"{A}/", 1, 1, EPOCH_S, state=state, change_rate_per_s=1.0)
    page = FetchResponse(lease.url, 200, b"some text", "text/plain")

    async def main() -> float:
        virtual, _, _ = await visited(lease, page)
        taken = await virtual.crawl.buffer.take(within_s=0.0)
        assert taken is not None
        return taken.deadline_s - virtual.clock.now_s()

    assert run_virtually(main()) == pytest.approx(wait_s)


@pytest.mark.parametrize(
    ("answer", "failures", "outcome"),
    [
        (FetchError("connect", "refused"), 1, "failed"),
        (FetchError("too-large", "too large"), 0, "too-large"),
        (FetchError("encoding", "no such"), 0, "failed"),
        (FetchResponse(f"{A}/", 429), 1, "throttled"),
        (FetchResponse(f"{A}/", 404), 0, "not-found"),
    ],
)
def test_what_could_not_be_had_is_told_and_a_host_to_blame_is_kept_at_once(
    answer: FetchResponse | FetchError, failures: int, outcome: str
) -> None:
    """An answer that is not wanted is no trouble of its host."""
    lease = Lease(1, f"{A}/", 1, 1, EPOCH_S)

    virtual, heard, brought = run_virtually(visited(lease, answer))

    assert not brought
    assert virtual.frontier.hosts()[0].failures == failures
    assert heard.told == [
        {
            "url": lease.url,
            "outcome": outcome,
            "at_s": EPOCH_S + 10.0,
            "fetch_s": 0.0,
            "received_bytes": 0,
        }
    ]


PAGE = FetchResponse(f"{A}/", 200, b"some text", "text/plain")
HELD = Lease(
    1, f"{A}/", 1, 1, EPOCH_S, state=PageState.INDEXED, etag='"1"', signature=b"s",
    last_visit_s=EPOCH_S - 5.0, raw_hash=InPlaceExtractor("recrawl").raw_hash(PAGE.body),
)  # fmt: skip


@pytest.mark.parametrize(
    ("lease", "answer", "outcome"),
    [
        (HELD, replace(PAGE, body=b"another text"), None),
        (replace(HELD, state=PageState.DISCOVERED), PAGE, None),
        (HELD, PAGE, "unchanged"),
        (HELD, replace(PAGE, body=b"another text", age_s=60.0), "unchanged"),
        (HELD, replace(PAGE, status=304), "not-modified"),
        (replace(HELD, etag=None), replace(PAGE, status=304), "server-error"),
        (HELD, replace(PAGE, status=301, location="/there"), "moved"),
        (HELD, replace(PAGE, status=301, location="/"), "denied"),
        (HELD, replace(PAGE, status=302), "denied"),
        (HELD, replace(PAGE, status=302, location="/login?next=%2F"), "denied"),
        (HELD, replace(PAGE, body=b"", refresh="0; url=/there"), "redirected"),
        (HELD, replace(PAGE, body=b"", refresh="10.0; url=/there"), "redirected"),
        (HELD, replace(PAGE, body=b"", refresh="10.1; url=/there"), "not-found"),
        (HELD, replace(PAGE, body=b" "), "not-found"),
        (HELD, replace(PAGE, content_type="image/png"), "unsupported"),
        (replace(HELD, kind=Kind.FEED), replace(PAGE, content_type="text/xml"), "listing"),
    ],
)
def test_a_robot_has_brought_a_page_if_that_goes_to_the_buffer(
    lease: Lease, answer: FetchResponse, outcome: str | None
) -> None:
    """All else is on record by then, for what it was."""
    virtual, heard, brought = run_virtually(visited(lease, answer))

    assert brought == (outcome is None) == bool(virtual.crawl.buffer.length)
    assert [one["outcome"] for one in heard.told] == [outcome] * (not brought)


@pytest.mark.parametrize("depth", [0, 2, 3])
def test_sitemaps_within_sitemaps_end(depth: int) -> None:
    lease = Lease(1, f"{A}/sitemap.xml", 1, 1, EPOCH_S, kind=Kind.SITEMAP, depth=depth)
    body = f"<sitemapindex><sitemap><loc>{A}/more.xml</loc></sitemap></sitemapindex>".encode()

    virtual, _, _ = run_virtually(visited(lease, replace(PAGE, body=body)))

    further = virtual.frontier.details(f"{A}/more.xml")
    assert (further and further.depth) == (None if depth == 3 else depth + 1)


OTHER = replace(PAGE, body=b"another text")
DRAWN = replace(PAGE, body=b"a third text")


@pytest.mark.parametrize(
    ("n_looks", "again", "lease", "answers", "rest_s"),
    [
        (2, DRAWN, HELD, (OTHER, DRAWN), 30.0),
        (2, None, HELD, (OTHER, FetchError("connect", "refused")), 1.0),
        (2, None, HELD, (OTHER, replace(PAGE, status=404)), 1.0),
        (1, None, HELD, (OTHER, DRAWN), 31.0),
        (1, None, replace(HELD, state=PageState.MISSING), (OTHER, DRAWN), 1.0),
        (1, None, HELD, (PAGE, DRAWN), 1.0),
        (1, None, HELD, (replace(OTHER, status=404), DRAWN), 1.0),
        (1, None, replace(HELD, kind=Kind.FEED), (OTHER, DRAWN), 1.0),
    ],
)
def test_a_copy_that_is_another_is_looked_at_twice(
    n_looks: int,
    again: FetchResponse | None,
    lease: Lease,
    answers: tuple[FetchResponse, ...],
    rest_s: float,
) -> None:
    """After the rest of its host, where that is short; what brings no copy tells nothing."""

    async def main() -> None:
        virtual, _, brought = await visited(lease, *answers, rest_s=rest_s)
        asked = virtual.web.asked(lease.url)
        taken = await virtual.crawl.buffer.take(within_s=0.0) if brought else None
        assert len(asked) == n_looks
        assert [one.etag for one in asked] == [lease.etag, None][:n_looks]
        assert all(b.at_s - a.at_s >= rest_s for a, b in pairwise(asked))
        assert (taken and taken.again) == again

    run_virtually(main())


def test_a_host_that_is_too_busy_at_the_second_look_is_left_alone() -> None:
    """Its last word counts; the copy of the first look is one all the same."""
    virtual, _, brought = run_virtually(visited(HELD, OTHER, replace(PAGE, status=429)))

    assert brought
    assert virtual.frontier.hosts()[0].failures == 1


@pytest.mark.parametrize(
    ("expected", "answers"),
    [
        (0, (PAGE,)),
        (2, (replace(PAGE, n_requests=3),)),
        (2, (FetchError("render", "broken", n_requests=3),)),
        (1 + 2 + 3, (replace(OTHER, n_requests=3), replace(DRAWN, n_requests=4))),
    ],
)
def test_every_request_counts_in_the_budget(
    expected: int, answers: tuple[FetchResponse | FetchError, ...]
) -> None:
    """The first was counted when it was handed out; filling a page and looking again are more."""
    virtual, _, _ = run_virtually(visited(HELD, *answers))

    budget = virtual.crawl.dispatcher.budget
    assert isinstance(budget, Counted)
    assert budget.n == expected


@pytest.mark.parametrize(
    ("kind", "brought", "outcomes"), [(Kind.PAGE, True, []), (Kind.FEED, False, ["too-large"])]
)
def test_what_lists_pages_has_a_bound_of_its_own(
    kind: Kind, outcomes: list[str], *, brought: bool
) -> None:
    """50 MiB, as for sitemaps; that of pages is their fetcher's, which here has none."""
    page = replace(PAGE, body=b"x" * (50 * 2**20 + 1))
    _, heard, is_brought = run_virtually(visited(replace(HELD, kind=kind), page))

    assert (is_brought, [one["outcome"] for one in heard.told]) == (brought, outcomes)


@pytest.mark.parametrize(
    ("depth", "kind", "body"),
    [
        (0, Kind.SITEMAP, "<urlset><url><loc>{}</loc></url></urlset>"),
        (1, Kind.FEED, "<rss><channel><item><link>{}</link></item></channel></rss>"),
    ],
)
def test_how_far_from_the_start_what_is_listed_is(depth: int, kind: Kind, body: str) -> None:
    """What a sitemap lists is where a crawl starts; a feed is a page with links."""
    lease = Lease(1, f"{A}/list", 1, 1, EPOCH_S, kind=kind)
    answer = replace(PAGE, body=body.format(f"{A}/new").encode(), content_type="text/xml")

    virtual, _, _ = run_virtually(visited(lease, answer))

    found = virtual.frontier.details(f"{A}/new")
    assert found is not None
    assert found.depth == depth


def test_whoever_led_first_to_what_is_listed_later_has_only_the_lead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ten seconds here: the list would have told of it as well."""
    taken: list[object] = []
    monkeypatch.setattr(SqliteWorths, "found_again", lambda _, leads: taken.append(leads))
    lease = Lease(1, f"{A}/list", 1, 1, EPOCH_S, kind=Kind.SITEMAP)
    body = f"<urlset><url><loc>{A}/new</loc></url></urlset>".encode()

    async def main() -> None:
        virtual = virtual_crawl()
        await virtual.crawl.prepare()
        virtual.crawl.recorder.add(found=[Discovery(f"{A}/new", A, depth=1, found_on=7)])
        await virtual.clock.sleep_until(EPOCH_S + 10.0)
        virtual.web.reply(lease.url, replace(PAGE, body=body, content_type="text/xml"))
        await visitor_of(virtual).visit(lease)
        await virtual.crawl.recorder.flush()

    run_virtually(main())

    assert taken == [{7: (1, pytest.approx(10.0, abs=1.0))}]


@pytest.mark.parametrize(("kind", "after_s"), [(Kind.PAGE, 0.05), (Kind.SITEMAP, 1.0)])
def test_a_visit_that_is_cut_off_leaves_page_and_host_as_if_it_had_not_begun(
    kind: Kind, after_s: float
) -> None:
    """While it is fetched, or a list is read: it is given back, and nothing is asked any more."""
    lease = replace(HELD, kind=kind)

    async def main() -> None:
        virtual = virtual_crawl(Setup(service_s=9.0))
        crawl = virtual.crawl
        await crawl.prepare()
        virtual.web.reply(lease.url, replace(PAGE, body=b"<urlset></urlset>"))
        host = crawl.dispatcher.host(1).politeness
        host.start()
        visiting = asyncio.create_task(crawl.visitor.visit(lease))
        await asyncio.sleep(after_s)
        visiting.cancel()
        await asyncio.wait((visiting,))
        assert visiting.cancelled()
        assert not host.in_flight
        assert crawl.visitor.abandoned == [lease]

    run_virtually(main())


def test_no_robot_waits_until_there_is_room_to_read_a_list() -> None:
    """It comes again; only a page that is in the buffer already is waited with."""
    waits = list[object]()

    class Noting(SlowReading):
        @override
        async def read(self, *what: Any, **how: Any) -> None:
            waits.append(how["may_wait"])
            await super().read(*what, **how)

    async def main() -> None:
        virtual = virtual_crawl()
        crawl = virtual.crawl
        await crawl.prepare()
        virtual.web.reply(HELD.url, PAGE)
        visitor = Visitor(
            crawl.world, crawl.rules, dispatcher=crawl.dispatcher, buffer=crawl.buffer,
            recorder=crawl.recorder, reading=Noting(crawl.world, crawl.rules.revisit, 1.0),
        )  # fmt: skip
        await visitor.visit(replace(HELD, kind=Kind.FEED))

    run_virtually(main())

    assert waits == [False]


@pytest.mark.parametrize(
    ("second", "rest_s", "outcome"),
    [
        (FetchResponse(f"{A}/", 200, b"some text", "text/plain"), 5.0, None),
        (FetchResponse(f"{A}/", 404), 5.0, "not-found"),
        (FetchError("timeout", "too late"), 5.0, "denied"),
        (FetchResponse(f"{A}/", 200, b"some text", "text/plain"), 31.0, "denied"),
    ],
)
def test_a_page_that_wants_a_cookie_back_is_asked_again_after_its_hosts_rest(
    second: FetchResponse | FetchError, rest_s: float, outcome: str | None
) -> None:
    """Unless that is long; both requests count in the budget."""
    lease = Lease(1, f"{A}/", 1, 1, EPOCH_S)
    first = FetchResponse(lease.url, 302, location="/", wants_cookie=True)

    virtual, _, brought = run_virtually(visited(lease, first, second, rest_s=rest_s))

    asked = [10.0] + [10.1 + rest_s] * (rest_s < 30.0)  # the first took a tenth of a second
    found = [request.at_s - EPOCH_S for request in virtual.web.asked(lease.url)]
    assert found == pytest.approx(asked)
    assert brought == (outcome is None)
    assert dict(virtual.counts.outcomes) == ({outcome: 1} if outcome else {})
    budget = virtual.crawl.dispatcher.budget
    assert isinstance(budget, Counted)
    assert budget.n == len(asked) - 1
