"""Who may ask an IP address, of processes that own different hosts of it."""

from collections.abc import Iterator
from math import inf

import psycopg
import pytest
from tests.databases import Server, databases

from recrawl.crawler.control.dispatching.ip_addresses import IpAddressState
from recrawl.crawler.database.ip_addresses import exchange_ip_addresses, share_ip_addresses
from recrawl.crawler.database.membership import Membership
from recrawl.errors import OwnershipLost
from recrawl.terms import Database

__all__ = ["databases"]

SERVER, OTHER = "192.0.2.1", "2001:db8::1"


@pytest.fixture
def database(databases: Server) -> Database:
    """Give an empty database."""
    return databases.database()


@pytest.fixture
def three(database: Database) -> Iterator[list[Membership]]:
    """Give three processes that have joined."""
    members = [Membership(database, shards=8) for _ in range(3)]
    for member in members:
        member.join("http://a.test/")
    yield members
    for member in members:
        member.close()


def want(member: Membership, *texts: str, delay_s: float = 1.0) -> dict[str, IpAddressState]:
    """Ask for IP addresses; return those that are had."""
    states = [IpAddressState(text, delay_s=delay_s) for text in texts]
    taken, _ = exchange_ip_addresses(member, states, [])
    return {one.text: one for one in taken}


def asked_for(member: Membership) -> list[IpAddressState]:
    return exchange_ip_addresses(member, [], [])[1]


def give(member: Membership, text: str = SERVER, **fields: object) -> None:
    exchange_ip_addresses(member, [], [IpAddressState(text, **fields)])  # type: ignore[arg-type]


def _set(database: Database, change: str) -> None:
    with psycopg.connect(database.address) as connection:
        connection.execute(f"UPDATE {change}".encode())


def test_an_ip_address_has_one_owner_until_it_is_handed_over(three: list[Membership]) -> None:
    """The owner is told that another wants it, and with which delay."""
    first, second, _ = three
    assert set(want(first, SERVER, OTHER)) == {SERVER, OTHER}
    assert want(second, SERVER, delay_s=7.0) == {}
    assert asked_for(second) == []
    assert asked_for(first) == [IpAddressState(SERVER, delay_s=7.0)]

    give(first, ended_s=0.5, delay_s=1.0)
    assert asked_for(first) == []
    assert set(want(second, SERVER, OTHER)) == {SERVER}


def test_the_next_owner_knows_when_the_last_one_asked_and_what_was_answered(
    three: list[Membership],
) -> None:
    """In seconds from now; and the longest delay that anybody told."""
    first, second, third = three
    want(first, SERVER, delay_s=30.0)
    give(first, ended_s=2.0, delay_s=5.0, blocked_s=40.0, failures=3, blocked_why="answered 429")
    state = want(second, SERVER)[SERVER]

    assert 2.0 <= state.ended_s < 20.0
    assert 20.0 < state.blocked_s <= 40.0
    assert (state.delay_s, state.failures, state.blocked_why) == (30.0, 3, "answered 429")
    give(second)  # has asked nothing
    again = want(third, SERVER)[SERVER]
    assert again.ended_s >= state.ended_s
    assert (again.failures, again.blocked_why) == (3, "answered 429")
    assert 0.0 < again.blocked_s <= state.blocked_s


def test_nobody_has_asked_an_ip_address_that_is_new(three: list[Membership]) -> None:
    """It may be asked at once."""
    state = want(three[0], SERVER)[SERVER]

    assert state.ended_s > 1e6
    assert state.blocked_s < -1e6


def test_who_waits_first_is_next(three: list[Membership], database: Database) -> None:
    """Not the owner that wants it back, nor who comes later; unless that one has gone."""
    first, second, third = three
    want(first, SERVER)
    assert want(second, SERVER) == want(third, SERVER) == {}
    give(first, ended_s=0.0)

    assert want(first, SERVER) == want(third, SERVER) == {}
    assert set(want(second, SERVER)) == {SERVER}
    assert want(third, SERVER) == want(first, SERVER) == {}
    give(second, ended_s=0.0)
    assert want(first, SERVER) == {}
    _set(database, "ip_address SET wanted_s = wanted_s - 10")
    assert set(want(first, SERVER)) == {SERVER}


def test_what_was_taken_by_an_answer_that_was_lost_is_taken_again(three: list[Membership]) -> None:
    """It is this process's already."""
    assert set(want(three[0], SERVER)) == {SERVER}
    assert set(want(three[0], SERVER)) == {SERVER}


def test_what_an_ended_process_had_rests_for_a_time_out_and_it_takes_nothing_more(
    three: list[Membership], database: Database
) -> None:
    """It may have asked until its lease ended; the delay and what was answered are known."""
    first, second, third = three
    want(first, SERVER, delay_s=9.0)
    want(third, OTHER)
    _set(database, f"process SET until_s = 0 WHERE id = {first.number}")
    assert want(second, SERVER) == {}
    second.renew()
    third.leave()

    taken = want(second, SERVER, OTHER)
    assert -30.0 <= taken[SERVER].ended_s < 0.0
    assert taken[SERVER].delay_s == 9.0
    assert 0.0 <= taken[OTHER].ended_s < 20.0
    with pytest.raises(OwnershipLost):
        want(first, "192.0.2.9")


def test_a_shorter_delay_counts_once_nobody_tells_the_longer(
    three: list[Membership], database: Database
) -> None:
    """For a day; who tells the longest again keeps it."""
    first, second, _ = three
    want(first, SERVER, delay_s=30.0)
    give(first, ended_s=inf, delay_s=2.0)
    assert want(second, SERVER, delay_s=2.0)[SERVER].delay_s == 30.0
    _set(database, "ip_address SET delay_told_s = delay_told_s - 50000")
    give(second, ended_s=inf, delay_s=30.0)
    _set(database, "ip_address SET delay_told_s = delay_told_s - 50000")
    assert want(first, SERVER, delay_s=2.0)[SERVER].delay_s == 30.0
    _set(database, "ip_address SET delay_told_s = delay_told_s - 50000")
    assert want(first, SERVER, delay_s=2.0)[SERVER].delay_s == 2.0


def test_ip_addresses_that_nobody_asks_are_forgotten_after_a_day(
    three: list[Membership], database: Database
) -> None:
    """So the table holds no more than a day brings; those that are owned or blocked stay."""
    (member, *_) = three
    want(member, "1", "2", "3", "4")
    give(member, "1", ended_s=0.0)
    give(member, "2", ended_s=100_000.0)
    give(member, "3", ended_s=100_000.0, blocked_s=50_000.0)
    _set(database, "ip_address SET wanted_s = 0")
    member._partitions_s = -inf
    member.renew()

    with psycopg.connect(database.address) as connection:
        rows = connection.execute("SELECT text FROM ip_address ORDER BY text").fetchall()
    assert [row[0] for row in rows] == ["1", "3", "4"]


def test_plans_share_a_server_by_the_pages_that_it_serves(three: list[Membership]) -> None:
    """What nobody else tells of is one's own; the parts of those who are there add up to 1."""
    first, second, third = three

    assert share_ip_addresses(first, {SERVER: 30, OTHER: 5}) == {SERVER: 1.0, OTHER: 1.0}
    assert share_ip_addresses(second, {SERVER: 10}) == {SERVER: 0.25}
    assert share_ip_addresses(third, {}) == {}
    assert share_ip_addresses(first, {SERVER: 30}) == {SERVER: 0.75}
    assert share_ip_addresses(third, {OTHER: 1}) == {OTHER: 1.0}


def test_pages_of_a_process_that_has_ended_have_no_part_of_a_server(
    three: list[Membership],
) -> None:
    """Whether it left, or was not heard of; and it tells no more."""
    first, second, _ = three
    share_ip_addresses(first, {SERVER: 30})
    share_ip_addresses(second, {SERVER: 10})

    first.leave()

    assert share_ip_addresses(second, {SERVER: 10}) == {SERVER: 1.0}
    with pytest.raises(OwnershipLost):
        share_ip_addresses(first, {SERVER: 30})
