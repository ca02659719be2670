"""Tables of a history that people bring: changes, pages, polls."""

from pathlib import Path
from time import time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from recrawl.errors import InvalidTable
from recrawl.kernels.arrays import Flags, Integers, Vector
from recrawl.learning.companions import companions_of
from recrawl.simulation.history import ChangeHistory
from recrawl.tables.columns import plain_table, truths
from recrawl.tables.complaints import told_columns
from recrawl.tables.in_memory import as_arrow
from recrawl.tables.instants import instants
from recrawl.tables.link_tables import link_weights
from recrawl.tables.many import read_tables
from recrawl.tables.own_exports import changes_between, told_only


def history_of(
    changes: Any,
    pages: Any = None,
    polls: Any = None,
    *,
    pareto: bool = False,
    links: Any = None,
) -> ChangeHistory:
    """Make a history of changes, with all pages and the instants of polls where they are known.

    Tables are given as files, folders or patterns, or in memory.

    Parameters
    ----------
    changes : columns page or url, changed_at; optionally site, weight; or visits, with columns
        url, visited_at, changed: then a change stands in the middle between two visits
    pages : columns page or url, observed_from, observed_until; optionally site, alive, weight
    polls : column polled_at
    pareto : weights drawn from a Pareto law of shape 1.2, with a fixed seed
    links : columns source, target: pages weigh by the links between them

    Raises
    ------
    InvalidTable
        Naming the file, the row, the column, the value and what would be right.
    """
    table, changes = table_of(changes, "history")
    seen = None
    if pages is None and "changed_at" not in table.column_names:
        table, seen = _from_visits(table, changes)
    names = page_names(table, changes)
    need_columns(table, ("changed_at",), changes)
    if not table.num_rows:
        raise InvalidTable(f"{changes}: holds no change at all, so there is nothing to compare")
    at = instants(table, "changed_at", changes)
    late = np.flatnonzero(at > time() + 86_400.0)
    if late.size:
        when = np.datetime64(int(at[late[0]]), "s")
        raise InvalidTable(
            f"{changes}, column changed_at, row {late[0] + 1}: {when}Z is in the future"
        )
    end_of_polls = _polls(polls)
    if seen is not None:
        known, born, until, gone, weights = _pages_in(seen, changes)
    elif pages is None:
        known = list(dict.fromkeys(names))
        born = np.full(len(known), at.min())
        until = np.full(len(known), max(at.max(), end_of_polls.max(initial=-np.inf)))
        gone = np.zeros(len(known), np.bool_)
        weights = _weights(table, names, known)
    else:
        page_table, pages = table_of(pages, "pages")
        known, born, until, gone, weights = _pages_in(page_table, pages)
    number = {name: row for row, name in enumerate(known)}
    unknown = [row for row, name in enumerate(names) if name not in number]
    if unknown:
        raise InvalidTable(
            f"{changes}, row {unknown[0] + 1}: page {names[unknown[0]][1]!r} is not in {pages}"
        )
    page = np.array([number[name] for name in names], np.int64)
    early = np.flatnonzero(at < born[page])
    if early.size:
        raise InvalidTable(
            f"{changes}, column changed_at, row {early[0] + 1}: the change is before the page was "
            "observed_from"
        )
    if pareto:
        weights = np.random.default_rng(1).pareto(1.2, len(known)) + 1.0
    hosts, folders = _groups(known)
    if links is not None:
        link_table, links = table_of(links, "links")
        weights = link_weights(link_table, links, [name for _, name in known], hosts)
    order = np.lexsort((at, page))
    return ChangeHistory(
        page[order],
        at[order],
        born,
        until,
        gone,
        weights,
        hosts,
        folders,
        end_of_polls,
        companions_of(known),
        tuple(known),
    )


def need_columns(table: pa.Table, columns: tuple[str, ...], path: Path) -> None:
    """Refuse a table that lacks a column.

    Parameters
    ----------
    table : the table
    columns : all that are needed
    path : what messages call it
    """
    for name in columns:
        if name not in table.column_names:
            raise InvalidTable(
                f"{path}: column {name} is missing; {told_columns(table.column_names)}"
            )


def page_names(table: pa.Table, path: Path) -> list[tuple[str, str]]:
    """Return site and name of the page of each row.

    Parameters
    ----------
    table : with column page or url, and optionally site (empty if left out)
    path : what messages call it
    """
    key = next((name for name in ("page", "url") if name in table.column_names), None)
    if key is None:
        need_columns(table, ("page or url",), path)
    names = table.column(str(key)).cast(pa.string()).to_pylist()
    sites = [""] * len(names)
    if "site" in table.column_names:
        sites = pc.fill_null(table.column("site").cast(pa.string()), "").to_pylist()
    if None in names:
        row = names.index(None) + 1
        raise InvalidTable(f"{path}, column {key}, row {row}: the page is missing")
    return list(zip(sites, names, strict=True))


def _from_visits(table: pa.Table, path: Path) -> tuple[pa.Table, pa.Table | None]:
    """Make a history of visits, as `recrawl export visits` writes them."""
    if not {"url", "visited_at", "changed"} <= set(table.column_names):
        return table, None
    told = told_only(table)
    changed = truths(told.column("changed"), "changed", path)
    return changes_between(told, instants(told, "visited_at", path).tolist(), changed)


def _pages_in(
    table: pa.Table, path: Path
) -> tuple[list[tuple[str, str]], Vector, Vector, Flags, Vector]:
    known = page_names(table, path)
    need_columns(table, ("observed_from", "observed_until"), path)
    born, until = (instants(table, name, path) for name in ("observed_from", "observed_until"))
    if len(set(known)) < len(known):
        first = {name: row for row, name in reversed(list(enumerate(known)))}
        row = next(row for row, name in enumerate(known) if first[name] < row)
        raise InvalidTable(f"{path}, row {row + 1}: page {known[row][1]!r} is there twice")
    wrong = np.flatnonzero(until < born)
    if wrong.size:
        raise InvalidTable(f"{path}, row {wrong[0] + 1}: observed_until is before observed_from")
    if "alive" in table.column_names:
        gone = ~np.array(truths(table.column("alive"), "alive", path), np.bool_)
    else:
        gone = until < until.max()
    return known, born, until, np.asarray(gone, np.bool_), _weights(table, known, known)


def _weights(table: pa.Table, names: list[tuple[str, str]], known: list[tuple[str, str]]) -> Vector:
    if "weight" not in table.column_names:
        return np.ones(len(known))
    try:
        values = np.asarray(
            table.column("weight").cast(pa.float64(), safe=False).to_numpy(), np.float64
        )
    except pa.ArrowException:
        raise InvalidTable("column weight: holds no numbers") from None
    wrong = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if wrong.size:
        row = int(wrong[0])
        raise InvalidTable(f"column weight, row {row + 1}: {values[row]} must be finite and >= 0")
    own = dict(zip(names, values.tolist(), strict=True))
    return np.array([own[name] for name in known])


def _groups(known: list[tuple[str, str]]) -> tuple[Integers, Integers]:
    """Number the host of each page, and the host with the first folder of its path."""
    hosts, paths = [], []
    for site, name in known:
        bare = name.partition("://")[2] or name
        host = site or (bare.partition("/")[0] if "://" in name else "")
        rest = bare.partition("/")[2] if not site and "://" in name else bare
        hosts.append(host)
        paths.append(f"{host} {rest.partition('/')[0] if '/' in rest else ''}")
    return tuple(  # type: ignore[return-value]
        np.unique(np.array(level), return_inverse=True)[1].astype(np.int64)
        for level in (hosts, paths)
    )


def table_of(source: Any, called: str) -> tuple[pa.Table, Path]:
    """Return a table that is in files, or in memory already, and what messages call it.

    Parameters
    ----------
    source : file, folder or pattern; or columns by name, or what has the Arrow stream interface
    called : what messages call it if it is in memory
    """
    if isinstance(source, str | Path):
        return read_tables(Path(source)), Path(source)
    return plain_table(as_arrow(source)), Path(called)


def _polls(source: Any) -> Vector:
    if source is None:
        return np.zeros(0)
    table, path = table_of(source, "polls")
    need_columns(table, ("polled_at",), path)
    at = instants(table, "polled_at", path)
    falls = np.flatnonzero(np.diff(at) < 0)
    if falls.size:
        raise InvalidTable(
            f"{path}, column polled_at, row {falls[0] + 2}: the time is before that of the row "
            "above; polls must be in order"
        )
    return np.unique(at)
