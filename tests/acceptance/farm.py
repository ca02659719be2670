"""Many small hosts on one machine, with a log of every request: when it came, and when it ended."""

import asyncio
import threading
import time
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from recrawl.terms import Database


@dataclass(frozen=True, slots=True)
class Asked:
    """One request, by the farm's own clock."""

    path: str
    began_s: float
    ended_s: float


class Farm:
    """Hosts 127.1.a.b, each with a front page that links to its pages and to the next host.

    Parameters
    ----------
    hosts, pages : how many hosts, and pages of each beside the front page
    answer_s : that an answer takes
    is_one : the hosts are names of one IP address instead, whose server must be asked as one
    """

    def __init__(
        self, hosts: int, pages: int, *, answer_s: float = 0.0, is_one: bool = False
    ) -> None:
        self.n_hosts, self.n_pages, self._answer_s = hosts, pages, answer_s
        self.is_one = is_one
        self.asked: dict[str, list[Asked]] = defaultdict(list)
        self.in_flight: dict[str, int] = defaultdict(int)
        self.overlaps: list[str] = []
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        assert self._ready.wait(60)

    def name(self, number: int) -> str:
        """Return host and port."""
        if self.is_one:
            return f"h{number}.localhost:{self.port}"
        return f"127.1.{number // 200}.{number % 200 + 1}:{self.port}"

    @property
    def seeds(self) -> list[str]:
        """The front page of the first hosts; all others are found from there."""
        return [f"http://{self.name(number)}/" for number in range(min(self.n_hosts, 9))]

    def config(self, folder: Path, database: Database | None, **keys: str) -> Path:
        """Write a configuration that crawls all of it; keys are given as TOML."""
        names = [self.name(number).partition(":")[0] for number in range(self.n_hosts)]
        values = {
            "seeds": _listed(self.seeds),
            "contact": '"mailto:tests@recrawl.test"',
            "budget": '"1000/s"',
            "state": f'"{database.address if database else "state"}"',
        } | {key: value for key, value in keys.items() if "__" not in key}
        sections: dict[str, dict[str, str]] = {
            "scope": {"hosts": '["*.localhost"]' if self.is_one else '["127.1.*"]'},
            "politeness": {"delay": '"200ms"', "allow_private": _listed(names)},
            "fetch": {"timeout": '"1s"'},
        }
        if database is not None:
            sections["cluster"] = {"shards": "16", "lease": '"2s"'}
        for key, value in keys.items():
            if "__" in key:
                section, _, name = key.partition("__")
                sections.setdefault(section, {})[name] = value
        lines = [f"{key} = {value}" for key, value in values.items()]
        for section, told in sections.items():
            lines += [f"[{section}]", *(f"{key} = {value}" for key, value in told.items())]
        path = folder / "recrawl.toml"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    def least_gap_s(self) -> float:
        """Return the shortest rest of any host, or of the one server, between two requests."""
        logs = list(self.asked.values())
        if self.is_one:
            logs = [sorted((one for log in logs for one in log), key=lambda one: one.began_s)]
        gaps = [later.began_s - before.ended_s for log in logs for before, later in pairwise(log)]
        return min(gaps, default=float("inf"))

    def instants(self) -> list[float]:
        """Return when requests came, of all hosts, in order."""
        return sorted(one.began_s for log in self.asked.values() for one in log)

    def n_requests(self) -> int:
        """Return how many requests there were."""
        return sum(map(len, self.asked.values()))

    def close(self) -> None:
        """Serve no more."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(
            asyncio.start_server(self._talk, "0.0.0.0", 0, backlog=1_000)
        )
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.decode("latin-1").split("\r\n")
                path = lines[0].split()[1]
                host = next(line[6:] for line in lines if line.lower().startswith("host: "))
                began_s = time.monotonic()
                server = "the one" if self.is_one else host
                self.in_flight[server] += 1
                if self.in_flight[server] > 1:
                    self.overlaps.append(host)
                if self._answer_s:
                    await asyncio.sleep(self._answer_s)
                status, body = self._page(host, path)
                self.in_flight[server] -= 1
                self.asked[host].append(Asked(path, began_s, time.monotonic()))
                writer.write(
                    f"HTTP/1.1 {status} X\r\nContent-Type: text/html\r\n"
                    f"Content-Length: {len(body)}\r\n\r\n".encode()
                    + body
                )
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    def _page(self, host: str, path: str) -> tuple[int, bytes]:
        if path in ("/robots.txt", "/sitemap.xml"):
            return 404, b""
        first = host.partition(":")[0].split(".")
        number = int(first[0][1:]) if self.is_one else int(first[2]) * 200 + int(first[3]) - 1
        words = " ".join(f"word{number}x{path.strip('/')}y{n}" for n in range(30))
        links = ""
        if path == "/":
            links = "".join(f'<a href="/{n}">page {n}</a>' for n in range(1, self.n_pages + 1))
            for other in (2 * number + 1, 2 * number + 2):
                if other < self.n_hosts:
                    links += f'<a href="http://{self.name(other)}/">next</a>'
        body = f"<title>Page {path} of {number}</title><main><p>{words}</p>{links}</main>"
        return 200, body.encode()


def _listed(names: list[str]) -> str:
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"
