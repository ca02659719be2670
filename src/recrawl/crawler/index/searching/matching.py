"""Matching of words by an index: the queries that ranking makes of it, and how rare a word is."""

import math
from collections.abc import Sequence
from typing import Any, Protocol

from recrawl.crawler.index.searching.spelling import WordList


class Queries(Protocol):
    """Maker of queries for one index, as it is at one moment.

    A query finds pages, and what each of them is worth. What it is, only its maker knows.
    """

    n_pages: int
    words: WordList  # those that the index knows

    def frequency(self, field: str, token: str) -> int:
        """Return how many pages have a token in a field; of very many, about how many."""
        ...

    def term(self, field: str, token: str, weight: float) -> Any:
        """Return what finds a token in a field, for about so much where it stands there once."""
        ...

    def phrase(self, field: str, tokens: Sequence[str], weight: float, between: int = 0) -> Any:
        """Return what finds tokens in a row, with at most so many others between two of them."""
        ...

    def host(self, name: str) -> Any:
        """Return what finds the pages of a host, for nothing."""
        ...

    def best(self, queries: Sequence[Any], others: float) -> Any:
        """Return what finds any of some, for the best and a share of what the others give."""
        ...

    def sum(
        self,
        every: Sequence[Any] = (),
        some: Sequence[Any] = (),
        never: Sequence[Any] = (),
        *,
        least: int = 0,
    ) -> Any:
        """Return what finds all of ``every``, so many of ``some``, none of ``never``; summed up.

        Where there is none of ``every``, and none of ``some`` is needed, any of them is.
        """
        ...

    def times(self, query: Any, factor: float) -> Any:
        """Return the same query, for so many times as much."""
        ...

    def flat(self, query: Any, worth: float) -> Any:
        """Return the same query, for so much and no more."""
        ...

    def all(self) -> Any:
        """Return what finds every page."""
        ...

    def none(self) -> Any:
        """Return what finds no page."""
        ...

    def finds(self, query: Any) -> bool:
        """Tell whether a query finds a page."""
        ...


def inverse(n: int, n_pages: int) -> float:
    """Return the weight of a word that ``n`` of so many pages have (BM25's)."""
    return math.log1p((n_pages - min(n, n_pages) + 0.5) / (n + 0.5))
