"""How many addresses a second go into the frontier service and out of it, over gRPC.

Bar: 20,000 put or got addresses a second on two cores, the client's included, with 10^6 addresses
in the state. The client is grpcio too, in a process of its own.

    python bench/urlfrontier.py            # 10^6 addresses, some minutes
    python bench/urlfrontier.py --pages 100000
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from tests.integrations.test_urlfrontier_service import Client, service  # noqa: E402

from recrawl.integrations.urlfrontier.interface import message  # noqa: E402

BAR = 20_000
LINKS = 50  # discovered on a page, that go together
HOSTS = 1_000


def url(n: int) -> str:
    """Name a page."""
    return f"http://host{n % HOSTS}.example/section/{n // HOSTS % 97}/page-{n}.html"


def batches(first: int, last: int) -> Iterator[Any]:
    """Discover addresses in batches, as the links of pages."""
    for start in range(first, last, LINKS):
        batch = message("DiscoveredBatch")(ID=str(start))
        for n in range(start, min(start + LINKS, last)):
            batch.items.add(url=url(n))
        yield batch


def items(first: int, last: int) -> Iterator[Any]:
    """Discover addresses, each in a message of its own."""
    for n in range(first, last):
        item = message("URLItem")()
        item.discovered.info.url = url(n)
        yield item


def put_back(infos: list[Any]) -> Iterator[Any]:
    """Tell what came of fetches."""
    for number, info in enumerate(infos):
        item = message("URLItem")()
        item.known.info.CopyFrom(info)
        item.known.refetchable_from_date = 1
        item.known.info.metadata["fetch.statusCode"].values.append("200")
        item.known.info.metadata["signature"].values.append(str(number))
        yield item


@dataclass
class Watch:
    """Measures steps: by the clock, and what of it the service worked.

    Parameters
    ----------
    process : of the service
    """

    process: int
    since_s: float = 0.0
    worked_s: float = 0.0

    def start(self) -> None:
        """Begin a step."""
        self.since_s, self.worked_s = time.perf_counter(), self._cpu_s()

    def stop(self, what: str, n: int) -> float:
        """Print a rate, and return it."""
        took_s, worked_s = time.perf_counter() - self.since_s, self._cpu_s() - self.worked_s
        per_s = n / max(worked_s, 0.01)
        print(
            f"{what:32} {n:>9,} in {took_s:6.2f} s {n / took_s:8,.0f} a second; "
            f"{per_s:8,.0f} a second of the service's processor",
            flush=True,
        )
        return n / took_s

    def _cpu_s(self) -> float:
        fields = Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def idle_server(n: int) -> None:
    """Measure what gRPC for Python itself brings: a service that answers and does nothing."""
    code = (
        "import asyncio, sys, grpc\n"
        "async def get(request, context):\n"
        "    for _ in range(int(sys.argv[1])): yield request\n"
        "async def put(requests, context):\n"
        "    async for one in requests: yield one\n"
        "async def main():\n"
        "    server = grpc.aio.server()\n"
        "    handlers = {'GetURLs': grpc.unary_stream_rpc_method_handler(get),\n"
        "                'PutURLs': grpc.stream_stream_rpc_method_handler(put)}\n"
        "    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(\n"
        "        'urlfrontier.URLFrontier', handlers),))\n"
        "    print(server.add_insecure_port('127.0.0.1:0'), flush=True)\n"
        "    await server.start(); await server.wait_for_termination()\n"
        "asyncio.run(main())\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(n)], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        client = Client(int(server.stdout.readline()))
        with client.channel:
            watch = Watch(server.pid)
            watch.start()
            found = client.channel.unary_stream("/urlfrontier.URLFrontier/GetURLs")(b"x" * 80)
            watch.stop("gRPC alone, one way", sum(1 for _ in found))
            watch.start()
            found = client.channel.stream_stream("/urlfrontier.URLFrontier/PutURLs")(
                b"x" * 80 for _ in range(n)
            )
            watch.stop("gRPC alone, there and back", sum(1 for _ in found))
        server.kill()


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--each", type=int, default=30_000, help="messages of one address")
    given = parser.parse_args()
    n, each = given.pages, given.each
    idle_server(each)
    with (
        tempfile.TemporaryDirectory() as state,
        service(Path(state), "--budget", "1000000/h") as (client, process),
    ):
        client.call("SetDelay", delay_requestable=0)
        watch, rates = Watch(process.pid), {}
        watch.start()
        acks = client.call("PutDiscovered", batches(0, n), timeout=900)
        assert sum(len(ack.statuses) for ack in acks) == n
        rates["PutDiscovered"] = watch.stop("PutDiscovered, 50 a message", n)
        watch.start()
        client.call("PutURLs", items(n, n + each))
        rates["PutURLs"] = watch.stop("PutURLs, discovered", each)
        asked = {"max_queues": 100, "max_urls_per_queue": 1_000, "delay_requestable": 3_600}
        infos: list[Any] = []
        watch.start()
        while len(infos) < each and (found := client.call("GetURLs", **asked)):
            infos += found
        rates["GetURLs"] = watch.stop("GetURLs, of 100 queues a call", len(infos))
        watch.start()
        client.call("PutURLs", put_back(infos[:each]))
        rates["known"] = watch.stop("PutURLs, known, learned from", len(infos[:each]))
        watch.start()
        stats = client.call("GetStats")
        watch.stop("GetStats", 1)
        assert stats.size == n + each
    short = [name for name, rate in rates.items() if rate < BAR]
    sys.exit(f"below the bar of {BAR:,} a second: {', '.join(short)}" if short else 0)


if __name__ == "__main__":
    main()
