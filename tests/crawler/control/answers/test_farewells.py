"""Texts with which pages end."""

from collections.abc import Iterable
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.crawler.control.answers.farewells import Farewells
from recrawl.terms import PageState, VisitedPage

A, B, DAY_S = "http://a.test", "http://b.test", 86_400.0
OVER = "This offer is over, see all the others"


def own(name: str) -> str:
    """Return what a page says of its own."""
    return " ".join(f"word{crc32(name.encode())}x{n}" for n in range(9))


class Site:
    """Pages of a host as a crawl sees them."""

    def __init__(self) -> None:
        self.farewells = Farewells()
        self._held: dict[str, bytes] = {}

    def visit(self, name: str, text: str | None = None, *, day: float, host: str = A) -> bool:
        """Tell whether a page is found to have ended; by default it says what is its own."""
        url, said = f"{host}/{name}", own(name) if text is None else text
        before, after = self._held.get(url), said.encode()
        self._held[url] = after
        return self.farewells.observe(
            url, said, before=before, after=after, is_held=True, now_s=day * DAY_S
        )

    def lives_through(self, ends: Iterable[tuple[str, float]], *, others: int = 8) -> bool:
        """Have pages end, each on its day, beside others that stay; tell whether the last has."""
        ended = False
        for name, day in ends:
            for n in range(others):
                self.visit(f"stays{n}", day=day)
            self.visit(name, day=day)
            ended = self.visit(name, OVER, day=day + 0.01)
        return ended


FIVE = [(f"offer{n}", n / 2) for n in range(5)]  # on as many half days


def test_what_pages_come_to_say_one_after_another_is_how_they_end() -> None:
    site = Site()

    assert not site.lives_through(FIVE[:4])
    assert site.lives_through(FIVE[4:])
    assert site.visit("offer0", OVER, day=3.0), "it was not known yet when this one ended"
    assert site.visit("never-seen", OVER, day=3.0)
    assert not site.visit("stays0", day=3.0)
    assert not site.visit("offer0", OVER, day=3.0, host=B)


def test_what_tells_whose_it_is_is_none() -> None:
    """As of builds that have passed one after the other."""
    site = Site()
    for n in range(40):
        for one in range(8):
            site.visit(f"stays{one}", day=n / 2)
        site.visit(f"build/{n}", f"Build {n} is running now", day=n / 2)
        assert not site.visit(f"build/{n}", f"Build {n} has passed now", day=n / 2 + 0.1)


@pytest.mark.parametrize(
    ("ends", "others"),
    [
        ([(f"offer{n}", 1.0 + n / 100) for n in range(20)], 8),  # at once, as by an edit
        ([(f"offer{n}", n / 2) for n in range(20)], 0),  # and nothing else is said
        ([("offer0", n / 2) for n in range(2)], 8),
    ],
    ids=["on-one-day", "a-closed-site", "one-page"],
)
def test_other_ways_to_say_the_same_are_no_end(ends: list[tuple[str, float]], others: int) -> None:
    site = Site()

    assert not site.lives_through(ends, others=others)


def test_what_pages_leave_again_is_no_end() -> None:
    """As lists do that have nothing to list for a while."""
    site = Site()
    assert site.lives_through(FIVE)

    site.visit("offer0", day=4.0)

    assert not site.visit("offer1", OVER, day=4.0)


@pytest.mark.parametrize("is_held", [True, False])
def test_also_where_they_had_gone_for_it(*, is_held: bool) -> None:
    """They are not held any more by then, and say whether that was right."""
    farewells = known(5)
    assert farewells.passed(f"{A}/0", OVER.encode())

    before, after = OVER.encode(), own("0").encode()
    farewells.observe(f"{A}/0", own("0"), before=before, after=after, is_held=is_held, now_s=0.0)

    assert not farewells.passed(f"{A}/1", OVER.encode())


def test_what_had_gone_and_is_over_again_is_no_page_that_ends() -> None:
    """It is not there when it comes to say so."""
    farewells = Farewells()
    for n in range(20):
        farewells.passed(f"{A}/stays", b"stays")
        farewells.passed(f"{A}/stays", b"stays")
        assert not farewells.observe(
            f"{A}/{n}", OVER, before=b"own", after=b"over", is_held=False, now_s=n * DAY_S
        )


def test_what_pages_have_always_said_is_no_end() -> None:
    site = Site()
    for n in range(20):
        site.visit("stays", day=n / 2)
        assert not site.visit(f"new{n}", OVER, day=n / 2)
        assert not site.visit(f"new{n}", OVER, day=n / 2)


def test_a_text_of_hardly_a_word_is_none() -> None:
    site = Site()
    for n in range(20):
        site.visit("stays", day=n / 2)
        site.visit(f"new{n}", day=n / 2)
        assert not site.visit(f"new{n}", "Over", day=n / 2)


def test_what_is_not_read_again_is_told_by_what_it_said() -> None:
    """Pages that stay count as others all the same."""
    site = Site()
    for n in range(5):
        site.visit(f"offer{n}", day=n / 2)
        site.visit(f"offer{n}", OVER, day=n / 2)
        for one in range(3):
            assert not site.farewells.passed(f"{A}/stays{one}", own(f"stays{one}").encode())

    assert site.farewells.passed(f"{A}/offer0", OVER.encode())
    assert not site.farewells.passed(f"{A}/stays0", own("stays0").encode())


def known(n: int, *, changes: int = 1, apart: float = 1.0, others: int = 9) -> Farewells:
    """Return what is learned of pages that hold one text since different days, and of others."""
    farewells = Farewells()
    held, day = PageState.INDEXED, DAY_S * apart
    farewells.recall(
        [
            VisitedPage(f"{A}/{one}", held, OVER.encode(), 200, changes, one * day)
            for one in range(n)
        ]
        + [VisitedPage(f"{A}/o{one}", held, b"%d" % one, 200, 9, 0.0) for one in range(others)]
    )
    return farewells


@pytest.mark.parametrize(
    ("pages", "is_over"),
    [
        (known(5), True),
        (known(4), False),
        (known(5, changes=2), True),
        (known(5, changes=3), False),  # as lists that have nothing to list for once
        (known(5, changes=0), False),  # they never said anything else
        (known(5, apart=0.25), False),  # on two days
        (known(20), False),  # and of most others nothing is known
    ],
)
def test_a_process_that_starts_knows_what_pages_have_ended_with(
    pages: Farewells, *, is_over: bool
) -> None:
    """As one that makes a single pass each night."""
    assert pages.passed(f"{A}/0", OVER.encode()) is is_over
    assert not pages.passed(f"{B}/0", OVER.encode())
    assert not pages.passed(f"{A}/o1", b"1")


def test_what_pages_have_gone_with_is_known_however_many_are_left() -> None:
    farewells = Farewells()
    gone = [VisitedPage(f"{A}/{n}", PageState.GONE, b"over", 200, 1, None) for n in range(40)]
    farewells.recall([*gone, VisitedPage(f"{A}/none", PageState.GONE, None, 404, 1, None)])
    farewells.passed(f"{A}/stays", b"stays")

    assert farewells.passed(f"{A}/another", b"over")


def test_what_a_page_leaves_again_is_forgotten() -> None:
    farewells = known(5)
    farewells.observe(
        f"{A}/0", own("0"), before=OVER.encode(), after=b"own", is_held=True, now_s=0.0
    )

    assert not farewells.passed(f"{A}/1", OVER.encode())


@given(st.lists(st.tuples(st.integers(0, 6), st.booleans()), max_size=80))
def test_pages_that_say_something_of_their_own_have_never_ended(
    visits: list[tuple[int, bool]],
) -> None:
    """Whatever the others do."""
    site = Site()
    for at, (n, is_over) in enumerate(visits):
        ended = site.visit(f"page{n}", OVER if is_over else None, day=at / 3)
        assert is_over or not ended
