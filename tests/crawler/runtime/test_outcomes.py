"""What one visit makes of a page, where the table of states alone does not say it."""

from dataclasses import replace

import pytest

from recrawl.crawler.control.answers.lifecycle import RevisitRules, is_known_anew
from recrawl.crawler.control.revisiting.due_times import DueTimes
from recrawl.crawler.control.revisiting.policies import FixedRates
from recrawl.crawler.runtime.outcomes import Finding, is_outdated, update_of
from recrawl.terms import FetchResponse, Lease, Outcome, PageState

NOW_S = 1_800_000_000.0
RULES = RevisitRules(max_interval_s=1e6, retry_s=700.0)
TIMES = DueTimes(RULES, FixedRates(RULES, "uniform"))
NEW = FetchResponse("", 200, etag="new", last_modified="new")
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


@pytest.mark.parametrize(("target", "times"), [("http://a.test/2", 2.0), ("http://a.test/3", 1.0)])
def test_what_leads_to_where_it_led_before_waits_longer(target: str, times: float) -> None:
    """Its next target may be another every day."""
    lease = replace(EXCLUDED, state=PageState.MOVED)
    finding = Finding(Outcome.REDIRECTED, redirect_url="http://a.test/2")
    memory = update_of(lease, finding, NOW_S, TIMES).memory

    again = replace(finding, redirect_url=target)
    update = update_of(replace(lease, memory=memory), again, NOW_S, TIMES)

    assert update.due_s - NOW_S == times * RULES.initial_interval_s


@pytest.mark.parametrize(
    ("told", "status", "kept", "modified_s"),
    [
        ("Mon, 11 Jan 2027 08:00:00 GMT", 200, None, 1_799_654_400.0),
        (None, 304, "Mon, 11 Jan 2027 08:00:00 GMT", 1_799_654_400.0),
        (None, 200, "Mon, 11 Jan 2027 08:00:00 GMT", None),
        ("Fri, 15 Jan 2027 08:00:01 GMT", 200, None, NOW_S + 1.0),  # by a clock that is fast
        ("Fri, 15 Jan 2027 08:00:02 GMT", 200, None, None),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 200, None, None),
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


@pytest.mark.parametrize(
    ("changed", "is_anew", "last_visit_s", "finding"),
    [
        (True, True, NOW_S - 9.0, Finding(Outcome.CHANGED)),
        (False, True, NOW_S - 9.0, Finding(Outcome.UNCHANGED)),
        (False, True, NOW_S - 9.0, Finding(Outcome.NOT_MODIFIED)),
        (None, False, None, Finding(Outcome.CHANGED)),
        (None, True, None, Finding(Outcome.NEW)),
        (None, False, NOW_S - 9.0, Finding(Outcome.CHANGED, is_read_otherwise=True)),
        (None, True, NOW_S - 9.0, Finding(Outcome.CHANGED, is_read_otherwise=True, read_as=3)),
        (False, True, NOW_S - 9.0, Finding(Outcome.UNCHANGED, is_read_otherwise=True)),
        (None, False, NOW_S - 9.0, Finding(Outcome.FAILED, read_as=3)),
        (True, True, NOW_S - 9.0, Finding(Outcome.LISTING, changed=True)),
        (None, True, NOW_S - 9.0, Finding(Outcome.LISTING)),
    ],
)
def test_what_a_visit_tells_of_a_page(
    changed: bool | None, is_anew: bool, last_visit_s: float | None, finding: Finding
) -> None:
    """Whether it changed, where there is something that it can be compared with."""
    lease = Lease(1, "http://a.test/", 1, 1, NOW_S - 5.0, last_visit_s=last_visit_s)

    update = update_of(lease, finding, NOW_S, TIMES)

    assert (update.visit.changed, is_known_anew(update)) == (changed, is_anew)
    assert update.visit.interval_s == (None if changed is None else 9.0)
    assert (update.visit.fetch_s, update.visit.received_bytes) == (0.0, 0)


@pytest.mark.parametrize(
    ("kept", "state", "finding"),
    [
        ("new", PageState.INDEXED, Finding(Outcome.CHANGED, NEW, raw_hash=b"2", signature=b"2")),
        ("old", PageState.INDEXED, Finding(Outcome.NOT_MODIFIED, NEW)),
        ("old", PageState.INDEXED, Finding(Outcome.FAILED)),
        ("old", PageState.INDEXED, Finding(Outcome.NOT_FOUND, NEW)),
        ("nothing", PageState.MISSING, Finding(Outcome.NOT_FOUND, NEW)),
        ("old", PageState.INDEXED, Finding(Outcome.DISALLOWED)),
        ("nothing", PageState.MISSING, Finding(Outcome.DISALLOWED)),
        ("nothing", PageState.EXCLUDED, Finding(Outcome.MOVED, NEW)),
    ],
)
def test_what_is_known_of_the_content_is_of_the_copy(
    kept: str, state: PageState, finding: Finding
) -> None:
    """Of the one that was read last, as long as it is kept."""
    lease = replace(
        EXCLUDED, state=state, etag="old", last_modified="old", signature=b"1", raw_hash=b"1",
        memory=b"m",
    )  # fmt: skip

    update = update_of(lease, finding, NOW_S, TIMES)

    told = (update.etag, update.last_modified, update.signature, update.raw_hash)
    assert (
        told
        == {
            "new": ("new", "new", b"2", b"2"),
            "old": ("old", "old", b"1", b"1"),
            "nothing": (None,) * 4,
        }[kept]
    )
    assert update.memory == b"m"


@pytest.mark.parametrize(
    ("is_older", "age_s", "seen_s"),
    [
        (False, 10.5, NOW_S - 10.0),
        (False, 11.0, NOW_S - 10.0),  # ages are told in whole seconds
        (True, 11.5, NOW_S - 10.0),
        (True, 0.5, NOW_S + 9.0),
        (False, 0.0, NOW_S + 9.0),
        (False, 99.0, None),
    ],
)
def test_an_answer_is_outdated_that_is_older_than_the_copy(
    is_older: bool, age_s: float, seen_s: float | None
) -> None:
    """Of two caches one may be; where nothing is known of the copy, none is."""
    response = FetchResponse("", 200, age_s=age_s)

    assert is_outdated(replace(EXCLUDED, seen_s=seen_s), response, NOW_S) is is_older


HELD = Lease(
    1,
    "http://a.test/",
    1,
    1,
    NOW_S - 5.0,
    state=PageState.INDEXED,
    signature=b"held",
    last_visit_s=NOW_S - 900.0,
)


@pytest.mark.parametrize(
    ("lease", "outcome", "changed"),
    [
        (HELD, Outcome.GONE, True),
        (HELD, Outcome.NOT_FOUND, None),  # once: it may be a slip
        (replace(HELD, state=PageState.MISSING), Outcome.NOT_FOUND, True),
        (replace(HELD, state=PageState.GONE, signature=None), Outcome.NOT_FOUND, None),
        (replace(HELD, state=PageState.DISCOVERED, signature=None), Outcome.GONE, None),
        (replace(HELD, state=PageState.MOVED, signature=None), Outcome.GONE, None),
        (HELD, Outcome.DISALLOWED, None),
    ],
)
def test_a_page_that_went_is_evidence_as_one_that_changed(
    lease: Lease, outcome: Outcome, changed: bool | None
) -> None:
    """Of how often pages there do; its copy was as stale. The error's own date says nothing."""
    told = FetchResponse("", 404, last_modified="Mon, 11 Jan 2027 08:00:00 GMT")

    visit = update_of(lease, Finding(outcome, told), NOW_S, TIMES).visit

    assert visit.changed is changed
    assert visit.interval_s == (900.0 if changed else None)
    assert visit.modified_s is None
