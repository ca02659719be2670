"""The state directory as the pages see it: opened for reading, and anew when it was replaced.

Each thread that asks has connections of its own, because a slow question must hold up no other.
"""

from pathlib import Path

from recrawl.crawler.ports import Frontier, PageIndex, StatePlace
from recrawl.crawler.wiring.indexes import open_index
from recrawl.crawler.wiring.stores import CrawlHistory, open_frontier, open_history
from recrawl.errors import StateError


class CrawlSource:
    """Reads one state directory from one thread.

    Parameters
    ----------
    directory : of the state; it need not hold a crawl yet
    """

    def __init__(self, directory: StatePlace) -> None:
        self.directory = directory
        self._frontier: Frontier | None = None
        self._history: CrawlHistory | None = None
        self._index: PageIndex | None = None
        self._state_mark: tuple[int, ...] = ()
        self._index_mark: tuple[int, ...] = ()

    def frontier(self) -> Frontier:
        """Return the frontier.

        Raises
        ------
        StateError
            There is none, or it is damaged or of another version.
        """
        self._open_state()
        assert self._frontier is not None
        return self._frontier

    def history(self) -> CrawlHistory:
        """Return the history; raises like :meth:`frontier`."""
        self._open_state()
        assert self._history is not None
        return self._history

    def index(self) -> PageIndex:
        """Return the index.

        Raises
        ------
        StateError
            There is none yet, or it is damaged.
        """
        mark = _index_mark(self.directory)
        if self._index is None or mark != self._index_mark:
            if self._index is not None:
                self._index.close()
                self._index = None
            self._index = open_index(self.directory, read_only=True)
            self._index_mark = mark
        return self._index

    def close(self) -> None:
        """Release files."""
        for part in (self._frontier, self._history, self._index):
            if part is not None:
                part.close()
        self._frontier = self._history = self._index = None

    def _open_state(self) -> None:
        mark = _state_mark(self.directory)
        if self._frontier is not None and mark == self._state_mark:
            return
        for part in (self._frontier, self._history):
            if part is not None:
                part.close()
        self._frontier = self._history = None
        if isinstance(self.directory, Path) and not self.directory.is_dir():
            raise StateError(f"there is no directory {self.directory}")
        self._frontier = open_frontier(self.directory, read_only=True)
        self._history = open_history(self.directory)
        self._state_mark = mark


def _state_mark(place: StatePlace) -> tuple[int, ...]:
    return _mark(place / "state.sqlite3") if isinstance(place, Path) else ()


def _index_mark(place: StatePlace) -> tuple[int, ...]:
    if not isinstance(place, Path):
        return ()
    return _mark(place / "index", place / "index" / "language")


def _mark(*paths: Path) -> tuple[int, ...]:
    """Tell a file from another that took its place."""
    try:
        return tuple(path.stat().st_ino for path in paths)
    except OSError:
        return ()
