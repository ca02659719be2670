"""Parts of a MODEL.toml as fits write them."""

from collections.abc import Sequence
from pathlib import Path

from recrawl.errors import InputError
from recrawl.processes.batch_arrivals import BatchArrivals
from recrawl.processes.phase_type import PhaseType
from recrawl.whole_files import whole_file


def show_arrivals(modes: Sequence[BatchArrivals]) -> str:
    """Write arrival processes, one table for each mode."""
    parts = []
    for process in modes:
        matrices = ",\n     ".join(_rows(part.tolist()) for part in process.matrices)
        parts.append(f"[[arrivals]]\nD = [{matrices}]\n")
    return "\n".join(parts)


def show_law(name: str, law: PhaseType) -> str:
    """Write a phase type as the table ``name``."""
    initial = ", ".join(_number(share) for share in law.initial)
    return f"[{name}]\ninitial = [{initial}]\ngenerator = {_rows(law.generator.tolist())}\n"


def _rows(rows: Sequence[Sequence[float]]) -> str:
    return "[" + ", ".join("[" + ", ".join(map(_number, row)) + "]" for row in rows) + "]"


def _number(value: float) -> str:
    return repr(float(value) + 0.0)


def write_toml(path: Path, text: str) -> None:
    """Write a part into a file.

    Raises
    ------
    InputError
        If the name does not end in .toml or the file cannot be written.
    """
    if path.suffix != ".toml":
        raise InputError(f"--out: {path}: must end in .toml")
    with whole_file(path, option="--out", raises=InputError) as part:
        part.write_text(text, encoding="utf-8")
