"""The pages under load: searches beside a running crawl, and many open dashboards.

The bars: a search on 100,000 pages takes under 50 ms; a what-if on as many under 200 ms; 200
searches a second for a minute slow a running crawl by less than 10 %; a hundred dashboards for a
minute leave the server's memory flat.

    python bench/serve.py --pages 100000 --seconds 60
"""

import argparse
import asyncio
import contextlib
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from recrawl.ports import AdmissionLimits
from recrawl.terms import Discovery, Document, Kind, Outcome, PageState, PageUpdate, PlanRecord
from recrawl.terms import Visit as Seen
from recrawl.wiring.stores import open_frontier, open_index

DAY_S = 86_400.0
WORDS = "quiet lantern harbour story paper engine golden river meadow signal archive".split()


def write_state(directory: Path, n: int) -> None:
    """Write a crawl of n pages on ten hosts, with twelve words from 5,000 each and more."""
    draw = random.Random(1)
    vocabulary = WORDS + [f"word{number}" for number in range(5_000)]
    frontier, now_s = open_frontier(directory), time.time()
    urls = [f"http://h{number % 10}.test/{number}" for number in range(n)]
    found = [Discovery(url, url[: url.find("/", 9)], Kind.PAGE) for url in urls]
    hosts = frontier.admit(found, now_s - 5 * DAY_S, AdmissionLimits())
    for host in hosts:
        leases = frontier.lease(
            host, limit=n, due_by_s=now_s, now_s=now_s - 4 * DAY_S, until_s=now_s
        )
        frontier.complete(
            [
                PageUpdate(
                    lease,
                    Seen(
                        now_s - draw.uniform(0, 3) * DAY_S, Outcome.NEW, 200, None, None, 0.1, 900
                    ),
                    PageState.INDEXED,
                    due_s=now_s + draw.uniform(0, 3) * DAY_S,
                    signature=b"s",
                    title=lease.url,
                )
                for lease in leases
            ]
        )
    pages = frontier.planned_pages()
    rates = np.random.default_rng(1).gamma(0.6, 1.0, len(pages.page_ids)) / DAY_S + 1e-9
    frontier.save_change_rates(pages.page_ids, rates, np.full(len(rates), 1.6))
    plan = PlanRecord(now_s, len(rates), 0.5 * n / DAY_S, 1.0, 0.8, 0)
    frontier.save_plan(plan, pages.page_ids, rates, pages.due_s)
    frontier.save_facts(
        {
            "now_s": now_s, "budget_per_s": 0.5 * n / DAY_S, "delay_s": 1.0, "robots": 8,
            "buffer_capacity": 32, "starvation_weight": 1.0, "min_interval_s": 600.0,
            "max_interval_s": 30 * DAY_S, "control_fetch_rate": 0.5, "control_index_rate": 3.0,
        }
    )  # fmt: skip
    frontier.close()
    index = open_index(directory)
    for url in urls:
        text = " ".join(draw.choices(vocabulary, k=60)) + " " + " ".join(draw.choices(WORDS, k=3))
        title = " ".join(draw.choices(WORDS, k=2)).title()
        index.replace(Document(url, title, text, now_s - DAY_S, b"s"))
    index.commit()
    index.close()


@contextlib.contextmanager
def server(directory: Path) -> Iterator[tuple[int, int]]:
    """Run `recrawl serve`; give its port and process."""
    command = [sys.executable, "-m", "recrawl", "serve", "--state", str(directory), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        match = re.search(r":(\d+)/", process.stderr.readline())
        assert match
        try:
            yield int(match[1]), process.pid
        finally:
            process.send_signal(signal.SIGINT)


def memory_mib(pid: int) -> float:
    """Return what a process holds now."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def cpu_s(pid: int) -> float:
    """Return the processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def get(port: int, path: str, refused: list[bytes] | None = None) -> tuple[float, bytes]:
    """Ask once; return how long it took, and the answer."""
    started_s = time.perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
    told = await reader.read()
    writer.close()
    assert told.startswith(b"HTTP/1.1 200") or refused is not None, told[:200]
    if not told.startswith(b"HTTP/1.1 200") and refused is not None:
        refused.append(told[:12])
    return time.perf_counter() - started_s, told.partition(b"\r\n\r\n")[2]


def show(name: str, times_s: list[float]) -> None:
    ordered = sorted(1000 * value for value in times_s)
    places = [
        ordered[min(int(len(ordered) * part), len(ordered) - 1)] for part in (0.5, 0.95, 0.99)
    ]
    told = "  ".join(f"{value:8.1f}" for value in (*places, ordered[-1]))
    print(f"{name:<34} {len(ordered):7,}  {told}", flush=True)


async def alone(port: int) -> None:
    """Searches and what-ifs one after the other, on an idle machine."""
    await get(port, "/api/what-if")
    draw = random.Random(2)
    print(
        f"{'milliseconds':<34} {'asked':>7}  {'median':>8}  {'95 %':>8}  {'99 %':>8}  {'most':>8}"
    )
    show("one word, page", [(await get(port, f"/?q={draw.choice(WORDS)}"))[0] for _ in range(200)])
    two = [f"/?q={draw.choice(WORDS)}+word{draw.randrange(5000)}" for _ in range(200)]
    show("two words, page", [(await get(port, path))[0] for path in two])
    narrow = [f"/?q={draw.choice(WORDS)}&host=h{draw.randrange(10)}.test&age=week" for _ in two]
    show("one word, host and age", [(await get(port, path))[0] for path in narrow])
    wrong = [f"/?q={draw.choice(WORDS)[:-1]}x+zzz" for _ in range(50)]
    show("nothing found, with suggestion", [(await get(port, path))[0] for path in wrong])
    asked = [f"/api/what-if?budget={draw.randrange(10_000, 200_000)}/d" for _ in range(30)]
    show("what-if", [(await get(port, path))[0] for path in asked])


async def searches(port: int, per_s: float, seconds: float) -> list[float]:
    """Ask at a steady rate whatever comes back, and return how long each took."""
    draw = random.Random(3)
    started_s, tasks = time.perf_counter(), []
    refused: list[bytes] = []
    for number in range(int(per_s * seconds)):
        wait_s = started_s + number / per_s - time.perf_counter()
        if wait_s > 0:
            await asyncio.sleep(wait_s)
        path = f"/?q={draw.choice(WORDS)}+{draw.choice(WORDS)}"
        tasks.append(asyncio.create_task(get(port, path, refused)))
    times_s = [took_s for took_s, _ in await asyncio.gather(*tasks)]
    if refused:
        print(f"refused, for too many waited: {len(refused)} of {len(tasks)}")
    return times_s[: len(tasks) - len(refused)]


async def watch(port: int, until_s: float) -> int:
    """Keep a dashboard open; return the bytes that it was sent."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /api/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    n = 0
    with contextlib.suppress(TimeoutError):
        while (left_s := until_s - time.perf_counter()) > 0:
            n += len(await asyncio.wait_for(reader.read(65_536), left_s))
    writer.close()
    return n


async def dashboards(port: int, pid: int, n: int, seconds: float) -> None:
    """Open n dashboards, and look at the server's memory meanwhile."""
    await watch(port, time.perf_counter() + 8.0)
    until_s = time.perf_counter() + seconds
    watching = [asyncio.create_task(watch(port, until_s)) for _ in range(n)]
    used_s, told = cpu_s(pid), []
    for _ in range(6):
        await asyncio.sleep(seconds / 6.0 - 0.1)
        told.append(memory_mib(pid))
    sent = sum(await asyncio.gather(*watching))
    print(
        f"{n} dashboards for {seconds:.0f} s: memory {' '.join(f'{mib:.1f}' for mib in told)} MiB, "
        f"{(cpu_s(pid) - used_s) / seconds:.1%} of a core, "
        f"{sent / n / seconds / 1024:.1f} KiB/s each"
    )


def crawl(directory: Path, seconds: float, *, load: bool, per_s: float) -> int:
    """Crawl a web on this machine with all its might; return the fetches, with or without load."""
    site = Path(__file__).with_name("serve_site.py")
    with contextlib.ExitStack() as stack:
        web = stack.enter_context(
            subprocess.Popen([sys.executable, str(site)], stdout=subprocess.PIPE, text=True)
        )
        stack.callback(web.terminate)
        assert web.stdout is not None
        web_port = int(web.stdout.readline())
        hosts = [f"h{number}.localhost:{web_port}" for number in range(20)]
        config = directory / "recrawl.toml"
        config.write_text(
            f"seeds = {json.dumps([f'http://{host}/' for host in hosts])}\n"
            'contact = "mailto:bench@localhost"\nbudget = "100/s"\nrobots = 16\n'
            '[politeness]\ndelay = "10ms"\nallow_private = ["*.localhost"]\n'
            '[revisit]\nmin_interval = "1s"\ninitial_interval = "1s"\nmax_interval = "20s"\n'
        )
        command = [sys.executable, "-m", "recrawl", "run", str(config), "-q", "--json"]
        command += ["--for", f"{seconds + 8:.0f}s"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as crawling:
            time.sleep(5.0)
            with server(directory / "recrawl-state") as (port, pid):
                time.sleep(3.0)
                if load:
                    used_s = cpu_s(pid)
                    took = asyncio.run(searches(port, per_s, seconds))
                    print(f"the server used {(cpu_s(pid) - used_s) / len(took):.2g} s a search")
                    show(f"{per_s:.0f} searches/s beside a crawl", took)
                else:
                    time.sleep(seconds)
                told = json.loads(crawling.communicate()[0])
    return sum(told["fetches"].values())


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--pages", type=int, default=100_000)
    arguments.add_argument("--seconds", type=float, default=60.0)
    arguments.add_argument("--per-second", type=float, default=200.0)
    arguments.add_argument("--only-crawl", action="store_true", help="leave out the large state")
    arguments.add_argument("--dashboards", type=int, default=100)
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as place:
        if not chosen.only_crawl:
            state = Path(place) / "state"
            write_state(state, chosen.pages)
            with server(state) as (port, pid):
                asyncio.run(alone(port))
                asyncio.run(dashboards(port, pid, chosen.dashboards, chosen.seconds))
        counts = {}
        for load in (False, True):
            folder = Path(place) / f"crawl-{load}"
            folder.mkdir()
            counts[load] = crawl(folder, chosen.seconds, load=load, per_s=chosen.per_second)
        print(
            f"fetches without and with the searches: {counts[False]:,} and {counts[True]:,} "
            f"({counts[True] / counts[False] - 1:+.1%})"
        )


if __name__ == "__main__":
    main()
