"""Longest wait of a fetched copy before it is better fetched again."""

from math import log
from typing import Final

_HALF_LIFE: Final = log(2.0)


_USUAL_WAITS: Final = 2.0


def patience_s(
    change_rate_per_s: float | None, *, least_s: float, longest_s: float, usual_s: float
) -> float:
    r"""Return how long a copy of a page waits in the buffer before it counts as obsolete.

    Parameters
    ----------
    change_rate_per_s : of the page, >= 0; None: not known yet
    least_s : no page is visited more often than that, so no copy is obsolete sooner, > 0
    longest_s : every copy is obsolete after so long, > 0
    usual_s : how long pages wait in the buffer these days, >= 0. Another copy would wait as long,
        so nothing is won by giving up this one before it has waited twice that

    Returns
    -------
    float
        :math:`\ln 2 / \lambda`, after which the copy is more likely stale than fresh if changes
        are Poisson, within the bounds; ``longest_s`` wins where they contradict each other.

    References
    ----------
    K. Avrachenkov et al., Computer Networks 2011 (there the time until a page goes stale is random
    and its law given; here it is known from the page's visits).
    """
    if not change_rate_per_s:
        return longest_s
    return min(max(_HALF_LIFE / change_rate_per_s, least_s, _USUAL_WAITS * usual_s), longest_s)
