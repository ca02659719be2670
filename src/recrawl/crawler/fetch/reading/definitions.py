"""Names that a page explains without a heading: places that begin with what they are called.

Manuals that have no headings for functions and fields mark them so: what an address leads to,
``id="shape.move"`` or ``id="method-i-move"``, begins with ``move`` in an element of its own.
"""

import re
from itertools import islice
from typing import Final
from urllib.parse import unquote

from selectolax.lexbor import LexborNode

_PLACES: Final = "[id], a[name]"
_NAMES: Final = frozenset("span code b strong em tt a var".split())
_HEADINGS: Final = frozenset("h1 h2 h3 h4 h5 h6 dt caption summary".split())
_LAST: Final = re.compile(r"[^\W\d]\w*[?!=]?$")
_MOST: Final = 3_000  # places that are looked at
_MOST_NODES: Final = 12  # of what a place begins with
_SHORTEST: Final = 3  # letters


def definitions(root: LexborNode) -> list[str]:
    """Return the names that parts of an element explain, each once; a heading is none. O(places).

    Parameters
    ----------
    root : with the main content of a page
    """
    found: dict[str, None] = {}
    for place in root.css(_PLACES)[:_MOST]:
        called = place.attrs.get("id") or place.attrs.get("name") or ""
        last = _LAST.search(unquote(called))
        if last is not None and len(last[0]) >= _SHORTEST and _begins_with(place, last[0]):
            found[last[0]] = None
    return list(found)


def _begins_with(place: LexborNode, name: str) -> bool:
    """Tell whether a place, or what is behind an empty one, begins with an element of this name."""
    if place.tag == "a" and not place.text().strip():
        beside = _behind(place)
        if beside is None:
            return False
        place = beside
    for node in islice(place.traverse(), _MOST_NODES):
        if node.tag in _HEADINGS:
            return False
        if node.tag in _NAMES and _only_text(node) == name:
            return True
    return False


def _behind(place: LexborNode) -> LexborNode | None:
    """Return the next element behind a place, if no text is between them."""
    beside = place.next
    while beside is not None and not beside.is_element_node:
        if beside.is_text_node and beside.text().strip():
            return None
        beside = beside.next
    return beside


def _only_text(node: LexborNode) -> str:
    """Return what an element says that holds a text and nothing else."""
    child = node.first_child
    is_only = child is not None and child.is_text_node and child.next is None
    return child.text().strip() if child is not None and is_only else ""
