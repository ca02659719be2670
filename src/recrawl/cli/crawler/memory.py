"""Allocator calls that give freed memory back, for a process that runs for months."""

import asyncio
import contextlib
import ctypes
from collections.abc import AsyncIterator
from typing import Any, Final

# Of mallopt(3), in glibc.
_ARENA_MAX: Final = -8
_MMAP_THRESHOLD: Final = -3
_TRIM_THRESHOLD: Final = -1
_LARGE_BYTES: Final = 1024 * 1024
_TRIM_EVERY_S: Final = 15.0


def give_memory_back() -> None:
    """Have what pages took given back to the system; before threads are started.

    Else each thread keeps an area of its own, and pages of some hundred kilobytes leave holes in
    them that nothing fits into: a fifth of the memory of a crawl. Where there is no such allocator
    nothing is done.
    """
    mallopt = _of_glibc("mallopt")
    if mallopt is not None:
        for option, value in (
            (_ARENA_MAX, 1),
            (_MMAP_THRESHOLD, _LARGE_BYTES),
            (_TRIM_THRESHOLD, _LARGE_BYTES),
        ):
            mallopt(option, value)


@contextlib.asynccontextmanager
async def trimmed(every_s: float = _TRIM_EVERY_S) -> AsyncIterator[None]:
    """Have holes that pages and plans left given back as well, now and then.

    What ends the heap is given back by itself; a tenth of the memory of a crawl lies between things
    that stay. Looking for it takes some milliseconds.
    """
    trimming = asyncio.create_task(_trim(every_s), name="trim")
    try:
        yield
    finally:
        trimming.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await trimming


async def _trim(every_s: float) -> None:
    malloc_trim = _of_glibc("malloc_trim")
    while malloc_trim is not None:
        await asyncio.sleep(every_s)
        malloc_trim(0)


def _of_glibc(name: str) -> Any:
    with contextlib.suppress(OSError, AttributeError):
        return getattr(ctypes.CDLL(None), name)
    return None
