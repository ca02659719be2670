"""Serving the pages with uvicorn, until the process is told to stop."""

import asyncio
import contextlib
import errno
import logging
import signal
import socket
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from recrawl.crawler.ports import StatePlace
from recrawl.crawler.settings import Settings
from recrawl.web.app import CrawlPages, make_app
from recrawl.web.guard import Access
from recrawl.web.impatient import Connections, ImpatientProtocol

_OF_ONE_CLIENT, _IN_ALL = 256, 800  # connections; each takes a file, of which most have 1,024
_WAITING = 100  # connections that nobody has taken yet
_QUIET_S = 60.0


async def serve(
    listener: socket.socket,
    directory: StatePlace,
    *,
    access: Access,
    settings: Settings | None = None,
    config: str = "recrawl.toml",
    on_start: Callable[[], None] | None = None,
    request_s: float = 5.0,
) -> None:
    """Serve a state directory until the process is told to stop.

    Parameters
    ----------
    listener : of :func:`recrawl.web.listening.bind`; closed at the end
    directory : of the state; a crawl may come into it later
    access : who may come in
    settings, config : of the crawl, where a configuration is at hand, and what it is called
    on_start : called once requests are answered
    request_s : that the head of a request may take
    """
    pages = CrawlPages(directory, access=access, settings=settings, config=config)
    server = _Server(
        make_app(pages, access), on_stop=pages.close, on_start=on_start, request_s=request_s
    )
    # Requests are not logged: they hold what people search for.
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    await server.serve(sockets=[listener])


class _Server(uvicorn.Server):
    """Lets dashboards go before it waits for open connections."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        on_stop: Callable[[], None],
        on_start: Callable[[], None] | None,
        request_s: float,
    ) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=partial(
                    ImpatientProtocol, request_s=request_s, open_ones=Connections(_OF_ONE_CLIENT)
                ),  # type: ignore[arg-type]
                backlog=_WAITING,
                access_log=False,
                log_level="error",
                server_header=False,
                proxy_headers=False,
                timeout_keep_alive=20,
                timeout_graceful_shutdown=2,
                limit_concurrency=_IN_ALL,
                h11_max_incomplete_event_size=32_768,
                lifespan="on",
                ws="none",
            )
        )
        self._on_stop = on_stop
        self._on_start = on_start

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End in order on a signal, and as if nobody had sent one: that is how people end it."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._end)
        yield

    def _end(self) -> None:
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        asyncio.get_running_loop().set_exception_handler(FewFiles())
        await super().startup(sockets)
        if self._on_start is not None and not self.should_exit:
            self._on_start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the endless answers first."""
        self._on_stop()
        await asyncio.sleep(0)
        await super().shutdown(sockets)


class FewFiles:
    """Tells of errors in the event loop, and once a minute that no file is left for connections.

    The loop would tell of each that waits, some thousands in a second.
    """

    def __init__(self) -> None:
        self._quiet_until_s = float("-inf")

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Tell of an error, as event loops have it told."""
        error = context.get("exception")
        if not (isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE)):
            loop.default_exception_handler(context)
        elif loop.time() >= self._quiet_until_s:
            self._quiet_until_s = loop.time() + _QUIET_S
            logging.getLogger("uvicorn.error").error(
                "connections wait, as this process may open no more files (`ulimit -n`)"
            )
