"""``recrawl history``: tables of changes for ``recrawl backtest``, from where they are recorded."""

import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
from cyclopts import App

from recrawl.cli.output import console
from recrawl.cli.plan.writer import check_out, write_batch
from recrawl.cli.sizes import check_whole
from recrawl.errors import InputError, StateError

__all__ = ["app", "from_git"]

app = App(
    name="history",
    help="Make a history of changes for recrawl backtest.",
    help_format="plaintext",
    version_flags=[],
    result_action="return_value",
)
_MARK = "\x01"


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
    if not repo.is_dir():
        raise InputError(f"{repo}: there is no such directory")
    changes, born, gone, end = _read_log(repo, paths, max_files)
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
            "observed_until": pa.array([gone.get(name, end) for name in names], second),
            "alive": pa.array([name not in gone for name in names]),
        },
    )
    start, until = (np.datetime64(at, "s") for at in (min(born.values()), end))
    console().print(
        f"{len(changes):,} changes of {len(names):,} files, {start}Z to {until}Z: {out}, {pages}",
    )


def _read_log(
    repo: Path, paths: tuple[str, ...], max_files: int
) -> tuple[list[tuple[str, int]], dict[str, int], dict[str, int], int]:
    """Return (page, time) of changes, and when each page came and went."""
    command = ["git", "-C", str(repo), "log", "--reverse", "--first-parent", "--no-renames"]
    command += ["--diff-merges=first-parent", "--raw", "-z", f"--format={_MARK}%ct", "--", *paths]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except OSError as error:
        raise StateError(f"git cannot be run: {error.strerror}") from error
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip().splitlines()
        raise InputError(f"{repo}: git says: {reason[-1] if reason else done.returncode}")
    changes: list[tuple[str, int]] = []
    born: dict[str, int] = {}
    gone: dict[str, int] = {}
    end = 0
    for commit in done.stdout.decode(errors="replace").split(_MARK)[1:]:
        head, *rest = commit.split("\0")
        at = int(head.strip())
        end = max(end, at)
        touched = list(zip(rest[::2], rest[1::2], strict=False))
        for entry, name in touched:
            _, _, before, after, kind = entry.split()
            if kind.startswith("A"):
                born.setdefault(name, at)
                gone.pop(name, None)
            elif kind.startswith("D"):
                gone[name] = at
            elif before != after and len(touched) <= max_files:
                changes.append((name, max(at, born.setdefault(name, at))))
    return changes, born, gone, end


def _write(path: Path, columns: dict[str, pa.Array]) -> None:
    write_batch(path, pa.RecordBatch.from_pydict(columns))
