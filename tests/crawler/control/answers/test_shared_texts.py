"""Changes that are likely a slip."""

from zlib import crc32

import pytest

from recrawl.crawler.control.answers.shared_texts import SharedTexts

A, B, DAY_S = "http://a.test", "http://b.test", 86_400.0
BACK = "We will be back in an hour"


def said(
    texts: SharedTexts,
    url: str,
    text: str = BACK,
    *,
    before: str = "",
    after: str = "",
    at_s: float = 0.0,
) -> bool:
    """Tell whether a change of a page is doubted; before it said what no other does."""
    own = " ".join(f"word{crc32(url.encode())}x{n}" for n in range(9))
    now = ("Back soon", text)
    marks = [(before or f"{url} before").encode(), (after or f"{url} {at_s}").encode()]
    others = texts.others_say(url, now, before=marks[0], after=marks[1], now_s=at_s)
    return others and texts.is_doubtful(url, now, ("A page", before or own), at_s)


def test_a_page_that_comes_to_say_what_another_has_come_to_say_is_doubted() -> None:
    texts = SharedTexts()

    found = [said(texts, f"{A}/one"), said(texts, f"{A}/two"), said(texts, f"{A}/six")]
    assert found == [False, True, True]
    assert not said(texts, f"{B}/two")


def test_also_where_it_tells_its_own_name_or_the_time() -> None:
    """The time is left out of signatures, and names are told by addresses."""
    texts = SharedTexts()
    said(texts, f"{A}/lamps", "Sorry, lamps cannot be shown, at 10:15", after="at")
    said(texts, f"{A}/sofas", "Sorry, sofas cannot be shown", after="none")

    assert said(texts, f"{A}/chairs", "Sorry, chairs cannot be shown")
    assert said(texts, f"{A}/tables", "Sorry, something cannot be shown, at 10:20", after="at")


def test_what_another_page_says_too_is_no_slip_where_both_always_said_the_same() -> None:
    texts = SharedTexts()
    told = "the news of all that has happened today"
    said(texts, f"{A}/index", before=told)

    assert not said(texts, f"{A}/news", before=told)
    assert said(texts, f"{A}/six", before="what else has been told of other things today")


@pytest.mark.parametrize(("kept", "is_slip"), [(3, True), (4, False)])
def test_what_still_says_half_of_its_words_was_edited(kept: int, *, is_slip: bool) -> None:
    """Of eight words, those of the title included."""
    texts = SharedTexts()
    said(texts, f"{A}/one")
    words = [*BACK.lower().split()[:kept], *"bcdefg"][:6]

    assert said(texts, f"{A}/two", before=" ".join(words)) == is_slip


def test_few_words_tell_nothing() -> None:
    texts = SharedTexts()

    assert not any(said(texts, f"{A}/{n}", "soon", after="closed") for n in range(9))


@pytest.mark.parametrize(("later_s", "again"), [(DAY_S - 1.0, False), (DAY_S, True)])
def test_a_page_is_doubted_once_a_day(later_s: float, *, again: bool) -> None:
    texts = SharedTexts()
    said(texts, f"{A}/one")
    said(texts, f"{A}/two")
    said(texts, f"{A}/one", "What else there is", at_s=later_s)

    assert said(texts, f"{A}/two", "What else there is", at_s=later_s) == again


@pytest.mark.parametrize(("later_s", "is_known"), [(DAY_S - 1.0, True), (DAY_S, False)])
def test_what_no_page_has_come_to_say_for_a_day_is_forgotten(
    later_s: float, *, is_known: bool
) -> None:
    texts = SharedTexts()
    said(texts, f"{A}/one")
    said(texts, f"{A}/two", at_s=DAY_S - 1.0)

    assert said(texts, f"{A}/six", at_s=DAY_S - 1.0 + later_s) == is_known


@pytest.mark.parametrize(("n_others", "is_known"), [(19_999, True), (20_000, False)])
def test_so_many_texts_are_remembered(n_others: int, *, is_known: bool) -> None:
    texts = SharedTexts()
    said(texts, f"{A}/one")
    for number in range(n_others):
        said(texts, f"{B}/", f"It is said for the time number {number}", at_s=float(number))

    assert said(texts, f"{A}/two") == is_known


@pytest.mark.parametrize(("n_others", "again"), [(19_999, False), (20_000, True)])
def test_so_many_pages_are_remembered_that_were_doubted(n_others: int, *, again: bool) -> None:
    texts = SharedTexts()
    said(texts, f"{A}/one")
    said(texts, f"{A}/two")
    said(texts, f"{B}/")
    for number in range(n_others):
        said(texts, f"{B}/{number}")

    assert said(texts, f"{A}/two") == again


def test_a_text_that_pages_say_and_leave_again_passes() -> None:
    """Two of late; whether the others are of the same host is told by it alone."""
    texts = SharedTexts()

    def passing(at_s: float, host: str = A) -> bool:
        return texts.is_passing(f"{host}/ten", b"closed", at_s)

    told = [passing(0.0)]
    for n, path in enumerate(("/one", "/two", "/six")):
        said(texts, A + path, after="closed", at_s=10.0 * n)
        said(texts, A + path, f"All there is of {path}", before="closed", at_s=10.0 * n + 5.0)
        told.append(passing(10.0 * n + 5.0))

    assert told == [False, False, True, True]
    assert not passing(25.0, B)
    said(texts, f"{A}/ten", after="closed", at_s=25.0 + DAY_S)
    assert not passing(25.0 + DAY_S)
