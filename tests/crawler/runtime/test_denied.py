"""Pages that were denied, and what is done once they are given."""

import pytest

from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.frontier.memory import MemoryFrontier
from recrawl.crawler.index.memory import MemoryIndex
from recrawl.terms import FetchResponse, PageState
from recrawl.testing import Setup, run_virtually, virtual_crawl
from recrawl.testing.scripted import Request
from recrawl.testing.worlds import EPOCH_S

HOST = "http://a.test"
PATHS = ("/a", "/b", "/c")


@pytest.mark.parametrize(("is_given", "asked"), [(True, 3), (False, 1)])
def test_a_secret_that_is_right_by_now_opens_all_pages(is_given: bool, asked: int) -> None:
    """After a start one page tells; where it is denied still, the others are left alone."""
    frontier, index = MemoryFrontier(), MemoryIndex()
    n_asked: list[str] = []

    def live(at_s: float, for_s: float, *, is_open: bool) -> None:
        def reply(request: Request) -> FetchResponse:
            n_asked.append(request.url)
            if not is_open:
                return FetchResponse(request.url, 401)
            return FetchResponse(request.url, 200, b"<title>t</title><p>words", "text/html")

        async def run() -> None:
            revisit = RevisitRules(60.0, 86_400.0, 3_600.0, confirm_s=100.0)
            setup = Setup(epoch_s=at_s, budget_per_s=10.0, revisit=revisit)
            virtual = virtual_crawl(setup, frontier=frontier, index=index)
            virtual.web.page(f"{HOST}/", "home", *PATHS)
            for path in PATHS:
                virtual.web.reply(HOST + path, reply)
            await virtual.crawl.prepare()
            async with virtual.crawl.running():
                await virtual.clock.sleep_until(at_s + for_s)

        run_virtually(run())

    live(EPOCH_S, 300.0, is_open=False)
    states = [frontier.details(HOST + path) for path in PATHS]
    assert [page.state for page in states if page] == [PageState.GONE] * 3
    n_asked.clear()
    live(EPOCH_S + 301.0, 30.0, is_open=is_given)  # before they would be due by themselves

    assert len(set(n_asked)) == asked
    state = PageState.INDEXED if is_given else PageState.GONE
    assert [page.state for path in PATHS if (page := frontier.details(HOST + path))] == [state] * 3
