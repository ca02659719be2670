"""Links between the pages of a history, and what they say of each."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from recrawl.errors import InvalidTable
from recrawl.learning.page_rank import LinkGraph, rank_pages
from recrawl.tables.complaints import told_columns


def link_weights(
    table: pa.Table, path: Path, names: Sequence[str], hosts: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return what links say of pages, shape (n,), of mean 1: PageRank with hosts held in check.

    Parameters
    ----------
    table : columns source and target, names of pages; what is no page of the history is left out,
        as are links of a page to itself, and what is there twice counts once
    path : what messages call it
    names, hosts : of the pages, in their order

    Raises
    ------
    InvalidTable
        A column is missing, or no link joins two pages of the history.
    """
    for name in ("source", "target"):
        if name not in table.column_names:
            raise InvalidTable(
                f"{path}: column {name} is missing; {told_columns(table.column_names)}"
            )
    number = {name: row for row, name in enumerate(names)}
    source, target = (_numbered(table.column(name), number) for name in ("source", "target"))
    usable = (source >= 0) & (target >= 0) & (source != target)
    if not usable.any():
        raise InvalidTable(
            f"{path}: none of its {table.num_rows} links joins two pages of the history, which are "
            f"called as {names[0]!r}"
        )
    pairs = np.unique(np.stack([source[usable], target[usable]], axis=1), axis=0)
    starts = np.searchsorted(pairs[:, 0], np.arange(len(names) + 1))
    graph = LinkGraph(starts.astype(np.int64), pairs[:, 1].astype(np.int32), hosts)
    return rank_pages(graph, tolerance=1e-8, max_iterations=1_000).shares * len(names)


def _numbered(column: Any, number: dict[str, int]) -> NDArray[np.int64]:
    told = column.cast(pa.string()).to_pylist()
    return np.array([number.get(name, -1) for name in told], np.int64)
