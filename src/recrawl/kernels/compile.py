"""The one decorator that every compiled loop wears."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

__all__ = ["kernel", "reordering_kernel"]

Loop = TypeVar("Loop", bound=Callable[..., Any])


def kernel(loop: Loop) -> Loop:
    """Compile ``loop`` to machine code that runs without the interpreter's lock.

    The compiled code is cached on disk where that is possible; where neither the package's
    folder nor the user's cache folder can be written the loop is compiled at each start instead
    (numba itself would refuse to import). Kernels that call each other must stand in one file:
    the cache is keyed by the file, and would keep stale code otherwise.
    """
    try:
        return cast("Loop", numba.njit(cache=True, nogil=True, error_model="numpy")(loop))
    except RuntimeError:  # "cannot cache function: no locator available"
        return cast("Loop", numba.njit(nogil=True, error_model="numpy")(loop))


def reordering_kernel(loop: Loop) -> Loop:
    """Compile ``loop`` as :func:`kernel` does, free to add up in another order.

    Sums then run four at a time; the last bits of a result depend on the machine. Not-a-number
    and infinity keep their meaning.
    """
    order = {"reassoc", "contract", "nsz"}
    try:
        made = numba.njit(
            cache=True, nogil=True, error_model="numpy", fastmath=order, forceinline=True
        )(loop)
    except RuntimeError:
        made = numba.njit(nogil=True, error_model="numpy", fastmath=order)(loop)
    return cast("Loop", made)
