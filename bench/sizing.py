"""What a crawl of so many pages takes: memory, disk, processor time. `recrawl run`, over real HTTP.

The pages have 300 words each of a vocabulary of 20,000, and link to two others. Memory is the most
that all processes of the crawl held at once (proportional set size); the state is what lies on disk
after the pass and an orderly end.

No bar: the figures are those of the sizing table in docs/howto/deploy.md.

    python bench/sizing.py                     1,000 and 10,000 pages
    python bench/sizing.py 100000              some minutes
"""

import argparse
import multiprocessing
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

WORDS = np.array([f"w{number:x}" for number in range(20_000)])
CONFIG = """
seeds = ["http://127.0.0.1:{port}/0"]
contact = "mailto:bench@site.test"
budget = "5000/s"
[scope]
max_depth = 100
max_pages_per_host = 10000000
[politeness]
delay = "0s"
allow_private = ["127.0.0.1"]
"""


def serve(n_pages: int, queue: "multiprocessing.Queue[int]") -> None:
    """Answer with page after page, in a process of its own."""
    from aiohttp import web

    async def page(request: web.Request) -> web.Response:
        name = request.path[1:]
        if not name.isdigit() or int(name) >= n_pages:
            return web.Response(status=404)
        number = int(name)
        random = np.random.default_rng(number)
        words = " ".join(WORDS[(random.zipf(1.3, 300) - 1) % WORDS.size])
        links = "".join(f"<a href='/{to}'>{to}</a>" for to in (2 * number + 1, 2 * number + 2))
        text = f"<title>Page {number}</title><main><p>{words}</p>{links}</main>"
        return web.Response(text=text, content_type="text/html", headers={"ETag": f'"{number}"'})

    async def start(app: web.Application) -> None:
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        queue.put(runner.addresses[0][1])

    import asyncio

    async def forever() -> None:
        app = web.Application()
        app.router.add_get("/{tail:.*}", page)
        await start(app)
        await asyncio.Event().wait()

    asyncio.run(forever())


def held_bytes(root: int) -> int:
    """Proportional set size of a process and all that it has started."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(stat.parent.name))
    todo, total = [root], 0
    while todo:
        pid = todo.pop()
        todo += children.get(pid, [])
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
    return total


def measure(n_pages: int) -> None:
    """Crawl so many pages once, and print what it took."""
    queue: multiprocessing.Queue[int] = multiprocessing.Queue()
    server = multiprocessing.Process(target=serve, args=(n_pages, queue), daemon=True)
    server.start()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "recrawl.toml").write_text(CONFIG.format(port=queue.get()))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began_s, most = time.perf_counter(), 0
        crawl = subprocess.Popen(
            [sys.executable, "-m", "recrawl", "run", "--once", "--quiet"], cwd=folder
        )
        while crawl.poll() is None:
            most = max(most, held_bytes(crawl.pid))
            time.sleep(0.5)
        took_s = time.perf_counter() - began_s
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        state = folder / "recrawl-state"
        index = sum(p.stat().st_size for p in (state / "index").rglob("*") if p.is_file())
        rest = sum(p.stat().st_size for p in state.glob("state.sqlite3*"))
    server.terminate()
    server.join()
    assert crawl.returncode == 0
    print(
        f"{n_pages:>9,} pages: {most / 1e6:6.0f} MB of memory, {cpu_s:7.1f} s of CPU"
        f" ({1e3 * cpu_s / n_pages:.1f} ms a page), {took_s:6.1f} s, state {rest / 1e6:.1f} MB,"
        f" index {index / 1e6:.1f} MB"
    )


if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    parser = argparse.ArgumentParser()
    parser.add_argument("pages", type=int, nargs="*", default=[1_000, 10_000])
    for size in parser.parse_args().pages:
        measure(size)
