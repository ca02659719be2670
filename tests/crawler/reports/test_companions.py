"""What was found beside a page, and its share in the time of the next visit."""

from dataclasses import replace

import numpy as np
import pytest
from tests.crawler.reports.test_activity import HOST, NOW_S, PLAN, crawled

from recrawl.crawler.frontier.memory import MemoryFrontier
from recrawl.crawler.reports.companions import companions_report, since_words
from recrawl.terms import Outcome

DAY_S = 86_400.0
NEW, CHANGED = Outcome.NEW, Outcome.CHANGED
PAGE = "/guide/9"


@pytest.fixture
def frontier() -> MemoryFrontier:
    """A page last seen nine days ago, and what was found around it since; now is a Friday."""
    return crawled(
        {
            PAGE: [(NOW_S - 9 * DAY_S, NEW)],
            "/guide/1": [(NOW_S - 3 * DAY_S, CHANGED), (NOW_S - 1.9 * DAY_S, CHANGED)],
            "/guide/2": [(NOW_S - 2 * DAY_S, CHANGED)],
            "/guide/sub/3": [(NOW_S - DAY_S, CHANGED)],
            "/guide/4": [(NOW_S - 10 * DAY_S, CHANGED), (NOW_S - DAY_S, Outcome.UNCHANGED)],
            "/guide/5": [(NOW_S - DAY_S, NEW)],
            "/other/6": [(NOW_S - DAY_S, CHANGED)],
            "/alone/7": [(NOW_S - 5 * DAY_S, NEW)],
        }
    )


def planned(frontier: MemoryFrontier, path: str, due_s: float, own_due_s: float | None) -> None:
    details = frontier.details(HOST + path)
    assert details is not None
    own = None if own_due_s is None else np.array([own_due_s])
    rates = np.array([1.0 / DAY_S])
    ids = np.array([details.page_id])
    frontier.save_crawl_rates(PLAN, ids, rates, np.array([due_s]), own_due_s=own)


def report(frontier: MemoryFrontier, path: str = PAGE) -> dict[str, object]:
    details = frontier.details(HOST + path)
    assert details is not None
    told = companions_report(frontier, details, PLAN, now_s=NOW_S)
    assert told is not None
    return told


def test_companions_and_their_share_are_told(frontier: MemoryFrontier) -> None:
    """Three pages of the directory since Tuesday; the plan moved ten days to nine and a half."""
    planned(frontier, PAGE, NOW_S + 0.5 * DAY_S, NOW_S + DAY_S)

    told = report(frontier)

    assert (told["directory"], told["n_changed"]) == (f"{HOST}/guide/", 3)
    assert told["since"] == NOW_S - 3 * DAY_S
    changed = told["changed"]
    assert isinstance(changed, list)
    assert [one["url"].removeprefix(HOST) for one in changed] == [
        "/guide/sub/3", "/guide/1", "/guide/2",
    ]  # fmt: skip
    assert (told["own_interval_s"], told["interval_s"]) == (10 * DAY_S, 9.5 * DAY_S)
    assert (told["sooner_s"], told["share"]) == (0.5 * DAY_S, pytest.approx(0.05))
    assert told["words"] == (
        "three pages of /guide/ have changed since Tuesday; the next visit is brought forward by "
        "12h, 5% of the 10d by its own rate alone"
    )


def test_a_calm_directory_puts_a_visit_off(frontier: MemoryFrontier) -> None:
    """By how much, as well."""
    planned(frontier, "/alone/7", NOW_S + 6 * DAY_S, NOW_S + 5 * DAY_S)

    told = report(frontier, "/alone/7")

    assert told["share"] == pytest.approx(-0.1)
    assert "the next visit is put off by 1d, 10% of the 10d" in str(told["words"])


def test_the_innermost_directory_with_a_change_is_told(frontier: MemoryFrontier) -> None:
    """Where nothing changed in the page's own, those around it; pages of the host at last."""
    assert report(frontier, "/alone/7")["directory"] == f"{HOST}/"
    assert report(frontier, "/alone/7")["n_changed"] == 4


def test_a_visit_ends_what_a_plan_had_moved(frontier: MemoryFrontier) -> None:
    """As does whoever asks for the page; a page not visited yet has no companions to go by."""
    planned(frontier, PAGE, NOW_S + 0.5 * DAY_S, NOW_S + DAY_S)
    frontier.make_due(NOW_S)
    told = report(frontier)
    assert (told["share"], told["sooner_s"]) == (None, None)
    assert str(told["words"]).endswith("that leaves its next visit as it is")

    details = frontier.details(HOST + PAGE)
    assert details is not None
    unseen = replace(details, last_visit_s=None)
    assert companions_report(frontier, unseen, PLAN, now_s=NOW_S) is None
    other = replace(PLAN, measure="recrawl")
    assert companions_report(frontier, details, other, now_s=NOW_S) is None
    assert companions_report(frontier, details, None, now_s=NOW_S) is None


@pytest.mark.parametrize(
    ("ago_s", "words"),
    [
        (3_600.0, "07:00 today"),
        (DAY_S, "Thursday"),
        (5.5 * DAY_S, "Saturday"),
        (7 * DAY_S, "8 January"),
    ],
)
def test_since_when_is_said_as_people_do(ago_s: float, words: str) -> None:
    """A time of today, a day of the week, or a date."""
    assert since_words(NOW_S, NOW_S) == "08:00 today"
    assert since_words(NOW_S - ago_s, NOW_S) == words
