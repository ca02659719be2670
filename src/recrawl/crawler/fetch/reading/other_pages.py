"""Boxes that lead to other pages: related posts, latest news, popular articles.

Each of them is a link or has one, with a line or two of what is said there. What they show changes
whenever somebody writes another page, and says nothing of the one that it stands on. They are known
by what they are called, if most of a page's own text stands elsewhere: on a page that does nothing
but list the latest posts they are what it says.
"""

import re
from typing import Final

from selectolax.lexbor import LexborNode

from recrawl.crawler.fetch.reading.elements import n_letters, n_linked, stands_within

# But for their first letters, which may be capital ones: RelatedPosts.
_SIGNS: Final = ("elated", "ecent", "atest", "imilar", "ecommend", "opular")
_MAY_BE: Final = ", ".join(f'[class*="{sign}"]' for sign in _SIGNS)
_WHICH: Final = "related|recent|latest|similar|recommended|popular"
_WHAT: Final = (
    "(?:blog-?)?(?:posts?|articles?|stories|entries|contents?|news|reads?|readings?|pages|topics"
    "|items|products?|videos?|links)"
)
_AROUND: Final = "(?:-?(?:box|container|grid|list|section|widget|wrap(?:per)?))?"
_CALLED: Final = re.compile(
    rf"(?!(?:has|with|no|show|hide|enable)-)(?:[a-z]{{1,14}}-){{0,3}}"
    rf"(?:(?:{_WHICH})-?{_WHAT}|related){_AROUND}"
)
_PARTED: Final = re.compile(r"[-_]+|(?<=[a-z])(?=[A-Z])")  # words of a name
_LEAST: Final = 200  # letters of the page's own, but for those of links
_MOST: Final = 200  # boxes
_WHOLE: Final = frozenset({"html", "body", "main", "article", "a"})


def boxes_of_other_pages(body: LexborNode) -> list[LexborNode]:
    """Return the boxes of a page that lead to other pages, none within another.

    Parameters
    ----------
    body : of the page
    """
    found: dict[int, LexborNode] = {}
    for node in body.css(_MAY_BE)[:_MOST]:
        if node.tag not in _WHOLE and _is_called_so(node) and not stands_within(node, found):
            found[node.mem_id] = node
    boxes = [node for node in found.values() if node.css_first("a[href]") is not None]
    if not boxes:
        return []
    own = _unlinked(body) - sum(map(_unlinked, boxes))
    return [box for box in boxes if own >= max(_LEAST, _unlinked(box))]


def _is_called_so(node: LexborNode) -> bool:
    """Tell whether one of a box's names says so; a builder may have made it longer by a hash."""
    names = (node.attributes.get("class") or "").split()
    parts = (part for name in names for part in (name, name.partition("__")[0]))
    return any(_CALLED.fullmatch(_PARTED.sub("-", part).lower()) for part in parts)


def _unlinked(node: LexborNode) -> int:
    """Return the number of letters that lead nowhere."""
    return n_letters(node) - n_linked(node)
