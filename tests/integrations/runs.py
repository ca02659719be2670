"""Starting the process that crawls, and what came of it."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from tests.integrations.site import Answer, Site, serving

ROOT = Path(__file__).parents[2]
DAY = 86_400.0


class QuotesSite:
    """Three pages of quotes and two authors; what has changed is by the day."""

    def __init__(self, validators: bool = True) -> None:
        self.now_s = 0.0
        self.changed: dict[str, str] = {}
        self.from_day: dict[int, dict[str, str]] = {}
        self.asked_by_run: list[Counter[str]] = []
        self.statuses_by_run: list[Counter[int]] = []
        self.site = Site(self.page, validators=validators)

    def page(self, host: str, path: str) -> str | Answer | None:
        if path.startswith("/_at/"):
            self.now_s = float(path.removeprefix("/_at/"))
            for day in sorted(self.from_day):
                if self.now_s >= day * DAY:
                    self.changed.update(self.from_day[day])
            self._next_run()
            return "ok"
        name = path.strip("/")
        if name.startswith("page/"):
            n = int(name.removeprefix("page/"))
            text = self.changed.get(name, f"first of {n}")
            links = f'<a class="author" href="/author/{n}">A{n}</a>' if n < 3 else ""
            links += f'<a class="next" href="/page/{n + 1}">next</a>' if n < 3 else ""
            return f'<html><div class="quote">{text}</div>{links}</html>'
        if name.startswith("author/"):
            return f"<html><b>{self.changed.get(name, 'born')}</b></html>"
        return None

    def _next_run(self) -> None:
        self.asked_by_run.append(Counter())
        self.statuses_by_run.append(Counter())
        self.site.asked, self.site.statuses = self.asked_by_run[-1], self.statuses_by_run[-1]

    def fetched(self, run: int) -> set[str]:
        """Return the paths that a run asked for."""
        return {path for path in self.asked_by_run[run] if not path.startswith("/_at/")}


def crawl(
    site: Site,
    state: Path,
    runs: list[dict[str, Any]],
    *,
    spider: str = "tests.integrations.spiders.Quotes",
    reactor: str = "asyncio",
    **settings: Any,
) -> list[dict[str, Any]]:
    """Run crawls one after the other; return statistics and items of each."""
    with serving(site):
        task = {
            "site": site.url,
            "reactor": reactor,
            "spider": spider,
            "settings": {"RECRAWL_STATE": str(state), **settings},
            "runs": runs,
        }
        ended = subprocess.run(
            [sys.executable, str(Path(__file__).with_name("drive.py"))],
            input=json.dumps(task),
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
            env=os.environ
            | {"PYTHONPATH": os.pathsep.join([os.environ.get("PYTHONPATH", ""), str(ROOT)])},
        )
    assert ended.returncode == 0, ended.stderr
    found: list[dict[str, Any]] = json.loads(ended.stdout)
    for one in found:
        one["stderr"] = ended.stderr
    return found
