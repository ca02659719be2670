"""Files as pages: HTML as it is, Markdown and reStructuredText rendered, all else as text."""

from html import escape
from typing import Final

_MARKDOWN: Final = frozenset({"md", "markdown", "mdown"})
_RST: Final = frozenset({"rst"})
_HTML: Final = frozenset({"html", "htm", "xhtml"})
_LONGEST_MARKDOWN: Final = 1 << 17  # characters: what takes longer to read is shown as it is
READABLE: Final = frozenset(
    "md markdown mdown rst html htm xhtml txt text adoc asciidoc org tex pod php xml py pyi js ts "
    "c h cc cpp hpp cxx go rs rb pl pm java kt scala swift sh bash sql css toml yaml yml json ini "
    "cfg conf cmake mk m4 in po csv tsv bib".split()
)
"""Endings of files that are text; files without one, as README and Makefile, are taken too."""


def title_of(path: str) -> str:
    """Name of a file, without its directory."""
    return path.rpartition("/")[2]


def render(path: str, content: bytes) -> str | None:
    """Return what stands in the main part of a page; None: the file is no text, or a whole page.

    Parameters
    ----------
    path : of the file; its ending tells the language
    content : bytes of it
    """
    if b"\0" in content[:8192]:
        return None
    ending = path.rpartition(".")[2].lower()
    if ending in _HTML:
        return None
    text = content.decode("utf-8", "replace")
    if ending in _MARKDOWN:
        return _markdown(text) if len(text) <= _LONGEST_MARKDOWN else _plain(path, text)
    if ending in _RST:
        return _rst(text)
    return _plain(path, text)


def is_page(path: str) -> bool:
    """Tell whether a file is a whole page by itself."""
    return path.rpartition(".")[2].lower() in _HTML


def _plain(path: str, text: str) -> str:
    return f"<h1>{escape(title_of(path))}</h1><pre>{escape(text)}</pre>"


def _markdown(text: str) -> str:
    from markdown_it import MarkdownIt

    # No raw HTML: what a repository holds is shown, and never run.
    return str(MarkdownIt("commonmark", {"html": False}).enable("table").render(text))


def _rst(text: str) -> str:
    """As paragraphs, with underlined lines as headings: what it says, not how it looks."""
    made, lines = [], text.splitlines()
    paragraph: list[str] = []
    for place, line in enumerate([*lines, ""]):
        below = lines[place + 1] if place + 1 < len(lines) else ""
        if line.strip() and _is_rule(below) and len(below.rstrip()) >= len(line.rstrip()):
            made.append(f"<h2>{escape(line.strip())}</h2>")
        elif not line.strip():
            if paragraph:
                made.append(f"<p>{escape(chr(10).join(paragraph))}</p>")
            paragraph = []
        elif not _is_rule(line):
            paragraph.append(line)
    return "".join(made)


def _is_rule(line: str) -> bool:
    bare = line.rstrip()
    return len(bare) >= 3 and len(set(bare)) == 1 and not bare[0].isalnum() and bare[0] != " "
