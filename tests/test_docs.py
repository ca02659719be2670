"""The documents are true: examples run, verbs are explained, tables name what exists."""

import doctest
import importlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.acceptance.command import ENV
from tests.acceptance.servers import Exchange, serving

from recrawl.cli.app import VERBS

ROOT = Path(__file__).parent.parent
MADE = {
    "command-line.md",
    "configuration.md",
    "life-cycle.md",
    "metrics.md",
}  # from the code, by the docs build
PAGES = [
    ROOT / "README.md",
    ROOT / "ARCHITECTURE.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if path.name not in MADE),
]
# Tables that a reader is asked to save before the examples.
SAVED = re.compile(r"Save this as `([\w.]+)`[^\n]*\n\n```\w+\n(.*?)```", re.DOTALL)
PLACEHOLDER = "https://docs.example.org"


def blocks(language: str) -> list[tuple[Path, str]]:
    """Return every fenced block of a language, with the page it is on."""
    pattern = re.compile(rf"^```{language}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    return [(page, found) for page in PAGES for found in pattern.findall(page.read_text())]


def name_of(value: object) -> str:
    """Name a parametrised page by its path."""
    return str(value.relative_to(ROOT)) if isinstance(value, Path) else ""


@pytest.mark.slow
@pytest.mark.parametrize(("page", "code"), blocks("python"), ids=name_of)
def test_python_examples_run(page: Path, code: str, tmp_path: Path) -> None:
    """Every Python example runs as it stands, in an empty folder."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{page}: {done.stderr}"


@pytest.mark.slow
@pytest.mark.parametrize("page", sorted({page for page, _ in blocks("py")}), ids=name_of)
def test_cells_of_a_notebook_run(page: Path, tmp_path: Path) -> None:
    """One after the other, as in a notebook, where `await` stands by itself."""
    cells = "\n".join(code for where, code in blocks("py") if where == page)
    program = (
        "import ast, asyncio, types\n"
        f"code = compile({cells!r}, 'cells', 'exec', ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)\n"
        "asyncio.run(types.FunctionType(code, {})())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{page}: {done.stderr}"


@pytest.mark.parametrize(
    "path",
    [path for path in (ROOT / "src").rglob("*.py") if ">>>" in path.read_text()],
    ids=lambda path: path.stem if path.stem != "__init__" else path.parent.name,
)
def test_examples_in_docstrings_are_true(path: Path) -> None:
    """Run as doctests, with the output that they show."""
    name = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
    module = importlib.import_module(name.removesuffix(".__init__"))

    failed, tried = doctest.testmod(module)

    assert tried > 0
    assert failed == 0


@pytest.mark.parametrize(("page", "text"), blocks("toml"), ids=name_of)
def test_toml_examples_are_toml(page: Path, text: str) -> None:
    """Every configuration shown can be read."""
    assert tomllib.loads(text), page


async def documentation(exchange: Exchange) -> None:
    """A site such as the how-to crawls."""
    pages = {
        "/": "<title>Docs</title><main><a href='/library/asyncio-task.html'>tasks</a></main>",
        "/library/asyncio-task.html": "<title>Tasks</title><main>a task group waits</main>",
    }
    body = pages.get(exchange.path)
    await exchange.reply(body or "", status=200 if body else 404)


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """A local site in the place of the one that the examples name."""
    with serving(documentation) as server:
        yield f"http://site.localhost:{server.port}"


@pytest.fixture(scope="module")
def crawled(site: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of somebody who has crawled that site."""
    folder = tmp_path_factory.mktemp("crawled")
    _shell(f"recrawl init {site}/ --contact mailto:tester@site.test --allow-private", folder)
    _shell("recrawl run --once --quiet", folder)
    return folder


CRAWLS = re.compile(
    r"recrawl (init|run|importance|search|status|explain|export|changes|visit|check|backup|restore)"
)
SESSIONS = blocks("console")


@pytest.mark.slow  # a process for every command, and polite crawls
@pytest.mark.acceptance
@pytest.mark.parametrize(("page", "session"), SESSIONS, ids=name_of)
def test_console_examples_do_what_they_show(
    page: Path, session: str, tmp_path: Path, site: str, request: pytest.FixtureRequest
) -> None:
    """Every command of ours that is shown succeeds, and prints what is shown of its output."""
    for name, text in re.findall(SAVED, page.read_text()):
        (tmp_path / name).write_text(text)
    for example in (ROOT / "docs" / "examples").glob("*.*"):
        shutil.copy(example, tmp_path)  # too long to be saved by hand
    if CRAWLS.search(session) and "recrawl init" not in session:
        shutil.copytree(request.getfixturevalue("crawled"), tmp_path, dirs_exist_ok=True)
    for line, shown in _commands(session):
        if not line.startswith("recrawl "):
            continue  # x.py and pip set up what this very run stands on
        command = line.partition("  #")[0].replace(PLACEHOLDER, site)
        if command.startswith("recrawl init"):
            command = command.replace("you@your.domain", "tester@site.test") + " --allow-private"
        printed = _shell(command, tmp_path)
        _assert_shown(shown, printed, f"{page.name}: {line}")


def _commands(session: str) -> Iterator[tuple[str, list[str]]]:
    """Split a session at its prompts; a backslash continues a command."""
    for part in re.split(r"^\$ ", session.replace("\\\n", " "), flags=re.MULTILINE)[1:]:
        line, *shown = part.rstrip().split("\n")
        yield line, shown


def _shell(command: str, cwd: Path) -> str:
    words = [sys.executable, "-m", *shlex.split(command)]
    environment = ENV | {"COLUMNS": "80", "NO_COLOR": "1"} | {"HOME": os.fspath(cwd)}
    done = subprocess.run(
        words, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout + done.stderr


def _assert_shown(shown: list[str], printed: str, where: str) -> None:
    """Every line that is shown occurs in what was printed, in order; ``...`` stands for any."""
    rest = [line.strip() for line in printed.splitlines()]
    for line in (line.strip() for line in shown):
        if line and line != "...":
            assert line in rest, f"{where} does not print {line!r}:\n{printed}"
            del rest[: rest.index(line) + 1]


@pytest.mark.parametrize("verb", [name for name, *_ in VERBS])
def test_every_verb_has_a_how_to(verb: str) -> None:
    """Whoever finds a verb in the help finds a page that uses it."""
    told = "".join(path.read_text() for path in [ROOT / "README.md", *_how_tos()])

    assert re.search(rf"recrawl {verb}\b", told) or ("x.py run" in told and verb == "demo")


def _how_tos() -> list[Path]:
    return sorted((ROOT / "docs" / "howto").glob("*.md"))


def test_the_table_of_theory_names_what_exists() -> None:
    """Each row: a page, a module and a test file that are there."""
    index = ROOT / "docs" / "theory" / "index.md"
    row = r"^\|.*\((\S+\.md)(?:#\S+)?\).*\| `(\S+)`.*\| `(\S+)` \|$"
    rows = re.findall(row, index.read_text(), re.MULTILINE)
    assert len(rows) >= 6
    for page, module, test in rows:
        assert (index.parent / page).exists(), page
        importlib.import_module(module)
        assert (ROOT / test).exists(), test


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_paths_that_are_named_exist(page: Path) -> None:
    """Links between pages, and tests that a page names, are there."""
    text = page.read_text()
    for link in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text):
        target = page.parent / link
        assert target.exists() or target.name in MADE, f"{page}: {link}"
    for test in re.findall(r"`(tests/[\w/.]+)`", text):
        assert (ROOT / test).exists(), f"{page}: {test}"


def test_what_others_do_is_linked_or_said_not_to_be_found() -> None:
    """Each cell about another crawler leads to its documentation, source or issue tracker."""
    text = (ROOT / "docs" / "comparison.md").read_text().partition("## Measured side by side")[0]
    rows = [line.split(" | ") for line in text.splitlines() if re.match(r"\| (?!\|)", line)]
    cells = [cell.strip(" |") for row in rows if row[0] != "| " for cell in row[1:]]

    assert len(cells) > 80
    assert [cell for cell in cells if "](" not in cell and "not found" not in cell] == []


LONGEST_SITE = 30_000  # words: sixty pages of five hundred
FENCED = re.compile(r"^(`{3,}|:{3,})[^\n]*\n.*?^\1$", re.MULTILINE | re.DOTALL)
# Nothing that is read as prose: formulas on lines of their own, tables, pictures, labels, and the
# lines at the end of a section of theory that only name its modules and tests.
ASIDE = re.compile(
    r"^\$\$.*?\$\$$|^\|[^\n]*$|^!\[[^\n]*$|^\([\w-]+\)=$|^\*\*(?:Modules?|Tests?)\*\*.*?(?=\n\n|\Z)",
    re.MULTILINE | re.DOTALL,
)


def words_of_prose(page: Path) -> int:
    """Count words outside code, tables and formulas; a formula in a sentence is one word."""
    text = page.read_text(encoding="utf-8")
    if page.parent.name == "gallery":  # what follows is printed by programs
        text = text.partition("## Printed, and ours")[0]
    text = ASIDE.sub("", FENCED.sub("", text))
    text = re.sub(r"\$[^$]+\$", "formula", text)
    return len(re.sub(r"\]\([^)]*\)", "]", text).split())


def test_the_site_can_be_read() -> None:
    """Under sixty pages of prose: decisions and what is made from the code are no part of it."""
    site = [path for path in PAGES if "docs" in path.parts and path.parent.name != "decisions"]

    assert len(site) > 60
    assert sum(map(words_of_prose, site)) <= LONGEST_SITE
