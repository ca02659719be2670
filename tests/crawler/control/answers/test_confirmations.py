"""Who says "not modified" of pages that were is not asked again."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from recrawl.crawler.control.answers.confirmations import Confirmations
from recrawl.terms import Kind, Lease, Outcome, PageState, PageUpdate, Visit


def visited(
    page_id: int,
    outcome: Outcome,
    *,
    host_id: int = 1,
    held: tuple[str | None, str | None] = ('"a"', None),
    told: tuple[str | None, str | None] = ('"a"', None),
    changed: bool | None = None,
) -> PageUpdate:
    lease = Lease(
        page_id=page_id,
        url=f"http://a.test/{page_id}",
        host_id=host_id,
        token=1,
        due_s=0.0,
        kind=Kind.PAGE,
        depth=0,
        state=PageState.INDEXED,
        etag=held[0],
        last_modified=held[1],
    )
    visit = Visit(1.0, outcome, changed=outcome is Outcome.CHANGED if changed is None else changed)
    return PageUpdate(
        lease=lease,
        visit=visit,
        state=PageState.INDEXED,
        due_s=2.0,
        etag=told[0],
        last_modified=told[1],
    )


def confirmed(word: Confirmations, n: int, host_id: int = 1) -> None:
    for page_id in range(100, 100 + n):
        assert word.observe(visited(page_id, Outcome.NOT_MODIFIED, host_id=host_id)) is None


def looked(
    word: Confirmations, page_id: int, outcome: Outcome, **told: object
) -> Sequence[str] | None:
    """Read a page in full, as it is the time to."""
    update = visited(page_id, outcome, **told)  # type: ignore[arg-type]
    assert word.take(update.lease)
    return word.observe(update)


def test_two_pages_that_changed_under_the_same_etag_prove_it() -> None:
    word = Confirmations()
    confirmed(word, 8)

    assert looked(word, 1, Outcome.CHANGED) is None
    confirmed(word, 1)
    assert looked(word, 2, Outcome.CHANGED) == tuple(f"http://a.test/{n}" for n in range(100, 108))


def test_one_page_proves_nothing_however_often_it_changes() -> None:
    word = Confirmations()
    confirmed(word, 8)
    for _ in range(5):
        assert looked(word, 1, Outcome.CHANGED) is None
        confirmed(word, 1)


@pytest.mark.parametrize(
    "told",
    [
        {"told": ('"b"', None)},
        {"told": (None, None)},
        {"held": (None, "Mon"), "told": (None, "Tue")},
        {"held": (None, "Mon"), "told": (None, None)},
        {"changed": False},
    ],
)
def test_pages_that_say_that_they_are_others_prove_nothing(told: dict[str, object]) -> None:
    word = Confirmations()
    confirmed(word, 8)
    assert looked(word, 1, Outcome.CHANGED, **told) is None
    confirmed(word, 7)
    assert not word.take(visited(2, Outcome.CHANGED).lease)  # it is the time again after eight


def test_dates_count_where_there_is_no_etag() -> None:
    word, dated = Confirmations(), {"held": (None, "Mon"), "told": (None, "Mon")}
    confirmed(word, 8)
    assert looked(word, 1, Outcome.CHANGED, **dated) is None
    confirmed(word, 1)
    assert looked(word, 2, Outcome.CHANGED, **dated)


def test_hosts_whose_word_holds_are_checked_ever_more_seldom() -> None:
    word, lease = Confirmations(), visited(1, Outcome.UNCHANGED).lease
    for n in (8, 32, 128, 256, 256):
        confirmed(word, n - 1)
        assert not word.take(lease)
        confirmed(word, 1)
        assert looked(word, 1, Outcome.UNCHANGED) is None


def test_after_one_page_of_which_it_was_wrong_every_second_visit_looks() -> None:
    """Until it was right of 32, or wrong of another one."""
    word = Confirmations()
    confirmed(word, 8)
    assert looked(word, 1, Outcome.CHANGED) is None
    for _ in range(32):
        confirmed(word, 1)
        assert looked(word, 2, Outcome.UNCHANGED) is None
    confirmed(word, 7)
    assert not word.take(visited(2, Outcome.UNCHANGED).lease)
    confirmed(word, 1)
    assert looked(word, 2, Outcome.CHANGED) is None


def test_a_page_that_it_is_wrong_of_again_begins_that_anew() -> None:
    word = Confirmations()
    confirmed(word, 8)
    for n in (31, 31):
        assert looked(word, 1, Outcome.CHANGED) is None
        for _ in range(n):
            confirmed(word, 1)
            assert looked(word, 2, Outcome.UNCHANGED) is None
        confirmed(word, 1)
    assert looked(word, 2, Outcome.CHANGED) is not None


def test_only_what_was_read_in_full_without_being_asked_tells() -> None:
    """Of a page that was, its next visit is one like all others."""
    word = Confirmations()
    confirmed(word, 8)
    assert looked(word, 1, Outcome.CHANGED) is None
    for _ in range(40):  # the server answers in full
        assert word.observe(visited(2, Outcome.UNCHANGED)) is None
    confirmed(word, 1)
    assert looked(word, 2, Outcome.UNCHANGED) is None
    assert word.observe(visited(2, Outcome.CHANGED)) is None
    confirmed(word, 1)
    assert word.take(visited(3, Outcome.UNCHANGED).lease)


def test_hosts_are_judged_each_by_itself() -> None:
    word = Confirmations()
    confirmed(word, 8)
    assert not word.take(replace(visited(1, Outcome.CHANGED).lease, host_id=2))


def test_who_was_asked_conditionally_and_sends_all_proves_nothing() -> None:
    """It has said that the page is modified."""
    word = Confirmations()
    confirmed(word, 7)
    for page_id in (1, 2, 3):
        assert word.observe(visited(page_id, Outcome.CHANGED)) is None


def test_four_thousand_hosts_are_remembered() -> None:
    word = Confirmations()
    for host_id in range(4_001):
        confirmed(word, 8, host_id)
    lease = visited(1, Outcome.CHANGED).lease
    assert not word.take(replace(lease, host_id=0))
    assert word.take(replace(lease, host_id=1))
