"""Who owns what: shards, leases, fences, and the budget that all draw from."""

from collections.abc import Iterator
from dataclasses import replace
from math import inf

import psycopg
import pytest
from tests.databases import Server, databases
from tests.pooler import pooled

from recrawl.crawler.database import connections, membership
from recrawl.crawler.database.connections import connect
from recrawl.crawler.database.membership import Membership
from recrawl.crawler.database.shards import shard_of
from recrawl.crawler.database.sql import migrations
from recrawl.crawler.frontier.postgres import owned
from recrawl.crawler.frontier.postgres.owned import PostgresFrontier
from recrawl.crawler.frontier.postgres.reading import PostgresReader
from recrawl.crawler.ports import AdmissionLimits
from recrawl.errors import DatabaseReadOnly, OwnershipLost, UnusableDatabase
from recrawl.terms import (
    Birth,
    Database,
    Discovery,
    Kind,
    Lease,
    Outcome,
    PageState,
    PageUpdate,
    Visit,
)

__all__ = ["databases"]

SEEDS = "http://a.test/"
HOSTS = [f"http://h{number}.test" for number in range(12)]


@pytest.fixture
def database(databases: Server) -> Database:
    """Give an empty database."""
    return databases.database()


@pytest.fixture
def two(database: Database) -> Iterator[tuple[Membership, Membership]]:
    """Give two processes that have joined, and own nothing."""
    members = [Membership(database, shards=8) for _ in range(2)]
    for member in members:
        member.join(SEEDS)
    yield members[0], members[1]
    for member in members:
        member.close()


def _let_lapse(database: Database, member: Membership) -> None:
    """Have a lease end now, as if its process had not been heard of."""
    with psycopg.connect(database.address) as connection:
        connection.execute("UPDATE process SET until_s = 0 WHERE id = %s", (member.number,))


def _leasing_one(member: Membership) -> tuple[PostgresFrontier, Lease]:
    """Return a frontier of one page, and the lease of that."""
    frontier = PostgresFrontier(member)
    frontier.admit([Discovery(f"{HOSTS[0]}/", HOSTS[0])], 1.0, AdmissionLimits())
    (host,) = frontier.hosts()
    (lease,) = frontier.lease(host.host_id, limit=1, due_by_s=9.0, now_s=2.0, until_s=9.0)
    return frontier, lease


def test_shards_are_shared_out_evenly_and_each_has_one_owner(
    two: tuple[Membership, Membership],
) -> None:
    """Who has more than its share is told to give back, who has less to take."""
    first, second = two
    assert len(first.take(8)) == 8
    standing = first.renew()
    assert (standing.to_release, standing.to_take, standing.processes) == (4, 0, 2)
    assert second.renew().to_take == 0

    first.release(sorted(first.owned)[:4])
    assert second.renew().to_take == 4
    taken = second.take(4)

    assert not set(taken) & set(first.owned)
    assert set(taken) | set(first.owned) == set(range(8))


def test_a_process_whose_lease_ended_writes_nothing_more(
    two: tuple[Membership, Membership], database: Database
) -> None:
    """Neither what it was about to, nor a renewal; its shards rest for a time-out first."""
    first, second = two
    first.take(8)
    frontier, lease = _leasing_one(first)
    _let_lapse(database, first)
    standing = second.renew()

    assert (standing.free, standing.ideal) == (8, 8)
    with pytest.raises(OwnershipLost):
        frontier.complete([PageUpdate(lease, Visit(3.0, Outcome.NEW), PageState.INDEXED, 9.0)], 3.0)
    with pytest.raises(OwnershipLost):
        first.renew()
    assert not first.is_held
    rests = second.take(8).values()
    assert min(rests) >= second.now_s() + second.timeout_s - 5.0
    again = PostgresFrontier(second)
    told = again.details(f"{HOSTS[0]}/")
    assert told is not None
    assert told.visits == 0
    frontier.close()
    again.close()


def test_a_number_that_is_given_again_is_another_process_s(
    two: tuple[Membership, Membership], database: Database
) -> None:
    """As where a standby takes over that has not heard of the last processes."""
    first, second = two
    first.take(8)
    frontier, lease = _leasing_one(first)
    with psycopg.connect(database.address) as connection:
        connection.execute("DELETE FROM process WHERE id = %s", (first.number,))
        connection.execute(
            "INSERT INTO process (id, name, settings_mark, started_s, until_s) OVERRIDING SYSTEM "
            "VALUE SELECT %s, 'another', 0, started_s + 1, until_s FROM process WHERE id = %s",
            (first.number, second.number),
        )

    with pytest.raises(OwnershipLost):
        frontier.complete([PageUpdate(lease, Visit(3.0, Outcome.NEW), PageState.INDEXED, 9.0)], 3.0)
    before = first.number
    first.leave()
    first.rejoin(SEEDS)
    assert second.renew().processes == 3
    assert first.number > before
    frontier.close()


def test_who_owns_other_shards_than_it_takes_for_its_own_gives_all_up(
    two: tuple[Membership, Membership], database: Database
) -> None:
    """Whether the database went back or no answer came to what was written; they rest first."""
    first, second = two
    first.take(8)
    before = first.number
    with psycopg.connect(database.address) as connection:
        connection.execute("UPDATE shard SET owner = NULL WHERE id = 3")

    with pytest.raises(OwnershipLost):
        first.renew()
    assert not first.is_held
    rests = second.take(8)
    assert len(rests) == 8
    assert min(rest_s for shard, rest_s in rests.items() if shard != 3) > second.now_s() + 25.0
    first.rejoin(SEEDS)
    assert (first.number > before, first.owned) == (True, {})


def test_who_is_led_to_another_server_begins_anew(databases: Server, database: Database) -> None:
    """A pooler hides it, and that server may not know of the last that was written."""
    with pooled(database) as address:
        member = Membership(address, shards=8)
        member.join(SEEDS)
        member.take(8)
        frontier, lease = _leasing_one(member)
        databases.server.stop("fast")
        databases.server.start()
        update = PageUpdate(lease, Visit(3.0, Outcome.NEW), PageState.INDEXED, 9.0)
        with pytest.raises(OwnershipLost, match="another server answers, or it was started anew"):
            frontier.complete([update], 3.0)
        with pytest.raises(OwnershipLost, match="another server answers"):  # if nothing is written
            member.renew()
        assert not member.is_held
        frontier.close()
        before = member.number
        member.rejoin(SEEDS)
        again, lease = _leasing_one(member)
        again.complete([replace(update, lease=lease)], 4.0)
        assert member.number == before
        again.close()
        member.close()


def test_a_copy_of_which_a_change_was_not_written_is_used_no_more(
    two: tuple[Membership, Membership], database: Database
) -> None:
    """It says what the database does not, and takes nothing back."""
    first, second = two
    first.take(8)
    frontier, lease = _leasing_one(first)
    host = frontier.host(lease.host_id, now_s=2.0)
    _let_lapse(database, first)
    second.renew()
    with pytest.raises(OwnershipLost):
        frontier.complete([PageUpdate(lease, Visit(3.0, Outcome.NEW), PageState.INDEXED, 4.0)], 3.0)

    with pytest.raises(OwnershipLost):
        frontier.lease(lease.host_id, limit=1, due_by_s=9.0, now_s=5.0, until_s=9.0)
    with pytest.raises(OwnershipLost):
        frontier.save_host(host)
    frontier.settle()
    frontier.close()


def test_a_fence_holds_until_the_transaction_ends(
    two: tuple[Membership, Membership], database: Database
) -> None:
    """While a process commits nobody ends it, however late its lease is."""
    first, second = two
    with connect(database) as connection, connection.transaction():
        first.fence(connection)
        _let_lapse(database, first)
        assert second.renew().processes == 2

    assert second.renew().processes == 1


def test_what_is_found_in_the_shards_of_others_comes_to_them(
    two: tuple[Membership, Membership],
) -> None:
    """Once, and through the database; the page that led there is not forgotten."""
    first, second = two
    first.take(4)
    second.take(4)
    mine, theirs = PostgresFrontier(first), PostgresFrontier(second)
    found = [Discovery(f"{host}/", host, found_on=77) for host in HOSTS]

    for _ in range(2):
        mine.admit(found, 1.0, AdmissionLimits())
    touched = theirs.take_asked(lambda url: "no", 2.0, AdmissionLimits())

    here, there = ({one.host for one in frontier.hosts()} for frontier in (mine, theirs))
    assert here
    assert there
    assert not here & there
    assert here | there == set(HOSTS)
    assert len(touched) == len(there)
    assert theirs.take_asked(lambda url: "no", 3.0, AdmissionLimits()) == []
    mine.close()
    theirs.close()


def test_shards_that_were_given_back_are_their_next_owners_as_they_were(
    two: tuple[Membership, Membership],
) -> None:
    """Visits, due times, and numbers of pages go on where the owner before was."""
    first, second = two
    first.take(8)
    mine = PostgresFrontier(first)
    mine.admit([Discovery(f"{host}/1", host) for host in HOSTS], 1.0, AdmissionLimits())
    for host in mine.hosts():
        (lease,) = mine.lease(host.host_id, limit=1, due_by_s=9.0, now_s=2.0, until_s=9.0)
        visit = Visit(3.0, Outcome.NEW)
        mine.complete([PageUpdate(lease, visit, PageState.INDEXED, 50.0, signature=b"s")], 3.0)
    given = sorted(first.owned)[:4]
    mine.settle()
    first.release(given)
    mine.own(first.owned)
    second.take(8)
    theirs = PostgresFrontier(second)

    theirs.admit([Discovery(f"{host}/2", host) for host in HOSTS], 4.0, AdmissionLimits())
    told = [theirs.details(f"{host}/1") for host in HOSTS]

    moved = [one for one in told if one is not None]
    assert 0 < len(moved) < len(HOSTS)
    assert {(one.visits, one.due_s, one.recent[0].visited_at_s) for one in moved} == {
        (1, 50.0, 3.0)
    }
    assert len(mine.hosts()) + len(theirs.hosts()) == len(HOSTS)
    assert theirs.feed.last() == len(HOSTS)
    mine.close()
    theirs.close()


def begun_with_few(
    two: tuple[Membership, Membership], monkeypatch: pytest.MonkeyPatch
) -> tuple[Membership, PostgresFrontier]:
    """Let one process fill eight shards, and another take them over that begins with the first."""
    first, second = two
    first.take(8)
    made = PostgresFrontier(first)
    made.admit([Discovery(f"{host}/1", host) for host in HOSTS], 1.0, AdmissionLimits())
    made.close()
    first.leave()
    second.take(8)
    monkeypatch.setattr(owned, "_AT_ONCE", 1)
    return second, PostgresFrontier(second)


def test_a_crawl_begins_with_the_first_shards_and_the_others_are_brought_beside_it(
    two: tuple[Membership, Membership], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing tells of a host before its shard is there whole; a beginning anew has all of them."""
    second, frontier = begun_with_few(two, monkeypatch)
    begun = {host.host for host in frontier.hosts()}
    waiting = second.awaited
    assert begun == {host for host in HOSTS if shard_of(host, 8) not in waiting}
    assert 0 < len(begun) < len(HOSTS)

    turns = 0
    while second.awaited:
        while not frontier.bring():
            assert {host.host for host in frontier.hosts()} == begun
        frontier.own(second.owned)
        begun, turns = {host.host for host in frontier.hosts()}, turns + 1

    assert turns == 2  # 1 shard or some, then four times as many, then all
    assert begun == set(HOSTS)
    assert sum(frontier.n_pages_by_state().values()) == len(HOSTS)
    frontier.close()


def test_shards_that_are_brought_and_given_back_leave_nothing_behind(
    two: tuple[Membership, Membership], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither those that are there in part nor those that a crawl did not begin with."""
    second, frontier = begun_with_few(two, monkeypatch)
    frontier.bring()
    second.release(sorted(second.awaited))
    frontier.own(second.owned)

    mine = {f"{host}/1" for host in HOSTS if shard_of(host, 8) in second.owned}
    assert {row[2] for row in frontier.worths.addresses(after=0, limit=99)} == mine
    assert not second.awaited
    assert not frontier.bring()
    frontier.close()


def test_never_more_is_drawn_than_the_budget_and_its_burst(
    two: tuple[Membership, Membership],
) -> None:
    """Whoever draws, and however much is wanted."""
    begun_s = two[0].now_s()
    drawn = sum(two[number % 2].draw(5, rate_per_s=50.0, burst=3.0) for number in range(200))
    took_s = two[0].now_s() - begun_s

    assert 1 <= drawn <= 50.0 * took_s + 4.0


def test_a_database_that_cannot_be_meant_is_refused(database: Database) -> None:
    """Another number of shards, another crawl, another configuration: one message each."""
    member = Membership(database, shards=8, settings_mark=1.0)
    member.join(SEEDS)

    with pytest.raises(UnusableDatabase, match=r"made with 8 shards.*shards = 8"):
        Membership(database, shards=9)
    for seeds, mark, words in (
        ("http://b.test/", 1.0, r"another crawl \(of http://a.test/\)"),
        (SEEDS, 2.0, "crawls with another configuration"),
    ):
        other = Membership(database, shards=8, settings_mark=mark)
        with pytest.raises(UnusableDatabase, match=words):
            other.join(seeds)
        other.close()
    member.close()


def test_tables_of_another_program_are_left_alone(database: Database) -> None:
    """And so is a database that can only be read, or was written by a newer version."""
    with psycopg.connect(database.address) as connection:
        connection.execute("CREATE TABLE page (mine int)")
    with pytest.raises(UnusableDatabase, match="tables of another program"):
        Membership(database, shards=8)
    with psycopg.connect(database.address, autocommit=True) as connection:
        connection.execute("DROP TABLE page")
        connection.execute("CREATE TABLE label (name text PRIMARY KEY, value text NOT NULL)")
        connection.execute("INSERT INTO label VALUES ('schema', '99')")
    with pytest.raises(UnusableDatabase, match="newer version"):
        Membership(database, shards=8)


def test_births_of_before_stand_with_their_pages(database: Database) -> None:
    """They were rows of their own."""
    with psycopg.connect(database.address) as connection:
        for script in migrations()[:17]:
            connection.execute(script.encode())
        connection.execute("INSERT INTO label VALUES ('schema', '17'), ('shards', '8')")
        connection.execute("INSERT INTO shard (id) SELECT * FROM generate_series(0, 7)")
        connection.execute("INSERT INTO host (shard, id, host) VALUES (3, 11, 'http://a.test')")
        connection.execute(
            "INSERT INTO page (shard, id, url, host_id, kind, state, depth, hops, weight, "
            "discovered_s, due_s) SELECT 3, n, n, 11, 'page', 'indexed', 0, 0, 1.0, 5.0, 5.0 "
            "FROM unnest(ARRAY[3, 11]) AS n"
        )
        connection.execute("INSERT INTO birth VALUES (11, 3.5, 60.0, 1.25, 7.0)")

    Membership(database, shards=8).close()

    reader = PostgresReader(database)
    rows = reader.rows("SELECT shard, id, url, kind, discovered_s, leased_until_s FROM page")
    assert sorted(rows) == [(3, 3, "3", "page", 5.0, 0.0), (3, 11, "11", "page", 5.0, 0.0)]
    assert reader.worths.births() == [Birth(11, 11, Kind.PAGE, 3.5, 60.0, 1.25, 7.0, None, None)]
    reader.close()


def test_tables_are_brought_up_to_date_whatever_limit_a_user_has(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A limit of half a minute would never have millions of pages written anew."""
    name = database.address.split("/")[3].partition("?")[0]
    with psycopg.connect(database.address, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {name} SET statement_timeout = '50s'".encode())
    noted = "CREATE TABLE noted AS SELECT current_setting('statement_timeout') AS said"
    monkeypatch.setattr(connections, "migrations", lambda: [*migrations(), noted])
    Membership(database, shards=8).close()

    with psycopg.connect(database.address) as connection:
        assert connection.execute("SELECT said FROM noted").fetchall() == [("0",)]


def test_a_table_that_is_gone_may_be_a_newer_version_s_doing(
    two: tuple[Membership, Membership], database: Database
) -> None:
    """A process of before, which still runs, is not told to bring a backup back."""
    with psycopg.connect(database.address, autocommit=True) as connection:
        connection.execute("DROP TABLE shard")

    with pytest.raises(UnusableDatabase, match="a newer one has begun to use it, upgrade recrawl"):
        two[0].take(1)


def test_a_lease_is_renewed_where_no_table_can_be_made_for_the_next_month(
    database: Database, two: tuple[Membership, Membership], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process may have been let write and no more: its visits lie among others of that month."""
    first, _ = two
    monkeypatch.setattr(membership, "MONTH_S", 90 * 86_400.0)  # there is no table for so late
    with psycopg.connect(database.address, autocommit=True) as connection:
        connection.execute("CREATE ROLE writer LOGIN")
        connection.execute("GRANT ALL ON ALL TABLES IN SCHEMA public TO writer")
    first.connection.execute("SET ROLE writer")
    for _ in range(2):
        first._partitions_s = -inf
        first.renew()

    assert first.is_held


def test_a_database_that_can_only_be_read_is_said_to_be(database: Database) -> None:
    """Nothing is written there."""
    name = database.address.split("/")[3].partition("?")[0]
    with psycopg.connect(database.address, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on".encode())

    with pytest.raises(UnusableDatabase, match="can only be read"):
        Membership(database, shards=8)


def test_who_has_joined_goes_on_where_a_database_was_read_only_for_a_while(
    database: Database, two: tuple[Membership, Membership]
) -> None:
    """By a new connection: after a failover the old one leads to the server that was left."""
    first, _ = two
    number = first.number
    first.connection.execute("SET default_transaction_read_only = on")

    with pytest.raises(DatabaseReadOnly):
        first.rejoin(SEEDS)
    first.rejoin(SEEDS)

    assert first.number == number
    assert first.is_held


def test_who_cannot_renew_at_its_server_any_more_asks_nothing(
    two: tuple[Membership, Membership],
) -> None:
    """The one that is written instead may not know of the last renewals."""
    first, _ = two
    first.connection.execute("SET default_transaction_read_only = on")

    with pytest.raises(DatabaseReadOnly):
        first.renew()
    assert not first.is_held
    first.connection.execute("SET default_transaction_read_only = off")
    first.renew()
    assert first.is_held


def test_a_pass_is_over_when_all_are_done_and_nothing_waits(
    two: tuple[Membership, Membership], database: Database
) -> None:
    """Not while a shard is free, an address waits, or one that took one up has not said so anew."""
    first, second = two
    first.take(4)
    first.tell_done()
    second.tell_done()
    assert not first.end_pass()  # nobody owns four shards
    second.take(4)
    first.tell_done()
    assert not first.end_pass()  # what the second has taken may have pages
    second.tell_done()
    frontier = PostgresFrontier(first)
    theirs = next(host for host in HOSTS if shard_of(host, 8) in second.owned)
    frontier.admit([Discovery(f"{theirs}/", theirs)], 1.0, AdmissionLimits())
    assert not first.end_pass()  # an address waits for the second
    other = PostgresFrontier(second)
    assert len(other.take_asked(str, 1.0, AdmissionLimits())) == 1
    assert not first.end_pass()  # which has taken it up by now
    second.tell_done()

    assert first.end_pass()
    assert second.renew().is_over
    third = Membership(database, shards=8)
    third.join(SEEDS)
    assert not third.renew().is_over
    for one in (frontier, other, third):
        one.close()


def test_who_meets_tables_of_a_newer_version_on_the_way_is_told(database: Database) -> None:
    """One process was upgraded while this one went on."""
    member = Membership(database, shards=8)
    member.join(SEEDS)
    with psycopg.connect(database.address, autocommit=True) as connection:
        connection.execute("ALTER TABLE process DROP COLUMN until_s")

    with pytest.raises(UnusableDatabase, match="newer one has begun to use it; upgrade recrawl"):
        member.renew()
    member.close()
