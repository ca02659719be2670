"""What follows from one visit, whatever came of it."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from typing_extensions import override

from recrawl.crawler.fetch.in_place import InPlaceExtractor
from recrawl.crawler.ports import EventSink
from recrawl.errors import FetchError
from recrawl.terms import FetchResponse, Kind, Lease, PageState
from recrawl.testing import VirtualCrawl, run_virtually, virtual_crawl
from recrawl.testing.worlds import EPOCH_S

A = "http://a.test"


class Heard(EventSink):
    """Keeps what is told of visits."""

    def __init__(self) -> None:
        self.told: list[Mapping[str, object]] = []

    @override
    def emit(self, event: str, fields: Mapping[str, object]) -> None:
        self.told.append(fields)


async def visited(
    lease: Lease, answer: FetchResponse | FetchError
) -> tuple[VirtualCrawl, Heard, bool]:
    """Visit a page once, ten seconds after the epoch; tell whether it went to the buffer."""
    virtual, heard = virtual_crawl(), Heard()
    await virtual.crawl.prepare()
    virtual.counts.then = heard
    virtual.web.reply(lease.url, answer)
    await virtual.clock.sleep_until(EPOCH_S + 10.0)
    brought = await virtual.crawl.visitor.visit(lease)
    await virtual.crawl.recorder.flush()
    return virtual, heard, brought


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
