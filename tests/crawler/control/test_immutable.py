"""Kinds of address that never change are learned as such from a few of them."""

import numpy as np
import pytest

from recrawl.crawler.control.addresses.doubts import group_of
from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.control.evidence import Evidence, PlannedPages
from recrawl.crawler.control.revisiting.believed import Believed
from recrawl.crawler.control.revisiting.policies import _worth_of_versions, revisit_policy
from recrawl.crawler.control.revisiting.revisit_policy import Replan

DAY_S, NOW_S = 86_400.0, 1_800_000_000.0
N_OLD, N_FILES, KNOWN = 200, 40, 10


def test_at_most_half_the_visits_go_to_versions_once_ten_were_visited_thrice() -> None:
    """Five times as many as files beside them, of which one in four had changed each time."""
    old = [f"http://a.test/work/commit/?id={number:040x}" for number in range(N_OLD)]
    files = [f"http://a.test/work/tree/file{number}" for number in range(N_FILES)]
    urls, n = [*old, *files], N_OLD + N_FILES
    rules = RevisitRules(min_interval_s=600.0)
    believed = Believed(rules, budget_per_s=1e-4, prior_rate_per_s=1e-6, prior_shape=0.5)
    seen = np.r_[:KNOWN, N_OLD:n]
    page = np.repeat(np.arange(seen.size), 2)
    changed = (np.arange(page.size) % 4 == 0) & (page >= KNOWN)
    nothing = np.full(page.size, np.nan)
    intervals_s = np.full(page.size, DAY_S)
    named = [urls[row] for row in seen]
    believed.learn(Evidence(seen + 1, page, intervals_s, changed, nothing, nothing, named))
    others = np.arange(KNOWN, N_OLD)
    none = np.zeros(0)
    empty = (np.zeros(0, np.int64), none, np.zeros(0, np.bool_), none, none)
    believed.learn(Evidence(others + 1, *empty, [urls[row] for row in others]))

    blank = np.full(n, np.nan)
    last_s = NOW_S - DAY_S * np.random.default_rng(0).uniform(0.0, 1.0, n)
    columns = (np.ones(n), blank, blank, blank, last_s, np.full(n, NOW_S), blank)
    hosts = np.zeros(n, np.int64)
    plan = revisit_policy("foresight", rules, believed).replan(
        Replan(
            PlannedPages(np.arange(1, n + 1), hosts, *columns),
            hosts,
            np.full(1, np.inf),
            n / (2.0 * DAY_S),
            NOW_S,
        )
    )

    assert plan is not None
    assert plan.crawl_rates[:N_OLD].sum() <= 0.5 * plan.crawl_rates.sum()
    assert plan.lightest == pytest.approx((0.5 * N_FILES / N_OLD) ** 2)


@pytest.mark.parametrize("visits", [1, 2])
@pytest.mark.parametrize("n_changed", [0, 1])
def test_three_visited_twice_are_enough_where_their_server_says_so(
    visits: int, n_changed: int
) -> None:
    """For those of which it says so, not for those beside them; one that changed disproves it."""
    believed = Believed(RevisitRules(), budget_per_s=1e-4, prior_rate_per_s=1e-6, prior_shape=0.5)
    urls = [f"http://a.test/docs/{number}" for number in range(8)]
    page = np.repeat(np.arange(8), visits - 1)
    nothing = np.full(page.size, np.nan)
    changed = page < n_changed
    intervals_s = np.full(page.size, DAY_S)
    told = (page, intervals_s, changed, nothing, nothing, urls, [True] * 4 + [False] * 4)
    believed.learn(Evidence(np.arange(1, 9), *told))

    expected = visits == 2 and not n_changed

    assert believed.never_change(np.arange(1, 9)).tolist() == [expected] * 4 + [False] * 4


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("/r/commit/?id=" + "a" * 40, "/r/commit/?id=" + "b" * 40, True),
        ("/r/commit/?id=" + "a" * 40, "/r/tree/x", False),
        ("/r/tree/x", "/r/tree/y", True),
        ("/r/log/x", "/r/tree/x", False),
        ("/doku.php?id=a", "/doku.php?id=b", True),
        ("/doku.php?id=a", "/doku.php?id=a&rev=12", False),
        (f"/r/{'a' * 40}/x", "/r/main/x", False),
    ],
)
def test_pages_lend_each_other_what_is_known_where_their_addresses_are_alike(
    one: str, other: str, alike: bool
) -> None:
    """Versions and pages that lie in one folder do not."""
    assert (group_of(f"http://a.test{one}") == group_of(f"http://a.test{other}")) is alike


def test_where_nothing_changes_all_weigh_what_they_weighed() -> None:
    """The price of a visit, by which listings and pages that are gone go too, stays what it is."""
    assert _worth_of_versions(np.ones(7, np.bool_)).tolist() == [1.0] * 7
    assert _worth_of_versions(np.zeros(7, np.bool_)).tolist() == [1.0] * 7


@pytest.mark.parametrize(
    ("expected", "n_never", "n"),
    [(0.25, 1, 2), (0.0625, 2, 3), (1.0, 1, 1_000), (9e-4, 999, 1_000)],
)
def test_kinds_that_never_change_weigh_what_gives_them_half_as_many_visits(
    expected: float, n_never: int, n: int
) -> None:
    """The square of half of the others' number over theirs; from 0.03 squared to what others do."""
    weights = _worth_of_versions(np.arange(n) < n_never)

    assert weights[:n_never].tolist() == pytest.approx([expected] * n_never)
    assert weights[n_never:].tolist() == [1.0] * (n - n_never)
