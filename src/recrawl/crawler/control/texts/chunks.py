"""A page in pieces, for whoever keeps pieces: by its headings, with names that last."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

import xxhash

_HEADING: Final = re.compile(r"(#{1,6})[ \t]+([^\n]*?)[ \t#]*$")
# Code begins after marks of lists and quotations too; it ends on a line of its own.
_FENCE: Final = re.compile(
    r"[ \t]{0,40}(?:(?:[-*+]|\d{1,9}[.)])[ \t]+|>[ \t]*)*(`{3,}(?=[^`]*$)|~{3,})"
)
_END: Final = re.compile(r"[ \t>]*(`{3,}|~{3,})[ \t]*$")
_RULE: Final = frozenset(" \t|:->")  # what stands below the heads of a table's columns
_SENTENCE: Final = re.compile(r"(?<=[.!?\u3002\uff01\uff1f])\s+")
_LINK: Final = re.compile(r"\]\([^()\s]*(?:\s+\"[^\"]*\")?\)")
_NO_WORD: Final = re.compile(r"[\W_]+")


class Chunk(NamedTuple):
    """A piece of a page.

    Parameters
    ----------
    id : stays the same as long as page, headings above and place below them do
    anchor : by which an address reaches its heading; empty where there is none
    headings : above it, from the outermost on
    text : Markdown, its own heading included
    hash : of the text: what did not change need not be worked on again
    """

    id: str
    anchor: str
    headings: tuple[str, ...]
    text: str
    hash: str


def chunks(url: str, markdown: str, places: Sequence[tuple[str, str]], most: int) -> list[Chunk]:
    """Cut Markdown at its headings, and where a section is longer at blocks, sentences, words.

    All of it is in one chunk, once and in order. Code between fences, and a table, is in one chunk
    where it fits; else it is cut between lines, as long as a line is not longer than a chunk.

    Parameters
    ----------
    places : headings with the names by which addresses reach them, in their order
    most : characters of a chunk, >= 1

    Notes
    -----
    O(length).
    """
    found, numbers = list[Chunk](), Counter[tuple[str, ...]]()
    at = 0
    for headings, blocks in _sections(markdown):
        anchor = ""
        if headings:
            for row in range(at, len(places)):
                if _bare(places[row][0]) == _bare(headings[-1]):
                    anchor, at = places[row][1], row + 1
                    break
        for text in _packed(blocks, most):
            number = numbers[headings]
            numbers[headings] += 1
            named = "\0".join((url, *headings, str(number)))
            name, mark = (xxhash.xxh3_128_hexdigest(one.encode()) for one in (named, text))
            found.append(Chunk(name, anchor, headings, text, mark))
    return found


def _sections(markdown: str) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """Yield the headings above, and the blocks, of each part between two headings."""
    above: list[tuple[int, str]] = []
    blocks: list[str] = []
    for block in _blocks(markdown):
        heading = _HEADING.match(block)
        if heading:
            if blocks:
                yield tuple(text for _, text in above), blocks
            level = len(heading[1])
            above = [*(one for one in above if one[0] < level), (level, _plain(heading[2]))]
            blocks = []
        blocks.append(block)
    if blocks:
        yield tuple(text for _, text in above), blocks


def _blocks(markdown: str) -> Iterator[str]:
    """Yield headings, and what stands between empty lines; code is one block in any case."""
    lines: list[str] = []
    for line, code in _coded(markdown.split("\n")):
        is_heading = not code and _HEADING.match(line) is not None
        if lines and not code and (is_heading or not line.strip()):
            yield "\n".join(lines)
            lines = []
        if is_heading:
            yield line
        elif code or line.strip():
            lines.append(line)
    if lines:
        yield "\n".join(lines)


def _coded(lines: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield each line with the number of the code that it belongs to, fences included; or 0."""
    fence, number = "", 0
    for line in lines:
        if fence:
            end = _END.match(line)
            is_end = end is not None and end[1].startswith(fence)
            fence = "" if is_end else fence
            yield line, number
            continue
        begin = _FENCE.match(line)
        if begin is not None:
            fence, number = begin[1], number + 1
        yield line, number if fence else 0


def _units(block: str) -> list[str]:
    """Return the lines of a block; those of code, and those of a table, together."""
    rows = list(_coded(block.split("\n")))
    names: list[tuple[str, int]] = []
    for place, (line, code) in enumerate(rows):
        below = rows[place + 1][0] if place + 1 < len(rows) else ""
        is_head = "|" in below and "-" in below and _RULE.issuperset(below)
        if code:
            names.append(("code", code))
        elif "|" in line and names and names[-1][0] == "table":
            names.append(names[-1])
        else:
            names.append(("table" if "|" in line and is_head else "line", place))
    return [
        "\n".join(line for _, (line, _) in one)
        for _, one in groupby(zip(names, rows, strict=True), key=lambda named: named[0])
    ]


def _packed(blocks: Sequence[str], most: int) -> Iterator[str]:
    """Yield blocks together, as many as there is room for."""
    held = ""
    for block in blocks:
        if held and len(held) + 2 + len(block) <= most:
            held = f"{held}\n\n{block}"
            continue
        if held:
            yield held
        *whole, held = _cut(block, most)
        yield from whole
    if held:
        yield held


def _cut(block: str, most: int) -> list[str]:
    """Cut a block that is too long, but neither code nor a table in it that is short enough."""
    if len(block) <= most:
        return [block]
    parts: list[str] = []
    for unit in _units(block):
        if parts and len(parts[-1]) + 1 + len(unit) <= most:
            parts[-1] += "\n" + unit
        else:
            parts += _broken(unit, most)
    return parts


def _broken(block: str, most: int) -> list[str]:
    """Cut text that is too long: at lines, at sentences, at words, anywhere."""
    for pattern, joint in ((re.compile("\n"), "\n"), (_SENTENCE, " "), (re.compile(r"\s+"), " ")):
        if len(block) <= most:
            return [block]
        parts: list[str] = []
        for piece in pattern.split(block):
            if parts and len(parts[-1]) + len(joint) + len(piece) <= most:
                parts[-1] += joint + piece
            else:
                parts.append(piece)
        if all(len(part) <= most for part in parts):
            return parts
        if len(parts) > 1:
            return [one for part in parts for one in _broken(part, most)]
    return [block[first : first + most] for first in range(0, len(block), most)]


def _plain(heading: str) -> str:
    """Return the words of a heading without the marks of Markdown."""
    return re.sub(r"\\(.)", r"\1", _LINK.sub("]", heading)).replace("`", "").strip(" *[]")


def _bare(text: str) -> str:
    return _NO_WORD.sub("", text).lower()
