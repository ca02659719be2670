"""Steps before the index: what a command or a callable makes of a page is what is indexed.

A step is where the time goes (an embedding model, a summary, an upload), so each server of the
indexing engine has one of its own, and the robots' control follows how long pages take there.
"""

import asyncio
import contextlib
import json
import os
import queue
import selectors
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, Final, TypeAlias

from typing_extensions import override

from recrawl.crawler.ports import Preparation
from recrawl.errors import StateError
from recrawl.terms import Document

__all__ = ["CommandStep", "Step", "Steps"]

Step: TypeAlias = Callable[[Document], Document]

MAX_ANSWER_BYTES: Final = 4 * 1024 * 1024
MAX_TEXT: Final = 500_000
MAX_TITLE: Final = 300
_GUARDIAN: Final = Path(__file__).with_name("guardian.py")
_MOST_FAILURES: Final = 5  # in a row: then it is the command, not the page


class Steps(Preparation):
    """Steps that work at the same time, each on one page and on a thread of its own.

    Parameters
    ----------
    steps : from a document to what is indexed in its place, one or more; address, time and
        signature stay. One that has a ``close`` is closed at the end
    """

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = list(steps)
        self._free: queue.SimpleQueue[Step] = queue.SimpleQueue()
        for step in self._steps:
            self._free.put(step)
        self._threads = ThreadPoolExecutor(len(self._steps), thread_name_prefix="step")

    @override
    async def __call__(self, document: Document) -> Document:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._prepared, document)

    @override
    def close(self) -> None:
        for step in self._steps:
            getattr(step, "close", lambda: None)()
        self._threads.shutdown()

    def _prepared(self, document: Document) -> Document:
        step = self._free.get()
        try:
            made = step(document)
        finally:
            self._free.put(step)
        title = " ".join(_printable(made.title[:MAX_TITLE]).split())
        return replace(document, title=title, text=_printable(made.text[:MAX_TEXT]))


def _printable(text: str) -> str:
    """Replace what cannot be shown or stored by spaces."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() or sign == "\n" else " " for sign in text)


class CommandStep:
    """A command that reads a JSON object a line and answers each with one.

    It is told ``url``, ``title``, ``text`` and ``fetched_at_s``, and may answer with another
    ``title`` and ``text``; ``{}`` means "as it is". It is started with the first page and again
    after every failure: an answer that is late, too long or no JSON object, or an end. A page on
    which it fails is indexed as it is.

    Parameters
    ----------
    command : program and arguments; no shell
    timeout_s : for one page, the start of the command included

    Raises
    ------
    StateError
        When called: it cannot be started, or failed on five pages in a row.
    """

    def __init__(self, command: Sequence[str], *, timeout_s: float) -> None:
        self.failures = 0
        self._command = list(command)
        self._timeout_s = timeout_s
        self._in_a_row = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._lifeline = -1  # closed by our end, whichever that is

    def __call__(self, document: Document) -> Document:
        """Return what the command makes of a page."""
        asked = {
            "url": document.url,
            "title": document.title,
            "text": document.text,
            "fetched_at_s": document.fetched_at_s,
        }
        try:
            answer = self._ask((json.dumps(asked) + "\n").encode())
            made = _changed(document, json.loads(answer))
        except (OSError, ValueError, RecursionError) as error:
            self.close()
            self.failures += 1
            self._in_a_row += 1
            if self._in_a_row >= _MOST_FAILURES:
                raise StateError(
                    f"index.command {self._command[0]!r} failed on {self._in_a_row} pages in a "
                    f"row, last on {document.url}: {str(error)[:300]}"
                ) from error
            return document
        self._in_a_row = 0
        return made

    def close(self) -> None:
        """End the command, at once."""
        process, self._process = self._process, None  # two threads may come here at a time
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # what it has started, too
            process.communicate()
            os.close(self._lifeline)

    def _ask(self, line: bytes) -> bytes:
        until_s = time.monotonic() + self._timeout_s
        stdin, stdout = self._pipes()
        answer = bytearray()
        with selectors.DefaultSelector() as ready:
            ready.register(stdin, selectors.EVENT_WRITE)
            ready.register(stdout, selectors.EVENT_READ)
            while not answer.endswith(b"\n"):
                events = ready.select(max(until_s - time.monotonic(), 0.0))
                if not events:
                    raise TimeoutError(f"no answer within {self._timeout_s:g} s")
                for key, _ in events:
                    if key.fileobj is stdin:
                        line = line[os.write(key.fd, line) :]
                        if not line:
                            ready.unregister(stdin)
                        continue
                    piece = os.read(key.fd, 65_536)
                    if not piece:
                        raise OSError("it ended")
                    answer += piece
                    if len(answer) > MAX_ANSWER_BYTES:
                        raise ValueError(f"an answer of more than {MAX_ANSWER_BYTES} bytes")
        return bytes(answer)

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        if self._process is None:
            self._process = self._started()
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        os.set_blocking(stdin.fileno(), False)
        os.set_blocking(stdout.fileno(), False)
        return stdin, stdout

    def _started(self) -> subprocess.Popen[bytes]:
        """Start the command under a guardian, which ends it when we end without a word."""
        if shutil.which(self._command[0]) is None:
            raise StateError(
                f"index.command: {self._command[0]!r} cannot be started: no such program"
            )
        theirs, self._lifeline = os.pipe()
        try:
            return subprocess.Popen(
                [sys.executable, "-I", "-S", str(_GUARDIAN), str(theirs), *self._command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,
                process_group=0,  # Ctrl-C is for the crawl, which ends it in order
                pass_fds=(theirs,),
            )
        except OSError as error:
            os.close(self._lifeline)
            raise StateError(
                f"index.command: {self._command[0]!r} cannot be started: {error.strerror}"
            ) from error
        finally:
            os.close(theirs)


def _changed(document: Document, answer: Any) -> Document:
    if not isinstance(answer, dict):
        raise ValueError(  # noqa: TRY004 - what a command said, not what a caller passed
            f"an answer that is no JSON object: {str(answer)[:100]}"
        )
    title, text = answer.get("title", document.title), answer.get("text", document.text)
    if not (isinstance(title, str) and isinstance(text, str)):
        raise ValueError("title and text must be strings")  # noqa: TRY004
    return replace(document, title=title, text=text)
