"""A Dask cluster that a command line names, or one on this machine for as long as it takes."""

import contextlib
import importlib.util
import logging
import os
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

from recrawl.errors import InputError, StateError

_WAIT_S = 10


@contextlib.contextmanager
def open_cluster(scheduler: str | None) -> Iterator[Any]:
    """Open a client of Dask Distributed.

    Parameters
    ----------
    scheduler : its address; None: a cluster on this machine, until the client is closed

    Raises
    ------
    InputError
        Dask is not installed, nothing answers as a scheduler, or workers have another recrawl.
    StateError
        The cluster has no workers.
    """
    if importlib.util.find_spec("distributed") is None:
        raise InputError("--engine: dask needs one more package: install recrawl[dask]")
    import dask
    from distributed import Client, LocalCluster

    make_cluster: Any = LocalCluster  # its signatures say nothing
    make_client: Any = Client
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # what fails is said once, by us
    dask.config.set({"distributed.comm.timeouts.connect": f"{_WAIT_S}s"})
    with contextlib.ExitStack() as opened:
        if scheduler is None:
            own = make_cluster(
                n_workers=os.cpu_count() or 1,
                threads_per_worker=1,
                dashboard_address="127.0.0.1:0",  # any port: its own may be taken
                silence_logs=logging.ERROR,
            )
            opened.callback(own.close)
        try:
            client = opened.enter_context(make_client(scheduler or own, timeout=_WAIT_S))
            if scheduler is not None:
                _check_workers(client, scheduler)
        except (OSError, ValueError) as error:
            raise InputError(
                f"--scheduler: {str(scheduler)[:200]} does not answer as a Dask scheduler; write "
                "its address, as tcp://host:8786"
            ) from error
        yield client


def _check_workers(client: Any, scheduler: str) -> None:
    try:
        found = set(client.run(version, "recrawl").values())
    except ImportError:  # of the package, which a worker does not find
        found = {"none"}
    if not found:
        raise StateError(f"--scheduler: {scheduler} has no workers now")
    if found != {version("recrawl")}:
        others = ", ".join(sorted(found - {version("recrawl")}))
        raise InputError(
            f"--scheduler: workers of {scheduler} have recrawl {others}, and here is "
            f"{version('recrawl')}; give all the same"
        )
