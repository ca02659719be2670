"""How soon the command line answers.

Bars: `recrawl --help` in under 0.3 s; small questions, with nothing compiled before, in under
1.5 s; the first plan of a crawl of 10,000 pages in under 2 s; a start that has to learn 10,000
pages with 100 visits each takes less than a tenth of that if it was learned before.

    python bench/start_up.py
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LINES = (["--help"], ["search", "--help"], ["status", "--help"], ["run", "--help"])
SMALL = {
    "plan, 1,000 pages": ["plan", "pages.csv", "--budget", "300/d"],
    "robots, 16 and 5 places": [
        *("robots", "--buffer", "5", "--fetch-rate", "1", "--index-rate", "8"),
        *("--robots", "16", "--starvation-weight", "1"),
    ],
    "probe": ["probe", "dbworld", "--probes", "20"],
    "order, 100 pages": ["order", "plan.csv"],
    "fit changes, 2,000 visits": ["fit", "changes", "visits.csv"],
}
FIRST_PLAN = """
import numpy as np
from recrawl.crawler.control.revisiting.revisits import RevisitControl
n, day = 10_000, 86_400.0
random = np.random.default_rng(0)
control = RevisitControl(np.ones(n), 0.5 * n / day, prior_rate=1 / (14 * day))
control.last[:] = random.uniform(0, day, n)
page = np.repeat(np.arange(n), 3)
elapsed, changed = random.uniform(0.1 * day, 5 * day, page.size), random.random(page.size) < 0.3
control.recall(np.arange(n), page, elapsed, changed)
control.decide(day)
"""


# What a crawl learns at its start, of a state with 10,000 pages that were visited a hundred times.
VISITED = """
import sqlite3, sys
import numpy as np
from pathlib import Path
from recrawl.crawler.frontier.sqlite import SqliteFrontier
n, visits, day = 10_000, 101, 86_400.0
SqliteFrontier(Path(sys.argv[1])).close()
db = sqlite3.connect(Path(sys.argv[1]) / "state.sqlite3")
db.execute("INSERT INTO host (id, host) VALUES (1, 'https://a.org')")
page = "id, url, host_id, kind, state, depth, hops, weight, discovered_s, due_s, tier, visits"
db.executemany(
    f"INSERT INTO page ({page}, last_visit_s) "
    "VALUES (?, ?, 1, 'page', 'indexed', 1, 0, 1.0, 0, 0, 1, 101, ?)",
    [(i, f"https://a.org/{i % 40}/{i}", visits * day) for i in range(1, n + 1)],
)
random = np.random.default_rng(0)
chances = random.beta(0.5, 2.0, n)
visit = "page_id, visited_at_s, outcome, changed, interval_s, fetch_s, received_bytes"
for k in range(1, visits + 1):
    changed = (random.random(n) < chances).astype(int).tolist()
    told = [(i + 1, k * day, *((changed[i], day) if k > 1 else (None, None))) for i in range(n)]
    db.executemany(f"INSERT INTO visit ({visit}) VALUES (?, ?, 'changed', ?, ?, 0.1, 9)", told)
db.commit()
"""
LEARN = """
import asyncio, resource, sys, time
from pathlib import Path
from recrawl.crawler.control.revisiting.believed import Believed
from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.frontier.sqlite import SqliteFrontier
from recrawl.crawler.runtime.visit_learner import VisitLearner
frontier = SqliteFrontier(Path(sys.argv[1]))
believed = Believed(RevisitRules(), budget_per_s=0.1, prior_rate_per_s=8e-7, prior_shape=0.5)
async def at_once(call, /, *arguments, **named):
    return call(*arguments, **named)
since = time.process_time()
asyncio.run(VisitLearner(believed, at_once, at_once).learn(frontier))
took = time.process_time() - since
held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
print(f"{sys.argv[2]:28} {took:.2f} s of CPU, {held:.0f} MB")
frontier.close()
"""


def timed(name: str, command: list[str], times: int, cold: bool) -> None:
    """Print the median and the quickest of several starts."""
    seconds = []
    for _ in range(times):
        with tempfile.TemporaryDirectory() as empty:
            env = {**os.environ, "NUMBA_CACHE_DIR": empty} if cold else None
            started = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=env)
            seconds.append(time.perf_counter() - started)
    print(f"{name:28} median {statistics.median(seconds):.3f} s, least {min(seconds):.3f} s")


def write_tables() -> None:
    """Write pages and visits."""
    rows = [f"https://a.org/{i},{0.05 * 1.008 ** (i % 600):.6f}" for i in range(1000)]
    Path("pages.csv").write_text("\n".join(["url,change_rate", *rows]))
    Path("some.csv").write_text("\n".join(["url,change_rate", *rows[:100]]))
    visits = [
        f"https://a.org/{i},2026-01-{day + 1:02d}T00:00:00Z,{'true' if i * day % 3 else 'false'}"
        for i in range(200)
        for day in range(10)
    ]
    Path("visits.csv").write_text("\n".join(["url,visited_at,changed", *visits]))


def main() -> None:
    """Run every line, beside a bare interpreter."""
    recrawl = [sys.executable, "-m", "recrawl"]
    timed("python -c pass", [sys.executable, "-c", "pass"], 11, cold=False)
    for line in LINES:
        timed(" ".join(["recrawl", *line]), [*recrawl, *line], 11, cold=False)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_tables()
        made = [*recrawl, "plan", "some.csv", "--budget", "30/d", "--out", "plan.csv"]
        subprocess.run(made, check=True, stdout=subprocess.DEVNULL)
        for name, line in SMALL.items():
            timed(name, [*recrawl, *line], 5, cold=True)
        timed("first plan, 10,000 pages", [sys.executable, "-c", FIRST_PLAN], 3, cold=True)
        Path("state").mkdir()
        subprocess.run([sys.executable, "-c", VISITED, "state"], check=True)
        for which in ("first start", "second start", "third start"):
            subprocess.run([sys.executable, "-c", LEARN, "state", which], check=True)
        os.chdir("/")


if __name__ == "__main__":
    main()
