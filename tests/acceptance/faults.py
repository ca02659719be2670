"""What happens to several processes on one PostgreSQL, and what must be true afterwards."""

import contextlib
import random
import signal
import subprocess
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, Literal

import psycopg
from tests.acceptance.command import recrawl, start
from tests.acceptance.farm import Farm
from tests.databases import Server
from tests.wires import Mode, Wire

from recrawl.terms import Database

__all__ = [
    "DELAY_S",
    "FAULTS",
    "RATE_PER_S",
    "Fault",
    "awaited",
    "check_crawl",
    "end_all",
    "endure",
    "rows_of",
    "shared_config",
]

Fault = Literal["kill", "stop", "database", "cut", "jam", "slow", "clock"]
FAULTS: Final[tuple[Fault, ...]] = ("kill", "stop", "database", "cut", "jam", "slow", "clock")
DELAY_S, RATE_PER_S, BURST = 0.2, 40.0, 400.0
_MODES: Final[dict[Fault, Mode]] = {"cut": "cut", "jam": "jammed", "slow": "slow"}
_SHIMS: Final = "faketime/libfaketimeMT.so.1"
_OWNED: Final = """SELECT 1 FROM shard JOIN process ON process.id = owner WHERE NOT ended
    AND until_s > extract(epoch FROM clock_timestamp()) HAVING count(*) = 16"""


def shared_config(farm: Farm, folder: Path, database: Database, **keys: str) -> Path:
    """Write the configuration of one of the processes."""
    return farm.config(
        folder,
        database,
        budget='"40/s"',
        revisit__min_interval='"1s"',
        revisit__initial_interval='"3s"',
        revisit__max_interval='"4s"',
        index__commit_every='"200ms"',
        **keys,
    )


def rows_of(database: Database, query: str) -> list[tuple[object, ...]]:
    """Return what a query finds."""
    with psycopg.connect(database.address) as connection:
        return connection.execute(query.encode()).fetchall()


def awaited(of: Database, query: str, seconds: float) -> bool:
    """Wait until a query finds something."""
    until_s = time.monotonic() + seconds
    while time.monotonic() < until_s:
        with contextlib.suppress(psycopg.Error):  # not there yet, or away
            if rows_of(of, query):
                return True
        time.sleep(0.1)
    return False


def end_all(processes: Iterable["subprocess.Popen[str]"]) -> None:
    """End processes in order."""
    processes = list(processes)
    for process in processes:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
    for process in processes:
        process.communicate(timeout=90)


def check_crawl(farm: Farm, database: Database, folder: Path) -> None:
    """See that no host was hurried, the budget kept, each visit recorded once, the index right."""
    assert not farm.overlaps
    assert farm.least_gap_s() >= DELAY_S - 0.005
    instants = farm.instants()
    for place, at_s in enumerate(instants):  # in every window of any length, by its last request
        for length_s in (0.5, 2.0, 8.0):
            n = place + 1 - bisect_left(instants, at_s - length_s)
            assert n <= RATE_PER_S * length_s + BURST
    assert len(instants) <= RATE_PER_S * (instants[-1] - instants[0]) + BURST
    visits = Counter(rows_of(database, "SELECT page_id, visited_at_s FROM visit"))
    assert set(visits.values()) == {1}
    asked = Counter(f"http://{host}{one.path}" for host, log in farm.asked.items() for one in log)
    counted = rows_of(
        database,
        "SELECT url, count(*), count(visit.status), max(visits) FROM page "
        "JOIN visit ON page_id = page.id GROUP BY url",
    )
    assert counted
    for url, recorded, answered, told in counted:
        assert recorded == told
        assert isinstance(answered, int)
        # A request that a busy machine gave up before it was sent is a visit, and not in the log.
        assert answered <= asked[str(url)]
    whole = recrawl("check", cwd=folder)
    assert whole.returncode == 0, whole.stdout + whole.stderr


class _Process:
    """One of the processes, its wire to the database and its clock."""

    def __init__(self, farm: Farm, folder: Path, database: Database) -> None:
        folder.mkdir()
        self._folder, self.wire = folder, Wire(database)
        self._config = shared_config(farm, folder, self.wire.database)
        self.begin()

    def begin(self, clock_s: int = 0) -> None:
        """Start it, with a clock that is wrong by so much, where that can be had."""
        shim = next(Path("/usr/lib").glob(f"*/{_SHIMS}"), None)
        env = {}
        if clock_s and shim is not None:
            env = {
                "LD_PRELOAD": str(shim),
                "FAKETIME": f"{clock_s:+d}s",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            }
        self.running = start("run", self._config, "--quiet", cwd=self._folder, **env)

    def kill(self) -> None:
        """End it without a word."""
        self.running.kill()
        self.running.communicate()


def endure(
    farm: Farm, databases: Server, folder: Path, faults: Sequence[Fault], *, seed: int
) -> None:
    """Have faults come to three processes in an order by chance, and see that nothing was harmed.

    After each every page has an owner again within the lease, a time-out and what a start takes.
    """
    database, chance = databases.database(), random.Random(seed)
    shared_config(farm, folder, database)
    processes = [_Process(farm, folder / str(number), database) for number in range(3)]
    try:
        assert awaited(database, "SELECT 1 FROM visit HAVING count(*) > 50", 60)
        for fault in chance.sample(faults, len(faults)):
            victim = chance.choice(processes)
            _befall(fault, victim, databases, chance)
            if fault in ("kill", "clock"):  # who finds no database at its start says so, and ends
                joined = f"SELECT 1 FROM process WHERE name LIKE '%:{victim.running.pid}'"
                assert awaited(database, joined, 60), f"nobody came after: {fault}"
            assert awaited(database, _OWNED, 60), f"pages without an owner after: {fault}"
            time.sleep(chance.uniform(0.0, 2.0))
        for one in processes:
            if one.running.poll() is not None:
                raise AssertionError(one.running.communicate()[1])
    finally:
        end_all(one.running for one in processes)
        for one in processes:
            one.wire.close()

    assert farm.n_requests() > 500
    check_crawl(farm, database, folder)


def _befall(fault: Fault, victim: _Process, databases: Server, chance: random.Random) -> None:
    if fault in ("kill", "clock"):
        victim.kill()
        victim.begin(chance.choice([-3600, 3600]) if fault == "clock" else 0)
    elif fault == "stop":
        victim.running.send_signal(signal.SIGSTOP)
        time.sleep(chance.uniform(3.5, 6.0))  # the lease ends after three seconds
        victim.running.send_signal(signal.SIGCONT)
    elif fault == "database":
        databases.server.stop("immediate")
        time.sleep(chance.uniform(0.0, 3.0))
        databases.server.start()
    else:
        victim.wire.set(_MODES[fault])
        time.sleep(chance.uniform(0.5, 6.0))
        victim.wire.set("open")
