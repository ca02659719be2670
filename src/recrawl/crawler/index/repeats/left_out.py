"""Lines that were left out of a text: where they stood, and Markdown without them."""

import re
from collections.abc import Collection
from itertools import groupby, islice
from typing import Final

_PLACES: Final = "\f"  # before how many lines stood where; no line holds one

_ADDRESS: Final = re.compile(r"\]\([^()\s]*(?:\s+\"[^\"]*\")?\)")  # of a link in Markdown
_NO_WORD: Final = re.compile(r"[\W_]+")
_LINE: Final = "---"  # that parts what stands above it from what follows
_ITEM: Final = re.compile(r"\s*[-*+]\s")


def divided(lines: list[str], out: Collection[int]) -> tuple[str, str]:
    """Return the lines that stay, and those of the rows that are left out."""
    kept = [line for row, line in enumerate(lines) if row not in out]
    return "\n".join(kept), "\n".join([lines[row] for row in sorted(out)])


def placed(lines: list[str], out: Collection[int]) -> str:
    """Return what an index keeps of lines left out of a text: them, and where they stood.

    Parameters
    ----------
    out : the rows of what is left out
    """
    if not out:
        return ""
    runs = ["0"] if 0 in out else []  # the first is one of lines that stay
    runs += [f"{len(list(run))}" for _, run in groupby(range(len(lines)), out.__contains__)]
    return "\n".join([_PLACES + " ".join(runs), *(lines[row] for row in sorted(out))])


def lines_of(kept: str) -> str:
    """Return the lines left out of a text, of which this is kept."""
    return kept.partition("\n")[2] if kept.startswith(_PLACES) else kept


def woven(text: str, kept: str) -> str:
    """Return the whole of a text; what it is not known of where it stood is at the end."""
    if not kept:
        return text
    stayed, gone = iter(text.split("\n")), iter(lines_of(kept).split("\n"))
    runs = kept.partition("\n")[0][1:].split() if kept.startswith(_PLACES) else []
    whole: list[str] = []
    for number, run in enumerate(runs):
        whole += islice(gone if number % 2 else stayed, int(run))
    return "\n".join([*whole, *stayed, *gone])


def in_order(text: str, kept: str) -> list[str] | None:
    """Return all lines of a text where they stood; None: older versions did not keep that."""
    return woven(text, kept).split("\n") if kept[:1] in ("", _PLACES) else None


def without_lines(markdown: str, left_out: str, text: str = "") -> str:
    """Return Markdown without the blocks that say nothing but what was left out of the text.

    Of a list the items go that were. A heading stays where the text has it too, or words of the
    page's own are around it: a table of contents was left out with all that it names.

    Parameters
    ----------
    left_out : lines, as :class:`~recrawl.crawler.index.repeats.own_text.Parted` has them
    text : what was not left out
    """
    gone = set(map(_bare, left_out.split("\n")))
    told_too = set(map(_bare, text.split("\n")))
    of_lists = gone.difference(told_too, [""])
    kept: list[str] = []
    heads: list[str] = []  # that stay if what follows them does
    parts_nothing = True  # a line here, as all went that stood before it
    for whole in markdown.strip().split("\n\n"):
        block = _without_items(whole, of_lists)
        level = len(block) - len(block.lstrip("#"))
        told = _said_by(block)
        if told and gone.issuperset(told) and not (level and told_too.issuperset(told)):
            if not level:
                heads.clear()
            elif kept or level > 1:  # not the name of the site
                heads.append(block)
            parts_nothing |= not kept or kept[-1] == _LINE
            continue
        if block != _LINE:
            kept += [head for head in heads if not level or not head.startswith("#" * level)]
            heads.clear()
        elif parts_nothing:
            continue
        kept.append(block)
        parts_nothing = False
    while kept and kept[-1] == _LINE:
        kept.pop()
    return "\n\n".join(kept) + "\n"


def _said_by(block: str) -> list[str]:
    """Return the letters and digits of each line, or cell, that has some."""
    plain = _ADDRESS.sub("]", block)
    parts = re.split(r"[\n|]", plain) if block.startswith("|") else plain.split("\n")
    return [part for part in map(_bare, parts) if part]


def _without_items(block: str, gone: set[str]) -> str:
    """Return a list without the items that say what is to go, but for those with others below."""
    lines = block.split("\n")
    if len(lines) == 1 or not all(map(_ITEM.match, lines)):
        return block
    kept: list[str] = []
    below = 0  # spaces before the item that follows
    for line in reversed(lines):
        indent = len(line) - len(line.lstrip())
        if below > indent or _bare(_ADDRESS.sub("]", line)) not in gone:
            kept.append(line)
            below = indent
    return "\n".join(reversed(kept)) if kept else block


def _bare(text: str) -> str:
    """Return the letters and digits of a line of text or Markdown."""
    return _NO_WORD.sub("", text).lower()
