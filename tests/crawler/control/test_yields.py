"""What kinds of address bring: shapes are told apart, tried, and visited as they prove worth it."""

import pytest

from recrawl.crawler.control.yields import AddressYields, is_doubted
from recrawl.terms import Lease, Outcome, PageState, PageUpdate, Visit

A, NOW_S, HOUR_S = "http://a.test", 1_800_000_000.0, 3_600.0


def lease(number: int, path: str) -> Lease:
    return Lease(number, f"{A}{path}", 1, 1, NOW_S)


def visited(of: Lease, text: str | None, outcome: Outcome = Outcome.NEW) -> PageUpdate:
    """A first visit that found this text, or nothing to index."""
    state = PageState.EXCLUDED if text is None else PageState.INDEXED
    signature = None if text is None else text.encode()
    return PageUpdate(of, Visit(NOW_S, outcome), state, NOW_S, signature=signature)


def crawled(yields: AddressYields, paths: list[str], texts: list[str | None]) -> list[int]:
    """Visit what may be, each at once when it is told of; return the numbers of those visited."""
    leases = {number: lease(number, path) for number, path in enumerate(paths)}
    waiting = list(leases)
    seen: list[int] = []
    while waiting:
        number = waiting.pop(0)
        if number in seen or (number not in seen and yields.due_s(leases[number], NOW_S) > NOW_S):
            continue
        seen.append(number)
        welcome = yields.observe(visited(leases[number], texts[number]))
        waiting = [page_id for page_id, _ in welcome] + waiting
    return seen


def test_a_site_behind_one_script_is_visited_whole() -> None:
    """Two thousand pages of a wiki that differ by a parameter only."""
    n = 2_000
    paths = [f"/doku.php?id=page{number}" for number in range(n)]

    seen = crawled(AddressYields(), paths, [f"text {number}" for number in range(n)])

    assert len(seen) == n


@pytest.mark.parametrize("text", [None, "please log in"], ids=["nothing", "always the same"])
@pytest.mark.parametrize("pattern", ["/doku.php?do=edit&id=p{}", "/shop?colour=c{}&size=s{}"])
def test_a_shape_that_brings_nothing_is_tried_a_few_times(text: str | None, pattern: str) -> None:
    """Whether its words speak against it or not."""
    paths = [pattern.replace("{}", str(number)) for number in range(500)]

    seen = crawled(AddressYields(), paths, [text] * 500)

    assert 1 <= len(seen) <= 25


def test_words_are_overridden_by_what_comes() -> None:
    """A site whose pages are all called edit is visited whole."""
    paths = [f"/wiki?action=edit&page={number}" for number in range(300)]

    seen = crawled(AddressYields(), paths, [f"text {number}" for number in range(300)])

    assert len(seen) == 300


def test_what_is_put_off_is_tried_now_and_then() -> None:
    """A site may change its mind; one more every three hours."""
    yields = AddressYields()
    for number in range(10):
        one = lease(number, f"/x?do=edit&id={number}")
        if yields.due_s(one, NOW_S) == NOW_S:
            yields.observe(visited(one, None))

    later = lease(99, "/x?do=edit&id=99")

    assert yields.due_s(later, NOW_S) > NOW_S + 2 * HOUR_S
    assert yields.due_s(later, NOW_S + 4 * HOUR_S) == NOW_S + 4 * HOUR_S
    assert yields.due_s(later, NOW_S + 4 * HOUR_S + 1.0) > NOW_S + 6 * HOUR_S


def test_addresses_without_a_query_never_wait() -> None:
    """Their paths are their names."""
    yields = AddressYields()

    for number in range(50):
        one = lease(number, f"/p/{number}")
        assert yields.due_s(one, NOW_S) == NOW_S
        yields.observe(visited(one, None))


def test_a_start_learns_what_was_known() -> None:
    """From the pages that the state has."""
    yields = AddressYields()
    yields.recall((f"{A}/x?do=edit&id={number}", PageState.EXCLUDED, None) for number in range(20))

    assert yields.due_s(lease(1, "/x?do=edit&id=new"), NOW_S) > NOW_S
    ((words, visits, brought), *_) = yields.examples()
    assert words == f"{A}/x?do=edit&id=*"
    assert visits > brought == 0


@pytest.mark.parametrize(
    ("doubted", "query"),
    [
        (True, "do=edit&id=start"),
        (True, "title=X&action=history"),
        (True, "C=N;O=D"),
        (True, "oldid=17"),
        (True, "p=repo.git;a=commitdiff;h=12ab"),
        (True, "replytocom=5"),
        (False, "id=start"),
        (False, "title=Main_Page"),
        (False, "p=12"),
        (False, "action=view&id=3"),
        (False, "q=edit"),
    ],
)
def test_words_that_speak_against_a_page(doubted: bool, query: str) -> None:
    """Of parameters, not of names."""
    assert is_doubted(f"{A}/x?{query}") is doubted
