"""A page's own table of contents: a list of its headings, which says nothing that they do not."""

import re
from typing import Final
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

__all__ = ["clear_own_contents"]

_HEADINGS: Final = "h1, h2, h3, h4, h5, h6"
_LISTS: Final = frozenset({"ul", "ol", "dl"})
_LISTED: Final = 'ul a[href*="#"], ol a[href*="#"], dl a[href*="#"]'
_AROUND: Final = frozenset("div details aside fieldset p".split())  # a list and what it is called
_MOST: Final = 5_000  # links, and headings, that are looked at
_MOST_LISTS: Final = 50
_MOST_AROUND: Final = 4
_MOST_ABOVE: Final = 30  # elements around a link that are looked at
_LEAST: Final = 0.8  # of the links of a list: they are headings
_LONGEST_NAME: Final = 40  # letters that such a list is called by, in whatever language
# What stands before a heading, or in a list of them: a number, of a chapter or an appendix.
_NUMBER: Final = re.compile(
    r"^(?:(?:[^\W\d_]+\s+)?(?:\d+|[a-z]|[ivx]+)(?:\.\d+)*\.?:?\s+)?", re.IGNORECASE
)


def clear_own_contents(tree: LexborHTMLParser, url: str) -> None:
    """Take away lists that lead to the headings of the page itself, and what they are called.

    Those are lists of which nearly all links lead to places on the page and say what a heading
    says, and which say hardly anything else. So many of a page are looked at. O(elements).

    Parameters
    ----------
    url : of the page, whose file some links name before a place
    """
    own = "#", f"{urlsplit(url).path.rpartition('/')[2]}#"
    leading = [
        link
        for link in tree.css(_LISTED)[:_MOST]
        if (link.attributes.get("href") or "").startswith(own)
    ]
    if not leading:
        return
    said = {_name_of(heading) for heading in tree.css(_HEADINGS)[:_MOST]}
    lists: dict[int, LexborNode] = {}
    links: dict[int, list[LexborNode]] = {}
    for link in leading:
        outer = _outermost_list(link)
        if outer is not None and (outer.mem_id in lists or len(lists) < _MOST_LISTS):
            lists[outer.mem_id] = outer
            links.setdefault(outer.mem_id, []).append(link)
    for mark, outer in lists.items():
        if _is_contents(outer, links[mark], said):
            _clear(outer)


def _outermost_list(link: LexborNode) -> LexborNode | None:
    outer, above = None, link.parent
    for _ in range(_MOST_ABOVE):
        if above is None:
            break
        outer, above = above if above.tag in _LISTS else outer, above.parent
    return outer


def _is_contents(outer: LexborNode, links: list[LexborNode], said: set[str]) -> bool:
    n_headings = sum(_name_of(link) in said for link in links)
    n_links = len(outer.css("a[href]"))
    if n_headings < max(2.0, _LEAST * n_links) or outer.css_first(_HEADINGS) is not None:
        return False
    return sum(map(_letters, links)) >= _LEAST * _letters(outer)


def _clear(outer: LexborNode) -> None:
    """Take a list away, with what is around it where that says no more than a name."""
    for _ in range(_MOST_AROUND):
        around = outer.parent
        if around is None or around.tag not in _AROUND:
            break
        if _letters(around) - _letters(outer) > _LONGEST_NAME:
            break
        outer = around
    outer.decompose()


def _name_of(node: LexborNode) -> str:
    return _NUMBER.sub("", " ".join(node.text()[:1_000].casefold().split())).strip(" \u00b6#")


def _letters(node: LexborNode) -> int:
    return sum(map(str.isalpha, node.text()))
