"""Recorded histories of a site's pages: when each changed, and what it held from then on."""

from dataclasses import dataclass, field
from typing import Protocol


@dataclass(slots=True)
class PageHistory:
    """One path over time.

    Parameters
    ----------
    at_s : instants at which it changed, ascending, seconds since the epoch
    blobs : name of what it held from then on; None: it was not there
    with_others : how many pages changed together with it at each of these instants
    moved_to : where a page went at each instant at which it was no more, as far as that is known
    """

    at_s: list[int] = field(default_factory=list)
    blobs: list[str | None] = field(default_factory=list)
    with_others: list[int] = field(default_factory=list)
    moved_to: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RecordedLog:
    """All that is recorded.

    Parameters
    ----------
    files : by path, without the slash in front
    records : that were read: commits, captures
    end_s : instant of the last
    n_left_out : entries that are no pages
    are_pages : whether each path is a page whatever it ends in
    """

    files: dict[str, PageHistory]
    records: int
    end_s: int
    n_left_out: int
    are_pages: bool = False


class Contents(Protocol):
    """Source of the contents of pages."""

    @property
    def are_pages(self) -> bool:
        """Whether each is a whole page of HTML, whatever its path ends in."""
        ...

    def read(self, blob: str) -> bytes | None:
        """Return what a blob holds; None: it cannot be had."""
        ...

    def close(self) -> None:
        """Let go of what they are read from."""
        ...
