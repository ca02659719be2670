"""Sections of a host that fail by themselves: pages of one folder, all answered by errors.

A host in trouble and a broken section of it look alike while pages of that section alone are asked.
So the host rests as for any trouble, the section somewhat longer, and pages outside of it are asked
first. Where one of these is answered well, what the section does next is its own trouble: it alone
rests, ever longer as a host would, and the rest of the host is visited meanwhile.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Final
from urllib.parse import urlsplit

from recrawl.crawler.control.dispatching.retry import Backoff, Draws

Section = tuple[str, ...]  # the names of a folder's path; (): the whole host

_LONGER: Final = 1.5  # times the rest of its host: what is outside of it comes first
_MOST: Final = 100  # sections of a host that are known


def section_of(url: str) -> Section:
    """Return the folder of a page; for addresses with a query, the script that answers them.

    Parameters
    ----------
    url : absolute
    """
    parts = urlsplit(url)
    names = [name for name in parts.path.split("/") if name]
    return tuple(names if parts.query else names[:-1])


@dataclass(slots=True)
class _Rest:
    """Troubles of a section in a row, and what they led to."""

    failures: int = 0
    until_s: float = -inf
    are_others_well: bool = False  # since it was in trouble last


@dataclass(slots=True)
class Sections:
    """Sections of one host that were in trouble; O(their number) each call.

    Parameters
    ----------
    backoff : rest of a host for the same trouble
    """

    backoff: Backoff
    _rests: dict[Section, _Rest] = field(default_factory=dict)

    def answered(self, folder: Section) -> None:
        """Learn that a page was answered well."""
        for section, rest in self._rests.items():
            if _is_in(folder, section):
                rest.failures = max(rest.failures - 1, 0)
            else:
                rest.are_others_well = True

    def failed(self, folders: Sequence[Section], now_s: float, random: Draws) -> bool:
        """Have the section rest in which most pages failed; tell whether it is alone in that.

        Parameters
        ----------
        folders : of the pages that failed of late, one or more
        """
        shared = _shared(folders)
        if not shared:
            return False
        section = next((known for known in self._rests if _is_in(shared, known)), shared)
        rest = self._rests.pop(section, None) or _Rest()
        if now_s > rest.until_s + self.backoff.quiet_s:
            rest = _Rest()
        is_alone = rest.are_others_well
        delay_s = self.backoff.delay_s(rest.failures + 1, random)
        self._rests[section] = _Rest(rest.failures + 1, now_s + _LONGER * delay_s)
        if len(self._rests) > _MOST:
            del self._rests[next(iter(self._rests))]
        return is_alone

    def rests_until_s(self, url: str) -> float:
        """Return until when a page is left alone with its section; -inf: no section has failed.

        Parameters
        ----------
        url : of the page
        """
        folder = section_of(url)
        ends_s = (rest.until_s for known, rest in self._rests.items() if _is_in(folder, known))
        return max(ends_s, default=-inf)

    def are_resting(self, now_s: float) -> bool:
        """Tell whether any section is left alone."""
        return any(now_s < rest.until_s for rest in self._rests.values())


def _is_in(folder: Section, section: Section) -> bool:
    return folder[: len(section)] == section


def _shared(folders: Iterable[Section]) -> Section:
    """Return the deepest folder that holds all of some."""
    names: list[str] = []
    for beside in zip(*folders, strict=False):
        if len(set(beside)) > 1:
            break
        names.append(beside[0])
    return tuple(names)
