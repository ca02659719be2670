"""Rules for reading pages, from a configuration; and pages read in this process."""

import zlib
from collections.abc import Callable
from functools import cache

from recrawl.crawler.control.addresses.scope import Weights
from recrawl.crawler.fetch.reading.extract import PageExtractor
from recrawl.crawler.fetch.reading.main_content import READING
from recrawl.crawler.fetch.reading.markdown import is_available
from recrawl.crawler.fetch.reading.reading_rules import ContentRule, ReadingRules
from recrawl.crawler.fetch.reading.signature import raw_hash
from recrawl.crawler.settings import Settings
from recrawl.errors import InvalidSettings
from recrawl.terms import INDEXABLE, FetchResponse


def reading_rules(settings: Settings) -> ReadingRules:
    """Return how pages are read.

    Raises
    ------
    InvalidSettings
        Markdown is to be kept, and the package for it is missing.
    """
    if settings.keep_markdown and not is_available():
        raise InvalidSettings(
            'index.keep: "markdown" needs one more package: install recrawl[markdown]'
        )
    content = (
        ContentRule(rule.path, rule.select, rule.drop, rule.title) for rule in settings.content
    )
    return ReadingRules(tuple(content), settings.keep_markdown)


def reading_mark(settings: Settings) -> Callable[[str], int]:
    """Return what tells by which rules a page is read: a number for each, never 0.

    Two rules have one number if they read alike, whatever their paths; the number is the same for
    every process of a version, and another one where a version takes other text for content.
    """
    content, render = settings.content, settings.render
    places = Weights([(rule.path, float(row)) for row, rule in enumerate(content)], -1.0)
    filled = Weights([(rule.path, float(row)) for row, rule in enumerate(render)], -1.0)

    @cache
    def mark(of_content: int, of_render: int) -> int:
        said: list[object] = [READING]
        if settings.keep_markdown:
            said.append("markdown")
        if settings.index_command:
            said.append(step_mark(settings))
        if of_content >= 0:
            rule = content[of_content]
            said.append((rule.select, rule.drop, rule.title))
        if of_render >= 0:
            said.append(("render", render[of_render].wait_for))
        return zlib.crc32(repr(said).encode())

    if not content and not render:
        everywhere = mark(-1, -1)
        return lambda _: everywhere
    return lambda url: mark(int(places.of(url)), int(filled.of(url)))


def step_mark(settings: Settings) -> int:
    """Return a number of the command that makes of each page what is indexed; 0: there is none."""
    return zlib.crc32(repr(tuple(settings.index_command)).encode()) if settings.index_command else 0


@cache
def _extractor() -> PageExtractor:
    return PageExtractor("recrawl")


def text_signature(url: str, body: bytes, content_type: str) -> bytes:
    """Return the signature of a page's main text; of its body, where it is none that can be read.

    Parameters
    ----------
    url : of the page
    body : decompressed
    content_type : the header, such as ``text/html; charset=utf-8``
    """
    kind, _, rest = content_type.partition(";")
    kind = kind.strip().lower() or "text/html"
    if kind not in INDEXABLE:
        return raw_hash(body)
    charset = rest.partition("charset=")[2].split(";")[0].strip(" \"'") or None
    answer = FetchResponse(url=url, status=200, body=body, content_type=kind, charset=charset)
    return _extractor().page(answer).signature or raw_hash(body)
