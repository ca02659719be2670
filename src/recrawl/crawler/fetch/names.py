"""Resolution of names, each to one IP address."""

import asyncio
import ipaddress
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from typing_extensions import override

from recrawl.errors import FetchError

_KEPT_S: Final = 900.0  # well above the time for which a crawl goes by an answer
_MOST: Final = 65_536
_AT_ONCE: Final = 128  # names that are looked up


class _Lookups:
    """Asks the system for names, each on a thread of its own, which nobody waits for at the end.

    The system may take half a minute for a name whose servers are away, and cannot be interrupted.
    On the loop's few threads some such names would hold up those of all other hosts.
    """

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(_AT_ONCE)

    async def getaddrinfo(self, *where: Any, **how: Any) -> Any:
        return await self._asked(partial(socket.getaddrinfo, *where, **how))

    async def getnameinfo(self, *where: Any) -> Any:
        return await self._asked(partial(socket.getnameinfo, *where))

    async def _asked(self, question: Callable[[], Any]) -> Any:
        await self._free.acquire()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Any] = loop.create_future()

        def tell(told: Any, error: Exception | None) -> None:
            self._free.release()  # not before, also where nobody waits for the answer any more
            if answer.cancelled():
                return
            if error is None:
                answer.set_result(told)
            else:
                answer.set_exception(error)

        def ask() -> None:
            told, failed = None, None
            try:
                told = question()
            except Exception as error:
                failed = error
            if not loop.is_closed():
                loop.call_soon_threadsafe(tell, told, failed)

        try:
            threading.Thread(target=ask, name="names", daemon=True).start()
        except RuntimeError as error:  # the system allows no more of them, for now
            self._free.release()
            raise socket.gaierror(socket.EAI_AGAIN, str(error)) from error
        return await answer


class LoopbackResolver(AbstractResolver):
    """Resolves names below ``localhost`` to loopback, as RFC 6761 asks; others by the system."""

    def __init__(self) -> None:
        self._system = aiohttp.ThreadedResolver(_Lookups())  # type: ignore[arg-type]

    @override
    async def resolve(self, host: str, port: int = 0, family: int = 0) -> list[ResolveResult]:
        name = host.rstrip(".").lower()
        if name.endswith(".localhost"):
            host = "127.0.0.1"
        return await self._system.resolve(host, port, family)  # type: ignore[arg-type]

    @override
    async def close(self) -> None:
        await self._system.close()


@dataclass(frozen=True, slots=True)
class _Known:
    ip: str
    at_s: float
    failed: str | None  # the IP address of the name to which there was no connection last


class OneAddress(AbstractResolver):
    """Leads each name to one IP address, until it is learned anew.

    Of several the first is taken, IPv4 before IPv6, each by number: so hosts of one server get the
    same one, whatever order the system tells them in. One to which no connection could be made
    comes last.

    Parameters
    ----------
    inner : tells all IP addresses of a name
    now_s : seconds, by a clock that goes on
    """

    def __init__(
        self, inner: AbstractResolver, *, now_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._inner, self._now_s = inner, now_s
        self._known: OrderedDict[str, _Known] = OrderedDict()

    async def learn(self, name: str) -> str:
        """Resolve a name anew, and lead it there from now on.

        Raises
        ------
        FetchError
            ``dns``: it has no IP address.
        """
        name = name.rstrip(".").lower()
        before = self._known.get(name)
        failed = None if before is None else before.failed
        try:
            told = [answer["host"] for answer in await self._inner.resolve(name)]
            found = {str(ip): ip for ip in map(_normal, told)}
        except (OSError, ValueError) as error:
            raise FetchError("dns", f"{name}: {error}"[:300]) from error
        if not found:
            raise FetchError("dns", f"{name} has no IP address")
        ip = min(found, key=lambda one: (one == failed, found[one].version, int(found[one])))
        self._note(name, _Known(ip, self._now_s(), failed))
        return ip

    def fail(self, name: str) -> None:
        """Note that no connection could be made to where a name leads."""
        name = name.rstrip(".").lower()
        known = self._known.get(name)
        if known is not None:
            self._known[name] = _Known(known.ip, known.at_s, known.ip)

    def _note(self, name: str, known: _Known) -> None:
        self._known[name] = known
        self._known.move_to_end(name)
        # What a crawl still goes by is never forgotten: it would be led elsewhere.
        while len(self._known) > _MOST:
            first = next(iter(self._known))
            if self._known[first].at_s > self._now_s() - _KEPT_S:
                break
            del self._known[first]

    @override
    async def resolve(self, host: str, port: int = 0, family: int = 0) -> list[ResolveResult]:
        known = self._known.get(host.rstrip(".").lower())
        try:
            ip = await self.learn(host) if known is None else known.ip
        except FetchError as error:
            raise OSError(error.args[0]) from error
        return [
            ResolveResult(
                hostname=host,
                host=ip,
                port=port,
                family=socket.AF_INET6 if ":" in ip else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
        ]

    @override
    async def close(self) -> None:
        await self._inner.close()


def _normal(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Return an IP address without its zone; IPv4 within IPv6 is IPv4."""
    ip = ipaddress.ip_address(text.partition("%")[0])
    inner = ip.ipv4_mapped if isinstance(ip, ipaddress.IPv6Address) else None
    return inner or ip
