"""Protocol of endless orders: hand out the next accesses, and be stopped and gone on with."""

from collections.abc import Mapping
from typing import Any, Protocol, Self, TypeAlias

from numpy.typing import NDArray

from recrawl.kernels.arrays import Integers

State: TypeAlias = Mapping[str, NDArray[Any]]


class AccessStream(Protocol):
    """An endless, deterministic order of accesses."""

    def take(self, count: int) -> Integers:
        """Return the next ``count`` page numbers."""
        ...

    def checkpoint(self) -> dict[str, NDArray[Any]]:
        """Return the state as arrays, which ``numpy.savez`` can write."""
        ...

    @classmethod
    def restore(cls, state: State) -> Self:
        """Go on where a checkpoint was made: the same pages follow."""
        ...
