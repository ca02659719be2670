"""A page's own table of contents: a list of its headings, which says nothing that they do not."""

import re
from typing import Final
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

_HEADINGS: Final = "h1, h2, h3, h4, h5, h6"
_LISTS: Final = frozenset({"ul", "ol", "dl"})
_LEADING: Final = 'a[href*="#"]'
_AROUND: Final = frozenset("div details aside fieldset p".split())  # a list and what it is called
_LINES: Final = frozenset("div p span b i em strong code tt".split())  # or what stands for a list
_MOST: Final = 5_000  # links, and headings, that are looked at
_MOST_LISTS: Final = 50
_MOST_AROUND: Final = 4
_MOST_ABOVE: Final = 30  # elements around a link that are looked at
_FEWEST: Final = 2
_LEAST: Final = 0.8  # of the links of a list: they are headings, in the order of the page
_MOST_ABOVE_ALL: Final = 2  # headings of a level above: the title, and what the list is called
_LEAST_NAMED: Final = 0.5  # of the headings of their levels, which a list names
_LONGEST_NAME: Final = 40  # letters that such a list is called by, in whatever language
# What stands before a heading, or in a list of them: a number, of a chapter or an appendix.
_NUMBER: Final = re.compile(
    r"^(?:(?:[^\W\d_]+\s+)?(?:\d+|[a-z]|[ivx]+)(?:\.\d+)*\.?:?\s+)?", re.IGNORECASE
)


def clear_own_contents(tree: LexborHTMLParser, url: str) -> None:
    """Take away lists that lead to the headings of the page itself, and what they are called.

    Those are lists, or lines in a box, of which nearly all links lead to places on the page and
    say what its headings say, one after the other, most of those of the first level on, and which
    say hardly anything else. What names some of them in a text, or all by another order, says
    something. So many of a page are looked at. O(elements).

    Parameters
    ----------
    url : of the page, whose file some links name before a place
    """
    own = "#", f"{urlsplit(url).path.rpartition('/')[2]}#"
    lists: dict[int, LexborNode] = {}
    is_linked: dict[int, bool] = {}
    links: dict[int, list[LexborNode]] = {}
    for link in tree.css(_LEADING)[:_MOST]:
        if not (link.attributes.get("href") or "").startswith(own):  # a drawing's: "xlink:href"
            continue
        outer = _outermost_list(link) or _outermost_linked(link, is_linked)
        if outer is not None and (outer.mem_id in lists or len(lists) < _MOST_LISTS):
            lists[outer.mem_id] = outer
            links.setdefault(outer.mem_id, []).append(link)
    likely = [mark for mark, outer in lists.items() if _lead_within(links[mark], outer)]
    headings = tree.css(_HEADINGS)[:_MOST] if likely else []
    said = [(_name_of(heading), heading.tag or "") for heading in headings]
    for mark in likely:
        if _is_contents(lists[mark], links[mark], said):
            title = tree.css_first("title")
            _clear(lists[mark], "" if title is None else _said(title))


def _outermost_list(link: LexborNode) -> LexborNode | None:
    outer, above = None, link.parent
    for _ in range(_MOST_ABOVE):
        if above is None:
            break
        outer, above = above if above.tag in _LISTS else outer, above.parent
    return outer


def _outermost_linked(link: LexborNode, is_linked: dict[int, bool]) -> LexborNode | None:
    """Return the outermost box around a link in which hardly a word leads nowhere.

    Parameters
    ----------
    is_linked : what is known of boxes, and is added to
    """
    outer, above = None, link.parent
    for _ in range(_MOST_ABOVE):
        if above is None or above.tag not in _LINES:
            break
        mark = above.mem_id
        if mark not in is_linked:
            led = sum(map(_letters, above.css("a[href]")))
            is_linked[mark] = led >= _LEAST * _letters(above)
        if not is_linked[mark]:
            break
        outer, above = above if above.tag == "div" else outer, above.parent
    return outer


def _lead_within(links: list[LexborNode], outer: LexborNode) -> bool:
    """Tell whether nearly all links of a list are among those that lead to the page itself."""
    if len(links) < _FEWEST:
        return False
    n_links = len({link.mem_id for link in outer.css("a[href]")})
    return len(links) >= _LEAST * n_links


def _is_contents(outer: LexborNode, links: list[LexborNode], said: list[tuple[str, str]]) -> bool:
    if outer.css_first(_HEADINGS) is not None:
        return False
    named = list(map(_name_of, links))
    n_links = len({link.mem_id for link in outer.css("a[href]")})
    if _in_order(named, [name for name, _ in said]) < max(_FEWEST, _LEAST * n_links):
        return False
    levels = {level for name, level in said if name in named}
    of_levels = {name for name, level in said if level in levels}
    if len({name for name, level in said if level < min(levels)}) > _MOST_ABOVE_ALL:
        return False
    if len(of_levels.intersection(named)) < _LEAST_NAMED * len(of_levels):
        return False
    return sum(map(_letters, links)) >= _LEAST * _letters(outer)


def _in_order(named: list[str], said: list[str]) -> int:
    """Return how many names stand where they do in a list of others, each behind the one before."""
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(said):
        rows.setdefault(name, []).append(row)
    n, last = 0, -1
    for name in named:
        behind = next((row for row in rows.get(name, ()) if row > last), None)
        if behind is not None:
            n, last = n + 1, behind
    return n


def _clear(outer: LexborNode, title: str) -> None:
    """Take a list away, with what is around it where that is no more than the list's name."""
    for _ in range(_MOST_AROUND):
        around = outer.parent
        if around is None or around.tag not in _AROUND:
            break
        if _letters(around) - _letters(outer) > _LONGEST_NAME:
            break
        name = _said(around).replace(_said(outer), "").strip()
        if name and name in title:  # the page's own
            break
        outer = around
    outer.decompose()


def _name_of(node: LexborNode) -> str:
    return _NUMBER.sub("", _said(node)).strip(" \u00b6#")


def _said(node: LexborNode) -> str:
    return " ".join(node.text()[:1_000].casefold().split())


def _letters(node: LexborNode) -> int:
    return sum(map(str.isalpha, node.text()))
