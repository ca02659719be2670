"""Hosts that answer whatever they are asked for alike."""

from recrawl.crawler.control import refusals
from recrawl.crawler.control.refusals import Refusals, Verdict
from recrawl.terms import Extract

HOUR_S = 3_600.0
NOTHING, DOUBTED = Verdict(), Verdict(is_doubted=True)
BEGUN = Verdict(is_doubted=True, refuses=True, is_news=True)
REFUSED = Verdict(is_doubted=True, refuses=True)


def url(number: int) -> str:
    return f"https://a.test/of/{number}"


class Host:
    """What is said by pages; it refuses from some instant to another."""

    def __init__(self) -> None:
        self.refusals, self.at_s = Refusals(), 0.0

    def says(
        self,
        page: int,
        text: str | None = None,
        *,
        is_other: bool = False,
        n_links: int = 0,
        noindex: bool | None = None,
    ) -> Verdict:
        self.at_s += 1.0
        said = f"What is said on page {chr(97 + page % 26)}{page}" if text is None else text
        title = "" if text is not None else f"{page % 7 * 'a'}{page % 11 * 'b'}"
        extract = Extract(
            title=title,
            text=said.replace("#", f"4{page}-x9"),
            signature=b"",
            links=tuple(f"https://a.test/{n}" for n in range(n_links)),
            noindex=text is not None if noindex is None else noindex,
        )
        return self.refusals.observe(url(page), extract, self.at_s, is_other=is_other)

    def passed(self, page: int) -> Verdict:
        self.at_s += 1.0
        return self.refusals.passed(url(page), self.at_s)


def begun() -> Host:
    """Return a host of which ten pages were read."""
    host = Host()
    assert [host.says(page) for page in range(10)] == [NOTHING] * 10
    return host


PUZZLE = "Are you human? Incident ID: #"


def test_the_page_before_a_row_tells_that_the_host_refuses() -> None:
    """Then nothing counts until one says something else; what was refused is asked for again."""
    host = begun()
    row = [host.says(page, PUZZLE) for page in range(20, 29)]

    assert row == [NOTHING] * 7 + [Verdict(is_doubted=True, ask=(url(9),)), DOUBTED]
    assert host.says(9, PUZZLE, is_other=True) == BEGUN
    assert host.says(40, PUZZLE) == REFUSED
    assert host.says(41) == Verdict(ask=(*map(url, range(20, 29)), url(9), url(40)))
    assert host.says(42) == NOTHING


def test_a_host_that_refuses_again_is_found_out_again() -> None:
    """That the page before says something else by then proves nothing of the next time."""
    host = begun()
    for page in (*range(20, 29), 9):
        host.says(page, PUZZLE)
    for page in (41, 9, 42, 43):
        host.says(page)

    row = [host.says(page, PUZZLE) for page in range(50, 58)]
    assert row[7] == Verdict(is_doubted=True, ask=(url(43),))
    assert host.says(43, PUZZLE) == BEGUN


def test_pages_that_are_held_tell_sooner() -> None:
    """Of three that say something else than before, and the same, not all were edited."""
    host = begun()

    assert [host.says(page, PUZZLE, is_other=True) for page in (3, 4)] == [NOTHING] * 2
    assert host.says(5, PUZZLE, is_other=True) == Verdict(is_doubted=True, ask=(url(9),))
    assert host.says(9, PUZZLE, is_other=True) == BEGUN


def test_many_that_are_held_tell_by_themselves() -> None:
    """Where nobody can ask for the one before."""
    host = begun()
    row = [host.says(page, PUZZLE, is_other=True) for page in range(8)]

    assert row == [NOTHING] * 2 + [Verdict(is_doubted=True, ask=(url(9),))] + [DOUBTED] * 4 + [
        BEGUN
    ]


def test_pages_that_say_the_same_are_believed_where_others_do_not() -> None:
    """Forms to sign in; also where the page before them is as it was. None is left out."""
    for answer in (Host.says, Host.passed):
        host = begun()
        row = [host.says(page, "Sign in to read #") for page in range(20, 30)]
        assert row[7].ask == (url(9),)
        assert answer(host, 9) == Verdict(ask=(url(27), url(28), url(29)))
        assert [host.says(page, "Sign in to read #") for page in range(30, 60)] == [NOTHING] * 30
        host.at_s += 2.0 * HOUR_S
        assert host.says(60, "Sign in to read #").ask != ()


def test_the_page_before_is_asked_again_where_its_answer_is_lost() -> None:
    host = begun()
    for page in range(20, 30):
        host.says(page, PUZZLE)
    host.at_s += 700.0

    assert host.says(30, PUZZLE).ask == (url(9),)


def test_the_page_before_tells_also_after_others() -> None:
    """As pages on their way come in between."""
    host = begun()
    for page in range(20, 30):
        host.says(page, PUZZLE)
    assert host.says(3) == Verdict(ask=(url(27), url(28), url(29)))
    host.says(9)

    assert [host.says(page, PUZZLE) for page in range(20, 40)] == [NOTHING] * 20


def test_pages_that_may_be_indexed_are_pages() -> None:
    """Copies of each other, or closed for an hour: others judge what all pages say."""
    host = begun()

    assert [host.says(page, PUZZLE, noindex=False) for page in range(20, 60)] == [NOTHING] * 40
    assert [host.says(page, PUZZLE, noindex=False, is_other=True) for page in range(10)] == (
        [NOTHING] * 10
    )


def test_nothing_is_doubted_where_nobody_can_be_asked() -> None:
    """As in a single pass; but many pages that said something else are proof."""
    host = begun()
    host.refusals._may_ask = False

    assert [host.says(page, PUZZLE) for page in range(20, 40)] == [NOTHING] * 20
    assert [host.says(page, PUZZLE, is_other=True) for page in range(8)] == [NOTHING] * 7 + [BEGUN]


def test_what_a_host_says_for_days_is_what_it_says() -> None:
    host = begun()
    for page in (3, 4, 5, 9):
        host.says(page, PUZZLE, is_other=True)
    assert host.says(6, PUZZLE, is_other=True) == REFUSED
    host.at_s += 49.0 * HOUR_S

    assert host.says(7, PUZZLE, is_other=True) == NOTHING


def test_hosts_of_which_little_is_known_and_pages_with_much_on_them_prove_nothing() -> None:
    host = Host()
    host.says(1)
    assert [host.says(page, PUZZLE) for page in range(20, 60)] == [NOTHING] * 40
    host = begun()
    links = [host.says(page, PUZZLE, n_links=5) for page in range(20, 60)]
    assert links == [NOTHING] * 40
    told = "It is told at length that nothing is here. " * 50
    assert [host.says(page, told) for page in range(20, 60)] == [NOTHING] * 40


def test_rows_and_hosts_are_bounded() -> None:
    host = begun()
    for page in range(20, 20 + 2 * refusals._MOST_PAGES):
        host.says(page, PUZZLE)
    host.says(9, PUZZLE, is_other=True)
    assert len(host.says(2).ask) == refusals._MOST_PAGES
    for number in range(refusals._MOST_HOSTS + 5):
        host.refusals.passed(f"https://{number}.test/", 0.0)
    assert len(host.refusals._hosts) == refusals._MOST_HOSTS


def denied(host: Host, page: int, how: str = "403", *, is_held: bool = True) -> Verdict:
    host.at_s += 1.0
    return host.refusals.turned_away(url(page), how, host.at_s, is_held=is_held)


def test_pages_that_are_held_and_denied_in_a_row_are_no_proof_without_the_one_before() -> None:
    """However many they are: a folder may be closed. The one before tells."""
    for how in ("403", "https://a.test/closed"):
        host = begun()
        row = [denied(host, page, how) for page in range(20, 40)]
        assert row[:3] == [NOTHING, NOTHING, Verdict(is_doubted=True, ask=(url(9),))]
        assert row[3:] == [DOUBTED] * 17
        assert denied(host, 9, how) == BEGUN
        assert denied(host, 50, how, is_held=False) == REFUSED
        assert host.passed(7).ask == (*map(url, range(20, 40)), url(9), url(50))


def test_pages_that_were_never_given_say_nothing_of_their_host() -> None:
    host = begun()

    assert [denied(host, page, is_held=False) for page in range(20, 60)] == [NOTHING] * 40


def test_the_place_that_all_are_led_to_is_no_page_that_is_given() -> None:
    host = begun()
    for page in (20, 21, 22, 9):
        denied(host, page, url(70))

    assert host.says(70) == NOTHING
    assert denied(host, 23, url(70)) == REFUSED
