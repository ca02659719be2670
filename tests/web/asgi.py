"""A browser without a network: asks an ASGI application, and returns what it answers."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Scope


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def scope_of(
    url: str, method: str, headers: dict[str, str], client: str = "127.0.0.1"
) -> dict[str, Any]:
    parts = urlsplit(url)
    sent = {"host": "127.0.0.1:8710"} | headers
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": parts.path,
        "raw_path": parts.path.encode(),
        "query_string": parts.query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in sent.items()],
        "client": (client, 50_000),
        "server": ("127.0.0.1", 8710),
    }


async def ask(
    app: ASGIApp, url: str, *, method: str = "GET", body: bytes = b"", **headers: str
) -> Answer:
    """Return one whole answer; header names are written with underscores."""
    sent: list[Message] = []
    asked = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        if asked:
            return asked.pop()
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message)

    named = {name.replace("_", "-"): value for name, value in headers.items()}
    scope: Scope = scope_of(url, method, named)
    await app(scope, receive, send)
    start = sent[0]
    told = {name.decode(): value.decode() for name, value in start["headers"]}
    return Answer(start["status"], told, b"".join(part.get("body", b"") for part in sent[1:]))
