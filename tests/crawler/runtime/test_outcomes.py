"""What one visit makes of a page, where the table of states alone does not say it."""

import pytest

from recrawl.crawler.control.due_times import DueTimes
from recrawl.crawler.control.lifecycle import RevisitRules
from recrawl.crawler.control.policies import FixedRates
from recrawl.crawler.runtime.outcomes import Finding, update_of
from recrawl.terms import FetchResponse, Lease, Outcome, PageState

NOW_S = 1_800_000_000.0
RULES = RevisitRules(max_interval_s=1e6, retry_s=700.0)
TIMES = DueTimes(RULES, FixedRates(RULES, "uniform"))
EXCLUDED = Lease(1, "http://a.test/", 1, 1, NOW_S - 5.0, state=PageState.EXCLUDED)


@pytest.mark.parametrize(
    ("wait_s", "outcome"),
    [
        (-5.0, Outcome.LOST),
        (-5.0, Outcome.OBSOLETE),
        (-5.0, Outcome.THROTTLED),
        (700.0, Outcome.FAILED),
        (1e6, Outcome.TOO_LARGE),
        (1e6, Outcome.NOT_MODIFIED),
    ],
)
def test_an_excluded_page_waits_long_only_when_it_was_seen(wait_s: float, outcome: Outcome) -> None:
    """A copy that the buffer dropped is fetched again at once, whatever the page was before."""
    update = update_of(EXCLUDED, Finding(outcome, FetchResponse("", 200)), NOW_S, TIMES)

    assert update.state is PageState.EXCLUDED
    assert update.due_s - NOW_S == pytest.approx(wait_s)


@pytest.mark.parametrize(
    ("told", "status", "kept", "modified_s"),
    [
        ("Mon, 11 Jan 2027 08:00:00 GMT", 200, None, 1_799_654_400.0),
        (None, 304, "Mon, 11 Jan 2027 08:00:00 GMT", 1_799_654_400.0),
        (None, 200, "Mon, 11 Jan 2027 08:00:00 GMT", None),
        ("Mon, 11 Jan 2038 08:00:00 GMT", 200, None, None),  # in the future
        ("yesterday", 200, None, None),
        ("Mon, 99 Jan 2027 08:00:00 GMT", 200, None, None),
    ],
)
def test_when_a_page_changed_is_kept_as_its_server_says(
    told: str | None, status: int, kept: str | None, modified_s: float | None
) -> None:
    """Of an answer with content, or of the copy that still holds; never what cannot be."""
    lease = Lease(1, "http://a.test/", 1, 1, NOW_S - 5.0, last_modified=kept)
    response = FetchResponse("", status, last_modified=told)

    update = update_of(lease, Finding(Outcome.CHANGED, response), NOW_S, TIMES)

    assert update.visit.modified_s == modified_s
