"""Worths of pages, in SQLite: importance, link lists, counts, and what visits brought."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict

from typing_extensions import override

from recrawl.crawler.control.revisiting.due_times import WIDENED
from recrawl.crawler.frontier.store import Part, translated
from recrawl.crawler.ports import Worths
from recrawl.terms import Birth, Discovery, Kind, PageState, PageUpdate, PageWorth


class SqliteWorths(Part, Worths):
    """Importance, link lists, counts and births, over the connection of a frontier."""

    @override
    def addresses(
        self, *, after: int, limit: int
    ) -> list[tuple[int, int, str, PageState, float | None]]:
        with translated(self._path):
            rows = self._run("addresses", after=after, limit=limit)
            return [(row[0], row[1], row[2], PageState(row[3]), row[4]) for row in rows]

    @override
    def link_lists(self, *, after: int, limit: int) -> list[tuple[int, bytes]]:
        return self._rows("link_lists", after=after, limit=limit)

    @override
    def tallies(self) -> list[tuple[int, str, float, float]]:
        return self._rows("tallies")

    @override
    def count(
        self, source: str, counts: Mapping[str, float], now_s: float, half_life_s: float
    ) -> int:
        known = 0
        with self._writing():
            for url, n in counts.items():
                row = self._row("known_page", url=url)
                if row is None:
                    continue
                known += 1
                key = {"page_id": row[0], "source": source}
                before = self._run("tally_of", **key).fetchone() or (0.0, now_s)
                faded = before[0] * 0.5 ** (max(now_s - before[1], 0.0) / half_life_s)
                self._run("count", **key | {"n": faded + n, "now_s": now_s})
        return known

    @override
    def forget(self, source: str) -> None:
        with self._writing():
            self._run("forget_tally", source=source)

    @override
    def save(self, worths: Sequence[PageWorth]) -> list[int]:
        hosts: dict[int, None] = {}
        with self._writing():
            for one in worths:
                saved = self._run("save_importance", **asdict(one))
                for host_id, tier in saved.fetchall():
                    if tier == 0:
                        hosts[host_id] = None
        return list(hosts)

    @override
    def depths(self) -> list[tuple[int, int, int, int, float]]:
        return self._rows("depths")

    @override
    def births(self) -> list[Birth]:
        with translated(self._path):
            return [Birth(row[0], row[1], Kind(row[2]), *row[3:]) for row in self._run("births")]

    @override
    def entries(self) -> list[tuple[int, int]]:
        return self._rows("entries")

    @override
    def found_again(self, leads: Mapping[int, tuple[int, float]]) -> None:
        rows = [
            {"page_id": page_id, "again": again, "lead_s": lead_s}
            for page_id, (again, lead_s) in leads.items()
        ]
        with self._writing():
            self._db.executemany(self._q["found_again"], rows)

    # -- within a transaction of the frontier --

    def note_birth(self, found: Discovery) -> None:
        """Count a new address for the page that led there, if that was read without it before.

        What a configuration that takes more lets in was there already.
        """
        if found.found_on is not None:
            self._run("note_birth", page_id=found.found_on, widened=WIDENED)

    def note_links(self, updates: Iterable[PageUpdate]) -> None:
        """Keep the links that visits read."""
        links = [
            {"page_id": update.lease.page_id, "targets": update.links}
            for update in updates
            if update.links is not None
        ]
        self._db.executemany(self._q["save_links"], links)
