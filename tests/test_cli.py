"""The command line as a whole: what it loads, and how it fails."""

import subprocess
import sys

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


def test_an_unknown_verb_is_bad_input() -> None:
    """Exit code 2 and one message, never a traceback."""
    ended = subprocess.run(
        [sys.executable, "-m", "recrawl", "plam"], capture_output=True, text=True, check=False
    )

    assert ended.returncode == 2
    assert ended.stderr.startswith("recrawl: ")
    assert "Traceback" not in ended.stderr
