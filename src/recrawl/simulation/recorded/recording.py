"""A span of a recorded history as a site: what two processes need to make the same."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from recrawl.simulation.recorded.archive import read_captures
from recrawl.simulation.recorded.git import Blobs, read_log
from recrawl.simulation.recorded.log import Contents, RecordedLog
from recrawl.simulation.recorded.site import Habits, RecordedSite
from recrawl.simulation.recorded.web import RecordedWeb, web_of_log

MAX_FILE_BYTES: Final = 2 << 20


@dataclass(frozen=True, slots=True)
class Source:
    """Source of a recorded history.

    Parameters
    ----------
    repo : path of a git repository; or ""
    archives : paths of WARC files
    """

    repo: str = ""
    archives: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Name of the source for people."""
        more = f" and {len(self.archives) - 1} more" if len(self.archives) > 1 else ""
        return self.repo or f"{self.archives[0]}{more}"

    def read(self) -> tuple[RecordedLog, Contents]:
        """Return what is recorded, read once in a process, and where contents come from."""
        if self not in _READ:
            if self.archives:
                _READ[self] = read_captures([Path(file) for file in self.archives])
            else:
                _READ[self] = (read_log(Path(self.repo), renames=True), None)
        log, contents = _READ[self]
        return log, contents or Blobs(Path(self.repo), MAX_FILE_BYTES)


_READ: dict[Source, tuple[RecordedLog, Contents | None]] = {}


@dataclass(frozen=True, slots=True)
class Recording:
    """A source, a span of its history, and how well the site behaves.

    Parameters
    ----------
    source : or its fields
    pattern : of paths that are pages
    start_s, days : the span
    max_pages : at most so many addresses
    habits : of the site, or their fields
    """

    source: Source
    pattern: str
    start_s: float
    days: float
    max_pages: int = 100_000
    habits: dict[str, Any] = field(default_factory=lambda: asdict(Habits()))

    @classmethod
    def told(cls, fields: dict[str, Any]) -> "Recording":
        """Return the recording whose fields came as JSON."""
        source = fields["source"]
        there = Source(source["repo"], tuple(source["archives"]))
        return cls(**(fields | {"source": there}))

    def web(self) -> RecordedWeb:
        """Return the pages."""
        log, contents = self.source.read()
        contents.close()
        return web_of_log(
            log, self.start_s, self.days, pattern=self.pattern, max_pages=self.max_pages
        )

    def site(self, port: int) -> RecordedSite:
        """Return what is served."""
        return RecordedSite(
            self.web(),
            self.source.read()[1],
            epoch_s=self.start_s,
            port=port,
            title=Path(self.source.name).resolve().name,
            habits=Habits(**self.habits),
        )
