"""The frontier in SQLite: one file, write-ahead log, every visit kept.

Longer than most modules because it is one port, method by method; the SQL is in ``sql/``.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from recrawl.control.lifecycle import is_copied, why_due
from recrawl.frontier.share import interleave, split
from recrawl.frontier.sql import queries
from recrawl.frontier.store import DATABASE, StateLock, open_state, translated
from recrawl.ports import AdmissionLimits, Evidence, Frontier, PlannedPages
from recrawl.terms import (
    Discovery,
    HostRecord,
    Kind,
    Lease,
    Outcome,
    PageDetails,
    PageState,
    PageUpdate,
    PlanRecord,
    Visit,
)

__all__ = ["SqliteFrontier"]


class SqliteFrontier(Frontier):
    """A durable frontier in a state directory.

    Every method that changes something is one transaction: all or nothing, on disk when it
    returns. Opening for writing takes the directory's lock and gives back the pages that a killed
    process had leased.

    Parameters
    ----------
    directory : state directory, made if it is missing
    read_only : only look; works beside a running crawl

    Raises
    ------
    StateError
        The directory is in use, damaged, on a full disk or of a newer version.
    """

    def __init__(self, directory: Path, *, read_only: bool = False) -> None:
        self._path = directory / DATABASE
        self._lock = None if read_only else StateLock(directory)
        try:
            self._db = open_state(self._path, read_only=read_only)
            self._q = queries()
            self._token = 0
            self._n_pages_of_host: dict[int, int] = {}
            self._host_ids: dict[str, int] = {}
            with translated(self._path):
                self._n_pages = self._value("n_pages")
                if not read_only:
                    self._token = self._value("last_visit_number") + 1
            if not read_only:
                with self._writing():
                    self._db.execute(self._q["release_all"])
        except BaseException:
            self.close()
            raise

    # -- taking in --

    @override
    def admit(
        self, discoveries: Sequence[Discovery], now_s: float, limits: AdmissionLimits
    ) -> list[int]:
        touched: dict[int, None] = {}
        with self._writing():
            for found in discoveries:
                if self._admit_one(found, now_s, limits):
                    touched[self._host_ids[found.host]] = None
        return list(touched)

    def _admit_one(self, found: Discovery, now_s: float, limits: AdmissionLimits) -> bool:
        if self._row("known_page", url=found.url) is not None:
            if found.lastmod_s is not None:
                self._run("note_lastmod", url=found.url, lastmod_s=found.lastmod_s)
            return False
        host_id = self._host_id(found.host)
        if self._n_pages >= limits.max_pages:
            return False
        if self._n_pages_of_host[host_id] >= limits.max_pages_per_host:
            return False
        if found.variant_of is not None:
            variants = self._value("n_variants", variant_of=found.variant_of)
            if variants >= limits.max_query_variants:
                return False
        self._run(
            "admit",
            url=found.url,
            host_id=host_id,
            kind=found.kind.value,
            depth=found.depth,
            hops=found.hops,
            weight=found.weight,
            variant_of=found.variant_of,
            now_s=now_s,
            lastmod_s=found.lastmod_s,
        )
        self._n_pages += 1
        self._n_pages_of_host[host_id] += 1
        return True

    def _host_id(self, host: str) -> int:
        if host not in self._host_ids:
            row = self._row("known_host", host=host) or self._row("add_host", host=host)
            assert row is not None
            self._host_ids[host] = row[0]
            self._n_pages_of_host[row[0]] = self._value("n_pages_of_host", host_id=row[0])
        return self._host_ids[host]

    @override
    def reweigh(self, weight_of: Callable[[str], float]) -> int:
        with self._writing():
            changed = [
                {"page_id": page_id, "weight": weight_of(url)}
                for page_id, url, weight in self._db.execute(self._q["pages_and_weights"])
                if weight_of(url) != weight
            ]
            self._db.executemany(self._q["save_weight"], changed)
        return len(changed)

    # -- hosts --

    @override
    def hosts(self) -> list[HostRecord]:
        with translated(self._path):
            return [_host(row) for row in self._db.execute(self._q["hosts"])]

    @override
    def host(self, host_id: int, *, now_s: float) -> HostRecord:
        with translated(self._path):
            return _host(self._one("one_host", host_id=host_id, now_s=now_s))

    @override
    def save_host(self, record: HostRecord) -> None:
        with self._writing():
            self._run(
                "save_host",
                host_id=record.host_id,
                robots_status=record.robots_status,
                robots_body=record.robots_body,
                robots_until_s=record.robots_until_s,
                failures=record.failures,
                blocked_until_s=record.blocked_until_s,
                blocked_why=record.blocked_why,
            )

    # -- leases --

    @override
    def lease(
        self,
        host_id: int,
        *,
        limit: int,
        due_by_s: float,
        now_s: float,
        until_s: float,
        discovery_share: float = 0.5,
    ) -> list[Lease]:
        with self._writing():
            new, old = (
                self._db.execute(
                    self._q["due"],
                    {
                        "host_id": host_id,
                        "visited": visited,
                        "due_by_s": due_by_s,
                        "now_s": now_s,
                        "limit": limit,
                    },
                ).fetchall()
                for visited in (0, 1)
            )
            n_new, n_old = split(len(new), len(old), limit, discovery_share)
            leases = []
            for row in interleave(new[:n_new], old[:n_old]):
                self._token += 1
                leases.append(_lease(row, host_id, self._token))
            self._db.executemany(
                self._q["lease"],
                [
                    {"page_id": lease.page_id, "token": lease.token, "until_s": until_s}
                    for lease in leases
                ],
            )
        return leases

    @override
    def release(self, leases: Sequence[Lease]) -> None:
        with self._writing():
            for lease in leases:
                self._run("release", page_id=lease.page_id, token=lease.token)

    # -- the index --

    @override
    def begin_indexing(self, page_ids: Sequence[int]) -> None:
        with self._writing():
            rows = [{"page_id": page_id} for page_id in page_ids]
            self._db.executemany(self._q["begin_indexing"], rows)

    @override
    def in_indexing(self) -> list[tuple[int, str, bytes | None]]:
        with translated(self._path):
            return self._db.execute(self._q["in_indexing"]).fetchall()

    @override
    def reconcile(self, page_id: int, signature: bytes | None, now_s: float) -> None:
        with self._writing():
            self._run("reconcile", page_id=page_id, signature=signature, now_s=now_s)
            self._run("end_indexing", page_id=page_id)

    # -- visits --

    @override
    def complete(self, updates: Sequence[PageUpdate]) -> None:
        with self._writing():
            self._db.executemany(self._q["add_visit"], [_visit_row(update) for update in updates])
            self._db.executemany(self._q["complete"], [_page_row(update) for update in updates])
            self._db.executemany(
                self._q["end_indexing"], [{"page_id": update.lease.page_id} for update in updates]
            )

    @override
    def make_due_by(self, now_s: float, longest_s: float) -> int:
        with self._writing():
            limits = {"now_s": now_s, "longest_s": longest_s}
            return self._db.execute(self._q["make_due_by"], limits).rowcount

    @override
    def make_due(self, now_s: float) -> int:
        with self._writing():
            self._run("make_due", now_s=now_s)
            return self._n_pages

    @override
    def n_due(self, now_s: float, *, visited_before_s: float | None = None) -> int:
        with translated(self._path):
            return int(self._value("n_due", now_s=now_s, before_s=visited_before_s))

    # -- planning --

    @override
    def evidence(self, *, since_visit: int, limit_per_page: int = 100) -> tuple[Evidence, int]:
        with translated(self._path):
            last = self._value("last_visit_number")
            rows = self._db.execute(self._q["visited_since"], {"since": since_visit}).fetchall()
            page_ids, urls = zip(*rows, strict=True) if rows else ((), ())
            page: list[int] = []
            intervals: list[float] = []
            changed: list[int] = []
            signalled: list[float | None] = []
            for number, page_id in enumerate(page_ids):
                told = self._db.execute(
                    self._q["evidence_of_page"], {"page_id": page_id, "limit": limit_per_page}
                ).fetchall()[::-1]  # the query has the latest first
                page.extend([number] * len(told))
                intervals.extend(row[0] for row in told)
                changed.extend(row[1] for row in told)
                signalled.extend(row[2] for row in told)
        evidence = Evidence(
            np.array(page_ids, np.int64),
            np.array(page, np.int64),
            np.array(intervals, np.float64),
            np.array(changed, np.bool_),
            np.array(signalled, np.float64),
            urls,
        )
        return evidence, last

    @override
    def save_change_rates(
        self,
        page_ids: NDArray[np.int64],
        rates_per_s: NDArray[np.float64],
        factors: NDArray[np.float64],
    ) -> None:
        columns = (page_ids.tolist(), rates_per_s.tolist(), factors.tolist())
        with self._writing():
            self._db.executemany(
                self._q["save_change_rate"],
                [
                    {"page_id": page_id, "rate": rate, "factor": factor}
                    for page_id, rate, factor in zip(*columns, strict=True)
                ],
            )

    @override
    def planned_pages(self) -> PlannedPages:
        with translated(self._path):
            rows = self._db.execute(self._q["planned"]).fetchall()
        table = np.array(rows, np.float64).reshape(len(rows), 9)
        return PlannedPages(
            table[:, 0].astype(np.int64), table[:, 1].astype(np.int64), *table[:, 2:].T.copy()
        )

    @override
    def save_plan(
        self,
        plan: PlanRecord,
        page_ids: NDArray[np.int64],
        crawl_rates_per_s: NDArray[np.float64],
        due_s: NDArray[np.float64],
    ) -> None:
        columns = (page_ids.tolist(), crawl_rates_per_s.tolist(), due_s.tolist())
        with self._writing():
            self._run(
                "save_plan",
                solved_at_s=plan.solved_at_s,
                n_pages=plan.n_pages,
                budget_per_s=plan.budget_per_s,
                price=plan.price,
                freshness=plan.freshness,
                n_never_visited=plan.n_never_visited,
                measure=plan.measure,
            )
            self._db.executemany(
                self._q["save_crawl_rate"],
                [
                    {"page_id": page_id, "rate": rate, "due_s": due}
                    for page_id, rate, due in zip(*columns, strict=True)
                ],
            )

    @override
    def last_plan(self) -> PlanRecord | None:
        with translated(self._path):
            row = self._row("last_plan")
        return None if row is None else PlanRecord(*row)

    # -- for people --

    @override
    def n_pages_by_state(self) -> dict[PageState, int]:
        with translated(self._path):
            return {
                PageState(row[0]): row[1] for row in self._db.execute(self._q["n_pages_by_state"])
            }

    @override
    def n_visits_by_outcome(self, *, since_s: float = 0.0) -> dict[Outcome, int]:
        with translated(self._path):
            rows = self._db.execute(self._q["n_visits_by_outcome"], {"since_s": since_s})
            return {Outcome(row[0]): row[1] for row in rows}

    @override
    def details(self, url: str, *, recent: int = 10) -> PageDetails | None:
        with translated(self._path):
            row = self._row("details", url=url)
            if row is None:
                return None
            visits = self._db.execute(
                self._q["recent_visits"], {"page_id": row[0], "limit": recent}
            ).fetchall()
        seen = tuple(_visit(visit) for visit in visits)
        kind, state, crawl_rate = Kind(row[3]), PageState(row[4]), row[17]
        last = seen[0].outcome if seen else None
        known = dict(zip(_DETAILS, row[5:], strict=True))
        return PageDetails(
            page_id=row[0],
            url=row[1],
            host=row[2],
            kind=kind,
            state=state,
            due_why=why_due(kind, state, last, crawl_rate),
            recent=seen,
            **(known | {"leased_until_s": known["leased_until_s"] or None}),
        )

    @override
    def save_facts(self, facts: Mapping[str, float]) -> None:
        with self._writing():
            for name, value in facts.items():
                self._run("save_fact", name=name, value=value)

    @override
    def facts(self) -> dict[str, float]:
        with translated(self._path):
            return dict(self._db.execute(self._q["facts"]).fetchall())

    @override
    def urls_indexed(self) -> Iterable[tuple[str, bytes]]:
        with translated(self._path):
            yield from self._db.execute(self._q["urls_indexed"])

    def table(self, name: str) -> Iterator[tuple[list[str], list[tuple[Any, ...]]]]:
        """Yield the rows of ``pages`` or ``visits`` with their column names, 10,000 at a time."""
        with translated(self._path):
            cursor = self._db.execute(self._q[f"export_{name}"])
            names = [column[0] for column in cursor.description]
            while rows := cursor.fetchmany(10_000):
                yield names, rows

    @override
    def close(self) -> None:
        if hasattr(self, "_db"):
            self._db.close()
        if self._lock is not None:
            self._lock.release()

    # -- inside --

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with translated(self._path):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                # A failed COMMIT may have rolled back by itself.
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                self._n_pages = self._value("n_pages")
                self._host_ids.clear()
                self._n_pages_of_host.clear()
                raise

    def _run(self, name: str, /, **parameters: object) -> sqlite3.Cursor:
        return self._db.execute(self._q[name], parameters)

    def _row(self, name: str, /, **parameters: object) -> tuple[Any, ...] | None:
        row: tuple[Any, ...] | None = self._run(name, **parameters).fetchone()
        return row

    def _one(self, name: str, /, **parameters: object) -> tuple[Any, ...]:
        row = self._row(name, **parameters)
        if row is None:
            raise KeyError(f"{name}: {parameters}")
        return row

    def _value(self, name: str, /, **parameters: object) -> int:
        return int(self._one(name, **parameters)[0])


_DETAILS = (  # the columns of the query `details` from the sixth on
    "weight", "depth", "discovered_s", "due_s", "visits", "changes", "failures", "last_visit_s",
    "last_status", "indexed_at_s", "change_rate_per_s", "change_rate_factor", "crawl_rate_per_s",
    "lastmod_s", "redirect_url", "leased_until_s",
)  # fmt: skip


def _host(row: tuple[Any, ...]) -> HostRecord:
    due = min((value for value in row[8:10] if value is not None), default=inf)
    return HostRecord(row[0], row[1], due, *row[2:8])


def _lease(row: tuple[Any, ...], host_id: int, token: int) -> Lease:
    return Lease(row[0], row[1], host_id, token, row[2], Kind(row[3]), PageState(row[4]), *row[5:])


def _visit(row: tuple[Any, ...]) -> Visit:
    changed = None if row[3] is None else bool(row[3])
    return Visit(row[0], Outcome(row[1]), row[2], changed, *row[4:])


def _visit_row(update: PageUpdate) -> dict[str, object]:
    visit = update.visit
    return {
        "page_id": update.lease.page_id,
        "visited_at_s": visit.visited_at_s,
        "outcome": visit.outcome.value,
        "status": visit.status,
        "changed": visit.changed,
        "interval_s": visit.interval_s,
        "fetch_s": visit.fetch_s,
        "received_bytes": visit.received_bytes,
        "note": visit.note,
    }


def _page_row(update: PageUpdate) -> dict[str, object]:
    visit = update.visit
    told = visit.changed is not None or visit.outcome in (Outcome.NEW, Outcome.LISTING)
    return {
        "page_id": update.lease.page_id,
        "token": update.lease.token,
        "change": int(bool(visit.changed)),
        "failures": update.failures,
        "state": update.state.value,
        "due_s": update.due_s,
        "told_s": visit.visited_at_s if told else None,
        "status": visit.status,
        "copied": is_copied(visit.outcome, update.state),
        "visited_at_s": visit.visited_at_s,
        "etag": update.etag,
        "last_modified": update.last_modified,
        "signature": update.signature,
        "raw_hash": update.raw_hash,
        "title": update.title,
        "redirect_url": update.redirect_url,
    }
