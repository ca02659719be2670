"""What a process that runs for months asks of the allocator of its memory."""

import contextlib
import ctypes
from typing import Final

__all__ = ["give_memory_back"]

# Of mallopt(3), in glibc.
_ARENA_MAX: Final = -8
_MMAP_THRESHOLD: Final = -3
_TRIM_THRESHOLD: Final = -1
_LARGE_BYTES: Final = 1024 * 1024


def give_memory_back() -> None:
    """Have what pages took given back to the system; before threads are started.

    Else each thread keeps an area of its own, and pages of some hundred kilobytes leave holes in
    them that nothing fits into: a fifth of the memory of a crawl. Where there is no such allocator
    nothing is done.
    """
    with contextlib.suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        for option, value in (
            (_ARENA_MAX, 1),
            (_MMAP_THRESHOLD, _LARGE_BYTES),
            (_TRIM_THRESHOLD, _LARGE_BYTES),
        ):
            mallopt(option, value)
