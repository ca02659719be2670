"""Elements of a page: how much they say, how much of that leads elsewhere, what they stand in."""

from collections.abc import Container
from typing import Final

from selectolax.lexbor import LexborNode

_BLANK: Final = " \n\t\r\f\u00a0\u3000"


def n_letters(node: LexborNode) -> int:
    """Return the number of letters that an element has."""
    text = node.text()
    return len(text) - sum(map(text.count, _BLANK))


def n_linked(node: LexborNode) -> int:
    """Return the number of letters in an element that are those of links."""
    return sum(map(n_letters, node.css("a")))


def stands_within(node: LexborNode, marks: Container[int]) -> bool:
    """Tell whether an element stands within one of others.

    Parameters
    ----------
    marks : ``mem_id`` of the others
    """
    above = node.parent
    while above is not None:
        if above.mem_id in marks:
            return True
        above = above.parent
    return False
