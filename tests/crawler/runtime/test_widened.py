"""A configuration that takes more addresses than before, over pages that never change."""

from dataclasses import replace

import pytest

from recrawl.crawler.control.addresses.admission import Admission
from recrawl.crawler.control.addresses.reach import Reach
from recrawl.crawler.control.addresses.scope import Scope
from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.frontier.memory import MemoryFrontier
from recrawl.crawler.index.memory import MemoryIndex
from recrawl.crawler.ports import AdmissionLimits
from recrawl.crawler.reports.moves import moved_away, moved_words
from recrawl.terms import Discovery, FetchResponse, Outcome, PageState, PageUpdate, Visit
from recrawl.testing import Setup, run_virtually, virtual_crawl
from recrawl.testing.scripted import Request
from recrawl.testing.worlds import EPOCH_S

A, B = "http://a.test", "http://b.test"
LINKS = {
    f"{A}/": f'<a href="/docs/a">a</a> <a href="/blog/b">b</a> <a href="{B}/far">far</a>',
    f"{A}/docs/a": "a",
    f"{A}/blog/b": "b",
    f"{B}/far": "far",
    f"{B}/": "home",
}


class Lives:
    """One crawl after the other over the same state."""

    def __init__(self) -> None:
        self.frontier, self.index = MemoryFrontier(), MemoryIndex()
        self.at_s = EPOCH_S
        self.moved = False
        self.asked: dict[str, list[str | None]] = {}

    def live(self, scope: Scope, *, limits: AdmissionLimits | None = None) -> list[str]:
        """Crawl within these bounds; return what is said at the beginning."""
        setup = Setup(
            budget_per_s=1.0,
            revisit=RevisitRules(3_000.0, 60_000.0, 3_000.0),
            epoch_s=self.at_s,
            rules={
                "admission": Admission(scope),
                "limits": limits or AdmissionLimits(),
                "replan_s": 20.0,
            },
        )
        self.asked, self.at_s = {}, self.at_s + 401.0

        async def run() -> list[str]:
            virtual = virtual_crawl(setup, frontier=self.frontier, index=self.index)
            for url in LINKS:
                virtual.web.reply(url, self._reply)
            words = (await virtual.crawl.prepare()).words
            async with virtual.crawl.running():
                await virtual.clock.sleep_until(virtual.clock.now_s() + 400.0)
            return words

        return run_virtually(run())

    def _reply(self, request: Request) -> FetchResponse:
        self.asked.setdefault(request.url, []).append(request.etag)
        if self.moved and request.url.startswith(A):
            return FetchResponse(request.url, 301, location=request.url.replace(A, B))
        if request.etag == "1":
            return FetchResponse(request.url, 304, etag="1")
        body = f"<title>{request.url}</title><p>words {LINKS[request.url]}</p>".encode()
        return FetchResponse(request.url, 200, body, "text/html", etag="1")

    def state(self, url: str) -> PageState | None:
        found = self.frontier.details(url)
        return None if found is None else found.state


NARROW = Scope(("a.test",), include=("/", "/docs/*"))
NOTE = "pages are looked at for addresses that the configuration takes now, and did not take before"


@pytest.mark.parametrize(
    ("wider", "found"),
    [
        (replace(NARROW, include=()), f"{A}/blog/b"),
        (replace(NARROW, include=("/", "/docs/*", "/blog/*")), f"{A}/blog/b"),
        (replace(NARROW, hosts=("a.test", "b.test"), include=()), f"{B}/far"),
    ],
)
def test_what_is_taken_now_is_found_on_pages_that_are_as_they_were(
    wider: Scope, found: str
) -> None:
    """They are asked for whole, though their server would say that they have not changed."""
    lives = Lives()
    assert lives.live(NARROW) == []
    assert lives.state(found) is None
    words = lives.live(wider)

    assert words == [f"2 {NOTE}; within 4s"]
    assert lives.asked[f"{A}/"] == [None]
    assert lives.asked[f"{A}/docs/a"] == [None]
    assert lives.state(found) is PageState.INDEXED
    assert lives.live(wider) == []


def test_a_bound_that_is_raised_is_filled() -> None:
    lives = Lives()
    lives.live(Scope(("a.test",)), limits=AdmissionLimits(max_pages=3))
    assert lives.frontier.n_pages_by_state() == {PageState.INDEXED: 2}
    lives.live(Scope(("a.test",)), limits=AdmissionLimits(max_pages=4))

    assert lives.frontier.n_pages_by_state() == {PageState.INDEXED: 3}


def test_a_configuration_that_takes_less_asks_for_nothing() -> None:
    lives = Lives()
    lives.live(Scope(("a.test",)))

    assert lives.live(NARROW) == []
    assert lives.asked == {}


def test_a_site_that_moved_out_of_the_scope_is_told_and_followed_when_that_takes_it() -> None:
    """Also pages that moved: else they would be looked at again after the longest interval."""
    lives = Lives()
    lives.live(Scope(("a.test",)))
    lives.moved = True
    lives.at_s += 70_000.0
    lives.live(Scope(("a.test",)))
    (row,) = moved_away(lives.frontier)
    assert row == {"host": A, "to": B, "pages": 3}
    assert moved_words(row) == (
        f"Moved away from {A}: 3 pages lead to {B}, where this crawl does not go; "
        'to follow, add "b.test" to scope.hosts'
    )
    words = lives.live(Scope(("a.test", "b.test")))

    assert words == [f"3 {NOTE}; within 6s"]
    assert lives.state(f"{B}/") is PageState.INDEXED
    assert moved_away(lives.frontier) == []


def test_pages_that_were_taken_no_longer_are_visited_once_they_are_again() -> None:
    """Not a day later, when their turn to be looked at would have come."""
    lives = Lives()
    lives.live(Scope(("a.test",)))
    lives.at_s += 70_000.0
    lives.live(NARROW)
    assert f"{A}/blog/b" not in lives.asked
    lives.live(Scope(("a.test",)))

    assert f"{A}/blog/b" in lives.asked


@pytest.mark.parametrize(("n_moved", "told"), [(1, []), (2, [2])])
def test_a_few_pages_that_lead_elsewhere_are_no_move(n_moved: int, told: list[int]) -> None:
    """A fifth of a host's pages are not few."""
    frontier = MemoryFrontier()
    frontier.save_reach(Reach(("a.test",)).as_text())
    frontier.admit([Discovery(f"{A}/{n}", A) for n in range(10)], 0.0, AdmissionLimits())
    host_id = frontier.hosts()[0].host_id
    leases = frontier.lease(host_id, limit=10, due_by_s=1.0, now_s=1.0, until_s=9.0)
    for n, lease in enumerate(leases):
        state = PageState.MOVED if n < n_moved else PageState.INDEXED
        visit = Visit(2.0, Outcome.NEW, 200)
        target = f"{B}/" if n < n_moved else None
        frontier.complete([PageUpdate(lease, visit, state, due_s=9.0, redirect_url=target)])

    assert [row["pages"] for row in moved_away(frontier)] == told
