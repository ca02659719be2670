"""``recrawl history``: tables of changes for ``recrawl backtest``, from where they are recorded."""

from pathlib import Path

import numpy as np
import pyarrow as pa

from recrawl.cli.history.imports import add_imports
from recrawl.cli.options import verb_of_verbs
from recrawl.cli.output import console, note
from recrawl.cli.sizes import check_whole
from recrawl.errors import InputError
from recrawl.simulation.recorded.git import read_log
from recrawl.simulation.recorded.log import RecordedLog
from recrawl.tables.writing import check_out, write_batch

app = verb_of_verbs("history", "Make a history of changes for recrawl backtest.")
add_imports(app)


@app.command(name="from-git")
def from_git(
    repo: Path,
    *paths: str,
    out: Path = Path("history.parquet"),
    pages: Path = Path("pages.parquet"),
    max_files: int = 200,
) -> None:
    """Turn a git repository into a history: each file is a page, each commit a change.

    Times are those of the commits on the main line.

    Parameters
    ----------
    repo
        A git repository on this machine.
    paths
        Only files that match these, such as docs or '*.md'.
    out
        Changes, for recrawl backtest: .parquet, .csv or .jsonl.
    pages
        All files with the times between which they were there, for --pages.
    max_files
        Commits that touch more files are no changes (moves and reformatting).
    """
    check_out(out)
    check_whole("--max-files", max_files, 1_000_000_000, least=0)
    check_out(pages)
    log = read_log(repo, paths)
    changes, born, gone = _changes_of(log, max_files)
    if not born:
        raise InputError(f"{repo}: no commit touches {' '.join(paths) or 'any file'}")
    changes.sort(key=lambda change: change[1])
    if not changes:
        raise InputError(f"{repo}: its files were never changed after they were added")
    second = pa.timestamp("s", tz="UTC")
    _write(
        out,
        {
            "page": pa.array([name for name, _ in changes]),
            "changed_at": pa.array([at for _, at in changes], second),
        },
    )
    names = sorted(born)
    _write(
        pages,
        {
            "page": pa.array(names),
            "observed_from": pa.array([born[name] for name in names], second),
            "observed_until": pa.array([gone.get(name, log.end_s) for name in names], second),
            "alive": pa.array([name not in gone for name in names]),
        },
    )
    start, until = (np.datetime64(at, "s") for at in (min(born.values()), log.end_s))
    console().print(
        f"{len(changes):,} changes of {len(names):,} files, {start}Z to {until}Z: {out}, {pages}",
    )
    if log.n_left_out:
        note(
            f"{log.n_left_out:,} changes are left out: of links, submodules, and names that no "
            "address could have"
        )


def _changes_of(
    log: RecordedLog, max_files: int
) -> tuple[list[tuple[str, int]], dict[str, int], dict[str, int]]:
    """Return (page, time) of changes, and when each page came and went."""
    changes: list[tuple[str, int]] = []
    born: dict[str, int] = {}
    gone: dict[str, int] = {}
    for name, file in log.files.items():
        before = None
        for at, blob, touched in zip(file.at_s, file.blobs, file.with_others, strict=True):
            if blob is None:
                gone[name] = at
            elif before is None:
                born.setdefault(name, at)
                gone.pop(name, None)
            elif touched <= max_files:
                changes.append((name, at))
            before = blob
    return changes, born, gone


def _write(path: Path, columns: dict[str, pa.Array]) -> None:
    write_batch(path, pa.RecordBatch.from_pydict(columns))
