"""A webhook: batches of changes posted as JSON, signed as Standard Webhooks have it."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final
from urllib.parse import urlsplit

from typing_extensions import override

from recrawl.crawler.delivery.exchange import Exchanges
from recrawl.crawler.ports import Sink
from recrawl.errors import SinkError
from recrawl.terms import Item, Taken, Verdict

_TAKEN: Final = Taken(Verdict.OK)


def signature(secret: bytes, message_id: str, timestamp: int, body: bytes) -> str:
    """Return what the header ``webhook-signature`` says.

    Parameters
    ----------
    secret : key of the signature
    message_id : header ``webhook-id``
    timestamp : header ``webhook-timestamp``, epoch seconds
    body : of the request, as it is sent

    References
    ----------
    The Standard Webhooks specification, "Signature scheme": HMAC-SHA256 over id, timestamp and
    body, joined by full stops.
    """
    signed = f"{message_id}.{timestamp}.".encode() + body
    digest = hmac.new(secret, signed, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


class WebhookSink(Sink):
    """Posts each batch to one address; any answer of 200 to 299 takes all of it.

    Parameters
    ----------
    url : http or https
    name : of the sink; with the batch it makes the id by which the receiver knows what comes twice
    secret : returns the key of the signature; None: nothing is signed
    timeout_s : for one exchange
    """

    def __init__(
        self, url: str, *, name: str, secret: Callable[[], bytes] | None, timeout_s: float
    ) -> None:
        parts = urlsplit(url)
        self._target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._exchanges = Exchanges(url, timeout_s=timeout_s, most_bytes=1 << 20)
        self._mark = hashlib.sha256(name.encode()).hexdigest()[:12]
        self._secret = secret

    @override
    def apply(self, items: Sequence[Item], batch: str) -> list[Taken]:
        body = json.dumps(
            {"type": "recrawl.changes", "data": [item.record for item in items]}
        ).encode()
        message_id, timestamp = f"recrawl-{self._mark}-{batch}", int(time.time())
        headers = {
            "Content-Type": "application/json",
            "webhook-id": message_id,
            "webhook-timestamp": str(timestamp),
        }
        if self._secret is not None:
            headers["webhook-signature"] = signature(self._secret(), message_id, timestamp, body)
        answer = self._exchanges.ask("POST", self._target, body, headers)
        if 200 <= answer.status < 300:
            return [_TAKEN] * len(items)
        if answer.status == 413 and len(items) > 1:  # too much at once
            middle = len(items) // 2
            return [
                *self.apply(items[:middle], _part(items[:middle])),
                *self.apply(items[middle:], _part(items[middle:])),
            ]
        if answer.status == 413:
            return [Taken(Verdict.REJECT, "larger than the receiver takes (413)")]
        raise SinkError(
            f"{self._exchanges.shown} answered {answer.status}"
            + ("; redirects are not followed" if 300 <= answer.status < 400 else ""),
            retry_after_s=answer.retry_after_s,
        )

    @override
    def scan(self) -> Iterable[tuple[str, int]] | None:
        return None

    @override
    def close(self) -> None:
        self._exchanges.close()


def _part(items: Sequence[Item]) -> str:
    """Name a part of a batch by its numbers: what has this name later is some of the same."""
    return f"part-{items[0].change.seq}-{items[-1].change.seq}"
