"""The golden ratio policy: accesses at the multiples of the golden ratio, around a circle."""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Integers, Vector
from recrawl.kernels.orders import serve_golden
from recrawl.sequencing.frequencies import check_frequencies, round_to_cycle
from recrawl.sequencing.streams import KeptStream

__all__ = [
    "GoldenStream",
    "fibonacci",
    "golden_cycle",
    "golden_limit",
    "golden_ratio",
    "golden_second_moment",
]

PHI: Final = (1 + 5**0.5) / 2


def fibonacci(k: int) -> int:
    """Return the k-th Fibonacci number, with F_1 = F_2 = 1."""
    last, here = 0, 1
    for _ in range(k - 1):
        last, here = here, last + here
    return here if k > 0 else 0


class GoldenStream(KeptStream):
    r"""The golden ratio policy, point by point around the circle, from any point on.

    Parameters
    ----------
    frequencies : shape (n,), >= 0, of positive sum
    k : the cycle has F_k slots; None for the least that holds 1,000 slots for each page

    Notes
    -----
    Page i owns the consecutive points :math:`j` of its share of :math:`1..F_k`, and accesses happen
    in the order of :math:`j\phi^{-1} \bmod 1`. Since :math:`F_{k-1}^2 \equiv \pm 1 \pmod{F_k}` the
    next point in that order is :math:`j \pm F_{k-1} \bmod F_k`, so a step is O(1): an addition and
    a look into a guide table. Nothing but the position changes; any slot can be reached at once.

    References
    ----------
    E. G. Coffman, Z. Liu, R. R. Weber, "Optimal robot scheduling for web search engines", Journal
    of Scheduling 1(1), 1998, section 5. A. Itai, Z. Rosberg, IEEE Transactions on Automatic
    Control 29, 1984.
    """

    _ARRAYS = ("ends", "guide")
    _NUMBERS = ("stride", "modulus", "first", "position")

    def __init__(self, frequencies: ArrayLike, k: int | None = None) -> None:
        shares = check_frequencies(frequencies)
        order = least_order(1000 * shares.size) if k is None else k
        if not 2 <= order <= 78:
            raise InvalidModel(f"k must be from 2 to 78, got {order}")
        self._modulus = fibonacci(order)
        self._stride = fibonacci(order - 2) if order % 2 else fibonacci(order - 1)
        counts = round_to_cycle(shares, self._modulus)
        self._ends = np.cumsum(counts)
        edges = np.arange(shares.size) * (self._modulus / shares.size)
        self._guide = np.searchsorted(self._ends, edges.astype(np.int64), side="right")
        self._first = self._position = self._smallest()

    @property
    def length(self) -> int:
        """Slots after which the order repeats."""
        return self._modulus

    def take(self, count: int) -> Integers:
        """Return the next ``count`` page numbers."""
        out = np.empty(count, dtype=np.int64)
        self._position = serve_golden(
            self._ends, self._guide, self._stride, self._modulus, self._position, out
        )
        return out

    def seek(self, slot: int) -> None:
        """Go to a slot of the cycle, counted from 0."""
        self._position = (self._first + slot * self._stride) % self._modulus

    def _smallest(self) -> int:
        """Return the point of 1 .. F_k, counted from 0, that lies first on the circle.

        The distance of j / phi from an integer is least for Fibonacci numbers, alternating in sign.
        """
        order = next(k for k in range(2, 80) if fibonacci(k) == self._modulus)
        if self._modulus <= 2:
            return 0 if self._modulus == 1 else 1
        point = fibonacci(order) if order % 2 else fibonacci(order - 1)
        return point - 1


def least_order(length: int) -> int:
    """Return the least k with F_k >= length, at most 78 (the last below 2**53)."""
    return next((k for k in range(3, 78) if fibonacci(k) >= length), 78)


def golden_cycle(frequencies: ArrayLike, k: int) -> Integers:
    """Return the cycle of F_k slots of the golden ratio policy.

    Parameters
    ----------
    frequencies : shape (n,), >= 0, of positive sum
    k : 2 .. 78

    Raises
    ------
    InvalidModel
        When F_k is less than the number of pages of positive frequency, or k outside its range.
    """
    stream = GoldenStream(frequencies, k)
    return stream.take(stream.length)


def golden_limit(frequencies: ArrayLike) -> tuple[Integers, Vector]:
    r"""Return the distances of the golden ratio policy and their rates as the cycle grows.

    Parameters
    ----------
    frequencies : shape (n,), > 0, of positive sum

    Returns
    -------
    distances : shape (n, 3), three consecutive Fibonacci numbers for each page
    rates : shape (n, 3), how many of each distance begin per slot; rows sum to the frequencies

    Notes
    -----
    With :math:`\phi^{-j} \le f < \phi^{-(j-1)}` the distances are :math:`F_j, F_{j+1}, F_{j+2}`
    with rates :math:`f-\phi^{-j},\ f-\phi^{-(j+1)},\ \phi^{-(j-1)}-f`. (The paper prints
    :math:`\lceil\ln_\phi f\rceil` for j, which must be of :math:`1/f`.)
    """
    shares = check_frequencies(frequencies)
    if np.any(shares == 0):
        raise InvalidModel("frequencies must be > 0 for a limit of distances")
    order = np.ceil(-np.log(shares) / np.log(PHI) - 1e-12).astype(np.int64)
    order = np.where(shares < PHI ** -order.astype(np.float64) * (1 - 1e-12), order + 1, order)
    order = np.maximum(order, 1)
    numbers = np.array([fibonacci(k) for k in range(int(order.max()) + 3)])
    distances = np.stack([numbers[order], numbers[order + 1], numbers[order + 2]], axis=1)
    j = order.astype(np.float64)
    rates = np.stack([shares - PHI**-j, shares - PHI ** -(j + 1), PHI ** -(j - 1) - shares], axis=1)
    return distances, np.maximum(rates, 0)


def golden_second_moment(x: ArrayLike) -> Vector:
    r"""Return the limiting second moment of f times the distance, for f to 0 with f phi^j = x.

    Parameters
    ----------
    x : in [1, phi)

    Notes
    -----
    :math:`\tfrac{2\phi x}{5}(\phi^2 - x)`: a parabola that is :math:`2\phi^2/5 = 1.047` at both
    ends and :math:`\phi^5/10 = 1.109` at :math:`x = \phi^2/2`. Its ends are what the paper prints
    as an upper bound on the ratio of costs; they are the best case, and 1.109 is the worst.
    """
    at = np.asarray(x, dtype=np.float64)
    return np.asarray(2 * PHI * at / 5 * (PHI**2 - at))


def golden_ratio(load: float, x: ArrayLike) -> Vector:
    r"""Return the limiting ratio of the cost to C* for frequencies f to 0 with f phi^j = x.

    Parameters
    ----------
    load : q = mu E X, changes per access, > 0
    x : in [1, phi)

    Notes
    -----
    In units of 1/f the distances are :math:`x/\sqrt5, \phi x/\sqrt5, \phi^2x/\sqrt5` with weights
    :math:`(x-1)/x, (x-1/\phi)/x, (\phi-x)/x`. Equation (18) of the paper is the value at x = 1,
    the least.
    """
    at = np.asarray(x, dtype=np.float64)
    kept = np.zeros_like(at)
    for power, weight in enumerate((at - 1, at - 1 / PHI, PHI - at)):
        kept += weight / at * np.exp(-load * PHI**power * at / 5**0.5)
    return np.asarray((load - 1 + kept) / (load + np.expm1(-load)))
