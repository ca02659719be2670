"""Metadata of a page: dates, author, licence, and what it asks of those who read it."""

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from recrawl.crawler.control.urls import join
from recrawl.terms import About

_MOST: Final = 200  # characters of a value
_MOST_LICENSES: Final = 5
_MOST_PLACES: Final = 1_000
_MOST_LINKED_DATA: Final = 100_000  # characters of a block
_MOST_NODES: Final = 1_000  # of linked data
_PUBLISHED: Final = (
    "article:published_time", "datepublished", "citation_publication_date", "dcterms.created",
    "dcterms.issued", "dc.date.issued", "dc.date", "pubdate", "date",
)  # fmt: skip
_MODIFIED: Final = (
    "article:modified_time", "datemodified", "og:updated_time", "dcterms.modified",
    "dc.date.modified", "last-modified", "revised",
)  # fmt: skip
_AUTHOR: Final = ("author", "article:author", "dc.creator", "dcterms.creator", "citation_author")
_USAGE: Final = ("tdm-reservation", "tdm-policy", "content-usage")
_HEADINGS: Final = "h1, h2, h3, h4, h5, h6"


def about(tree: LexborHTMLParser, base: str, *, agent: str, robots_tag: str, usage: str) -> About:
    """Read what a page says of itself; before anything is taken out of the tree.

    Parameters
    ----------
    base : address from which links are meant
    agent : product token of the robot, in lower case
    robots_tag, usage : of the headers
    """
    said: dict[str, str] = {}
    robots = [robots_tag]
    for node in tree.css("meta[content]"):
        attributes = node.attributes
        name = attributes.get("name") or attributes.get("property") or attributes.get("itemprop")
        content = _clean(attributes.get("content") or "")
        if not name or not content:
            continue
        key = name.lower()
        if key in ("robots", agent):
            robots.append(content)
        else:
            said.setdefault(key, content)
    linked = _linked_data(tree)
    modified, published = linked.get("dateModified", ""), linked.get("datePublished", "")
    authors = [*_all(said, _AUTHOR), linked.get("author", ""), _text_of(tree, "a[rel~='author']")]
    return About(
        published=_first(said, _PUBLISHED) or published or _time(tree, "datePublished"),
        modified=_first(said, _MODIFIED) or modified or _time(tree, "dateModified"),
        author=next(iter(sorted(filter(None, authors), key=_is_address)), ""),
        licenses=_licenses(tree, base),
        robots=_clean(", ".join(filter(None, robots))),
        usage=_clean(", ".join(filter(None, (usage, *_said(said, _USAGE))))),
    )


def places(roots: Iterable[LexborNode]) -> tuple[tuple[str, str], ...]:
    """Return the headings with the names by which an address reaches them, ``""`` where none.

    A name is that of the heading, of what encloses nothing before it, or of a link in it.
    """
    found: list[tuple[str, str]] = []
    for root in roots:
        for node in root.css(_HEADINGS)[: _MOST_PLACES - len(found)]:
            text = _clean(node.text().replace("\f", " ")).rstrip(" \u00b6")
            if text:
                found.append((text, _name_of(node)))
    return tuple(found)


def _name_of(heading: LexborNode) -> str:
    own = heading.attributes.get("id")
    if own:
        return own[:_MOST]
    inside = heading.css_first("[id], a[name]")
    if inside is not None:
        return (inside.attributes.get("id") or inside.attributes.get("name") or "")[:_MOST]
    node: LexborNode = heading
    for _ in range(4):  # Sphinx and DocBook name the section
        before = node.prev
        while before is not None and not before.text().strip():
            name = before.attributes.get("id") or before.attributes.get("name")
            if name:
                return name[:_MOST]
            before = before.prev
        parent = node.parent
        if before is not None or parent is None:
            return ""
        if parent.attributes.get("id"):
            return str(parent.attributes["id"])[:_MOST]
        node = parent
    return ""


def _first(said: dict[str, str], names: Iterable[str]) -> str:
    return next(_all(said, names), "")


def _all(said: dict[str, str], names: Iterable[str]) -> Iterator[str]:
    return (said[name] for name in names if name in said)


def _is_address(author: str) -> bool:
    """Tell whether an author is told by the address of a profile, as Open Graph has it."""
    return author.lower().startswith(("http://", "https://"))


def _said(said: dict[str, str], names: Iterable[str]) -> Iterator[str]:
    return (f"{name}: {said[name]}" for name in names if name in said)


def _clean(text: str) -> str:
    # JSON may have escapes of half a letter, which no file takes.
    whole = text[: 4 * _MOST].encode(errors="replace").decode()
    return " ".join(whole.split())[:_MOST]


def _time(tree: LexborHTMLParser, what: str) -> str:
    node = tree.css_first(f"time[itemprop='{what}'][datetime]")
    return "" if node is None else _clean(node.attributes.get("datetime") or "")


def _text_of(tree: LexborHTMLParser, selector: str) -> str:
    node = tree.css_first(selector)
    return "" if node is None else _clean(node.text().replace("\f", " "))


def _licenses(tree: LexborHTMLParser, base: str) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for node in tree.css("a[rel~='license'][href], link[rel~='license'][href]"):
        url = join(base, node.attributes.get("href") or "")
        if url is not None:
            found[url] = None
    return tuple(found)[:_MOST_LICENSES]


def _linked_data(tree: LexborHTMLParser) -> dict[str, str]:
    """Return dates and author from JSON-LD, each from the first block that tells it."""
    found: dict[str, str] = {}
    for node in tree.css("script[type='application/ld+json']")[:10]:
        text = node.text()
        if len(text) > _MOST_LINKED_DATA:
            continue
        try:
            parsed = json.loads(text.replace("\f", ""))
        except (ValueError, RecursionError):
            continue
        for entry in _entries(parsed):
            for name in ("datePublished", "dateModified"):
                if isinstance(entry.get(name), str):
                    found.setdefault(name, _clean(entry[name]))
            author = _author(entry.get("author"))
            if author:
                found.setdefault("author", author)
    return found


def _entries(parsed: Any) -> Iterator[dict[str, Any]]:
    """Yield the objects of linked data, from outside in, not all of them where there are many."""
    waiting, n = [parsed], 0
    while waiting and n < _MOST_NODES:
        node, n = waiting.pop(0), n + 1
        if isinstance(node, dict):
            yield node
            waiting.extend(node.get("@graph") or () if isinstance(node.get("@graph"), list) else ())
        elif isinstance(node, list):
            waiting.extend(node[:_MOST_NODES])


def _author(told: Any) -> str:
    if isinstance(told, list):
        told = told[0] if told else None
    name = told.get("name") if isinstance(told, dict) else told
    return _clean(name) if isinstance(name, str) else ""
