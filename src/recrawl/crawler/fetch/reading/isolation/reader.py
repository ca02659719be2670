"""A reader process, from outside: started when there is something to read, replaced when it ends.

See :mod:`recrawl.crawler.fetch.reading.isolation.worker` for what goes on inside.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Final

from recrawl.crawler.fetch.reading.isolation.worker import BROKEN, FAILED, LAST, NO_MEMORY, READY
from recrawl.crawler.fetch.reading.reading_rules import ReadingRules
from recrawl.errors import PoisonPage, ReadingCut, StateError
from recrawl.terms import FetchResponse

MAX_ANSWER_BYTES: Final = 32 * 1024 * 1024
_BOOT: Final = (
    "import sys; sys.path[:] = sys.argv.pop().split(':');"
    "from recrawl.crawler.fetch.reading.isolation.worker import main; main()"
)
_START_S: Final = 30.0
_SLACK_S: Final = 2.0  # of real time, for a start on a busy machine
_BUSY: Final = 10.0  # of real time for processor time, on one that has as many others to serve


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on reading one page.

    Parameters
    ----------
    cpu_s : seconds of processor time
    memory_bytes : address space of the reader, the interpreter included
    """

    cpu_s: float
    memory_bytes: int

    @property
    def wall_s(self) -> float:
        """Seconds until the reader is given up whatever it does: the machine may be busy."""
        return _BUSY * self.cpu_s + _SLACK_S


class Reader:
    """Has one page at a time read by a process, which is started with the first one.

    Not for two threads at a time, but for :meth:`close`.

    Parameters
    ----------
    agent : product token of the robot
    limits : of each page
    rules : how pages are read
    """

    def __init__(self, agent: str, limits: Limits, rules: ReadingRules | None = None) -> None:
        self.starts = 0
        self._agent = agent
        self._rules = (rules or ReadingRules()).dump()
        self._limits = limits
        self._kinds: set[str] = set()  # what the process has loaded, or will at its next start
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._failure = ""
        self._closed = False

    def ask(self, kind: str, response: FetchResponse) -> bytes:
        """Return what a page, a PDF, a sitemap or a feed says, as JSON.

        Raises
        ------
        PoisonPage
            It took too much, or broke the process.
        ReadingCut
            :meth:`close` was called.
        StateError
            No process can be started.
        """
        told = {
            "url": response.url,
            "content_type": response.content_type,
            "charset": response.charset,
            "robots_tag": response.robots_tag,
            "usage": response.usage,
            "refresh": response.refresh,
        }
        head = json.dumps({"kind": kind, "length": len(response.body), "told": told}).encode()
        while True:
            self._ready(kind)
            try:
                return self._exchange(len(head).to_bytes(4, "big") + head, response.body)
            except OSError as error:
                why = self._died_of(error)
            if self._closed:
                raise ReadingCut("the crawl stops")
            if why is not None:
                raise PoisonPage(why)  # else it had ended by itself, before it saw the page

    def close(self) -> None:
        """End the process at once, whatever it does, and start none any more."""
        self._closed = True
        process = self._process
        if process is not None:
            process.kill()

    def clear(self) -> None:
        """Take leave of a process that has been ended; by the thread that asks."""
        if self._process is not None:
            self._end()

    def _ready(self, kind: str) -> None:
        process = self._process
        if process is not None and (kind not in self._kinds or process.poll() is not None):
            self._end()
        if self._closed:
            raise ReadingCut("the crawl stops")
        if self._process is None:
            self._kinds.add(kind)
            self._start()

    def _start(self) -> None:
        try:
            ours, theirs = socket.socketpair()
        except OSError as error:
            raise StateError(f"no reader can be started: {error.strerror}") from error
        limits = self._limits
        arguments = [
            self._agent, str(os.getpid()), str(limits.cpu_s), str(limits.memory_bytes),
            ",".join(self._kinds), self._rules, ":".join(filter(None, sys.path)),
        ]  # fmt: skip
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _BOOT, *arguments],
                stdin=theirs.fileno(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                cwd="/", env=dict[str, str](), process_group=0,
            )  # fmt: skip
        except OSError as error:
            ours.close()
            raise StateError(f"no reader can be started: {error.strerror}") from error
        finally:
            theirs.close()
        self.starts += 1
        self._socket = ours
        if self._closed:  # meanwhile
            self._process.kill()
        ours.settimeout(_START_S)
        try:
            is_ready = ours.recv(1) == READY
        except OSError:
            is_ready = False
        if not is_ready:
            code = self._end()
            if self._closed:
                raise ReadingCut("the crawl stops")
            raise StateError(
                f"a reader ended at its start (exit code {code}); reading.memory may be too little"
            )

    def _exchange(self, head: bytes, body: bytes) -> bytes:
        sock = self._socket
        assert sock is not None
        until_s = time.monotonic() + self._limits.wall_s
        for data in (head, body):
            _wait(sock, until_s)
            sock.sendall(data)
        sign = _received(sock, 1, until_s)
        length = int.from_bytes(_received(sock, 4, until_s), "big")
        if length > MAX_ANSWER_BYTES:
            raise OSError("it answers without end")
        answer = _received(sock, length, until_s)
        if sign == FAILED:
            self._failure = answer.decode("ascii", "replace")
            raise ConnectionResetError
        if sign == LAST:
            self._end()
        return answer

    def _died_of(self, error: OSError) -> str | None:
        """Say why the process is no more; None where no page is to blame."""
        if isinstance(error, TimeoutError):
            self._end()
            return f"it was not read within {self._limits.wall_s:g} s"
        process = self._process
        assert process is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(1.0)
        code = self._end()
        if code == 0:
            return None
        if code == -signal.SIGPROF:
            return f"reading it takes more than {self._limits.cpu_s:g} s of processor time"
        if code == NO_MEMORY:
            return f"reading it takes more than {self._limits.memory_bytes >> 20} MiB"
        if code == BROKEN:
            bound = f"{self._limits.memory_bytes >> 20} MiB"
            return f"its reader failed ({self._failure}), as on what cannot be read within {bound}"
        return f"its reader broke ({_named(code)})"

    def _end(self) -> int:
        process, self._process = self._process, None
        if self._socket is not None:
            self._socket.close()
        assert process is not None
        process.kill()
        return process.wait()


def _named(code: int) -> str:
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"exit code {code}"


def _wait(sock: socket.socket, until_s: float) -> None:
    left_s = until_s - time.monotonic()
    if left_s <= 0.0:
        raise TimeoutError
    sock.settimeout(left_s)


def _received(sock: socket.socket, length: int, until_s: float) -> bytes:
    data = bytearray()
    while len(data) < length:
        _wait(sock, until_s)
        piece = sock.recv(min(length - len(data), 1 << 20))
        if not piece:
            raise ConnectionResetError
        data += piece
    return bytes(data)
