"""Visits that look at their page twice."""

from collections import Counter

import pytest

from recrawl.crawler.control.answers.second_looks import SecondLooks
from recrawl.terms import Kind, Lease, Outcome, PageState, PageUpdate, Visit

HOUR_S = 3_600.0


def found(
    page_id: int,
    at_s: float,
    before_s: float | None,
    *,
    changed: bool | None = True,
    kind: Kind = Kind.PAGE,
    state: PageState = PageState.INDEXED,
) -> PageUpdate:
    """A visit that found a change."""
    lease = Lease(page_id, "http://a.test/", 1, 1, at_s, kind, last_visit_s=before_s)
    visit = Visit(at_s, Outcome.CHANGED, changed=changed)
    return PageUpdate(lease, visit, state, at_s)


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


def test_pages_that_went_are_none_that_are_drawn_by_chance() -> None:
    """However many they are: else all of their host would be looked at twice."""
    looks = SecondLooks()
    for page in range(100, 400):
        looks.observe(found(page, 0.0, -1.0, state=PageState.GONE))

    assert not looks.take(1, 1, 0.0, 1.0)


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
    shown = Counter(days_taken(200, differs=True))
    assert {shown[day] for day in range(1, days)} == {16}, "at once, and after two changes more"


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


def is_looked_at(looks: SecondLooks, page_id: int, n_changes: int) -> bool:
    """Visit a page of host 1 that has changed so often in a row; tell whether it looks twice."""
    for n in range(n_changes):
        looks.observe(found(page_id, float(n), n - 1.0))
    looks.observe(found(0, 0.0, None, changed=False))
    return looks.take(page_id, 1, n_changes - 1.0, float(n_changes))


@pytest.mark.parametrize(
    ("looks_before", "needed"),
    [("", 3), ("s", 2), ("ss", 1), ("sss", 0), ("s" * 9, 0), ("s" * 9 + "v", 1), ("sssv", 2)],
)
def test_what_some_pages_have_shown_has_others_looked_at_sooner(
    looks_before: str, needed: int
) -> None:
    """By a change for each look that showed something; one in vain takes back two."""
    for n_changes in range(4):
        looks = SecondLooks()
        for look in looks_before:
            looks.saw(1, differs=look == "s")
        assert is_looked_at(looks, 7, n_changes) == (n_changes >= needed)


@pytest.mark.parametrize("n_changes", [7, 8])
@pytest.mark.parametrize("kind", [Kind.PAGE, Kind.SITEMAP])
@pytest.mark.parametrize("is_broken", [True, False])
def test_where_eight_visits_to_a_host_found_changes_the_next_one_looks_twice(
    n_changes: int, kind: Kind, *, is_broken: bool
) -> None:
    """Whatever the pages; a listing that changes tells nothing of pages."""
    looks = SecondLooks()
    for n in range(n_changes):
        looks.observe(found(n, float(n), None, kind=kind))
    if is_broken:
        looks.observe(found(20, 8.0, None, changed=False))

    is_taken = n_changes == 8 and kind is Kind.PAGE and not is_broken
    assert looks.take(30, 1, 1.0, 9.0) == is_taken
    assert not looks.take(31, 2, 1.0, 9.0)


def test_a_page_that_was_looked_at_needs_changes_however_much_its_host_has_shown() -> None:
    looks = SecondLooks()
    for _ in range(9):
        looks.saw(1, differs=True)

    assert [n for n, one in enumerate(taken(looks, [float(n) for n in range(40)])) if one] == [
        0, 2, 4, 8, 16, 32
    ]  # fmt: skip


def test_of_pages_that_are_not_remembered_none_is_looked_at_without_a_change() -> None:
    """It may have been looked at already, and be forgotten."""
    looks = SecondLooks()
    for _ in range(9):
        looks.saw(1, differs=True)
    for page_id in range(19_999):
        looks.observe(found(page_id, 0.0, None))
    assert looks.take(30_000, 1, 0.0, 1.0)

    assert not looks.take(30_001, 1, 0.0, 1.0)
    looks.observe(found(30_001, 1.0, 0.0))
    assert looks.take(30_001, 1, 1.0, 2.0)


def test_looks_that_show_something_are_not_counted_against_the_day() -> None:
    looks = SecondLooks()
    for page_id in range(100):
        assert is_looked_at(looks, page_id, 3)
        looks.saw(1, differs=True)
