"""Tells pages that cost next to nothing to read, whatever was done to them.

What makes a page dear is known: formatting elements that are left open are built again, with all
of their attributes, in every element that follows; attributes of one tag are compared with each
other; every tag walks through those that are open. All of it is bounded by a product of two counts
of bytes, so a page of few bytes whose product is small may be read at once. The counts err on the
safe side: what looks like a tag in a comment or a script counts too.
"""

import re
from typing import Final

from recrawl.terms import FetchResponse

SMALL_BYTES: Final = 16 * 1024
_MOST_TAGS: Final = 800
_MOST_REBUILT: Final = 150_000  # bytes of formatting tags, times tags
_REBUILT: Final = re.compile(
    rb"<(?:a|b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)[\s/>][^>]*", re.IGNORECASE
)
_LONG_TAG: Final = re.compile(rb"<[^>]{2000}")
# A tag ends at the first ">" unless that is quoted; where none is, tags are as short as they look.
_QUOTED_END: Final = re.compile(rb"=\s*(?:\"[^\">]*>|'[^'>]*>)")
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")


def is_cheap(response: FetchResponse) -> bool:
    """Tell whether a page takes little time and memory, at most a twentieth of a second. O(n)."""
    body = response.body
    if len(body) > SMALL_BYTES or body.startswith(_UTF_16):
        return False
    if (response.charset or "").lower().startswith(("utf-16", "utf_16", "utf16")):
        return False
    if response.content_type == "application/pdf":
        return False
    if response.content_type == "text/plain":
        return True
    tags = body.count(b"<")
    if tags > _MOST_TAGS or _LONG_TAG.search(body) or _QUOTED_END.search(body):
        return False
    return tags * sum(map(len, _REBUILT.findall(body))) <= _MOST_REBUILT
