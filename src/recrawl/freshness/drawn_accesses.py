"""Optimal frequencies of accesses that are each drawn independently, at any load."""

import numpy as np

from recrawl.freshness.even_accesses import tied
from recrawl.kernels.arrays import Vector


def draw_accesses(worths: Vector, decays: Vector) -> tuple[Vector, float]:
    r"""Maximise :math:`\sum a_i x_i (1 - h_i)/(1 - h_i + x_i h_i)` over :math:`\sum x_i = 1`.

    Parameters
    ----------
    worths : shape (n,), > 0; the a, equal where they differ by rounding only
    decays : shape (n,), > 0; minus the logarithms of the h, of any size

    Returns
    -------
    Frequencies, shape (n,), summing to 1, and the price of an access.

    Notes
    -----
    :math:`x_i = (\sqrt{a_i / p} - 1)^+ (1/h_i - 1)`; the pages of positive frequency are a prefix
    in the order of the worths, so one sort finds them. With M the odds 1/h - 1 and r the roots of
    the worths, :math:`\sqrt{a_i / p} - 1` is :math:`(r_i + \sum_j (r_i - r_j) M_j) / \sum_j r_j
    M_j`; its terms are summed by their logarithms, each sign for itself, so no load is too great.
    O(n log n).
    """
    worth = tied(worths)
    order = np.argsort(-worth, kind="stable")
    roots = np.sqrt(worth[order])
    decay = decays[order]
    logs = decay + np.log(-np.expm1(-decay))  # of the odds 1/h - 1, which may overflow
    with np.errstate(divide="ignore"):
        drops = np.log(-np.diff(roots, prepend=roots[0]))
    masses = np.logaddexp.accumulate(logs)
    before = np.concatenate([[-np.inf], masses[:-1]])
    lost = np.exp(np.minimum(np.logaddexp.accumulate(drops + before), 700.0))
    used = int(np.count_nonzero(lost < roots))
    spared = drops[1:used] + np.logaddexp.accumulate(logs[1:used][::-1])[::-1]
    spared = np.append(np.logaddexp.accumulate(spared[::-1])[::-1], -np.inf)
    margin = np.logaddexp(np.log(roots[:used] - lost[:used]), spared)
    total = np.logaddexp.reduce(np.log(roots[:used]) + logs[:used])
    frequencies = np.zeros(worth.size)
    frequencies[order[:used]] = np.exp(margin + logs[:used] - total)
    price = float(np.exp(2 * (total - np.logaddexp(0.0, masses[used - 1]))))
    return frequencies / frequencies.sum(), price
