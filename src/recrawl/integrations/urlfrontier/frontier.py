"""The frontier behind the interface: addresses in, addresses that are due out.

Told the time, and without a network. What clients have in hand is kept in memory alone: after the
end of the process it is due again. All else is on disk before it is acknowledged.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from math import inf
from typing import Any, Final

import xxhash

from recrawl.crawler.control.revisiting.due_times import DISCOVERED
from recrawl.crawler.control.urls import host_of, normalise
from recrawl.held_files import StateLock
from recrawl.integrations.revisits.options import RevisitOptions
from recrawl.integrations.revisits.planning import RevisitPlanner
from recrawl.integrations.revisits.store import PageRow, Row
from recrawl.integrations.revisits.visits import Visit, concluded
from recrawl.integrations.urlfrontier.interface import OK, SKIPPED
from recrawl.integrations.urlfrontier.queues import Queue, Queues
from recrawl.integrations.urlfrontier.store import FrontierStore
from recrawl.integrations.urlfrontier.told import read_metadata
from recrawl.terms import Outcome, PageState

DEFAULT_CRAWL: Final = "DEFAULT"
NEVER: Final = "its client said that it is not to be fetched again"
CLIENT: Final = "its client's date, as nothing is told of the fetch"
_HELD_S: Final = 30.0  # where a client does not say
_MOST: Final = 10_000  # addresses of a queue in an answer, where a client sets no limit
_LONGEST_KEY: Final = 255


def crawl_of(name: str) -> str:
    """Return the crawl that a name stands for."""
    return name if name.strip() else DEFAULT_CRAWL


def key_of(url: str, key: str) -> str | None:
    """Return the queue of an address; None: it has none.

    Parameters
    ----------
    url : as the client writes it; what is no address of a page has no queue
    key : as the client sets it, at most 255 characters, or there is no queue; empty: the host
    """
    normal = normalise(url)
    return None if normal is None else _key_of(normal, key)


def _key_of(normal: str, key: str) -> str | None:
    if key:
        return key if len(key) <= _LONGEST_KEY else None
    host = host_of(normal).partition("://")[2]
    return host if host.startswith("[") else host.partition(":")[0]


def page_id_of(crawl: str, name: str, url: str) -> int:
    """Return the number of an address in a queue."""
    return xxhash.xxh3_64_intdigest(f"{crawl}\0{name}\0{url}".encode()) >> 1


@dataclass(slots=True)
class Put:
    """An address that a client puts.

    Parameters
    ----------
    info : a ``URLInfo``
    refetch_s : the client's date, 0: never; None: the address is discovered
    """

    info: Any
    refetch_s: float | None = None


@dataclass(slots=True)
class _Batch:
    """Writes made together."""

    now_s: float
    added: dict[int, Row] = field(default_factory=dict)
    completed: dict[int, tuple[Row, Row, bytes]] = field(default_factory=dict)
    first_visits: int = 0
    woken: list[tuple[str, str, int, float]] = field(default_factory=list)


class Frontier:
    """Keeps the addresses of all crawls, and says which are due.

    Parameters
    ----------
    options : of the service
    now_s : instant

    Raises
    ------
    StateError
        The state is another process's, or cannot be used.
    """

    def __init__(self, options: RevisitOptions, now_s: float) -> None:
        self.options = options
        self._lock = StateLock(
            options.state / "urlfrontier.lock",
            f"--state: {options.state}",
            ": a frontier service runs here already, in {holder}; stop it first, or give this one "
            "a state of its own",
        )
        try:
            self.store = FrontierStore(options.state)
        except BaseException:
            self._lock.release()
            raise
        self._planner = RevisitPlanner(options)
        self.queues = Queues()
        self.queues.delay_s = self.store.said("delay_s", self.queues.delay_s)
        self.is_active = bool(self.store.said("is_active", 1.0))
        for crawl, name, delay_s, blocked_until_s in self.store.rows("said_of_queues"):
            queue = self.queues.at(crawl, name)
            queue.delay_s, queue.blocked_until_s = delay_s, blocked_until_s
        self.store.grant(0, options.budget_per_s, now_s)  # its clock begins to run
        self.refresh()

    def close(self) -> None:
        """Let others have the state."""
        self.store.close()
        self._lock.release()

    def refresh(self) -> None:
        """Look at all queues again, as due times have moved."""
        for crawl, name, due_s in self.store.rows("queues"):
            self.queues.wake(self.queues.at(crawl, name), due_s)

    def plan(self, now_s: float) -> float | None:
        """Learn and plan, on a connection of its own: may be called beside everything else."""
        with closing(FrontierStore(self.options.state)) as store:
            return self._planner.replan(store, now_s, None)

    # -- addresses come in --

    def put(self, puts: Sequence[Put], now_s: float) -> list[int]:
        """Take addresses in; what is returned of each is on disk.

        Parameters
        ----------
        puts : discovered ones are new or skipped, others are updated and learned from
        now_s : instant
        """
        names = [self._placed(one) for one in puts]
        ids = [0 if at is None else at[2] for at in names]
        known = self.store.known_ids(
            {page for one, page in zip(puts, ids, strict=True) if one.refetch_s is None and page}
        )
        rows = self.store.known_pages(
            {page for one, page in zip(puts, ids, strict=True) if one.refetch_s is not None}
        )
        batch = _Batch(now_s)
        statuses = []
        for one, at in zip(puts, names, strict=True):
            if at is None:
                statuses.append(SKIPPED)
                continue
            page = at[2]
            if one.refetch_s is None:
                is_known = page in known or page in rows or page in batch.added
                statuses.append(SKIPPED if is_known else OK)
                if not is_known:
                    self._add(batch, one.info, at, now_s)
                continue
            statuses.append(OK)
            if page in batch.completed:  # twice at once: the second builds on the first
                self._write(batch)
                rows |= self.store.known_pages([page])
                batch = _Batch(now_s)
            self._complete(batch, one, at, rows.get(page))
        self._write(batch)
        return statuses

    def _placed(self, one: Put) -> tuple[str, str, int, str] | None:
        """Return crawl, queue, number and normal form of an address, and complete what it says."""
        info = one.info
        url = normalise(info.url)
        name = None if url is None else _key_of(url, info.key)
        if url is None or name is None:
            return None
        crawl = crawl_of(info.crawlID)
        info.crawlID, info.key = crawl, name
        return crawl, name, page_id_of(crawl, name, info.url), url

    def _add(self, batch: _Batch, info: Any, at: tuple[str, str, int, str], due_s: float) -> None:
        crawl, name, page, url = at
        batch.added[page] = {
            "id": page,
            "spider": crawl,
            "url": url,
            "host": name,
            "request": info.SerializeToString(),
            "priority": 0,
            "weight": 1.0,
            "now_s": due_s,
            "why": DISCOVERED,
            "born_s": None,
        }
        batch.woken.append((crawl, name, page, due_s))

    def _complete(
        self, batch: _Batch, one: Put, at: tuple[str, str, int, str], row: PageRow | None
    ) -> None:
        crawl, name, page, url = at
        if row is None and page not in batch.added:
            self._add(batch, one.info, at, batch.now_s)
        visit = Visit(page, url, 1.0, row)
        metadata = {told: list(values.values) for told, values in one.info.metadata.items()}
        told = read_metadata(metadata, visit.known("signature"))
        visit.status, visit.signature = told.status, told.signature
        visit.etag, visit.last_modified = told.etag, told.last_modified
        kept, record = concluded(
            self._planner.due_times, visit, told.outcome or Outcome.NEW, batch.now_s
        )
        was = PageState.DISCOVERED if row is None else PageState(row["state"])
        if told.outcome is None:
            kept |= {"state": was.value, "due_s": one.refetch_s, "due_why": CLIENT}
            kept |= {"signature": visit.known("signature"), "told_s": None}
            record["interval_s"] = None
        elif told.outcome in (Outcome.UNCHANGED, Outcome.NOT_MODIFIED):
            kept["state"] = PageState.INDEXED.value  # though a client had given it up before
        if not one.refetch_s:
            kept |= {"state": PageState.EXCLUDED.value, "due_s": inf, "due_why": NEVER}
        batch.completed[page] = (kept, record, one.info.SerializeToString())
        batch.first_visits += row is None or not row["visits"]
        batch.woken.append((crawl, name, page, kept["due_s"]))

    def _write(self, batch: _Batch) -> None:
        self.store.put(list(batch.added.values()), list(batch.completed.values()))
        self.store.count_first_visits(batch.first_visits)
        for crawl, name, page, due_s in batch.woken:
            queue = self.queues.at(crawl, name)
            if queue.held.pop(page, None) is not None:
                self.queues.wake(queue, batch.now_s)  # there is room for another
            self.queues.wake(queue, due_s)

    # -- addresses go out --

    def get(
        self,
        crawl: str | None,
        name: str,
        now_s: float,
        *,
        max_queues: int = 0,
        max_urls: int = 0,
        hidden_s: float = 0.0,
    ) -> list[bytes]:
        """Return addresses that are due, as messages; they are hidden until they are put back.

        Parameters
        ----------
        crawl : None: of any
        name : of a queue; empty: of any
        now_s : instant
        max_queues, max_urls : queues, and addresses of each, at most; 0: no limit
        hidden_s : for so long, unless they are put back; 0: half a minute
        """
        if not self.is_active:
            return []
        left = int(self.store.left(self.options.budget_per_s, now_s) + 1e-9)
        until_s = now_s + (hidden_s or _HELD_S)
        found: list[bytes] = []
        n_queues = n_known = 0
        full: list[Queue] = []
        for queue in self._ready(crawl, name, now_s):
            queue.let_go(now_s)
            room = (max_urls or _MOST) - len(queue.held)
            if room <= 0:  # as many are in clients' hands as this one may ask for; others may more
                full.append(queue)
                continue
            rows = self._serve(queue, now_s, room, left - n_known)
            if rows:
                n_queues += 1
                n_known += sum(row["visits"] > 0 for row in rows)
                queue.held.update((row["id"], until_s) for row in rows)
                queue.served_s = now_s
                found += [row["request"] for row in rows]
                self.queues.sleep(queue, min(queue.wakes_s, until_s))
            if n_queues == max_queues > 0:
                break
        for queue in full:
            self.queues.sleep(queue, now_s)
        if n_known:
            self.store.grant(n_known, self.options.budget_per_s, now_s)
        return found

    def _ready(self, crawl: str | None, name: str, now_s: float) -> Iterator[Queue]:
        crawls = self.queues.crawls() if crawl is None else [crawl]
        for one in crawls:
            if not name:
                yield from self.queues.ready(one, now_s)
                continue
            queue = self.queues.of(one).get(name)
            if queue is not None and self.queues.rested_s(queue) <= now_s:
                yield queue

    def _serve(self, queue: Queue, now_s: float, room: int, left: int) -> list[PageRow]:
        """Return addresses of a queue to be handed out, and say when it is looked at again."""
        n = len(queue.held) + room + 1
        query = "next_of_queue" if left > 0 else "unvisited_of_queue"
        rows: list[PageRow] = []
        # What waits for the budget is looked at when that has a visit more.
        wakes_s = inf if left > 0 else now_s + 1.0 / self.options.budget_per_s
        for row in self.store.rows(query, crawl=queue.crawl, name=queue.name, limit=n):
            if row["id"] in queue.held:
                wakes_s = min(wakes_s, queue.held[row["id"]])
            elif row["due_s"] > now_s or len(rows) == room:
                wakes_s = min(wakes_s, max(row["due_s"], now_s))
                break
            elif row["visits"] and left <= 0:
                wakes_s = min(wakes_s, now_s + 1.0 / self.options.budget_per_s)
            else:
                left -= row["visits"] > 0
                rows.append(row)
        self.queues.sleep(queue, wakes_s)
        return rows

    # -- what is known --

    def find(self, crawl: str, name: str, url: str) -> tuple[bytes, float, float] | None:
        """Return an address with its metadata, when it is due and when it was found."""
        row = self.store.known_pages([page_id_of(crawl, name, url)])
        for one in row.values():
            return one["request"], one["due_s"], one["discovered_s"]
        return None

    def counts(self, crawl: str, name: str | None) -> Iterable[tuple[str, int, int]]:
        """Return queues with their addresses, and how many of those will be fetched again."""
        rows = self.store.rows("queue_counts", crawl=crawl, name=name)
        return [(row[0], row[1], row[2]) for row in rows]

    def n_held(self, crawl: str, name: str | None, now_s: float) -> int:
        """Return how many addresses clients have."""
        queues = self.queues.of(crawl)
        asked = queues.values() if name is None else [queues[name]] if name in queues else []
        return sum(until_s > now_s for queue in asked for until_s in queue.held.values())

    # -- what is said of queues --

    def set_delay(self, crawl: str, name: str, delay_s: float) -> None:
        """Let a queue rest between two times that it is served; without a name: every queue."""
        if not name:
            self.queues.delay_s = delay_s
            self.store.say_of_all("delay_s", delay_s)
            return
        self._say(crawl, name, delay_s=delay_s)

    def block(self, crawl: str, name: str, until_s: float) -> None:
        """Have a queue give nothing before an instant; 0: let it go on."""
        self._say(crawl, name, blocked_until_s=until_s)

    def _say(self, crawl: str, name: str, **what: float) -> None:
        queue = self.queues.at(crawl, name)
        for field_name, value in what.items():
            setattr(queue, field_name, value)
        self.store.say(
            {
                "crawl": crawl,
                "name": name,
                "delay_s": queue.delay_s,
                "blocked_until_s": queue.blocked_until_s,
            }
        )
        queue.wakes_s = inf  # by what was said before
        self.queues.wake(queue, 0.0)

    def set_active(self, *, is_active: bool) -> None:
        """Hand addresses out, or stop that; they are taken in all the same."""
        self.is_active = is_active
        self.store.say_of_all("is_active", float(is_active))

    def forget(self, crawl: str, name: str | None, before_s: float = inf) -> int:
        """Drop a queue, or a crawl, or what is older than an instant of it; return how much."""
        whole = before_s == inf
        n = self.store.forget(crawl, name, before_s, whole=whole)
        if whole:
            self.queues.forget(crawl, name)
        return n
