"""The crawler alone: what works without the extra decisions, and what is said of the rest."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.acceptance.command import ENV, write_config
from tests.acceptance.servers import Exchange, serving

MISSING = ("pyarrow", "numba", "llvmlite", "matplotlib")
WITHOUT = f"""
import sys
from importlib.abc import MetaPathFinder
class Missing(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {MISSING!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
import importlib.util
look_up = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name in {MISSING!r} else look_up(name, *rest)
"""
CONFIG = """
seeds = ["http://site.localhost:{port}/"]
contact = "mailto:tester@site.test"
budget = "500/s"
[politeness]
delay = "0s"
allow_private = ["*.localhost"]
"""


async def two_pages(exchange: Exchange) -> None:
    """An owl behind a link."""
    bodies = {"/": "<main>start <a href='/owl'>owl</a></main>", "/owl": "<main>an owl</main>"}
    body = bodies.get(exchange.path)
    await exchange.reply(body or "", status=200 if body else 404)


def without(program: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a program where nothing is installed but what the crawler needs."""
    return subprocess.run(
        [sys.executable, "-c", WITHOUT + program],
        cwd=cwd, env=ENV, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def command(arguments: list[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run one verb there."""
    return without(f"from recrawl.cli import main\nmain({arguments!r})", cwd)


@pytest.mark.slow
def test_the_crawler_alone_crawls_searches_and_exports(tmp_path: Path) -> None:
    """No verb of a crawl needs tables or the compiler."""
    with serving(two_pages) as server:
        write_config(tmp_path, CONFIG.format(port=server.port))
        for verb in ("run --once --quiet", "check"):
            ended = command(verb.split(), tmp_path)
            assert ended.returncode == 0, f"{verb}: {ended.stderr}"

    found = json.loads(command(["search", "owl", "--json"], tmp_path).stdout)
    assert [hit["url"].rpartition("/")[2] for hit in found["hits"]][:1] == ["owl"]
    assert command(["export", "pages", "--out", "pages.csv"], tmp_path).returncode == 0
    assert "/owl,http://site.localhost" in (tmp_path / "pages.csv").read_text()


@pytest.mark.parametrize(
    ("arguments", "part", "extra"),
    [
        ("plan pages.csv --budget 1/d", "pyarrow", "decisions"),
        ("robots --buffer 5 --fetch-rate 1 --index-rate 8", "pyarrow", "decisions"),
        ("backtest history.parquet", "pyarrow", "decisions"),
        ("simulate model.toml", "numba", "decisions"),
        ("reproduce talim-table-2", "numba", "decisions"),
    ],
)
def test_what_needs_more_names_the_extra(
    arguments: str, part: str, extra: str, tmp_path: Path
) -> None:
    """Exit code 2 and one line that can be copied."""
    (tmp_path / "model.toml").write_text("")

    ended = command(arguments.split(), tmp_path)

    assert ended.returncode == 2
    assert ended.stderr == (
        f"recrawl: this needs {part}, which is not installed: pip install 'recrawl[{extra}]'\n"
    )


def test_the_library_says_the_same(tmp_path: Path) -> None:
    """`recrawl.plan` raises what the command line prints; a crawl can be opened all the same."""
    ended = without(
        "import recrawl\n"
        "recrawl.open_crawl, recrawl.open_state\n"
        "try: recrawl.plan\n"
        "except recrawl.MissingPart as missing: print(missing)\n",
        tmp_path,
    )

    assert ended.stdout == (
        "this needs pyarrow, which is not installed: pip install 'recrawl[decisions]'\n"
    )


def test_a_loop_without_a_compiler_finds_the_same(tmp_path: Path) -> None:
    """Beliefs of more pages than numpy is used for otherwise: as written, to the last digit."""
    program = """
import numpy as np
from recrawl.learning import beliefs
beliefs._FEW = {few}
control = beliefs.RateBeliefs(500, prior_rate=1e-5)
page = np.repeat(np.arange(500), 3)
at = np.linspace(1e3, 1e6, page.size)
print(control.observe(page, at, page % 3 == 0).sum().hex())
print("numba" in __import__("sys").modules)
"""
    few, many = (without(program.format(few=few), tmp_path) for few in (10, 10_000))

    assert few.stdout == many.stdout != "", few.stderr
    assert few.stdout.endswith("False\n")
