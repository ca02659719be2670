"""What PostgreSQL is asked for, and what its answers are worth."""

import json
from typing import Any

import pytest

from recrawl.crawler.index.lexemes import lexemes_of
from recrawl.crawler.index.repeats.own_text import Parted
from recrawl.crawler.index.searching.sql_queries import SqlQueries, SqlQuery
from recrawl.crawler.index.words import stems
from recrawl.terms import Document


class Asked:
    """A database in which some lexemes are on so many pages."""

    def __init__(self, **pages: int) -> None:
        self.pages, self.n_statements = pages, 0

    def __call__(self, query: str, values: dict[str, Any]) -> list[tuple[Any, ...]]:
        self.n_statements += 1
        if query.startswith("EXPLAIN"):
            n = self.pages[str(values["query"]).strip("'")]
            return [(json.loads(f'[{{"Plan": {{"Plan Rows": {n}}}}}]'),)]
        if "FROM word" in query:
            first, end = str(values["first"]), str(values["end"])
            found = sorted(word for word in self.pages if first <= word < end)
            return [(word,) for word in found[: values["limit"]]]
        pages = {one: self.pages.get(one, 0) for one in values["lexemes"]}
        return [(one, min(n, values["most"])) for one, n in pages.items()]


def queries(**pages: int) -> SqlQueries:
    return SqlQueries(Asked(**pages), stems("english"), 100)


def worth(made: SqlQueries, query: SqlQuery, **told: float) -> float:
    """Return what a page is worth of which the server tells this; of all else nothing."""
    return query.worth([told.get(lexemes.strip("'"), 0.0) for _, lexemes in made.looked_at])


def test_a_word_is_worth_more_the_shorter_the_text() -> None:
    """As much as its weight where it stands once in a usual text: the server says 6/pi^2 then."""
    made = queries()
    once = made.term("text", "boat", 3.0)
    titled = made.term("title", "boat", 3.0)
    rows = list(made.looked_at)
    length = next(row for row, (look, _) in enumerate(rows) if look.startswith("COALESCE"))

    def of(words: float) -> float:
        told = [0.6079] * len(rows)
        told[length] = words
        return once.worth(told)

    assert of(1.0) == pytest.approx(3.0, rel=1e-3)
    assert of(0.5) > of(1.0) > of(4.0) > of(10.0) == of(99.0) > 0.0
    assert titled.worth([0.6079] * len(rows)) == pytest.approx(3.0, rel=1e-3)


def test_words_stand_near_each_other_where_that_is_asked_for() -> None:
    """With others between two of them; more than two stand in a row."""
    made = queries()

    assert made.phrase("text", ["a", "b"], 1.0).found_by == "(('a':D <1> 'b':D))"
    near = made.phrase("title", ["a", "b"], 2.0, 2)
    assert near.found_by == "(('a':A <1> 'b':A) | ('a':A <2> 'b':A) | ('a':A <3> 'b':A))"
    assert made.phrase("text", ["a", "b", "c"], 1.0, 2).found_by.count("<") == 2
    assert near.worth([0.0, 1.0, 0.0, 0.0]) == 2.0


def test_some_of_many_words_are_enough() -> None:
    """What finds them stays short, however many there are."""
    made = queries()
    some = [made.term("title", one, 1.0) for one in "abcd"]

    found_by = made.sum(some=some, least=3, never=[made.term("title", "x", 1.0)]).found_by
    assert found_by.count("&") == 4 * 2 + 1
    assert found_by.endswith("& !'x')")
    assert made.sum(some=some).found_by.count("|") == 3
    long = [made.term("title", f"w{n}", 1.0) for n in range(20)]
    assert len(made.sum(some=long, least=12).found_by) < 3_000
    assert worth(made, made.sum(some[:1], some[1:]), a=0.6079, c=0.6079) == pytest.approx(2.0, 1e-3)


def test_the_best_counts_and_a_share_of_the_others() -> None:
    made = queries()
    parts = [made.times(made.term("title", one, 1.0), 2.0) for one in "ab"]

    assert worth(made, made.best(parts, 0.5), a=0.6079, b=0.304) == pytest.approx(2.5, rel=1e-3)
    flat = made.flat(parts[0], 7.0)
    assert (worth(made, flat, a=0.1), worth(made, flat, b=0.1)) == (7.0, 0.0)


def test_what_very_many_pages_have_is_counted_by_guess() -> None:
    """One statement counts any number of words, and each is counted once."""
    made = queries(boat=7, sea=5_000)

    assert made.counted(["boat", "sea", "none"]) == {"boat": 7, "sea": 5_000, "none": 0}
    n = made._ask.n_statements  # type: ignore[attr-defined]
    assert (made.frequency("text", "sea"), made.frequency("anchors", "sea")) == (5_000, 0)
    assert made._ask.n_statements == n == 2  # type: ignore[attr-defined]


def test_words_are_known_by_their_stems_or_as_they_are_typed() -> None:
    """And by what they begin with."""
    words = queries(vacuum=9, **{"c max_size": 2, "vacant": 1}).words

    assert words.known(["vacuuming", "max_size", "none"]) == {"vacuuming": 9, "max_size": 2}
    assert words.beginning("vac") == [("vacuum", 9), ("vacant", 1)]
    assert words.beginning("max", like=lambda one: one != "max_size") == []
    assert words.beginning("max") == [("max_size", 2)]
    assert words.stem_of_beginning("vacuumi") == "vacuum"
    assert words.stem_of_beginning("zzzzzz") is None


def test_a_lexeme_has_the_places_that_the_server_keeps() -> None:
    """Of one that stands everywhere the first 255, none beyond the last that it tells apart."""
    text = "boat " * 300 + "sea " * 20_000 + "end"
    page = Document("http://a.test/", "A boat", text, 1.0, b"s")
    found = lexemes_of(page, Parted(text, "", "", ""), stems("english"), None)
    told = dict(one.rsplit(":", 1) for one in found.all.split(" '"))

    assert len(told["boat'"].split(",")) == 255
    assert told["end'"] == "16383D"
    assert (found.n_words, "sea" in found.named) == (20_301, False)
