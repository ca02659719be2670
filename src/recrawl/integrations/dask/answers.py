"""Results of the workers of a Dask cluster, and the errors where none comes back."""

from typing import Any

from recrawl.errors import RecrawlError, StateError


def answer_of(future: Any) -> Any:
    """Return what a worker found, once it has.

    Raises
    ------
    RecrawlError
        As the worker raised it.
    StateError
        Whatever else happened over there.
    """
    try:
        return future.result()
    except RecrawlError:
        raise
    except Exception as error:  # Dask's own, and all others
        said = " ".join(str(error).split())[:300]
        raise StateError(f"the cluster could not do it: {said}") from error
