"""Content of a page: main text, title, links, and what it asks of robots. HTML by lexbor.

Text and links are bounded here, and nothing is fetched. Time and memory are not: the tree of a
hostile page can be thousands of times its size, so whoever reads such pages does it in a process of
its own (:mod:`recrawl.crawler.fetch.reading.isolation`), which is why little is imported here.
"""

import re
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from email.utils import parsedate_to_datetime
from itertools import islice
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from recrawl.crawler.control.answers.refresh import refresh_of
from recrawl.crawler.control.texts.letters import composed, lower
from recrawl.crawler.control.urls import join
from recrawl.crawler.fetch.charsets import charset_of, decode_as, decode_body, with_query_in
from recrawl.crawler.fetch.reading.about import about, places
from recrawl.crawler.fetch.reading.code_language import clear_language_names
from recrawl.crawler.fetch.reading.line_numbers import clear_line_numbers
from recrawl.crawler.fetch.reading.link_likes import LINK_LIKES, reference_of
from recrawl.crawler.fetch.reading.main_content import (
    BREAK,
    MAX_HEADING,
    MAX_HEADINGS,
    MAX_TEXT,
    clipped,
    headings_of,
    main_content,
    pictured,
    printable,
    text_of,
    title_of,
    whole_text,
)
from recrawl.crawler.fetch.reading.markdown import markdown
from recrawl.crawler.fetch.reading.nesting import EMPTY, cut_at_depth
from recrawl.crawler.fetch.reading.passing import named_passing
from recrawl.crawler.fetch.reading.permalinks import clear_permalinks
from recrawl.crawler.fetch.reading.reading_rules import ReadingRules
from recrawl.crawler.fetch.reading.scripts import SCRIPTS, is_filled, lists_of, read_script
from recrawl.crawler.fetch.reading.signature import raw_hash, signature
from recrawl.crawler.fetch.reading.unseen import part_unseen
from recrawl.terms import About, DatedUrls, Extract, FetchResponse

MAX_LINKS: Final = 50_000

# What stands on lines of its own. A form feed is put before it: white space to the parser wherever
# it comes, and found again in the text. Spelt out because ignoring case takes thrice the time.
_BLOCK: Final = re.compile(
    r"<(?=/?(?:[pP]|[dD](?:[dltDLT]|iv|IV|etails)|[hH][1-6rR]|[lL][iI]|[tT](?:[rdhRDH]|able|ABLE"
    r"|body|foot|head)|[uUoO][lL]|[bB][rR]|pre|PRE|body|main|article|aside|section|summary"
    r"|blockquote|center|caption|address|fieldset|fig(?:ure|caption)|option|menu)[\s/>])"
)
_LEADING: Final = (
    "meta[http-equiv], link[hreflang][rel~=alternate], link:is([rel~=next], [rel~=prev])"
)
_PASSWORD: Final = 'input[type="password" i]'
_LITTLE: Final = 300  # characters that a page says at most which sends its reader on
_LINK_LIST: Final = "</a><a "  # without a word between them
_LABEL: Final = "</label><"  # as of tabs, which are labels of buttons
PDF: Final = "application/pdf"
_MARKDOWN: Final = frozenset({"text/markdown", "text/x-markdown"})
_PLAIN: Final = _MARKDOWN | {"text/plain"}
_XML: Final = frozenset({"text/xml", "application/xml"})
_XHTML: Final = "application/xhtml+xml"
# What is opened and closed at once. No sign is looked at twice: a tag holds no other's beginning.
_CLOSED: Final = re.compile(r"<([a-zA-Z][\w:.-]{0,60})((?:\s[^<>]*)?)/>")
_BETWEEN: Final = re.compile(r",(?!\s*\d{1,2}[\s-][a-z]{3})")  # directives; dates hold commas
_UNTIL: Final = re.compile(r"unavailable_after:\s*([\w :,.+-]{8,60})", re.IGNORECASE)
_LISTING: Final = re.compile(r"<(?:\w{1,20}:)?(?:urlset|sitemapindex|rss|feed|RDF)[\s>]")
_MARKED: Final = re.compile(r"^ {0,3}#{1,6} +([^\n]{1,400})", re.MULTILINE)
MAX_ANCHOR: Final = 200  # characters of a link's text
_LONGEST_TAG: Final = 35  # characters of a language, as it is declared
_VALUED_DIRECTIVES: Final = frozenset(
    "unavailable_after max-snippet max-image-preview max-video-preview".split()
)
_WITH_MARKDOWN: Final = "\nwith Markdown 2"  # raised where it says more of a page than before
_LEAST_TEXT: Final = 40  # characters: an application that says less without scripts says nothing
_FEED_TYPES: Final = ("application/rss+xml", "application/atom+xml", "application/feed+json")
_UNFOLLOWED_SCHEMES: Final = ("#", "javascript:", "mailto:", "tel:", "data:", "about:", "blob:")


class PageExtractor:
    """Reads pages, sitemaps and feeds, where it is called.

    Parameters
    ----------
    agent : product token of the robot, which meta tags and headers may address by name
    rules : what of a page is content, and whether it is kept as Markdown
    """

    def __init__(self, agent: str, rules: ReadingRules | None = None) -> None:
        self._agent = agent.lower()
        self._rules = rules or ReadingRules()

    def page(self, response: FetchResponse) -> Extract:
        """Read a page of HTML, plain text, Markdown or XML, or a PDF."""
        return _sent_on(self._page(response), response)

    def _page(self, response: FetchResponse) -> Extract:
        if response.content_type == PDF:
            return self._pdf(response)
        text = decode_as(response.body, codec := charset_of(response.body, response.charset))
        noindex, nofollow = self._robots_tag(response.robots_tag)
        is_until = _UNTIL.search(response.robots_tag) is not None
        if response.content_type in _PLAIN:
            is_marked = response.content_type in _MARKDOWN
            headings = _marked_headings(text) if is_marked else ()
            found = self._plain(text, headings, noindex=noindex, nofollow=nofollow)
            found = replace(found, is_until=is_until)
            return replace(found, markdown=found.text) if is_marked else found
        if response.content_type in _XML:
            noindex |= bool(_LISTING.search(text, 0, 2048))
            text = text.replace("<", f"{BREAK}<")  # no element of XML is known to stand in a line
        elif response.content_type == _XHTML:
            text = _CLOSED.sub(_with_its_end, text)
        found = self._html(text, response, codec, noindex=noindex, nofollow=nofollow)
        return replace(found, is_until=True) if is_until else found

    def _pdf(self, response: FetchResponse) -> Extract:
        from recrawl.crawler.fetch.reading.pdf import (  # only who reads some pays for it
            UnreadablePdf,
            read_pdf,
        )

        title = text = unreadable = ""
        try:
            title, text = read_pdf(response.body, MAX_TEXT)
        except UnreadablePdf as error:
            unreadable = str(error)
        noindex, nofollow = self._robots_tag(response.robots_tag)
        found = self._plain(text, (), noindex=noindex, nofollow=nofollow)
        return replace(found, title=composed(clipped(title)) or found.title, unreadable=unreadable)

    def _plain(
        self, text: str, headings: tuple[str, ...], *, noindex: bool, nofollow: bool
    ) -> Extract:
        clean = composed(printable(text).replace(BREAK, "\n")[:MAX_TEXT])
        return Extract(
            title=headings[0] if headings else clipped(clean.strip().partition("\n")[0]),
            text=clean,
            signature=signature(clean),
            headings=headings,
            noindex=noindex,
            nofollow=nofollow,
        )

    def _html(
        self, html: str, response: FetchResponse, codec: str, *, noindex: bool, nofollow: bool
    ) -> Extract:
        tree = LexborHTMLParser(_with_breaks(cut_at_depth(html)))
        base = url = response.url
        rule = self._rules.of(url)
        is_based = is_until = False
        canonical: str | None = None
        feeds: list[str] = []
        # Wherever the parser puts them: some pages have them end up in the body.
        for node in tree.css("meta[name], head link[rel], base[href]"):
            attributes = node.attributes
            if node.tag == "base":
                if not is_based:  # only the first one counts
                    base, is_based = join(url, attributes.get("href") or "") or base, True
            elif node.tag == "meta":
                if (attributes.get("name") or "").lower() in ("robots", self._agent):
                    told = attributes.get("content") or ""
                    asked = _directives(told)
                    is_until |= _UNTIL.search(told) is not None
                    noindex |= "noindex" in asked
                    nofollow |= "nofollow" in asked
            else:
                rel = (attributes.get("rel") or "").lower().split()
                reference = with_query_in(attributes.get("href") or "", codec)
                if "canonical" in rel:
                    canonical = join(base, reference) or canonical
                elif "alternate" in rel and (attributes.get("type") or "").lower() in _FEED_TYPES:
                    feeds += [feed] if reference and (feed := join(base, reference)) else []
        small = lower(html)
        _clear(html, small, tree)
        title = composed(title_of(tree, rule.title if rule is not None else ""))
        asks_password = "password" in small and tree.css_first(_PASSWORD) is not None
        is_app = is_filled(tree, small)
        language = (tree.root.attributes.get("lang") or "")[:_LONGEST_TAG] if tree.root else ""
        found = {} if nofollow else _links(tree, base, codec)
        scripts = lists_of(tree, base, url, found)  # before they are cut out of the tree
        is_marked = self._rules.markdown
        said = self._about(tree, base, response) if is_marked else None
        selector, roots = main_content(tree, rule, url, small, is_app=is_app)
        text = composed(text_of(roots))
        if not text and not is_app:
            selector, roots = "body", _whole(html, small)
            text = composed(text_of(roots) or pictured(roots))
        own = {url, canonical}
        headings = headings_of(roots, title, lambda to: to[0] == "#" or join(base, to) in own)
        compared = _compared(html, tree, roots, text)
        sends_to = _sends_to(tree, base, url) if found and len(text) < _LITTLE else None
        if said is not None:
            said = replace(said, places=places(roots))
        return Extract(
            title=title,
            text=text,
            # A copy with Markdown is another copy than one without.
            signature=signature(f"{title}\n{compared}{_WITH_MARKDOWN if is_marked else ''}"),
            headings=tuple(map(composed, headings)),
            links=tuple(found),
            anchors=tuple(map(composed, found.values())),
            feeds=tuple(feeds[:20]),
            scripts=scripts,
            canonical=canonical,
            language=language,
            noindex=noindex,
            nofollow=nofollow,
            is_until=is_until,
            sends_to=sends_to,
            needs_scripts=len(text) < _LEAST_TEXT if is_app else not text and "<script" in html,
            asks_password=asks_password,
            main=selector,
            markdown=composed(markdown(roots, base)) if is_marked else "",  # last: it changes them
            about=said,
        )

    def _about(self, tree: LexborHTMLParser, base: str, response: FetchResponse) -> About:
        tag, usage = response.robots_tag, response.usage
        return about(tree, base, agent=self._agent, robots_tag=tag, usage=usage)

    def _robots_tag(self, header: str) -> tuple[bool, bool]:
        """Read X-Robots-Tag: directives for everybody, or after ``name:`` for one robot."""
        noindex = nofollow = False
        addressed = True
        for part in _BETWEEN.split(header.lower()):
            name, colon, rest = part.partition(":")
            if colon and name.strip() not in _VALUED_DIRECTIVES:
                addressed = name.strip() == self._agent
            if addressed:
                asked = _directives(rest if colon and name.strip() == self._agent else part)
                noindex |= "noindex" in asked
                nofollow |= "nofollow" in asked
        return noindex, nofollow

    def sitemap(self, response: FetchResponse) -> tuple[DatedUrls, DatedUrls]:
        """Read a sitemap: its pages with their dates, and further sitemaps with theirs."""
        from recrawl.crawler.fetch.reading.sitemaps import (
            read_sitemap,  # only who reads some pays for its parser
        )

        return read_sitemap(response.body, response.url)

    def feed(self, response: FetchResponse) -> DatedUrls:
        """Read a feed: the addresses of its entries with their dates; of a script, its pages."""
        if response.content_type in SCRIPTS:
            return read_script(decode_body(response.body, response.charset), response.url)
        from recrawl.crawler.fetch.reading.feeds import read_feed

        return read_feed(response.body, response.url)

    def raw_hash(self, body: bytes) -> bytes:
        """Hash a body as it came."""
        return raw_hash(body)


def _clear(html: str, small: str, tree: LexborHTMLParser) -> None:
    """Take away what is no text wherever it stands.

    Parameters
    ----------
    html, small, tree : a page, also in small letters: what is not in it is not looked for
    """
    clear_permalinks(tree, small)
    if "<pre" in small or "<code" in small:
        clear_line_numbers(tree)
        clear_language_names(tree)
    part_unseen(html, tree)


def _whole(html: str, small: str) -> list[LexborNode]:
    """Return what holds all that a page says, read anew."""
    tree = LexborHTMLParser(_with_breaks(cut_at_depth(html)))
    _clear(html, small, tree)
    return whole_text(tree)


def _compared(html: str, tree: LexborHTMLParser, roots: list[LexborNode], text: str) -> str:
    """Return the text that copies are compared by: counters in columns, and ages, told as such."""
    with named_passing(html, tree) as is_named:
        return text_of(roots) if is_named else text


def _with_its_end(tag: re.Match[str]) -> str:
    """Write ``<script/>`` as HTML has it, where all that follows would be the script's."""
    return tag[0] if tag[1].lower() in EMPTY else f"<{tag[1]}{tag[2]}></{tag[1]}>"


def _with_breaks(html: str) -> str:
    """Mark where blocks begin and end."""
    html = html.replace(_LINK_LIST, f"</a>{BREAK}<a ").replace(_LABEL, f"</label>{BREAK}<")
    return _BLOCK.sub(f"{BREAK}<", html)


def _directives(text: str) -> set[str]:
    asked = {part.strip() for part in text.lower().split(",")}
    if "none" in asked:
        asked |= {"noindex", "nofollow"}
    # The date after which a page is no longer to be found may hold a comma itself.
    until = _UNTIL.search(text)
    if until is not None and _is_over(until[1]):
        asked.add("noindex")
    return asked


def _is_over(text: str) -> bool:
    """Tell whether an instant, as people write it in a directive, lies behind."""
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            at = read(text.strip())
        except (ValueError, TypeError):
            continue
        return at.timestamp() < time.time()
    return False


def _called(name: str, link: LexborNode) -> str:
    """Return the first text of links that has a word in it; else the first, as of a number."""
    if any(map(str.isalpha, name)):
        return name
    text = _anchor(link)
    return text if not name or any(map(str.isalpha, text)) else name


def _links(tree: LexborHTMLParser, base: str, codec: str) -> dict[str, str]:
    """Return the addresses that links lead to, with what they are called."""
    found = dict.fromkeys(islice(_led_to(tree, base, codec), MAX_LINKS - 1), "")
    seen: dict[str, str] = {}  # address of each reference; "": it is not followed
    for node in tree.css(f"a[href], area[href], frame[src], iframe[src], {LINK_LIKES}"):
        if not (reference := reference_of(node)):
            continue
        if reference not in seen:
            is_barred = reference.lower().startswith(_UNFOLLOWED_SCHEMES)
            is_barred |= "nofollow" in (node.attributes.get("rel") or "").lower()
            seen[reference] = "" if is_barred else join(base, with_query_in(reference, codec)) or ""
        if url := seen[reference]:
            found[url] = _called(found.get(url, ""), node)
            if len(found) >= MAX_LINKS:
                break
    return found


def _led_to(tree: LexborHTMLParser, base: str, codec: str) -> Iterator[str]:
    """Yield where a page sends its reader by itself, goes on, and is in other languages."""
    for node in tree.css(f"head > :is({_LEADING})"):
        attributes, reference = node.attributes, node.attributes.get("href") or ""
        if node.tag == "meta":
            is_refresh = (attributes.get("http-equiv") or "").lower() == "refresh"
            sent = refresh_of(attributes.get("content"), base) if is_refresh else None
            reference = sent.target if sent is not None else ""
        url = join(base, with_query_in(reference, codec)) if reference else None
        if url is not None:
            yield url


def _sends_to(tree: LexborHTMLParser, base: str, url: str) -> str | None:
    """Return where a page sends its reader at once, if that is another page."""
    for node in tree.css("head > meta[http-equiv]"):
        attributes = node.attributes
        if (attributes.get("http-equiv") or "").lower() != "refresh":
            continue
        sent = refresh_of(attributes.get("content"), base)
        if sent is not None and sent.is_at_once:
            return sent.target if sent.target != url else None
    return None


def _sent_on(found: Extract, response: FetchResponse) -> Extract:
    """Heed the header that sends a page's reader on, as the element that is like it."""
    sent = refresh_of(response.refresh, response.url)
    if sent is None or found.nofollow or sent.target == response.url:
        return found
    if sent.target not in found.links:
        links, anchors = (sent.target, *found.links), ("", *found.anchors)
        found = replace(found, links=links[:MAX_LINKS], anchors=anchors[:MAX_LINKS])
    is_redirect = sent.is_at_once and len(found.text) < _LITTLE
    return replace(found, sends_to=sent.target) if is_redirect else found


def _anchor(node: LexborNode) -> str:
    return printable(node.text()[:MAX_ANCHOR]).replace(BREAK, " ").strip()


def _marked_headings(text: str) -> tuple[str, ...]:
    """Return the headings of a Markdown document, the marks taken off."""
    found = (
        clipped(match[1].rstrip("# "))[:MAX_HEADING]
        for match in islice(_MARKED.finditer(text[:MAX_TEXT]), MAX_HEADINGS)
    )
    return tuple(dict.fromkeys(filter(None, found)))
