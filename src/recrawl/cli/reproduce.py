"""The verb ``reproduce``: the papers' tables and figures, printed beside ours."""

from collections.abc import Callable
from pathlib import Path

from recrawl.cli.figures import empty_figure, save_figure
from recrawl.cli.options import JsonForTables
from recrawl.cli.output import console, print_json, print_table
from recrawl.errors import InputError
from recrawl.reproductions import NAMES, ON_DATA, Reproduction, Row, reproduce


def main(
    name: str | None = None,
    /,
    *,
    data: Path | None = None,
    plot: Path | None = None,
    json: JsonForTables = False,
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
    """
    if name is None:
        _list(as_json=json)
        return
    if name in NAMES and (data is not None) != (name in ON_DATA):
        raise InputError(
            f"--data: {name} takes none"
            if data is not None
            else f"--data: {name} needs a table of updates with the columns trace and at"
        )
    found = reproduce(name, data)
    if plot is not None:
        if found.draw is None:
            raise InputError(f"--plot: {name} is a table, there is no picture to draw")
        figure = empty_figure()
        found.draw(figure)
        save_figure(figure, plot)
    if json:
        print_json({"name": name, "title": found.title, "rows": [_json(row) for row in found.rows]})
    else:
        _print(found)


def _list(*, as_json: bool) -> None:
    if as_json:
        print_json({"names": NAMES})
        return
    print_table(["name", ""], [[name, what] for name, what in NAMES.items()])


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
