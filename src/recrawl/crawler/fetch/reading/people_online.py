"""Boxes that say who is on a site right now: another text at each visit, and none of the page.

They are known by what they are called, in any language of the page: ``online-list``,
``whos_online``, ``wgo_onlineusers``.
"""

import re
from typing import Final

from selectolax.lexbor import LexborNode

from recrawl.crawler.fetch.reading.elements import n_letters

SIGN: Final = "online"  # in the source, in small letters, of each page with such a box
_MAY_BE: Final = '[class*="online" i], [id*="online" i]'
_WHO: Final = "(?:users?|members?|guests?|visitors?)"
_CALLED: Final = re.compile(
    rf"(?<![a-z])(?:who-?i?s?-?online|online-?(?:list|{_WHO})|{_WHO}-?online)"
    r"(?:-?(?:block|box|list|section|widget))?(?![a-z])"
)
_PARTED: Final = re.compile(r"[-_]+|(?<=[a-z])(?=[A-Z])")  # words of a name
_BOXES: Final = frozenset("div section aside ul ol dl li table tbody tr td p fieldset".split())
_MOST: Final = 200  # elements
_MOST_SAID: Final = 0.5  # of the letters of a page: it is what the page says


def boxes_of_people_online(body: LexborNode) -> list[LexborNode]:
    """Return the boxes that say who is on the site, the innermost first; none that is the page.

    Parameters
    ----------
    body : of a page whose source has the sign
    """
    boxes = [
        node
        for node in reversed(body.css(_MAY_BE)[:_MOST])
        if node.tag in _BOXES and _is_called_so(node)
    ]
    most = _MOST_SAID * n_letters(body) if boxes else 0.0
    return [box for box in boxes if n_letters(box) <= most]


def _is_called_so(node: LexborNode) -> bool:
    names = node.attributes.get("class") or ""
    if node.tag != "section" and "section" not in names:  # of a manual, after its heading
        names += f" {node.attributes.get('id') or ''}"
    return _CALLED.search(_PARTED.sub("-", names).lower()) is not None
