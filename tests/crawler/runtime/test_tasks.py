"""Where robots get their work: one of them waits for it, and whoever waits is woken by news."""

import asyncio

import pytest

from recrawl.crawler.control.dispatching.robots_txt import robots_from_answer
from recrawl.crawler.control.dispatching.tasks import AskRobots, Fetch
from recrawl.testing import run_virtually, virtual_crawl
from recrawl.testing.worlds import EPOCH_S

A = "http://a.test"


@pytest.mark.parametrize("due_s", [1e6, float("inf")])
def test_whoever_waits_looks_again_at_news_and_leaves_nothing_behind(due_s: float) -> None:
    """However often: until a page is due, or news come that one is."""

    async def main() -> tuple[int, object, float]:
        virtual = virtual_crawl()
        crawl = virtual.crawl
        await crawl.prepare()
        queue = crawl.dispatcher.host(1)
        queue.next_due_s = EPOCH_S + due_s
        crawl.dispatcher.cancelled(1, EPOCH_S - 99.0)
        waiting = asyncio.create_task(crawl.tasks.next())
        for _ in range(50):
            await asyncio.sleep(1.0)
            crawl.tasks.wake()
        await asyncio.sleep(1.0)
        n_tasks = len(asyncio.all_tasks())
        crawl.dispatcher.observe_due(1, EPOCH_S)
        crawl.tasks.wake()
        return n_tasks, await waiting, virtual.clock.now_s() - EPOCH_S

    n_tasks, task, at_s = run_virtually(main())

    assert n_tasks <= 4  # this test, the one that waits, and what it waits for
    assert task == AskRobots(1, A)
    assert at_s == pytest.approx(51.0)


def test_a_first_visit_that_is_made_says_what_those_that_wait_are_worth() -> None:
    """Weight times the seconds for which it keeps a page fresh, and those that it has waited."""

    async def main() -> None:
        crawl = virtual_crawl().crawl
        await crawl.prepare()
        price, robots = crawl.due_times.price, robots_from_answer("recrawl", 404, b"")
        crawl.dispatcher.set_robots(1, robots, EPOCH_S + 1e6)
        before = price.of_first(2, 1.0)
        await asyncio.sleep(50.0)

        task = await crawl.tasks.next()

        assert isinstance(task, Fetch)
        waited_s = EPOCH_S + 50.0 - task.lease.due_s
        worth = task.lease.weight * (price.fresh_s + waited_s)
        assert before == 0.0
        assert price.of_first(2, 1.0) == pytest.approx(worth)

    run_virtually(main())
