"""Lines that lead to the pages beside one: the next message, the previous chapter.

Where links say so themselves (``rel="next"``), and where a line has one link and says before it
which page that is: ``Next in thread: Of lamps``, as archives of mailing lists do; or a link is
"newer" or "older", and what else is on its line leads there, too. What it says changes with the
page that it leads to, and with each that comes between.
"""

import re
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

# What leads to the pages beside one, in its order: the line that such a link stands on does.
_BESIDE: Final = (
    'a[rel~="next"], a[rel~="prev"], a[rel~="previous"], a[rel~="up"], .next > a, .previous > a'
)
# What a line says before such a link: "Next in thread:", "Previous message (by date):", or an
# arrow beside such a word.
_WHICH: Final = (
    r"(?:next|prev(?:ious)?)(?:\W{1,3}(?:by|in|article|chapter|date|entry|item|message|page|part"
    r"|post|section|story|topic|thread)){0,4}"
)
_BACK, _ON = "\u2190\u00ab\u2039", "\u2192\u00bb\u203a"
_BEFORE: Final = re.compile(
    rf"\W{{0,3}}{_WHICH}\W{{0,3}}[:{_ON}]\W{{0,3}}|\W{{0,2}}[{_BACK}]\W{{0,2}}{_WHICH}\W{{1,3}}",
    re.IGNORECASE,
)
_SIGNS: Final = ("Next", "next ", "Prev", "prev")
_REACH: Final = 40  # characters in which a colon or an arrow follows them, and three before
_WAYS: Final = ("newer", "older")
_LINES: Final = frozenset("p div li td th dd".split())
LINE: Final = "data-recrawl-line"
_AROUND: Final = " \"'([{<>}])"
_MOST_BESIDE: Final = 2_000  # a manual may be one page, with such a line above each section
_ARROWS: Final = f" {_BACK}{_ON}<>"
_FEW: Final = 4  # links
_LONGEST: Final = 300  # characters of such a line
_LONGEST_READ: Final = 3_000  # the same with the blanks of how it is written
_MOST_READ: Final = 8  # times that the text of a page is read to judge its lines
_WHOLE: Final = frozenset({"html", "body", "main"})


def mark_lines_beside(tree: LexborHTMLParser, text: str) -> None:
    """Mark the lines with links to the pages beside one, and those with the same links.

    Parameters
    ----------
    tree : of a page, whose lines get the attribute :data:`LINE`
    text : of all of it
    """
    told: set[tuple[str, ...]] = set()
    for link in tree.css(_BESIDE)[:_MOST_BESIDE]:
        line = _line_of(link)
        if line is not None and LINE not in line.attributes:
            line.attrs[LINE] = ""
            told.add(_references(line))
    firsts = {references[0] for references in told if len(references) > 1}
    links = tree.css("a[href]") if firsts else []
    again = [link for link in links if link.attributes.get("href") in firsts]
    lines = {line.mem_id: line for line in map(_line_of, again[:_MOST_BESIDE]) if line is not None}
    for line in lines.values():
        if _references(line) in told:
            line.attrs[LINE] = ""
    if _may_say_where(text) or any(way[1:] in text for way in _WAYS):
        _mark_by_words(tree, to_read=_MOST_READ * len(text))


def _mark_by_words(tree: LexborHTMLParser, to_read: int) -> None:
    """Mark the lines that say where they lead, until so many characters were read of them."""
    links = tree.css("a[href]")[:_MOST_BESIDE]
    lines = {line.mem_id: line for line in map(_line_of, links) if line is not None}
    for line in lines.values():
        if LINE in line.attributes:
            continue
        said = line.text()
        to_read -= len(said) + 1
        if to_read <= 0:
            return
        if len(said) <= _LONGEST_READ and _says_only_where(line, " ".join(said.split())):
            line.attrs[LINE] = ""


def _may_say_where(text: str) -> bool:
    """Tell whether a line may begin so, by a word and a sign near it: most pages have none."""
    for word in _SIGNS:
        start = text.find(word)
        while start >= 0:
            around = text[max(start - 3, 0) : start + _REACH]
            if any(sign in around for sign in f":{_BACK}{_ON}"):
                return True
            start = text.find(word, start + 1)
    return False


def _says_only_where(line: LexborNode, said: str) -> bool:
    """Tell whether a line has one link, and before it which of those beside the page that is."""
    links = line.css("a")
    if len(said) > _LONGEST or len(links) != 1:
        return 0 < len(links) <= _FEW and len(said) <= _LONGEST and _leads_one_way(links, said)
    before = _BEFORE.match(said)
    named = " ".join(links[0].text().split()).strip(_AROUND)
    return before is not None and bool(named) and said[before.end() :].strip(_AROUND) == named


def _leads_one_way(links: list[LexborNode], said: str) -> bool:
    """Tell whether all that is on a line leads where a link of it does that is but "newer"."""
    named = [" ".join(link.text().split()) for link in links]
    ways = {
        link.attributes.get("href")
        for link, name in zip(links, named, strict=True)
        if name.strip(_ARROWS).lower() in _WAYS
    }
    others = sum(map(str.isalnum, said)) - sum(sum(map(str.isalnum, name)) for name in named)
    return others == 0 and ways.issuperset(link.attributes.get("href") for link in links)


def _line_of(link: LexborNode) -> LexborNode | None:
    line = link.parent
    while line is not None and line.tag not in _LINES and line.tag not in _WHOLE:
        line = line.parent
    return line if line is not None and line.tag in _LINES else None


def _references(line: LexborNode) -> tuple[str, ...]:
    """Return where the links of a line lead, in their order."""
    return tuple(link.attributes.get("href") or "" for link in line.css("a"))
