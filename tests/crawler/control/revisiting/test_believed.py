"""What is believed of pages where changes are announced: silence tells, where it was true."""

from dataclasses import replace

import numpy as np
import pytest

from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.control.evidence import BelievedBefore, Evidence, PlannedPages
from recrawl.crawler.control.revisiting.believed import Believed
from recrawl.crawler.control.worth.births import NewPages

DAY_S, NOW_S, N, TOLD = 86_400.0, 1_800_000_000.0, 4, 40


def believed(announced: float) -> Believed:
    """Learn pages that change every other day; of a host that announces this, or nothing."""
    rules = RevisitRules(min_interval_s=600.0, max_interval_s=40 * DAY_S)
    made = Believed(rules, budget_per_s=0.1, prior_rate_per_s=1.0 / (14 * DAY_S), prior_shape=1.0)
    changed = np.tile(np.arange(TOLD) % 2 == 0, N)
    signalled = np.where(changed, announced, 0.0)
    made.learn(
        Evidence(
            np.arange(N),
            np.repeat(np.arange(N), TOLD),
            np.full(N * TOLD, DAY_S),
            changed,
            signalled,
            np.full(N * TOLD, np.nan),
            [f"http://a.test/{number}" for number in range(N)],
        )
    )
    return made


def seen(last_visit_s: float, lastmod_s: float = NOW_S - 90 * DAY_S) -> PlannedPages:
    """Return the pages, visited last and listed with a date."""
    nothing, last_s = np.full(N, np.nan), np.full(N, last_visit_s)
    hosts, ones, listed_s = np.zeros(N, np.int64), np.ones(N), np.full(N, lastmod_s)
    return PlannedPages(
        np.arange(N), hosts, ones, nothing, nothing, nothing, last_s, last_s, listed_s
    )


def rates(made: Believed) -> np.ndarray:
    control, rows = made.control_of(np.arange(N))
    return np.asarray(control.beliefs.rates(rows)[0])


def test_pages_of_which_nothing_was_announced_are_believed_to_change_less() -> None:
    """As long as announcements are known; it is learned once, however often it is told."""
    made = believed(announced=1.0)
    before, heard_s = rates(made), np.full(N, NOW_S)

    told_s = made.hear(seen(NOW_S - 20 * DAY_S), heard_s, NOW_S)
    once = rates(made)
    made.hear(seen(NOW_S - 20 * DAY_S), heard_s + 0.01 * DAY_S, NOW_S)

    assert told_s.tolist() == heard_s.tolist()
    assert (once < 0.9 * before).all()
    assert rates(made).tolist() == once.tolist()


@pytest.mark.parametrize(
    ("announced", "lastmod_s"),
    [(0.0, NOW_S - 90 * DAY_S), (0.0, NOW_S - DAY_S), (1.0, np.nan)],
    ids=["nothing is announced", "what is would not be true", "in no listing"],
)
def test_silence_tells_nothing_where_nothing_would_be_told(
    announced: float, lastmod_s: float
) -> None:
    made = believed(announced)
    before = rates(made)

    made.hear(seen(NOW_S - 20 * DAY_S, lastmod_s), np.full(N, NOW_S), NOW_S)

    assert rates(made).tolist() == before.tolist()


def test_what_is_announced_is_learned_before_a_visit_and_once() -> None:
    """Twice as much of two changes; a page of which one date hides others is no calmer for it."""
    pages = seen(NOW_S - 20 * DAY_S, NOW_S - DAY_S)
    found = []
    for n_announced, unheard_s in ((1.0, 0.0), (2.0, 0.0), (2.0, 18 * DAY_S)):
        made = believed(announced=1.0)
        one = replace(pages, n_announced=np.full(N, n_announced), unheard_s=np.full(N, unheard_s))
        made.hear(one, np.full(N, NOW_S), NOW_S)
        found.append(rates(made))
        made.hear(one, np.full(N, NOW_S), NOW_S)
        assert rates(made).tolist() == found[-1].tolist(), "told again: nothing is new"
        assert not made.may_go_on(np.arange(N)).any()

    assert (found[0] < found[1]).all()
    assert (found[1] < found[2]).all()


def test_a_visit_that_finds_what_was_announced_tells_the_same() -> None:
    """As many changes, in as much time of which it was heard."""
    made, one_by_one = believed(announced=1.0), believed(announced=1.0)
    pages = replace(seen(NOW_S - DAY_S, NOW_S - DAY_S / 9), n_announced=np.full(N, 3.0))
    made.hear(pages, np.full(N, NOW_S), NOW_S)
    heard = rates(made)
    evidence = told(one_by_one, 1, changed=True)
    evidence.signalled[TOLD :: TOLD + 1] = 3.0
    one_by_one.learn(evidence)

    assert heard == pytest.approx(rates(one_by_one), rel=0.02)


def told(made: Believed, n: int, changed: bool) -> Evidence:
    """The visits that were learned, and so many more, a day apart."""
    page = np.repeat(np.arange(N), TOLD + n)
    k = np.tile(np.arange(TOLD + n), N)
    found = np.where(k < TOLD, k % 2 == 0, changed)
    nothing = np.full(page.size, np.nan)
    return Evidence(
        np.arange(N),
        page,
        np.full(page.size, DAY_S),
        found,
        np.where(found, 1.0, 0.0),
        nothing,
        [f"http://a.test/{number}" for number in range(N)],
        visit_ids=1_000 * page + k,
    )


def test_a_tenth_more_of_silence_is_news() -> None:
    made, heard_s = believed(announced=1.0), np.full(N, NOW_S)
    made.hear(seen(NOW_S - 20 * DAY_S), heard_s, NOW_S)
    once = rates(made)

    made.hear(seen(NOW_S - 20 * DAY_S), heard_s + 3.5 * DAY_S, NOW_S + 3.5 * DAY_S)

    assert (rates(made) < once).all()


def test_what_is_announced_makes_copies_older_by_what_announcements_are_worth() -> None:
    """The share of them that is true is what one takes from the chance that a copy is fresh."""
    made, heard_s = believed(announced=1.0), np.full(N, NOW_S)
    made.hear(seen(NOW_S - 20 * DAY_S, NOW_S - DAY_S), heard_s, NOW_S)

    control, rows = made.control_of(np.arange(N))
    trust = made.trust_in_dates(np.arange(N))
    hidden_rates = control.silent[rows] * control.beliefs.rates(rows)[0]

    assert control.advance(rows) == pytest.approx(-np.log1p(-trust) / hidden_rates)
    assert (control.advance(rows) > 0.0).all()


def test_a_visit_takes_back_what_silence_before_it_told() -> None:
    """It is in the visit's own interval; and the silence after it counts anew."""
    made, plain = believed(announced=1.0), believed(announced=1.0)
    made.hear(seen(NOW_S - 20 * DAY_S), np.full(N, NOW_S), NOW_S)
    for one in (made, plain):
        one.learn(told(one, 1, changed=False))

    assert rates(made).tolist() == rates(plain).tolist()
    assert made.may_go_on(np.arange(N)).all()
    made.hear(seen(NOW_S - 20 * DAY_S), np.full(N, NOW_S), NOW_S)
    assert (rates(made) < rates(plain)).all()
    assert not made.may_go_on(np.arange(N)).any()


def test_laws_are_learned_once_for_what_is_new() -> None:
    """Asked again, nothing moves; after visits that are new it does."""
    made, pages = believed(announced=0.0), seen(NOW_S)
    made.learn(told(made, 0, changed=True))
    made.relearn(pages)
    once = rates(made)
    made.relearn(pages)
    again = rates(made)
    made.go_on(told(made, 0, changed=True))
    made.relearn(pages)
    nothing_new = rates(made)
    made.go_on(told(made, 1, changed=True))
    before_laws = rates(made)
    made.relearn(pages)

    assert again.tolist() == once.tolist()
    assert nothing_new.tolist() == once.tolist()
    assert (before_laws > once).all()
    assert rates(made).tolist() != before_laws.tolist()


def test_rates_have_moved_that_are_another_by_a_tenth() -> None:
    """And those that nobody had; it is said of each page, with how much it is in doubt."""
    made, pages = believed(announced=0.0), seen(NOW_S)
    now, moved = made.relearn(pages)
    known = now.change_rates_per_s * np.array([1.09, 1.11, 0.92, 0.9])

    _, again = made.relearn(replace(pages, change_rates_per_s=known))

    assert moved.all()
    assert again.tolist() == [False, True, False, True]
    assert (now.change_rate_factors > 1.0).all()


def test_pages_that_bring_new_ones_are_visited_more_often() -> None:
    """As long as they are said to: pages that nobody names again bring nothing any more."""
    made, intervals_s = believed(announced=0.0), []
    for told in ({2: NewPages(5.0 / DAY_S)}, {99: NewPages(1.0)}):
        made.expect_births(told)
        control, rows = made.control_of(np.arange(N))
        control.budget, control.last[rows] = N / (4.0 * DAY_S), NOW_S
        intervals_s.append(control.decide(NOW_S, 100.0 * DAY_S, rows=rows).intervals[rows].copy())

    assert intervals_s[0][2] < 0.5 * intervals_s[0][[0, 1, 3]].min()
    assert np.ptp(intervals_s[1]) < 0.01 * intervals_s[1][0]


def test_hosts_are_told_of_whose_announcements_are_true_and_known_until_an_instant() -> None:
    """Not of one whose lists were never read."""
    made = believed(announced=1.0)
    unheard = np.full(N, np.nan)

    (told,) = made.announcers(seen(NOW_S), np.full(N, NOW_S)).values()

    assert told.heard_s == NOW_S
    assert told.precision > 0.5
    assert made.announcers(seen(NOW_S), unheard) == {}
    assert believed(announced=0.0).announcers(seen(NOW_S), np.full(N, NOW_S)) == {}


def test_laws_are_learned_from_what_was_recalled() -> None:
    made, pages = believed(announced=0.0), seen(NOW_S)
    made.relearn(pages)
    made.recall(BelievedBefore(np.zeros(0, np.int64), (), (), np.zeros(0), (), {}))
    before = rates(made)
    made.relearn(pages)

    assert rates(made).tolist() != before.tolist()


def test_a_page_of_a_new_folder_is_believed_to_change_as_its_host_does() -> None:
    """On one host all folders change every day, on the other none; of two nothing is known."""
    n_each, visits = 20, 30
    rules = RevisitRules(min_interval_s=600.0, max_interval_s=40 * DAY_S)
    made = Believed(rules, budget_per_s=0.1, prior_rate_per_s=1.0 / (14 * DAY_S), prior_shape=1.0)
    urls = [f"http://{host}.test/{folder}/" for host in "ab" for folder in range(n_each)]
    urls += [f"http://{host}.test/new/" for host in "ab"]
    n = len(urls)
    page = np.append(np.repeat(np.arange(n - 2), visits), [n - 2, n - 1])
    elapsed_s = np.append(np.full(page.size - 2, DAY_S), [60.0, 60.0])
    nothing, ones, last_s = np.full(n, np.nan), np.ones(n), np.full(n, NOW_S)
    unsaid = np.full(page.size, np.nan)
    made.learn(Evidence(np.arange(n), page, elapsed_s, page < n_each, unsaid, unsaid, urls))

    hosts = np.array([0, 1])[np.append(np.repeat([0, 1], n_each), [0, 1])]
    now, _ = made.relearn(
        PlannedPages(np.arange(n), hosts, ones, nothing, nothing, nothing, last_s, last_s, nothing)
    )

    of_changing, of_calm = now.change_rates_per_s[-2:]
    assert of_changing > 3.0 * of_calm
