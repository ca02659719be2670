"""A copy as Markdown: what was kept as such, or title and headings as such, else paragraphs.

Where only text is kept of a page, a line for each block, there are no lists, links or marks of
code, and whatever looks like Markdown in the text is escaped: it is text.
"""

import re
from typing import Final

from recrawl.terms import Document

_MARKS: Final = re.compile(r"[\\`*_\[\]<>&|~]")
_AT_BEGINNING: Final = re.compile(r"^(?:([#=+-])|(\d{1,9})([.)]))")
_AT_END: Final = re.compile(r"(?<= )#+$")  # would end a heading
_LINE: Final = re.compile(r"\s+")


def as_markdown(document: Document) -> str:
    """Return a copy as CommonMark; made of text, it renders to the same words in the same order.

    O(length).
    """
    if document.markdown:
        return document.markdown
    parts = [f"# {_escaped(document.title)}"] if document.title.strip() else []
    headings = {_LINE.sub(" ", heading).strip() for heading in document.headings}
    is_first = True
    for line in document.text.split("\n"):
        text = _LINE.sub(" ", line).strip()
        if not text:
            continue
        if is_first and text == document.title.strip():
            is_first = False
            continue  # stands above
        is_first = False
        parts.append(f"## {_escaped(text)}" if text in headings else _escaped(text))
    return "\n\n".join(parts) + "\n" if parts else ""


def _escaped(text: str) -> str:
    clean = _MARKS.sub(lambda mark: f"\\{mark.group()}", _LINE.sub(" ", text).strip())
    clean = _AT_END.sub(lambda mark: f"\\{mark.group()}", clean)
    return _AT_BEGINNING.sub(
        lambda mark: f"\\{mark[1]}" if mark[1] else f"{mark[2]}\\{mark[3]}", clean
    )
