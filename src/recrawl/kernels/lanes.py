"""Twenty-four single-precision numbers as one value in loops: three vectors of eight.

The compiler unrolls short loops before it looks for vectors and then finds none, so sums over a
row of twenty-four run number by number, ten times slower. Here a row is one value that lives in
registers: ``at`` and ``put`` read and write it, ``+``, ``-`` and ``*`` work on it, also with one
number, and ``total`` adds it up, in any order. ``fetch`` asks for memory that is soon needed.

An array that is passed to a loop with several ways out is counted as owned once more, and once less
at the end, which costs more than what many a loop does. ``where`` is the array's place in memory,
read like the array itself, and safe until ``hold`` lets go of the array.

As written these are numpy; :mod:`recrawl.kernels.lane_instructions` has what a compiled loop calls.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

LANES = 24


class _Instruction:
    """A function that stands for an instruction once the loop around it is compiled."""

    def __init__(self, plain: Callable[..., Any]) -> None:
        self.plain = plain

    @cached_property
    def compiled(self) -> Any:
        from recrawl.kernels import lane_instructions

        return getattr(lane_instructions, self.plain.__name__)

    def __call__(self, *given: Any) -> Any:
        return self.plain(*given)


@_Instruction
def at(array: NDArray[Any], offset: int) -> Any:
    """Read a row.

    Parameters
    ----------
    array : contiguous, of single precision
    offset : of the row's first number, counted in numbers from the array's first
    """
    return array.reshape(-1)[offset : offset + LANES]


@_Instruction
def put(array: NDArray[Any], offset: int, row: Any) -> None:
    """Write a row.

    Parameters
    ----------
    array, offset : as of ``at``; the array is written
    row : of ``LANES`` numbers
    """
    array.reshape(-1)[offset : offset + LANES] = row


@_Instruction
def fetch(array: NDArray[Any], offset: int) -> None:
    """Bring a place into the cache.

    Parameters
    ----------
    array : contiguous, of any numbers
    offset : of the place, counted in numbers from the array's first
    """


@_Instruction
def where(array: NDArray[Any]) -> Any:
    """Return the array's place in memory."""
    return array.reshape(-1)


@_Instruction
def hold(array: NDArray[Any]) -> None:
    """Keep the array until here."""


@_Instruction
def total(row: Any) -> Any:
    """Add up a row."""
    return row.sum()
