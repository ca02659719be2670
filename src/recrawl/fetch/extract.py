"""What a page says: main text, title, links, and what it asks of robots. HTML by lexbor.

Safe on any bytes: the tree is bounded by the size of the body, the text and the links are bounded
here, and nothing is fetched.
"""

import codecs
import re
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode
from typing_extensions import override

from recrawl.control.urls import join
from recrawl.fetch.feeds import read_feed
from recrawl.fetch.nesting import cut_at_depth
from recrawl.fetch.signature import raw_hash, signature
from recrawl.fetch.sitemaps import read_sitemap
from recrawl.ports import Extractor
from recrawl.terms import Extract, FetchResponse

__all__ = ["PageExtractor", "decode_body"]

MAX_TEXT: Final = 500_000
MAX_LINKS: Final = 5_000
MAX_TITLE: Final = 300

_NOT_CONTENT: Final = [
    "script", "style", "noscript", "template", "svg", "iframe", "object", "form", "button",
    "select", "nav", "header", "footer", "aside",
]  # fmt: skip
_BOILERPLATE: Final = (
    '[role="navigation"], [role="banner"], [role="contentinfo"], [role="search"], '
    '[aria-hidden="true"], [hidden], .sidebar, .sphinxsidebar, .navbar, .breadcrumb, '
    ".breadcrumbs, .cookie-banner, .advertisement, .footer, .related"
)
_MAIN: Final = ("main", "article", '[role="main"]')
_META_CHARSET: Final = re.compile(
    rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([a-z0-9_:.-]{1,40})""", re.IGNORECASE
)
# Python's own codecs that no page is written in; some take quadratic time. And a page whose
# <meta> can be read is not in UTF-16.
_NO_CHARSETS: Final = frozenset("idna punycode unicode-escape raw-unicode-escape utf-7".split())
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_BLANKS: Final = bytes(32 if _CONTROL.match(chr(code)) else code for code in range(128)) * 2
_VALUED_DIRECTIVES: Final = frozenset(
    "unavailable_after max-snippet max-image-preview max-video-preview".split()
)
_FEED_TYPES: Final = ("application/rss+xml", "application/atom+xml", "application/feed+json")
_UNFOLLOWED_SCHEMES: Final = ("#", "javascript:", "mailto:", "tel:", "data:", "about:", "blob:")


def decode_body(body: bytes, charset: str | None) -> str:
    """Decode a body: byte order mark, then header, then ``<meta charset>``, then UTF-8.

    Never fails: what cannot be decoded becomes U+FFFD, and a body that is no UTF-8 and says
    nothing is read as Windows-1252, as browsers do.
    """
    for mark, name in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if body.startswith(mark):
            return body.decode(name, "replace")
    declared = charset or _meta_charset(body)
    if declared and declared.lower().replace("_", "-") not in ("utf-8", "utf8"):
        # Browsers read the smaller Latin and ASCII sets as Windows-1252.
        latin = declared.lower() in ("iso-8859-1", "latin-1", "latin1", "us-ascii", "ascii")
        try:
            name = codecs.lookup("cp1252" if latin else declared).name
            if name not in _NO_CHARSETS and not (name.startswith("utf-16") and not charset):
                return body.decode(name, "replace")
        except (LookupError, ValueError, UnicodeError):
            pass
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return body.decode("utf-8" if declared else "cp1252", "replace")


def _meta_charset(body: bytes) -> str | None:
    found = _META_CHARSET.search(body, 0, 2048)
    return found[1].decode("ascii") if found else None


class PageExtractor(Extractor):
    """Reads pages, sitemaps and feeds.

    Parameters
    ----------
    agent : product token of the robot, which meta tags and headers may address by name
    """

    def __init__(self, agent: str) -> None:
        self._agent = agent.lower()

    @override
    def page(self, response: FetchResponse) -> Extract:
        text = decode_body(response.body, response.charset)
        noindex, nofollow = self._robots_tag(response.robots_tag)
        if response.content_type == "text/plain":
            clean = _printable(text)[:MAX_TEXT]
            title = _clip(clean.strip().partition("\n")[0])
            return Extract(
                title=title,
                text=clean,
                signature=signature(clean),
                noindex=noindex,
                nofollow=nofollow,
            )
        return self._html(text, response.url, noindex=noindex, nofollow=nofollow)

    def _html(self, html: str, url: str, *, noindex: bool, nofollow: bool) -> Extract:
        tree = LexborHTMLParser(cut_at_depth(html))
        base = url
        is_based = False
        canonical: str | None = None
        feeds: list[str] = []
        for node in tree.css("head meta[name], head link[rel], base[href]"):
            attributes = node.attributes
            if node.tag == "base":
                if not is_based:  # only the first one counts
                    base, is_based = join(url, attributes.get("href") or "") or base, True
            elif node.tag == "meta":
                if (attributes.get("name") or "").lower() in ("robots", self._agent):
                    asked = _directives(attributes.get("content") or "")
                    noindex |= "noindex" in asked
                    nofollow |= "nofollow" in asked
            else:
                rel = (attributes.get("rel") or "").lower().split()
                if "canonical" in rel:
                    canonical = join(base, attributes.get("href") or "") or canonical
                elif "alternate" in rel and (attributes.get("type") or "").lower() in _FEED_TYPES:
                    feed = join(base, attributes.get("href") or "")
                    if feed and attributes.get("href"):
                        feeds.append(feed)
        title = _title(tree)
        links = () if nofollow else _links(tree, base)
        text = _main_text(tree)
        return Extract(
            title=title,
            text=text,
            signature=signature(f"{title}\n{text}"),
            links=links,
            feeds=tuple(feeds[:20]),
            canonical=canonical,
            noindex=noindex,
            nofollow=nofollow,
        )

    def _robots_tag(self, header: str) -> tuple[bool, bool]:
        """Read X-Robots-Tag: directives for everybody, or after ``name:`` for one robot."""
        noindex = nofollow = False
        addressed = True
        for part in header.lower().split(","):
            name, colon, rest = part.partition(":")
            if colon and name.strip() not in _VALUED_DIRECTIVES:
                addressed = name.strip() == self._agent
            if addressed:
                asked = _directives(rest if colon and name.strip() == self._agent else part)
                noindex |= "noindex" in asked
                nofollow |= "nofollow" in asked
        return noindex, nofollow

    @override
    def sitemap(self, response: FetchResponse) -> tuple[list[tuple[str, float | None]], list[str]]:
        return read_sitemap(response.body, response.url)

    @override
    def feed(self, response: FetchResponse) -> list[tuple[str, float | None]]:
        return read_feed(response.body, response.url)

    @override
    def raw_hash(self, body: bytes) -> bytes:
        return raw_hash(body)


def _printable(text: str) -> str:
    """Replace what is no text by spaces; in plain ASCII by a table, which is much quicker."""
    if text.isascii():
        return text.encode().translate(_BLANKS).decode()
    return _CONTROL.sub(" ", text)


def _directives(text: str) -> set[str]:
    asked = {part.strip() for part in text.lower().split(",")}
    return asked | {"noindex", "nofollow"} if "none" in asked else asked


def _title(tree: LexborHTMLParser) -> str:
    for selector in ("title", "h1"):
        node = tree.css_first(selector)
        if node is not None:
            title = _clip(node.text())
            if title:
                return title
    return ""


def _clip(text: str) -> str:
    clean = " ".join(_CONTROL.sub(" ", text[: 4 * MAX_TITLE]).split())
    return clean if len(clean) <= MAX_TITLE else clean[: MAX_TITLE - 1] + "…"


def _links(tree: LexborHTMLParser, base: str) -> tuple[str, ...]:
    found: dict[str, None] = {}
    seen: set[str] = set()
    for node in tree.css("a[href], area[href], frame[src], iframe[src]"):
        attributes = node.attributes
        reference = (attributes.get("href") or attributes.get("src") or "").strip()
        if not reference or reference in seen:
            continue
        seen.add(reference)
        if reference.lower().startswith(_UNFOLLOWED_SCHEMES):
            continue
        if "nofollow" in (attributes.get("rel") or "").lower():
            continue
        url = join(base, reference)
        if url is not None:
            found[url] = None
            if len(found) >= MAX_LINKS:
                break
    return tuple(found)


def _main_text(tree: LexborHTMLParser) -> str:
    """Return the text of the main content; of the whole body where no part of it says it is."""
    tree.strip_tags(_NOT_CONTENT)
    for node in tree.css(_BOILERPLATE):
        node.decompose()
    root: LexborNode | None = None
    for selector in _MAIN:
        root = tree.css_first(selector)
        if root is not None:
            break
    root = root or tree.body
    if root is None:
        return ""
    text = _printable(root.text(separator="\n")[: 2 * MAX_TEXT])
    lines = text.split("\n")
    if "  " in text or "\t" in text or not text.isascii():  # else there is nothing but the ends
        lines = [" ".join(line.split()) for line in lines]
    else:
        lines = [line.strip() for line in lines]
    return "\n".join([line for line in lines if line])[:MAX_TEXT]
