"""State of an endless order in a file, from which the next call goes on."""

import hashlib
import zipfile
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from recrawl.cli.order.table import OrderTable
from recrawl.errors import InputError, StateError
from recrawl.sequencing import AccessStream, PoliteStream, restore_stream

_FORM: Final = 1


def save_order(path: Path, policy: str, stream: AccessStream, table: OrderTable) -> None:
    """Write a stream's state, all or nothing.

    Raises
    ------
    StateError
        The file cannot be written.
    """
    meta = {"form": _FORM, "policy": policy, "pages": _fingerprint(table)}
    polite = isinstance(stream, PoliteStream)
    arrays: dict[str, NDArray[Any]] = {f"meta_{name}": np.array(v) for name, v in meta.items()}
    arrays |= {"meta_polite": np.array(polite), **stream.checkpoint()}
    part = path.with_name(path.name + ".part")
    try:
        with part.open("wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise StateError(f"--state: {path} cannot be written: {error.strerror}") from error


def resume_order(path: Path, table: OrderTable) -> tuple[str, AccessStream]:
    """Return the policy and the stream, at the place where it was left.

    Raises
    ------
    InputError
        The file is none of ours, or belongs to other pages or other rates.
    """
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        meta = {name[5:]: arrays.pop(name) for name in list(arrays) if name.startswith("meta_")}
        same = int(meta["form"]) == _FORM
        policy, polite = str(meta["policy"]), bool(meta["polite"])
    except (OSError, KeyError, ValueError, zipfile.BadZipFile, EOFError) as error:
        raise InputError(f"--state: {path} holds no order of recrawl's") from error
    if not same or str(meta["pages"]) != _fingerprint(table):
        raise InputError(
            f"--state: {path} belongs to other pages or rates than {table.path}; start anew with "
            "another file, or keep the table as it was"
        )
    if polite:
        return policy, PoliteStream.restore(arrays)
    return policy, restore_stream(policy, arrays, table.frequencies.size)


def _fingerprint(table: OrderTable) -> str:
    return hashlib.sha256(np.ascontiguousarray(table.frequencies).tobytes()).hexdigest()
