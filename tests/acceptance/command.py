"""The command line as a subprocess."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ENV = {name: value for name, value in os.environ.items() if not name.startswith("RECRAWL_")}


def recrawl(
    *arguments: str | Path, cwd: Path, timeout: float = 100.0
) -> subprocess.CompletedProcess[str]:
    """Run `recrawl` to its end."""
    command = [sys.executable, "-m", "recrawl", *map(str, arguments)]
    return subprocess.run(
        command, cwd=cwd, env=ENV, capture_output=True, text=True, timeout=timeout, check=False
    )


def recrawl_measured(
    *arguments: str | Path, cwd: Path
) -> tuple[subprocess.CompletedProcess[str], int]:
    """Run `recrawl` to its end; return also the most memory that it had, in KiB.

    Through a small process in between: the kernel counts the memory of whoever forked as the
    child's own, and a process that runs tests is large.
    """
    between = (
        "import resource, subprocess, sys\n"
        "code = subprocess.call([sys.executable, '-m', 'recrawl', *sys.argv[1:]])\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
        "sys.exit(code)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", between, *map(str, arguments)],
        cwd=cwd, env=ENV, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    return ended, int(ended.stdout.split()[-1])


def answer(*arguments: str | Path, cwd: Path) -> dict[str, Any]:
    """Run `recrawl ... --json` and return its one object."""
    ended = recrawl(*arguments, "--json", cwd=cwd)
    assert ended.returncode == 0, ended.stderr
    told: dict[str, Any] = json.loads(ended.stdout)
    return told


def start(*arguments: str | Path, cwd: Path, **env: str) -> subprocess.Popen[str]:
    """Start `recrawl` and let it run, with more in its environment."""
    command = [sys.executable, "-m", "recrawl", *map(str, arguments)]
    return subprocess.Popen(
        command, cwd=cwd, env=ENV | env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def write_config(cwd: Path, text: str) -> Path:
    """Write recrawl.toml."""
    path = cwd / "recrawl.toml"
    path.write_text(text, encoding="utf-8")
    return path


def rows(cwd: Path, table: str) -> list[dict[str, Any]]:
    """Export a table of the crawl in ``cwd``."""
    ended = recrawl("export", table, "--out", cwd / f"{table}.jsonl", cwd=cwd)
    assert ended.returncode == 0, ended.stderr
    return [json.loads(line) for line in (cwd / f"{table}.jsonl").read_text().splitlines()]
