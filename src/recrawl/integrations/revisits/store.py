"""Pages and visits in SQLite, with plans and the budget: one file, which several may write.

Writes are gathered and go to disk together, some times a second, what was found always before the
visit that found it: a process that is killed repeats what it did last, and loses nothing.
"""

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from recrawl.crawler.control.evidence import BelievedBefore, Evidence, PlannedPages
from recrawl.crawler.ports import LATEST_VISITS, Visits
from recrawl.errors import StateError
from recrawl.integrations.revisits.columns import before_of, evidence_of, pages_of
from recrawl.integrations.revisits.sql import queries, schema

_SHARED: Final = "recrawl.integrations.revisits.sql"
_VERSION: Final = 3
_LATER: Final = {2: "beliefs", 3: "births"}  # by version: the files of SQL that add what it has
_GATHERED: Final = 1_000  # writes that go to disk together at most
_GATHERED_S: Final = 0.2
_CACHE_KB: Final = (
    16_000  # of pages of the file; their numbers are hashes, so writes are everywhere
)
_CHECKPOINT: Final = 4_000  # pages of the log, before they go to the file
_PART: Final = 2_000  # rows of a plan that are written together

Row = dict[str, Any]
PageRow = sqlite3.Row


class VisitStore(Visits):
    """A file that holds pages, what came of their visits, and plans.

    Parameters
    ----------
    path : of the file; its directory is made if it is missing
    place : what messages call the place that people gave, as ``RECRAWL_STATE``
    whose : whose state it is, in words
    sql : a package with ``schema.sql`` and ``queries.sql`` beyond those that are shared
    read_only : only look

    Raises
    ------
    StateError
        Not there (read only), damaged, of another version, or on a full disk.
    """

    def __init__(
        self, path: Path, place: str, whose: str, sql: str, *, read_only: bool = False
    ) -> None:
        self._path, self._place, self._sql = path, place, sql
        self._q = queries(_SHARED) | queries(sql)
        self._added: dict[int, Row] = {}
        self._written: dict[str, list[Row]] = {}  # by query; the order of queries does not matter
        self._n_gathered = 0
        self._since_s = 0.0
        if read_only and not self._path.exists():
            raise StateError(
                f"{place}: {path.parent} holds no state of {whose}: {path.name} is not there"
            )
        with self._translated():
            self._db = self._opened(read_only=read_only)
            self._db.row_factory = sqlite3.Row
            try:
                self._check_version(read_only=read_only)
            except BaseException:
                self._db.close()
                raise

    def _opened(self, *, read_only: bool) -> sqlite3.Connection:
        mode = "ro" if read_only else "rwc"
        if not read_only:
            try:
                self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
            except OSError as error:
                raise StateError(f"{self._place}: {self._path}: {error.strerror}") from None
        name = self._path.resolve().as_posix()
        for sign in "%?#":
            name = name.replace(sign, f"%{ord(sign):02x}")
        return sqlite3.connect(
            f"file:{name}?mode={mode}",
            uri=True,
            isolation_level=None,
            timeout=10.0,
            check_same_thread=False,
        )

    def _check_version(self, *, read_only: bool) -> None:
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        if version > _VERSION:
            raise StateError(
                f"{self._path} was written by a newer version of recrawl (schema {version}, this "
                f"one knows {_VERSION}); upgrade recrawl, or choose another {self._place}"
            )
        if read_only:
            self._db.execute("SELECT count(*) FROM plan").fetchone()
            return
        self._db.execute("PRAGMA journal_mode = WAL")
        # A killed process loses nothing so; a machine without power its last moments, in order.
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.execute(f"PRAGMA cache_size = -{_CACHE_KB}")
        self._db.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT}")
        if version < _VERSION:
            with self._writing():  # two spiders may start at once
                version = self._db.execute("PRAGMA user_version").fetchone()[0]
                statements = [] if version else [*schema(_SHARED), *schema(self._sql)]
                for number, name in _LATER.items():
                    statements += schema(_SHARED, name) if version < number else []
                for statement in statements:
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA user_version = {_VERSION}")

    # -- pages and visits --

    def add(self, page: Row) -> None:
        """Keep a page that is new, with ``born_s`` where that is known.

        It is on disk with the next :meth:`flush`.
        """
        self._added[page["id"]] = {"born_s": None} | page
        self._gather()

    def complete(self, page: Row, visit: Row) -> None:
        """Keep what came of a visit, after all that it found."""
        self._write("complete", page)
        self._write("add_visit", visit)
        self._gather()

    def _write(self, query: str, values: Row) -> None:
        self._written.setdefault(query, []).append(values)

    def _gather(self) -> None:
        now_s = monotonic()
        self._n_gathered += 1
        if not self._since_s:
            self._since_s = now_s
        if self._n_gathered >= _GATHERED or now_s - self._since_s >= _GATHERED_S:
            self.flush()

    def flush(self) -> None:
        """Put on disk what was gathered, all or none."""
        self._since_s, self._n_gathered = 0.0, 0
        if not self._added and not self._written:
            return
        with self._writing():
            self._db.executemany(self._q["add"], self._added.values())
            for query, rows in self._written.items():
                self._db.executemany(self._q[query], rows)
        self._added.clear()
        self._written.clear()

    # -- the budget --

    def grant(self, wanted: int, rate_per_s: float, now_s: float) -> int:
        """Take visits from the budget that all spiders share; return how many it has.

        What was not spent is kept, up to one visit of every page.
        """
        with self._writing():
            left, at_s = self.left(rate_per_s, now_s), self._fact("budget_at_s", now_s)
            granted = max(0, min(wanted, int(left + 1e-9)))
            self._save_fact("budget_left", left - granted)
            self._save_fact("budget_at_s", max(now_s, at_s))
        return granted

    def left(self, rate_per_s: float, now_s: float) -> float:
        """Return how many visits the budget has now."""
        most = max(1.0, float(self.n_visited()))
        earned = max(0.0, now_s - self._fact("budget_at_s", now_s)) * rate_per_s
        return min(most, self._fact("budget_left", 1.0) + earned)

    def n_visited(self) -> int:
        """Return how many pages were ever visited."""
        return self._value("n_visited")

    def give_back(self, n: int) -> None:
        """Return visits that were granted and not made."""
        if n > 0:
            with self._writing():
                self._save_fact("budget_left", self._fact("budget_left", 0.0) + n)

    # -- programs that must ask for something first --

    def makes_first(self, spider: str) -> bool:
        """Tell whether a spider has ever made requests that must come before all others."""
        return self._fact(f"first {spider}", 0.0) > 0.0

    def note_first(self, spider: str) -> None:
        """Note that it does."""
        with self._writing():
            self._save_fact(f"first {spider}", 1.0)

    # -- plans --

    @override
    def visited_since(self, since_visit: int) -> tuple[NDArray[np.int64], int]:
        """Return the pages visited after a visit's number, ascending, and the last number."""
        last = self._value("last_visit_number")
        ids = [row[0] for row in self.rows("visited_since", since=since_visit)]
        return np.array(ids, np.int64), last

    @override
    def evidence(self, page_ids: Sequence[int], *, limit_per_page: int = LATEST_VISITS) -> Evidence:
        """Return the latest visits of pages that tell something."""
        pages = self.rows("urls", ids=json.dumps(list(page_ids)))
        query, limit = self._q["evidence_of_page"], limit_per_page
        with self._translated():
            cursor = self._db.cursor()
            cursor.row_factory = None  # there may be a hundred thousand of them
            told = [
                cursor.execute(query, {"page_id": page["id"], "limit": limit}).fetchall()[::-1]
                for page in pages
            ]
        return evidence_of(pages, told)

    @override
    def believed_before(self, page_ids: Sequence[int]) -> BelievedBefore:
        """Return what is kept of what was learned of pages, and of all hosts."""
        pages = self.rows("beliefs", ids=json.dumps(list(page_ids)))
        return before_of(pages, self.rows("beliefs_of_hosts"))

    def planned_pages(
        self, spider: str | None = None
    ) -> tuple[PlannedPages, int, NDArray[np.bool_]]:
        """Return the pages to be kept fresh, how many hosts they have, and which are a spider's."""
        return pages_of(self.rows("planned", spider=spider))

    @override
    def save_change_rates(
        self,
        page_ids: NDArray[np.int64],
        rates_per_s: NDArray[np.float64],
        factors: NDArray[np.float64],
        beliefs: Sequence[bytes] = (),
        of_hosts: Iterable[tuple[str, bytes]] = (),
    ) -> None:
        """Keep what was learned: of hosts last, so that whatever ends this loses no page's part."""
        ids = page_ids.tolist()
        columns = zip(ids, rates_per_s.tolist(), factors.tolist(), strict=True)
        rates: list[Row] = [{"id": one, "rate": rate, "factor": by} for one, rate, by in columns]
        self._in_parts("save_change_rate", rates)
        kept = zip(ids, beliefs, strict=False)  # or nothing
        self._in_parts("save_belief", [{"id": one, "learned": learned} for one, learned in kept])
        told: list[Row] = [{"host": host, "learned": learned} for host, learned in of_hosts]
        self._in_parts("save_belief_of_host", told)

    def save_plan(self, plan: Row, rows: list[Row]) -> None:
        """Keep a plan, with the crawl rates and due times that it changed."""
        self._in_parts("save_crawl_rate", rows)
        with self._writing():
            self._db.execute(self._q["save_plan"], plan)

    def bring_forward(self, page_ids: list[int], now_s: float) -> None:
        """Make pages due now, as the budget would lie unused."""
        self._in_parts("bring_forward", [{"id": one, "now_s": now_s} for one in page_ids])

    def _in_parts(self, query: str, rows: list[Row]) -> None:
        """Write many rows, and leave as much time to others between as each part took."""
        for start in range(0, len(rows), _PART):
            since_s = monotonic()
            with self._writing():
                self._db.executemany(self._q[query], rows[start : start + _PART])
            if start + _PART < len(rows):
                sleep(monotonic() - since_s)

    # -- looking --

    def rows(self, query: str, **values: object) -> list[PageRow]:
        """Return the rows of a query by its name."""
        with self._translated():
            return self._db.execute(self._q[query], values).fetchall()

    def first(self, query: str, **values: object) -> PageRow | None:
        """Return the first row of a query by its name; None: it has none."""
        try:
            row: PageRow | None = self._db.execute(self._q[query], values).fetchone()
        except sqlite3.Error as error:
            raise self._state_error(error) from None
        return row

    def close(self) -> None:
        """Put on disk what was gathered, and close the file."""
        try:
            self.flush()
        finally:
            self._db.close()

    def _value(self, query: str) -> int:
        return int(self.rows(query)[0][0])

    def _fact(self, name: str, otherwise: float) -> float:
        rows = self.rows("fact", name=name)
        return float(rows[0][0]) if rows else otherwise

    def _save_fact(self, name: str, value: float) -> None:
        self._db.execute(self._q["save_fact"], {"name": name, "value": value})

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        with self._translated():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self._state_error(error) from None

    def _state_error(self, error: sqlite3.Error) -> StateError:
        return StateError(f"{self._place}: {self._path}: {error}")
