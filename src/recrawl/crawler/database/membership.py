"""One process among those that crawl: what it owns, for how long, and how the others learn of it.

A process has a number that is never given again: its fence. Whoever writes locks the row of that
number first and sees that the process has not been ended; whoever ends it waits for that lock. So
no transaction of a process is committed after another one has taken its shards.

A database may have gone back, to what a standby knew or a backup: then a number is given again, and
rows are not what a process wrote. So it goes by number and instant of its beginning, by one server,
and gives up shards that are not what it takes them for.

A request cannot be fenced. The lease is renewed at the database, by the database's clock, and
counted here by a clock that nobody sets, from before the renewal was sent: this process stops
making requests one time-out before the lease ends there, and the next owner rests another time-out.

Longer than most modules because all that a process shares with others goes by its one number.
"""

import contextlib
import os
import platform
from dataclasses import dataclass
from typing import Final

from recrawl.crawler.database.connections import (
    MONTH_S,
    Connection,
    bound_silence,
    connect,
    make_partitions,
    make_schema,
    now_s,
    put_label,
    translated,
)
from recrawl.crawler.database.room import Room
from recrawl.errors import DatabaseReadOnly, OwnershipLost, UnusableDatabase
from recrawl.terms import Database
from recrawl.uptime import monotonic_s
from recrawl.version import VERSION

_NOW: Final = "extract(epoch FROM clock_timestamp())::float8"
_ME: Final = "id = %s AND started_s = %s AND NOT ended"
_SERVER: Final = "extract(epoch FROM pg_postmaster_start_time())::float8"
_DAY_S: Final = 86_400.0
_LEAST_PATIENCE_S: Final = 10.0
_STATEMENT_S: Final = 30.0  # at least, for one that writes


def ideal_share(shards: int, rank: int, processes: int) -> int:
    """Return how many shards one process should own.

    Parameters
    ----------
    shards : of all processes together
    rank : of the process, >= 0, < ``processes``; the first ones take what is left over
    processes : that are alive, >= 1
    """
    return shards // processes + (rank < shards % processes)


@dataclass(frozen=True, slots=True)
class Standing:
    """Counts of shards and processes.

    Parameters
    ----------
    ideal : shards that this process should own
    owned : shards that it owns
    free : shards that nobody owns
    processes : that are alive
    is_over : whether the single pass that this process takes part in is over
    """

    ideal: int
    owned: int
    free: int
    processes: int
    is_over: bool

    @property
    def to_take(self) -> int:
        """Number of free shards for this process to take."""
        return max(min(self.ideal - self.owned, self.free), 0)

    @property
    def to_release(self) -> int:
        """Number of owned shards for others to take."""
        return max(self.owned - self.ideal, 0)


class Membership:
    """Takes part; one connection, one thread at a time.

    Parameters
    ----------
    database : shared
    shards : number of shards, fixed when the state is made
    lease_s : this process is replaced when it was not heard of for so long and a time-out
    timeout_s : the longest that one request may take
    settings_mark : a number that another configuration does not have
    """

    def __init__(
        self,
        database: Database,
        *,
        shards: int,
        lease_s: float = 30.0,
        timeout_s: float = 30.0,
        settings_mark: float = 0.0,
    ) -> None:
        self.database, self.shards = database, shards
        self.timeout_s = timeout_s
        self.number = 0
        self.room = Room()
        self.owned: dict[int, float] = {}  # shard: until when its owner before may have asked
        self.awaited: frozenset[int] = frozenset()  # of them, whose pages are not here yet
        self._lease_s, self._mark = lease_s, settings_mark
        self._silence_s = lease_s + timeout_s
        self._held_until_s = self._partitions_s = float("-inf")
        self._began_s = 0.0  # the database's instant at 0 of the clock that nobody sets
        self._me = (0, 0.0)  # number, and the database's instant when this process joined
        self._server = 0.0  # when it was started whose rows this process knows
        self._connection = self.connected("membership")
        try:
            make_schema(self._connection, database, shards)
        except BaseException:
            self._connection.close()
            raise

    def reconnect(self) -> None:
        """Connect anew where the connection was lost."""
        if self._connection.closed:
            self._connection = self.connected("membership")

    def connected(self, purpose: str) -> Connection:
        """Return a new connection, which is given up where nothing is heard for twice the lease."""
        patience_s = max(2.0 * self._silence_s, _LEAST_PATIENCE_S)
        return connect(self.database, name=f"recrawl {purpose}", patience_s=patience_s)

    @property
    def connection(self) -> Connection:
        """The connection, for the thread of this."""
        return self._connection

    # -- the lease --

    @property
    def is_held(self) -> bool:
        """Whether requests may be made now."""
        return monotonic_s() < self._held_until_s

    @property
    def renew_every_s(self) -> float:
        """Seconds between two renewals."""
        return self._lease_s / 6.0

    def join(self, seeds: str = "") -> None:
        """Begin, under a new number.

        Parameters
        ----------
        seeds : of the crawl, as a text

        Raises
        ------
        UnusableDatabase
            The database has another crawl, or a process that goes by another configuration.
        """
        with translated(self.database), self._connection.transaction():
            sent_s = monotonic_s()
            self._check_crawl(seeds)
            put_label(self._connection, "version", VERSION)
            row = self._connection.execute(
                "INSERT INTO process (name, settings_mark, started_s, until_s) "
                f"VALUES (%s, %s, {_NOW}, {_NOW} + %s) RETURNING id, started_s, {_SERVER}",
                (f"{platform.node()}:{os.getpid()}", self._mark, self._lease_s + self.timeout_s),
            ).fetchone()
            assert row is not None
        self.number, self.owned = int(row[0]), {}
        self._me, self._server = (self.number, row[1]), row[2]
        self._began_s = row[1] - monotonic_s()
        self._held_until_s = sent_s + self._lease_s
        self._make_partitions()

    def rejoin(self, seeds: str = "") -> None:
        """Go on after the database was away: under this number, or another where that was ended.

        Raises
        ------
        DatabaseAway
            It still is, or can only be read for now.
        """
        self.reconnect()
        try:
            if self.number:
                with contextlib.suppress(OwnershipLost):
                    self._server = self._started_s()
                    self.renew()
                    return
            self.join(seeds)
        except DatabaseReadOnly:
            # Another server may be the one that is written by now: the next try looks for it.
            self.close()
            raise

    def _check_crawl(self, seeds: str) -> None:
        label = "SELECT value FROM label WHERE name = 'seeds'"
        row = self._connection.execute(label).fetchone()
        if row is None:
            add = "INSERT INTO label VALUES ('seeds', %s) ON CONFLICT DO NOTHING"
            self._connection.execute(add, (seeds,))
        elif not set(row[0].split()) & set(seeds.split()) and row[0] != seeds:
            there, here = row[0].split()[0], seeds.split()[0]  # noqa: PLC0207
            raise UnusableDatabase(
                f"{self.database} holds another crawl (of {there}), and this configuration starts "
                f"at {here}; name a database of its own. Nothing was changed"
            )
        other = self._connection.execute(
            f"SELECT name FROM process WHERE NOT ended AND until_s >= {_NOW} "
            "AND settings_mark <> %s LIMIT 1",
            (self._mark,),
        ).fetchone()
        if other is not None:
            raise UnusableDatabase(
                f"{self.database}: process {other[0]} crawls with another configuration, or with "
                "--once where this one does not; give all machines the same, or stop that one "
                "first. Nothing was changed"
            )

    def _make_partitions(self) -> None:
        """Have the visits of this month and the next in tables of their own."""
        self._partitions_s = monotonic_s()
        with translated(self.database), self._connection.transaction():
            at_s = now_s(self._connection)
            make_partitions(self._connection, at_s, at_s + MONTH_S)

    def _forget_ip_addresses(self) -> None:
        """Forget those that nobody has asked, waited for or was to leave alone for a day."""
        with translated(self.database):
            self._connection.execute(
                f"DELETE FROM ip_address WHERE owner IS NULL AND wanted_s < {_NOW} - {_DAY_S} "
                f"AND GREATEST(rest_s, blocked_until_s) < {_NOW} - {_DAY_S}"
            )

    def _started_s(self) -> float:
        with translated(self.database):
            (at_s,) = self._connection.execute(f"SELECT {_SERVER}").fetchone() or (0.0,)
        return float(at_s)

    def renew(self) -> Standing:
        """Renew the lease, end processes whose lease has run out, and return how things stand.

        Raises
        ------
        OwnershipLost
            This process has been ended by another; or others own its shards by the database, and
            it has ended itself; or the server is not the one that :meth:`fence` knows.
        DatabaseReadOnly
            Nothing can be renewed here; another server may be the one that is written.
        """
        try:
            return self._renewed()
        except (OwnershipLost, DatabaseReadOnly):
            # The server by which others go may know less of the lease than this process does.
            self._held_until_s = float("-inf")
            raise

    def _renewed(self) -> Standing:
        if monotonic_s() > self._partitions_s + _DAY_S:
            # Who may make no tables has visits of a new month among the others.
            with contextlib.suppress(UnusableDatabase):
                self._make_partitions()
            self._forget_ip_addresses()
        with translated(self.database), self._connection.transaction():
            sent_s = monotonic_s()
            bound_silence(self._connection, self._silence_s)
            kept = self._connection.execute(
                f"UPDATE process SET until_s = {_NOW} + %s WHERE {_ME} "
                f"RETURNING is_over, {_SERVER}",
                (self._lease_s + self.timeout_s, *self._me),
            ).fetchone()
            if kept is not None:
                self._check_server(kept[1])
                self._end_expired()
                rows = self._connection.execute(
                    "SELECT id FROM process WHERE NOT ended ORDER BY id"
                ).fetchall()
                owners = self._connection.execute(
                    "SELECT id, owner FROM shard WHERE owner IS NULL OR owner = %s", (self.number,)
                ).fetchall()
                # A database that went back, or a transaction of which no answer came.
                owned = {shard for shard, owner in owners if owner is not None}
                if owned != self.owned.keys():
                    self._end([self.number], self.timeout_s)
                    kept = None
        if kept is None:
            raise self._lost()
        self._held_until_s = sent_s + self._lease_s
        numbers = [row[0] for row in rows]
        rank = numbers.index(self.number)
        ideal = ideal_share(self.shards, rank, len(numbers))
        return Standing(ideal, len(owned), len(owners) - len(owned), len(numbers), kept[0])

    def _check_server(self, started_s: float) -> None:
        if started_s != self._server:
            raise OwnershipLost(f"{self.database}: another server answers, or it was started anew")

    def _lost(self) -> OwnershipLost:
        return OwnershipLost(f"{self.database}: another process has taken this one's place")

    def _end_expired(self) -> None:
        rows = self._connection.execute(
            f"SELECT id FROM process WHERE NOT ended AND until_s < {_NOW} FOR UPDATE SKIP LOCKED"
        ).fetchall()
        self._end([row[0] for row in rows], self.timeout_s)

    def _end(self, numbers: list[int], rest_s: float) -> None:
        if not numbers:
            return
        self._connection.execute("UPDATE process SET ended = true WHERE id = ANY(%s)", (numbers,))
        self._connection.execute(
            f"UPDATE shard SET owner = NULL, fence = fence + 1, rest_s = {_NOW} + %s "
            "WHERE owner = ANY(%s)",
            (rest_s, numbers),
        )
        self._connection.execute(
            f"UPDATE ip_address SET owner = NULL, rest_s = {_NOW} + %s WHERE text IN "
            "(SELECT text FROM ip_address WHERE owner = ANY(%s) ORDER BY text FOR UPDATE)",
            (rest_s, numbers),
        )
        self._connection.execute("DELETE FROM ip_address_pages WHERE process = ANY(%s)", (numbers,))

    # -- the fence --

    def fence(self, connection: Connection) -> None:
        """See, within a transaction and until its end, that this process has not been ended.

        And that the server is the one that it knows, as a pooler may lead to another. The server
        ends the transaction where this process is not heard of for as long as its lease:
        cut off in the midst of it, it would keep its shards from the others for hours.

        Raises
        ------
        OwnershipLost
            It has been; nothing of the transaction may be kept.
            Or the server was started anew, or is another: it may not know what this process wrote.
        """
        row = connection.execute(
            f"SELECT {_SERVER}, set_config('idle_in_transaction_session_timeout', %s, true), "
            f"set_config('statement_timeout', %s, true) FROM process WHERE {_ME} FOR KEY SHARE",
            (
                str(int(1000 * self._silence_s)),
                str(int(1000 * max(self._silence_s, _STATEMENT_S))),
                *self._me,
            ),
        ).fetchone()
        if row is None:
            raise self._lost()
        self._check_server(row[0])

    # -- shards --

    def take(self, most: int) -> dict[int, float]:
        """Take free shards; return them, each with when its last owner made its last request."""
        with translated(self.database), self._connection.transaction():
            self.fence(self._connection)
            self._connection.execute(
                "UPDATE process SET is_done = false WHERE id = %s AND is_done", (self.number,)
            )
            rows = self._connection.execute(
                "UPDATE shard SET owner = %s, fence = fence + 1 WHERE id IN (SELECT id FROM shard "
                "WHERE owner IS NULL ORDER BY id LIMIT %s FOR UPDATE SKIP LOCKED) "
                "RETURNING id, rest_s",
                (self.number, most),
            ).fetchall()
        taken = {row[0]: row[1] for row in rows}
        self.owned |= taken
        return taken

    def release(self, shards: list[int]) -> None:
        """Give shards back, to be taken at once by others."""
        with translated(self.database), self._connection.transaction():
            self.fence(self._connection)
            self._connection.execute(
                f"UPDATE shard SET owner = NULL, fence = fence + 1, rest_s = {_NOW} "
                "WHERE id = ANY(%s) AND owner = %s",
                (shards, self.number),
            )
        for shard in shards:
            self.owned.pop(shard, None)

    def leave(self) -> None:
        """End, and give everything back."""
        with translated(self.database), self._connection.transaction():
            bound_silence(self._connection, self._silence_s)
            rows = self._connection.execute(
                f"SELECT id FROM process WHERE {_ME} FOR UPDATE", self._me
            ).fetchall()
            self._end([row[0] for row in rows], 0.0)
        self.owned = {}
        self._held_until_s = float("-inf")

    # -- a single pass --

    def pass_since_s(self) -> float:
        """Return when the first of the processes began that are alive."""
        with translated(self.database):
            query = "SELECT min(started_s) FROM process WHERE NOT ended"
            (since_s,) = self._connection.execute(query).fetchone() or (0.0,)
        return float(since_s)

    def tell_done(self) -> None:
        """Tell the others that there is no page left in the shards of this process.

        What it takes out of the inbox afterwards, or shards that it takes, take this back in the
        same transaction.
        """
        with translated(self.database):
            self._connection.execute(f"UPDATE process SET is_done = true WHERE {_ME}", self._me)

    def end_pass(self) -> bool:
        """End the pass of all processes if every one is done; tell whether it is over.

        All are done where no shard is free, no owner has anything left, and no address waits in
        the inbox. Locking the processes has every transaction wait that could change that.
        """
        with translated(self.database), self._connection.transaction():
            bound_silence(self._connection, self._silence_s)
            self._connection.execute(
                "SELECT id FROM process WHERE NOT ended ORDER BY id FOR UPDATE"
            )
            self._connection.execute(
                "UPDATE process SET is_over = true WHERE NOT ended "
                "AND NOT EXISTS (SELECT 1 FROM inbox) AND NOT EXISTS (SELECT 1 FROM shard "
                "LEFT JOIN process AS p ON p.id = owner WHERE p.is_done IS NOT TRUE)"
            )
            row = self._connection.execute(
                "SELECT is_over FROM process WHERE id = %s", (self.number,)
            ).fetchone()
        return row is not None and bool(row[0])

    # -- the budget --

    def draw(self, wanted: int, *, rate_per_s: float, burst: float) -> int:
        """Take requests out of the bucket that all draw from; return how many were granted.

        Parameters
        ----------
        rate_per_s, burst : of the whole crawl
        """
        with translated(self.database):
            row = self._connection.execute(
                f"""WITH held AS (
                    SELECT LEAST(%(burst)s, tokens + GREATEST({_NOW} - at_s, 0) * %(rate)s) AS n
                    FROM budget WHERE id = 1 FOR UPDATE
                ), taken AS (
                    SELECT n, GREATEST(floor(LEAST(%(wanted)s, n)), 0) AS granted FROM held
                )
                UPDATE budget SET tokens = n - granted, at_s = GREATEST(at_s, {_NOW})
                FROM taken WHERE id = 1 RETURNING granted""",
                {"burst": burst, "rate": rate_per_s, "wanted": wanted},
            ).fetchone()
        return 0 if row is None else int(row[0])

    def tell_demand(self, demand: list[float], pages: int, backlog: int) -> None:
        """Tell the others what the shards of this process would take at each price.

        Parameters
        ----------
        demand : visits per second, at each of the prices that all processes go by
        pages, backlog : pages that are kept fresh, and that wait for their first visit
        """
        with translated(self.database):
            self._connection.execute(
                f"UPDATE process SET demand = %s, pages = %s, backlog = %s WHERE {_ME}",
                (demand, pages, backlog, *self._me),
            )

    def demands(self) -> dict[int, tuple[list[float] | None, int, int, int]]:
        """Return demand, pages, backlog and shards of every process that is alive."""
        with translated(self.database):
            rows = self._connection.execute(
                "SELECT id, demand, pages, backlog, "
                "(SELECT count(*) FROM shard WHERE owner = process.id) "
                "FROM process WHERE NOT ended ORDER BY id"
            ).fetchall()
        return {row[0]: (row[1], row[2], row[3], row[4]) for row in rows}

    def ended(self, numbers: list[int]) -> list[int]:
        """Return which of these processes have ended."""
        with translated(self.database):
            rows = self._connection.execute(
                "SELECT id FROM process WHERE id = ANY(%s) AND ended ORDER BY id", (numbers,)
            ).fetchall()
        return [row[0] for row in rows]

    def now_s(self) -> float:
        """Return the database's instant."""
        with translated(self.database):
            return now_s(self._connection)

    def reckoned_s(self) -> float:
        """Return the database's instant, as it was when this process joined and time went on."""
        return self._began_s + monotonic_s()

    def close(self) -> None:
        """Close the connection; the lease stays until it ends by itself or by :meth:`leave`."""
        self._connection.close()
