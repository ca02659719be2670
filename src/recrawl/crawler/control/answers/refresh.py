"""Refreshes, which send a page's reader on after a while: the header, and the element like it.

As "5; url=/there". A page that sends its reader on at once and says next to nothing is a redirect.
"""

import re
from math import inf
from typing import Final, NamedTuple

from recrawl.crawler.control.urls import join

_REFRESH: Final = re.compile(
    r"""([\d.\s]{1,40})[;,]\s{0,20}(?:url\s{0,9}=\s{0,9})?["']?([^"']+)""", re.IGNORECASE
)
_AT_ONCE_S: Final = 10.0  # seconds within which a page sends its reader on that is none itself


class Refresh(NamedTuple):
    """Target to which a reader is sent, and seconds until then."""

    target: str
    after_s: float

    @property
    def is_at_once(self) -> bool:
        """Tell whether nobody is meant to read what sends its reader on."""
        return self.after_s <= _AT_ONCE_S


def refresh_of(told: str | None, base: str) -> Refresh | None:
    """Return what is told so; None where it leads nowhere. O(length).

    Parameters
    ----------
    told : such as "5; url=/there"; None: nothing
    base : absolute, from which the target is meant
    """
    sent = _REFRESH.match(told) if told else None
    target = join(base, sent[2].strip()) if sent is not None and sent[2].strip() else None
    return None if sent is None or target is None else Refresh(target, _seconds(sent[1]))


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return inf
