"""Leases of pages, as a process keeps them."""

from pathlib import Path

import pytest

from recrawl.crawler.frontier.leases import Leases, is_free
from recrawl.crawler.frontier.sqlite import SqliteFrontier
from recrawl.crawler.ports import AdmissionLimits
from recrawl.terms import Discovery, Kind, Lease, Outcome, PageState, PageUpdate, Visit

HOST = "http://a.test"


def leased(page_id: int, host_id: int, token: int) -> Lease:
    """Return a lease of a page."""
    url = f"{HOST}/{page_id}"
    return Lease(page_id, url, host_id, token, 0.0, Kind.PAGE, PageState.INDEXED, 0, 0, 0)


def test_a_lease_holds_until_it_is_ended_or_another_follows_and_lapses_by_itself() -> None:
    """A page whose lease has lapsed is free, and whoever had it may still tell what came of it."""
    leases, first, second = Leases(), leased(7, 3, 1), leased(7, 3, 2)
    leases.take([first], 10.0)

    assert not is_free(leases.of_host(3), 7, 9.0)
    assert is_free(leases.of_host(3), 7, 10.0)
    assert (leases.hold(first), leases.until_s(7)) == (True, 10.0)
    assert (leases.taken(9.0), leases.taken(10.0)) == ([7], [])
    leases.take([second], 20.0)
    leases.end([first])
    assert (leases.hold(first), leases.hold(second), leases.taken(10.0)) == (False, True, [7])
    leases.end([second])
    assert (leases.until_s(7), dict(leases.of_host(3))) == (None, {})


def test_leases_of_shards_that_others_own_now_are_none() -> None:
    """The shard of a host is its number modulo theirs."""
    leases = Leases()
    leases.take([leased(number, host_id=number, token=number) for number in range(1, 7)], 9.0)
    leases.drop({1, 2}, 3)

    assert leases.taken(1.0) == [3, 6]


def test_few_queues_of_a_host_are_read_for_a_lease_and_for_what_is_due_next(tmp_path: Path) -> None:
    """A host whose pages change at all rates has a dozen."""
    frontier = SqliteFrontier(tmp_path)
    found = [Discovery(f"{HOST}/{number}", HOST) for number in range(12)]
    frontier.admit(found, 0.0, AdmissionLimits())
    (host,) = frontier.hosts()
    leases = frontier.lease(host.host_id, limit=12, due_by_s=9.0, now_s=1.0, until_s=9.0)
    updates = [
        PageUpdate(
            lease, Visit(2.0, Outcome.NEW), PageState.INDEXED, 50.0 + number,
            interval_s=2.0**number, signature=b"s",
        )
        for number, lease in enumerate(leases)
    ]  # fmt: skip
    frontier.complete(updates, 2.0)
    read: list[str] = []
    frontier._db.set_trace_callback(read.append)
    due = frontier.lease(host.host_id, limit=4, due_by_s=50.5, now_s=50.5, until_s=99.0)
    next_due_s = frontier.host(host.host_id, now_s=50.5).next_due_s
    frontier._db.set_trace_callback(None)
    rest = frontier.lease(host.host_id, limit=12, due_by_s=99.0, now_s=99.0, until_s=199.0)
    frontier.close()

    assert [lease.page_id for lease in due] == [leases[0].page_id]
    assert next_due_s == 51.0
    assert len(read) == 2 + 4
    assert len(rest) == 12


def test_a_visit_that_was_not_recorded_leaves_its_page_leased(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is all or nothing: the visit can be told again, once."""
    frontier = SqliteFrontier(tmp_path)
    frontier.admit([Discovery(f"{HOST}/a", HOST)], 0.0, AdmissionLimits())
    (host,) = frontier.hosts()
    (lease,) = frontier.lease(host.host_id, limit=1, due_by_s=9.0, now_s=1.0, until_s=9.0)
    update = PageUpdate(lease, Visit(2.0, Outcome.NEW), PageState.INDEXED, 50.0, signature=b"s")
    with monkeypatch.context() as patched:
        patched.setattr(frontier.worths, "note_links", lambda updates: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            frontier.complete([update], 2.0)
    before = frontier.details(f"{HOST}/a")
    frontier.complete([update], 2.0)
    frontier.complete([update], 2.0)
    after = frontier.details(f"{HOST}/a")
    frontier.close()

    assert before is not None
    assert after is not None
    assert (before.visits, before.leased_until_s) == (0, 9.0)
    assert (after.visits, after.leased_until_s) == (1, None)
