"""An hour of real crawling under faults and kills, and months in virtual time.

Real: `recrawl run` crawls a local web of 800 pages that change every few minutes, over real HTTP.
One answer in forty is a fault (an error, a reset, half a body, a stall, a 429), and every few
minutes the crawl is killed (SIGKILL) or stopped (SIGTERM), and started anew on the same state.
Memory is read every second; the truth is known, so freshness is exact.

Virtual: the same engine in virtual time, with its state on disk, for months. Memory at the end of
each month, and true freshness beside what the plans of that month promised.

Bars: no start fails and no state is damaged; memory does not grow from month to month or with a
life's length; true freshness within 2 points of the plan's promise once rates are learned.

    python bench/soak.py                            an hour
    python bench/soak.py --minutes 5                a look
    python bench/soak.py --virtual --months 6       about ten minutes
"""

import argparse
import asyncio
import gc
import json
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np
from aiohttp import web as http

from recrawl.crawler.ports import EventSink
from recrawl.crawler.settings import Settings
from recrawl.crawler.wiring.crawls import run_virtual_crawl
from recrawl.crawler.wiring.stores import open_frontier
from recrawl.simulation.fetcher import SiteFetcher
from recrawl.simulation.server import make_app
from recrawl.simulation.site import ServedSite, Site
from recrawl.simulation.truth import TruthMeter
from recrawl.simulation.web import DAY_S, SyntheticWeb, WebShape

FAULTS = 1 / 40
N_PAGES = 800
SPEED = (
    600.0  # of the virtual web; what the engine does every second is then done every ten minutes
)
CONFIG = """
seeds = [{seeds}]
contact = "mailto:bench@site.test"
budget = "{budget}/s"
robots = 8
state = "state"
[politeness]
delay = "50ms"
allow_private = ["*.localhost"]
first_backoff = "1s"
longest_backoff = "10s"
[fetch]
timeout = "3s"
[revisit]
min_interval = "5s"
max_interval = "30m"
initial_interval = "2m"
confirm_after = "10s"
listings = "1m"
[plan]
replan = "20s"
typical_change = "10m"
"""

Handler = Callable[[http.Request], Awaitable[http.StreamResponse]]


@http.middleware
async def faulty(request: http.Request, handler: Handler) -> http.StreamResponse:
    """Answer one request in forty as servers should not."""
    draw = random.random()
    if draw > FAULTS or request.path == "/robots.txt":
        return await handler(request)
    kind = random.choice(["error", "reset", "half", "stall", "throttle"])
    if kind == "error":
        return http.Response(status=random.choice([500, 502, 503]))
    if kind == "throttle":
        return http.Response(status=429, headers={"Retry-After": "1"})
    if kind == "stall":
        await asyncio.sleep(5.0)
    if kind == "half":
        half = http.StreamResponse(headers={"Content-Length": "5000", "Content-Type": "text/html"})
        await half.prepare(request)
        await half.write(b"<title>half</title>" + b"x" * 1000)
    if request.transport is not None:  # else the crawler has hung up first
        request.transport.abort()
    return http.Response()


class _Unkept(list[float]):
    """What was asked when is not counted here, for as long as this may run."""

    def append(self, _: float, /) -> None:
        pass


async def serve(shape: WebShape, seed: int, epoch_s: float) -> None:
    """Serve the web until killed; the port is the first line printed."""
    sites: dict[str, ServedSite] = {}
    app = make_app(sites, time.time, _Unkept())
    app.middlewares.append(faulty)
    runner = http.AppRunner(app, access_log=None, handle_signals=False)
    await runner.setup()
    await http.TCPSite(runner, "127.0.0.1", 0).start()
    port = runner.addresses[0][1]
    sites["site"] = Site(SyntheticWeb(shape, seed), epoch_s=epoch_s, port=port)
    print(port, flush=True)
    await asyncio.Event().wait()


def memory_mb(pid: int) -> float:
    """Return what a process holds."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS")), 0.0)


def live(
    folder: Path, until_s: float, chance: random.Random, mean_s: float
) -> tuple[str, float, list[float]]:
    """Run one life of the crawler; return how it ended, its seconds, its memory over time."""
    crawler = subprocess.Popen(
        [sys.executable, "-m", "recrawl", "run", "--quiet", "--log", "events.jsonl"],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    started_s, held = time.time(), []
    ends_s = min(started_s + 20.0 + chance.expovariate(1 / mean_s), until_s)
    while time.time() < ends_s and crawler.poll() is None:
        time.sleep(1.0)
        held.append(memory_mb(crawler.pid))
    if crawler.poll() is not None:
        told = crawler.stdout.read() if crawler.stdout else ""
        sys.exit(f"it ended by itself with {crawler.returncode}: {told[-2000:]}")
    ending = "stopped" if ends_s >= until_s or chance.random() < 0.3 else "killed"
    crawler.send_signal(signal.SIGTERM if ending == "stopped" else signal.SIGKILL)
    code = crawler.wait(20)
    if ending == "stopped" and code:
        sys.exit(f"an orderly stop ended with {code}")
    check(folder)
    return ending, time.time() - started_s, held


def check(folder: Path) -> None:
    """Look whether the state is whole."""
    with sqlite3.connect(folder / "state" / "state.sqlite3") as database:
        if (found := database.execute("PRAGMA quick_check").fetchone()[0]) != "ok":
            sys.exit(f"the state is damaged: {found}")


def real(minutes: float, seed: int, mean_s: float) -> None:
    """Crawl, kill, start again; then tell."""
    epoch_s = time.time() - 60.0
    days = (minutes + 10.0) / 1440.0
    shape = WebShape(N_PAGES, 8, days, mean_changes_per_day=600.0, burst=0.0)
    budget = N_PAGES * shape.mean_changes_per_day / DAY_S
    told = json.dumps({"shape": asdict(shape), "seed": seed, "epoch_s": epoch_s})
    server = subprocess.Popen([sys.executable, __file__, "--serve", told], stdout=subprocess.PIPE)
    assert server.stdout is not None
    port = int(server.stdout.readline())
    site = Site(SyntheticWeb(shape, seed), epoch_s=epoch_s, port=port)
    chance, lives = random.Random(seed), []
    try:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            seeds = ", ".join(f'"{host}/"' for host in site.hosts)
            config = CONFIG.format(seeds=seeds, budget=f"{budget:.3f}")
            (folder / "recrawl.toml").write_text(config, encoding="utf-8")
            started_s = time.time()
            while time.time() < started_s + 60.0 * minutes - 30.0:
                lives.append(live(folder, started_s + 60.0 * minutes, chance, mean_s))
            tell_real(folder, site, started_s, time.time(), lives)
    finally:
        server.kill()


def tell_real(
    folder: Path, site: Site, start_s: float, end_s: float,
    lives: list[tuple[str, float, list[float]]],
) -> None:  # fmt: skip
    """Print what the hour was like."""
    truth, outcomes, plans = TruthMeter(site), Counter(), []
    for line in (folder / "events.jsonl").read_text(encoding="utf-8").splitlines():
        try:
            event = json.loads(line)
        except ValueError:  # the last line of a killed life
            continue
        if event["event"] == "visit":
            truth.emit("visit", event)
            outcomes[event["outcome"]] += 1
        elif event["event"] == "plan":
            plans.append(event["freshness"])
    endings = Counter(ending for ending, *_ in lives)
    print(f"{(end_s - start_s) / 60:.0f} minutes, {len(lives)} lives ({dict(endings)})")
    print("visits:", dict(outcomes.most_common()))
    steady = [held[len(held) // 2 :] for _, _, held in lives if len(held) > 120]
    growth = [np.polyfit(range(len(held)), held, 1)[0] * 60.0 for held in steady]
    print(
        f"memory: {max(max(held) for _, _, held in lives if held):.0f} MB at most; in the second "
        f"half of lives over two minutes it grows by {np.mean(growth):.2f} MB a minute on average"
    )
    half_s = 0.5 * (start_s + end_s)
    late = truth.over(half_s, end_s)
    promised = float(np.mean(plans[len(plans) // 2 :]))
    print(f"second half: true freshness {late.freshness:.3f}, promised by the plans {promised:.3f}")


class Months(EventSink):
    """Hears a virtual crawl, and looks at it at the end of each month."""

    def __init__(self, site: Site, epoch_s: float) -> None:
        self.truth = TruthMeter(site)
        self.plans: list[tuple[float, float]] = []
        self.memory_mb: list[float] = []
        self.visits = 0
        self._epoch_s = epoch_s

    def emit(self, event: str, fields: Mapping[str, object]) -> None:
        """Take note."""
        self.truth.emit(event, fields)
        if event == "plan":
            freshness = fields["freshness"]
            assert isinstance(freshness, float)
            self.plans.append((self._now_s, freshness))
        if event != "visit":
            return
        self.visits += 1
        at_s = fields["at_s"]
        assert isinstance(at_s, float)
        self._now_s = at_s
        while at_s >= self._epoch_s + 30.0 * DAY_S * (len(self.memory_mb) + 1):
            gc.collect()
            self.memory_mb.append(memory_mb(resource_pid()))

    _now_s = 0.0


def resource_pid() -> int:
    """Return this process's number."""
    return int(Path("/proc/self/stat").read_text(encoding="utf-8").split()[0])


def virtual(months: int, seed: int) -> None:
    """Crawl for months in virtual time."""
    shape = WebShape(400, 4, 30.0 * months + 1.0, born=0.02, moved=0.01, gone=0.02)
    epoch_s = 1_800_000_000.0
    site = Site(SyntheticWeb(shape, seed), epoch_s=epoch_s)
    months_seen = Months(site, epoch_s)
    started = time.monotonic()
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        settings = Settings(
            seeds=tuple(f"{host}/" for host in site.hosts), contact="mailto:bench@site.test",
            state=Path(name), budget_per_s=0.5 * 400 / DAY_S, burst_s=3600.0, n_robots=8,
            hosts=tuple(host.partition("://")[2] for host in site.hosts), delay_s=1.0,
            min_interval_s=1800.0, max_interval_s=30 * DAY_S, initial_interval_s=DAY_S,
            confirm_s=0.25 * DAY_S, replan_s=0.5 * DAY_S, prior_rate_per_s=0.3 / DAY_S,
        )  # fmt: skip
        frontier = open_frontier(settings.state)
        end_s = epoch_s + 30.0 * DAY_S * months
        run_virtual_crawl(
            settings, lambda clock: SiteFetcher(site, clock, access_s=0.003 * SPEED),
            events=months_seen, epoch_s=epoch_s, until_s=end_s, speed=SPEED, frontier=frontier,
        )  # fmt: skip
        frontier.close()
    print(f"{months} months, {months_seen.visits:,} visits, {time.monotonic() - started:.0f} s")
    print(f"{'month':>5}{'true freshness':>16}{'by weight':>11}{'promised':>10}{'MB':>7}")
    for month in range(months):
        first, last = (epoch_s + 30.0 * DAY_S * (month + step) for step in (0, 1))
        true = months_seen.truth.over(first, last)
        promised = [value for at_s, value in months_seen.plans if first <= at_s < last]
        held = months_seen.memory_mb[month] if month < len(months_seen.memory_mb) else float("nan")
        print(
            f"{month + 1:5}{true.freshness:16.3f}{true.weighted:11.3f}"
            f"{np.mean(promised):10.3f}{held:7.0f}"
        )
    print(f"at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def main() -> None:
    """Choose, run, tell."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--virtual", action="store_true")
    parser.add_argument("--months", type=int, default=6)
    parser.add_argument("--life", type=float, default=180.0, help="mean seconds of a life")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.serve:
        told = json.loads(chosen.serve)
        asyncio.run(serve(WebShape(**told["shape"]), told["seed"], told["epoch_s"]))
    elif chosen.virtual:
        virtual(chosen.months, chosen.seed)
    else:
        real(chosen.minutes, chosen.seed, chosen.life)


if __name__ == "__main__":
    main()
