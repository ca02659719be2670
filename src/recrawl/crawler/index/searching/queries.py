"""Query language of the search box, with its parser: small enough to be explained in a line.

Words, ``"words in quotes"``, ``-word``, ``title:word``, ``text:word``, ``host:name`` and ``OR``
between two of them. A word of code stays as it is typed, ``--onto`` and ``-p`` too: a dash leaves a
word out only after a space, before two letters or more, and where another word remains.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from recrawl.crawler.control.texts.letters import composed

FIELDS: Final = ("title", "text", "host")
MOST_PARTS: Final = 24
MOST_CHARACTERS: Final = 1_000
_PART: Final = re.compile(
    r'(?P<sign>(?:(?<!\S)-(?=["\w][^\s"])|\+(?=\w))?)(?:(?P<field>[^\W\d]\w*):(?=[^\s:/]))?(?:"(?P<phrase>[^"]*)"|(?P<word>[^\s"]+))'
)
_LETTER: Final = re.compile(r"[^\W_]")
_NO_WORDS: Final = dict.fromkeys([*map(ord, "()[]{}\0"), *range(0xD800, 0xE000)], " ")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A word, or words in quotes that stand together; in one field, or in any (None)."""

    text: str
    field: str | None = None
    together: bool = False


@dataclass(frozen=True, slots=True)
class ReadQuery:
    """A query, parsed.

    Parameters
    ----------
    groups : of each, one at least must occur
    never : must not occur
    notes : what could not be understood, in words for people
    """

    groups: tuple[tuple[Wanted, ...], ...] = ()
    never: tuple[Wanted, ...] = ()
    notes: tuple[str, ...] = ()


def read_query(text: str) -> ReadQuery:
    """Return what a query means; there is none that cannot be read in some way."""
    notes: list[str] = []
    if len(text) > MOST_CHARACTERS:
        notes.append(f"only the first {MOST_CHARACTERS:,} characters were read")
    text = composed(text[:MOST_CHARACTERS]).translate(_NO_WORDS)
    if text.count('"') % 2:
        notes.append("a quotation mark is missing; it was taken as not there")
        at = text.rindex('"')
        text = f"{text[:at]} {text[at + 1 :]}"
    parts = [part for part in _PART.finditer(text) if _LETTER.search(part.group())]
    if text.strip() and not parts:
        notes.append("there is no word in it")
    if len(parts) > MOST_PARTS:
        notes.append(f"only the first {MOST_PARTS} words were looked for")
    groups, never = _grouped(parts[:MOST_PARTS], notes)
    if not groups and not any(wanted.together for wanted in never):
        groups, never = tuple((wanted,) for wanted in never), ()
    return ReadQuery(groups, never, tuple(dict.fromkeys(notes)))


def _grouped(
    parts: Sequence[re.Match[str]], notes: list[str]
) -> tuple[tuple[tuple[Wanted, ...], ...], tuple[Wanted, ...]]:
    groups: list[tuple[Wanted, ...]] = []
    never: list[Wanted] = []
    either = negated = False
    for part in parts:
        if part.group() in ("AND", "OR", "NOT"):
            either = either or part.group() == "OR"
            negated = negated or part.group() == "NOT"
            continue
        wanted = _wanted(part, notes)
        if (part["sign"] == "-" and part.start() > 0) or negated:
            never.append(wanted)
        elif either and groups:
            groups[-1] = tuple(dict.fromkeys((*groups[-1], wanted)))
        else:
            groups.append((wanted,))
        either = negated = False
    return tuple(dict.fromkeys(groups)), tuple(never)


def _wanted(part: re.Match[str], notes: list[str]) -> Wanted:
    field, together = part["field"], part["phrase"] is not None
    text = part["phrase"] if together else part["word"]
    if field is not None and field.lower() not in FIELDS:
        known = ", ".join(f"{name}:" for name in FIELDS)
        notes.append(f"there is no field {field!r}, only {known}; it was taken as a word")
        return Wanted(f"{field} {text}", None, together=True)
    return Wanted(text, field.lower() if field else None, together)
