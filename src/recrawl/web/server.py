"""Serving the pages: a socket that is ours, and uvicorn on it."""

import asyncio
import errno
import ipaddress
import logging
import secrets
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from recrawl.errors import InputError
from recrawl.settings import Settings
from recrawl.web.app import CrawlPages, make_app
from recrawl.web.guard import Access

__all__ = ["bind", "is_loopback", "origin_of", "read_token", "serve"]

_SHORTEST_TOKEN: Final = 16


def read_token(path: Path) -> str:
    """Return the token that a file holds.

    Raises
    ------
    InputError
        It cannot be read, or is too short to be one.
    """
    try:
        token = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--token-file: {path} cannot be read: {error}") from error
    if len(token) < _SHORTEST_TOKEN:
        raise InputError(
            f"--token-file: {path} holds {len(token)} characters; a token needs at least "
            f"{_SHORTEST_TOKEN}, for example {secrets.token_urlsafe(24)}"
        )
    return token


def is_loopback(address: str) -> bool:
    """Tell whether only this machine reaches an address.

    Raises
    ------
    InputError
        It is no address.
    """
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError as error:
        raise InputError(
            f"--listen: {address!r} is no address; write one such as 127.0.0.1 or 0.0.0.0"
        ) from error


def bind(address: str, port: int) -> socket.socket:
    """Return a socket that listens there.

    Raises
    ------
    InputError
        The port is taken or not allowed, or the address is not this machine's.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
    except (OSError, OverflowError) as error:
        listener.close()
        number = error.errno if isinstance(error, OSError) else errno.EINVAL
        why = {
            errno.EADDRINUSE: "is in use; choose another with --port, or 0 for any that is free",
            errno.EACCES: "needs rights that this user does not have; choose one above 1023",
            errno.EADDRNOTAVAIL: f"cannot be opened: {address} is no address of this machine",
        }.get(number or 0, f"cannot be opened: {error}")
        raise InputError(f"--port: {port} on {address} {why}") from error
    return listener


def origin_of(listener: socket.socket) -> str:
    """Return what to type into a browser on this machine."""
    address, port = listener.getsockname()[:2]
    if address in ("0.0.0.0", "::"):
        address = "localhost"
    return f"http://{f'[{address}]' if ':' in address else address}:{port}"


async def serve(
    listener: socket.socket,
    directory: Path,
    *,
    access: Access,
    settings: Settings | None = None,
    config: str = "recrawl.toml",
    on_start: Callable[[], None] | None = None,
) -> None:
    """Serve a state directory until the process is told to stop.

    Parameters
    ----------
    listener : of :func:`bind`; closed at the end
    directory : of the state; a crawl may come into it later
    access : who may come in
    settings, config : of the crawl, where a configuration is at hand, and what it is called
    on_start : called once requests are answered
    """
    pages = CrawlPages(directory, access=access, settings=settings, config=config)
    server = _Server(make_app(pages, access), on_stop=pages.live.close, on_start=on_start)
    # Requests are not logged: they hold what people search for.
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    await server.serve(sockets=[listener])


class _Server(uvicorn.Server):
    """Lets dashboards go before it waits for open connections."""

    def __init__(
        self, app: ASGIApp, *, on_stop: Callable[[], None], on_start: Callable[[], None] | None
    ) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                access_log=False,
                log_level="error",
                server_header=False,
                proxy_headers=False,
                timeout_keep_alive=20,
                timeout_graceful_shutdown=2,
                limit_concurrency=1_000,
                h11_max_incomplete_event_size=32_768,
                lifespan="on",
                ws="none",
            )
        )
        self._on_stop = on_stop
        self._on_start = on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        await super().startup(sockets)
        if self._on_start is not None and not self.should_exit:
            self._on_start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the endless answers first."""
        self._on_stop()
        await asyncio.sleep(0)
        await super().shutdown(sockets)
