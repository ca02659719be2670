"""The store of visits that integrations share, and what a plan learns from it."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.integrations.revisits.options import RevisitOptions
from recrawl.integrations.revisits.planning import RevisitPlanner
from recrawl.integrations.revisits.store import VisitStore

N, DAY_S, NOW_S = 60, 86_400.0, 1_800_000_000.0
OPTIONS = RevisitOptions(Path(), N / DAY_S, RevisitRules(), replan_s=600.0)


class Asked(VisitStore):
    """Notes of how many pages, and how many visits of each at most, are read."""

    def __init__(self, path: Path, **mode: bool) -> None:
        super().__init__(path, "STATE", "tests", "recrawl.integrations.scrapy.sql", **mode)
        self.asked: list[tuple[int, int]] = []

    def evidence(self, page_ids: Sequence[int], *, limit_per_page: int = 100) -> Any:
        self.asked.append((len(page_ids), limit_per_page))
        return super().evidence(page_ids, limit_per_page=limit_per_page)


def visit(store: VisitStore, number: int, at_s: float, changed: bool | None) -> None:
    """Note a visit of a page, which comes a day after the one before."""
    outcome = "new" if changed is None else "changed" if changed else "unchanged"
    page = dict.fromkeys(("etag", "last_modified", "signature", "memory"))
    page |= {"page_id": number, "state": "indexed", "due_s": at_s + DAY_S, "due_why": "plan"}
    page |= {"change": int(bool(changed)), "failures": 0, "told_s": at_s, "status": 200}
    told = {"page_id": number, "visited_at_s": at_s, "outcome": outcome, "status": 200}
    told |= {"changed": changed, "interval_s": None if changed is None else DAY_S, "fetch_s": 0.1}
    told |= {"received_bytes": 9, "n_items": 1, "modified_s": None, "note": None}
    store.complete(page, told)


def filled(path: Path, n_visits: int = 30) -> Path:
    """Make a store with pages of which every third changes each other day."""
    with closing(Asked(path)) as store:
        for number in range(N):
            url = f"http://a.test/{number % 4}/{number}"
            page = {"id": number, "spider": "s", "url": url, "host": "http://a.test"}
            page |= {"request": b"{}", "priority": 0, "weight": 1.0, "now_s": 1.0, "why": "new"}
            store.add(page)
            for k in range(n_visits):
                changed = number % 3 == 0 and k % 2 == 0
                at_s = NOW_S - (n_visits - k) * DAY_S
                visit(store, number, at_s, None if k == 0 else changed)
    return path


def rates(path: Path) -> np.ndarray:
    with closing(sqlite3.connect(path)) as db:
        rows = db.execute("SELECT change_rate_per_s FROM page ORDER BY id").fetchall()
    return np.array([row[0] for row in rows])


def planned(planner: RevisitPlanner, path: Path, now_s: float = NOW_S) -> list[tuple[int, int]]:
    """Plan on a connection that is closed afterwards; return what was read."""
    with closing(Asked(path)) as store:
        assert planner.replan(store, now_s, "s") is not None
        return store.asked


def test_a_start_learns_from_what_was_kept_and_what_came_since(tmp_path: Path) -> None:
    path = filled(tmp_path / "s.sqlite3")

    first = planned(RevisitPlanner(OPTIONS), path)
    learned = rates(path)
    planner = RevisitPlanner(OPTIONS)
    started = planned(planner, path)
    with closing(Asked(path)) as store:
        visit(store, 7, NOW_S, True)
    later = planned(planner, path, NOW_S + 60.0)

    assert (first, started, later) == ([(N, 100)], [], [(1, 4)])
    assert learned[::3].min() > 3.0 * learned[1]
    assert rates(path)[7] > 1.5 * rates(path)[1]
    assert learned[7] == pytest.approx(learned[1])


def test_a_store_of_the_version_before_is_used_as_it_is(tmp_path: Path) -> None:
    """To look at it changes nothing; who writes adds what is new."""
    path = filled(tmp_path / "s.sqlite3", n_visits=3)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DROP TABLE belief")
        db.execute("DROP TABLE host_belief")
        db.execute("ALTER TABLE page DROP COLUMN born_s")
        db.execute("PRAGMA user_version = 1")

    with closing(Asked(path, read_only=True)) as store:
        assert store.n_visited() == N
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (1,)
    planned(RevisitPlanner(OPTIONS), path)

    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (3,)
        assert db.execute("SELECT count(*) FROM belief").fetchone() == (N,)


def with_young_ones(path: Path, *, births: bool) -> Path:
    """Make a store with pages that change in their first two days only, beside old ones."""
    with closing(Asked(path)) as store:
        for number in range(N):
            days = 12 if number < N // 2 else (number - N // 2) // 3 + 1
            url = f"http://a.test/{number % 2}/{number}"
            page = {"id": number, "spider": "s", "url": url, "host": "http://a.test"}
            page |= {"request": b"{}", "priority": 0, "weight": 1.0, "now_s": 1.0, "why": "new"}
            if births and number >= N // 2:
                page["born_s"] = NOW_S - (days + 0.5) * DAY_S
            store.add(page)
            for k in range(days):
                changed = number >= N // 2 and k <= 2
                at_s = NOW_S - (days - k - 0.01 * (number % 7)) * DAY_S
                visit(store, number, at_s, None if k == 0 else changed)
    return path


@pytest.mark.parametrize("n_starts", [1, 2])
def test_young_pages_are_seen_sooner_where_births_are_known(tmp_path: Path, n_starts: int) -> None:
    """As others were seen to change in their first days; also by what the store has kept."""
    intervals_s = []
    for births in (False, True):
        path = with_young_ones(tmp_path / f"{births}.sqlite3", births=births)
        for _ in range(n_starts):
            options = replace(OPTIONS, policy="foresight")
            planned(RevisitPlanner(options), path)
        with closing(sqlite3.connect(path)) as db:
            rows = db.execute("SELECT due_s - last_visit_s FROM page ORDER BY id").fetchall()
        intervals_s.append(np.mean(rows[N // 2 : N // 2 + 9]))

    assert intervals_s[1] < 0.8 * intervals_s[0]
