"""Many small hosts on one machine, with a log of every request: when it came, and when it ended.

On a busy machine the farm itself is late: it may read a request, and begin to answer it, when who
sent it has given up and politely asks again. Nobody is to blame for that, so of a request that is
not waited for any more when its answer is ready the end is taken to be when it came, by the kernel.
"""

import asyncio
import contextlib
import socket
import struct
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from recrawl.terms import Database

_TCP_INFO: Final = getattr(socket, "TCP_INFO", None)  # Linux's; elsewhere everybody waits
_ESTABLISHED: Final = 1  # its first byte: neither side has closed the connection
_SINCE_DATA: Final = 52  # where it says how many milliseconds ago data came last


@dataclass(frozen=True, slots=True)
class Asked:
    """One request, by the farm's own clock; one that was given up ended when it came."""

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
        return min((gap_s for _, gap_s in self._gaps()), default=float("inf"))

    @property
    def overlaps(self) -> list[str]:
        """Return the hosts that were asked, once or more, while they had not answered yet."""
        return [host for host, gap_s in self._gaps() if gap_s < 0.0]

    def _gaps(self) -> Iterator[tuple[str, float]]:
        """Yield the host of each request, and how long its server had rested before."""
        ended_s: dict[str, float] = {}
        requests = [(one, host) for host, log in self.asked.items() for one in log]
        for one, host in sorted(requests, key=lambda request: request[0].began_s):
            server = "the one" if self.is_one else host
            if server in ended_s:
                yield host, one.began_s - ended_s[server]
            ended_s[server] = max(ended_s.get(server, one.ended_s), one.ended_s)

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
                began_s, (_, came_s) = time.monotonic(), _told_by_kernel(writer)
                if self._answer_s:
                    await asyncio.sleep(self._answer_s)
                status, body = self._page(host, path)
                is_awaited, _ = _told_by_kernel(writer)
                ended_s = time.monotonic()
                times = (began_s, ended_s) if is_awaited else (came_s, came_s)
                self.asked[host].append(Asked(path, *times))
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


def _told_by_kernel(writer: asyncio.StreamWriter) -> tuple[bool, float]:
    """Tell whether the other side still waits, and when it last sent something.

    The farm may have got round to neither yet.
    """
    now_s = time.monotonic()
    if _TCP_INFO is None:
        return True, now_s
    with contextlib.suppress(OSError):  # closed on this side as well
        told = writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, _TCP_INFO, 104)
        (since_ms,) = struct.unpack_from("I", told, _SINCE_DATA)
        return told[0] == _ESTABLISHED, now_s - since_ms / 1_000.0
    return False, now_s


def _listed(names: list[str]) -> str:
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"
