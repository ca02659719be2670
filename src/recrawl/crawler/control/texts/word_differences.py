"""Differences of two texts, word by word; a unified diff as HTML with the words marked."""

import difflib
import re
from collections.abc import Iterator
from html import escape
from typing import Final

_TOKENS: Final = re.compile(r"\w+|\s+|[^\w\s]")
_MOST_TOKENS: Final = 400  # of a line; longer lines are marked whole


def marked_words(edit: str) -> str:
    """Return a diff with ``del`` and ``ins`` around words, a ``p`` for each line.

    A line that went and the one that came in its place are one paragraph. O(length) but for the
    words of such pairs, of which there are at most four hundred on a side.
    """
    return "".join(_paragraphs(edit.split("\n")))


def _paragraphs(lines: list[str]) -> Iterator[str]:
    went: list[str] = []
    came: list[str] = []
    for line in [*lines, "@@"]:
        if line.startswith("-"):
            if came:
                yield from _changed(went, came)
                went, came = [], []
            went.append(line[1:])
        elif line.startswith("+"):
            came.append(line[1:])
        else:
            yield from _changed(went, came)
            went, came = [], []
            if not line.startswith("@@"):
                yield f"<p>{escape(line[1:] if line[:1] == ' ' else line)}</p>"


def _changed(went: list[str], came: list[str]) -> Iterator[str]:
    pairs = min(len(went), len(came))
    for before, after in zip(went[:pairs], came[:pairs], strict=True):
        yield f"<p>{_words(before, after)}</p>"
    yield from (f"<p><del>{escape(line)}</del></p>" for line in went[pairs:])
    yield from (f"<p><ins>{escape(line)}</ins></p>" for line in came[pairs:])


def _words(before: str, after: str) -> str:
    marks = {" ": "{}", "-": "<del>{}</del>", "+": "<ins>{}</ins>"}
    return "".join(marks[sign].format(escape(text)) for sign, text in word_steps(before, after))


def word_steps(before: str, after: str) -> list[tuple[str, str]]:
    """Return the parts of two lines in order: what stayed (" "), went ("-") and came ("+").

    Where a line has more than four hundred words, spaces and signs, all went and came.

    Parameters
    ----------
    before, after : without line feeds
    """
    held, new = _TOKENS.findall(before), _TOKENS.findall(after)
    if max(len(held), len(new)) > _MOST_TOKENS:
        return [("-", before), ("+", after)]
    told = []
    matcher = difflib.SequenceMatcher(None, held, new, autojunk=False)
    for tag, a1, a2, b1, b2 in matcher.get_opcodes():
        gone, come = "".join(held[a1:a2]), "".join(new[b1:b2])
        signed = [(" ", gone)] if tag == "equal" else [("-", gone), ("+", come)]
        told += [part for part in signed if part[1]]
    return told
