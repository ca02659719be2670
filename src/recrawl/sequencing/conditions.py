"""Is the problem well posed: Conditions (2) to (4), and pages that are never worth visiting."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from recrawl.kernels.arrays import Integers
from recrawl.sequencing.costs import DistanceCosts

Condition: TypeAlias = Literal["(2)", "(3)", "(4)", "none"]


@dataclass(frozen=True, eq=False)
class Conditions:
    """Condition of Altman et al. that the costs meet, and what follows.

    Parameters
    ----------
    met : "(2)" costs grow faster than lines; "(3)" strictly convex, with asymptotes of one offset;
        "(4)" lines of one offset; "none" of them
    explanation : what this means for the order
    at_risk : pages that some optimal policy may leave out, those of smaller gain than another
    """

    met: Condition
    explanation: str
    at_risk: Integers


def check_conditions(costs: DistanceCosts, *, longest: int = 64) -> Conditions:
    r"""Check Conditions (2) to (4) on the first distances and the asymptotes.

    Parameters
    ----------
    costs : convex costs
    longest : distances on which strict convexity is checked

    Notes
    -----
    Under any of them some optimal policy uses every page infinitely often (Theorem 3.1). Where the
    asymptotes :math:`a_m x + C_m` have different offsets, the pages of greater :math:`C_m` are at
    risk: a visit to m lowers the cost by at most :math:`-C_m` in the long run. For obsolescence
    :math:`C_m = -c_m/(\mu_m EX)`, so those with SMALL :math:`c_m/\mu_m` may be best left out; the
    paper's Remark 6.1 has the inequality the other way round.
    """
    table = costs.tabulate(longest)
    bends = np.diff(table, 2, axis=1)
    size = np.abs(table).max(axis=1, keepdims=True)
    strict = bool(np.all(bends[:, : min(8, bends.shape[1])] > 1e-15 * size))
    nobody = np.empty(0, dtype=np.int64)
    if np.all(np.isinf(costs.slopes)):
        return Conditions("(2)", "costs grow faster than any line: every page is visited", nobody)
    offsets = costs.offsets
    if np.all(np.isneginf(offsets)):
        return Conditions(
            "none", "no cost has an asymptote: a visit gains without bound in the end", nobody
        )
    if np.any(np.isneginf(offsets)):
        offsets = np.where(np.isneginf(offsets), -1e300, offsets)
    scale = np.abs(offsets).max() + np.abs(table[:, 0]).max()
    alike = bool(np.ptp(offsets) <= 1e-12 * scale) if np.all(np.isfinite(offsets)) else False
    lines = bool(np.all(np.abs(bends) <= 1e-12 * size))
    if alike and lines:
        return Conditions("(4)", "costs are lines: any order that visits all is optimal", nobody)
    if alike and strict:
        return Conditions(
            "(3)", "strictly convex with one offset: every page is visited again and again", nobody
        )
    risk = np.flatnonzero(offsets > offsets.min() + 1e-12 * scale)
    names = ", ".join(map(str, risk[:8])) + (", ..." if risk.size > 8 else "")
    return Conditions(
        "none",
        f"the asymptotes have different offsets: pages {names} gain less by a visit than "
        "others, and may be best never visited; weights proportional to change rates rule it out",
        risk,
    )
