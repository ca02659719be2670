"""How fresh several processes on one PostgreSQL keep a web, beside one: as its server sees it.

    python bench/cluster_freshness.py              one on a file, one and four on a database
    python bench/cluster_freshness.py --runs 3     with as many webs

Forty hosts of twenty pages, which change at instants of their own, two in three seldom and one in
three often; the server knows which version of a page it gave last, and so how fresh the crawl is,
at every instant. All arms have the same web, and run at the same time. Freshness is measured over
the second half, by which all pages are known.

Bar: four processes within 0.3 points of one.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
from tests.acceptance.farm import Farm
from tests.databases import Server
from tests.postgres import postgres

from recrawl.terms import Database

HOSTS, PAGES = 40, 20
OFTEN_S, SELDOM_S = 12.0, 120.0  # mean times between two changes


class ChangingFarm(Farm):
    """A farm whose pages change, and which knows how fresh what it gave is.

    Parameters
    ----------
    seed : of the instants at which pages change
    seconds : for which they do
    """

    def __init__(self, seed: int, seconds: float) -> None:
        random = np.random.default_rng(seed)
        self._began_s = time.monotonic()
        self._changes: dict[tuple[int, int], np.ndarray] = {}
        for host in range(HOSTS):
            for page in range(1, PAGES + 1):
                mean_s = OFTEN_S if random.random() < 1 / 3 else SELDOM_S
                gaps = random.exponential(mean_s, int(3 * seconds / mean_s) + 20)
                self._changes[host, page] = np.cumsum(gaps)
        self._given: dict[tuple[int, int], list[float]] = {key: [] for key in self._changes}
        super().__init__(HOSTS, PAGES)

    def _page(self, host: str, path: str) -> tuple[int, bytes]:
        status, body = super()._page(host, path)
        if path.strip("/").isdigit():
            first = host.partition(":")[0].split(".")
            key = int(first[2]) * 200 + int(first[3]) - 1, int(path.strip("/"))
            now_s = time.monotonic() - self._began_s
            version = int(np.searchsorted(self._changes[key], now_s))
            self._given[key].append(now_s)
            body = body.replace(b"</p>", f" version{version} of it, and no other</p>".encode())
        return status, body

    def freshness(self, start_s: float, end_s: float) -> float:
        """Return the share of time for which what was given last was the latest, over all pages."""
        total_s = 0.0
        for key, changes in self._changes.items():
            for at_s, next_s in zip(self._given[key], [*self._given[key][1:], np.inf], strict=True):
                stale_s = changes[np.searchsorted(changes, at_s)]
                total_s += max(min(next_s, stale_s, end_s) - max(at_s, start_s), 0.0)
        return total_s / ((end_s - start_s) * len(self._changes))


def crawled(
    farm: ChangingFarm, server: Server | None, processes: int, folder: Path, seconds: float
) -> list["subprocess.Popen[bytes]"]:
    """Start the processes of an arm."""
    database: Database | None = server.database() if server else None
    config = farm.config(
        folder,
        database,
        budget='"12/s"',
        revisit__min_interval='"1s"',
        revisit__initial_interval='"20s"',
        revisit__max_interval='"10m"',
        plan__replan='"5s"',
        plan__typical_change='"1m"',
        index__commit_every='"1s"',
    )
    command = [sys.executable, "-m", "recrawl", "run", str(config), "--quiet"]
    command += ["--for", f"{seconds:.0f}s"]
    return [subprocess.Popen(command, cwd=folder) for _ in range(processes)]


def main() -> None:
    """Measure, and print a line for each run and the means."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=240.0)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    arms = {"a file": (False, 1), "a database": (True, 1), "four processes": (True, 4)}
    found: dict[str, list[float]] = {name: [] for name in arms}
    with postgres() as place:
        server = Server(place)
        for run in range(given.runs):
            farms = {name: ChangingFarm(given.seed + run, given.seconds) for name in arms}
            with tempfile.TemporaryDirectory() as name:
                processes = []
                for number, (arm, (shared, count)) in enumerate(arms.items()):
                    folder = Path(name, str(number))
                    folder.mkdir()
                    processes += crawled(
                        farms[arm], server if shared else None, count, folder, given.seconds
                    )
                assert [process.wait() for process in processes] == [0] * len(processes)
            for arm, farm in farms.items():
                farm.close()
                fresh = farm.freshness(0.5 * given.seconds, 0.97 * given.seconds)
                found[arm].append(100.0 * fresh)
                print(f"{arm:15} {100 * fresh:5.1f} % fresh, {farm.n_requests():,} requests")
    one, four = np.mean(found["a database"]), np.mean(found["four processes"])
    print(
        f"four processes are {four - one:+.1f} points from one (bar: -0.3), one on a database "
        f"{one - np.mean(found['a file']):+.1f} from one on a file; {given.runs} webs"
    )


if __name__ == "__main__":
    main()
