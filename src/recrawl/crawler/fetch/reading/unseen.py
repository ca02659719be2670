"""Words that are shown to nobody, but read out to people who cannot see a page.

They are in classes that most style sheets have for it, and laid out by themselves: beside what is
shown they are words of their own, whether a space is written between or not.
"""

from typing import Final

from selectolax.lexbor import LexborHTMLParser

UNSEEN: Final = frozenset("screen-reader-text sr-only visually-hidden visuallyhidden".split())
_ANY: Final = ", ".join(f".{name}" for name in sorted(UNSEEN))
_MOST: Final = 3_000  # that are looked at


def part_unseen(html: str, tree: LexborHTMLParser) -> None:
    """Put a space between unseen words and what stands beside them; O(elements).

    Parameters
    ----------
    html, tree : of a page; most have none, which is soon seen
    """
    if not any(name in html for name in UNSEEN):
        return
    for node in tree.css(_ANY)[:_MOST]:
        for beside, put in ((node.prev, node.insert_before), (node.next, node.insert_after)):
            if beside is not None and node.first_child is not None:
                put(" ")
