"""The command line as a whole: what it loads, and how it fails."""

import subprocess
import sys
from pathlib import Path

import pytest

from recrawl.cli.app import app
from recrawl.cli.arguments import checked_arguments
from recrawl.crawler.wiring.indexes import open_index
from recrawl.terms import Document

HEAVY = (
    "numpy",
    "numba",
    "pyarrow",
    "aiohttp",
    "tantivy",
    "scipy",
    "matplotlib",
    "lxml",
    "asyncio",
    "starlette",
    "uvicorn",
)


def test_help_imports_nothing_heavy() -> None:
    """`recrawl --help` answers in under 0.3 s because every verb is loaded only when called."""
    probe = (
        "import sys\n"
        "from recrawl.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        f"print('loaded', [name for name in {HEAVY!r} if name in sys.modules])\n"
    )

    ended = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True
    )

    assert ended.stdout.splitlines()[-1] == "loaded []"


def test_a_search_loads_what_searching_needs(tmp_path: Path) -> None:
    """Half of its 0.2 s is the import of modules; numpy and the policies would double that."""
    index = open_index(tmp_path)
    index.replace(Document("http://a.test/", "A title", "Words of a page", 1.0, b"s"))
    index.commit()
    index.close()
    unneeded = (*(name for name in HEAVY if name != "tantivy"), "recrawl.learning")
    unneeded += ("recrawl.crawler.control.revisiting.policies", "recrawl.crawler.frontier.sqlite")
    probe = (
        "import sys\n"
        "from recrawl.cli import main\n"
        f"try: main(['search', 'words', '--state', {str(tmp_path)!r}])\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        f"print('loaded', [name for name in {unneeded!r} if name in sys.modules])\n"
    )

    ended = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True
    )

    assert "http://a.test/" in ended.stdout
    assert ended.stdout.splitlines()[-1] == "loaded []"


def test_a_search_of_a_database_loads_as_little() -> None:
    """What is learned of hosts is for those who write copies."""
    pytest.importorskip("psycopg")
    probe = (
        "import sys, recrawl.crawler.index.postgres\n"
        "print('numpy' in sys.modules, 'recrawl.crawler.index.repeats.own_text' in sys.modules)\n"
    )

    ended = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True
    )

    assert ended.stdout == "False False\n"


def test_a_crawl_loads_neither_generators_nor_arrays_with_masks() -> None:
    """They take seven megabytes and one, as long as it runs."""
    probe = (
        "import sys\n"
        "import numpy as np\n"
        "import recrawl.cli.crawler.run, recrawl.processes.access_times\n"
        "import recrawl.crawler.control.fleet.drift\n"
        "from recrawl.crawler.control.revisiting.estimate import freshness_of_copies\n"
        "from recrawl.learning.page_rank import LinkGraph, rank_pages\n"
        "from recrawl.crawler.control.revisiting.change_times import ChangeTimes\n"
        "ChangeTimes().observe(*np.zeros((2, 9)), np.zeros(9, np.bool_), np.zeros(9))\n"
        "ChangeTimes().dated(np.zeros(0, np.int64), np.zeros(0))\n"
        "freshness_of_copies(np.full(999, 0.9), np.ones(999))\n"
        "starts, targets = np.array([0, 1, 2]), np.array([1, 0], np.int32)\n"
        "rank_pages(LinkGraph(starts, targets, np.zeros(2, np.int64)))\n"
        "print([name for name in ('numpy.random', 'numpy.ma') if name in sys.modules])\n"
    )

    ended = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True
    )

    assert ended.stdout == "[]\n"


def test_a_status_loads_no_arrays_with_masks() -> None:
    """They are a sixth of its start; the typical rate is the median without them."""
    probe = (
        "import sys\n"
        "from types import SimpleNamespace as Pages\n"
        "import numpy as np\n"
        "from recrawl.crawler.reports.status import believed_rates\n"
        "for told in ([5.0, 1.0, np.nan, 2.0], [4.0, 1.0, np.nan, 2.0, 9.0], [np.nan]):\n"
        "    rates = np.array(told)\n"
        "    pages = Pages(change_rates_per_s=rates, change_rate_factors=np.ones(rates.size))\n"
        "    print(believed_rates(pages)[0][np.isnan(rates)][0])\n"
        "print('numpy.ma' in sys.modules)\n"
    )

    ended = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True
    )

    assert ended.stdout.split() == ["2.0", "3.0", "1e-06", "False"]


def test_it_is_stopped_without_a_word_before_it_has_begun() -> None:
    """By Ctrl-C while the first modules are loaded."""
    probe = (
        "import sys\n"
        "class Pressed:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'cyclopts': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Pressed())\n"
        "from recrawl.cli import main\n"
    )

    ended = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=False
    )

    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")


def test_an_unknown_verb_is_bad_input() -> None:
    """Exit code 2 and one message, never a traceback."""
    ended = subprocess.run(
        [sys.executable, "-m", "recrawl", "plam"], capture_output=True, text=True, check=False
    )

    assert ended.returncode == 2
    assert ended.stderr.startswith("recrawl: ")
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("written", [["--log", "-"], ["--log=-"]])
def test_a_hyphen_is_a_stream_in_either_form(written: list[str]) -> None:
    """And what follows it is still an option."""
    arguments = checked_arguments(["run", "site.toml", *written, "--quiet"])

    _, bound, _ = app.parse_args(arguments, exit_on_error=False, print_error=False)

    assert bound.arguments["log"] == Path("-")
    assert bound.arguments["quiet"] is True
