"""Protocol of endless orders: hand out the next accesses, and be stopped and gone on with."""

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol, Self, TypeAlias

import numpy as np
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


class KeptStream:
    """A stream whose state is some arrays and whole numbers of its own, by their names."""

    _ARRAYS: ClassVar[tuple[str, ...]] = ()
    _NUMBERS: ClassVar[tuple[str, ...]] = ()

    def checkpoint(self) -> dict[str, NDArray[Any]]:
        """Return the state as arrays."""
        kept = {name: getattr(self, f"_{name}").copy() for name in self._ARRAYS}
        if self._NUMBERS:
            kept["numbers"] = np.array([getattr(self, f"_{name}") for name in self._NUMBERS])
        return kept

    @classmethod
    def restore(cls, state: State) -> Self:
        """Go on where a checkpoint was made."""
        stream = cls.__new__(cls)
        for name in cls._ARRAYS:
            setattr(stream, f"_{name}", np.array(state[name]))
        for place, name in enumerate(cls._NUMBERS):
            setattr(stream, f"_{name}", int(state["numbers"][place]))
        return stream
