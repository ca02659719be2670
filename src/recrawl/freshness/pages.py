"""The pages of a plan: how fast each changes, what it is worth, what a fetch of it costs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Integers, Vector
from recrawl.kernels.blocks import BLOCK
from recrawl.kernels.columns import first_above, first_outside

Columns: TypeAlias = tuple[Vector, Vector, Vector, Vector, Vector]

_COLUMNS = ("change_rates", "weights", "fetch_costs", "min_rates", "max_rates", "hosts")
_DEFAULTS = {
    "weights": 1.0,
    "fetch_costs": 1.0,
    "min_rates": 0.0,
    "max_rates": np.inf,
    "hosts": 0,
}
_ONES = np.ones(BLOCK)
_ZEROS = np.zeros(BLOCK)
_INFINITE = np.full(BLOCK, np.inf)
_ONE_LEAF = np.zeros(1, dtype=np.int64)


@dataclass(frozen=True, eq=False, init=False)
class Pages:
    """Independent pages, each changing as a Poisson process.

    Parameters
    ----------
    change_rates : shape (n,), 1/time, >= 0 and finite
        Expected changes per unit of time. A page of rate 0 never goes stale.
    weights : shape (n,), >= 0 and finite, optional
        Worth of one fresh page for one unit of time; 1 for all when left out.
    fetch_costs : shape (n,), > 0 and finite, optional
        What one fetch takes from the budget; 1 for all when left out.
    min_rates : shape (n,), 1/time, >= 0 and finite, optional
        Least crawl rate of each page; 0 when left out.
    max_rates : shape (n,), 1/time, >= min_rates, inf for none, optional
        Greatest crawl rate of each page.
    hosts : shape (n,), integers >= 0, optional
        Number of each page's host.

    Raises
    ------
    InvalidModel
        A value is outside its domain; the message names the argument, the page and the value.

    Notes
    -----
    Arrays of float64 (and int64 hosts) are taken as they are, without a copy; do not change them
    while the object is in use. Validation reads each column once.
    """

    change_rates: Vector
    weights: Vector | None
    fetch_costs: Vector | None
    min_rates: Vector | None
    max_rates: Vector | None
    hosts: Integers | None
    n_hosts: int

    def __init__(
        self,
        change_rates: ArrayLike,
        weights: ArrayLike | None = None,
        fetch_costs: ArrayLike | None = None,
        min_rates: ArrayLike | None = None,
        max_rates: ArrayLike | None = None,
        hosts: ArrayLike | None = None,
    ) -> None:
        change = _vector("change_rates", change_rates)
        n = change.size
        if n == 0:
            raise InvalidModel("change_rates: 0 pages, at least 1 is needed")
        _check(change, n, "change_rates", ">= 0")
        given = {"weights": weights, "fetch_costs": fetch_costs, "min_rates": min_rates}
        columns: dict[str, Vector | None] = dict.fromkeys(given)
        for name, values in given.items():
            if values is not None:
                columns[name] = _vector(name, values)
                _check(columns[name], n, name, "> 0" if name == "fetch_costs" else ">= 0")
        caps = None if max_rates is None else _vector("max_rates", max_rates)
        if caps is not None:
            _check(caps, n, "max_rates", ">= 0", finite=False)
            _check_order(columns["min_rates"], caps)
        numbers = None if hosts is None else _hosts(hosts, n)
        self._set(change_rates=change, **columns, max_rates=caps, hosts=numbers)
        self._set(n_hosts=0 if numbers is None else int(numbers.max()) + 1)

    def _set(self, **values: object) -> None:
        """Fill the frozen fields."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return self.change_rates.size

    def columns(self) -> Columns:
        """Return the five numeric columns; a missing one as a short constant array."""
        return (
            self.change_rates,
            _ONES if self.weights is None else self.weights,
            _ONES if self.fetch_costs is None else self.fetch_costs,
            _ZEROS if self.min_rates is None else self.min_rates,
            _INFINITE if self.max_rates is None else self.max_rates,
        )

    def leaves(self) -> Integers:
        """Return the host of each page, or a dummy where there are none."""
        return _ONE_LEAF if self.hosts is None else self.hosts

    def total_weight(self) -> float:
        """Sum of the weights."""
        return float(len(self) if self.weights is None else self.weights.sum())

    def slices(self, size: int) -> Iterator["Pages"]:
        """Cut into consecutive parts of at most ``size`` pages, without copying."""
        for start in range(0, len(self), size):
            yield self.part(slice(start, start + size))

    @classmethod
    def unchecked(cls, n_hosts: int, **columns: NDArray[np.generic] | None) -> "Pages":
        """Make pages of columns that were checked before, such as parts read back from a file."""
        pages = object.__new__(cls)
        pages._set(**{name: columns.get(name) for name in _COLUMNS}, n_hosts=n_hosts)
        return pages

    @classmethod
    def join(cls, parts: Sequence["Pages"]) -> "Pages":
        """Put parts of one table together, in memory, without validating again.

        A column that only some of them have gets the default of the others.
        """
        joined = object.__new__(cls)
        for name in _COLUMNS:
            columns = [getattr(part, name) for part in parts]
            if all(column is None for column in columns):
                joined._set(**{name: None})
                continue
            filled = [
                np.full(len(part), _DEFAULTS[name]) if column is None else column
                for part, column in zip(parts, columns, strict=True)
            ]
            joined._set(**{name: np.concatenate(filled)})
        joined._set(n_hosts=max(part.n_hosts for part in parts))
        return joined

    def part(self, rows: slice | Integers) -> "Pages":
        """Return some rows without validating again; a slice is not copied."""
        part = object.__new__(Pages)
        for name in _COLUMNS:
            column = getattr(self, name)
            part._set(**{name: None if column is None else column[rows]})
        part._set(n_hosts=self.n_hosts)
        return part


def _vector(name: str, values: ArrayLike) -> Vector:
    try:
        vector = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidModel(f"{name} must be numbers: {error}") from None
    if np.ndim(values) != 1:
        raise InvalidModel(f"{name} must be a vector, got shape {np.shape(values)}")
    return vector


def _check(values: Vector | None, n: int, name: str, bound: str, *, finite: bool = True) -> None:
    assert values is not None
    if values.size != n:
        raise InvalidModel(f"{name} has {values.size} values for {n} pages")
    least = 0.0 if bound == ">= 0" else float(np.nextafter(0.0, 1.0))
    page = first_outside(values, least, np.finfo(np.float64).max if finite else np.inf)
    if page >= 0:
        wanted = f"finite and {bound}" if finite else bound
        raise InvalidModel(f"{name}[{page}] is {values[page]:g}, must be {wanted}")


def _check_order(floors: Vector | None, caps: Vector) -> None:
    if floors is not None and (page := first_above(floors, caps)) >= 0:
        raise InvalidModel(
            f"min_rates[{page}] is {floors[page]:g}, above max_rates[{page}] = {caps[page]:g}"
        )


def _hosts(hosts: ArrayLike, n: int) -> Integers:
    numbers = np.asarray(hosts)
    if numbers.ndim != 1 or numbers.size != n:
        raise InvalidModel(f"hosts has shape {numbers.shape} for {n} pages")
    if not np.issubdtype(numbers.dtype, np.integer):
        raise InvalidModel(f"hosts must be integers, got {numbers.dtype}")
    numbers = np.ascontiguousarray(numbers, dtype=np.int64)
    if numbers.min() < 0:
        page = int(numbers.argmin())
        raise InvalidModel(f"hosts[{page}] is {numbers[page]}, must be >= 0")
    return numbers
