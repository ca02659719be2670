"""The verb ``reproduce``: the papers' tables and figures, printed beside ours."""

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import cast

from recrawl.cli.output import console, print_json, print_table
from recrawl.cli.reproductions.result import Reproduction, Row
from recrawl.errors import InputError
from recrawl.kernels.compile import require_compiler

__all__ = ["REPRODUCTIONS", "main"]

REPRODUCTIONS: Mapping[str, tuple[str, str]] = {
    # name: function that returns a Reproduction, what it is
    "altman-figure-1": (
        "recrawl.cli.reproductions.altman:figure_1",
        "Altman et al. 2000, Figure 1: period of the optimal policy against the second server",
    ),
    "altman-mmpp": (
        "recrawl.cli.reproductions.altman:mmpp",
        "Altman et al. 2000, Section 5: losses under MMPP and MAP arrivals (Lemma 5.2)",
    ),
    "avrachenkov-figures": (
        "recrawl.cli.reproductions.avrachenkov:figures",
        "Avrachenkov et al. 2011, Figures 1 to 4: cost against the threshold (reconstructed)",
    ),
    "avrachenkov-table-1": (
        "recrawl.cli.reproductions.avrachenkov:table_1",
        "Avrachenkov et al. 2011, Table 1: best thresholds by numbers of robots (reconstructed)",
    ),
    "avrachenkov-table-2": (
        "recrawl.cli.reproductions.avrachenkov:table_2",
        "Avrachenkov et al. 2011, Table 2: buffer size (reconstructed)",
    ),
    "avrachenkov-table-3": (
        "recrawl.cli.reproductions.avrachenkov:table_3",
        "Avrachenkov et al. 2011, Table 3: mean service time (reconstructed)",
    ),
    "avrachenkov-table-4": (
        "recrawl.cli.reproductions.avrachenkov:table_4",
        "Avrachenkov et al. 2011, Table 4: mean time until obsolescence (reconstructed)",
    ),
    "coffman-golden": (
        "recrawl.cli.reproductions.coffman:golden",
        "Coffman et al. 1998, Section 5: the golden ratio policy and its claimed bound",
    ),
    "eckstein-figures": (
        "recrawl.cli.reproductions.eckstein_figures:figures",
        "Eckstein et al. 2005, Figures 1 to 3, 6, 7, 9 to 11 on traces of your own (--data)",
    ),
    "eckstein-grids": (
        "recrawl.cli.reproductions.eckstein:grids",
        "Eckstein et al. 2005, Proposition 8: what a finer grid buys, and the bounds",
    ),
    "eckstein-policies": (
        "recrawl.cli.reproductions.eckstein:policies",
        "Eckstein et al. 2005, Figures 4, 5 and 8: expected cost of all policies, improved too",
    ),
    "eckstein-traces": (
        "recrawl.cli.reproductions.eckstein:traces",
        "Eckstein et al. 2005, Figures 6 and 9: actual cost on traces of your own (--data)",
    ),
    "talim-figures": (
        "recrawl.cli.reproductions.talim:figures",
        "Talim et al. 2001, Figures 2 to 4: the optimal switching curves",
    ),
    "talim-table-1": (
        "recrawl.cli.reproductions.talim:table_1",
        "Talim et al. 2001, Table 1: fixed against controlled, as many robots as the best fixed",
    ),
    "talim-table-2": (
        "recrawl.cli.reproductions.talim:table_2",
        "Talim et al. 2001, Table 2: fixed against controlled, any number of robots",
    ),
}


_ON_DATA = ("eckstein-figures", "eckstein-traces")


def main(
    name: str | None = None,
    /,
    *,
    data: Path | None = None,
    plot: Path | None = None,
    json: bool = False,
) -> None:
    """Print a published table or figure beside what we compute.

    Parameters
    ----------
    name
        Which one; leave out to list them.
    data
        Table that the result is computed on, for those that need one.
    plot
        Draw the figures into this .png, .svg or .pdf file.
    json
        Print one JSON object instead of tables.
    """
    if name is None:
        _list(as_json=json)
        return
    if name not in REPRODUCTIONS:
        raise InputError(f"{name!r} is not known; the names are {', '.join(sorted(REPRODUCTIONS))}")
    require_compiler()
    module, _, function = REPRODUCTIONS[name][0].partition(":")
    if (data is not None) != (name in _ON_DATA):
        raise InputError(
            f"--data: {name} takes none"
            if data is not None
            else f"--data: {name} needs a table of updates with the columns trace and at"
        )
    reproduce = cast(
        "Callable[..., Reproduction]", getattr(importlib.import_module(module), function)
    )
    found = reproduce() if data is None else reproduce(data)
    if plot is not None:
        if found.draw is None:
            raise InputError(f"--plot: {name} is a table, there is no picture to draw")
        found.draw(plot)
    if json:
        print_json({"name": name, "title": found.title, "rows": [_json(row) for row in found.rows]})
    else:
        _print(found)


def _list(*, as_json: bool) -> None:
    if as_json:
        print_json({"names": {name: what for name, (_, what) in REPRODUCTIONS.items()}})
        return
    print_table(["name", ""], [[name, what] for name, (_, what) in REPRODUCTIONS.items()])


def _json(row: Row) -> dict[str, object]:
    return {
        **row.case,
        "printed": row.printed,
        "computed": row.computed,
        "note": row.note,
    }


def _print(found: Reproduction) -> None:
    notes = sorted({row.note for row in found.rows if row.note}, key=_first_use(found))
    table = []
    for row in found.rows:
        mark = f"[{notes.index(row.note) + 1}]" if row.note else ""
        case = ", ".join(map(str, row.case.values()))
        table.append([case, "printed", *(str(row.printed.get(name, "")) for name in row.computed)])
        table.append([mark, "ours", *(_show(row.computed[name]) for name in row.computed)])
    print_table(
        [", ".join(found.rows[0].case), "", *found.rows[0].computed], table, title=found.title
    )
    out = console()
    for number, note in enumerate(notes, start=1):
        out.print(f"[{number}] {note}")
    for remark in found.remarks:
        out.print(remark)


def _first_use(found: Reproduction) -> Callable[[str], int]:
    order = [row.note for row in found.rows]
    return order.index


def _show(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)
