"""The gallery: short programs, each run, and no page that says what does not come out."""

import ast
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from recrawl.reproductions import NAMES, ON_DATA

GALLERY = Path(__file__).parent.parent / "docs" / "gallery"
PROGRAMS = sorted(path for path in GALLERY.glob("*.py") if path.name != "make.py")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_programs_are_short_and_shown(program: Path) -> None:
    """Under forty lines of code, of what the reference documents; with a page and a picture."""
    text = program.read_text()
    parsed = ast.parse(text)
    code = "\n".join(text.splitlines()[parsed.body[0].end_lineno :])
    lines = [line for line in code.splitlines() if line.strip()]
    imported = [node.module for node in parsed.body if isinstance(node, ast.ImportFrom)]

    assert len(lines) < 40
    assert not any(str(name).startswith("recrawl.cli") for name in imported)
    reference = "".join(path.read_text() for path in (GALLERY.parent / "reference").glob("*.md"))
    for name in imported:
        assert not str(name).startswith("recrawl") or str(name) in reference, name
    assert program.with_suffix(".md").exists()
    assert program.with_suffix(".png").read_bytes()[:4] == b"\x89PNG"
    assert f"({program.stem}.md)" in (GALLERY / "index.md").read_text()


def test_every_published_result_has_a_page() -> None:
    """Each name that ``recrawl reproduce`` knows, but those that need data of people's own."""
    shown = {path.stem for path in PROGRAMS}

    assert {name.replace("-", "_") for name in NAMES if name not in ON_DATA} <= shown


@pytest.mark.slow
@pytest.mark.parametrize("name", ["altman_figure_1", "coffman_golden", "talim_figures"])
def test_quick_programs_draw_and_print_what_their_pages_show(name: str, tmp_path: Path) -> None:
    """As a reader runs them: with the name of a picture; the others run among the slow tests."""
    picture = tmp_path / "picture.png"
    done = subprocess.run(
        [sys.executable, str(GALLERY / f"{name}.py"), str(picture)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert picture.read_bytes()[:4] == b"\x89PNG"
    assert done.stdout in (GALLERY / f"{name}.md").read_text()


@pytest.mark.slow  # minutes
@pytest.mark.timeout(1_200)
def test_pages_say_what_comes_out() -> None:
    """Every program and every published table is computed anew."""
    done = subprocess.run(
        [sys.executable, str(GALLERY / "make.py"), "--check"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr


def test_a_replay_may_differ_as_processors_do_and_by_no_more() -> None:
    """By two points and in what is named alone; seconds are no matter."""
    agrees = runpy.run_path(str(GALLERY / "make.py"))["agrees"]
    page = "In 4 s it prints:\n\nuniform 21.1 61.0"

    assert agrees("foresight", page, "In 9 s it prints:\n\nuniform 22.9 59.1")
    assert not agrees("foresight", page, "In 4 s it prints:\n\nuniform 23.2 61.0")
    assert not agrees("foresight", page, "In 4 s it prints:\n\nrecrawl 21.1 61.0")
    assert not agrees("bursts", page, "In 4 s it prints:\n\nuniform 21.2 61.0")
