"""The replays of a backtest, on the workers of a Dask cluster.

The cells are those of one machine (:mod:`recrawl.simulation.cells`). What was recorded travels once
to each worker, and back comes what each cell found. What dies with a worker is replayed by another.
"""

import pickle
from collections.abc import Generator, Sequence
from dataclasses import fields, replace
from typing import Any

import cloudpickle
import dask
import distributed

from recrawl.errors import InputError
from recrawl.integrations.dask.answers import answer_of
from recrawl.simulation.announcements import Announcements
from recrawl.simulation.backtest import Backtest, Replayed
from recrawl.simulation.cells import Cell, Progress
from recrawl.simulation.history import ChangeHistory

Recorded = tuple[ChangeHistory, Announcements | None]
_OWN = tuple(one.name for one in fields(Backtest) if one.name not in ("history", "told"))


class DaskReplayer:
    """Has the workers of a cluster replay cells, for ``recrawl.backtest(replayer=...)``.

    Parameters
    ----------
    client : of Dask Distributed

    Notes
    -----
    The same results as on one machine, to the last bit where the processors are alike and budgets
    are of over 20,000 visits; else to rounding, as loops of little work run as written or compiled,
    by what a process did before. A worker
    needs the memory of one history, and of a cell for each of its threads. Policies of one's own
    are pickled, and their modules are where the workers can import them.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._held: dict[Recorded, Any] = {}

    def __call__(
        self, cells: Sequence[Cell], on_progress: Progress
    ) -> Generator[Replayed, None, None]:
        """Yield what comes of cells in their order; the others are cancelled when nobody listens.

        Parameters
        ----------
        cells : in any order
        on_progress : told of all visits of a cell once it is there

        Raises
        ------
        InputError
            A policy cannot be pickled, or a worker cannot import it.
        StateError
            The workers were lost again and again.
        """
        if not cells:
            return
        sent = [_pickled(cell) for cell in cells]
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
            held = [self._hold(cell.test) for cell in cells]
            futures = self._client.map(_replay, sent, held, pure=False)
        try:
            numbers = {future: number for number, future in enumerate(futures)}
            as_they_come: Any = distributed.as_completed  # its signature says nothing
            for future in as_they_come(futures):
                if future.status != "finished":
                    answer_of(future)
                on_progress(numbers[future], cells[numbers[future]].test.n_ticks)
            for future in futures:
                yield answer_of(future)
        finally:
            self._client.cancel(futures)

    def _hold(self, test: Backtest) -> Any:
        """Have what was recorded where the workers can get it, now and after a death."""
        recorded = test.history, test.told
        if recorded not in self._held:
            bare = replace(test.history, names=()), test.told
            self._held[recorded] = self._client.submit(pickle.loads, pickle.dumps(bare), pure=False)
        return self._held[recorded]


def _pickled(cell: Cell) -> bytes:
    """Pickle all of a cell but what was recorded."""
    own = {name: getattr(cell.test, name) for name in _OWN}
    try:
        return bytes(cloudpickle.dumps((own, cell.policy)))
    except Exception as error:
        name = getattr(cell.policy, "name", cell.policy)
        raise InputError(
            f"policies: {name} cannot be pickled, as workers need it: {error}"
        ) from error


def _replay(sent: bytes, recorded: Recorded) -> Replayed:
    try:
        own, policy = pickle.loads(sent)
    except (ImportError, AttributeError) as error:
        raise InputError(f"policies: a worker cannot import one of them: {error}") from error
    history, told = recorded
    return Cell(Backtest(history, told=told, **own), policy).replay()
