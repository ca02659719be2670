"""WebSub: which hub announces a feed, and when a subscription to it is asked for again.

A publisher names its hub and the address that it announces (the *topic*) by links with the
relations ``hub`` and ``self``: in a header of the answer, or in the feed itself.

References
----------
WebSub, W3C Recommendation, 2018: section 4 (discovery), 5 (subscribing).
"""

import re
from html import unescape
from typing import Final

from recrawl.crawler.control.urls import join

LEASE_S: Final = 10 * 86_400.0  # that is asked for; the hub decides
_SHORTEST_S, _LONGEST_S = 300.0, 90 * 86_400.0  # of leases that are believed
_RENEWED: Final = 0.75  # of a lease, from which on it is renewed
_FIRST_S, _LONGEST_BACKOFF_S = 600.0, 86_400.0
_HEAD_BYTES: Final = 65_536  # links stand before the entries
_MOST_LINKS: Final = 50
_IN_HEADER: Final = re.compile(r"<([^<>]{1,2000})>([^<>]{0,1000})")
_IN_FEED: Final = re.compile(r"<(?:\w{1,20}:)?link\s([^<>]{1,2000})>")
_REL: Final = re.compile(r"""\brel\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"',;/>]+))""", re.IGNORECASE)
_HREF: Final = re.compile(r"""\bhref\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)


def hub_of(url: str, link_header: str, body: bytes) -> tuple[str, str] | None:
    """Return the hub of a feed and its topic; None where no hub is named. O(64 KiB).

    Parameters
    ----------
    url : of the feed, which is the topic where none is named
    link_header : values of the Link headers, with commas between
    body : of the answer
    """
    named: dict[str, str] = {}
    for target, attributes in _IN_HEADER.findall(link_header)[:_MOST_LINKS]:
        _note(named, attributes, target, url)
    text = body[:_HEAD_BYTES].decode("utf-8", "replace")
    for attributes in _IN_FEED.findall(text)[:_MOST_LINKS]:
        found = _HREF.search(attributes)
        if found is not None:
            _note(named, attributes, unescape(found[1] or found[2] or ""), url)
    return (named["hub"], named.get("self", url)) if "hub" in named else None


def _note(named: dict[str, str], attributes: str, target: str, url: str) -> None:
    found = _REL.search(attributes)
    relations = (found[1] or found[2] or found[3] or "").lower().split() if found else ()
    address = join(url, target.strip()) if target.strip() else None
    for relation in ("hub", "self"):
        if relation in relations and address is not None:
            named.setdefault(relation, address)


def renewed_s(now_s: float, lease_s: float) -> tuple[float, float]:
    """Return when a lease that a hub granted ends, and when it is renewed.

    Parameters
    ----------
    now_s : epoch seconds
    lease_s : as the hub says; taken as 5 minutes at least and 90 days at most
    """
    lease_s = min(max(lease_s, _SHORTEST_S), _LONGEST_S)
    return now_s + lease_s, now_s + _RENEWED * lease_s


def tried_again_s(now_s: float, failures: int) -> float:
    """Return when a hub is asked again that did not answer or verify so many times in a row.

    Parameters
    ----------
    now_s : epoch seconds
    failures : >= 0; each doubles the wait of 10 minutes, up to a day
    """
    return now_s + min(_FIRST_S * 2.0 ** min(failures, 20), _LONGEST_BACKOFF_S)
