"""Names that nobody answers for, and those of all other hosts."""

import asyncio
import socket
import threading
from typing import Any

import pytest

from recrawl.crawler.fetch.names import LoopbackResolver


def test_names_whose_servers_are_away_hold_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are, and whether somebody still waits for them."""
    away, asked = threading.Event(), threading.Semaphore(0)
    system = socket.getaddrinfo

    def slow(host: str, *where: Any, **how: Any) -> Any:
        if host.startswith("away"):
            asked.release()
            away.wait(30)
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        return system("127.0.0.1", *where, **how)

    async def main() -> tuple[list[str], list[object]]:
        resolver = LoopbackResolver()
        waits = [asyncio.ensure_future(resolver.resolve(f"away{n}.test")) for n in range(100)]
        while not all(wait.done() for wait in waits[:20]):
            await asyncio.sleep(0)
            for wait in waits[:20]:
                wait.cancel()
        told = await resolver.resolve("here.test", 80)
        away.set()
        return [one["host"] for one in told], await asyncio.gather(*waits, return_exceptions=True)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    found, failed = asyncio.run(main())
    assert found == ["127.0.0.1"]
    assert all(isinstance(one, asyncio.CancelledError) for one in failed[:20])
    assert all(isinstance(one, socket.gaierror) for one in failed[20:])


def test_a_name_that_cannot_be_one_fails_as_such() -> None:
    """With what the system says, where it was asked."""

    async def main() -> None:
        await LoopbackResolver().resolve("a" * 80 + ".test", 80)

    with pytest.raises((OSError, UnicodeError)):
        asyncio.run(main())


def test_names_that_no_thread_can_ask_for_fail_for_now(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a system allows no more threads; it ended the crawl. Later ones are asked for again."""

    def none(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    async def main() -> list[str]:
        resolver = LoopbackResolver()
        with monkeypatch.context() as patched:
            patched.setattr(threading.Thread, "start", none)
            for _ in range(200):  # more than are asked for at once
                with pytest.raises(socket.gaierror, match="new thread"):
                    await resolver.resolve("localhost", 80)
        return [one["host"] for one in await resolver.resolve("localhost", 80)]

    assert asyncio.run(main())
