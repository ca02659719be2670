"""Pages per CPU second of the whole pipeline, beside a loop that only fetches and two crawlers.

Bars: four times a tuned Scrapy (``CONCURRENT_ITEMS=2``, epoll reactor) and twice a tuned Crawlee
(its queue in memory) on 20,000 small pages of a local server, and 2,500 of them a CPU second; three
times that Scrapy on the manuals of Python, PostgreSQL and git behind nginx. recrawl fetches,
parses, extracts, signs, stores and indexes, and keeps all of it on disk; Scrapy and Crawlee fetch
and follow links and keep nothing; the bare loop (aiohttp and uvloop) fetches a list of addresses
that it was given.

Every contestant is a process of its own and pays for its start; the server's CPU is not counted.
recrawl's start and the plan that it makes at the end take as much as 2,000 pages do, so the figures
of a small site are about its start. All run after one another, ``--rounds`` times, and the best
round of each counts.

    python bench/crawl_speed.py                          20,000 pages, 2 rounds
    python bench/crawl_speed.py --pages 5000             where the start weighs
    python bench/crawl_speed.py --pages 500 --rounds 1   a quick look
    python bench/crawl_speed.py --manuals                pages that nobody here made

Peers: pip install -r bench/requirements.txt
Manuals: apt-get install nginx-light python3-doc postgresql-doc git-doc
"""

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

N_HOSTS = 20
N_ROBOTS = 16
MANUALS = (
    "/usr/share/doc/python3-doc/html",
    "/usr/share/doc/postgresql-doc-15/html",
    "/usr/share/doc/git-doc",
)
WORDS = (
    "river stone market window garden letter engine winter bridge candle forest harbour island "
    "journal kitchen ladder mirror needle orchard pocket quarter ribbon saddle timber umbrella "
    "valley wagon yellow zephyr anchor basket copper dragon ember feather glacier hammer ivory"
).split()


class Site:
    """Small pages on several loopback addresses; every page can be reached from the first."""

    def __init__(self, n_pages: int, port: int) -> None:
        self.n_pages = n_pages
        self.port = port
        self.bodies = [self._page(number) for number in range(n_pages)]

    def url(self, number: int) -> str:
        """Return the address of a page."""
        return f"http://127.0.0.{1 + number % N_HOSTS}:{self.port}/page/{number}.html"

    def _page(self, number: int) -> bytes:
        rng = random.Random(number)
        children = [n for n in (2 * number + 1, 2 * number + 2) if n < self.n_pages]
        targets = children + [rng.randrange(self.n_pages) for _ in range(8)]
        links = "".join(f'<li><a href="{self.url(n)}">page {n}</a></li>' for n in targets)
        text = "".join(
            f"<p>{' '.join(rng.choices(WORDS, k=60)).capitalize()}.</p>" for _ in range(6)
        )
        return (
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Page {number}'
            f"</title></head><body><nav><a href='/'>home</a></nav><main><h1>Page {number}</h1>"
            f"{text}<ul>{links}</ul></main><footer>made for a benchmark</footer></body></html>"
        ).encode()


class Answer(asyncio.Protocol):
    """The least HTTP server that keeps connections alive."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer every request whose head is complete."""
        *heads, self._rest = (self._rest + data).split(b"\r\n\r\n")
        for head in heads:
            path = head.split(b" ", 2)[1]
            number = path[6:-5]
            if path.startswith(b"/page/") and number.isdigit():
                status, body = b"200 OK", self._site.bodies[int(number)]
            else:
                status, body = b"404 Not Found", b""
            self._transport.write(
                b"HTTP/1.1 %b\r\nContent-Type: text/html; charset=utf-8\r\n"
                b"Content-Length: %d\r\n\r\n%b" % (status, len(body), body)
            )


async def serve(n_pages: int) -> None:
    """Serve until killed; the port is the first line printed."""
    loop = asyncio.get_running_loop()
    site: list[Site] = []
    server = await loop.create_server(lambda: Answer(site[0]), "0.0.0.0", 0)
    port = server.sockets[0].getsockname()[1]
    site.append(Site(n_pages, port))
    print(port, flush=True)
    await server.serve_forever()


RECRAWL = """
seeds = {seeds}
contact = "mailto:bench@site.test"
budget = "100000/s"
robots = {robots}
state = "state"
[scope]
hosts = {hosts}
max_depth = 100
[politeness]
delay = "0s"
allow_private = {hosts}
"""

BARE = """
import asyncio, sys
import aiohttp, uvloop

async def main():
    urls = iter(open(sys.argv[1]).read().split())
    done = 0
    async with aiohttp.ClientSession() as session:
        async def robot():
            nonlocal done
            for url in urls:
                async with session.get(url) as response:
                    await response.read()
                done += 1
        await asyncio.gather(*(robot() for _ in range(16)))
    print(done)

uvloop.run(main())
"""

SCRAPY = """
import sys
import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor

class Spider(scrapy.Spider):
    name = "bench"
    links = LinkExtractor(allow_domains=sys.argv[1].split(","))
    start_urls = sys.argv[2:]
    done = 0
    def parse(self, response):
        Spider.done += 1
        for link in self.links.extract_links(response):
            yield scrapy.Request(link.url, callback=self.parse)

process = CrawlerProcess({
    "TWISTED_REACTOR": "twisted.internet.epollreactor.EPollReactor",
    "CONCURRENT_ITEMS": 2, "CONCURRENT_REQUESTS": 16, "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    "DOWNLOAD_DELAY": 0, "ROBOTSTXT_OBEY": True, "LOG_LEVEL": "ERROR",
    "TELNETCONSOLE_ENABLED": False,
    "COOKIES_ENABLED": False, "RETRY_ENABLED": False,
})
process.crawl(Spider)
process.start()
print(Spider.done)
"""

CRAWLEE = """
import asyncio, logging, sys
from datetime import timedelta
from crawlee import ConcurrencySettings
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
from crawlee.storage_clients import MemoryStorageClient

async def main():
    done = 0
    crawler = ParselCrawler(
        concurrency_settings=ConcurrencySettings(
            min_concurrency=16, max_concurrency=16, desired_concurrency=16
        ),
        configure_logging=False,
        storage_client=MemoryStorageClient(),
    )
    @crawler.router.default_handler
    async def handle(context: ParselCrawlingContext) -> None:
        nonlocal done
        done += 1
        await context.enqueue_links(strategy="same-hostname" if len(sys.argv) > 3 else "all")
    logging.disable(logging.CRITICAL)
    await crawler.run(sys.argv[2:])
    print(done)

asyncio.run(main())
"""


@dataclass(frozen=True)
class Task:
    """What is to be crawled: hosts, the addresses to begin at, and all there are."""

    hosts: list[str]
    seeds: list[str]
    urls: list[str]

    @property
    def netlocs(self) -> list[str]:
        """The hosts with their port."""
        port = self.seeds[0].split(":")[2].partition("/")[0]
        return [f"{host}:{port}" for host in self.hosts]


@contextmanager
def small_pages(n_pages: int) -> Iterator[Task]:
    """Serve small pages on many hosts."""
    server = subprocess.Popen(
        [sys.executable, __file__, "--serve", "--pages", str(n_pages)],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert server.stdout is not None
    try:
        site = Site(n_pages, int(server.stdout.readline()))
        urls = [site.url(number) for number in range(n_pages)]
        yield Task([f"127.0.0.{1 + number}" for number in range(N_HOSTS)], urls[:1], urls)
    finally:
        server.kill()


@contextmanager
def manuals() -> Iterator[Task]:
    """Serve three of Debian's manuals behind nginx, each on a host of its own."""
    if missing := [root for root in MANUALS if not Path(root).is_dir()]:
        sys.exit(f"not there, see the packages above: {', '.join(missing)}")
    hosts, urls, servers, port = [], [], [], 8399
    for number, root in enumerate(map(Path, MANUALS), start=1):
        hosts.append(f"127.0.0.{number}")
        start = f"http://{hosts[-1]}:{port}/"
        servers.append(f"server {{ listen {hosts[-1]}:{port}; root {root}; }}")
        urls += [start, *(start + str(path.relative_to(root)) for path in root.rglob("*.html"))]
    seeds = [url for url in urls if url.endswith(f":{port}/")]
    with tempfile.TemporaryDirectory() as folder:
        temporary = " ".join(
            f"{kind}_temp_path {folder};"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        (Path(folder) / "nginx.conf").write_text(
            f"daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/error.log;\n"
            "events { worker_connections 256; }\n"
            f"http {{ include /etc/nginx/mime.types; access_log off; {temporary}\n"
            f"{' '.join(servers)} }}\n"
        )
        with subprocess.Popen(["nginx", "-c", f"{folder}/nginx.conf"]) as server:
            time.sleep(0.5)
            try:
                yield Task(hosts, seeds, urls)
            finally:
                server.terminate()


def commands(task: Task, folder: Path) -> dict[str, list[str]]:
    """Write every contestant's files; return the commands that start them."""
    (folder / "urls").write_text("\n".join(task.urls))
    for name, text in (("bare", BARE), ("scrapy", SCRAPY), ("crawlee", CRAWLEE)):
        (folder / f"{name}_peer.py").write_text(textwrap.dedent(text))
    seeds, hosts = json.dumps(task.seeds), json.dumps(task.hosts)
    (folder / "recrawl.toml").write_text(RECRAWL.format(seeds=seeds, hosts=hosts, robots=N_ROBOTS))
    python, asked = sys.executable, [",".join(task.netlocs), *task.seeds]
    found = {
        "recrawl": [python, "-m", "recrawl", "run", "recrawl.toml", "--once", "--quiet", "--json"],
        "bare loop": [python, "bare_peer.py", "urls"],
        "Scrapy, tuned": [python, "scrapy_peer.py", *asked],
        "Crawlee, tuned": [python, "crawlee_peer.py", *asked],
    }
    modules = {"bare loop": "uvloop", "Scrapy, tuned": "scrapy", "Crawlee, tuned": "crawlee"}
    return {name: line for name, line in found.items() if find_spec(modules.get(name, "json"))}


def measure(command: list[str], folder: Path) -> dict[str, float]:
    """Run a contestant to its end: pages, CPU seconds, wall seconds, peak memory in MB."""
    for leftover in ("state", "storage"):
        subprocess.run(["rm", "-rf", str(folder / leftover)], check=True)
    environment = os.environ | {"CRAWLEE_PURGE_ON_START": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # pip compiles packages where it installs them
    runner = (
        "import json,resource,subprocess,sys,time\n"
        "t=time.perf_counter(); p=subprocess.run(sys.argv[1:],stdout=subprocess.PIPE,text=True)\n"
        "r=resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(json.dumps([p.stdout,p.returncode,r.ru_utime+r.ru_stime,time.perf_counter()-t,"
        "r.ru_maxrss/1024]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", runner, *command],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode or not done.stdout:
        sys.exit(done.stderr)
    text, code, cpu_s, wall_s, memory_mb = json.loads(done.stdout.splitlines()[-1])
    if code:
        sys.exit(f"{command[:4]} ended with {code}: {text[-500:]} {done.stderr[-2000:]}")
    report = json.loads(text) if text.lstrip().startswith("{") else {"pages": int(text)}
    pages = report["fetches"]["new"] if "fetches" in report else report["pages"]
    return {"pages": pages, "cpu_s": cpu_s, "wall_s": wall_s, "memory_mb": memory_mb}


def main() -> None:
    """Run every contestant and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--manuals", action="store_true", help="crawl them instead")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", nargs="*", help="contestants, by the start of their name")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        asyncio.run(serve(arguments.pages))
        return
    best: dict[str, dict[str, float]] = {}
    web = manuals() if arguments.manuals else small_pages(arguments.pages)
    with web as task, tempfile.TemporaryDirectory() as folder:
        lines = commands(task, Path(folder))
        for _ in range(arguments.rounds):
            for name, command in lines.items():
                if arguments.only and not name.startswith(tuple(arguments.only)):
                    continue
                result = measure(command, Path(folder))
                if name not in best or result["cpu_s"] < best[name]["cpu_s"]:
                    best[name] = result
    ours = (
        best["recrawl"]["pages"] / best["recrawl"]["cpu_s"] if "recrawl" in best else float("nan")
    )
    head = ("pages", "CPU s", "wall s", "MB", "pages/CPU s", "recrawl is")
    print("{:20}{:>8}{:>9}{:>9}{:>7}{:>13}{:>12}".format("", *head))
    for name, row in best.items():
        speed = row["pages"] / row["cpu_s"]
        print(
            f"{name:20}{row['pages']:8,.0f}{row['cpu_s']:9.2f}{row['wall_s']:9.2f}"
            f"{row['memory_mb']:7.0f}{speed:13,.0f}{ours / speed:11.2f}x"
        )


if __name__ == "__main__":
    main()
