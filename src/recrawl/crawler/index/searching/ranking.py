"""From what a person typed to what an index ranks.

A page is worth the sum over the words of the query, each in the field where it counts most. A word
weighs by how few pages have it in their *text*, whichever field it is found in: how rare ``how`` is
in titles says nothing. Most words of a query have to occur, not all, and words that only make a
question of it need not. What no page has is read as the beginning of a word, or as misspelt.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from recrawl.crawler.index.searching.matching import Queries, inverse
from recrawl.crawler.index.searching.queries import ReadQuery, Wanted
from recrawl.crawler.index.searching.spelling import meant
from recrawl.crawler.index.words import apart, as_name, bare, is_code, pairs
from recrawl.crawler.index.words import tokens as as_typed

MOST_TOKENS: Final = 24  # of one query: what it can cost is bounded
_STEMMED: Final = (
    ("text", 1.0), ("title", 3.0), ("headings", 2.2), ("address", 2.0), ("anchors", 1.2),
)  # fmt: skip
_KNOWN: Final = ("text", "title", "anchors")  # where a word that somebody uses is found
_TYPED: Final = (("codes", 1.4), ("terms", 3.5))  # anywhere; in title and headings
_TIE: Final = 0.5  # of what the other fields would have counted
_NAMED: Final = 4.0  # times the weight of all words, for a page that is called so; parts share it
_NEAR: Final = 2  # words between, at most, for words that stand together
_RARE: Final = 1_000  # pages with a word, up to which its places in texts are looked at
_RARE_IN_TITLES: Final = 10_000
_OPTIONAL: Final = 0.15  # of its weight, for a word that makes a question
_LIKE: Final = 0.6  # of its weight, for a word that was not typed so
_FEW: Final = 3  # pages with a word, up to which it may be misspelt there
_MANY: Final = 20  # times as many that have the word it may be
_QUESTION: Final = frozenset(
    """a about am an and any are as at be been but by can could did do does doing for from get had
    has have having how i if in into is it its just like me my of on or our please shall should so
    some such that the their them then there these they this to was we were what when where which
    while who whose why will with would you your""".split()
)


@dataclass(frozen=True, slots=True)
class Question:
    """A query as its index takes it.

    Parameters
    ----------
    ranked : with all that only ranks
    wanted : what has to be found, for snippets
    words : that are looked for, corrected where nobody has them
    corrected : words that were read as others
    """

    ranked: Any
    wanted: Any
    words: tuple[str, ...]
    corrected: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class _Concept:
    """Subquery for one word of the query."""

    query: Any
    weight: float
    optional: bool = False
    required: bool = False  # named by its field or in quotes: the page has it, or is not meant


class Ranking:
    """Reads queries against what an index holds at one moment.

    Parameters
    ----------
    queries : that the index takes
    stems : the analyzer of words
    spoken : those of further languages that pages are in
    """

    def __init__(self, queries: Queries, stems: Any, spoken: Sequence[Any] = ()) -> None:
        self._queries = queries
        self._stems = stems
        self._spoken = spoken
        self._vocabulary = queries.words
        self._frequency = queries.frequency
        self._n = max(queries.n_pages, 1)
        self._words: list[str] = []
        self._corrected: list[tuple[str, str]] = []

    def read(self, asked: ReadQuery) -> Question | None:
        """Return what is searched for, first most words, then any; None: nothing."""
        last = len(asked.groups) - 1
        read = [self._of_group(one, is_last=row == last) for row, one in enumerate(asked.groups)]
        concepts = [concept for concept in read if concept is not None]
        never = [self._never(wanted) for wanted in asked.never]
        if not concepts and (asked.groups or not never):
            return None
        wanted = self._most(concepts, never)
        ranked = self._queries.sum([wanted], self._bonuses(asked, concepts))
        return Question(ranked, wanted, tuple(self._words), tuple(self._corrected))

    def _most(self, concepts: Sequence[_Concept], never: list[Any]) -> Any:
        """Return what finds pages with most of the words, or with any where none has most."""
        required = [one.query for one in concepts if one.required]
        free = [one for one in concepts if not one.required]
        needed = [one for one in free if not one.optional] or ([] if required else free)
        rest = [one.query for one in free if one.optional and one not in needed]
        parts = [one.query for one in needed]
        n = len(needed)
        for least in dict.fromkeys((n if n <= 2 else n - 1 if n <= 4 else math.ceil(0.6 * n), 1)):
            core = [self._queries.sum(some=parts, least=least)] if parts else []
            query = self._queries.sum([*required, *core] or [self._queries.all()], rest, never)
            if n < 2 or self._queries.finds(query):
                break
        return query

    def _of_group(self, group: tuple[Wanted, ...], *, is_last: bool) -> _Concept | None:
        found = [self._of_one(wanted, is_last=is_last) for wanted in group]
        known = [concept for concept in found if concept is not None]
        if not known:
            return None
        if len(known) == 1:
            return known[0]
        query = self._queries.best([concept.query for concept in known], _TIE)
        required = all(concept.required for concept in known)
        return _Concept(query, max(concept.weight for concept in known), required=required)

    def _of_one(self, wanted: Wanted, *, is_last: bool) -> _Concept | None:
        text = wanted.text
        if wanted.field == "host":
            return _Concept(self._host(text), 0.0, required=True)
        if wanted.field is None and (signs := pairs(text)[:MOST_TOKENS]):
            return self._of_signs(text, signs)
        tokens = self._stems.analyze(text)[:MOST_TOKENS]
        if wanted.field is not None:
            return self._of_field(wanted.field, text, tokens)
        if wanted.together and len(tokens) > 1:
            self._words.append(text)
            return replace(self._together(tokens), required=True)
        typed = as_typed(text)[:MOST_TOKENS]
        if len(typed) == 1 and is_code(typed[0]):
            return self._of_code(typed[0], tokens, is_last=is_last)
        if len(tokens) == 1 and len(typed) == 1:
            return self._of_word(typed[0], tokens[0], is_last=is_last)
        if not tokens:
            return None
        self._words.append(text)
        return self._together(tokens)

    def _of_field(self, field: str, text: str, tokens: list[str]) -> _Concept | None:
        self._words.append(text)
        if not tokens:
            return None
        query = self._queries.phrase(field, tokens, self._idf(field, tokens))
        return _Concept(query, self._idf("text", tokens), required=True)

    def _of_signs(self, text: str, signs: list[str]) -> _Concept:
        """Return what finds words without spaces: most of their pairs, better in titles.

        With a word of another script that nothing parts from them, that too.
        """
        self._words.append(bare(text))
        weights = [self._inverse(self._frequency("codes", pair)) for pair in signs]
        parts = []
        for pair, weight in zip(signs, weights, strict=True):
            parts.append(self._anywhere(pair, weight, _TYPED))
        least = math.ceil(0.7 * len(pairs(bare(text))[: len(parts)]))
        core = [self._queries.sum(some=parts, least=least)]
        if len(whole := self._stems.analyze(text)) == 1:
            core.append(self._together(whole).query)
        found = [_Concept(self._queries.best(core, _TIE), sum(weights))]
        beside = [self._of_one(Wanted(word), is_last=False) for word in apart(text).split()]
        found += [concept for concept in beside if concept is not None]
        query = self._queries.sum([concept.query for concept in found])
        return _Concept(query, sum(concept.weight for concept in found))

    def _anywhere(
        self, token: str, weight: float, fields: Sequence[tuple[str, float]], *others: Any
    ) -> Any:
        """Return what finds a token in any of some fields, most where it counts most there."""
        parts = [
            self._queries.term(field, token, boost * weight)
            for field, boost in fields
            if self._frequency(field, token)
        ]
        found = [*parts, *others]
        return self._queries.best(found, _TIE) if found else self._queries.none()

    def _of_word(self, word: str, stem: str, *, is_last: bool) -> _Concept | None:
        """Return what finds a plain word: by its stem, and as typed."""
        optional = word in _QUESTION
        elsewhere = dict.fromkeys(part for one in self._spoken for part in one.analyze(word)[:1])
        seen = [self._frequency("stems", part) for part in elsewhere]
        n = max(*(self._frequency(field, stem) for field in _KNOWN), *seen)
        if n == 0 and not optional:
            return self._meant(word)
        self._words.append(word)
        weight = self._inverse(n) * (_OPTIONAL if optional else 1.0)
        query = self._found_by(stem, weight, elsewhere)
        is_name = bool(self._frequency("name", word) or self._frequency("sections", word))
        if not optional and not is_name and n <= max(_FEW, self._n // 1_000):
            query, weight = self._or_like(word, query, n, weight)
        if is_last and not optional:
            query = self._or_longer(word, query, n, weight)
        return _Concept(query, weight, optional)

    def _found_by(self, stem: str, weight: float, elsewhere: Iterable[str] = ()) -> Any:
        spoken = [part for part in elsewhere if self._frequency("stems", part)]
        others = [self._queries.term("stems", part, weight) for part in spoken]
        return self._anywhere(stem, weight, _STEMMED, *others)

    def _or_like(self, word: str, query: Any, n: int, weight: float) -> tuple[Any, float]:
        """Read a word that hardly a page has as one that many have, too; as rare as that is."""
        found = meant(word, self._vocabulary)
        likely = [pair for pair in found if self._vocabulary.pages_with(pair[0]) >= _MANY * n]
        if not likely:
            return query, weight
        common = max(self._inverse(self._vocabulary.pages_with(one)) for one, _ in likely)
        parts = [self._as_meant(one, common * p) for one, p in likely]
        self._words.extend(one for one, _ in likely)
        literal = self._queries.times(query, common / weight)
        return self._queries.best([literal, *parts], 0.0), common

    def _or_longer(self, word: str, query: Any, n: int, weight: float) -> Any:
        """Read a word that few pages have as the beginning of one that many have, too."""
        longer = self._longer(word)
        if not longer or longer[0][1] < n:
            return query
        parts = [self._as_meant(one, weight * _LIKE) for one, _ in longer[:4]]
        return self._queries.best([query, *parts], 0.0)

    def _of_code(self, code: str, tokens: list[str], *, is_last: bool) -> _Concept | None:
        """Return what finds a token of code: as typed, or by its parts next to each other."""
        n = max(self._frequency("codes", code), self._frequency("terms", code))
        if n == 0:
            longer = self._longer(code)[:6] if is_last else []
            if longer:
                self._words.extend(one for one, _ in longer)
                weight = self._inverse(longer[0][1])
                parts = [self._as_meant(one, weight) for one, _ in longer]
                return _Concept(self._queries.best(parts, 0.0), weight)
            return self._of_parts(code, tokens)
        self._words.append(code)
        weight = self._inverse(n)
        rows = [
            self._queries.phrase(field, tokens, boost * weight)
            for field, boost in (("title", 3.0), ("headings", 2.0), ("text", 0.7))
            if len(tokens) > 1
        ]
        return _Concept(self._anywhere(code, weight, _TYPED, *rows), weight)

    def _of_parts(self, code: str, tokens: list[str]) -> _Concept | None:
        """Return what finds the parts of a token that nobody typed so."""
        if len(tokens) > 1 and all(self._frequency("text", token) for token in tokens):
            self._words.append(code)
            return self._together(tokens)
        meant_by = meant(code, self._vocabulary) if code[0].isalnum() else []
        if meant_by:
            return self._as_corrected(code, meant_by)
        words = [word for word in as_name(code).split() if word]
        parts = [self._of_one(Wanted(word), is_last=False) for word in words[:MOST_TOKENS]]
        known = [part for part in parts if part is not None]
        if not known:
            return None
        query = self._queries.sum([part.query for part in known])
        return _Concept(query, sum(part.weight for part in known))

    def _together(self, tokens: list[str]) -> _Concept:
        """Return what finds words that stand next to each other."""
        weight = self._idf("text", tokens)
        parts = [
            self._queries.phrase(field, tokens, boost * weight)
            for field, boost in (("text", 1.0), ("title", 3.0), ("headings", 2.0))
        ]
        return _Concept(self._queries.best(parts, _TIE), weight)

    def _meant(self, word: str) -> _Concept | None:
        """Return what finds a word that no page has: longer ones, or those like it."""
        longer = self._longer(word)[:8]
        if longer:
            self._words.extend(one for one, _ in longer)
            weight = self._inverse(longer[0][1])
            parts = [self._as_meant(one, weight) for one, _ in longer]
            return _Concept(self._queries.best(parts, 0.1), weight)
        likely = meant(word, self._vocabulary)
        stem = None if likely else self._vocabulary.stem_of_beginning(word)
        return self._as_corrected(word, [(stem, 1.0)] if stem else likely)

    def _longer(self, text: str) -> list[tuple[str, int]]:
        """Return what begins so and is common enough to be meant; of a word, words first."""
        if len(text) < 3:
            return []
        found = [(one, n) for one, n in self._vocabulary.beginning(text) if one != text]
        plain = [pair for pair in found if not is_code(pair[0])]
        found = plain if plain and not is_code(text) else found
        return [pair for pair in found if 20 * pair[1] >= found[0][1]]

    def _as_corrected(self, word: str, likely: list[tuple[str, float]]) -> _Concept | None:
        if not likely:
            return None
        self._corrected.append((word, likely[0][0]))
        self._words.extend(one for one, _ in likely)
        weight = max(self._inverse(self._vocabulary.pages_with(one)) for one, _ in likely)
        parts = [self._as_meant(one, weight * likelihood) for one, likelihood in likely]
        return _Concept(self._queries.best(parts, 0.0), weight)

    def _as_meant(self, token: str, weight: float) -> Any:
        if is_code(token):
            return self._anywhere(token, weight, _TYPED)
        known = self._frequency("text", token)  # it may be a stem already
        return self._found_by(token if known else self._vocabulary.stem(token), weight)

    def _bonuses(self, asked: ReadQuery, concepts: Sequence[_Concept]) -> list[Any]:
        """Prefer pages that are called so, and those that have the words next to each other."""
        plain = [group[0] for group in asked.groups if len(group) == 1 and not group[0].field]
        if len(plain) != len(asked.groups) or not concepts:
            return []
        weight = sum(concept.weight for concept in concepts)
        bonuses = []
        name = as_name(" ".join(wanted.text for wanted in plain))
        if name and self._frequency("name", name):
            named = self._queries.term("name", name, 1.0)
            bonuses.append(self._queries.flat(named, _NAMED * weight))
        if name and (n := self._frequency("sections", name)):
            explained = self._queries.term("sections", name, 1.0)
            bonuses.append(self._queries.flat(explained, _NAMED * weight / math.sqrt(n)))
        tokens = [token for word in plain for token in self._stems.analyze(word.text)]
        for field, rare, boost in (
            ("title", _RARE_IN_TITLES, 3.0),
            ("headings", _RARE_IN_TITLES, 2.0),
            ("text", _RARE, 1.0),
        ):
            for pair in self._runs(tokens):
                if min(self._frequency(field, token) for token in pair) > rare:
                    continue
                worth = 0.5 * boost * self._idf("text", pair)
                bonuses.append(self._queries.phrase(field, pair, worth, _NEAR))
        return bonuses

    def _runs(self, tokens: list[str]) -> list[list[str]]:
        """Return what may stand together: all words, and each two neighbours."""
        words = [token for token in tokens if token not in _QUESTION][:8]
        if len(words) < 2:
            return []
        pairs = [words[row : row + 2] for row in range(len(words) - 1)]
        return pairs if len(words) == 2 else [words, *pairs]

    def _never(self, wanted: Wanted) -> Any:
        if wanted.field == "host":
            return self._host(wanted.text)
        tokens = self._stems.analyze(wanted.text)[:MOST_TOKENS]
        fields = [wanted.field] if wanted.field else ["title", "text"]
        parts = [self._queries.phrase(field, tokens, 1.0) for field in fields if tokens]
        return self._queries.best(parts, 0.0) if parts else self._queries.none()

    def _host(self, text: str) -> Any:
        name = text.lower().removeprefix("http://").removeprefix("https://").strip("/")
        return self._queries.host(name)

    def _idf(self, field: str, tokens: Iterable[str]) -> float:
        return sum(self._inverse(self._frequency(field, token)) for token in tokens) or 1.0

    def _inverse(self, n: int) -> float:
        """Return the weight of a word that so many pages have (BM25's)."""
        return inverse(n, self._n)


def told_of(corrected: tuple[str, str]) -> str:
    """Say to people that a word was read as another."""
    word, likely = corrected
    return f"no page has {word!r}; {likely!r} was looked for"
