"""Steps before the index: what a command or a callable makes of a page is what is indexed.

A step is where the time goes (an embedding model, a summary, an upload), so each server of the
indexing engine has one of its own, and the robots' control follows how long pages take there.
"""

import asyncio
import json
import queue
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Final, TypeAlias

from typing_extensions import override

from recrawl.crawler.commands.lines import LineProgram
from recrawl.crawler.ports import Preparation
from recrawl.errors import StateError
from recrawl.terms import Document

Step: TypeAlias = Callable[[Document], Document]

MAX_TEXT: Final = 500_000
MAX_TITLE: Final = 300
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
        self._name = command[0]
        self._program = LineProgram(command, key="index.command")
        self._timeout_s = timeout_s
        self._in_a_row = 0

    def __call__(self, document: Document) -> Document:
        """Return what the command makes of a page."""
        asked = {
            "url": document.url,
            "title": document.title,
            "text": document.text,
            "fetched_at_s": document.fetched_at_s,
        }
        try:
            line = (json.dumps(asked) + "\n").encode()
            (answer,) = self._program.ask([line], timeout_s=self._timeout_s)
            made = _changed(document, json.loads(answer))
        except (OSError, ValueError, RecursionError) as error:
            self.close()
            self.failures += 1
            self._in_a_row += 1
            if self._in_a_row >= _MOST_FAILURES:
                raise StateError(
                    f"index.command {self._name!r} failed on {self._in_a_row} pages in a "
                    f"row, last on {document.url}: {str(error)[:300]}"
                ) from error
            return document
        self._in_a_row = 0
        return made

    def close(self) -> None:
        """End the command, at once."""
        self._program.close()


def _changed(document: Document, answer: Any) -> Document:
    if not isinstance(answer, dict):
        raise ValueError(  # noqa: TRY004 - what a command said, not what a caller passed
            f"an answer that is no JSON object: {str(answer)[:100]}"
        )
    title, text = answer.get("title", document.title), answer.get("text", document.text)
    if not (isinstance(title, str) and isinstance(text, str)):
        raise ValueError("title and text must be strings")  # noqa: TRY004
    return replace(document, title=title, text=text)
