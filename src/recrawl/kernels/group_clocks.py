"""Clocks that groups of pages share: how fast they run in bins of time, and what a visit tells.

``Clocks`` are arrays. ``parents`` and ``shrinks`` are of groups, those around before those inside:
the group around each, and how many changes it counts for. ``leaves`` of shape (pages, 2) are each
page's groups, -1 for none; of no rows: there are no clocks. ``found`` and ``expected`` of shape
(groups, bins) are the changes found in a bin and those expected of it by the pages' own rates,
``speeds`` what follows. ``scale`` is the beginning of the first bin, the width of one, the instant
since which births are known, how far clocks are relied on, and the evidence for that; ``newest``
is the number of the bin that time has come to. ``ages`` of shape (2, cells) are changes found and
expected at ages that double from cell to cell, and ``born`` is when each page was. All times are in
one unit, and instants since one beginning.

The replay in :mod:`recrawl.kernels.revisits` calls these loops: after a change here, what numba has
cached of it has to go.
"""

import numpy as np

from recrawl.kernels.arrays import Integers, Vector
from recrawl.kernels.compile import kernel, reordering_kernel

Clocks = tuple[Integers, Vector, Integers, Vector, Vector, Vector, Vector, Integers, Vector, Vector]
_AHEAD = 1.0  # bins ahead, whose age is that of the near future
_SAMPLES = 4  # of the age within an interval
_KEPT = 1.0 - 1.0 / 5_000.0  # of the evidence for the clocks, from visit to visit
_LEAST = 1e-6  # chance that a finding is given, so that no visit decides


@reordering_kernel
def _cell(age: float, width: float, cells: int) -> int:
    """Return an age's cell: one for each doubling from a quarter of a bin on."""
    x = 8.0 * age / width
    if x < 2.0:
        return 0
    octave = int((np.float64(x).view(np.int64) >> 52) & 2047) - 1023
    return octave if octave < cells else cells - 1


@reordering_kernel
def _bin(now: float, scale: Vector, newest: Integers) -> int:
    """Return an instant's bin; it may be earlier than what was told last."""
    number = int(np.floor((now - scale[0]) / scale[1]))
    return number if number < newest[0] else newest[0]


@reordering_kernel
def aged(i: int, since: float, now: float, clocks: Clocks) -> float:
    """Mean factor of a page's age between two instants.

    Parameters
    ----------
    i : row of the page
    since, now : instants, since <= now
    clocks : see the module
    """
    scale, ages, born = clocks[6], clocks[8], clocks[9]
    if born[i] <= scale[2]:
        return 1.0
    factor = 0.0
    for k in range(_SAMPLES):
        age = since - born[i] + (now - since) * (k + 0.5) / _SAMPLES
        cell = _cell(age, scale[1], ages.shape[1])
        factor += ages[0, cell] / ages[1, cell]
    return factor / _SAMPLES


@reordering_kernel
def aged_ahead(i: int, now: float, clocks: Clocks) -> float:
    """Return how much faster than its own rate a page of this age will change soon.

    Parameters
    ----------
    i : row of the page
    now : instant
    clocks : see the module
    """
    scale, ages, born = clocks[6], clocks[8], clocks[9]
    if born[i] <= scale[2]:
        return 1.0
    cell = _cell(now - born[i] + _AHEAD * scale[1], scale[1], ages.shape[1])
    return float(ages[0, cell] / ages[1, cell])


@kernel
def turn(now: float, clocks: Clocks) -> None:
    """Bring the clocks to an instant: nothing is known yet of what happens in a new bin.

    Parameters
    ----------
    now : instant; nothing happens where it is in the newest bin or before
    clocks : see the module; ``found``, ``expected``, ``speeds`` and ``newest`` are written
    """
    found, expected, speeds, scale, newest = clocks[3], clocks[4], clocks[5], clocks[6], clocks[7]
    bins = found.shape[1]
    current = int((now - scale[0]) / scale[1])
    for number in range(max(newest[0] + 1, current - bins + 1), current + 1):
        place = number % bins
        found[:, place] = 0.0
        expected[:, place] = 0.0
        speeds[:, place] = 1.0
    newest[0] = max(newest[0], current)


@reordering_kernel
def clocked(i: int, since: float, now: float, clocks: Clocks) -> float:
    """Return the time passed on the clocks of page i; what is older than the bins as it is.

    In the unit of the page's own age: times :func:`aged` it is what its rate is for.

    Parameters
    ----------
    i : row of the page
    since, now : instants; 0 where now <= since
    clocks : see the module
    """
    leaves, speeds, scale, newest = clocks[2], clocks[5], clocks[6], clocks[7]
    bins = speeds.shape[1]
    directory, name = leaves[i, 0], leaves[i, 1]
    number, end, passed = _bin(now, scale, newest), now, 0.0
    while end > since:
        begin = scale[0] + number * scale[1]
        begin = begin if begin > since else since
        if number < 0 or number <= newest[0] - bins:
            passed += end - since
            break
        place = number % bins
        speed = speeds[directory, place]
        if name >= 0:
            speed = 0.5 * (speed + speeds[name, place])
        passed += speed * (end - begin)
        end = begin
        number -= 1
    return passed


@reordering_kernel
def believed_time(passed: float, elapsed: float, older: float, clocks: Clocks) -> float:
    """Return what is believed to have passed: the clocks' time as far as they have proved right.

    Parameters
    ----------
    passed : time on the clocks, as :func:`clocked` returns it
    elapsed : time in fact, in the same unit
    older : factor of the page's age, as :func:`aged` returns it
    clocks : see the module
    """
    relied = clocks[6][3]
    return float(older * (relied * passed + (1.0 - relied) * elapsed))


@reordering_kernel
def rely_on_clocks(with_clocks: float, without: float, clocks: Clocks) -> None:
    """Learn how far clocks are right, from the chances given to what a visit found.

    Parameters
    ----------
    with_clocks, without : in [0, 1], the chances by the clocks' time and by the time elapsed
    clocks : see the module; reliance and its evidence in ``scale`` are written
    """
    scale = clocks[6]
    scale[4] = _KEPT * scale[4] + np.log((with_clocks + _LEAST) / (without + _LEAST))
    scale[3] = 1.0 / (1.0 + np.exp(-scale[4]))


@kernel
def tell_clocks(
    i: int,
    since: float,
    now: float,
    changed: bool,
    hazard: float,
    stays: float,
    clocks: Clocks,
) -> None:
    """Tell the clocks of page i of a visit.

    Changes are shared among the groups that add up to the page's clock in the proportion of what
    each adds, and among bins by what was expected of each.

    Parameters
    ----------
    i : row of the page
    since, now : instants of the visit before and of this one
    changed : whether the page had changed
    hazard : change rate per time on the clocks, given that nothing changed, 1/time
    stays : chance that was given to that, in [0, 1]
    clocks : see the module; ``found``, ``expected``, ``speeds`` and ``ages`` are written
    """
    parents, shrinks, leaves, found, expected, speeds, scale, newest, ages, born = clocks
    bins = speeds.shape[1]
    older = aged(i, since, now, clocks)
    directory, name = leaves[i, 0], leaves[i, 1]
    share = 0.5 if name >= 0 else 1.0
    odds = 1.0 / max(1.0 - stays, 1e-9)
    number, end, passed = _bin(now, scale, newest), now, 0.0
    while end > since:
        begin = scale[0] + number * scale[1]
        begin = begin if begin > since else since
        if number < 0 or number <= newest[0] - bins:
            passed += end - since
            break
        place = number % bins
        lasted = hazard * older * (end - begin)
        for kind in range(2):
            g = name if kind else directory
            if g < 0:
                continue
            # What a leaf adds to the clock is what it explains of a change.
            explained = odds * share * speeds[g, place] * lasted if changed else 0.0
            passed += share * speeds[g, place] * (end - begin)
            while g >= 0:
                expected[g, place] += share * lasted
                found[g, place] += explained
                g = parents[g]
        for kind in range(2):
            g = name if kind else directory
            if g >= 0:
                _follow(g, place, parents, shrinks, found, expected, speeds)
        end = begin
        number -= 1
    if born[i] > scale[2]:
        for k in range(_SAMPLES):
            age = since - born[i] + (now - since) * (k + 0.5) / _SAMPLES
            cell = _cell(age, scale[1], ages.shape[1])
            lasted = hazard * passed / _SAMPLES
            if changed:
                ages[0, cell] += lasted * odds * ages[0, cell] / ages[1, cell]
            ages[1, cell] += lasted


@kernel
def _follow(
    leaf: int,
    place: int,
    parents: Integers,
    shrinks: Vector,
    found: Vector,
    expected: Vector,
    speeds: Vector,
) -> None:
    """Let the groups from the root down to a leaf follow what was told in one bin."""
    around, g = 1.0, leaf
    path = 0
    while g >= 0:  # a path is short: walk it once for each of its groups
        path += 1
        g = parents[g]
    for depth in range(path - 1, -1, -1):
        g = leaf
        for _ in range(depth):
            g = parents[g]
        around = (shrinks[g] * around + found[g, place]) / (shrinks[g] + expected[g, place])
        speeds[g, place] = around
