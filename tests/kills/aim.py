"""Crawls that are killed as they are about to change a file of their state: at each such moment.

A small library in C, compiled where it is used, stands between process and disk and counts.
What is killed is the real engine over a scripted web, with the real frontier and index.
"""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from tests.kills.victim import HOSTS, N_PAGES, is_gone

from recrawl.crawler.wiring.indexes import open_index
from recrawl.crawler.wiring.stores import open_frontier

__all__ = ["Aim", "Aiming", "KillReport", "compiled_shim"]


@dataclass(frozen=True, slots=True)
class Aim:
    """Kill at the ``at``-th operation on a file; where that is a write, after half of it."""

    at: int
    torn: bool = False


@dataclass(slots=True)
class KillReport:
    """Result of the kills.

    Parameters
    ----------
    kills : lives that ended so
    whole : lives that ended by themselves
    hit : operations that were never made, by their names
    broken : what was found wrong, in words; empty is the promise
    """

    kills: int = 0
    whole: int = 0
    hit: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)


def compiled_shim(folder: Path) -> Path | None:
    """Compile the library that counts; None where there is no C compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    target = folder / "shim.so"
    command = [compiler, "-shared", "-fPIC", "-O1", "-D_LARGEFILE64_SOURCE", "-o"]
    source = Path(__file__).with_name("shim.c")
    subprocess.run([*command, str(target), str(source), "-ldl"], check=True)
    return target


class Aiming:
    """One state directory and its lives.

    Parameters
    ----------
    folder : for the state and what is needed beside it
    shim : as :func:`compiled_shim` made it
    """

    def __init__(self, folder: Path, shim: Path) -> None:
        self.report = KillReport()
        self.state = folder / "state"
        self._trace = folder / "trace"
        self._shim = shim
        self._life = 0
        self._visits = 0
        self._held: set[str] = set()

    @contextmanager
    def victims(self) -> Iterator[subprocess.Popen[str]]:
        """Have a process at hand that lives once for every line that it reads."""
        process = subprocess.Popen(
            [sys.executable, "-c", "from tests.kills.victim import main; main()"],
            cwd=Path(__file__).parents[2],
            env=os.environ | {"LD_PRELOAD": str(self._shim)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        with process:
            try:
                yield process
            finally:
                _pipe(process.stdin).close()

    def live(self, victims: subprocess.Popen[str], aim: Aim) -> int | None:
        """Live once and look at what is left; return the operations of a life that was whole."""
        self._life += 1
        asked = {"state": str(self.state), "life": self._life, "trace": str(self._trace)}
        _pipe(victims.stdin).write(json.dumps(asked | {"at": aim.at, "torn": aim.torn}) + "\n")
        _pipe(victims.stdin).flush()
        told: dict[str, Any] = json.loads(_pipe(victims.stdout).readline())
        if told.get("signal") == signal.SIGKILL:
            self.report.kills += 1
            self.report.hit[self._trace.read_text().splitlines()[-1].split()[1]] += 1
        elif "operations" in told:
            self.report.whole += 1
        else:
            self._broken(aim, f"bricked: {told.get('error') or told}")
        self._look(aim, is_whole="operations" in told)
        operations: int | None = told.get("operations")
        return operations

    def _look(self, aim: Aim, *, is_whole: bool) -> None:
        """Hold what is on disk against what was there, and state against index."""
        database = self.state / "state.sqlite3"
        if not (self.state / "index" / "meta.json").exists() or not database.stat().st_size:
            if self._held:
                self._broken(aim, "lost: state or index is not there any more")
            return
        with closing(sqlite3.connect(database)) as opened:
            if opened.execute("PRAGMA integrity_check").fetchone() != ("ok",):
                self._broken(aim, "the database is damaged")
            tables = opened.execute("SELECT count(*) FROM sqlite_master WHERE name = 'fact'")
            if tables.fetchone() == (0,):
                return  # killed while the schema was made
            visits = opened.execute("SELECT count(*) FROM visit").fetchone()[0]
        if visits < self._visits:
            self._broken(aim, f"lost: {self._visits - visits} visits")
        self._visits = visits
        self._compare(aim, is_whole=is_whole)

    def _compare(self, aim: Aim, *, is_whole: bool) -> None:
        frontier = open_frontier(self.state, read_only=True)
        index = open_index(self.state, read_only=True)
        expected, copies = dict(frontier.urls_indexed()), list(index.urls())
        unfinished = {url for _, url, _ in frontier.in_indexing()}
        told = {change.url: change.signature for change in frontier.feed.live()}
        frontier.close()
        held = dict(copies)
        if told != expected:
            self._broken(aim, f"feed and state part in {sorted(told.items() ^ expected.items())}")
        if len(held) != len(copies):
            self._broken(aim, f"{len(copies) - len(held)} copies too many")
        apart = {url for url in expected.keys() | held.keys() if expected.get(url) != held.get(url)}
        if apart - unfinished:
            self._broken(aim, f"state and index part in {sorted(apart - unfinished)}")
        lost = {url for url in self._held - held.keys() if not is_gone(url, self._life)}
        if lost:
            self._broken(aim, f"lost: {sorted(lost)}")
        if is_whole and len(held) != self._n_there():
            self._broken(aim, f"{len(held)} copies after a whole pass, not {self._n_there()}")
        self._held = set(held)

    def _n_there(self) -> int:
        pages = [f"{host}/{number}" for host in HOSTS for number in range(N_PAGES)]
        return len(HOSTS) + sum(not is_gone(url, self._life) for url in pages)

    def _broken(self, aim: Aim, words: str) -> None:
        self.report.broken.append(f"life {self._life}, killed at operation {aim.at}: {words}")


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe
