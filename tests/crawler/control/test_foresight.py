"""Foresight in a running crawl: neighbours of what changed are due sooner, and people told why."""

from dataclasses import replace

import numpy as np
import pytest

from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.control.evidence import Evidence, PlannedPages
from recrawl.crawler.control.revisiting.believed import Believed
from recrawl.crawler.control.revisiting.policies import revisit_policy
from recrawl.crawler.control.revisiting.revisit_policy import (
    PageVisit,
    Replan,
    RevisitPolicy,
    Schedule,
)
from recrawl.crawler.control.revisiting.told_clocks import group_name

DAY_S, NOW_S = 86_400.0, 1_800_000_000.0
FOLDERS, EACH, VISITS = 12, 10, 8
N = FOLDERS * EACH


class Crawl:
    """Pages visited every ten days, each of which changes at one visit in four."""

    def __init__(self, name: str, prior_rate_per_s: float = 1e-6) -> None:
        rules = RevisitRules(min_interval_s=600.0)
        self.believed = Believed(
            rules, budget_per_s=1e-4, prior_rate_per_s=prior_rate_per_s, prior_shape=0.5
        )
        self.policy: RevisitPolicy = revisit_policy(name, rules, self.believed)
        self.urls = [f"http://a.test/{row // EACH}/{row}" for row in range(N)]
        self.last_s = NOW_S - DAY_S * np.random.default_rng(1).uniform(5.0, 10.0, N)

    def learn(self, pages: np.ndarray, intervals_s: np.ndarray, changed: np.ndarray) -> None:
        """Each row of intervals is a page's."""
        nothing = np.full(changed.size, np.nan)
        page = np.repeat(np.arange(pages.size), changed.shape[1])
        told = (page, intervals_s.ravel(), changed.ravel(), nothing, nothing)
        self.believed.learn(Evidence(pages + 1, *told, [self.urls[row] for row in pages]))

    def plan(
        self, now_s: float, lastmod_s: np.ndarray | None = None, heard_s: float = np.nan
    ) -> Schedule:
        nothing = np.full(N, np.nan)
        ids, none = np.arange(1, N + 1), np.zeros(N, np.int64)
        due_s = np.full(N, now_s)
        listed = nothing if lastmod_s is None else lastmod_s
        columns = (np.ones(N), nothing, nothing, nothing, self.last_s, due_s, listed.copy())
        pages = PlannedPages(ids, none, *columns)
        question = Replan(pages, none, np.full(1, np.inf), N / (10 * DAY_S), now_s)
        made = self.policy.replan(replace(question, heard_s=np.full(N, heard_s)))
        assert made is not None
        return made

    def lived(self, burst: bool, *, together: bool = True) -> np.ndarray:
        """When pages are due after three of the first folder were visited, and had changed.

        Before that those of a folder changed together: where that was never seen, clocks are not
        relied on.
        """
        folder = np.arange(N) // EACH
        changed = np.arange(VISITS) % 4 == folder[:, None] % 4
        if not together:
            changed = np.random.default_rng(0).random((N, VISITS)) < 0.25
        self.learn(np.arange(N), np.full((N, VISITS), 10.0 * DAY_S), changed)
        self.plan(NOW_S)
        pages = np.arange(3)
        found = np.column_stack([changed[:3], np.full(3, burst)])
        self.last_s[:3] = NOW_S + DAY_S * np.arange(3)
        intervals_s = np.full((3, VISITS + 1), 10.0 * DAY_S)
        self.learn(pages, intervals_s, found)
        return self.plan(NOW_S + 3.0 * DAY_S).due


def test_neighbours_of_what_changed_are_due_sooner_than_others() -> None:
    """Beside three changes at three visits; without foresight a neighbour is like any page."""
    moved = Crawl("foresight").lived(True) - Crawl("foresight").lived(False)
    without = Crawl("recrawl").lived(True, together=False)
    without -= Crawl("recrawl").lived(False, together=False)

    neighbours, others = np.arange(3, EACH), np.arange(EACH, N)
    assert np.median(moved[neighbours]) < np.median(moved[others]) - DAY_S
    assert abs(np.median(without[neighbours]) - np.median(without[others])) < 0.2 * DAY_S


@pytest.mark.parametrize("prior_rate_per_s", [1e-6, 1e-9])
def test_a_start_that_assumed_other_rates_than_it_finds_relies_on_no_clock_for_it(
    prior_rate_per_s: float,
) -> None:
    """All visits that the state has are told at once, before any plan has learned from them."""
    crawl = Crawl("foresight", prior_rate_per_s)
    changed = np.random.default_rng(0).random((N, VISITS)) < 0.25
    crawl.learn(np.arange(N), np.full((N, VISITS), 2.0 * DAY_S), changed)
    crawl.plan(NOW_S)
    told = crawl.believed.told_clocks
    assert told is not None
    assert told.clocks is not None

    assert told.clocks.relied < 0.5, "what changes by itself is no reason to rely on them"


def test_the_companions_of_a_page_are_those_of_its_directory() -> None:
    """From its first to its last page, and of no other."""
    crawl = Crawl("foresight")
    crawl.lived(False)
    told = crawl.believed.told_clocks
    assert told is not None
    assert told.clocks is not None

    directories = told.clocks.companions.leaves[:, 0].reshape(FOLDERS, EACH)

    assert np.all(directories == directories[:, :1])
    assert np.unique(directories).size == FOLDERS


def test_what_is_brought_forward_is_put_in_force_and_is_not_late() -> None:
    """Though its crawl rate stays. Late by its own interval only, or the next would be shorter."""
    crawl = Crawl("foresight")
    crawl.lived(True)
    pages, n = crawl.last_s, FOLDERS * EACH
    made = crawl.plan(NOW_S + 4.0 * DAY_S)
    own_due = pages + 1.0 / made.crawl_rates
    nothing, none = np.full(n, np.nan), np.zeros(n, np.int64)
    columns = (np.ones(n), nothing, nothing, made.crawl_rates, pages, own_due, nothing)
    known = PlannedPages(np.arange(1, n + 1), none, *columns)

    sooner = made.due < own_due - 0.05 / made.crawl_rates

    assert np.all(sooner[3:EACH])
    assert np.all(made.due >= np.minimum(own_due, NOW_S + 4.0 * DAY_S))
    np.testing.assert_array_equal(
        made.moved(known), np.abs(made.due - own_due) > 0.05 / made.crawl_rates
    )
    assert not replace(made, foreseen=False).moved(known).any()


def test_pages_that_are_overdue_are_late_by_their_own_interval() -> None:
    """Though companions would have brought some forward: none counts as due sooner or later."""
    crawl = Crawl("foresight")
    crawl.lived(True)

    made = crawl.plan(NOW_S + 60.0 * DAY_S)

    overdue = crawl.last_s + 1.0 / made.crawl_rates < NOW_S + 50.0 * DAY_S
    assert np.count_nonzero(overdue) > 0.5 * N
    expected = crawl.last_s + 1.0 / made.crawl_rates
    np.testing.assert_allclose(made.due[overdue], expected[overdue])


def test_more_is_promised_the_later_announcements_were_heard() -> None:
    """What has been heard up to now counts in full; what nobody listens to counts for nothing."""
    crawl, random = Crawl("recrawl"), np.random.default_rng(0)
    changed = random.random((N, VISITS)) < 0.25
    signalled = np.where(changed, random.random((N, VISITS)) < 0.7, 0.0)
    page, every = np.repeat(np.arange(N), VISITS), np.full(N * VISITS, 10.0 * DAY_S)
    told = (page, every, changed.ravel(), signalled.ravel(), np.full(N * VISITS, np.nan))
    crawl.believed.learn(Evidence(np.arange(1, N + 1), *told, crawl.urls))
    lastmod_s, crawl.last_s = np.full(N, NOW_S - 20.0 * DAY_S), np.full(N, NOW_S)

    promised = [
        crawl.plan(NOW_S, lastmod_s, NOW_S - ago_s).freshness
        for ago_s in (0.0, DAY_S, 5.0 * DAY_S, np.nan)
    ]

    assert promised == sorted(promised, reverse=True)
    assert promised[0] > promised[1] + 0.01 > promised[2] + 0.02
    assert crawl.plan(NOW_S).host_prices.size == 0, "no host has a price of its own"


def test_what_companions_moved_is_told_beside_what_the_rate_alone_says() -> None:
    """The same interval at the same price; only neighbours of what changed are much sooner."""
    crawl = Crawl("foresight")
    crawl.lived(True)
    made = crawl.plan(NOW_S + 4.0 * DAY_S)
    assert made.own_due is not None

    np.testing.assert_allclose(made.own_due, crawl.last_s + 1.0 / made.crawl_rates)
    share = (made.own_due - made.due) * made.crawl_rates
    assert np.all(share[3:EACH] > 0.1)
    assert np.median(share[3:EACH]) > np.median(share[EACH:]) + 0.05
    assert Crawl("recrawl").plan(NOW_S).own_due is None


def test_directories_that_change_fast_are_told() -> None:
    """The one with the burst, by one of its pages; the innermost, and nothing where all is calm."""
    crawl, calm = Crawl("foresight"), Crawl("foresight")
    crawl.lived(True)
    calm.lived(False)

    (one,) = crawl.plan(NOW_S + 3.0 * DAY_S).fast
    assert one.page_id in range(1, EACH + 1)
    assert group_name(crawl.urls[one.page_id - 1], one.depth) == "http://a.test/0/"
    assert one.factor > 1.5
    assert one.found > one.expected + 0.7
    assert 0.0 < one.for_s < 10.0 * DAY_S
    assert calm.plan(NOW_S + 3.0 * DAY_S).fast == ()


def test_a_host_that_changes_fast_in_all_its_directories_is_told_as_a_whole() -> None:
    """One more change than usual in each of them is no news of any, but of the host."""
    crawl = Crawl("foresight")
    crawl.learn(
        np.arange(N),
        np.full((N, VISITS), 10.0 * DAY_S),
        np.arange(N * VISITS).reshape(N, VISITS) % 4 == 0,
    )
    crawl.plan(NOW_S)
    pages = np.arange(0, N, EACH)
    crawl.last_s[pages] = NOW_S + 0.2 * DAY_S * np.arange(FOLDERS)
    crawl.learn(pages, np.full((FOLDERS, 1), 5.0 * DAY_S), np.ones((FOLDERS, 1), np.bool_))

    (one,) = crawl.plan(NOW_S + 3.0 * DAY_S).fast

    assert group_name(crawl.urls[one.page_id - 1], one.depth) == "http://a.test/"


def test_groups_are_called_by_what_their_addresses_begin_with() -> None:
    """The host, a folder in it, or the pages of one name."""
    url = "http://a.test:81/docs/core.xml.fr?a=/b/"
    names = [group_name(url, depth) for depth in range(3)]
    assert names == [
        "http://a.test:81/docs/core.*", "http://a.test:81/", "http://a.test:81/docs/",
    ]  # fmt: skip


def test_a_look_as_the_replay_takes_it_says_what_the_plan_of_a_crawl_says() -> None:
    """By the same clocks at the same instant: the same price, and the same pages first."""
    crawl, now_s = Crawl("foresight"), NOW_S + 4.0 * DAY_S
    crawl.lived(True)
    made = crawl.plan(now_s)
    control, rows = crawl.believed.control_of(np.arange(1, N + 1))

    due = control.look(now_s, 0.25 * N / control.budget, rows, np.ones(N))

    assert control.price[0] == pytest.approx(made.price, rel=0.05)
    shown = np.maximum(due, np.minimum(crawl.last_s + 1.0 / made.crawl_rates, now_s))
    assert np.max(np.abs(shown - made.due) * made.crawl_rates) < 0.05
    assert np.all(due[3:EACH] < crawl.last_s[3:EACH] + 0.9 / made.crawl_rates[3:EACH])


def test_a_visit_is_told_once() -> None:
    """Though the state hands over all visits of a page with every new one."""
    crawl = Crawl("foresight")
    changed = np.random.default_rng(2).random((N, VISITS)) < 0.25
    intervals_s = np.full((N, VISITS), 10.0 * DAY_S)
    crawl.learn(np.arange(N), intervals_s, changed)
    crawl.plan(NOW_S)
    told = crawl.believed.told_clocks
    assert told is not None
    assert told.clocks is not None
    _, _, _, found, expected, *_ = told.clocks.arrays()
    before = found.copy(), expected.copy()

    crawl.learn(np.arange(40), intervals_s[:40], changed[:40])
    crawl.plan(NOW_S)

    assert found.sum() > 1.0
    np.testing.assert_array_equal(found, before[0])
    np.testing.assert_array_equal(expected, before[1])


def test_people_are_told_what_changed_beside_a_page() -> None:
    """How many pages, since when and where; of the latest week."""
    policy = Crawl("foresight").policy
    tuesday_s = 1_799_971_200.0 - 3 * DAY_S + 3_600.0  # 2027-01-12
    for day in range(3):
        policy.after_visit(PageVisit(f"http://a.test/guide/{day}", tuesday_s + day * DAY_S, True))

    beside = policy.after_visit(PageVisit("http://a.test/guide/9", tuesday_s + 3 * DAY_S, False))
    late = policy.after_visit(PageVisit("http://a.test/guide/9", tuesday_s + 30 * DAY_S, False))
    far = policy.after_visit(PageVisit("http://a.test/other/9", tuesday_s + 3 * DAY_S, False))

    assert beside.why.endswith("three pages beside it have changed since Tuesday, in /guide/")
    assert "changed since" not in late.why + far.why


@pytest.mark.parametrize(
    ("expected", "n", "after_s"),
    [
        ("one page beside it has changed since Tuesday, in /guide/", 1, 0.0),
        ("one page beside it has changed since Tuesday, in /guide/", 1, 7 * DAY_S - 1.0),
        ("", 1, 7 * DAY_S + 1.0),
        ("19 pages beside it have changed since Tuesday, in /guide/", 19, 0.0),
        ("at least 20 pages beside it have changed since Tuesday, in /guide/", 20, 0.0),
        ("at least 20 pages beside it have changed since Tuesday, in /guide/", 30, 0.0),
    ],
)
def test_of_what_changed_beside_a_page_the_latest_week_and_twenty_are_told(
    expected: str, n: int, after_s: float
) -> None:
    policy = Crawl("foresight").policy
    tuesday_s = 1_799_971_200.0 - 3 * DAY_S + 3_600.0
    for number in range(n):
        policy.after_visit(PageVisit(f"http://a.test/guide/{number}", tuesday_s, True))

    told = policy.after_visit(PageVisit("http://a.test/guide/9", tuesday_s + after_s, False))

    assert told.why.partition("; ")[2] == expected


def test_an_announced_change_tells_of_neighbours_that_nobody_visited() -> None:
    """Sitemaps that proved true; what is announced of three pages brings the others forward."""

    def due(announce: bool) -> np.ndarray:
        crawl = Crawl("foresight")
        random = np.random.default_rng(0)
        changed = random.random((N, VISITS)) < 0.25
        signalled = np.where(changed, random.random((N, VISITS)) < 0.7, 0.0)
        page = np.repeat(np.arange(N), VISITS)
        intervals_s = np.full(N * VISITS, 10.0 * DAY_S)
        told = (page, intervals_s, changed.ravel(), signalled.ravel(), np.full(N * VISITS, np.nan))
        crawl.believed.learn(Evidence(np.arange(1, N + 1), *told, crawl.urls))
        lastmod_s = crawl.last_s - DAY_S
        crawl.plan(NOW_S, lastmod_s)
        page = np.arange(EACH, EACH + 1)  # something was visited, elsewhere
        crawl.last_s[page] = NOW_S + DAY_S
        crawl.learn(page, np.full((1, 1), 10.0 * DAY_S), np.zeros((1, 1), np.bool_))
        if announce:
            lastmod_s[:3] = NOW_S + 2.0 * DAY_S
        return crawl.plan(NOW_S + 3.0 * DAY_S, lastmod_s).due

    moved = due(True) - due(False)
    neighbours, others = np.arange(3, EACH), np.arange(EACH + 1, N)
    assert np.median(moved[neighbours]) < np.median(moved[others]) - DAY_S


def test_visits_that_were_asked_for_tell_clocks_nothing() -> None:
    """They find changes, however seldom there is one."""

    def found(signalled: float) -> float:
        crawl = Crawl("foresight")
        n = 30
        page = np.repeat(np.arange(N), n)
        random = np.random.default_rng(0)
        changed = random.random(page.size) < 0.3
        told = np.where(changed, random.random(page.size) < 0.7, 0.0)
        columns = (page, np.full(page.size, DAY_S), changed, told, np.full(page.size, np.nan))
        crawl.believed.learn(Evidence(np.arange(1, N + 1), *columns, crawl.urls))
        crawl.plan(NOW_S, crawl.last_s - DAY_S)
        pages = np.arange(EACH)
        crawl.last_s[pages] = NOW_S + DAY_S
        one = np.full(EACH, 1.0)
        columns = (pages, 5.0 * DAY_S * one, one > 0.0, signalled * one, np.nan * one)
        crawl.believed.learn(
            Evidence(pages + 1, *columns, [crawl.urls[row] for row in pages.tolist()])
        )
        crawl.plan(NOW_S + 2.0 * DAY_S, crawl.last_s - DAY_S)
        clocks = crawl.believed.told_clocks
        assert clocks is not None
        assert clocks.clocks is not None
        directory = clocks.clocks.companions.leaves[0, 0]
        return float(clocks.clocks.arrays()[3][directory].sum())

    assert found(0.0) > found(1.0) + 0.7 * EACH
