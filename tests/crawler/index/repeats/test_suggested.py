"""Links that pages suggest beside their text, and that are others whenever the site is made."""

import random

import pytest

from recrawl.crawler.index.repeats import suggested
from recrawl.crawler.index.repeats.drawn import as_it_is
from recrawl.crawler.index.repeats.own_text import OwnText
from recrawl.crawler.index.repeats.suggested import Suggestions
from recrawl.terms import Document

TITLES = [f"Of {one} and {other}" for one in ("lamps", "ropes", "bells") for other in range(99)]
LINKS = tuple((f"http://a.test/{n}", title) for n, title in enumerate(TITLES))


def page(number: int, shown: list[str], told: str = "", head: str = "Read on") -> Document:
    """A page of a text, with links to others below it, and dates beside them."""
    text = (
        f"What happened to {number} that day, and what became of it.\nAnd more: {told or number}."
    )
    listed = "\n".join(f"{title} Mon Nov 02 2026" for title in shown)
    text = f"{TITLES[number]}\n{text} {'It went on. ' * 12}\n{head}\n{listed}\nThe end of {number}"
    return Document(f"http://a.test/{number}", TITLES[number], text, 0.0, b"s", links=LINKS)


def drawn(seed: int) -> list[str]:
    return random.Random(seed).sample(TITLES, 4)


def test_links_that_were_replaced_on_three_other_pages_are_no_change() -> None:
    """The same page again and again is one page; what is edited beside them is a change."""
    suggestions = Suggestions(as_it_is)

    def same(number: int, told: str = "", head: str = "Read on") -> bool:
        before = page(number, drawn(number), head=head).text
        return suggestions.same(page(number, drawn(number + 50), told, head), before)

    assert not any(same(number) for number in (1, 1, 1, 1, 2, 3))
    assert all(same(number) for number in (4, 5, 1))
    assert not same(6, told="edited")
    assert not same(7, head="See also")


@pytest.mark.parametrize("what", ["one", "more", "words", "of elsewhere", "a list"])
def test_what_is_edited_in_a_list_of_links_is_a_change(what: str) -> None:
    """One link for another, more of them, what is no link of the host, or of a page that lists."""
    suggestions = Suggestions(as_it_is)
    for number in (1, 2, 3):
        suggestions.same(page(number, drawn(number + 50)), page(number, drawn(number)).text)
    before, after = drawn(9), drawn(90)
    if what == "one":
        after = [*before[:3], next(title for title in TITLES if title not in before)]
    elif what == "more":
        after = [*before, *(title for title in TITLES if title not in before)][:6]
    elif what == "words":
        after = [*after[:3], "As Ann has said"]
    now = page(9, after)
    if what == "of elsewhere":
        links = tuple((url.replace("a.test", "b.test"), text) for url, text in LINKS)
        now = Document(now.url, now.title, now.text, 0.0, b"s", links=links)
    held = page(9, before).text
    if what == "a list":
        now = Document(
            now.url, now.title, now.text.replace("It went on. ", ""), 0.0, b"s", links=LINKS
        )
        held = held.replace("It went on. ", "")
        now = Document(
            now.url, now.title, "\n".join(now.text.split("\n")[2:]), 0.0, b"s", links=LINKS
        )
        held = "\n".join(held.split("\n")[2:])

    assert not suggestions.same(now, held)


def test_a_site_that_is_built_anew_tells_of_three_pages_and_of_those_that_were_edited() -> None:
    """Though each of its pages suggests others then, below a line that its host repeats."""
    own = OwnText()
    told = []
    for number in range(30):
        own.learn(page(number, drawn(number)))
    for number in range(30):
        before = page(number, drawn(number))
        now = page(number, drawn(number + 50), "edited" if number in (4, 20) else "")
        parted = own.parted(before)
        if not own.same(now, before.title, parted.text, parted.kept):
            told.append(number)

    assert told == [0, 1, 2, 4, 20]


def test_places_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that were seen first are forgotten."""
    monkeypatch.setattr(suggested, "_MOST_PLACES", 20)
    suggestions = Suggestions(as_it_is)
    for number in range(25):
        now = page(1, drawn(2), head=f"Read {number}")
        suggestions.same(now, page(1, drawn(1), head=f"Read {number}").text)

    assert len(suggestions._pages) == 20
