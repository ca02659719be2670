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
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from recrawl.crawler.facts import InstantFacts, SettingsFacts, SolvedFacts
from recrawl.crawler.ports import AdmissionLimits
from recrawl.crawler.wiring.indexes import open_index
from recrawl.crawler.wiring.stores import open_frontier
from recrawl.terms import Discovery, Document, Kind, Outcome, PageState, PageUpdate, PlanRecord
from recrawl.terms import Visit as Seen
from serve_site import WEIGHTS, WORDS

DAY_S = 86_400.0
SETTLED_S = 12.0  # of a crawl, until it knows its pages
STARTED_S = 120.0  # by when pages are served, or never


def write_state(directory: Path, n: int) -> None:
    """Write a crawl of n pages on ten hosts, with 120 words each: often the common ones."""
    draw = random.Random(1)
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
    frontier.save_plan(plan)
    frontier.save_crawl_rates(plan, pages.page_ids, rates, pages.due_s)
    frontier.save_facts(
        InstantFacts(now_s=now_s),
        SettingsFacts(
            budget_per_s=0.5 * n / DAY_S, delay_s=1.0, robots=8, buffer_capacity=32,
            starvation_weight=1.0, min_interval_s=600.0, max_interval_s=30 * DAY_S,
        ),
        SolvedFacts(fetch_rate=0.5, index_rate=3.0),
    )  # fmt: skip
    frontier.close()
    index = open_index(directory)
    for url in urls:
        text = " ".join(draw.choices(WORDS, cum_weights=WEIGHTS, k=120))
        title = " ".join(draw.choices(WORDS, cum_weights=WEIGHTS, k=3)).title()
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


async def get(port: int, path: str) -> tuple[float, bytes]:
    """Ask once; return how long it took, and the answer."""
    started_s = time.perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
    told = await reader.read()
    writer.close()
    assert told.startswith(b"HTTP/1.1 200"), told[:200]
    return time.perf_counter() - started_s, told.partition(b"\r\n\r\n")[2]


def show(name: str, times_s: list[float], cpu_ms: float | None = None) -> None:
    ordered = sorted(1000 * value for value in times_s)
    places = [
        ordered[min(int(len(ordered) * part), len(ordered) - 1)] for part in (0.5, 0.95, 0.99)
    ]
    told = "  ".join(f"{value:8.1f}" for value in (*places, ordered[-1]))
    used = "" if cpu_ms is None else f"  {cpu_ms:8.1f}"
    print(f"{name:<34} {len(ordered):7,}  {told}{used}", flush=True)


def queries(draw: random.Random) -> Iterator[str]:
    """Yield what people might look for: one to three words, mostly rarer than the commonest."""
    while True:
        n = draw.choices((1, 2, 3), (3, 5, 2))[0]
        yield "+".join(draw.choices(WORDS, cum_weights=WEIGHTS, k=n))


async def alone(port: int, pid: int) -> None:
    """Searches and what-ifs one after the other, on an idle machine."""
    await get(port, "/api/what-if")  # and the plan's compiled loops are loaded
    draw = random.Random(2)
    print(
        f"{'milliseconds':<34} {'asked':>7}  {'median':>8}  {'95 %':>8}  {'99 %':>8}  {'most':>8}"
        f"  {'CPU each':>8}"
    )
    common = WORDS[:11]
    pairs = [f"/?q={one}+{other}" for one in common for other in common if one != other]
    asked = {
        "as people ask": [f"/?q={text}" for text in islice(queries(draw), 500)],
        "one of the commonest words": [f"/?q={word}" for word in common * 10],
        "two of the commonest words": pairs,
        "the commonest words in quotes": [f"/?q=%22{path[4:]}%22" for path in pairs],
        "eight of the commonest words": [
            f"/?q={'+'.join(draw.sample(common, 8))}" for _ in range(50)
        ],
        "a common word, host and age": [
            f"/?q={word}&host=h{number}.test&age=week" for word in common for number in range(10)
        ],
        "the last page of hits": [f"/?q={word}&page=100" for word in common],
        "nothing found, with suggestion": [
            f"/?q={draw.choice(common)[:-1]}x+zzz{number}" for number in range(50)
        ],
        "what-if": [f"/api/what-if?budget={draw.randrange(10_000, 200_000)}/d" for _ in range(30)],
    }
    for name, paths in asked.items():
        used_s = cpu_s(pid)
        times_s = [(await get(port, path))[0] for path in paths]
        show(name, times_s, 1000 * (cpu_s(pid) - used_s) / len(times_s))
        await asyncio.sleep(1.0)  # or it would be too many requests at once


async def searches(port: int, per_s: float, seconds: float, readers: int = 64) -> list[float]:
    """Ask at a steady rate over kept connections; return how long each took since it was due."""
    asked = queries(random.Random(3))
    started_s, n = time.perf_counter(), int(per_s * seconds)
    numbers = iter(range(n))
    times_s: list[float] = []
    refused = 0

    async def read() -> None:
        nonlocal refused
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for number in numbers:
            due_s = started_s + number / per_s
            wait_s = due_s - time.perf_counter()
            if wait_s > 0:
                await asyncio.sleep(wait_s)
            writer.write(f"GET /?q={next(asked)} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"(?i)content-length: (\d+)", head)
            assert length is not None, head
            await reader.readexactly(int(length[1]))
            if head.startswith(b"HTTP/1.1 200"):
                times_s.append(time.perf_counter() - due_s)
            else:
                refused += 1
        writer.close()

    await asyncio.gather(*(read() for _ in range(readers)))
    took_s = time.perf_counter() - started_s
    print(f"answered {len(times_s):,} of {n:,}, {len(times_s) / took_s:.0f} a second; "
          f"refused {refused:,}")  # fmt: skip
    return times_s


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


@dataclass(frozen=True)
class Crawled:
    """What a crawl did within some seconds, and what it took."""

    fetches: int
    seconds: float
    cpu_s: float

    def __str__(self) -> str:
        return (
            f"{self.fetches / self.seconds:.1f} fetches/s at {self.cpu_s / self.seconds:.0%} of a "
            f"core, {1000 * self.cpu_s / max(self.fetches, 1):.2f} ms each"
        )


def crawl(directory: Path, seconds: float, *, load: bool, per_s: float, budget: str) -> Crawled:
    """Crawl a web on this machine with `run --serve`; say what it did, with or without load."""
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
            f'contact = "mailto:bench@localhost"\nbudget = "{budget}"\nrobots = 16\n'
            '[politeness]\ndelay = "10ms"\nallow_private = ["*.localhost"]\n'
            '[revisit]\nmin_interval = "1s"\ninitial_interval = "1s"\nmax_interval = "20s"\n'
        )
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [sys.executable, "-m", "recrawl", "run", str(config), "-q"]
        command += ["--serve", "--port", str(port)]
        crawling = stack.enter_context(subprocess.Popen(command))
        stack.callback(crawling.send_signal, signal.SIGINT)
        until_s = time.monotonic() + SETTLED_S
        pages = pages_of(crawling, port)
        time.sleep(max(until_s - time.monotonic(), 0.0))
        begun, used_s, at_s = fetched(port), cpu_s(crawling.pid), time.perf_counter()
        if load:
            served_s = cpu_s(pages)
            took = asyncio.run(searches(port, per_s, seconds))
            each = 1000 * (cpu_s(pages) - served_s) / max(len(took), 1)
            show(f"{per_s:.0f} searches/s beside a crawl", took)
            print(f"the pages' process used {each:.2f} ms a search")
        else:
            time.sleep(seconds)
        span_s = time.perf_counter() - at_s
        return Crawled(fetched(port) - begun, span_s, cpu_s(crawling.pid) - used_s)


def pages_of(crawling: subprocess.Popen[bytes], port: int) -> int:
    """Wait until the pages of a crawl are served, and return the process that serves them.

    On a busy machine that takes longer than the crawl takes to begin.
    """
    until_s = time.monotonic() + STARTED_S
    while True:
        try:
            fetched(port)
        except (OSError, AssertionError) as error:
            if crawling.poll() is not None or time.monotonic() > until_s:
                how = "ended" if crawling.poll() is not None else f"serves nothing on {port}"
                raise SystemExit(f"the crawl {how}: {error}") from error
            time.sleep(0.1)
        else:
            break
    children = Path(f"/proc/{crawling.pid}/task/{crawling.pid}/children").read_text().split()
    (pages,) = (pid for pid in children if b"serve" in Path(f"/proc/{pid}/cmdline").read_bytes())
    return int(pages)


def fetched(port: int) -> int:
    """Return the fetches of a crawl up to now."""
    told = json.loads(asyncio.run(get(port, "/api/status"))[1])
    return int(sum(told["fetches"].values()))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--pages", type=int, default=100_000)
    arguments.add_argument("--seconds", type=float, default=60.0)
    arguments.add_argument("--per-second", type=float, default=200.0)
    arguments.add_argument("--only-crawl", action="store_true", help="leave out the large state")
    arguments.add_argument("--budget", action="append", help="of the crawl; may be repeated")
    arguments.add_argument("--dashboards", type=int, default=100)
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as place:
        if not chosen.only_crawl:
            state = Path(place) / "state"
            write_state(state, chosen.pages)
            with server(state) as (port, pid):
                asyncio.run(alone(port, pid))
                asyncio.run(dashboards(port, pid, chosen.dashboards, chosen.seconds))
        for budget in chosen.budget or ("100/s", "10000/s"):
            print(f"a crawl with a budget of {budget}")
            did = {}
            for load in (False, True):
                folder = Path(place) / f"crawl-{budget.replace('/', '-')}-{load}"
                folder.mkdir()
                did[load] = crawl(
                    folder, chosen.seconds, load=load, per_s=chosen.per_second, budget=budget
                )
                print(f"  {'with' if load else 'without'} the searches: {did[load]}", flush=True)
            pace = {load: one.fetches / one.seconds for load, one in did.items()}
            print(f"  fetches: {pace[True] / pace[False] - 1:+.1%}")


if __name__ == "__main__":
    main()
