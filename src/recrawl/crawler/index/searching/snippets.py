"""The passage of a page that answers a query, with the words of the query marked in it."""

import re
from collections.abc import Iterable
from typing import Any, Final

import tantivy

from recrawl.crawler.index.searching.passages import best_passage

_LONGEST: Final = 300  # characters of a passage: all of it
_RUN_ON: Final = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+")  # vowels are marks
_WORD: Final = re.compile(rf"{_RUN_ON.pattern}|\w+")


def beginnings(looked_for: Iterable[str], stems: Any, most: int) -> list[str]:
    """Return how words of the text begin that the query may mean.

    Parameters
    ----------
    looked_for : words and phrases of the query
    stems : analyzer that gives the stem of a word
    most : words that are looked at
    """
    words = [word for text in looked_for for word in _WORD.findall(text.lower())]
    return [
        word if _RUN_ON.match(word) else _shared(word, stems.analyze(word)) for word in words[:most]
    ]


def _shared(word: str, stems: list[str]) -> str:
    """Return the beginning that a word has in common with its stem."""
    pairs = zip(word, stems[0] if stems else "", strict=False)
    n = next((place for place, (a, b) in enumerate(pairs) if a != b), None)
    return word[:n] if n else word[: len(stems[0])] if stems else word


class Snippets:
    """Marks the words of a query in the best passage of a text, however long that is."""

    def __init__(
        self,
        searcher: tantivy.Searcher,
        query: tantivy.Query,
        schema: tantivy.Schema,
        beginnings: list[str],
    ) -> None:
        self._marks = tantivy.SnippetGenerator.create(searcher, query, schema, "text")
        self._marks.set_max_num_chars(_LONGEST)
        self._beginnings = beginnings

    def of(self, text: str) -> tuple[str, tuple[tuple[int, int], ...]]:
        """Return a snippet, and where words of the query stand in it."""
        shown = best_passage(text, self._beginnings)
        passage = tantivy.Document()
        passage.add_text("text", shown)
        snippet = self._marks.snippet_from_doc(passage)
        fragment = snippet.fragment()
        if not fragment:
            words = "|".join(map(re.escape, self._beginnings))
            found = re.finditer(words, shown, re.IGNORECASE) if words else ()
            return shown, tuple(match.span() for match in found)
        marked = [(part.start, part.end) for part in snippet.highlighted()]
        if fragment.isascii():
            return fragment, tuple(marked)
        return fragment, tuple(_characters(fragment, *part) for part in marked)


def _characters(text: str, start: int, end: int) -> tuple[int, int]:
    """Turn positions in UTF-8 bytes, as tantivy counts, into positions in characters."""
    raw = text.encode()
    return len(raw[:start].decode(errors="ignore")), len(raw[:end].decode(errors="ignore"))
