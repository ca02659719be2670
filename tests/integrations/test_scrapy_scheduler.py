"""The scheduler by itself, around one that the test makes."""

import asyncio
import logging
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.core.scheduler import BaseScheduler
from scrapy.dupefilters import BaseDupeFilter
from scrapy.exceptions import CloseSpider
from scrapy.http import Response
from scrapy.settings import Settings
from scrapy.utils.request import RequestFingerprinter
from tests.integrations.spiders import Quotes, unnamed

from recrawl.errors import StateError
from recrawl.integrations.scrapy.addon import told
from recrawl.integrations.scrapy.first import FIRST
from recrawl.integrations.scrapy.middlewares import RecrawlSpiderMiddleware
from recrawl.integrations.scrapy.options import read_options
from recrawl.integrations.scrapy.scheduler import RecrawlScheduler
from recrawl.integrations.scrapy.visits import SpiderVisits

DAY_S = 86_400.0


class Queue(BaseScheduler):
    """First in, first out; full after so many."""

    def __init__(self, room: int = 99) -> None:
        self.room = room
        self.df: BaseDupeFilter = BaseDupeFilter()
        self.requests: deque[Request] = deque()

    def has_pending_requests(self) -> bool:
        return bool(self.requests)

    def enqueue_request(self, request: Request) -> bool:
        if len(self.requests) >= self.room:
            return False
        self.requests.append(request)
        return True

    def next_request(self) -> Request | None:
        return self.requests.popleft() if self.requests else None


class StubCrawler:
    """As much of a crawler as the add-on asks."""

    def __init__(self, state: Path, now: list[float]) -> None:
        self.settings = Settings(
            {"RECRAWL_STATE": str(state), "RECRAWL_CLOCK": lambda: now[0], "RECRAWL_BUDGET": "9/d"}
        )
        self.stats = None
        self.request_fingerprinter = RequestFingerprinter()


@contextmanager
def scheduling(
    state: Path, now: list[float], queue: Queue | None = None, spider: Spider | None = None
) -> Iterator[tuple[RecrawlScheduler, SpiderVisits, Queue]]:
    """Open a scheduler in a state, and close it."""
    crawler: Any = StubCrawler(state, now)
    queue = queue or Queue()
    visits = SpiderVisits(crawler, read_options(crawler.settings))
    scheduler = RecrawlScheduler(queue, visits)
    scheduler.open(spider or Quotes(site="http://a.test"))
    try:
        yield scheduler, visits, queue
    finally:
        scheduler.close("finished")


def test_what_nobody_visited_comes_back_in_the_next_run(tmp_path: Path) -> None:
    """Handed out, not recorded: due in the state, with callback and arguments."""
    now = [1e9]
    spider = Quotes(site="http://a.test")
    asked = Request("http://a.test/1", spider.parse_author, cb_kwargs={"named": "x"}, priority=3)
    with scheduling(tmp_path, now, spider=spider) as (scheduler, _, _):
        assert scheduler.enqueue_request(asked)
        assert not scheduler.enqueue_request(Request("http://a.test/1"))  # under way
        assert scheduler.next_request() is asked
        assert scheduler.next_request() is None
    with scheduling(tmp_path, now, spider=spider) as (scheduler, _, _):
        assert scheduler.has_pending_requests()
        again = scheduler.next_request()
        assert again is not None
        assert (again.url, again.callback, again.cb_kwargs, again.priority, again.dont_filter) == (
            "http://a.test/1",
            spider.parse_author,
            {"named": "x"},
            3,
            False,
        )
        assert not scheduler.has_pending_requests()


def test_what_the_inner_scheduler_refuses_stays_due(tmp_path: Path) -> None:
    now = [1e9]
    with scheduling(tmp_path, now, Queue(room=0)) as (scheduler, visits, _):
        assert not scheduler.enqueue_request(Request("http://a.test/1"))
        assert visits.underway == {}
        assert not scheduler.has_pending_requests()
    with scheduling(tmp_path, now) as (scheduler, _, _):
        assert scheduler.has_pending_requests()


def test_what_a_job_directory_has_left_is_passed_over(tmp_path: Path) -> None:
    """Another run handed it out; the state gives it back itself."""
    with scheduling(tmp_path, [1e9], Queue()) as (scheduler, _, left):
        scheduler.enqueue_request(Request("http://a.test/old"))
    with scheduling(tmp_path, [1e9]) as (scheduler, _, queue):
        queue.requests.extend(left.requests)
        queue.requests.append(Request("http://a.test/post", method="POST"))
        found = scheduler.next_request()

        assert found is not None
        assert found.url == "http://a.test/post"


def test_what_another_state_put_into_a_shared_queue_is_visited(tmp_path: Path) -> None:
    """Once, and learned of; of what both have, one copy is passed over."""
    now, queue = [1e9], Queue()
    with (
        scheduling(tmp_path / "other", now, queue) as (other, _, _),
        scheduling(tmp_path / "own", now, queue) as (scheduler, visits, _),
    ):
        for number in range(2):
            other.enqueue_request(Request(f"http://a.test/{number}"))
        scheduler.enqueue_request(Request("http://a.test/1"))
        taken = [scheduler.next_request(), scheduler.next_request()]
        assert [one and one.url for one in taken] == ["http://a.test/0", "http://a.test/1"]
        assert all(visits.of_request(one) for one in taken)
        for one in taken:
            visit = visits.of_request(one)
            assert visit is not None
            visit.status, visit.signature = 200, b"x"
            visits.read(visit)
        assert scheduler.next_request() is None


def test_a_request_whose_callback_is_gone_is_put_off(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It is told once, tried again later, and due as soon as the spider asks for it anew."""
    now = [1e9]
    spider = Quotes(site="http://a.test")
    with scheduling(tmp_path, now, spider=spider) as (scheduler, _, _):
        for n in (1, 2):
            scheduler.enqueue_request(Request(f"http://a.test/{n}", spider.parse_author))
    older = Spider(name="quotes")
    with scheduling(tmp_path, now, spider=older) as (scheduler, visits, _):
        assert scheduler.next_request() is None
        assert scheduler.next_request() is None
        assert caplog.text.count("cannot be asked for again") == 1
        visits.store.flush()
        (row,) = visits.store.rows("pages_of_url", url="http://a.test/1")
        assert row["due_s"] > now[0]
        assert scheduler.enqueue_request(Request("http://a.test/2", older.parse))
        request = scheduler.next_request()
        assert request is not None
        assert request.url == "http://a.test/2"
    now[0] += 30 * DAY_S
    with scheduling(tmp_path, now, spider=spider) as (scheduler, _, _):
        assert scheduler.has_pending_requests()


def test_a_filter_of_the_projects_own_is_asked_once(tmp_path: Path) -> None:
    """Of what may be kept, and of what turns out to be none of ours; not of what has to pass."""

    class Own(BaseDupeFilter):
        def __init__(self) -> None:
            self.asked: list[str] = []

        def request_seen(self, request: Request) -> bool:
            self.asked.append(request.url)
            return "/no" in request.url

        def log(self, request: Request, spider: Spider) -> None:
            pass

    queue = Queue()
    queue.df = own = Own()
    with scheduling(tmp_path, [1e9], queue) as (scheduler, visits, _):
        assert scheduler.enqueue_request(Request("http://a.test/yes"))
        assert not scheduler.enqueue_request(Request("http://a.test/no"))
        assert scheduler.enqueue_request(Request("http://a.test/no/pass", dont_filter=True))
        assert scheduler.enqueue_request(Request("http://a.test/odd", callback=unnamed))
        visits.store.flush()
        assert not visits.store.rows("pages_of_url", url="http://a.test/no")

    assert own.asked == ["http://a.test/yes", "http://a.test/no", "http://a.test/odd"]
    assert [request.dont_filter for request in queue.requests] == [True, True, True]


def test_what_falls_due_comes_while_others_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full queue does not keep a page back that is due."""
    now = [1e9]
    with scheduling(tmp_path, now) as (scheduler, visits, _):
        scheduler.enqueue_request(Request("http://a.test/due"))
        visits.store.flush()
        visits.store._db.execute("UPDATE page SET visits = 1")
    with scheduling(tmp_path, now) as (scheduler, _, queue):
        scheduler.enqueue_request(Request("http://a.test/new"))
        monkeypatch.setattr("recrawl.integrations.scrapy.scheduler.monotonic", lambda: 1e12)
        assert scheduler.next_request() is not None
        assert [request.url for request in queue.requests] == ["http://a.test/due"]


def test_known_pages_wait_for_what_must_come_first(tmp_path: Path) -> None:
    """From the beginning of a run on, until the callback of a login has ended."""
    now = [1e9]
    with scheduling(tmp_path, now) as (scheduler, _, _):
        scheduler.enqueue_request(Request("http://a.test/page"))
        scheduler.enqueue_request(Request("http://a.test/login", meta={FIRST: True}))
    with scheduling(tmp_path, now) as (scheduler, visits, _):
        assert scheduler.next_request() is None  # the spider has not begun
        scheduler.enqueue_request(Request("http://a.test/login", meta={FIRST: True}))
        visits.first.began()
        login = scheduler.next_request()
        assert login is not None
        assert login.url == "http://a.test/login"  # known or not
        fetched = {login}
        engine: Any = SimpleNamespace(_slot=SimpleNamespace(inprogress=fetched))
        visits._crawler.engine = engine
        assert not scheduler.has_pending_requests()
        assert scheduler.next_request() is None
        fetched.clear()
        page = scheduler.next_request()
        assert page is not None
        assert page.url == "http://a.test/page"


def test_of_two_spiders_that_begin_at_once_one_ends_in_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both have found the state free, as the add-on looks before the engine runs."""
    monkeypatch.setitem(sys.modules, "scrapy.cmdline", SimpleNamespace())

    async def begin() -> None:
        with scheduling(tmp_path, [1e9]):
            pass

    with scheduling(tmp_path, [1e9]), pytest.raises(SystemExit) as ended:
        asyncio.run(begin())

    assert ended.value.code == 1
    told = capsys.readouterr().err
    assert told.startswith(f"scrapy: error: RECRAWL_STATE: {tmp_path}: spider quotes runs already")
    assert told.count("\n") == 1


def test_what_ends_a_spider_is_in_its_log_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "scrapy.cmdline", SimpleNamespace())
    path = tmp_path / "run.log"
    log = logging.FileHandler(path)
    logging.root.addHandler(log)
    try:
        with pytest.raises(SystemExit), told():
            raise StateError("RECRAWL_STATE: x: damaged")
    finally:
        logging.root.removeHandler(log)
        log.close()

    assert path.read_text() == "RECRAWL_STATE: x: damaged\n"


def test_what_has_no_body_is_told_by_its_items(tmp_path: Path) -> None:
    """An answer to HEAD, or one that another middleware made instead of a download."""
    now, outcomes = [1e9], []
    spider = Quotes(site="http://a.test")
    for tag in ("one", "one", "two"):
        with scheduling(tmp_path, now, spider=spider) as (scheduler, visits, _):
            scheduler.enqueue_request(Request("http://a.test/1", spider.parse, method="HEAD"))
            asked = scheduler.next_request()
            visit = visits.of_request(asked)
            assert asked is not None
            assert visit is not None
            answer = Response(asked.url, headers={"ETag": tag}, request=asked)
            assert not visits.answered(visit, asked, answer), "it reaches its callback"
            visits.gave(visit, {"tag": tag})
            visits.read(visit)
            visits.taken(answer)
            outcomes += [name for name in visits._counts if name.startswith("visits/")]
        now[0] += 2 * DAY_S

    assert outcomes == ["visits/new", "visits/unchanged", "visits/changed"]


def test_an_answer_that_another_middleware_drops_is_a_visit_that_failed(tmp_path: Path) -> None:
    """Nobody tells its end; left as it was, it was asked for in every run, past the budget."""
    now = [1e9]
    with scheduling(tmp_path, now) as (scheduler, visits, _):
        scheduler.enqueue_request(Request("http://a.test/1"))
        asked = scheduler.next_request()
        assert asked is not None
        visits.ask(asked)
    with scheduling(tmp_path, now) as (scheduler, _, _):
        assert not scheduler.has_pending_requests()
    now[0] += 2 * DAY_S
    with scheduling(tmp_path, now) as (scheduler, _, _):
        assert scheduler.has_pending_requests()


def test_a_spider_ends_where_its_state_takes_nothing_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A full disk: told once, where each look at the queue raised it anew, and no end came."""
    with scheduling(tmp_path, [1e9]) as (scheduler, visits, _):
        scheduler.enqueue_request(Request("http://a.test/1"))

        def full() -> None:
            raise StateError("RECRAWL_STATE: disk is full")

        monkeypatch.setattr(visits.store, "flush", full)
        assert scheduler.next_request() is not None
        assert scheduler.next_request() is None
        assert not scheduler.has_pending_requests()
        assert not scheduler.enqueue_request(Request("http://a.test/2"))
        with pytest.raises(CloseSpider) as ended:
            RecrawlSpiderMiddleware(visits).idle()
        assert ended.value.reason == "recrawl_state"
        assert [one.levelname for one in caplog.records] == ["CRITICAL"]
    with scheduling(tmp_path / "other", [1e9]) as (_, visits, _):
        RecrawlSpiderMiddleware(visits).idle()
