"""Build the gallery: `python docs/gallery/make.py` draws every picture and writes every page.

python docs/gallery/make.py              all
python docs/gallery/make.py foresight    some
python docs/gallery/make.py --check      run all; fail where a page says what is not printed
"""

import argparse
import ast
import math
import os
import re
import resource
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from recrawl.reproductions import NAMES, ON_DATA, reproduce

HERE = Path(__file__).resolve().parent
PAPERS = ("talim", "avrachenkov", "coffman", "eckstein", "altman")
RESULTS = {
    name.replace("-", "_"): name
    for paper in PAPERS
    for name in NAMES
    if name.startswith(paper) and name not in ON_DATA
}
RECIPES = (
    *("price_of_freshness", "uniform_is_best", "proportional_is_bad", "golden_ratio"),
    *("what_304s_teach", "week_of_a_feed", "robots_should_sleep", "bursts"),
    *("what_importance_brings", "foresight", "even_access_times"),
)
SIGNIFICANT = 6
# Which of two pages is visited first may hang on the last bit of a sum, which processors differ
# in, and all later visits hang on that: points of freshness by which a replay then differs.
APART = {"foresight": 2.0}
ONE_CORE = dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


def title_of(name: str) -> tuple[str, str]:
    """The first line of a program's docstring, and the rest."""
    text = ast.get_docstring(ast.parse((HERE / f"{name}.py").read_text())) or ""
    title, _, rest = text.partition("\n\n")
    return title, " ".join(rest.split())


def cell(value: object) -> str:
    """One value of a table."""
    if isinstance(value, float):
        return f"{value:.{SIGNIFICANT}g}"
    return str(value).replace("|", r"\|")


def reproduced(name: str) -> str:
    """A published result beside ours, as a table, and what differs."""
    found = reproduce(name)
    case = list(found.rows[0].case)
    columns = list(
        dict.fromkeys(one for row in found.rows for one in (*row.printed, *row.computed))
    )
    sides = [
        (column, side)
        for column in columns
        for side in ("printed", "computed")
        if any(column in getattr(row, side) for row in found.rows)
    ]
    heads = {"printed": found.beside, "computed": "ours"}
    head = [*case, *(f"{column}: {heads[side]}" for column, side in sides), ""]
    notes = list(dict.fromkeys(row.note for row in found.rows if row.note))
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in found.rows:
        values = [row.case[one] for one in case]
        values += [getattr(row, side).get(column, "") for column, side in sides]
        values.append(f"({notes.index(row.note) + 1})" if row.note else "")
        lines.append("| " + " | ".join(map(cell, values)) + " |")
    parts = ["## Printed, and ours", found.title, f"`recrawl reproduce {name}`", "\n".join(lines)]
    parts += [f"({number}) {note}" for number, note in enumerate(notes, 1)]
    return "\n\n".join([*parts, *found.remarks])


def run(name: str, folder: Path) -> tuple[str, float]:
    """Run a program on one core; return what it prints, and the seconds of that core."""
    program = HERE / f"{name}.py"
    command = [sys.executable, str(program), str(folder / f"{name}.png")]
    began = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | ONE_CORE
    )
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{program.name}: {done.stderr}")
    took_s = ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime
    return done.stdout.rstrip(), took_s


def rounded(seconds: float) -> int:
    """Whole seconds, from ten on to the next five: two runs should say the same."""
    return max(round(seconds), 1) if seconds < 10 else 5 * math.ceil(seconds / 5)


def page(name: str, folder: Path) -> tuple[str, float]:
    """Run a program and what is reproduced beside it; return its page and how long it took."""
    if folder == HERE:
        run(name, folder)  # compiles: the next run is the one that counts
    printed, took_s = run(name, folder)
    title, text = title_of(name)
    parts = [f"# {title}", text, f"![{title}]({name}.png)"]
    parts += [
        f"```{{literalinclude}} {name}.py\n:language: python\n:start-at: import sys\n```",
        f"In {rounded(took_s)} s it prints:" if printed else f"It takes {rounded(took_s)} s.",
    ]
    if printed:
        parts.append(f"```text\n{printed}\n```")
    if name in RESULTS:
        parts.append(reproduced(RESULTS[name]))
    return "\n\n".join(parts) + "\n", took_s


def timeless(text: str) -> str:
    """A page without its seconds, which differ from machine to machine."""
    return re.sub(r"^(In|It takes) \d+ s(?= it prints:$|\.$)", r"\1", text, flags=re.MULTILINE)


def agrees(name: str, said: str, found: str) -> bool:
    """Whether a page says what comes out; numbers by as much apart as the processor may make."""
    said, found = timeless(said), timeless(found)
    if name not in APART:
        return said == found
    number = r"-?\d+\.\d+"
    pairs = zip(re.findall(number, said), re.findall(number, found), strict=False)
    return re.sub(number, "", said) == re.sub(number, "", found) and all(
        abs(float(one) - float(other)) <= APART[name] for one, other in pairs
    )


def index() -> str:
    """Thumbnails of all."""
    parts = [
        "# Gallery",
        "Every picture is drawn by the program beside it, under forty lines of public API; "
        "`python docs/gallery/make.py` builds all in some minutes, and a test holds that what the "
        "pages say is what comes out. Seconds are those of one core, with everything compiled.",
    ]
    groups = {"Recipes": list(RECIPES), "Papers": list(RESULTS)}
    for heading, names in groups.items():
        cells = [f"[![{title_of(name)[0]}]({name}.png)]({name}.md) {title_of(name)[0]}"
                 for name in names]  # fmt: skip
        cells += [""] * (-len(cells) % 3)
        rows = [cells[at : at + 3] for at in range(0, len(cells), 3)]
        table = ["| | | |", "|---|---|---|", *("| " + " | ".join(row) + " |" for row in rows)]
        parts += [f"## {heading}", "\n".join(table)]
    names = "\n".join([*RECIPES, *RESULTS])
    parts.append(f"```{{toctree}}\n:hidden:\n:maxdepth: 1\n\n{names}\n```")
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Build, or check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *RECIPES, *RESULTS], default=[])
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    names = given.names or [*RECIPES, *RESULTS]
    # Processes, not threads: each counts the seconds of its own children.
    with tempfile.TemporaryDirectory() as empty, ProcessPoolExecutor(2) as pool:
        folder = Path(empty) if given.check else HERE
        pages = dict(zip(names, pool.map(page, names, [folder] * len(names)), strict=True))
    stale = []
    for name, (text, took_s) in pages.items():
        print(f"{name:<24} {took_s:6.1f} s")
        path = HERE / f"{name}.md"
        if not given.check:
            path.write_text(text)
        elif not agrees(name, path.read_text(), text):
            stale.append(path.name)
    if not given.check:
        (HERE / "index.md").write_text(index())
    elif (HERE / "index.md").read_text() != index():
        stale.append("index.md")
    if stale:
        sys.exit(f"these say what does not come out: {', '.join(stale)}; run {Path(__file__).name}")


if __name__ == "__main__":
    main()
