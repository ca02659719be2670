"""Progress of the reading or writing of a table, for people."""

from collections.abc import Iterator, Sequence

import pyarrow as pa

from recrawl.cli.output import progress_console
from recrawl.tables.reading import PageTable


def track(table: PageTable, columns: Sequence[str] | None, label: str) -> Iterator[pa.RecordBatch]:
    """Yield the batches of a table under a progress bar with rate and time left."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = progress_console()
    if not console.is_terminal:
        yield from (batch for _, batch in table.batches(columns))
        return
    rate = "{task.fields[rows]:,} pages, {task.fields[rate]}"
    progress = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn(rate, markup=False),
        TimeRemainingColumn(),
        console=console,
    )
    with progress:
        task = progress.add_task(label, total=table.n_rows or table.n_bytes, rows=0, rate="")
        rows = 0
        for done, batch in table.batches(columns):
            yield batch
            rows += batch.num_rows
            elapsed = progress.tasks[0].elapsed or 1e-9
            progress.update(task, completed=done, rows=rows, rate=f"{rows / elapsed:,.0f}/s")
