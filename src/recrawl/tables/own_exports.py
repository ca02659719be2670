"""Tables of `recrawl export`, as the verbs read them that learn and replay."""

import pyarrow as pa
import pyarrow.compute as pc


def told_only(table: pa.Table) -> pa.Table:
    """Leave out visits that tell nothing, from a table of visits with their outcomes.

    A page's first visit, which found it new, starts its clock. Tables without a column ``outcome``
    stay as they are.
    """
    if not {"outcome", "changed"} <= set(table.column_names):
        return table
    is_new = pc.equal(table.column("outcome").cast(pa.string()), "new")
    changed = table.column("changed")
    if not pa.types.is_boolean(changed.type):
        try:
            changed = changed.cast(pa.bool_())
        except pa.ArrowException:
            return table
    told = pc.or_(pc.is_valid(changed), pc.fill_null(is_new, False))
    filled = pc.fill_null(changed, True)
    place = table.column_names.index("changed")
    return table.set_column(place, "changed", filled).filter(told)


def changes_between(
    table: pa.Table, seconds: list[float], changed: list[bool | None]
) -> tuple[pa.Table, pa.Table]:
    """Make a history of visits: changes, and pages with when each was looked at.

    When a page really changed is not known: only that it did between two visits. The middle is
    taken, so that a replay sees what the visits could see.

    Parameters
    ----------
    table : visits, with a column url
    seconds : their instants, seconds since the epoch
    changed : what each found; None: it tells nothing, unless as the first of its page

    Returns
    -------
    Table, Table
        url, changed_at; and url, observed_from, observed_until.
    """
    first: dict[str, float] = {}
    last: dict[str, float] = {}
    changes: list[tuple[str, float]] = []
    rows = zip(table.column("url").to_pylist(), seconds, changed, strict=True)
    for url, at, found in sorted(rows, key=lambda row: row[1]):
        if url not in first:
            first[url] = at
        elif found is None:
            continue
        elif found:
            changes.append((url, 0.5 * (last[url] + at)))
        last[url] = at
    end = max(last.values(), default=0.0)
    urls, instants = zip(*changes, strict=True) if changes else ((), ())
    return (
        pa.table(
            {"url": pa.array(urls, pa.string()), "changed_at": pa.array(instants, pa.float64())}
        ),
        pa.table(
            {
                "url": pa.array(list(first), pa.string()),
                "observed_from": pa.array(list(first.values()), pa.float64()),
                "observed_until": pa.array([end] * len(first), pa.float64()),
            }
        ),
    )
