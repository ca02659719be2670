"""HTTP connections that end when a request does not come: or a few idle ones would be all.

No client has more than its share of them either: beyond it, the one that has waited for a request
for longest is closed for each that comes.
"""

import asyncio
from typing import Any

from typing_extensions import override
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle


class Connections:
    """The open connections of each client.

    Parameters
    ----------
    at_most : of one client address
    """

    def __init__(self, at_most: int) -> None:
        self._at_most = at_most
        self._of_client: dict[str, dict[ImpatientProtocol, None]] = {}

    def add(self, client: str, connection: "ImpatientProtocol") -> None:
        """Take one in, and close another of this client where it has too many."""
        own = self._of_client.setdefault(client, {})
        own[connection] = None
        if len(own) > self._at_most:
            # Where requests are under way on all others, the new one has to go.
            next(one for one in own if one is connection or one.is_idle).end()

    def remove(self, client: str, connection: "ImpatientProtocol") -> None:
        """Forget one that was closed."""
        own = self._of_client.get(client, {})
        own.pop(connection, None)
        if not own:
            self._of_client.pop(client, None)


class ImpatientProtocol(H11Protocol):
    """Closes a connection on which a whole request head takes too long.

    The server's own timeout counts from an answer to the next byte; a client that sends nothing,
    or a byte a minute, would hold its connection for ever.

    Parameters
    ----------
    arguments, named : of the protocol
    request_s : for the head of a request, from the connection or its first byte on
    open_ones : all connections of the server
    """

    def __init__(
        self, *arguments: Any, request_s: float, open_ones: Connections, **named: Any
    ) -> None:
        super().__init__(*arguments, **named)
        self._request_s = request_s
        self._open_ones = open_ones
        self._giving_up: asyncio.TimerHandle | None = None

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()
        self._open_ones.add(self._address, self)

    @override
    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.is_idle:
            self._wait()
        else:
            self._stop_waiting()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._open_ones.remove(self._address, self)
        super().connection_lost(exc)

    @property
    def is_idle(self) -> bool:
        """Whether no request is under way."""
        under_way: RequestResponseCycle | None = self.cycle  # None before the first request
        return under_way is None or under_way.response_complete

    def end(self) -> None:
        """Close the connection."""
        self._stop_waiting()
        if not self.transport.is_closing():
            self.transport.close()

    @property
    def _address(self) -> str:
        return self.client[0] if self.client else ""

    def _wait(self) -> None:
        if self._giving_up is None:
            self._giving_up = self.loop.call_later(self._request_s, self._give_up)

    def _stop_waiting(self) -> None:
        if self._giving_up is not None:
            self._giving_up.cancel()
            self._giving_up = None

    def _give_up(self) -> None:
        self._giving_up = None
        self.end()
