"""A large crawl for a long time: ten thousand hosts, a million known pages, the real engine.

Virtual time, state in SQLite and index in tantivy on a disk in memory, a web that is made up as it
is asked for: what is measured is the engine's own processor time and memory. Every page links to
others, pages change within two days, plans are made every virtual hour.

Bars: memory under 1.5 GiB all the time; the last visits cost no more than the first.

    python bench/many_hosts.py                                    100,000 visits
    python bench/many_hosts.py --hosts 500 --pages 50000 --visits 20000
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from recrawl.crawler.control.addresses.admission import Admission
from recrawl.crawler.control.addresses.scope import Scope
from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.control.answers.soft_errors import is_probe
from recrawl.crawler.control.dispatching.politeness import PolitenessRules
from recrawl.crawler.fetch.reading.in_place import InPlaceExtractor
from recrawl.crawler.frontier.sqlite import SqliteFrontier
from recrawl.crawler.ports import AdmissionLimits, EventSink, Fetcher
from recrawl.crawler.runtime.clock import LoopClock
from recrawl.crawler.runtime.crawl import Crawl, CrawlPlan
from recrawl.crawler.runtime.parts import Rules, World
from recrawl.crawler.runtime.virtual import run_virtually
from recrawl.crawler.wiring.indexes import open_index
from recrawl.crawler.wiring.threads import InPlace
from recrawl.terms import Discovery, FetchResponse, Kind

NOW_S = 1_800_000_000.0
WORDS = "river stone market window garden letter engine winter bridge candle forest harbour".split()


def memory_mb(name: str) -> float:
    """Return this process's VmRSS (now) or VmHWM (the most so far) in MB."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(float(line.split()[1]) / 1024 for line in lines if line.startswith(name))


def url_of(number: int, n_hosts: int) -> str:
    """Return the address of a page."""
    return f"http://host-{number % n_hosts}.test/part-{number % 89}/page-{number}.html"


class ManyHosts(Fetcher):
    """A web that is never written down."""

    def __init__(self, clock: LoopClock, n_hosts: int, n_pages: int) -> None:
        self._clock, self._n_hosts, self._n_pages = clock, n_hosts, n_pages

    async def fetch(
        self,
        url: str,
        *,
        etag: str | None = None,
        last_modified: str | None = None,
        max_bytes: int | None = None,
        truncate: bool = False,
        pages_only: bool = False,
    ) -> FetchResponse:
        """Answer after a tenth of a second."""
        await asyncio.sleep(0.1)
        if url.endswith("/robots.txt") or is_probe(url):
            return FetchResponse(url, 404)
        number = int(url.rpartition("-")[2].partition(".")[0])
        edition = int(self._clock.now_s() / 3600.0 + number) // 40
        mark = f'"{edition}"'
        if etag == mark:
            return FetchResponse(url, 304, etag=mark)
        links = "".join(
            f'<a href="{url_of((number * 7 + step) % self._n_pages, self._n_hosts)}">x</a>'
            for step in range(5)
        )
        text = " ".join(WORDS[(number + edition * step) % 12] for step in range(120))
        body = f"<title>page {number}</title><main>{text}{links}</main>"
        return FetchResponse(url, 200, body.encode(), "text/html", etag=mark)


class Looks(EventSink):
    """Counts visits, and looks at time and memory after every tenth of them."""

    def __init__(self, visits: int) -> None:
        self.visits, self.most = 0, visits
        self.plans = 0
        self.looks: list[tuple[float, float]] = []
        self.done = asyncio.Event()

    def emit(self, event: str, fields: Mapping[str, object]) -> None:
        """Take note."""
        self.plans += event == "plan"
        if event != "visit":
            return
        self.visits += 1
        if self.visits % max(self.most // 10, 1) == 0:
            self.looks.append((time.process_time(), memory_mb("VmRSS")))
        if self.visits >= self.most:
            self.done.set()


def admit(frontier: SqliteFrontier, n_pages: int, n_hosts: int, limits: AdmissionLimits) -> None:
    """Take every page in, as sitemaps do."""
    batch = 5_000
    for first in range(0, n_pages, batch):
        found = []
        for number in range(first, min(first + batch, n_pages)):
            url = url_of(number, n_hosts)
            found.append(Discovery(url, url[: url.index("/", 7)], Kind.PAGE, depth=1))
        frontier.admit(found, NOW_S, limits)


async def crawl_it(folder: Path, n_hosts: int, n_pages: int, visits: int) -> Looks:
    """Crawl until so many visits were made."""
    clock, looks, in_place = LoopClock(epoch_s=NOW_S), Looks(visits), InPlace()
    frontier, limits = SqliteFrontier(folder), AdmissionLimits(2 * n_pages, 2 * n_pages)
    started = time.process_time()
    admit(frontier, n_pages, n_hosts, limits)
    took_s = time.process_time() - started
    print(f"taken in: {took_s:.0f} s of processor time, {memory_mb('VmRSS'):.0f} MB", flush=True)
    index = open_index(folder)
    world = World(
        clock=clock, frontier=frontier, fetcher=ManyHosts(clock, n_hosts, n_pages),
        extractor=InPlaceExtractor("recrawl"), index=index, events=looks,
        on_state=in_place, on_work=in_place,
    )  # fmt: skip
    rules = Rules(
        agent="recrawl", admission=Admission(Scope(hosts=("*.test",))), limits=limits,
        revisit=RevisitRules(600.0, 30 * 86_400.0, 3_600.0), n_robots=200, buffer_capacity=256,
        replan_s=3_600.0, commit_s=30.0, prior_rate_per_s=1.0 / 86_400.0,
    )  # fmt: skip
    plan = CrawlPlan(20.0, PolitenessRules(delay_s=1.0))
    seeds = rules.admission.of([url_of(0, n_hosts)])
    crawl = Crawl(world, rules, plan, seeds=seeds, on_plan=in_place)
    await crawl.prepare()
    looks.looks.append((time.process_time(), memory_mb("VmRSS")))
    async with crawl.running():
        await looks.done.wait()
    index.close()
    frontier.close()
    return looks


def main() -> None:
    """Run it and print a line for every tenth."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--hosts", type=int, default=10_000)
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--visits", type=int, default=100_000)
    chosen = parser.parse_args()
    disk = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=disk) as name:
        crawled = crawl_it(Path(name), chosen.hosts, chosen.pages, chosen.visits)
        looks = run_virtually(crawled)
    print(f"{'visits':>10}{'ms a visit':>12}{'MB':>7}")
    share = max(chosen.visits // 10, 1)
    for place in range(1, len(looks.looks)):
        spent = looks.looks[place][0] - looks.looks[place - 1][0]
        print(f"{place * share:10,}{1000 * spent / share:12.2f}{looks.looks[place][1]:7.0f}")
    print(f"{looks.plans} plans; at most {memory_mb('VmHWM'):.0f} MB")


if __name__ == "__main__":
    main()
