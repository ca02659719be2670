"""Asking a crawl for visits from another process, whether it runs now or later."""

import json
import time
from collections.abc import Sequence

from recrawl.crawler.frontier.store import Door
from recrawl.terms import VisitAnswer


class VisitDoor(Door):
    """Adds to the visits that a crawl was asked for, and to nothing else."""

    def ask(self, urls: Sequence[str], *, is_signal: bool = False) -> list[int]:
        """Ask for visits of addresses in normal form; return the number of each. All or none.

        Parameters
        ----------
        is_signal : see :meth:`recrawl.crawler.ports.Frontier.ask`
        """
        now_s = time.time()
        with self._writing():
            rows = [{"url": url, "now_s": now_s, "is_signal": is_signal} for url in urls]
            return [int(self._run("ask", **row).fetchone()[0]) for row in rows]

    def answers(self, numbers: Sequence[int]) -> list[VisitAnswer]:
        """Return what came of visits that were asked for."""
        rows = self._rows("answers", numbers=json.dumps(list(numbers)))
        return [VisitAnswer(*row) for row in rows]
