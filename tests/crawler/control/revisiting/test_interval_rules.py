"""The rules of other crawlers: their published numbers, worked out by hand, visit by visit."""

import pytest

from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.control.revisiting.believed import Believed
from recrawl.crawler.control.revisiting.interval_rules import SHIPPED_RULES, IntervalRulePolicy
from recrawl.crawler.control.revisiting.policies import revisit_policy
from recrawl.crawler.control.revisiting.revisit_policy import PageVisit
from recrawl.terms import REVISIT_POLICIES

MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0


def waits(name: str, *changes: bool) -> list[float]:
    """Return how long a page waits after its first visit, and after each that is made when due."""
    policy, at_s, found = IntervalRulePolicy(name, SHIPPED_RULES[name]), 1_800_000_000.0, []
    told = policy.after_visit(PageVisit("http://a.test/", at_s, changed=None))
    for changed in changes:
        found.append(told.due_s - at_s)
        at_s = told.due_s
        visit = PageVisit("http://a.test/", at_s, changed=changed, memory=told.memory or b"")
        told = policy.after_visit(visit)
    return [*found, told.due_s - at_s]


@pytest.mark.parametrize(
    ("name", "changes", "expected"),
    [
        # Up by half, up to a fortnight; down by half, and half an hour more, down to an hour.
        ("stormcrawler", [False, True], [DAY, 1.5 * DAY, 0.75 * DAY + 0.5 * HOUR]),
        ("stormcrawler", [False] * 8, [*(DAY * 1.5**n for n in range(7)), 14 * DAY, 14 * DAY]),
        ("news-crawl", [False, True], [12 * HOUR, 18 * HOUR, 14.4 * HOUR + 18 * MINUTE]),
        # Up by two fifths, and sooner by three tenths of the age of the last change.
        ("nutch", [False], [30 * DAY, 42 * DAY - 9 * DAY]),
        ("nutch", [True, True], [30 * DAY, 24 * DAY, 19.2 * DAY]),
        # A week over the entries of the last week, each weighing less the older it is.
        ("miniflux", [False, False], [DAY, DAY, DAY]),
    ],
)
def test_pages_wait_as_the_rules_of_other_crawlers_say(
    name: str, changes: list[bool], expected: list[float]
) -> None:
    assert waits(name, *changes) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("name", "changed", "bound"),
    [
        ("stormcrawler", True, HOUR),
        ("stormcrawler", False, 14 * DAY),
        ("news-crawl", True, 90 * MINUTE),
        ("news-crawl", False, 90 * DAY),
        ("nutch", True, 60.0),
        ("nutch", False, (1 - 0.3) * 365 * DAY),
        ("miniflux", False, DAY),
    ],
)
def test_no_wait_leaves_the_bounds_of_its_rule(name: str, changed: bool, bound: float) -> None:
    """After sixty changes in a row, or none."""
    assert waits(name, *[changed] * 60)[-1] == pytest.approx(bound, rel=1e-4)


def test_a_replay_counts_in_its_own_unit_of_time() -> None:
    """Durations are divided by it, shares are not; a window is a duration."""
    assert SHIPPED_RULES["miniflux"].numbers(MINUTE) == pytest.approx(
        [0.0, 0.0, 5.0, 1_440.0, 0.0, 10_080.0]
    )
    assert SHIPPED_RULES["nutch"].numbers(DAY) == pytest.approx(
        [0.4, 0.2, 60.0 / DAY, 365.0, 0.0, 0.3]
    )
    assert SHIPPED_RULES["stormcrawler"].numbers(HOUR) == pytest.approx(
        [0.5, 0.5, 1.0, 336.0, 0.5, 0.0]
    )


def test_every_policy_that_a_configuration_may_name_is_made_by_its_name() -> None:
    """And every rule of other crawlers is among them."""
    rules = RevisitRules()
    believed = Believed(rules, budget_per_s=1e-3, prior_rate_per_s=1e-6, prior_shape=0.5)

    assert set(SHIPPED_RULES) <= set(REVISIT_POLICIES)
    made = [revisit_policy(name, rules, believed).name for name in REVISIT_POLICIES]
    assert made == list(REVISIT_POLICIES)
