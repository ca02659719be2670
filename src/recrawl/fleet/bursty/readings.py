"""Four readings of how arrivals depend on the number of active robots.

Each returns one process per number of robots, on one set of phases, as
:class:`recrawl.fleet.bursty.model.BurstyBuffer` takes them (the fourth reading is to give them).
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel
from recrawl.processes.batch_arrivals import BatchArrivals


def independent_robots(
    robots: Sequence[BatchArrivals], *, idle: Literal["silent", "frozen"] = "silent"
) -> tuple[BatchArrivals, ...]:
    """Robots with processes of their own; with r active, robots 1 .. r deliver.

    Parameters
    ----------
    robots : the process of each
    idle : what the phase of an idle robot does: goes on, delivering nothing (``silent``), or
        stands still (``frozen``; then a fixed number of robots leaves phases that are never left,
        and only the last mode can be a process by itself, so it is refused for more than one
        robot with more than one phase)

    Notes
    -----
    Phases are tuples, one of each robot; their number is the product of all.
    """
    if not robots:
        raise InvalidModel("robots: at least one process is needed")
    if idle not in ("silent", "frozen"):
        raise InvalidModel(f"idle must be silent or frozen, got {idle!r}")
    most = max(robot.largest for robot in robots)
    modes = []
    for active in range(1, len(robots) + 1):
        total: np.ndarray | None = None
        for number, robot in enumerate(robots):
            parts = robot.padded(most)
            if number >= active:
                silent = robot.matrices.sum(axis=0) if idle == "silent" else 0 * parts[0]
                parts = np.concatenate([silent[None], 0 * parts[1:]])
            if total is None:
                total = parts
            else:
                first, second = np.eye(total.shape[1]), np.eye(parts.shape[1])
                total = np.stack(
                    [
                        np.kron(a, second) + np.kron(first, b)
                        for a, b in zip(total, parts, strict=True)
                    ]
                )
        assert total is not None
        try:
            modes.append(BatchArrivals(total))
        except InvalidModel as error:
            raise InvalidModel(
                f"arrivals with {active} robots active, idle = {idle}: {error}"
            ) from error
    return tuple(modes)


def thinned_robots(whole: BatchArrivals, shares: ArrayLike) -> tuple[BatchArrivals, ...]:
    """One process, of which mode r lets each batch pass with probability ``shares[r]``.

    Parameters
    ----------
    whole : with every batch
    shares : shape (modes,), > 0, at most 1, not decreasing
    """
    chances = np.asarray(shares, dtype=np.float64)
    if chances.ndim != 1 or not chances.size or np.any(np.diff(chances) < 0):
        raise InvalidModel(f"shares must be a list that does not decrease, got {chances.tolist()}")
    return tuple(whole.thinned(float(share)) for share in chances)


def marked_robots(
    silent: ArrayLike, robots: Sequence[Sequence[ArrayLike]]
) -> tuple[BatchArrivals, ...]:
    """One process whose batches are marked with the robot that brings them.

    Parameters
    ----------
    silent : D_0
    robots : for each robot l its D_1l, D_2l, ..., one for each batch size, as many for all;
        with r active, batches of robots beyond r are not delivered but their phase changes are
    """
    quiet = np.asarray(silent, dtype=np.float64)
    if quiet.ndim != 2 or quiet.shape[0] != quiet.shape[1]:
        raise InvalidModel(f"D0 must be square, got shape {quiet.shape}")
    parts = []
    for number, own in enumerate(robots):
        marks = [np.asarray(part, dtype=np.float64) for part in own]
        if not marks or any(part.shape != quiet.shape for part in marks):
            raise InvalidModel(f"marked robot {number + 1}: each D must be of shape {quiet.shape}")
        parts.append(marks)
    if not parts or len({len(own) for own in parts}) > 1:
        raise InvalidModel("marked robots: all need the same number of batch sizes, at least one")
    stack = np.array(parts)  # (robots, K, w, w)
    modes = []
    for active in range(1, len(parts) + 1):
        base = quiet + stack[active:].sum(axis=(0, 1))
        modes.append(BatchArrivals([base, *stack[:active].sum(axis=0)]))
    return tuple(modes)
