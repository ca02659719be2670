"""The service on a socket: gRPC's streams in, the frontier on a thread of its own.

What arrives while a transaction is written goes into the next one, so that many addresses share
a write, and an acknowledgement waits for no timer.
"""

import asyncio
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from time import time
from typing import Any, Final

import grpc

from recrawl.errors import InputError, StateError
from recrawl.integrations.revisits.options import RevisitOptions
from recrawl.integrations.urlfrontier.answers import ANSWERS, Refused, listed
from recrawl.integrations.urlfrontier.frontier import Frontier, Put, crawl_of
from recrawl.integrations.urlfrontier.interface import FAIL, METHODS, SERVICE, message

_TOGETHER: Final = 5_000  # addresses of a transaction
_UNANSWERED: Final = 10_000  # messages of a stream that are read before they are acknowledged
_GRACE_S: Final = 2.0
_Ack: Final = message("AckMessage")
_BatchAck: Final = message("BatchAck")


@dataclass(slots=True, eq=False)
class _Stream:
    """Acknowledgements of a call, in order, and what its client still waits for."""

    changed: asyncio.Event = field(default_factory=asyncio.Event)
    room: asyncio.Event = field(default_factory=asyncio.Event)
    ready: list[Any] = field(default_factory=list)
    n_open: int = 0
    has_ended: bool = False


@dataclass(slots=True)
class _Waiting:
    """A message whose addresses are to be written."""

    puts: list[Put]
    acknowledge: Callable[[list[int]], Any]
    stream: _Stream


class Service:
    """Answers the methods of the interface.

    Parameters
    ----------
    frontier : that all calls share
    clock : seconds since the epoch
    tell : told in words what went wrong
    """

    def __init__(
        self,
        frontier: Frontier,
        clock: Callable[[], float] = time,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._frontier, self._clock, self._tell = frontier, clock, tell
        self._state = ThreadPoolExecutor(1, thread_name_prefix="state")
        self._beside = ThreadPoolExecutor(1, thread_name_prefix="plan")
        self._waiting: list[_Waiting] = []
        self._arrived = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._address = ""

    async def start(self, host: str, port: int) -> int:
        """Listen; return the port.

        Raises
        ------
        InputError
            The port is taken or not allowed, or the address is not this machine's.
        """
        # Two services that listen on one port would share what clients ask, and neither the state.
        self._server = grpc.aio.server(options=(("grpc.so_reuseport", 0),))
        handlers = {method.name: self._handler(method) for method in METHODS}
        self._server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler(SERVICE, handlers),)
        )
        where = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        _check_free(host, port, where)
        port = self._server.add_insecure_port(where)
        self._address = f"{host}:{port}"
        await self._server.start()
        loop = asyncio.get_running_loop()
        self._tasks = [loop.create_task(self._commit()), loop.create_task(self._plan())]
        return port

    async def stop(self) -> None:
        """Let calls end, and close the state."""
        await self._server.stop(_GRACE_S)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._beside.shutdown(wait=True)
        await self._on_state(self._frontier.close)
        self._state.shutdown(wait=True)

    async def _on_state(self, work: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._state, work, *arguments)

    # -- methods --

    def _handler(self, method: Any) -> Any:
        read = message(method.asked).FromString
        if method.name == "GetURLs":  # answers are kept as the bytes that they are
            return grpc.unary_stream_rpc_method_handler(self._get, read)
        written = message(method.answered).SerializeToString
        if method.streams_in:
            take = self._take_one if method.name == "PutURLs" else self._take_many
            return grpc.stream_stream_rpc_method_handler(partial(self._put, take), read, written)
        if method.streams_out:
            return grpc.unary_stream_rpc_method_handler(self._list, read, written)
        answer = partial(self._answer, method.name)
        return grpc.unary_unary_rpc_method_handler(answer, read, written)

    async def _answer(self, name: str, request: Any, context: Any) -> Any:
        if name == "ListNodes":
            return message("StringList")(values=[self._address])
        if name not in ANSWERS:
            await context.abort(grpc.StatusCode.UNIMPLEMENTED, f"{name} is not offered here")
        try:
            return await self._on_state(ANSWERS[name], self._frontier, request, self._clock())
        except Refused as error:
            await context.abort(grpc.StatusCode[error.code], error.why)
        except StateError as error:
            self._tell(str(error))
            await context.abort(grpc.StatusCode.UNAVAILABLE, str(error))

    async def _list(self, request: Any, context: Any) -> AsyncIterator[Any]:
        for item in await self._on_state(lambda: list(listed(self._frontier, request))):
            yield item

    async def _get(self, request: Any, context: Any) -> AsyncIterator[bytes]:
        is_named = request.WhichOneof("item") == "crawlID"
        ask = partial(
            self._frontier.get,
            crawl_of(request.crawlID) if is_named else None,
            request.key,
            self._clock(),
            max_queues=request.max_queues,
            max_urls=request.max_urls_per_queue,
            hidden_s=float(request.delay_requestable),
        )
        for info in await self._on_state(ask):
            yield info

    # -- addresses that come in --

    async def _put(
        self,
        take: Callable[[Any, _Stream], _Waiting],
        requests: AsyncIterator[Any],
        context: Any,
    ) -> AsyncIterator[Any]:
        stream = _Stream()
        reader = asyncio.get_running_loop().create_task(self._read(take, requests, stream))
        try:
            while not (stream.has_ended and not stream.n_open and not stream.ready):
                await stream.changed.wait()
                stream.changed.clear()
                ready, stream.ready = stream.ready, []
                for ack in ready:
                    yield ack
        finally:
            reader.cancel()

    async def _read(
        self,
        take: Callable[[Any, _Stream], _Waiting],
        requests: AsyncIterator[Any],
        stream: _Stream,
    ) -> None:
        try:
            async for request in requests:
                self._waiting.append(take(request, stream))
                stream.n_open += 1
                self._arrived.set()
                if stream.n_open >= _UNANSWERED:
                    stream.room.clear()
                    await stream.room.wait()
        finally:
            stream.has_ended = True
            stream.changed.set()

    @staticmethod
    def _take_one(item: Any, stream: _Stream) -> _Waiting:
        kind = item.WhichOneof("item")
        info = item.known.info if kind == "known" else item.discovered.info
        name = item.ID or info.url
        put = Put(info, item.known.refetchable_from_date if kind == "known" else None)
        return _Waiting([put], lambda found: _Ack(ID=name, status=found[0]), stream)

    @staticmethod
    def _take_many(batch: Any, stream: _Stream) -> _Waiting:
        puts = [Put(info) for info in batch.items]
        return _Waiting(puts, lambda found: _BatchAck(ID=batch.ID, statuses=found), stream)

    async def _commit(self) -> None:
        while True:
            await self._arrived.wait()
            self._arrived.clear()
            while self._waiting:
                n = n_puts = 0
                while n < len(self._waiting) and n_puts < _TOGETHER:
                    n_puts += len(self._waiting[n].puts)
                    n += 1
                batch, self._waiting = self._waiting[:n], self._waiting[n:]
                puts = [put for one in batch for put in one.puts]
                _acknowledge(batch, await self._written(puts))

    async def _written(self, puts: list[Put]) -> Iterable[int]:
        try:
            found: list[int] = await self._on_state(self._frontier.put, puts, self._clock())
        except StateError as error:  # nothing of it was written: to be sent again
            self._tell(str(error))
            return [FAIL] * len(puts)
        except Exception as error:  # what one address brings on must not end it for all
            if len(puts) > 1:
                return [status for put in puts for status in await self._written([put])]
            self._tell(f"{puts[0].info.url!r}: {type(error).__name__}: {error}")
            return [FAIL]
        return found

    # -- plans --

    async def _plan(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                await loop.run_in_executor(self._beside, self._frontier.plan, self._clock())
                await self._on_state(self._frontier.refresh)
            except StateError as error:
                self._tell(str(error))
            except Exception as error:  # what was planned before holds until the next plan
                self._tell(f"no plan was made: {type(error).__name__}: {error}")
            await asyncio.sleep(self._frontier.options.replan_s)


def _acknowledge(batch: list[_Waiting], found: Iterable[int]) -> None:
    statuses = iter(found)
    for one in batch:
        one.stream.ready.append(one.acknowledge([next(statuses) for _ in one.puts]))
        one.stream.n_open -= 1
        one.stream.changed.set()
        one.stream.room.set()


def _check_free(host: str, port: int, where: str) -> None:
    # gRPC's own complaint goes to standard error, in lines of its own.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
            probe.listen()
        except OSError as error:
            raise InputError(
                f"--listen: {where}: {error.strerror}; name a port that is free, at an address of "
                "this machine"
            ) from None


async def serve(
    options: RevisitOptions,
    host: str,
    port: int,
    *,
    on_start: Callable[[int], None],
    tell: Callable[[str], None],
) -> None:
    """Serve a state until the process is told to stop.

    Parameters
    ----------
    options : of the service
    host, port : to listen on; 0 for any port that is free
    on_start : called with the port once calls are answered
    tell : told in words what went wrong

    Raises
    ------
    InputError
        There is no listening there.
    StateError
        The state cannot be used.
    """
    frontier = Frontier(options, time())
    service = Service(frontier, tell=tell)
    try:
        port = await service.start(host, port)
    except InputError:
        frontier.close()
        raise
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    on_start(port)
    await stopped.wait()
    await service.stop()
