"""HTTP connections that end when a request does not come: or a few idle ones would be all."""

import asyncio
from typing import Any

from typing_extensions import override
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

__all__ = ["ImpatientProtocol"]


class ImpatientProtocol(H11Protocol):
    """Closes a connection on which a whole request head takes too long.

    The server's own timeout counts from an answer to the next byte; a client that sends nothing,
    or a byte a minute, would hold its connection for ever.

    Parameters
    ----------
    arguments, named : of the protocol
    request_s : for the head of a request, from the connection or the last answer on
    """

    def __init__(self, *arguments: Any, request_s: float, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._request_s = request_s
        self._giving_up: asyncio.TimerHandle | None = None

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    @override
    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        under_way: RequestResponseCycle | None = self.cycle  # None before the first request
        if under_way is None or under_way.response_complete:
            self._wait()
        else:
            self._stop_waiting()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self._giving_up is None:
            self._giving_up = self.loop.call_later(self._request_s, self._give_up)

    def _stop_waiting(self) -> None:
        if self._giving_up is not None:
            self._giving_up.cancel()
            self._giving_up = None

    def _give_up(self) -> None:
        self._giving_up = None
        if not self.transport.is_closing():
            self.transport.close()
