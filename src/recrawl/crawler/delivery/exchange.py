"""One request to a sink over HTTP, bounded in time and bytes. It follows no redirect."""

import http.client
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final
from urllib.parse import urlsplit

from recrawl.errors import SinkError
from recrawl.version import VERSION

_MOST_BYTES: Final = 64 << 20
_PIECE: Final = 65_536


@dataclass(frozen=True, slots=True)
class SinkAnswer:
    """Answer of a sink: status, the seconds that it asks to be left alone, and the body."""

    status: int
    body: bytes
    retry_after_s: float | None = None


class Exchanges:
    """A connection that is kept, to one server that the configuration names.

    Parameters
    ----------
    url : http or https; what stands before the path
    timeout_s : for one exchange
    most_bytes : of an answer
    """

    def __init__(self, url: str, *, timeout_s: float, most_bytes: int = _MOST_BYTES) -> None:
        parts = urlsplit(url)
        kind = (
            http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        )
        self.shown = f"{parts.scheme}://{parts.hostname}" + (f":{parts.port}" if parts.port else "")
        self._connection = kind(parts.hostname or "", parts.port, timeout=timeout_s)
        self._timeout_s = timeout_s
        self._most_bytes = most_bytes

    def ask(self, method: str, target: str, body: bytes, headers: Mapping[str, str]) -> SinkAnswer:
        """Return the answer, whatever its status; what was kept open and broke is tried once more.

        Raises
        ------
        SinkError
            No whole answer came.
        """
        sent = {"User-Agent": f"recrawl/{VERSION}"} | dict(headers)
        is_kept = self._connection.sock is not None
        try:
            try:
                return self._asked(method, target, body, sent)
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                if not is_kept:
                    raise
                self.close()
                return self._asked(method, target, body, sent)
        except (OSError, http.client.HTTPException, ssl.SSLError, ValueError) as error:
            self.close()
            text = str(error) or type(error).__name__
            raise SinkError(f"{self.shown}: {text[:300]}") from error
        except BaseException:
            self.close()
            raise

    def _asked(
        self, method: str, target: str, body: bytes, headers: Mapping[str, str]
    ) -> SinkAnswer:
        until_s = time.monotonic() + self._timeout_s
        self._connection.request(method, target, body, headers=headers)
        answer = self._connection.getresponse()
        pieces, size = [], 0
        while piece := answer.read1(_PIECE):
            size += len(piece)
            if size > self._most_bytes:
                raise SinkError(f"{self.shown}: an answer of more than {self._most_bytes} bytes")
            if time.monotonic() > until_s:
                raise TimeoutError(f"no whole answer within {self._timeout_s:g} s")
            pieces.append(piece)
        answer.close()
        if answer.will_close:
            self.close()
        return SinkAnswer(
            answer.status, b"".join(pieces), _retry_after_s(answer.headers.get("Retry-After"))
        )

    def close(self) -> None:
        """End the connection; the next request makes another."""
        self._connection.close()


def _retry_after_s(text: str | None) -> float | None:
    """Return the seconds that a Retry-After header says, as a number or as a date."""
    if text is None:
        return None
    if text.strip().isascii() and text.strip().isdigit():
        return float(text.strip()[:12])
    try:
        at = parsedate_to_datetime(text)
        return max((at - datetime.now(UTC)).total_seconds(), 0.0)
    except (TypeError, ValueError, OverflowError):
        return None
