"""A web that really changed: its pages, when each was there, and what it held."""

from collections import defaultdict
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from math import inf

import numpy as np
from numpy.typing import NDArray

from recrawl.errors import InputError
from recrawl.learning.companions import companions_of
from recrawl.simulation.history import ChangeHistory
from recrawl.simulation.recorded.log import PageHistory, RecordedLog
from recrawl.simulation.recorded.render import READABLE
from recrawl.simulation.web import DAY_S, LivePage

_BORN_BEFORE = -1.0  # days: pages that were there when the replay began


@dataclass(frozen=True, slots=True, eq=False)
class RecordedPage(LivePage):
    """One life of an address; instants in days since the replay's start.

    Parameters
    ----------
    blobs : names of what it held, one more than there are changes
    moved_to : path that took over; None: it is gone, or stays
    gone_status : what it answers after ``until``
    """

    blobs: tuple[str, ...]
    moved_to: str | None = None
    gone_status: int | None = None


@dataclass(frozen=True, eq=False)
class RecordedWeb:
    """All pages of one host that were there within a span.

    Parameters
    ----------
    pages : in the order of their numbers
    days : how long the span is
    """

    pages: tuple[RecordedPage, ...]
    days: float

    @property
    def hosts(self) -> tuple[str, ...]:
        """Short names of the hosts."""
        return ("recorded",)

    @cached_property
    def by_path(self) -> dict[str, list[RecordedPage]]:
        """Lives of each address, in the order of time."""
        lives: dict[str, list[RecordedPage]] = defaultdict(list)
        for page in self.pages:
            lives[page.path].append(page)
        return dict(lives)

    @cached_property
    def by_directory(self) -> dict[str, tuple[list[str], list[str]]]:
        """Directories inside each directory, and paths of the files in it."""
        inside: dict[str, tuple[dict[str, None], dict[str, None]]] = {"/": ({}, {})}
        for path in self.by_path:
            directory, _, _ = path.rpartition("/")
            inside.setdefault(directory + "/", ({}, {}))[1][path] = None
            while directory:
                above, _, _ = directory.rpartition("/")
                inside.setdefault(above + "/", ({}, {}))[0][directory + "/"] = None
                directory = above
        return {name: (sorted(within), sorted(files)) for name, (within, files) in inside.items()}

    def life(self, path: str, day: float) -> RecordedPage | None:
        """Return the latest life of an address that had begun, or its first."""
        lives = self.by_path.get(path)
        if lives is None:
            return None
        begun = [page for page in lives if page.born <= day]
        return begun[-1] if begun else lives[0]

    @property
    def changes_per_day(self) -> float:
        """Changes of all pages within the span."""
        return sum(page.changes.size for page in self.pages) / self.days

    def history(self) -> ChangeHistory:
        """Return the same as a history for backtests, in days; directories are its paths."""
        n = len(self.pages)
        born = np.array([max(page.born, 0.0) for page in self.pages])
        until = np.array([min(page.until, self.days) for page in self.pages])
        places = {name: number for number, name in enumerate(self.by_directory)}
        return ChangeHistory(
            page=np.repeat(np.arange(n), [page.changes.size for page in self.pages]),
            changed_at=np.concatenate([page.changes for page in self.pages]),
            observed_from=born,
            observed_until=np.maximum(until, born),
            gone=np.array([page.until < self.days for page in self.pages]),
            weights=np.array([page.weight for page in self.pages]),
            hosts=np.zeros(n, np.int64),
            paths=np.array(
                [places[page.path.rpartition("/")[0] + "/"] for page in self.pages], np.int64
            ),
            polls=np.zeros(0),
            companions=companions_of([("", page.path) for page in self.pages]),
        )


def web_of_log(
    log: RecordedLog, start_s: float, days: float, *, pattern: str = "*", max_pages: int
) -> RecordedWeb:
    """Return what is recorded as pages of a site, over a span of time.

    Parameters
    ----------
    log : of a repository, or of archives
    start_s, days : the span, seconds since the epoch and its length
    pattern : only paths that match it, as docs/*
    max_pages : at most so many addresses

    Raises
    ------
    InputError
        No text file matches, or too many do.
    """
    chosen = {
        path: file
        for path, file in log.files.items()
        if fnmatchcase(path, pattern) and (log.are_pages or _is_text(path))
    }
    if len(chosen) > max_pages:
        raise InputError(f"{len(chosen):,} pages match, more than {max_pages:,}; narrow --path")
    pages: list[RecordedPage] = []
    for path in sorted(chosen):
        for life in _lives(chosen[path], start_s, days):
            born, until, changes, blobs, moved = life
            kept = moved if moved in chosen else None
            status = None if kept else (410 if len(pages) % 2 else 404)
            page = RecordedPage(
                len(pages), 0, f"/{path}", 1.0, born, until, changes, blobs, kept, status
            )
            pages.append(page)
    if not pages:
        raise InputError(f"no page that matches {pattern!r} was there in that time")
    return RecordedWeb(tuple(pages), days)


def _is_text(path: str) -> bool:
    name = path.rpartition("/")[2]
    stem, dot, ending = name.rpartition(".")
    return ending.lower() in READABLE if dot and stem else True


Life = tuple[float, float, NDArray[np.float64], tuple[str, ...], str | None]


def _lives(file: PageHistory, start_s: float, days: float) -> list[Life]:
    """Spans within which a file was there, with what changed."""
    found: list[Life] = []
    born, changes, blobs = 0.0, list[float](), list[str]()

    def end(until: float, moved: str | None) -> None:
        if blobs and until > 0.0:
            found.append((born, until, np.array(changes), tuple(blobs), moved))

    for at_s, blob in zip(file.at_s, file.blobs, strict=True):
        day = (at_s - start_s) / DAY_S
        if day >= days:
            break
        if blob is None:
            end(day, file.moved_to.get(at_s))
            blobs = []
        elif not blobs:
            born, changes, blobs = max(day, _BORN_BEFORE), [], [blob]
        elif day <= 0.0:
            blobs = [blob]  # what it held when the span began
        else:
            changes.append(day)
            blobs.append(blob)
    end(inf, None)
    return found
