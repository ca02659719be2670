"""Versions by number: the same file below one number after another, as in ``/view/72/src/a.c``."""

import re
from typing import Final, NamedTuple

from recrawl.crawler.control.urls import path_of

# What lies below the last number of a path, with the folder that it lies in there, if it does.
_BELOW_NUMBER: Final = re.compile(
    r"(?P<above>.*)/(?P<number>(?!(?:19|20)\d\d/)\d+)(?P<below>(?P<folder>/[^/]+(?=/.))?/.+)"
)
_IN_CALENDAR: Final = re.compile(r"/(?:19|20)\d\d/\d{1,2}/")
# Where a file is shown as it was in the version of a number.
_VIEWS: Final = re.compile(
    r"/(?:annotate|blame|blob|browse|download|export|files?|raw|source|src|tree|view)/#/",
    re.IGNORECASE,
)


class NumberedFile(NamedTuple):
    """A file, or a page, that a path names below a number.

    Parameters
    ----------
    kind : what its likes have in common: ``/view/#/src/*``
    name : the file, whatever the number: ``/view/#/src/a.c``
    number : ``72``, of a version or of anything else
    """

    kind: str
    name: str
    number: str

    @property
    def is_version(self) -> bool:
        """True when a word above the number says that the file is shown as it was."""
        return _VIEWS.search(self.name) is not None


def numbered_file(url: str) -> NumberedFile | None:
    """Return what an address names below a number.

    None: nothing, or below that of a year or a month, or the address has a query.
    """
    path, mark, _ = path_of(url).partition("?")
    found = None if mark else _BELOW_NUMBER.fullmatch(path)
    if found is None or _IN_CALENDAR.search(path):
        return None
    above = f"{found['above']}/#"
    return NumberedFile(
        f"{above}{found['folder'] or ''}/*", f"{above}{found['below']}", found["number"]
    )
