"""Parameters that mean nothing, as first visits show them."""

import pytest

from recrawl.crawler.control.addresses import void_parameters
from recrawl.crawler.control.addresses.void_parameters import VoidParameters

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
        ("/info/a{:09d}", "/info/a{:09d}bcdef0"),
        ("/info?of=a{:09d}bcdef0", "/info?of=a{:09d}"),
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
    assert void.repeats(A + other.format(99)) is None


@pytest.mark.parametrize("other", ["/Post/a{:09d}", "/post/a{:09d}/", "/post/a{:09d}bcdef0"])
def test_spellings_of_which_pages_say_another_thing_are_pages(other: str) -> None:
    void = VoidParameters()
    for number in range(60):
        void.observe(f"{A}/post/a{number:09d}", number)
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


@pytest.mark.parametrize("path", ["/red{0}/small", "/shop/red{0}/small/new"])
def test_folders_by_which_lists_are_chosen_have_no_order(path: str) -> None:
    void, known = VoidParameters(), []
    for number in range(22):
        chosen = path.format(f"x{number}")
        turned = "/".join(["", *reversed(chosen[1:].split("/"))])
        void.observe(A + chosen, number)
        known.append(void.repeats(A + turned) is not None)
        void.observe(A + turned, number)

    assert known == [False] * 20 + [True] * 2
    assert void.repeats(f"{A}/small/green") is None


@pytest.mark.parametrize("path", ["/{0}/{1}", "/2026/{0}/{1}", "/day/{0}/{1}?a=1"])
def test_numbers_have_an_order(path: str) -> None:
    """Nothing takes place on many days."""
    void = VoidParameters()
    for number in range(40, 99):
        void.observe(A + path.format(number, 11), 7)
        void.observe(A + path.format(11, number), 7)

    assert void.repeats(A + path.format(12, 11)) is None


@pytest.mark.parametrize("canonical", ["/thing-{}", "/c0/thing-{}"])
def test_categories_of_things_that_name_one_address_each_are_void(canonical: str) -> None:
    """What they name is not: nor are things of which no address is known, nor other hosts."""
    void, known = VoidParameters(), []
    for number in range(22):
        own = A + canonical.format(number)
        void.observe_canonical(f"{A}/c{1 + number % 5}/thing-{number}", own)
        known.append(void.repeats(f"{A}/other/thing-{number}") is not None)
        assert void.repeats(own) is None
        void.observe_canonical(f"{A}/c8/thing-{number}", own)

    assert known == [False] * 20 + [True] * 2
    assert void.repeats(f"{A}/other/thing-99") is None
    assert void.repeats("http://b.test/other/thing-1") is None


@pytest.mark.parametrize("own", ["/v{1}/guide-{0}", None])
def test_pages_that_are_called_alike_and_have_addresses_of_their_own_are_pages(
    own: str | None,
) -> None:
    """As in the versions of a manual."""
    void = VoidParameters()
    for number in range(60):
        for version in range(3):
            url = f"{A}/v{version}/guide-{number}"
            void.observe_canonical(url, own and A + own.format(number, version))

    assert void.repeats(f"{A}/v9/guide-1") is None


def test_versions_that_take_back_that_they_are_one_are_told_of() -> None:
    void = VoidParameters()
    for number in range(20):
        for version in range(2):
            void.observe_canonical(f"{A}/v{version}/guide-{number}", f"{A}/guide-{number}")

    assert void.observe_canonical(f"{A}/v2/guide-1", None) == [(A, "/*/")]
    assert void.repeats(f"{A}/v3/guide-1") is None
