"""Pages that say the same need not all be visited; those that part are turned back to."""

from pathlib import Path

import pytest

from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.index.memory import MemoryIndex
from recrawl.crawler.index.tantivy import TantivyIndex
from recrawl.crawler.ports import PageIndex
from recrawl.terms import FetchResponse
from recrawl.testing import Setup, VirtualCrawl, run_virtually, virtual_crawl
from recrawl.testing.scripted import Request
from recrawl.testing.worlds import EPOCH_S

A, HOUR_S = "http://a.test", 3_600.0
PAIRS, PARTED_S = 10, EPOCH_S + 200 * HOUR_S


def crawled(*, alike: bool) -> VirtualCrawl:
    """Crawl ten pages and their print versions, which change twice a day; the first pair parts."""

    def page(number: int, kind: str) -> object:
        def reply(request: Request) -> FetchResponse:
            edition = int(request.at_s / (12 * HOUR_S)) + number
            word = "zebra" if number == 0 and kind == "print" and request.at_s > PARTED_S else ""
            own = "" if alike else kind
            body = f"<main>page {number} in edition e{edition:x}x {own} {word}</main>"
            return FetchResponse(request.url, 200, body.encode(), "text/html")

        return reply

    async def main() -> VirtualCrawl:
        revisit = RevisitRules(600.0, 60 * HOUR_S, 6 * HOUR_S)
        setup = Setup(revisit=revisit, budget_per_s=10 / HOUR_S, rules={"replan_s": 2 * HOUR_S})
        virtual = virtual_crawl(setup)
        links = [f"/{kind}/{n}" for kind in ("page", "print") for n in range(PAIRS)]
        virtual.web.page(f"{A}/", "home", *links)
        for number in range(PAIRS):
            for kind in ("page", "print"):
                virtual.web.reply(f"{A}/{kind}/{number}", page(number, kind))  # type: ignore[arg-type]
        await virtual.run_for(400 * HOUR_S)
        return virtual

    return run_virtually(main())


def visits(virtual: VirtualCrawl, kind: str, numbers: range, since_s: float) -> float:
    asked = [
        request.at_s
        for number in numbers
        for request in virtual.web.asked(f"{A}/{kind}/{number}")
        if request.at_s > since_s
    ]
    return len(asked) / len(numbers)


@pytest.mark.slow
def test_copies_are_visited_seldom_until_they_say_something_else() -> None:
    """The budget goes to the pages that stand for them; a pair that parts is two pages again."""
    alike, apart = crawled(alike=True), crawled(alike=False)
    later_s, both = EPOCH_S + 50 * HOUR_S, range(1, PAIRS)
    settled_s = PARTED_S + 60 * HOUR_S

    assert visits(alike, "print", both, later_s) < 0.5 * visits(alike, "page", both, later_s)
    assert visits(apart, "print", both, later_s) > 0.8 * visits(apart, "page", both, later_s)
    turned_back = visits(alike, "print", range(1), settled_s)
    assert turned_back > 0.7 * visits(alike, "page", range(1), settled_s)
    assert turned_back > 1.5 * visits(alike, "print", both, settled_s)


def test_a_copy_that_was_read_before_its_original_is_no_page_after_its_next_visit() -> None:
    """Though nothing of it changed: until then what it calls its own was not known."""
    copy, original, alone = f"{A}/latest/lamps", f"{A}/2.0/lamps", f"{A}/latest/shades"

    def reply(request: Request) -> FetchResponse:
        if request.etag == '"1"':
            return FetchResponse(request.url, 304)
        named = request.url.replace("latest", "2.0")
        html = f'<link rel="canonical" href="{named}"><main>all about {named}</main>'
        return FetchResponse(request.url, 200, html.encode(), "text/html", etag='"1"')

    async def main() -> VirtualCrawl:
        virtual = virtual_crawl(Setup(revisit=RevisitRules(60.0, HOUR_S, 600.0)))
        virtual.web.page(f"{A}/", "home", "/latest/lamps", "/latest/shades")
        for url in (copy, original, alone):
            virtual.web.reply(url, reply)
        await virtual.run_for(3 * HOUR_S)
        return virtual

    virtual = run_virtually(main())

    assert {url for url, _ in virtual.index.urls()} == {f"{A}/", original, alone}
    requests = [request.etag for request in virtual.web.asked(alone)]
    assert requests[:2] == [None, None]
    assert requests[2:5] == ['"1"'] * 3  # until its host's word is checked


@pytest.mark.parametrize("kept", [MemoryIndex, TantivyIndex])
def test_of_two_pages_that_call_each_other_canonical_one_stays(
    kept: type[PageIndex], tmp_path: Path
) -> None:
    """As where a template has the slash at the end the wrong way round."""

    def reply(request: Request) -> FetchResponse:
        other = request.url.rstrip("/") + ("" if request.url.endswith("/") else "/")
        html = f'<link rel="canonical" href="{other}"><main>all about lamps</main>'
        return FetchResponse(request.url, 200, html.encode(), "text/html")

    async def main() -> set[str]:
        index = MemoryIndex() if kept is MemoryIndex else TantivyIndex(tmp_path)
        setup = Setup(revisit=RevisitRules(60.0, 600.0, 60.0))
        virtual = virtual_crawl(setup, index=index)
        virtual.web.page(f"{A}/", "home", "/lamps", "/lamps/")
        for url in (f"{A}/lamps", f"{A}/lamps/"):
            virtual.web.reply(url, reply)
        await virtual.run_for(HOUR_S)
        return {url for url, _ in virtual.index.urls()}

    assert len(run_virtually(main())) == 2
