"""Parameters that mean nothing, as first visits show them."""

import pytest

from recrawl.crawler.control import void_parameters
from recrawl.crawler.control.void_parameters import VoidParameters

A = "http://a.test"


def test_a_parameter_is_void_once_twenty_pages_said_what_another_said_without_it() -> None:
    void, known = VoidParameters(), []
    for number in range(22):
        void.observe(f"{A}/?of={number}", 7)
        known.append(void.repeats(f"{A}/?of=x") is not None)

    assert known == [False] * 20 + [True] * 2


@pytest.mark.parametrize(
    ("path", "other"),
    [
        ("/post/{}", "/post/{}/"),
        ("/post/{}/index.html", "/post/{}/"),
        ("/post/{}?a=1", "/post/{}/?a=1"),
        ("/post/{}", "/Post/{}"),
        ("/post?id={}&a=1", "/post?a=1&id={}"),
        ("/post?of=a+{}", "/post?of=a%20{}"),
    ],
)
def test_how_an_address_is_spelt_is_void_once_twenty_pages_said_the_same(
    path: str, other: str
) -> None:
    """Neither a page of which no other spelling was read, nor the one that was read."""
    void, known = VoidParameters(), []
    for number in range(22):
        void.observe(A + path.format(number), number)
        known.append(void.repeats(A + other.format(number)) is not None)
        void.observe(A + other.format(number), number)

    assert known == [False] * 20 + [True] * 2
    assert void.repeats(A + path.format(7)) is None
    assert void.repeats(A + other.format("x")) is None


@pytest.mark.parametrize("other", ["/Post/{}", "/post/{}/"])
def test_spellings_of_which_pages_say_another_thing_are_pages(other: str) -> None:
    void = VoidParameters()
    for number in range(60):
        void.observe(f"{A}/post/{number}", number)
        void.observe(A + other.format(number), number if number < 57 else -number)

    assert void.repeats(A + other.format(1)) is None


def test_names_that_a_host_makes_up_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of those that came first the counts go on; no other is ever void."""
    monkeypatch.setattr(void_parameters, "_MOST_KEPT", 1)
    void = VoidParameters()
    known = []
    for name in ("first", "later"):
        for number in range(40):
            void.observe(f"{A}/{name}?{name}={number}", 7)
        known.append(void.repeats(f"{A}/{name}?{name}=x"))

    assert known == [(A, "first"), None]
