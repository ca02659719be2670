"""Languages: as a page declares, else as its words look; each is stemmed by its own rules."""

from pathlib import Path

import pytest

from recrawl.crawler.fetch.reading.extract import PageExtractor
from recrawl.crawler.index import languages
from recrawl.crawler.index.languages import Languages
from recrawl.crawler.index.tantivy import TantivyIndex
from recrawl.terms import Document, FetchResponse

GERMAN = "Die Häuser der Gärtner stehen am Ufer, und abends gehen die Kinder spazieren. " * 4
ENGLISH = "The houses of the gardeners stand by the river, and children walk there at night. " * 4
FINNISH = "Talojen ikkunoista näkyy valoja, ja lapset kävelevät illalla joen rannalla kotiin. " * 4


def page(name: str, text: str, language: str = "") -> Document:
    return Document(f"http://a.test/{name}", name, text, 1.0, b"s", (), language)


@pytest.mark.parametrize(
    ("expected", "text", "declared"),
    [
        ("german", GERMAN, ""),
        ("english", ENGLISH, ""),
        ("finnish", FINNISH, ""),
        ("french", GERMAN, "fr-CA"),
        ("german", "kurz", "DE_at"),
        (None, GERMAN, "tlh"),
        (None, "zu kurz", ""),
        ("english", "0x3f 0x4f (1, 2) " * 40, ""),
        (None, "12 (1, 2) " * 40, ""),
    ],
)
def test_a_page_is_in_the_language_that_it_says_or_looks_like(
    expected: str | None, text: str, declared: str
) -> None:
    """What it declares counts, whatever its words; too few of them tell nothing."""
    assert Languages().of(page("x", text, declared)) == expected


SPANISH = "Las casas de los jardineros están junto al río, y por la noche los niños pasean. " * 4
RUSSIAN = "Дома садовников стоят на берегу, а вечером дети гуляют там, и это им нравится. " * 4
GREEK = "Τα σπίτια των κηπουρών βρίσκονται δίπλα στο ποτάμι. " * 6
JAPANESE = "庭師の家は川のそばにあり、夜になると子供たちがそこを散歩します。" * 10
TABLE = "std::vector<int> push_back(T&&) noexcept; size_type max_size(void) const; " * 6
SWEDISH = (
    "Trädgårdsmästarnas hus ligger vid floden, och på kvällarna går barnen där och leker. " * 4
)


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        ("english", ENGLISH),
        ("swedish", SWEDISH),
        ("spanish", SPANISH),
        ("russian", RUSSIAN),
        ("greek", GREEK),
        (None, JAPANESE),
        ("english", TABLE),
    ],
)
def test_most_pages_need_no_detector(
    monkeypatch: pytest.MonkeyPatch, expected: str | None, text: str
) -> None:
    """Which takes 80 MB: words that mean little, and letters, tell the language."""
    monkeypatch.setattr(languages, "_detector", lambda: pytest.fail("was asked"))

    assert Languages().of(page("x", text)) == expected


def test_what_words_do_not_tell_is_detected_where_that_can_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two languages on one page; without the package such a page counts as in none."""
    turkish = "Bahçıvanların evleri nehrin kıyısındadır ve akşamları çocuklar orada yürür. " * 4
    assert Languages().of(page("x", turkish)) == "turkish"
    monkeypatch.setattr(languages, "_detector", lambda: None)
    assert Languages().of(page("x", turkish)) is None


def test_a_page_or_two_in_doubt_are_not_worth_a_detector(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name with an accent among code; but where such pages are more than one in fifty."""
    asked: list[str] = []
    monkeypatch.setattr(languages, "_detected", asked.append)
    told = Languages()
    doubtful = page("x", TABLE.replace("push", "Ángel", 3))
    for _ in range(250):
        assert told.of(page("x", ENGLISH)) == "english"
    for _ in range(5):
        assert told.of(doubtful) is None
    assert not asked
    told.of(doubtful)
    assert len(asked) == 1
    few = Languages()
    for _ in range(5):
        few.of(doubtful)
    assert len(asked) == 2


def test_words_of_two_languages_tell_neither(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of German's common words on this page are Dutch too."""
    monkeypatch.setattr(languages, "_detected", lambda _: "detected")

    assert Languages().of(page("x", GERMAN)) == "detected"


def test_the_language_is_read_from_the_page() -> None:
    """From the attribute of its outermost element."""
    body = b"<html lang=de-AT><title>T</title><main>Text</main>"
    found = PageExtractor("recrawl").page(FetchResponse("http://a.test/", 200, body, "text/html"))

    assert Document.of("http://a.test/", found, 1.0).language == "de-AT"


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("Haus Kind", "german"),
        ("gärtnern", "german"),
        ("walking gardener", "english"),
        ("ikkunoissa", "finnish"),
    ],
)
def test_words_are_stemmed_by_the_language_of_their_page(
    tmp_path: Path, query: str, found: str
) -> None:
    """In one index, side by side; and again after it was opened anew."""
    index = TantivyIndex(tmp_path, language="auto")
    for name, text in (("german", GERMAN), ("english", ENGLISH), ("finnish", FINNISH)):
        index.replace(page(name, text))
    index.commit()
    index.close()

    index = TantivyIndex(tmp_path, read_only=True)
    hits = [hit.title for hit in index.search(query)[1]]
    index.close()

    assert hits[:1] == [found]


def test_a_language_that_was_set_holds_for_all(tmp_path: Path) -> None:
    """Nothing is detected, and nothing stemmed otherwise."""
    index = TantivyIndex(tmp_path, language="none")
    index.replace(page("german", GERMAN))
    index.commit()

    assert index.search("häuser")[0] == 1
    assert index.search("text:haus")[0] == 0
    index.close()


def test_copies_are_indexed_anew_by_another_language_and_keep_what_they_are(tmp_path: Path) -> None:
    """Once: at the next start nothing is left to do."""
    index = TantivyIndex(tmp_path, language="english")
    index.replace(page("1", "to fly home"))
    index.replace(page("2", "a leaf"))
    index.commit()

    def found(query: str) -> list[str]:
        return [hit.url.rpartition("/")[2] for hit in index.search(query)[1]]

    before = [index.copy(f"http://a.test/{name}") for name in "12"]
    assert (found("flies"), found("leaf")) == (["1"], ["2"])
    assert index.change_language("german") == 2
    assert (found("flies"), found("leaf")) == ([], ["2"])
    assert index.change_language("german") == 0
    index.close()
    index = TantivyIndex(tmp_path, language="english")
    assert (index.change_language("german"), found("flies")) == (0, [])
    assert [index.copy(f"http://a.test/{name}") for name in "12"] == before
    assert (index.change_language("auto"), found("flies")) == (2, ["1"])
    index.close()
