"""Differences of two texts, word by word; a unified diff as HTML with the words marked."""

import difflib
import re
from collections.abc import Iterator
from html import escape
from typing import Final
from unicodedata import category

from recrawl.crawler.control.texts.letters import SIGNS, VOWELS_APART

_RUN_ON: Final = f"{SIGNS}{VOWELS_APART}"
_TOKENS: Final = re.compile(rf"[{_RUN_ON}]|[^\W{_RUN_ON}]+|\s+|[^\w\s]")
_BETWEEN_MARKS: Final = re.compile(r"\w+|\s+|[^\w\s]")
_SPACED: Final = re.compile(rf"[^\W{_RUN_ON}]")
_MOST_TOKENS: Final = 400  # of a line; longer lines are marked whole
_JOINERS: Final = "\u200c\u200d"


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

    Where a line has more than four hundred words, spaces and signs, all went and came. Of scripts
    that put no space between words each sign is one, with the vowels and accents above it, or where
    these are too many all between two marks.

    Parameters
    ----------
    before, after : without line feeds
    """
    held, new = _tokens(before), _tokens(after)
    if max(len(held), len(new)) > _MOST_TOKENS:
        held, new = _BETWEEN_MARKS.findall(before), _BETWEEN_MARKS.findall(after)
    if max(len(held), len(new)) > _MOST_TOKENS:
        return [("-", before), ("+", after)]
    told = []
    matcher = difflib.SequenceMatcher(None, held, new, autojunk=False)
    for tag, a1, a2, b1, b2 in matcher.get_opcodes():
        gone, come = "".join(held[a1:a2]), "".join(new[b1:b2])
        signed = [(" ", gone)] if tag == "equal" else [("-", gone), ("+", come)]
        told += [part for part in signed if part[1]]
    return told


def _tokens(line: str) -> list[str]:
    found: list[str] = _TOKENS.findall(line)
    if line.isascii():
        return found
    parts: list[str] = []
    is_mark = False
    for token in found:
        goes_on = is_mark and _SPACED.match(token) is not None  # the word that the mark is within
        is_mark = category(token[0]).startswith("M") or token in _JOINERS
        if parts and (is_mark or goes_on):
            parts[-1] += token
        else:
            parts.append(token)
    return parts
