"""Build the gallery: `python docs/gallery/make.py` draws every picture and writes every page.

python docs/gallery/make.py              all
python docs/gallery/make.py talim        some
python docs/gallery/make.py --check      run all; fail where a page says what is not printed
"""

import argparse
import ast
import json
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PAPERS = {
    "talim": ["talim-figures", "talim-table-1", "talim-table-2"],
    "avrachenkov": [
        *("avrachenkov-figures", "avrachenkov-table-1", "avrachenkov-table-2"),
        *("avrachenkov-table-3", "avrachenkov-table-4"),
    ],
    "coffman": ["coffman-golden"],
    "eckstein": ["eckstein-policies", "eckstein-grids"],
    "altman": ["altman-figure-1", "altman-mmpp"],
}
RECIPES = (
    *("price_of_freshness", "uniform_is_best", "proportional_is_bad", "golden_ratio"),
    *("what_304s_teach", "week_of_a_feed", "robots_should_sleep", "bursts"),
    *("what_importance_brings", "foresight", "even_access_times"),
)
SIGNIFICANT = 6


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
    """A published result beside ours, as a table."""
    command = [sys.executable, "-m", "recrawl", "reproduce", name, "--json"]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    notes: list[str] = []
    lines: list[str] = []
    for row in found["rows"]:
        case = [key for key in row if key not in ("printed", "computed", "note")]
        columns = list(dict.fromkeys([*row["printed"], *row["computed"]]))
        if not lines:
            head = [*case, *(f"{one}: {side}" for one in columns for side in ("printed", "ours"))]
            lines = ["| " + " | ".join(head) + " | |", "|" + "---|" * (len(head) + 1)]
        lines.append("| " + " | ".join(_cells(row, case, columns)) + f" | {_mark(row, notes)} |")
    text = f"### {found['title']}\n\n`recrawl reproduce {name}`\n\n" + "\n".join(lines) + "\n"
    return text + "".join(f"\n({number}) {note}\n" for number, note in enumerate(notes, 1))


def _cells(row: dict[str, Any], case: list[str], columns: list[str]) -> list[str]:
    sides = [(row["printed"].get(one, ""), row["computed"].get(one, "")) for one in columns]
    return [cell(row[one]) for one in case] + [cell(value) for pair in sides for value in pair]


def _mark(row: dict[str, Any], notes: list[str]) -> str:
    note = row["note"]
    if note and note not in notes:
        notes.append(note)
    return f"({notes.index(note) + 1})" if note else ""


def page(name: str, folder: Path) -> tuple[str, float]:
    """Run a program and what is reproduced beside it; return its page and how long it took."""
    began_s = time.perf_counter()
    program = HERE / f"{name}.py"
    command = [sys.executable, str(program), str(folder / f"{name}.png")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{program.name}: {done.stderr}")
    tables = [reproduced(one) for one in PAPERS.get(name, [])]
    title, text = title_of(name)
    parts = [f"# {title}", text, f"![{title}]({name}.png)"]
    parts += [
        f"```{{literalinclude}} {name}.py\n:language: python\n:start-at: import sys\n```",
        "It prints:",
    ]
    parts.append(f"```text\n{done.stdout.rstrip()}\n```")
    if tables:
        parts += ["## Printed, and ours", *tables]
    return "\n\n".join(parts).rstrip() + "\n", time.perf_counter() - began_s


def index() -> str:
    """Thumbnails of all."""
    parts = ["# Gallery", "Every picture is drawn by the program beside it, under forty lines of "
             "public API; `python docs/gallery/make.py` builds all in some minutes, and a test "
             "holds that what the pages say is what comes out."]  # fmt: skip
    for heading, names in (("Recipes", list(RECIPES)), ("Papers", list(PAPERS))):
        cells = [f"[![{title_of(name)[0]}]({name}.png)]({name}.md) {title_of(name)[0]}"
                 for name in names]  # fmt: skip
        cells += [""] * (-len(cells) % 3)
        rows = [cells[at : at + 3] for at in range(0, len(cells), 3)]
        table = ["| | | |", "|---|---|---|", *("| " + " | ".join(row) + " |" for row in rows)]
        parts += [f"## {heading}", "\n".join(table)]
    names = "\n".join([*RECIPES, *PAPERS])
    parts.append(f"```{{toctree}}\n:hidden:\n:maxdepth: 1\n\n{names}\n```")
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Build, or check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *RECIPES, *PAPERS], default=[])
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    names = given.names or [*RECIPES, *PAPERS]
    with tempfile.TemporaryDirectory() as empty, ThreadPoolExecutor(2) as pool:
        folder = Path(empty) if given.check else HERE
        pages = dict(zip(names, pool.map(lambda name: page(name, folder), names), strict=True))
    stale = []
    for name, (text, took_s) in pages.items():
        print(f"{name:<24} {took_s:6.1f} s")
        path = HERE / f"{name}.md"
        if not given.check:
            path.write_text(text)
        elif path.read_text() != text:
            stale.append(path.name)
    if not given.check:
        (HERE / "index.md").write_text(index())
    elif (HERE / "index.md").read_text() != index():
        stale.append("index.md")
    if stale:
        sys.exit(f"these say what does not come out: {', '.join(stale)}; run {Path(__file__).name}")


if __name__ == "__main__":
    main()
