"""Queries as tantivy takes them, and the words that its index knows."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import tantivy
from typing_extensions import override

from recrawl.crawler.index.searching.matching import Queries, inverse
from recrawl.crawler.index.searching.spelling import WordList

MUST, SHOULD, MUST_NOT = tantivy.Occur.Must, tantivy.Occur.Should, tantivy.Occur.MustNot
_ENDING: Final = 5  # letters that a stemmer takes away


class TantivyQueries(Queries):
    """Makes queries for one view of an index.

    Parameters
    ----------
    searcher, schema : of the index
    stems : the analyzer of words
    """

    def __init__(self, searcher: Any, schema: Any, stems: Any) -> None:
        self._searcher, self._schema = searcher, schema
        self.n_pages = int(searcher.num_docs)
        self.words = Vocabulary(searcher, stems)
        self._frequencies: dict[tuple[str, str], int] = {}

    @override
    def frequency(self, field: str, token: str) -> int:
        key = field, token
        if key not in self._frequencies:
            self._frequencies[key] = int(self._searcher.doc_freq(field, token))
        return self._frequencies[key]

    @override
    def term(self, field: str, token: str, weight: float) -> Any:
        query = tantivy.Query.term_query(self._schema, field, token)
        return self._weighed(query, field, (token,), weight)

    @override
    def phrase(self, field: str, tokens: Sequence[str], weight: float, between: int = 0) -> Any:
        if len(tokens) == 1:  # a sign may be left of several
            return self.term(field, tokens[0], weight)
        query = tantivy.Query.phrase_query(self._schema, field, list(tokens), between)
        return self._weighed(query, field, tokens, weight)

    def _weighed(self, query: Any, field: str, tokens: Sequence[str], weight: float) -> Any:
        """Take out what tantivy makes of the rarity of tokens in a field."""
        n_pages = max(self.n_pages, 1)
        rarity = sum(inverse(self.frequency(field, token), n_pages) for token in tokens)
        return tantivy.Query.boost_query(query, weight / (rarity or 1.0))

    @override
    def host(self, name: str) -> Any:
        query = tantivy.Query.term_query(self._schema, "host", name)
        return tantivy.Query.const_score_query(query, 0.0)

    @override
    def best(self, queries: Sequence[Any], others: float) -> Any:
        return tantivy.Query.disjunction_max_query(list(queries), others)

    @override
    def sum(
        self,
        every: Sequence[Any] = (),
        some: Sequence[Any] = (),
        never: Sequence[Any] = (),
        *,
        least: int = 0,
    ) -> Any:
        parts = [(MUST, one) for one in every]
        parts += [(SHOULD, one) for one in some]
        parts += [(MUST_NOT, one) for one in never]
        return tantivy.Query.boolean_query(parts, least or None)

    @override
    def times(self, query: Any, factor: float) -> Any:
        return tantivy.Query.boost_query(query, factor)

    @override
    def flat(self, query: Any, worth: float) -> Any:
        return tantivy.Query.const_score_query(query, worth)

    @override
    def all(self) -> Any:
        return tantivy.Query.all_query()

    @override
    def none(self) -> Any:
        return tantivy.Query.empty_query()

    @override
    def finds(self, query: Any) -> bool:
        return bool(self._searcher.search(query, limit=1, count=False).hits)


class Vocabulary(WordList):
    """The words of an index, by their stems, and its codes."""

    def __init__(self, searcher: Any, stems: Any) -> None:
        self._searcher = searcher
        self._stems = stems

    @override
    def pages_with(self, word: str) -> int:
        n = int(self._searcher.doc_freq("text", self.stem(word)))
        return n or int(self._searcher.doc_freq("codes", word))

    @override
    def stem_of_beginning(self, text: str) -> str | None:
        for end in range(len(text) - 1, max(len(text) - _ENDING, 4), -1):
            if self._searcher.doc_freq("text", text[:end]):
                return text[:end]
        return None

    @override
    def stem(self, word: str) -> str:
        return str((self._stems.analyze(word) or [word])[0])

    @override
    def beginning(
        self, text: str, limit: int = 20, like: Callable[[str], bool] | None = None
    ) -> list[tuple[str, int]]:
        """Return words and codes; words by their stems."""
        found = [
            pair
            for field in ("text", "codes")
            for pair in self._searcher.terms_with_prefix(field, text, limit=limit)
        ]
        first = sorted(found, key=lambda pair: (-pair[1], pair[0]))[:limit]
        return first if like is None else [pair for pair in first if like(pair[0])]
