"""Pages that scripts fill, and addresses in scripts: of menus that they make, as Doxygen's do.

Nothing is run. The scripts that a page loads from its own host are lists where the page leads to no
other there, and the strings of a script that end as pages do are what it lists.
"""

import re
from collections.abc import Iterable
from itertools import islice
from typing import Final

from selectolax.lexbor import LexborHTMLParser

from recrawl.crawler.control.urls import host_of, join
from recrawl.terms import DatedUrls

SCRIPTS: Final = frozenset(
    "text/javascript application/javascript application/x-javascript text/ecmascript".split()
)
MAX_SCRIPTS: Final = 10  # of a page
MAX_ADDRESSES: Final = 1_000  # of a script
# What frameworks fill.
_ROOTS: Final = (
    "#root, #app, #__next, #__nuxt, #___gatsby, #svelte, app-root, [ng-app], [data-reactroot]"
)
_MAX_CHARACTERS: Final = 1024 * 1024
_PAGE: Final = re.compile(
    r"""(["'])((?:[\w.~%/+-]|://){1,300}\.x?html?)(?:[?#][^"'\s]{0,300})?\1""", re.IGNORECASE
)


def is_filled(tree: LexborHTMLParser, html: str) -> bool:
    """Tell whether scripts make the page: there are some, and an element for them to fill.

    Parameters
    ----------
    tree, html : of the page; its source in small letters
    """
    if "<script" not in html or tree.css_first("script") is None:
        return False
    return tree.css_first(_ROOTS) is not None


def lists_of(tree: LexborHTMLParser, base: str, url: str, links: Iterable[str]) -> tuple[str, ...]:
    """Return the scripts of its own host that a page loads, if it leads to no other page there.

    Parameters
    ----------
    tree : of the page
    base : what its addresses are relative to
    url : of the page
    links : where it leads
    """
    named = [node.attributes.get("src") or "" for node in tree.css("script[src]")]
    if not named or any(host_of(link) == host_of(url) and link != url for link in links):
        return ()
    joined = (join(base, reference.strip()) for reference in named if reference.strip())
    own = (script for script in joined if script is not None and host_of(script) == host_of(url))
    return tuple(islice(dict.fromkeys(own), MAX_SCRIPTS))


def read_script(text: str, url: str) -> DatedUrls:
    """Return the addresses of pages that a script names, at most a thousand, without dates.

    Those are its strings that end in ``.html`` or ``.htm``, relative to the script, as a menu is
    that lies beside its pages. O(length).

    Parameters
    ----------
    text : its first 1 048 576 characters are read
    url : of the script
    """
    found: dict[str, None] = {}
    for match in _PAGE.finditer(text[:_MAX_CHARACTERS]):
        address = join(url, match[2])
        if address is not None:
            found[address] = None
        if len(found) >= MAX_ADDRESSES:
            break
    return [(address, None) for address in found]
