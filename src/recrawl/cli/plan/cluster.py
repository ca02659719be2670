"""A plan on a Dask cluster, from the command line."""

import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from recrawl.api.plan_question import PlanQuestion
from recrawl.api.plan_solution import Answer
from recrawl.errors import InputError, StateError

__all__ = ["plan_with_dask"]

_WAIT_S = 10


def plan_with_dask(
    paths: Sequence[Path], question: PlanQuestion, scheduler: str | None, out: Path | None
) -> Answer:
    """Solve a plan on a cluster, and have its workers write the tables.

    Parameters
    ----------
    scheduler : its address; None: a cluster on this machine, as long as this takes
    out : a folder; the file where there is one table
    """
    if importlib.util.find_spec("distributed") is None:
        raise InputError("--engine: dask needs one more package: install recrawl[dask]")
    import dask
    from distributed import Client, LocalCluster

    from recrawl.integrations.dask.plans import plan_on

    if out is not None and len(paths) == 1 and out.suffix:
        raise InputError(f"--out: {out} must be a folder: workers write each table under its name")
    make_cluster: Any = LocalCluster  # its signatures say nothing
    make_client: Any = Client
    dask.config.set({"distributed.comm.timeouts.connect": f"{_WAIT_S}s"})
    own = None
    try:
        if scheduler is None:
            n = os.cpu_count() or 1
            own = make_cluster(n_workers=n, threads_per_worker=1, dashboard_address=None)
        with make_client(own or scheduler, timeout=_WAIT_S) as client:
            if scheduler is not None and not client.scheduler_info()["workers"]:
                raise StateError(f"--scheduler: {scheduler} has no workers now")
            solved = plan_on(client, [path.resolve() for path in paths], question)
            if out is not None:
                solved.write(out.resolve())
            return solved.answer
    except (OSError, ValueError) as error:
        raise InputError(
            f"--scheduler: {str(scheduler)[:200]} does not answer as a Dask scheduler; write its "
            "address, as tcp://host:8786"
        ) from error
    finally:
        if own is not None:
            own.close()
