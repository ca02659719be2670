"""Visits that look at their page twice."""

import pytest

from recrawl.crawler.control.second_looks import SecondLooks
from recrawl.terms import Lease, Outcome, PageState, PageUpdate, Visit

HOUR_S = 3_600.0


def found(
    page_id: int, at_s: float, before_s: float | None, *, changed: bool | None = True
) -> PageUpdate:
    """A visit that found a change."""
    lease = Lease(page_id, "http://a.test/", 1, 1, at_s, last_visit_s=before_s)
    visit = Visit(at_s, Outcome.CHANGED, changed=changed)
    return PageUpdate(lease, visit, PageState.INDEXED, at_s)


def taken(looks: SecondLooks, instants: list[float], page_id: int = 1, host: int = 1) -> list[bool]:
    """Visit at instants, and find a change each time; return which visits look twice."""
    answers = []
    before_s: float | None = None
    for at_s in instants:
        answers.append(looks.take(page_id, host, before_s, at_s))
        looks.observe(found(page_id, at_s, before_s))
        before_s = at_s
    return answers


def test_a_page_that_was_another_three_times_in_a_row_is_looked_at_twice() -> None:
    """Then after six changes, and after twelve: ever more seldom."""
    answers = taken(SecondLooks(), [n * HOUR_S for n in range(40)])

    assert [n for n, answer in enumerate(answers) if answer] == [3, 6, 12, 24]


def test_a_visit_between_that_found_no_change_begins_anew() -> None:
    looks = SecondLooks()
    taken(looks, [0.0, 1.0, 2.0])

    assert not looks.take(1, 1, 3.0, 4.0)
    looks.observe(found(1, 4.0, 3.0))
    looks.observe(found(1, 5.0, 4.0))
    assert not looks.take(1, 1, 5.0, 6.0)
    looks.observe(found(1, 6.0, 5.0))
    assert looks.take(1, 1, 6.0, 7.0)


def test_what_is_no_evidence_counts_for_nothing() -> None:
    """As where a page is read by other rules than before."""
    looks = SecondLooks()
    for n in range(4):
        looks.observe(found(1, float(n), n - 1.0, changed=None))

    assert not looks.take(1, 1, 3.0, 4.0)


def test_of_a_host_they_are_few_in_a_day() -> None:
    looks = SecondLooks()

    def n_taken(first: int, host: int, at_s: float) -> int:
        instants = [at_s, at_s + 1.0, at_s + 2.0, at_s + 3.0]
        return sum(any(taken(looks, instants, page, host)) for page in range(first, first + 50))

    assert n_taken(0, 1, 0.0) == n_taken(100, 2, 0.0) == 24
    assert n_taken(200, 1, 12 * HOUR_S) == 0
    assert n_taken(300, 1, 25 * HOUR_S) == 24


@pytest.mark.parametrize(("is_known", "n_others"), [(True, 19_999), (False, 20_000)])
def test_of_twenty_thousand_pages_is_remembered_how_often_they_were_another(
    is_known: bool, n_others: int
) -> None:
    """Of those that changed last: memory has an end."""
    looks = SecondLooks()
    for n in range(3):
        looks.observe(found(0, float(n), n - 1.0))
    for page_id in range(1, n_others + 1):
        looks.observe(found(page_id, 3.0, None))

    assert looks.take(0, 1, 2.0, 4.0) is is_known


def test_of_a_host_that_shows_nothing_by_chance_they_are_ever_fewer() -> None:
    """After four in vain one a day, in two days, in four, to 32; until one shows something."""
    looks, days = SecondLooks(), 100

    def days_taken(first_day: int, *, differs: bool) -> list[int]:
        found = []
        for day in range(first_day, first_day + days):
            at_s = 24 * HOUR_S * day
            for page in range(8 * day, 8 * day + 8):
                for n in range(4):
                    if looks.take(page, 1, at_s + n - 1.0, at_s + n):
                        looks.saw(1, differs=differs)
                        found.append(day - first_day)
                    looks.observe(found_at(page, at_s + n))
        return found

    def found_at(page: int, at_s: float) -> PageUpdate:
        return found(page, at_s, at_s - 1.0)

    assert days_taken(0, differs=False) == [0] * 4 + [1, 3, 7, 15, 31, 63, 95]
    assert days_taken(200, differs=True) == [day for day in range(days) for _ in range(8)]


def looks_at(looks: SecondLooks, page_id: int, host: int) -> bool:
    """Visit a page that was another three times; tell whether it is looked at twice."""
    for n in range(3):
        looks.observe(found(page_id, float(n), n - 1.0))
    return looks.take(page_id, host, 2.0, 3.0)


def test_one_look_that_shows_something_makes_good_those_in_vain() -> None:
    """Then four more in vain are needed before there is but one a day."""
    looks, taken_by = SecondLooks(), []
    for page_id, differs in enumerate([False] * 3 + [True] + [False] * 9):
        taken_by.append(looks_at(looks, page_id, 1))
        looks.saw(1, differs=differs)

    assert taken_by == [True] * 8 + [False] * 5


def test_of_twenty_thousand_hosts_is_remembered_how_often_they_were_looked_at() -> None:
    looks = SecondLooks()
    assert [looks_at(looks, page_id, 0) for page_id in range(25)] == [True] * 24 + [False]
    for host in range(1, 20_000):
        looks_at(looks, 100 + host, host)
    assert not looks_at(looks, 30_000, 0), "it was looked at last"
    for host in range(1, 20_002):
        looks_at(looks, 50_000 + host, host)

    assert looks_at(looks, 30_001, 0)
