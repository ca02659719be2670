"""Links of headings, terms and captions that say nothing: to themselves, to edit them, to source.

Generators put a sign into those by which a heading leads to itself (``#``, ``\u00b6``, ``\u00a7``),
a picture, or words for those who cannot see it; before or behind the heading, or inside of it. So
they do of those that lead to the top of the page. The others have the same words in square brackets
behind several headings.
"""

from itertools import islice
from typing import Final
from urllib.parse import unquote

from selectolax.lexbor import LexborHTMLParser, LexborNode

from recrawl.crawler.fetch.reading.unseen import UNSEEN

_LINKS: Final = 'a[href*="#"]'
_MOST_LINKS: Final = 20_000  # that are read
_MOST: Final = 3_000  # that are looked at, as they may be permalinks
_MOST_NODES: Final = 40  # of a link, and of the beginning of a heading
_REACH: Final = 4  # elements around a link
_HEADS: Final = ("h1 h2 h3 h4 h5 h6 dt caption figcaption legend summary").split()
_INLINE: Final = frozenset({"a", "small", "span"})
_ANY_HEAD: Final = ", ".join(_HEADS)
_SIGNS: Final = " \t\r\n\f#\u00a0\u00a7\u00b6\u200b\u200d\u221e\u25c6\u2693\ufe0e\ufe0f\U0001f517"
_BRACKETS: Final = ("[", "&#91", "&#091", "&#x5b", "&#x05b", "&lsqb", "&lbrack")
_NAMES: Final = frozenset({"title", "aria-label"})
_PICTURES: Final = frozenset({"anchor", "link", "permalink"})  # of fonts of icons, by their names


def clear_permalinks(tree: LexborHTMLParser, html: str) -> None:
    """Empty the permalinks of a page; they keep the names by which an address leads to them.

    A sign is a permalink where it is a link of a heading, or leads to what it stands in or beside;
    words are where they are hidden and lead there, and names of icons and what has no letter where
    they lead to the heading that they stand in. So is what has no letter and leads from a heading
    to the top. The only text of a heading is none. Of a page, the first 20,000 links to places
    within pages are read, and 3,000 that may be permalinks are looked at, and so many headings.
    O(elements).

    Parameters
    ----------
    tree, html : of the page; its source in small letters
    """
    _clear_own(tree)
    if any(sign in html for sign in _BRACKETS):
        _clear_tools(tree)


def _clear_own(tree: LexborHTMLParser) -> None:
    left = _MOST
    for link in tree.css(_LINKS)[:_MOST_LINKS]:
        text = _text_of(link)
        if not text:
            continue
        is_sign = not text.strip(_SIGNS)
        is_unseen = not is_sign and _is_unseen(link, text)
        if not (is_sign or is_unseen or _is_picture(text)):
            continue
        left -= 1
        if left < 0:
            return
        head = _head_of(link)
        if head is None:
            is_permalink = (is_sign or is_unseen) and _leads_to_itself(link)
        else:
            is_led = is_sign or _leads_to_itself(link) or _leads_to_the_top(link, text)
            is_permalink = is_led and _is_beside_text(link, head, text)
        if is_permalink:
            for node in list(link.iter(include_text=True)):
                node.decompose()


def _clear_tools(tree: LexborHTMLParser) -> None:
    """Empty links in square brackets, such as ``[edit]``, that lead each heading elsewhere."""
    found: dict[str, dict[str, LexborNode]] = {}
    for head in tree.css(_ANY_HEAD)[:_MOST]:
        node, text = _said(head.last_child, -1)
        if node is None or _letters(_text_of(head)) <= _letters(text):
            node, text = _said(head.next, 1)
        if node is None or node.tag not in _INLINE or text[:1] + text[-1:] != "[]":
            continue
        link = node if node.tag == "a" else node.css_first("a")
        if link is not None:
            found.setdefault(text, {})[link.attributes.get("href") or ""] = node
    for node in (node for tools in found.values() if len(tools) > 1 for node in tools.values()):
        for one in [one for one in node.traverse(include_text=True) if one.is_text_node]:
            one.decompose()
        for link in [node] if node.tag == "a" else node.css("a"):
            for name in _NAMES & link.attributes.keys():  # the text of a link that has none
                del link.attrs[name]


def _said(node: LexborNode | None, way: int) -> tuple[LexborNode | None, str]:
    """Return the first element from one on that has a text, and it, if no other stands before."""
    for _ in range(_REACH):
        if node is None:
            break
        text = (_text_of(node) if node.is_element_node else node.text()).strip()
        if text:
            return (node if node.is_element_node else None), text
        node = node.next if way > 0 else node.prev
    return None, ""


def _text_of(node: LexborNode) -> str:
    """Return what the first of the nodes in an element say."""
    child = node.first_child
    if child is not None and child.is_text_node and child.next is None:
        return child.text()  # as most links are, much sooner
    nodes = islice(node.traverse(include_text=True), _MOST_NODES)
    return "".join([one.text() for one in nodes if one.is_text_node])


def _letters(text: str) -> int:
    return sum(map(len, text.split()))


def _is_picture(text: str) -> bool:
    return text.strip().lower() in _PICTURES or not any(map(str.isalnum, text))


def _is_unseen(link: LexborNode, text: str) -> bool:
    """Tell whether all that a link says is for those who cannot see it."""
    if _has_unseen_class(link):
        return True
    if link.first_child is not None and link.first_child.next is None:
        return link.first_child.is_element_node and _has_unseen_class(link.first_child)
    return any(
        node.is_element_node and _has_unseen_class(node) and _letters(_text_of(node)) == n_letters
        for n_letters in (_letters(text),)
        for node in islice(link.iter(), _MOST_NODES)
    )


def _has_unseen_class(node: LexborNode) -> bool:
    named = node.attributes.get("class")
    return named is not None and not UNSEEN.isdisjoint(named.split())


def _is_beside_text(link: LexborNode, head: LexborNode, text: str) -> bool:
    """Tell whether a heading says more than a link in it."""
    for node in (link.prev, link.next):
        if node is not None and node.is_text_node and node.text().strip():
            return True
    return _letters(_text_of(head)) > _letters(text)


def _head_of(link: LexborNode) -> LexborNode | None:
    above = link.parent
    for _ in range(_REACH):
        if above is None or above.tag in _HEADS:
            return above
        above = above.parent
    return None


def _leads_to_itself(link: LexborNode) -> bool:
    """Tell whether a link leads to itself, to what it stands in, or to what stands beside it."""
    attributes = link.attributes
    name = (attributes.get("href") or "").partition("#")[2]
    if not name:
        return False
    names = {name, unquote(name)}
    if attributes.get("name") in names:
        return True
    around: LexborNode | None = link
    for step in range(_REACH):
        if around is None:
            return False
        if around.id in names:
            return True
        if step < 2 and (_beside(around, -1) in names or _beside(around, 1) in names):
            return True
        around = around.parent
    return False


def _leads_to_the_top(link: LexborNode, text: str) -> bool:
    """Tell whether a link without a word leads to the top of the page, as HTML calls it."""
    name = (link.attributes.get("href") or "").partition("#")[2]
    return name.lower() in ("", "top") and not any(map(str.isalnum, text))


def _beside(node: LexborNode, way: int) -> str | None:
    """Return the name of the element before or behind another one, if no text is between them."""
    beside = node
    for _ in range(_REACH):
        found = beside.next if way > 0 else beside.prev
        if found is None or found.is_element_node:
            return found.id if found is not None else None
        if found.is_text_node and found.text().strip():
            return None
        beside = found
    return None
