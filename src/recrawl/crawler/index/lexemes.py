"""The words of a copy as PostgreSQL's full text holds them, made by the rules of every index here.

Stems stand with their places, A in titles, B in headings, C in addresses, D in texts. All else has
a letter and a space before it, which no word has: ``c`` a code as it is typed, ``n`` what a page is
called, ``s`` what parts of it are called, ``l`` a stem of another language, ``g`` that language,
``h`` the host.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from recrawl.crawler.index.words import address_words, apart, codes, names, sections, stems
from recrawl.terms import Document

if TYPE_CHECKING:
    from recrawl.crawler.index.repeats.own_text import Parted

FIELDS: Final = {
    "title": ("", "A"), "headings": ("", "B"), "address": ("", "C"), "text": ("", "D"),
    "terms": ("c ", "A"), "codes": ("c ", "D"), "name": ("n ", "A"), "sections": ("s ", "A"),
    "stems": ("l ", "D"), "spoken": ("g ", "A"), "host": ("h ", "A"),
}  # fmt: skip
_LAST: Final = 16_383  # place that the server tells from others
_MOST_PLACES: Final = 255  # of one lexeme, as the server keeps
_MOST_BYTES: Final = 900_000  # of all that a copy has; the server's bound is a MiB
_LONGEST: Final = 300_000  # characters of a text that are searched
_LONGEST_TITLE, _LONGEST_HEADS = 1_000, 20_000  # of all headings


@dataclass(frozen=True, slots=True)
class Lexemes:
    """Lexemes by which a copy is found.

    Parameters
    ----------
    all : as a literal of the server's
    named : those of all but the text, which are few
    n_words : number of words of the text
    vocabulary : stems and codes of title, headings and address
    """

    all: str
    named: str
    n_words: int
    vocabulary: tuple[str, ...]


def lexemes_of(document: Document, parted: "Parted", stemmer: Any, language: str | None) -> Lexemes:
    """Return what is searched of a copy; of a very long one, its beginning. O(length).

    Parameters
    ----------
    parted : its text
    stemmer : of the index
    language : of the page, where it is another one
    """
    title, headed = document.title[:_LONGEST_TITLE], "\n".join(document.headings)[:_LONGEST_HEADS]
    named: dict[str, list[str]] = {}
    place = 0
    for words, label in ((title, "A"), (headed, "B"), (address_words(document.url), "C")):
        place = _put(named, stemmer.analyze(f"{words}\n{apart(words)}"), label, place)
    _put(named, [f"c {code}" for code in codes(f"{title}\n{headed}")], "A")
    vocabulary = tuple(named)
    marks = [f"n {name}" for name in names(document.title, document.headings, document.url)]
    marks += [f"s {name}" for name in sections(document.headings)]
    marks.append(f"h {document.url.split('/', 3)[2]}")
    if language is not None:
        marks.append(f"g {language}")
    _put(named, marks, "A")
    text = f"{parted.text}\n{parted.own}"[:_LONGEST]
    while True:
        told = {lexeme: list(places) for lexeme, places in named.items()}
        found = stemmer.analyze(f"{text}\n{apart(text)}")
        _put(told, found, "D", place)
        _put(told, [f"c {code}" for code in codes(text)], "D")
        if language is not None:
            spoken = stems(language).analyze(f"{title}\n{headed}\n{text}")
            _put(told, [f"l {stem}" for stem in spoken], "D")
        if _size(told) <= _MOST_BYTES or not text:
            return Lexemes(_literal(told), _literal(named), len(found), vocabulary)
        text = text[: len(text) // 2]


def quoted(lexeme: str) -> str:
    """Return a lexeme as it stands in a vector or a query."""
    escaped = lexeme.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"


def _put(
    told: dict[str, list[str]], found: Iterable[str], label: str, place: int | None = None
) -> int:
    """Add lexemes, all at the first place, or one after the other; return where the last one is."""
    step, place = (0, 1) if place is None else (1, place)
    for lexeme in found:
        place += step
        places = told.setdefault(lexeme, [])
        if len(places) < _MOST_PLACES:
            places.append(f"{min(place, _LAST)}{label}")
    return place


def _size(told: dict[str, list[str]]) -> int:
    return sum(len(lexeme.encode()) + 2 * len(places) + 8 for lexeme, places in told.items())


def _literal(told: dict[str, list[str]]) -> str:
    return " ".join(f"{quoted(lexeme)}:{','.join(places)}" for lexeme, places in told.items())
