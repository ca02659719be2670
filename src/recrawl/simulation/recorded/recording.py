"""A span of a repository's history as a site: what two processes need to make the same."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from recrawl.simulation.recorded.git import Blobs, GitLog, read_log
from recrawl.simulation.recorded.site import Habits, RecordedSite
from recrawl.simulation.recorded.web import RecordedWeb, web_of_log

__all__ = ["MAX_FILE_BYTES", "Recording"]

MAX_FILE_BYTES: Final = 2 << 20
_LOGS: dict[str, GitLog] = {}  # read once a process


@dataclass(frozen=True, slots=True)
class Recording:
    """A repository, a span of its history, and how well the site behaves.

    Parameters
    ----------
    repo : path of the repository
    pattern : of paths that are pages
    start_s, days : the span
    max_pages : at most so many addresses
    habits : of the site, or their fields
    """

    repo: str
    pattern: str
    start_s: float
    days: float
    max_pages: int = 100_000
    habits: dict[str, Any] = field(default_factory=lambda: asdict(Habits()))

    def web(self) -> RecordedWeb:
        """Return the pages, by what git's log says."""
        if self.repo not in _LOGS:
            _LOGS[self.repo] = read_log(Path(self.repo), renames=True)
        return web_of_log(
            _LOGS[self.repo],
            self.start_s,
            self.days,
            pattern=self.pattern,
            max_pages=self.max_pages,
        )

    def site(self, port: int) -> RecordedSite:
        """Return what is served."""
        return RecordedSite(
            self.web(),
            Blobs(Path(self.repo), MAX_FILE_BYTES),
            epoch_s=self.start_s,
            port=port,
            title=Path(self.repo).resolve().name,
            habits=Habits(**self.habits),
        )
