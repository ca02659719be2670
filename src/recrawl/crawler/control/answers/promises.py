"""Promise of a server to caches that a page holds for good."""

import re
from http import HTTPStatus
from typing import Final

from recrawl.terms import FetchResponse

_FOR_GOOD_S: Final = 300 * 86_400  # servers that mean "for ever" write a year or more
_MAX_AGE: Final = re.compile(r'max-age\s*=\s*"?(\d{1,20})', re.ASCII)
_QUOTED: Final = re.compile(r'="[^"]*"')  # names of headers, to which what stands before applies


def promise_of(response: FetchResponse) -> bool | None:
    """Return whether an answer says that the page holds for good; None: it says nothing of that.

    It does by ``immutable`` (RFC 8246), or by a ``max-age`` of most of a year, unless caches have
    to ask again in any case. It is a hint only: pages of its kind have to prove it.
    """
    if response.status not in (HTTPStatus.OK, HTTPStatus.NOT_MODIFIED):
        return None
    if not response.cache_control:
        return False if response.status == HTTPStatus.OK else None
    said = response.cache_control.lower()
    names = {part.strip() for part in _QUOTED.sub("=", said).split(",")}
    if names & {"no-cache", "no-store", "max-age=0"}:
        return False
    ages = [int(age) for age in _MAX_AGE.findall(said)]
    return "immutable" in names or min(ages, default=0) >= _FOR_GOOD_S
