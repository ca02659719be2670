"""One look at a page by somebody else, and what of a file could not be read."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from recrawl.errors import InvalidTable

_SHOWN: Final = 3


class Look(NamedTuple):
    """Observation of a page at an instant.

    Parameters
    ----------
    url : the page
    at_s : seconds since the epoch, UTC
    mark : stands for the content: another one is a change; None: it is not known
    changed : whether the page had changed since the look before, where that is known by itself
    status : of the answer
    """

    url: str
    at_s: float
    mark: bytes | None = None
    changed: bool | None = None
    status: int | None = None


@dataclass(slots=True)
class Tally:
    """Counts and complaints of a reader.

    Parameters
    ----------
    n_records, n_bad, n_left_out : all; those that cannot be read; those that are no look at a page
    first_bad : file, line or record, and reason, of the first that cannot be read
    done_bytes : of the files, read so far
    """

    n_records: int = 0
    n_bad: int = 0
    n_left_out: int = 0
    done_bytes: int = 0
    first_bad: list[str] = field(default_factory=list)

    def bad(self, path: Path, place: str, why: str) -> None:
        """Count what cannot be read."""
        self.n_bad += 1
        if len(self.first_bad) < _SHOWN:
            self.first_bad.append(f"{path}, {place}: {why}")

    def check(self, path: Path, wanted: str) -> None:
        """Refuse a file of which nothing could be read.

        Raises
        ------
        InvalidTable
            With the first complaint, and what would be right.
        """
        if not self.n_records:
            raise InvalidTable(f"{path}: holds no {wanted}")
        if self.n_bad == self.n_records:
            raise InvalidTable(f"{self.first_bad[0]}; {path} must hold {wanted}")
