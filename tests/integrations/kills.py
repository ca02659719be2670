"""Killing a crawl by Scrapy at requests that are named, and what its pipeline was given in all."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.integrations.site import Answer, Site, serving

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Found:
    """What is left after all kills."""

    n_killed: int
    expected: int
    missing: int
    delivered: int


def crawl_with_kills(folder: Path, at_requests: Sequence[int], *, n_pages: int) -> Found:
    """Start a crawl again and again, kill it at its k-th request, and let the last one end.

    Every page gives one item, and leads to ten others.
    """
    victim: list[subprocess.Popen[bytes]] = []
    left = [0]

    def page(host: str, path: str) -> str | Answer | None:
        left[0] -= 1
        if not left[0]:
            os.kill(victim[-1].pid, signal.SIGKILL)
        n = int(path.strip("/") or 0)
        links = "".join(
            f'<a href="/{k}">x</a>' for k in range(10 * n + 1, min(10 * n + 11, n_pages))
        )
        return f"<html><h1>{n}</h1>{links}</html>"

    taken = folder / "taken.txt"
    site, n_killed = Site(page), 0
    with serving(site):
        for target in [*at_requests, 0]:
            left[0] = target
            script = Path(__file__).with_name("victim.py")
            command = [sys.executable, str(script), site.url, str(folder / "state"), str(taken)]
            environment = os.environ | {"PYTHONPATH": str(ROOT)}
            victim.append(subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL))
            n_killed += victim[-1].wait(timeout=100) == -signal.SIGKILL
    lines = taken.read_text().split()
    return Found(n_killed, n_pages, n_pages - len(set(lines)), len(lines))
