"""How far a crawl is, and why it fetches nothing, in words that people can act on."""

from dataclasses import replace
from math import inf

import pytest

from recrawl.crawler.control.addresses.intake import LOW_YIELD
from recrawl.crawler.facts import SettingsFacts
from recrawl.crawler.reports.progress import first_pass_of, price_words, why_idle
from recrawl.terms import HostRecord, PageState

NOW_S = 1_800_000_000.0
SETTINGS = SettingsFacts(budget_per_s=1.0, min_interval_s=600.0)


def host(name: str, due_s: float = NOW_S, **fields: object) -> HostRecord:
    return HostRecord(1, f"http://{name}.test", due_s, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("expected", "discovered", "indexed"),
    [
        ({"known": 1_169, "indexed": 19, "to_come": 1_150}, 1_150, 19),
        (None, 10, 1_200),
        (None, 0, 5),
        ({"known": 1, "indexed": 0, "to_come": 1}, 1, 0),
        ({"known": 0, "indexed": 0, "to_come": 0}, 0, 0),
    ],
)
def test_coverage_is_told_until_the_first_pass_is_over(
    expected: dict[str, int] | None, discovered: int, indexed: int
) -> None:
    """A hundredth of the pages may be yet to come: there always are some that fail."""
    counts = {PageState.DISCOVERED: discovered, PageState.INDEXED: indexed}

    assert first_pass_of(counts, []) == expected


def test_what_is_put_off_is_not_waited_for() -> None:
    """Other refusals are of addresses that are no pages of the crawl at all."""
    counts = {PageState.DISCOVERED: 150, PageState.INDEXED: 800}
    refused = [("a.test", LOW_YIELD, 90), ("b.test", LOW_YIELD, 30), ("a.test", "too deep", 500)]

    assert first_pass_of(counts, refused) == {"known": 830, "indexed": 800, "to_come": 30}
    assert first_pass_of(counts, [("a.test", LOW_YIELD, 149)]) is None
    assert first_pass_of(counts, [("a.test", LOW_YIELD, 400)]) is None, "some were tried since"


def test_a_crawl_that_fetches_needs_no_excuse() -> None:
    """Nor one that did a moment ago."""
    assert why_idle(NOW_S, NOW_S - 30.0, [host("a")], SETTINGS) is None


def test_before_the_start_is_known_there_is_nothing_to_excuse() -> None:
    """As in a state that no crawl has opened yet."""
    assert why_idle(NOW_S, None, [], SETTINGS) is None


def test_why_nothing_is_fetched_is_said_soon_where_no_host_can_be_asked() -> None:
    """One host that can be asked is waited for, as a visit may be due in a moment."""
    resting = host("a", blocked_until_s=NOW_S + 240, blocked_why="answered 503", failures=1)

    assert why_idle(NOW_S, NOW_S - 4.0, [resting], SETTINGS) is None
    assert "answered 503" in (
        why_idle(NOW_S, NOW_S - 6.0, [resting, host("b", inf)], SETTINGS) or ""
    )
    assert why_idle(NOW_S, NOW_S - 6.0, [resting, host("b")], SETTINGS) is None


def test_that_robots_txt_forbids_everything_is_said_soon() -> None:
    """The start of a crawl that can fetch nothing must not look like one that goes well."""
    hosts, forbidden = [host("a", NOW_S + 86_400)], {PageState.DISALLOWED: 2}

    told = why_idle(NOW_S, NOW_S - 6.0, hosts, SETTINGS, forbidden)

    assert told == "Nothing fetched for 6s: robots.txt forbids every page that is known"
    assert why_idle(NOW_S, NOW_S - 4.0, hosts, SETTINGS, forbidden) is None
    assert why_idle(NOW_S, NOW_S - 6.0, hosts, SETTINGS, forbidden | {PageState.INDEXED: 1}) is None


@pytest.mark.parametrize(
    ("beside", "is_told"),
    [({}, True), ({PageState.GONE: 1}, True), ({PageState.DISCOVERED: 1}, False),
     ({PageState.INDEXED: 1}, False)],
)  # fmt: skip
def test_that_all_pages_have_moved_is_said_where_none_is_left_to_visit(
    beside: dict[PageState, int], is_told: bool
) -> None:
    """Where one waits for a host that rests, that is the reason."""
    resting = host("a", blocked_until_s=NOW_S + 240, blocked_why="answered 503", failures=1)
    told = why_idle(NOW_S, NOW_S - 90.0, [resting], SETTINGS, {PageState.MOVED: 9} | beside) or ""

    assert ("they have moved" in told, "answered 503" in told) == (is_told, not is_told)


@pytest.mark.parametrize(
    ("words", "hosts", "least_worth"),
    [
        (
            ["4min", "http://a.test rests until", "answered 503", "7 times in a row"],
            [host("a", blocked_until_s=NOW_S + 240, blocked_why="answered 503", failures=7)],
            0.0,
        ),
        (
            ["http://a.test", "http://b.test", "robots.txt cannot be read"],
            [
                host("a", blocked_until_s=NOW_S + 9, blocked_why="dead: connect"),
                host("b", blocked_until_s=NOW_S + 9, blocked_why="robots.txt cannot be read: dns"),
            ],
            0.0,
        ),
        (["3 other hosts"], [host(n, blocked_until_s=NOW_S + 9) for n in "abcdefg"], 0.0),
        (["no page is known"], [host("a", inf)], 0.0),
        (["revisit.min_interval", "10min", "the next is due at"], [host("a", NOW_S + 9)], 0.0),
        (["plan.least_worth", "on purpose"], [host("a", NOW_S + 9)], 1e-5),
        (["robots or indexer are busy"], [host("a")], 0.0),
    ],
)
def test_why_nothing_is_fetched_is_said_by_name(
    words: list[str], hosts: list[HostRecord], least_worth: float
) -> None:
    """Which host, why, and until when."""
    told = why_idle(NOW_S, NOW_S - 240.0, hosts, replace(SETTINGS, least_worth=least_worth)) or ""

    assert all(word in told for word in words), told


def test_pages_that_were_never_read_are_told_of_while_they_are_put_off() -> None:
    """Else a crawl that gives up on a kind of address seems to have read everything."""
    counts = {PageState.DISCOVERED: 58_916, PageState.INDEXED: 3_629}
    told = why_idle(NOW_S, NOW_S - 240.0, [host("a", NOW_S + 9)], SETTINGS, counts) or ""

    assert "fixed, as 58,916 that were never read (see recrawl status); the next" in told


def test_the_price_is_told_in_pages() -> None:
    """One more visit a day for so long a gain: the unit of the price is pages times seconds."""
    assert price_words(0.002 * 86_400) == "500 more fetches a day keep one more page fresh"
    assert price_words(2.5 * 86_400) == "one more fetch a day keeps 2.5 more pages fresh"
    assert price_words(1.76e-7 * 86_400).startswith("5,700,000 more fetches")
    assert price_words(0.4 * 86_400) == "2.5 more fetches a day keep one more page fresh"
    assert price_words(0.7 * 86_400) == "one more fetch a day keeps 0.7 more pages fresh"
    assert "hardly anything" in price_words(0.0)
    assert "hardly anything" in price_words(0.9e-7 * 86_400)
