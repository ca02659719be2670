"""Plans as tables: the pages as they came, with a column crawl_rate."""

import os
from pathlib import Path

from recrawl.api.plan_solution import SolvedPlan, with_rates
from recrawl.cli.plan.progress import track
from recrawl.errors import InputError, StateError
from recrawl.tables.many import ManyTables
from recrawl.tables.reading import PageTable
from recrawl.tables.writing import check_out, write_batches


def check_place(out: Path | None, table_names: list[Path]) -> None:
    """Refuse a file or a folder that could not be written, before any work is done.

    Of several tables each is written again under its name, in a folder.
    """
    if out is None or len(table_names) == 1:
        check_out(out)
        return
    if out.suffix or (out.exists() and not out.is_dir()):
        raise InputError(
            f"--out: {out} must be a folder: each of the {len(table_names)} tables is written "
            "there under its own name"
        )
    if not out.parent.is_dir():
        raise InputError(f"--out: there is no directory {out.parent}")
    names = [path.name for path in table_names]
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None:
        raise InputError(f"--out: two tables are called {double}")
    if any(path.parent.resolve() == out.resolve() for path in table_names):
        raise InputError(f"--out: {out} holds the tables themselves; name another folder")


def write_plan(table: PageTable, solved: SolvedPlan, out: Path) -> None:
    """Write the table again with crawl rates, in its unit of time; each file wholly or not at all.

    Raises
    ------
    StateError
        When a file cannot be written.
    """
    rates = solved.rates()
    if not isinstance(table, ManyTables):
        batches = with_rates(track(table, None, "writing"), rates)
        write_batches(out, next(batches), batches)
        return
    try:
        os.makedirs(out, exist_ok=True)
    except OSError as error:
        raise StateError(f"{out}: {error.strerror}") from error
    for one in table.tables:
        batches = with_rates(track(one, None, "writing"), rates)
        write_batches(out / one.path.name, next(batches), batches)
