"""Answers without an end."""

from collections.abc import AsyncIterator, Callable

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send
from typing_extensions import override


class EventStream(StreamingResponse):
    """An answer without an end, whose place is given back however it ends.

    Parameters
    ----------
    messages : its content
    leave : called at the end, also where no message was ever asked for
    """

    def __init__(self, messages: AsyncIterator[bytes], leave: Callable[[], None]) -> None:
        super().__init__(messages, media_type="text/event-stream")
        self._leave = leave

    @override
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._leave()
