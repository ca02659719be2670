"""A command that reads changes, a JSON object a line, and answers each with one line."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from typing_extensions import override

from recrawl.crawler.commands.lines import LineProgram
from recrawl.crawler.ports import Sink
from recrawl.errors import SinkError, StateError
from recrawl.terms import Item, Taken, Verdict


class CommandSink(Sink):
    """A batch is written at once; the command may answer after each line or at its end.

    An answer is ``{}`` for a change that was taken, or says ``status`` (ok, stale, retry, reject)
    and ``why``.

    Parameters
    ----------
    command : program and arguments; no shell
    timeout_s : for a batch, the start of the command included
    """

    def __init__(self, command: Sequence[str], *, timeout_s: float) -> None:
        self._name = command[0]
        self._program = LineProgram(command, key="deliver.command")
        self._timeout_s = timeout_s

    @override
    def apply(self, items: Sequence[Item], batch: str) -> list[Taken]:
        lines = [(json.dumps(item.record) + "\n").encode() for item in items]
        try:
            answers = self._program.ask(lines, timeout_s=self._timeout_s)
            return [_taken(json.loads(answer)) for answer in answers]
        except StateError as error:
            raise SinkError(str(error)) from error
        except (OSError, ValueError, RecursionError) as error:
            self._program.close()
            raise SinkError(f"command {self._name!r}: {str(error)[:300]}") from error

    @override
    def scan(self) -> Iterable[tuple[str, int]] | None:
        return None

    @override
    def close(self) -> None:
        self._program.close()


def _taken(answer: Any) -> Taken:
    if not isinstance(answer, dict):
        raise ValueError(f"an answer that is no JSON object: {str(answer)[:100]}")  # noqa: TRY004
    try:
        return Taken(Verdict(answer.get("status", "ok")), str(answer.get("why", ""))[:300])
    except ValueError:
        raise ValueError(
            f"status {str(answer['status'])[:50]!r} is none of ok, stale, retry, reject"
        ) from None
