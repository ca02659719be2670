"""The main content of a page, its title and its headings, out of a tree of elements.

What stands on lines of its own is told by a form feed before it, which whoever made the tree put
there (:mod:`recrawl.crawler.fetch.extract`).
"""

import re
from itertools import islice
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from recrawl.crawler.fetch.reading_rules import ContentRule

__all__ = [
    "BREAK",
    "MAX_HEADING",
    "MAX_HEADINGS",
    "MAX_TEXT",
    "clipped",
    "headings_of",
    "main_content",
    "printable",
    "text_of",
    "title_of",
]

MAX_TEXT: Final = 500_000
MAX_TITLE: Final = 300
MAX_HEADINGS: Final = 500
MAX_HEADING: Final = 200
BREAK: Final = "\f"
_NOT_CONTENT: Final = [
    "script", "style", "noscript", "template", "svg", "iframe", "object", "form", "button",
    "select", "nav", "header", "footer", "aside",
]  # fmt: skip
_BOILERPLATE: Final = (
    '[role="navigation"], [role="banner"], [role="contentinfo"], [role="search"], '
    '[aria-hidden="true"], [hidden], .sidebar, .sphinxsidebar, .navbar, .breadcrumb, '
    ".breadcrumbs, .cookie-banner, .advertisement, .footer, .related"
)
_NO_TEXT: Final = ["script", "style", "noscript", "template", "svg", "iframe", "object"]
_MOST_CHOSEN: Final = 500
_MAIN: Final = ("main", "article", '[role="main"]')
_HEADINGS: Final = "h1, h2, h3, h4, h5, h6, dt, caption, summary"
_PILCROW: Final = "\u00b6"
_HEADLINK: Final = f" \t\n\f#{_PILCROW}"  # marks of links to a heading itself
_CONTROL: Final = re.compile(
    r"[\x00-\x08\x0b\x0d-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
_BLANKS: Final = bytes(32 if _CONTROL.match(chr(code)) else code for code in range(128)) * 2


def main_content(tree: LexborHTMLParser, rule: ContentRule | None) -> tuple[str, list[LexborNode]]:
    """Return the elements with the main content, after the selector that found them.

    What is no content is taken out of the tree. It is the whole body where no part of it says that
    it is; a rule whose selector finds nothing on a page is none for it.
    """
    if rule is not None:
        _drop(tree, rule)
        chosen = _chosen(tree, rule) if rule.select else []
        if chosen:
            return rule.select, chosen
    tree.strip_tags(_NOT_CONTENT)
    for node in tree.css(_BOILERPLATE):
        node.decompose()
    for selector in _MAIN:
        root = tree.css_first(selector)
        if root is not None:
            return selector, [root]
    return "body", [tree.body] if tree.body is not None else []


def _drop(tree: LexborHTMLParser, rule: ContentRule) -> None:
    for selector in rule.drop:
        for node in tree.css(selector):
            node.decompose()


def _chosen(tree: LexborHTMLParser, rule: ContentRule) -> list[LexborNode]:
    """Return what the selector finds, but for what stands within other finds."""
    tree.strip_tags(_NO_TEXT)
    found = tree.css(rule.select)[:_MOST_CHOSEN]
    marks = {node.mem_id for node in found}
    return [node for node in found if not _is_within(node, marks)]


def _is_within(node: LexborNode, marks: set[int]) -> bool:
    above = node.parent
    while above is not None:
        if above.mem_id in marks:
            return True
        above = above.parent
    return False


def title_of(tree: LexborHTMLParser, wanted: str) -> str:
    """Return the title of a page.

    Parameters
    ----------
    wanted : selector of the element that holds it; empty, or without text: as the page says
    """
    for selector in (wanted, "title", "h1") if wanted else ("title", "h1"):
        node = tree.css_first(selector)
        if node is not None:
            title = clipped(node.text())
            if title:
                return title
    return ""


def clipped(text: str) -> str:
    """Return a title in one line, not longer than titles are kept."""
    clean = " ".join(_CONTROL.sub(" ", text[: 4 * MAX_TITLE]).split())
    return clean if len(clean) <= MAX_TITLE else clean[: MAX_TITLE - 1] + "…"


def printable(text: str) -> str:
    """Replace what is no text by spaces; in plain ASCII by a table, which is much quicker."""
    if text.isascii():
        return text.encode().translate(_BLANKS).decode()
    return _CONTROL.sub(" ", text)


def text_of(roots: list[LexborNode]) -> str:
    """Return the text, a line for each block."""
    text = BREAK.join([root.text() for root in roots])
    text = printable(text[: 2 * MAX_TEXT])
    lines = [" ".join(block.split()) for block in text.split(BREAK)]
    if _PILCROW in text:  # the text of a heading's link to itself
        lines = [line.rstrip(_PILCROW).rstrip() for line in lines]
    return "\n".join([line for line in lines if line])[:MAX_TEXT]


def headings_of(roots: list[LexborNode]) -> tuple[str, ...]:
    """Return the headings, and the terms that are explained."""
    found = []
    for node in islice((node for root in roots for node in root.css(_HEADINGS)), MAX_HEADINGS):
        heading = printable(node.text()[: 2 * MAX_HEADING]).strip(_HEADLINK)
        if heading:
            found.append(" ".join(heading.split())[:MAX_HEADING])
    return tuple(dict.fromkeys(found))
