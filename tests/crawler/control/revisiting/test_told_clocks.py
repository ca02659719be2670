"""Clocks of directories: whom they know, what they are told once, and which run fast."""

from types import SimpleNamespace

import numpy as np
import pytest

from recrawl.crawler.control.evidence import Evidence, PlannedPages
from recrawl.crawler.control.revisiting.revisit_policy import FastClock, Replan
from recrawl.crawler.control.revisiting.revisits import RevisitControl
from recrawl.crawler.control.revisiting.told_clocks import ToldClocks
from recrawl.learning.companions import ROOT

DAY_S, NOW_S = 86_400.0, 1_800_000_000.0
URLS = [
    *("http://a.test/x/1.en", "http://a.test/x/1.fr", "http://a.test/x/2"),
    *("http://a.test/y/z/3", "http://a.test/y/4", "http://b.test/5"),
]
HOST, X, NAME, Y, Z, OTHER = range(2, 8)  # groups, as they are found in this order
N, PACE_S = len(URLS), 10 * DAY_S


def control() -> RevisitControl:
    made = RevisitControl(np.ones(N), N / PACE_S, prior_rate=1.0 / PACE_S)
    made.last[:] = NOW_S - DAY_S
    return made


def visited(rows: list[int], *changed: bool, signalled: float = np.nan) -> Evidence:
    """Visits of pages every five days, with the same findings on each of them."""
    page = np.repeat(np.arange(len(rows)), len(changed))
    nothing, found = np.full(page.size, np.nan), np.tile(changed, len(rows))
    every_s = np.full(page.size, 5 * DAY_S)
    urls = [URLS[row] for row in rows]
    told = np.full(page.size, signalled)
    return Evidence(np.array(rows) + 1, page, every_s, found, told, nothing, urls)


class Told:
    """Clocks of six pages."""

    def __init__(self) -> None:
        self.clocks, self.control = ToldClocks(), control()

    def learn(
        self,
        rows: list[int],
        *changed: bool,
        signalled: float = np.nan,
        born_s: np.ndarray | None = None,
    ) -> None:
        nobody = np.zeros(0)
        self.clocks.know(
            np.array(rows), [URLS[row] for row in rows], nobody if born_s is None else born_s
        )
        self.clocks.learn(np.array(rows), visited(rows, *changed, signalled=signalled))

    def tell(
        self,
        now_s: float = NOW_S,
        pace_s: float = PACE_S,
        lastmod_s: float = np.nan,
        recall: float = 0.0,
        last_s: float = NOW_S - DAY_S,
    ) -> None:
        """Plan as of an instant; every page was visited a day before the first one."""
        ids, nothing = np.arange(1, N + 1), np.full(N, np.nan)
        none, lasts_s = np.zeros(N, np.int64), np.full(N, last_s)
        listed_s = np.full(N, lastmod_s)
        pages = PlannedPages(
            ids, none, np.ones(N), nothing, nothing, nothing, lasts_s, lasts_s, listed_s
        )
        plan = Replan(pages, none, np.full(1, np.inf), N / pace_s, now_s)
        worth = np.full(N, recall), np.full(N, 0.9 * (recall > 0.0))
        self.clocks.tell(self.control, np.arange(N), plan, worth)

    @property
    def found(self) -> np.ndarray:
        """Changes found of late, group by group."""
        assert self.clocks.clocks is not None
        return np.asarray(self.clocks.clocks.lately(NOW_S + DAY_S)[1])


def test_clocks_begin_three_rounds_before_and_anew_where_rounds_are_of_another_length() -> None:
    told = Told()
    told.learn([0, 1, 2, 3, 4, 5], False, True)
    told.tell()
    first = told.clocks.clocks
    assert first is not None
    assert first.since == pytest.approx(NOW_S - 3.0 * PACE_S)
    assert told.control.clocks is first

    told.learn([0], False)
    told.tell(pace_s=3.0 * PACE_S)
    assert told.clocks.clocks is first
    told.learn([0], False)
    told.tell(pace_s=5.0 * PACE_S)
    again = told.clocks.clocks
    assert again is not None
    assert again is not first
    assert again.since == pytest.approx(NOW_S - 15.0 * PACE_S)


def test_pages_stand_in_their_own_directories_in_whatever_order_they_become_known() -> None:
    """One that was not learned yet is a page like any other."""
    told = Told()
    told.learn([5], False)
    told.learn([3], True)
    told.learn([0, 2], False)
    told.tell()

    assert told.clocks.clocks is not None
    companions = told.clocks.clocks.companions
    depths = companions.depths[companions.leaves[:, 0]]
    assert companions.leaves[[1, 4]].tolist() == [[ROOT, -1]] * 2
    assert depths[[5, 3, 0, 2]].tolist() == [2, 4, 3, 3]
    assert companions.leaves[0, 0] == companions.leaves[2, 0] != companions.leaves[3, 0]


def test_visits_are_told_once_and_only_new_ones() -> None:
    told = Told()
    told.learn([0, 3], True)
    told.tell()
    once = told.found.copy()
    told.learn([0, 3], True)
    told.tell(NOW_S + 60.0)

    assert once[ROOT] > 0.5, "what is due to the latest bins"
    assert told.found == pytest.approx(once)


def test_announcements_count_once() -> None:
    """A date that stands in a list at every plan was announced but once; a later one is new."""
    told = Told()
    told.learn([0], False)
    told.tell(lastmod_s=NOW_S - 40 * DAY_S, recall=0.5)
    told.learn([1], False)
    told.tell(NOW_S + 60.0, lastmod_s=NOW_S + 30.0, recall=0.5)
    once = told.found.copy()
    told.learn([2], False)
    told.tell(NOW_S + 120.0, lastmod_s=NOW_S + 30.0, recall=0.5)

    assert once[ROOT] == pytest.approx(0.9 * N)
    assert told.found == pytest.approx(once)


def test_announcements_that_are_not_relied_on_and_those_to_come_tell_nothing() -> None:
    for lastmod_s, recall in ((NOW_S + 30.0, 0.0), (NOW_S + DAY_S, 0.5)):
        told = Told()
        told.learn([0], False)
        told.tell(lastmod_s=NOW_S - 40 * DAY_S, recall=recall)
        told.learn([1], False)
        told.tell(NOW_S + 60.0, lastmod_s=lastmod_s, recall=recall)
        assert told.found[ROOT] == 0.0


def test_announcements_count_as_far_as_visits_are_free_of_them() -> None:
    """Of visits that all follow announcements none is made by what these tell of other pages."""
    told = Told()
    told.learn([0, 1, 2, 3], False)
    told.tell(lastmod_s=NOW_S - 40 * DAY_S, recall=0.5)
    told.learn([0], True, signalled=1.0)
    told.tell(NOW_S + 60.0, lastmod_s=NOW_S + 30.0, recall=0.5)

    free = 1.0 - 1.0 / (1.0 + 0.5 * 4.0)
    assert told.found[ROOT] == pytest.approx(0.9 * N * free)


def test_an_announcement_of_this_very_instant_is_heard() -> None:
    told = Told()
    told.learn([0], False)
    told.tell(lastmod_s=NOW_S - 40 * DAY_S, recall=0.5)
    told.learn([1], False)
    told.tell(NOW_S + 60.0, lastmod_s=NOW_S + 60.0, recall=0.5)

    assert told.found[ROOT] == pytest.approx(0.9 * N)


@pytest.mark.parametrize(
    ("signalled", "recall", "counts"),
    [(0.0, 0.0, True), (0.0, 0.5, True), (1.0, 0.0, True), (1.0, 0.5, False)],
)
def test_a_visit_for_an_announcement_tells_nothing_where_these_are_relied_on(
    signalled: float, recall: float, counts: bool
) -> None:
    """Of how often there is a change; elsewhere it is a visit like any other."""
    told = Told()
    told.learn([0, 3], True, signalled=signalled)
    told.tell(recall=recall)

    assert (told.found[ROOT] > 0.5) == counts


@pytest.mark.parametrize(("later_s", "n"), [(0.5, 1), (1.5, 2)])
def test_visits_of_a_page_within_a_second_are_one(later_s: float, n: int) -> None:
    """Instants are counted back from the last, and rounded."""
    told = Told()
    told.learn([0], True)
    told.tell()
    once = told.found[ROOT]
    told.learn([0], True)
    told.tell(NOW_S + 60.0, last_s=NOW_S - DAY_S + later_s)

    assert told.found[ROOT] == pytest.approx(n * once, rel=0.05)


def fast(found: dict[int, float], factors: dict[int, float]) -> tuple[FastClock, ...]:
    """Return the groups told as fast, of groups with so many changes where one was expected."""
    told = Told()
    told.clocks.know(np.arange(N), URLS, np.zeros(0))
    speeds, changes = np.ones(8), np.ones(8)
    for group, factor in factors.items():
        speeds[group] = factor
    for group, n in found.items():
        changes[group] = n
    told.clocks.clocks = SimpleNamespace(  # type: ignore[assignment]
        companions=told.clocks._built.companions(),
        lately=lambda _: (speeds, changes, np.ones(8), 5.0 * DAY_S),
    )
    return told.clocks.fast(np.arange(N), np.arange(100, 100 + N), NOW_S)


def test_fast_clocks_are_told_by_how_much_more_was_found_than_expected() -> None:
    """With one of their pages, and how deep they lie; not what is fast by chance or hardly so."""
    told = fast({X: 3.0, Z: 5.0, OTHER: 1.7, HOST: 9.0}, {X: 2.0, Z: 1.5, OTHER: 3.0, HOST: 1.4})

    assert told == (
        FastClock(103, 3, 1.5, 5.0, 1.0, 5.0 * DAY_S),
        FastClock(told[1].page_id, 2, 2.0, 3.0, 1.0, 5.0 * DAY_S),
    )
    assert told[1].page_id in (100, 101, 102)


def test_of_fast_clocks_within_each_other_only_the_innermost_is_told() -> None:
    told = fast({HOST: 9.0, Y: 8.0, Z: 5.0}, {HOST: 2.0, Y: 2.0, Z: 2.0})

    assert [(one.page_id, one.depth) for one in told] == [(103, 3)]


def test_pages_of_one_name_are_told_unless_their_directory_is_fast_as_a_whole() -> None:
    alone = fast({NAME: 4.0}, {NAME: 2.0})
    both = fast({NAME: 4.0, X: 6.0}, {NAME: 2.0, X: 2.0})

    assert [(one.page_id, one.depth) for one in alone] == [(101, 0)]
    assert [one.depth for one in both] == [2]


def test_nothing_is_fast_where_nothing_was_told_or_all_run_as_usual() -> None:
    assert ToldClocks().fast(np.arange(N), np.arange(N), NOW_S) == ()
    assert fast({}, {}) == ()
    assert fast({ROOT: 9.0, 1: 9.0}, {ROOT: 3.0, 1: 3.0}) == (), "of all pages is no directory"


@pytest.mark.parametrize("age_s", [12 * DAY_S, 12 * PACE_S])
def test_pages_whose_birth_is_known_change_as_those_of_their_age_did(age_s: float) -> None:
    """Where they were seen to change more than others, whenever the clocks begin.

    Of the others age says nothing.
    """
    told = Told()
    born_s = np.full(N, NOW_S - age_s)
    born_s[-1] = np.nan
    told.learn(list(range(N)), True, True, born_s=born_s)
    told.tell()

    clocks = told.clocks.clocks
    assert clocks is not None
    _, speeds = clocks.read(np.arange(N), np.full(N, NOW_S - DAY_S), NOW_S)

    assert (speeds[:-1] > 1.02).all()
    assert speeds[-1] == 1.0
    assert (clocks.age_factors >= 1.0).all()
