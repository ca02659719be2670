"""The cells of a backtest: one policy at one budget in one order, none of which needs another."""

import contextlib
import os
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import dataclass
from typing import Final, TypeAlias

from recrawl.crawler.control.revisiting.revisit_policy import RevisitPolicy
from recrawl.errors import InputError
from recrawl.kernels.compile import machine_code
from recrawl.simulation.backtest import Backtest, Replayed, bound_by_foresight, run_policy
from recrawl.simulation.policy_replay import replay_policy

_MANY: Final = 20_000  # visits
Progress: TypeAlias = Callable[[int, int], None]
"""Told of the number of a cell, and of visits done in it."""


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """One replay.

    Parameters
    ----------
    test : history, budget and order
    policy : a name in ``POLICIES``, or a policy of one's own
    """

    test: Backtest
    policy: str | RevisitPolicy

    def replay(self, on_progress: Callable[[int], None] = lambda _: None) -> Replayed:
        """Replay it; what comes of it depends on nothing that was replayed before, or is beside it.

        Raises
        ------
        InputError
            A policy of one's own cannot be copied.
        """
        if self.policy == "clairvoyant":
            on_progress(self.test.n_ticks)
            return bound_by_foresight(self.test)
        # Its last bits are not those of the loops as written, but it takes seconds to compile.
        many = self.test.n_ticks > _MANY
        with machine_code() if many else contextlib.nullcontext():
            if isinstance(self.policy, str):
                return run_policy(self.test, self.policy, on_progress)
            return replay_policy(self.test, _copy(self.policy), on_progress)


def _copy(policy: RevisitPolicy) -> RevisitPolicy:
    """Return a policy that remembers nothing of other replays."""
    try:
        return deepcopy(policy)
    except Exception as error:
        raise InputError(
            f"policies: {policy.name} cannot be copied, and each replay has a copy of its own: "
            f"{error}"
        ) from error


Replayer: TypeAlias = Callable[[Sequence[Cell], Progress], Generator[Replayed, None, None]]
"""Replays cells wherever it likes, and yields what comes of them in their order."""


def replay_here(
    cells: Sequence[Cell], on_progress: Progress, *, jobs: int | None = None
) -> Generator[Replayed, None, None]:
    """Replay cells on threads of this process; those not begun are left when nobody listens.

    Parameters
    ----------
    cells : in any order
    on_progress : told from those threads
    jobs : cells at once; default: the number of cores, at most 4
    """
    pool = ThreadPoolExecutor(max_workers=jobs or min(os.cpu_count() or 1, 4))
    try:  # the loops run without the lock
        yield from pool.map(
            lambda number: cells[number].replay(lambda n: on_progress(number, n)),
            range(len(cells)),
        )
    finally:
        pool.shutdown(cancel_futures=True)
