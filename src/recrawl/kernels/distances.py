"""Distances between accesses to the same page, and the integer gaps that a price asks for."""

import numpy as np

from recrawl.kernels.arrays import Integers, Vector
from recrawl.kernels.compile import kernel, sized_kernel


@sized_kernel(lambda sequence, *_: float(sequence.size))
def running_distances(sequence: Integers, last: Integers, position: int, out: Integers) -> None:
    """Write for each slot the distance to the page's last access, 0 where it had none.

    Parameters
    ----------
    sequence : shape (k,), page of each slot; -1: idle
    last : shape (n,), slot of each page's last access or -1, brought up to date
    position : number of the first slot, >= 0
    out : shape (k,), slots, is written; 0 where idle
    """
    for t in range(sequence.size):
        page = sequence[t]
        if page < 0:
            out[t] = 0
            continue
        out[t] = position + t - last[page] if last[page] >= 0 else 0
        last[page] = position + t


@sized_kernel(lambda sequence, *_: 2.0 * sequence.size)
def cyclic_distances(sequence: Integers, last: Integers, out: Integers) -> None:
    """Write for each slot of a cycle the distance to the page's access before.

    Parameters
    ----------
    sequence : shape (k,), page of each slot, none idle
    last : shape (n,), scratch
    out : shape (k,), slots, is written
    """
    size = sequence.size
    for page in range(last.size):
        last[page] = -1
    for t in range(size):
        last[sequence[t]] = t - size
    for t in range(size):
        out[t] = t - last[sequence[t]]
        last[sequence[t]] = t


@kernel
def _index(worth: float, decay: float, rate: float, gap: float) -> float:
    return float(worth * (1 - np.exp(-decay * gap) * (1 + gap * rate)))


@sized_kernel(lambda worths, *_: 16.0 * worths.size)
def integer_gaps(
    worths: Vector, decays: Vector, rates: Vector, price: float, gaps: Vector
) -> tuple[float, float]:
    """Find whole gaps d with W(d - 1) <= p <= W(d), and sum (p - worth (1 - h^d)) / d and 1 / d.

    Parameters
    ----------
    worths : shape (n,), > 0, gain of serving a page that is surely stale
    decays, rates : shape (n,), > 0, -log h and 1 - h, of one slot
    price : p, of an access, > 0
    gaps : shape (n,), slots, a guess for each page, receives the answer; infinite for pages whose
        worth is not above the price
    """
    value, visits = 0.0, 0.0
    for page in range(gaps.size):
        worth, decay, rate = worths[page], decays[page], rates[page]
        if worth <= price:
            gaps[page] = np.inf
            continue
        share = price / worth
        z = decay * gaps[page]
        if not (0 < z < 700):
            z = np.sqrt(2 * share) if share < 0.5 else 2 - np.log1p(-share)
        for _ in range(100):
            slope = z * np.exp(-z)
            move = (share - (1 - np.exp(-z) * (1 + z))) / slope
            move = min(max(move, -0.5 * z), max(z, 1.0))
            z += move
            if abs(move) < 1e-9 * z:
                break
        d = max(np.floor(z / decay), 1.0)
        while d > 1 and _index(worth, decay, rate, d - 1) > price:
            d -= 1
        while _index(worth, decay, rate, d) < price and d * decay < 60:
            d += 1
        gaps[page] = d
        value += (price + worth * np.expm1(-decay * d)) / d
        visits += 1 / d
    return value, visits
