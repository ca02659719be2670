"""State and disk of a crawl, as numbers for Prometheus."""

import contextlib
import shutil
import time
from pathlib import Path
from typing import Final

from recrawl.crawler.reports.deliveries import deliveries_report
from recrawl.crawler.reports.status import freshness_of, instant_of
from recrawl.crawler.wiring.stores import open_frontier
from recrawl.errors import StateError

_LEAST_S: Final = 10.0
_SHARE: Final = 0.02  # of the time


class StateGauges:
    """Reads the state beside its crawl; asked again too soon, it says what it has read before.

    Parameters
    ----------
    state : directory of the state

    Notes
    -----
    A look takes time in proportion to the pages, and at most a fiftieth of all time.
    """

    def __init__(self, state: Path) -> None:
        self._state = state
        self._known: dict[str, float] = {}
        self._again_s = 0.0

    def __call__(self) -> dict[str, float]:
        """Return the gauges."""
        began_s = time.monotonic()
        if began_s >= self._again_s:
            with contextlib.suppress(StateError):  # under repair, say: what was known stays
                self._known = self._look()
            ended_s = time.monotonic()
            self._again_s = ended_s + max(_LEAST_S, (ended_s - began_s) / _SHARE)
        free = shutil.disk_usage(self._state).free
        return self._known | {"disk_free_bytes": float(free)}

    def _look(self) -> dict[str, float]:
        with contextlib.closing(open_frontier(self._state, read_only=True)) as frontier:
            now_s = instant_of(frontier.facts())
            estimate = freshness_of(frontier.planned_pages(), frontier.announcers(), now_s)
            counts, late_s = frontier.n_pages_by_state(), now_s - 3600.0
            overdue = frontier.n_due(late_s)
        sinks = deliveries_report(self._state)
        since = [float(one["failing_since"]) for one in sinks if one["failing_since"]]
        return {
            "pages": float(sum(counts.values())),
            "pages_overdue": float(overdue),
            "freshness": estimate.value if estimate else float("nan"),
            "sink_behind_changes": float(max((one["behind"] for one in sinks), default=0)),
            "sink_failing_seconds": max(0.0, now_s - min(since)) if since else 0.0,
            "sink_dead_letters": float(sum(one["dead"] for one in sinks)),
        }
