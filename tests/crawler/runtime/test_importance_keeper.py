"""When importance is computed, what is written of it, and what the feed is told: page by page."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ParamSpec, TypeVar

import numpy as np
import pytest
from typing_extensions import override

from recrawl.crawler.control.worth.importance import ExpectedImportance
from recrawl.crawler.frontier.memory import MemoryFrontier
from recrawl.crawler.ports import AdmissionLimits, Offload
from recrawl.crawler.runtime import importance
from recrawl.crawler.runtime.importance import ImportanceKeeper
from recrawl.crawler.runtime.parts import ImportanceRules
from recrawl.learning.importance import Importance
from recrawl.learning.page_rank import rank_pages
from recrawl.terms import Discovery, Outcome, PageState, PageUpdate, PageWorth, Visit
from recrawl.testing import virtual_crawl

P = ParamSpec("P")
T = TypeVar("T")
DAY_S = 86_400.0


class SetClock:
    """Shows the time that it is set to."""

    def __init__(self) -> None:
        self.s = 0.0

    def now_s(self) -> float:
        return self.s

    async def sleep_until(self, instant_s: float) -> None:
        self.s = max(self.s, instant_s)


class Taking(Offload):
    """Runs in place what takes some time by the clock, each call alike."""

    def __init__(self, clock: SetClock) -> None:
        self.clock, self.takes_s, self.n_calls = clock, 0.0, 0

    @override
    async def __call__(self, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        self.clock.s += self.takes_s
        self.n_calls += 1
        return call(*args, **kwargs)


class Kept:
    """A keeper of importance over a state that only the test fills."""

    def __init__(self, shares: Mapping[str, float] | None = None, **rules: Any) -> None:
        asyncio.run(self._make(shares or {"logs": 1.0}, rules))

    async def _make(self, shares: Mapping[str, float], rules: dict[str, Any]) -> None:
        self.clock, self.frontier = SetClock(), MemoryFrontier()
        virtual = virtual_crawl(frontier=self.frontier)
        self.events, crawl = virtual.counts.events, virtual.crawl
        self.plan, self.expected = Taking(self.clock), ExpectedImportance()
        least_s = ImportanceRules(shares, least_s=60.0)
        self.keeper = ImportanceKeeper(
            replace(crawl.world, clock=self.clock),
            replace(crawl.rules, **({"importance": least_s} | rules)),
            self.expected,
            on_plan=self.plan,
        )

    def find(self, first: int, last: int) -> None:
        """Find pages of these numbers."""
        found = [Discovery(f"http://a.test/{n}", "http://a.test") for n in range(first, last + 1)]
        self.frontier.admit(found, 0.0, AdmissionLimits())

    def refresh(self, at_s: float | None = None) -> bool:
        self.clock.s = self.clock.s if at_s is None else at_s
        return asyncio.run(self.keeper.refresh())

    def tell(self, at_s: float | None = None) -> int:
        self.clock.s = self.clock.s if at_s is None else at_s
        return asyncio.run(self.keeper.tell())

    def worth(self, number: int) -> float:
        return self.worth_of(f"http://a.test/{number}")

    def worth_of(self, url: str) -> float:
        found = self.frontier.details(url)
        assert found is not None
        assert found.importance is not None
        return found.importance

    def count(self, counts: Mapping[int, float]) -> None:
        """Count what was asked for of pages by their numbers, today."""
        told = {f"http://a.test/{number}": many for number, many in counts.items()}
        self.frontier.worths.count("logs", told, self.clock.s, DAY_S)


def test_of_no_page_nothing_is_computed() -> None:
    """And of pages that are all alike neither."""
    kept = Kept()
    assert kept.refresh(0.0) is False
    kept.find(1, 9)
    assert kept.refresh(0.0) is True

    even = Kept({"even": 1.0})
    even.find(1, 9)
    assert even.refresh(0.0) is False
    assert even.plan.n_calls == 0


def test_it_is_computed_after_the_least_time_if_there_are_many_more_pages() -> None:
    """A tenth more, of thirty, but not fewer."""
    kept = Kept()
    kept.find(1, 30)
    assert kept.refresh(0.0)
    kept.find(31, 33)
    assert not kept.refresh(59.0)
    assert kept.refresh(60.0)
    kept.find(34, 36)
    assert not kept.refresh(120.0), "three of 33 are fewer"
    kept.find(37, 37)
    assert kept.refresh(120.0)


def test_it_is_computed_after_a_day_however_few_pages_are_new() -> None:
    kept = Kept()
    kept.find(1, 10)
    assert kept.refresh(0.0)
    assert not kept.refresh(DAY_S - 1.0)
    assert kept.refresh(DAY_S)
    assert kept.events["importance"] == 2


def test_it_takes_no_more_than_a_fiftieth_of_the_time() -> None:
    """However many pages come, and however long a day is."""
    for takes_s, more in ((10.0, True), (1_000.0, False)):
        kept = Kept()
        kept.find(1, 10)
        kept.plan.takes_s = takes_s
        assert kept.refresh(0.0)
        ended_s = kept.clock.s
        assert ended_s == takes_s * kept.plan.n_calls
        if more:
            kept.find(11, 30)
        assert not kept.refresh(ended_s + 50.0 * ended_s - 1.0)
        assert kept.refresh(ended_s + 50.0 * ended_s)


def test_a_new_page_comes_after_most_that_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever those are worth that were visited: as little is known of it."""
    kept = Kept()
    kept.find(1, 40)
    leases = kept.frontier.lease(1, limit=20, due_by_s=0.0, now_s=0.0, until_s=9.0)
    new, indexed = Visit(0.0, Outcome.NEW), PageState.INDEXED
    kept.frontier.complete([PageUpdate(one, new, indexed, DAY_S) for one in leases])
    visited = {one.page_id for one in leases}
    worths = np.array([1.2 if page_id in visited else 0.8 for page_id in range(1, 41)])
    monkeypatch.setattr(importance, "combined", lambda *_: Importance(worths, {}))

    assert kept.expected.of("http://a.test/41") is None
    assert kept.refresh(0.0)

    assert kept.expected.of("http://a.test/41") == pytest.approx(0.99 * 0.8)
    assert kept.expected.of("http://a.test/else/where/42") == pytest.approx(0.99 * 0.8)
    assert kept.expected.of("http://b.test/43") == 1.0


def test_only_what_moved_by_more_than_a_fiftieth_is_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Upwards or downwards, and of what it was; first of all everything."""
    kept, saved = Kept(), []
    kept.find(1, 6)
    save = kept.frontier.worths.save
    before = [1.0, 1.0, 4.0, 4.0, 0.25, 0.25]
    worths = iter([before, before, np.multiply(before, [1.019, 1.021, 0.981, 0.979, 1.021, 0.981])])

    def found(*_: object) -> Importance:
        return Importance(np.array(next(worths)), {})

    def noted(_: object, told: Sequence[PageWorth]) -> list[int]:
        saved.append(([one.page_id for one in told], [one.importance for one in told]))
        return save(told)

    monkeypatch.setattr(importance, "combined", found)
    monkeypatch.setattr(type(kept.frontier.worths), "save", noted)
    for day in range(3):
        assert kept.refresh(DAY_S * day)

    (first, all_of_them), (later, moved) = saved
    assert (first, all_of_them) == ([1, 2, 3, 4, 5, 6], before)
    assert later == [2, 4, 5]
    assert moved == pytest.approx([1.021, 4 * 0.979, 0.25 * 1.021])


def test_the_first_page_that_is_known_is_counted_like_any_other() -> None:
    """Nine times as much as of each of the five others, whichever it is."""
    found = []
    for number in (1, 3, 6):
        kept = Kept()
        kept.find(1, 6)
        kept.count({n: 9e4 if n == number else 1e4 for n in range(1, 7)})
        kept.refresh(0.0)
        found.append([kept.worth(n) for n in range(1, 7) if n != number] + [kept.worth(number)])

    for one in found:  # 9 beside five times 1 are of mean 14 / 6
        assert one == pytest.approx([6 / 14] * 5 + [6 * 9 / 14], rel=0.01)


def test_what_was_not_there_to_be_asked_for_is_worth_what_is_usual_in_its_folder() -> None:
    """Of a page that is not in the index nothing was counted, which says nothing against it."""
    kept = Kept()
    kept.find(1, 5)
    kept.count(dict.fromkeys(range(1, 5), 1e4))
    kept.refresh(0.0)

    assert [kept.worth(n) for n in range(1, 6)] == pytest.approx([1.0] * 5, rel=0.01)


def test_a_list_that_is_narrowed_once_more_is_worth_half_as_much_before_its_first_visit() -> None:
    kept = Kept()
    urls = ["http://a.test/list?by=1", "http://a.test/list?by=1&of=2"]
    kept.frontier.admit([Discovery(url, "http://a.test") for url in urls], 0.0, AdmissionLimits())
    kept.frontier.worths.count("logs", dict.fromkeys(urls, 1e4), 0.0, DAY_S)
    kept.refresh(0.0)

    wide, narrow = (kept.worth_of(url) for url in urls)

    assert narrow == pytest.approx(0.5 * wide)


def test_how_much_is_counted_in_all_makes_no_difference() -> None:
    """Only how it is shared out does; all together are of mean one."""
    found = []
    for unit in (1e3, 1e5):
        kept = Kept()
        kept.find(1, 4)
        kept.count({1: 4.0 * unit, 2: 3.0 * unit, 3: 2.0 * unit, 4: 1.0 * unit})
        kept.refresh(0.0)
        found.append([kept.worth(number) for number in range(1, 5)])

    assert found[0] == pytest.approx([1.6, 1.2, 0.8, 0.4], rel=0.01)
    assert found[1] == pytest.approx([1.6, 1.2, 0.8, 0.4], rel=0.001)


def test_ranks_go_on_from_where_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each page from its own share of the last time, and a new one from an even share."""
    begun, ended = [], []

    def noted(graph: Any, *, start: np.ndarray) -> Any:
        begun.append(start.tolist())
        found = rank_pages(graph, start=start)
        ended.append(found.shares.tolist())
        return found

    monkeypatch.setattr(importance, "rank_pages", noted)
    kept = Kept({"links": 1.0})
    for last, at_s in ((4, 0.0), (5, DAY_S)):
        kept.find(1, last)
        assert kept.refresh(at_s)

    assert begun[0] == [0.25] * 4
    assert begun[1] == [*ended[0], 0.2]


def test_what_a_source_says_has_mean_one() -> None:
    """Over the pages that are there; it is kept beside its share."""
    kept = Kept({"logs": 0.75, "even": 0.25})
    kept.find(1, 4)
    kept.count({1: 4e6, 2: 3e6, 3: 2e6, 4: 1e6})
    kept.refresh(0.0)
    parts = []
    for number in range(1, 5):
        found = kept.frontier.details(f"http://a.test/{number}")
        assert found is not None
        parts.append(json.loads(found.importance_parts or ""))

    assert [one["logs"] for one in parts] == [[0.75, 1.6], [0.75, 1.2], [0.75, 0.8], [0.75, 0.4]]
    assert [one["even"] for one in parts] == [[0.25, 1.0]] * 4


def told_by(
    monkeypatch: pytest.MonkeyPatch, kept: Kept, n_pages: int, n_moved: int
) -> list[list[int]]:
    """Have so many pages in the feed, the last of which have moved; return what it is told."""
    told: list[list[int]] = []
    rows = [(n, 1.0 if n <= n_pages - n_moved else 2.0 + n, 1.0) for n in range(1, n_pages + 1)]

    def importances(_: object, *, after: int, limit: int) -> list[tuple[int, float, float]]:
        return rows[after : after + limit]

    def tell(_: object, page_ids: Sequence[int], __: float) -> int:
        told.append(list(page_ids))
        return len(page_ids)

    monkeypatch.setattr(type(kept.frontier.feed), "importances", importances)
    monkeypatch.setattr(type(kept.frontier.feed), "tell_importance", tell)
    return told


@pytest.mark.parametrize(
    ("n_pages", "n_moved", "n_told"),
    [
        (50, 0, []),
        (900, 900, [900]),
        (60_000, 2_500, [2_000, 500]),
        (60_000, 9_000, [2_000, 1_000]),
    ],
)
def test_the_feed_is_told_of_one_page_in_twenty_at_a_time(
    monkeypatch: pytest.MonkeyPatch, n_pages: int, n_moved: int, n_told: list[int]
) -> None:
    """Those that moved most, two thousand at once; of few pages all."""
    kept = Kept(feed_importance=True)
    told = told_by(monkeypatch, kept, n_pages, n_moved)

    assert kept.tell(0.0) == sum(n_told)
    assert [len(part) for part in told] == n_told
    order = [page_id for part in told for page_id in part]
    assert order == list(range(n_pages, n_pages - sum(n_told), -1))


def test_the_feed_is_told_where_it_is_asked_for_and_not_too_often(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After the least time, or fifty times as long as it took."""
    unasked = Kept()
    told_by(monkeypatch, unasked, 9, 9)
    assert unasked.tell(0.0) == 0

    kept = Kept(feed_importance=True)
    told_by(monkeypatch, kept, 9, 9)
    assert [kept.tell(at_s) for at_s in (0.0, 59.0, 60.0)] == [9, 0, 9]
    kept.plan.takes_s = 10.0
    assert kept.tell(120.0) == 9
    assert [kept.tell(130.0 + after_s) for after_s in (499.0, 500.0)] == [0, 9]
