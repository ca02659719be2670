"""Optimal frequencies of accesses that are evenly spaced, at any load."""

import numpy as np

from recrawl.freshness.allocation import solve_even_freshness
from recrawl.freshness.pages import Pages
from recrawl.kernels.arrays import Vector

_LIGHT = 1e-3  # one minus the price in units of the greatest worth, above which digits last


def share_accesses(worths: Vector, decays: Vector) -> tuple[Vector, float]:
    r"""Minimise :math:`-\sum a_i x_i (1 - e^{-\ell_i/x_i})` over :math:`\sum x_i = 1`.

    Parameters
    ----------
    worths : shape (n,), > 0; the a, equal where they differ by rounding only
    decays : shape (n,), > 0; the ell, of any size

    Returns
    -------
    Frequencies, shape (n,), summing to 1, and the price of an access.

    Notes
    -----
    With :math:`z = \ell/x` it is :math:`a(1 - e^{-z}(1 + z)) = p`. At a high load the price is the
    greatest worth to all digits, so it is written as that worth times :math:`1 - e^{-u}`; then
    :math:`z - \log(1 + z)` is minus the logarithm of :math:`1 - p/a_i`, and the sum is solved for
    u. A budget that lies within one step of u is met by blending the two ends, which is exact for
    pages that enter there together.
    """
    a = tied(worths)
    plan = solve_even_freshness(Pages(decays, a * decays), 1.0)
    top = float(a.max())
    if plan.price < (1 - _LIGHT) * top:
        return plan.crawl_rates / plan.crawl_rates.sum(), plan.price
    below = (top - a) / top

    def demand(u: float) -> Vector:
        out = np.zeros(a.size)
        used = below < np.exp(-u) if u < 700 else below == 0
        rest = u - np.log(top / a[used])
        rest = rest - np.log1p(-below[used] * np.exp(min(u, 700.0)))
        out[used] = decays[used] / _normal_age(rest)
        return out

    # A page asks for less than its decay over u - 0.15, so that all ask for less than one there.
    low, high = -np.log(_LIGHT) / 2, float(decays.sum()) + 2.0
    while low < (middle := 0.5 * (low + high)) < high:
        low, high = (middle, high) if demand(middle).sum() > 1 else (low, middle)
    more, less = demand(low), demand(high)
    part = (1 - less.sum()) / (more.sum() - less.sum()) if more.sum() > less.sum() else 0.0
    shares = less + part * (more - less)
    return shares / shares.sum(), top * float(-np.expm1(-low))


def tied(worths: Vector) -> Vector:
    """Make worths equal that differ by rounding only: weights in proportion to rates are meant."""
    order = np.argsort(-worths, kind="stable")
    falls = worths[order]
    new = np.append(True, falls[1:] < falls[:-1] * (1 - 1e-15))
    out = np.empty_like(worths)
    out[order] = falls[np.maximum.accumulate(np.where(new, np.arange(falls.size), 0))]
    return out


def _normal_age(rest: Vector) -> Vector:
    """Solve z - log(1 + z) = rest by Newton's method, which falls to the root of a convex curve."""
    z = rest + np.log1p(rest + np.sqrt(2 * rest)) + 1e-300
    for _ in range(60):
        move = (z - np.log1p(z) - rest) * (1 + z) / z
        z = z - move
        if np.all(np.abs(move) <= 1e-15 * z):
            break
    return np.asarray(z)
