"""Queries as PostgreSQL's full text takes them: what finds a page there, and what it is worth.

The server finds pages and tells how often each lexeme stands where; their worth is summed up here,
as its own ranks know nothing of how rare a word is.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final, Protocol

from typing_extensions import override

from recrawl.crawler.index.lexemes import FIELDS, quoted
from recrawl.crawler.index.searching.matching import Queries
from recrawl.crawler.index.searching.spelling import WordList

Rows = list[tuple[Any, ...]]

_MOST_WAYS: Final = 300  # to have some of many words
_FEWER_WORDS: Final = 8  # of those of a longer query
_COUNTED: Final = 1_000  # pages; of more the server's guess is taken
_ALL: Final = "!'no such word'"
_ONE: Final = math.pi**2 / 6.0  # times the server's rank of a lexeme that stands somewhere once
_ENDING: Final = 5  # letters that a stemmer takes away


class Ask(Protocol):
    """A way to ask the database."""

    def __call__(self, query: str, values: dict[str, object]) -> Rows:
        """Return the rows of an answer."""
        ...


@dataclass(frozen=True, slots=True)
class SqlQuery:
    """A query.

    Parameters
    ----------
    found_by : condition, as a ``tsquery``
    worth : of a page, by what the server tells of each of :attr:`SqlQueries.looked_at`
    """

    found_by: str
    worth: Callable[[Sequence[float]], float]


class SqlQueries(Queries):
    """Makes queries for the copies of one database.

    Parameters
    ----------
    ask : asks it
    stems : the analyzer of words
    n_pages : about so many copies there are
    """

    def __init__(self, ask: Ask, stems: Any, n_pages: int) -> None:
        self._ask, self.n_pages = ask, n_pages
        self.words = _Vocabulary(self, stems)
        self.looked_at: dict[tuple[str, str], int] = {}  # expressions and lexemes, with their rows
        self._frequencies: dict[str, int] = {}

    # -- how common --

    @override
    def frequency(self, field: str, token: str) -> int:
        """Return how many pages have a token; in whichever of the fields that have stems."""
        if field not in FIELDS:
            return 0
        lexeme = FIELDS[field][0] + token
        return self.counted([lexeme])[lexeme]

    def counted(self, lexemes: Iterable[str]) -> dict[str, int]:
        """Return how many pages have each of some lexemes. One statement."""
        wanted = list(dict.fromkeys(lexemes))
        new = [one for one in wanted if one not in self._frequencies]
        if new:
            found = self._ask(
                "SELECT told.lexeme, (SELECT count(*) FROM (SELECT 1 FROM document WHERE words @@ "
                "told.query LIMIT %(most)s) AS held) FROM unnest(%(lexemes)s::text[], "
                "%(queries)s::tsquery[]) AS told (lexeme, query)",
                {"most": _COUNTED, "lexemes": new, "queries": [quoted(one) for one in new]},
            )
            for lexeme, n in found:
                self._frequencies[lexeme] = self._guessed(lexeme) if n >= _COUNTED else n
        return {one: self._frequencies[one] for one in wanted}

    def _guessed(self, lexeme: str) -> int:
        query = "EXPLAIN (FORMAT JSON) SELECT 1 FROM document WHERE words @@ %(query)s::tsquery"
        plan = self._ask(query, {"query": quoted(lexeme)})[0][0]
        return max(_COUNTED, int(plan[0]["Plan"]["Plan Rows"]))

    def beginning(self, text: str, limit: int) -> list[str]:
        """Return lexemes of titles and headings that begin so."""
        rows = self._ask(
            "SELECT word FROM word WHERE word >= %(first)s AND word < %(end)s ORDER BY word "
            "LIMIT %(limit)s",
            {"first": text, "end": text + "\U0010fffd", "limit": limit},
        )
        return [row[0] for row in rows]

    # -- queries --

    def _leaf(self, expression: str, lexemes: str) -> int:
        return self.looked_at.setdefault((expression, lexemes), len(self.looked_at))

    @override
    def term(self, field: str, token: str, weight: float) -> SqlQuery:
        lexeme = quoted(FIELDS[field][0] + token)
        return SqlQuery(lexeme, self._standing(field, lexeme, weight))

    def _standing(
        self, field: str, lexeme: str, weight: float
    ) -> Callable[[Sequence[float]], float]:
        """Return the worth of a lexeme by how often it stands in a field; of a text, how long."""
        label = FIELDS[field][1]
        marks = ["1" if one == label else "0" for one in "DCBA"]
        held = "long" if label == "D" else "named"
        row = self._leaf(f"ts_rank('{{{','.join(marks)}}}', {held}, ?)", lexeme)
        if field != "text":
            return lambda told: weight * _ONE * told[row]
        length = self._leaf("COALESCE(n_words / NULLIF(mean_words, 0), 1)::float4", "")

        def worth(told: Sequence[float]) -> float:
            return weight * _ONE * told[row] * 2.2 / (1.3 + 0.9 * min(told[length], 10.0))

        return worth

    @override
    def phrase(
        self, field: str, tokens: Sequence[str], weight: float, between: int = 0
    ) -> SqlQuery:
        label = FIELDS[field][1]
        words = [f"{quoted(token)}:{label}" for token in tokens]
        if len(words) == 1:
            return SqlQuery(words[0], self._standing(field, quoted(tokens[0]), weight))
        near = range(1, (between if len(words) == 2 else 0) + 2)
        ways = [f" <{n}> ".join(words) for n in near]
        found_by = "(" + " | ".join(f"({way})" for way in ways) + ")"
        held = "long" if label == "D" else "named"
        row = self._leaf(f"({held} @@ ?)::int::float4", found_by)
        return SqlQuery(found_by, lambda told: weight * told[row])

    @override
    def host(self, name: str) -> SqlQuery:
        return SqlQuery(quoted(f"h {name}"), lambda _: 0.0)

    @override
    def best(self, queries: Sequence[SqlQuery], others: float) -> SqlQuery:
        def worth(told: Sequence[float]) -> float:
            each = [query.worth(told) for query in queries]
            return (1.0 - others) * max(each) + others * math.fsum(each)

        return SqlQuery(_any(query.found_by for query in queries), worth)

    @override
    def sum(
        self,
        every: Sequence[SqlQuery] = (),
        some: Sequence[SqlQuery] = (),
        never: Sequence[SqlQuery] = (),
        *,
        least: int = 0,
    ) -> SqlQuery:
        counted = [*every, *some]
        must = [query.found_by for query in every]
        least = least or (0 if every else 1)
        if some and least:
            must.append(_some([query.found_by for query in some], least))
        must += [f"!{query.found_by}" for query in never]
        found_by = "(" + " & ".join(must) + ")" if must else _ALL
        return SqlQuery(found_by, lambda told: math.fsum(one.worth(told) for one in counted))

    @override
    def times(self, query: SqlQuery, factor: float) -> SqlQuery:
        return SqlQuery(query.found_by, lambda told: factor * query.worth(told))

    @override
    def flat(self, query: SqlQuery, worth: float) -> SqlQuery:
        return SqlQuery(query.found_by, lambda told: worth if query.worth(told) > 0.0 else 0.0)

    @override
    def all(self) -> SqlQuery:
        return SqlQuery(_ALL, lambda _: 0.0)

    @override
    def none(self) -> SqlQuery:
        return SqlQuery(f"!{_ALL}", lambda _: 0.0)

    @override
    def finds(self, query: SqlQuery) -> bool:
        asked = "SELECT 1 FROM document WHERE words @@ %(query)s::tsquery LIMIT 1"
        return bool(self._ask(asked, {"query": query.found_by}))


class _Vocabulary(WordList):
    """The words of all copies by their stems, and their codes."""

    def __init__(self, queries: SqlQueries, stems: Any) -> None:
        self._queries, self._stems = queries, stems

    @override
    def pages_with(self, word: str) -> int:
        return self.known([word]).get(word, 0)

    @override
    def known(self, words: Sequence[str]) -> dict[str, int]:
        stemmed = {word: self.stem(word) for word in words}
        pages = self._queries.counted([*stemmed.values(), *(f"c {word}" for word in words)])
        counts = {word: pages[stemmed[word]] or pages[f"c {word}"] for word in words}
        return {word: n for word, n in counts.items() if n}

    @override
    def beginning(
        self, text: str, limit: int = 20, like: Callable[[str], bool] | None = None
    ) -> list[tuple[str, int]]:
        """Return words of titles and headings, and codes; words by their stems."""
        found = self._queries.beginning(text, limit)
        found += self._queries.beginning(f"c {text}", limit)
        wanted = [one for one in found if like is None or like(one.removeprefix("c "))]
        pages = self._queries.counted(wanted)
        told = [(one.removeprefix("c "), pages[one]) for one in wanted if pages[one]]
        return sorted(told, key=lambda pair: (-pair[1], pair[0]))[:limit]

    @override
    def stem(self, word: str) -> str:
        return str((self._stems.analyze(word) or [word])[0])

    @override
    def stem_of_beginning(self, text: str) -> str | None:
        shorter = [text[:end] for end in range(len(text) - 1, max(len(text) - _ENDING, 4), -1)]
        pages = self._queries.counted(shorter)
        return next((one for one in shorter if pages[one]), None)


def _any(conditions: Iterable[str]) -> str:
    return "(" + " | ".join(dict.fromkeys(conditions)) + ")"


def _some(conditions: Sequence[str], least: int) -> str:
    """Return the condition that so many of some hold."""
    if math.comb(len(conditions), least) > _MOST_WAYS:
        fewer = conditions[:_FEWER_WORDS]
        least = max(least * len(fewer) // len(conditions), 1)
        conditions = fewer
    ways = combinations(dict.fromkeys(conditions), min(least, len(set(conditions))))
    return _any("(" + " & ".join(way) + ")" for way in ways)
