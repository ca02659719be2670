"""ETags for conditional requests to hosts that do not know their own.

A server that compresses as it sends may mark the ETag of what it sent (``"5f-gzip"``) and compare
what comes back with the ETag of its file (``"5f"``): it never says "not modified". Once a host has
answered an ETag with the whole page under that very ETag, it is sent the one without the mark too.
"""

import re
from http import HTTPStatus
from typing import Final

from recrawl.crawler.control.urls import host_of

_MARKED: Final = re.compile(r'((?:W/)?".+?)(?:-{1,2}|;|:)(?:gzip|x-gzip|deflate|br|zstd)"')
_MOST: Final = 50_000  # hosts that are remembered


class Validators:
    """Remembers which hosts do not know their own ETags."""

    def __init__(self) -> None:
        self._forgetful: set[str] = set()

    def of(self, url: str, etag: str) -> str:
        """Return what an If-None-Match header is to say."""
        marked = _MARKED.fullmatch(etag)
        if marked is None or host_of(url) not in self._forgetful:
            return etag
        return f'{etag}, {marked[1]}"'

    def note(self, url: str, sent: str | None, etag: str | None, status: int) -> None:
        """Note what a host answered to an ETag that it was sent."""
        if sent is None or sent != etag or status != HTTPStatus.OK or not _MARKED.fullmatch(sent):
            return
        if len(self._forgetful) >= _MOST:
            self._forgetful.clear()
        self._forgetful.add(host_of(url))
