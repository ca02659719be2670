"""The feed in SQLite: an outbox, written in the transaction of what it tells."""

import zlib
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, Final

from typing_extensions import override

from recrawl.crawler.facts import FeedFacts
from recrawl.crawler.frontier.store import Part, translated
from recrawl.crawler.ports import Feed
from recrawl.terms import Change, ChangeKind, PageUpdate

_BATCH: Final = 5_000
_MOST_EDITED: Final = 1 << 20  # bytes that a stored diff may come to: it was made shorter
_NOTHING: Final[dict[str, Any]] = {
    "fetched_at_s": None, "title": None, "language": "", "canonical": None, "content_type": "",
    "edit": None,
}  # fmt: skip


class SqliteFeed(Part, Feed):
    """An outbox, over the connection of a frontier."""

    _says_importance = False

    def tell(self, updates: Sequence[PageUpdate], now_s: float | None) -> None:
        """Make entries for what visits changed; within the transaction that records them."""
        changed = [one for one in updates if _may_change(one)]
        if not changed:
            return
        if now_s is None:
            now_s = max(update.visit.visited_at_s for update in updates)
        self._tell([_told(update, now_s) for update in changed])

    def tell_found(self, page_ids: Iterable[int], now_s: float) -> None:
        """Make entries for what was found to be so; within the transaction that says it."""
        rows = [_NOTHING | {"page_id": page_id, "now_s": now_s} for page_id in page_ids]
        self._tell(rows)

    def _tell(self, rows: Iterable[dict[str, Any]]) -> None:
        said = {"says_importance": self._says_importance}
        self._db.executemany(self._q["tell"], [row | said for row in rows])

    @override
    def say_importance(self) -> None:
        self._says_importance = True

    @override
    def importances(self, *, after: int, limit: int) -> list[tuple[int, float, float | None]]:
        return self._rows("importances", after=after, limit=limit)

    @override
    def tell_importance(self, page_ids: Sequence[int], now_s: float) -> int:
        rows = [{"page_id": page_id, "now_s": now_s} for page_id in page_ids]
        with self._writing():
            return self._db.executemany(self._q["tell_importance"], rows).rowcount

    @override
    def changes(
        self, *, after: int, limit: int, latest: bool = False, edits: bool = False
    ) -> list[Change]:
        asked = {"after": after, "limit": limit, "edits": edits}
        with translated(self._path):
            rows = self._db.execute(self._q["changes_latest" if latest else "changes"], asked)
            return [_change(row) for row in rows]

    @override
    def recent(self, limit: int, *, importance: bool = True) -> list[Change]:
        with translated(self._path):
            return [_change(row) for row in self._run("recent", limit=limit, importance=importance)]

    @override
    def last(self) -> int:
        with translated(self._path):
            return int(self._run("last_change").fetchone()[0])

    @override
    def before(self, instant_s: float) -> int:
        low, high = 0, self.last()
        with translated(self._path):
            while low < high:  # instants never go back from entry to entry
                middle = (low + high + 1) // 2
                row = self._run("change_up_to", seq=middle).fetchone()
                if row is None or row[1] < instant_s:
                    low = middle
                else:
                    high = row[0] - 1
            row = self._run("change_up_to", seq=low).fetchone()
        return 0 if row is None else int(row[0])

    @override
    def live(
        self, *, after: int = 0, limit: int | None = None, importance: bool = True
    ) -> Iterable[Change]:
        most = -1 if limit is None else limit
        asked = {"after": after, "limit": most, "importance": importance}
        with translated(self._path):
            for row in self._run("live", **asked):
                yield _change(row)

    @override
    def latest(self, urls: Sequence[str], *, importance: bool = True) -> list[Change]:
        asked = ({"url": url, "importance": importance} for url in urls)
        with translated(self._path):
            rows = (self._run("latest_of", **one).fetchone() for one in asked)
            return [_change(row) for row in rows if row is not None]

    def n_untold(self) -> int:
        """Return of how many pages the feed does not say what the state says."""
        with translated(self._path):
            return sum(1 for _ in self._run("untold"))

    @override
    def mend(self, now_s: float) -> int:
        with translated(self._path):
            untold = iter([row[0] for row in self._run("untold")])
        mended = 0
        while batch := list(islice(untold, _BATCH)):
            with self._writing():
                self.tell_found(batch, now_s)
            mended += len(batch)
        return mended

    @override
    def compact(self, before_s: float, *, limit: int = 1_000) -> int:
        with translated(self._path):
            seen_to, old_to = self._marks()
            last, old = self.last(), self.before(before_s)
        if seen_to >= last and old_to >= old:
            return 0
        # What was overtaken since, however old it is; then what has become old since.
        seen = min(last, seen_to + limit)
        aged = min(old, old_to + limit)
        with self._writing():
            ranges = {"seen_to": seen_to, "seen": seen, "old_to": old_to, "aged": aged}
            self._run("drop_overtaken", **ranges)
            self._run("drop_aged", **ranges)
            self._run("drop_edits", **ranges)
            marks = FeedFacts(seen_to=float(seen), old_to=float(max(aged, old_to)))
            for name, value in marks.to_rows().items():
                self._run("save_fact", name=name, value=value)
        return (last - seen) + max(old - aged, 0)

    def _marks(self) -> tuple[int, int]:
        marks = FeedFacts.of(dict(self._run("facts").fetchall()))
        return int(marks.seen_to), int(marks.old_to)


def _may_change(update: PageUpdate) -> bool:
    """Tell whether a visit may have changed what the index holds; the rest costs no look."""
    lease = update.lease
    return (lease.signature, lease.state) != (update.signature, update.state)


def _told(update: PageUpdate, now_s: float) -> dict[str, Any]:
    """Return the parameters of the query ``tell``."""
    return {
        "page_id": update.lease.page_id,
        "now_s": now_s,
        "fetched_at_s": update.visit.visited_at_s,
        "title": update.title,
        "language": update.language,
        "canonical": update.canonical,
        "content_type": update.content_type,
        "edit": None if update.edit is None else zlib.compress(update.edit.encode()),
    }


def _change(row: tuple[Any, ...]) -> Change:
    """Return an entry from a row of the queries ``changes``, ``recent``, ``live``."""
    edit = None
    if row[13] is not None:
        try:
            edit = zlib.decompressobj().decompress(row[13], _MOST_EDITED).decode("utf-8", "replace")
        except zlib.error as error:
            raise ValueError(f"a diff in the feed: {error}") from error
    told = [*row[:2], ChangeKind(row[2]), *row[3:13], edit, bool(row[14]), row[15]]
    return Change(*told)
