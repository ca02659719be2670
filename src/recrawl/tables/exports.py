"""Tables of a crawl's state."""

from collections.abc import Iterable
from typing import Any

import pyarrow as pa


def as_table(batches: Iterable[tuple[list[str], list[tuple[Any, ...]]]]) -> pa.Table:
    """Join batches of rows, each with the names of its columns."""
    parts = [
        pa.table(
            {
                name: pa.array([row[place] for row in rows], type=arrow_type(name))
                for place, name in enumerate(names)
            }
        )
        for names, rows in batches
    ]
    return pa.concat_tables(parts) if parts else pa.table({})


def arrow_type(name: str) -> pa.DataType:
    """Types by the names of columns, so that an empty batch has the same schema as a full one."""
    if name in ("depth", "visits", "changes", "status", "last_status", "bytes"):
        return pa.int64()
    if name == "changed":
        return pa.int8()
    if name.endswith(("_rate", "_s", "_per_s", "_seconds", "weight", "importance")):
        return pa.float64()
    return pa.string()
