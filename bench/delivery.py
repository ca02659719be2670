"""Delivery: how fast it is, what it costs the crawl, and what kills in the midst of it do.

Bars: 100,000 changes with their texts are in PostgreSQL at 5,000 a second of one core (the time of
our process; the server's is not counted). A crawl is slowed by less than 5 % by three sinks, one of
them dead. After 200 kills of recrawl, and of the database among them, every sink holds what
the index holds, each change has had its effect once, and the changes of a page came in order.

    python bench/delivery.py                    all, with 20 kills
    python bench/delivery.py --kills 200        as the bar says; about 10 minutes
    python bench/delivery.py --only rate        one of rate, crawl, kills

Needs PostgreSQL's programs (Debian: postgresql) and recrawl[postgresql].
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.crawl_speed import N_HOSTS
from tests.acceptance.test_deliver import kill_in_delivery
from tests.postgres import postgres

from recrawl.crawler.frontier.sqlite import SqliteFrontier
from recrawl.crawler.index.tantivy import TantivyIndex
from recrawl.crawler.ports import AdmissionLimits
from recrawl.crawler.reports.content import content_as
from recrawl.crawler.settings import SinkSettings
from recrawl.crawler.wiring.deliveries import open_courier
from recrawl.terms import Discovery, Document, Outcome, PageState, PageUpdate, Visit

HOST = "http://a.test"
TEXT = "The quick brown fox jumps over the lazy dog, and says so in a page of some length. " * 25
CRAWL = """
seeds = ["http://127.0.0.1:{port}/page/0.html"]
contact = "mailto:bench@site.test"
budget = "100000/s"
robots = 16
state = "state"
[scope]
hosts = [{hosts}]
max_depth = 100
[politeness]
delay = "0s"
allow_private = [{hosts}]
"""


def filled(state: Path, n_pages: int) -> None:
    """Write a state of so many pages, as a crawl does."""
    frontier, index = SqliteFrontier(state), TantivyIndex(state / "index", language="none")
    for first in range(0, n_pages, 5_000):
        urls = [f"{HOST}/{number}" for number in range(first, min(first + 5_000, n_pages))]
        frontier.admit([Discovery(url, HOST) for url in urls], 1e9, AdmissionLimits(2**40, 2**40))
        leases = frontier.lease(1, limit=len(urls), due_by_s=1e12, now_s=1e9, until_s=1e10)
        updates = []
        for lease in leases:
            mark = lease.url.encode()
            index.replace(Document(lease.url, "A title", f"{TEXT} {lease.url}", 1e9, mark))
            updates.append(
                PageUpdate(
                    lease, Visit(1e9, Outcome.NEW), PageState.INDEXED, 1e13, signature=mark,
                    title="A title",
                )
            )  # fmt: skip
        index.commit()
        frontier.complete(updates, 1e9)
    index.close()
    frontier.close()


def rate(n_changes: int) -> None:
    """Deliver to PostgreSQL, and say how many a second."""
    with tempfile.TemporaryDirectory() as folder, postgres() as server:
        state = Path(folder) / "state"
        filled(state, n_changes)
        sink = SinkSettings("pg", "postgresql", server.address, batch=500)
        with open_courier(state, sink, content_as) as courier:
            began, cpu = time.perf_counter(), time.process_time()
            while courier.deliver() == 0.0:
                pass
            took_s, cpu_s = time.perf_counter() - began, time.process_time() - cpu
            found = courier.verify()
        assert found is not None
        assert (found.pages, found.n_apart) == (n_changes, 0), found
        told = f"{n_changes / cpu_s:,.0f} a second of one core, {n_changes / took_s:,.0f} a second"
        verdict = "met" if n_changes / cpu_s >= 5_000 else "missed"
        print(f"rate: {n_changes:,} changes of {len(TEXT):,} characters: {told}; bar {verdict}")


def crawl(n_pages: int, rounds: int) -> None:
    """Crawl a local site with three sinks and without, one after the other."""
    server = subprocess.Popen(
        [sys.executable, Path(__file__).with_name("crawl_speed.py"), "--serve", "--pages",
         str(n_pages)],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert server.stdout is not None
    port = int(server.stdout.readline())
    hosts = ", ".join(f'"127.0.0.{number + 1}"' for number in range(N_HOSTS))
    plain = CRAWL.format(port=port, hosts=hosts)
    took: dict[str, list[float]] = {"plain": [], "told": []}
    spent: dict[str, list[float]] = {"plain": [], "told": []}
    try:
        with postgres() as database:
            sinks = (
                f'[[deliver]]\nto = "{database.address}"\nname = "pg"\n'
                '[[deliver]]\nto = "out/{date}.ndjson.zst"\n'
                '[[deliver]]\nto = "http://127.0.0.1:9/"\n'
            )
            for _ in range(rounds):
                for name, config in (("plain", plain), ("told", plain + sinks)):
                    before = _spent_s()
                    took[name].append(_crawled(config))
                    spent[name].append(_spent_s() - before)
    finally:
        server.kill()
        server.wait()
    pairs = zip(took["plain"], took["told"], strict=True)
    slower = sorted(told / plain - 1.0 for plain, told in pairs)
    without, with_sinks = (statistics.median(took[name]) for name in ("plain", "told"))
    middle = statistics.median(slower)
    cpu = {name: statistics.median(spent[name]) for name in spent}
    print(
        f"processor time of crawl and couriers {cpu['plain']:.2f} s, with three sinks "
        f"{cpu['told']:.2f} s: {cpu['told'] / cpu['plain'] - 1.0:+.1%}"
    )
    print(
        f"crawl: {n_pages:,} pages in {without:.2f} s, with three sinks (one dead) "
        f"{with_sinks:.2f} s: pair by pair {middle:+.1%} ({slower[0]:+.0%} to {slower[-1]:+.0%}, "
        f"{rounds} pairs); bar {'met' if middle < 0.05 else 'missed'}"
    )


def _spent_s() -> float:
    """Return the processor time of all that we started and that has ended."""
    told = resource.getrusage(resource.RUSAGE_CHILDREN)
    return told.ru_utime + told.ru_stime


def _crawled(config: str) -> float:
    """Return the seconds from the first visit on record to the last."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        (Path(folder) / "recrawl.toml").write_text(config)
        command = [sys.executable, "-m", "recrawl", "run", "--once", "-q"]
        subprocess.run(command, cwd=folder, check=True, stdin=subprocess.DEVNULL)
        frontier = SqliteFrontier(Path(folder) / "state", read_only=True)
        first, last = frontier._db.execute(
            "SELECT min(visited_at_s), max(visited_at_s) FROM visit"
        ).fetchone()
        frontier.close()
    return float(last - first)


def kills(number: int) -> None:
    """Kill in the midst of deliveries, and look at every sink in the end."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        kill_in_delivery(Path(folder), number)
    print(f"kills: {number}; every sink holds what the index holds, each change once, in order")


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--only", choices=("rate", "crawl", "kills"))
    parser.add_argument("--changes", type=int, default=100_000)
    parser.add_argument("--pages", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kills", type=int, default=20)
    asked = parser.parse_args()
    os.environ.pop("RECRAWL_STATE", None)
    if asked.only in (None, "rate"):
        rate(asked.changes)
    if asked.only in (None, "crawl"):
        crawl(asked.pages, asked.rounds)
    if asked.only in (None, "kills"):
        kills(asked.kills)


if __name__ == "__main__":
    main()
