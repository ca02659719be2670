"""The content of a copy in the form that is asked for: text, Markdown or HTML."""

from functools import cache
from html import escape
from typing import Any, Final

from recrawl.crawler.reports.markdown import as_markdown
from recrawl.terms import Document

_MOST: Final = 300_000  # characters of Markdown that are rendered; tables of many columns grow
_LEADS: Final = ("http://", "https://", "mailto:")


def content_as(document: Document, form: str) -> str:
    """Return the content of a copy in the form that is asked for.

    Parameters
    ----------
    document : the copy
    form : "text", "markdown" or "html"
    """
    if form == "text":
        return document.text
    return as_markdown(document) if form == "markdown" else as_html(document)


def as_html(document: Document) -> str:
    """Return a copy as HTML that does nothing: rendered from its Markdown, whatever a page wrote.

    No element, attribute or script of the page itself is in it; links lead to http, https and mail
    only. What is longer than 300,000 characters comes as paragraphs of its text.
    """
    written = as_markdown(document)
    if len(written) > _MOST:
        lines = (line.strip() for line in document.text.split("\n"))
        return "".join(f"<p>{escape(line)}</p>\n" for line in lines if line)
    rendered: str = _renderer().render(written)
    return rendered


@cache
def _renderer() -> Any:
    from markdown_it import MarkdownIt  # only for who asks for HTML

    made = MarkdownIt("commonmark", {"html": False}).enable("table")
    made.validateLink = _is_harmless  # type: ignore[method-assign]
    return made


def _is_harmless(url: str) -> bool:
    return url.strip().lower().startswith(_LEADS)
