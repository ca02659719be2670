"""Visits that people ask for come before all others, within politeness and budget."""

from typing_extensions import override

from recrawl.crawler.control.addresses.admission import Admission
from recrawl.crawler.control.addresses.scope import Scope
from recrawl.crawler.control.dispatching.politeness import PolitenessRules
from recrawl.crawler.frontier.memory import MemoryFrontier
from recrawl.crawler.runtime.crawl import Crawl
from recrawl.testing import ScriptedFetcher, Setup, run_virtually, virtual_crawl

A, B = "http://a.test", "http://b.test"


def script(web: ScriptedFetcher) -> None:
    for number in range(200):
        web.page(f"{A}/{number}", f"page {number}")
        web.page(f"{B}/{number}", f"page {number}")


def test_a_page_asked_for_is_fetched_next_on_a_busy_crawl() -> None:
    """Its host's next request, though hundreds of pages wait; the answer says what came of it."""
    seeds = [f"{host}/{number}" for host in (A, B) for number in range(200)]
    setup = Setup(
        seeds=seeds,
        hosts=("a.test", "b.test"),
        budget_per_s=1.5,
        politeness=PolitenessRules(delay_s=1.0),
        rules={"asked_every_s": 0.5},
    )

    async def main() -> None:
        virtual = virtual_crawl(setup)
        script(virtual.web)
        await virtual.crawl.prepare()
        async with virtual.crawl.running():
            await virtual.clock.sleep_until(virtual.crawl.now_s + 30.0)
            asked_s = virtual.crawl.now_s
            urls = [f"{A}/199", f"{B}/198", f"{A}/new", "http://else.test/", "ftp://a.test/"]
            numbers = virtual.frontier.ask(urls, asked_s)
            await virtual.clock.sleep_until(asked_s + 8.0)
            answers = virtual.frontier.answers(numbers)
            made = [request for request in virtual.web.requests if request.at_s > asked_s + 0.5]
        first = {request.url for request in made[:4]}
        assert {f"{A}/199", f"{B}/198", f"{A}/new"} <= first
        assert [answer.outcome for answer in answers] == ["new", "new", "not-found"] + 2 * [
            "refused"
        ]
        assert [one.note for one in answers[3:]] == ["another host", "no http or https address"]
        times = [request.at_s for request in virtual.web.requests]
        assert len(times) <= 1.5 * (times[-1] - times[0]) + 15.0 + 1.0

    run_virtually(main())


def outcomes_of(url: str, **rules: object) -> list[str | None]:
    """Ask for a page, and return what has come of it ten seconds later."""
    setup = Setup(seeds=[f"{A}/0"], rules={"asked_every_s": 0.5, **rules})

    async def main() -> list[str | None]:
        virtual = virtual_crawl(setup)
        script(virtual.web)
        await virtual.crawl.prepare()
        async with virtual.crawl.running():
            numbers = virtual.frontier.ask([url], virtual.crawl.now_s)
            await virtual.clock.sleep_until(virtual.crawl.now_s + 10.0)
            return [answer.outcome for answer in virtual.frontier.answers(numbers)]

    return run_virtually(main())


def test_a_page_that_is_asked_for_is_no_link_away_from_itself() -> None:
    """Bounds on links and redirects hold for what is found from there."""
    admission = Admission(Scope(hosts=("a.test",), max_depth=0, max_hops=0))
    assert outcomes_of(f"{A}/7", admission=admission) == ["new"]


def test_a_page_of_a_host_that_nobody_knew_is_visited_as_soon() -> None:
    assert outcomes_of(f"{B}/7") == ["new"]


def test_a_crawl_is_not_over_while_what_was_asked_for_is_taken_up() -> None:
    """A single pass would end in between: no robot knows of these pages yet."""
    over = list[bool]()

    class Watched(MemoryFrontier):
        @override
        def take_asked(self, *_: object) -> list[int]:
            over.append(crawls[0].is_done())
            return []

    async def main() -> None:
        crawls.append(virtual_crawl(Setup(seeds=()), frontier=Watched()).crawl)
        await crawls[0].prepare()
        for _ in range(2):
            over.append(crawls[0].is_done())
            await crawls[0].asked.look()

    crawls = list[Crawl]()
    run_virtually(main())

    assert over == [True, False, True, False]


def test_what_came_of_a_page_that_was_asked_for_is_answered_without_waiting_for_others() -> None:
    """Copies are written once a minute here; what somebody waits for is written at once."""
    rules: dict[str, object] = {"asked_every_s": 0.5, "commit_s": 60.0}
    setup = Setup(seeds=[f"{A}/0"], budget_per_s=10.0, rules=rules)

    async def main() -> None:
        virtual = virtual_crawl(setup)
        script(virtual.web)
        await virtual.crawl.prepare()
        async with virtual.crawl.running():
            await virtual.clock.sleep_until(virtual.crawl.now_s + 10.0)
            numbers = virtual.frontier.ask([f"{A}/7"], virtual.crawl.now_s)
            while not virtual.web.asked(f"{A}/7"):
                await virtual.clock.sleep_until(virtual.crawl.now_s + 0.1)
            await virtual.clock.sleep_until(virtual.crawl.now_s + 0.7)
            assert [answer.outcome for answer in virtual.frontier.answers(numbers)] == ["new"]

    run_virtually(main())


def test_a_page_that_is_asked_for_before_its_visit_is_on_record_is_visited_again_soon() -> None:
    """That visit began too early to be an answer, and nobody looked at the host for a minute."""
    setup = Setup(seeds=[f"{A}/0"], rules={"asked_every_s": 0.5, "commit_s": 3.0})

    async def main() -> None:
        virtual = virtual_crawl(setup)
        script(virtual.web)
        await virtual.crawl.prepare()
        async with virtual.crawl.running():
            while f"{A}/0" not in [request.url for request in virtual.web.requests]:
                await virtual.clock.sleep_until(virtual.crawl.now_s + 0.25)
            await virtual.clock.sleep_until(virtual.crawl.now_s + 0.5)
            numbers = virtual.frontier.ask([f"{A}/0"], virtual.crawl.now_s)
            await virtual.clock.sleep_until(virtual.crawl.now_s + 10.0)
            answers = virtual.frontier.answers(numbers)
        assert [answer.outcome for answer in answers] == ["unchanged"]

    run_virtually(main())
