"""Visits as evidence: put in order, checked, and turned into intervals."""

from dataclasses import dataclass

import numpy as np

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Flags, Integers, Vector


@dataclass(frozen=True, slots=True, eq=False)
class VisitIntervals:
    """Intervals between visits, changed or not.

    Parameters
    ----------
    page : shape (v,), page of each visit, ascending
    elapsed : shape (v,), time since the visit before, > 0
    changed : shape (v,)
    rows : shape (v,), row of each visit in the record
    """

    page: Integers
    elapsed: Vector
    changed: Flags
    rows: Integers


def intervals_between(page: Integers, visited_at: Vector, changed: Flags) -> VisitIntervals:
    """Turn visits into intervals; a page's first visit only starts its clock.

    Parameters
    ----------
    page : shape (v,), >= 0
    visited_at : shape (v,), instants; each page's must ascend in the order given
    changed : shape (v,), whether the page had changed since its visit before

    Raises
    ------
    InvalidModel
        Visits of one page are out of order or twice at one instant; the message says which rows.
    """
    order = np.argsort(page, kind="stable")
    same = page[order][1:] == page[order][:-1]
    elapsed = np.diff(visited_at[order])
    wrong = np.flatnonzero(same & ~(elapsed > 0))
    if wrong.size:
        before, after = order[wrong[0]], order[wrong[0] + 1]
        what = "at the same time as" if elapsed[wrong[0]] == 0 else "before"
        raise InvalidModel(
            f"row {after + 1}: the visit is {what} that of row {before + 1}, of the same page; "
            "visits must be in order of time, each once"
        )
    later = order[1:][same]
    return VisitIntervals(page[later], elapsed[same], changed[later], later)
