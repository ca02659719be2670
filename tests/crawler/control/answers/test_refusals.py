"""Hosts that answer whatever they are asked for alike."""

from recrawl.crawler.control.answers import refusals
from recrawl.crawler.control.answers.refusals import Refusals, Verdict
from recrawl.terms import Extract, Outcome

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
        before: bytes | None = None,
    ) -> Verdict:
        self.at_s += 1.0
        said = f"What is said on page {chr(97 + page % 26)}{page}" if text is None else text
        title = "" if text is not None else f"{page % 7 * 'a'}{page % 11 * 'b'}"
        extract = Extract(
            title=title,
            text=said.replace("#", f"4{page}-x9"),
            signature=f"{title} {said}".encode(),
            links=tuple(f"https://a.test/{n}" for n in range(n_links)),
            noindex=text is not None if noindex is None else noindex,
        )
        held = b"was of %d" % page if is_other else before
        return self.refusals.observe(url(page), extract, self.at_s, before=held)

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


def test_pages_that_are_asked_again_amid_a_row_were_held_before_it() -> None:
    """Their copies went with the first answer, which is to be told from many copies of one text."""
    host = begun()
    host.refusals._may_ask = False

    row = [
        host.says(page, PUZZLE, is_other=is_other)
        for is_other in (True, False)
        for page in range(4)
    ]
    row += [host.says(page, PUZZLE, is_other=True) for page in range(4, 8)]
    assert row == [NOTHING] * 11 + [BEGUN]


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


NOTICE = "We will be back soon."


def told(host: Host, page: int, *, is_other: bool = True) -> Verdict:
    return host.says(page, NOTICE, noindex=False, n_links=60, is_other=is_other)


def test_pages_that_may_be_indexed_are_pages_unless_others_were_held() -> None:
    """Copies of each other, that is, which have nothing to lose."""
    host = begun()

    assert [told(host, page, is_other=False) for page in range(20, 60)] == [NOTHING] * 40


def test_a_notice_instead_of_pages_that_are_held_is_found_out_by_the_page_before() -> None:
    """Whatever is on it, and however many say so: else all would hold the same few words."""
    host = begun()
    row = [told(host, page) for page in (3, 4, 5, 6, 7, 8)]

    assert row == [NOTHING] * 2 + [Verdict(is_doubted=True, ask=(url(9),))] + [DOUBTED] * 3
    assert told(host, 9) == BEGUN
    assert told(host, 30, is_other=False) == REFUSED
    assert host.passed(2).ask == (*map(url, (3, 4, 5, 6, 7, 8, 9, 30)),)


def test_pages_that_took_a_notice_for_theirs_do_not_end_its_row() -> None:
    """By saying it again; one that was doubted does, as its copy says something else."""
    same = b" " + NOTICE.encode()
    for is_read in (False, True):
        host = begun()

        def again(page: int, host: Host = host, *, is_read: bool = is_read) -> Verdict:
            if not is_read:
                return host.passed(page)
            return host.says(page, NOTICE, noindex=False, before=same)

        assert [told(host, page) for page in (3, 4)] == [NOTHING] * 2
        assert again(3) == NOTHING
        assert told(host, 5).ask == (url(9),)
        assert told(host, 9) == BEGUN
        assert again(3) == NOTHING
        assert told(host, 6) == REFUSED
        assert host.passed(5).ask != ()


def test_a_text_that_stands_for_what_has_expired_is_asked_about_once_a_day() -> None:
    """Another one, or whether all are gone, is asked about all the same."""
    host = begun()
    row = [host.says(page, "It has expired.", noindex=False, is_other=True) for page in range(5)]
    assert row[2].ask == (url(9),)
    assert host.passed(9).ask == (*map(url, (2, 3, 4)),)
    row = [host.says(page, "It has expired.", noindex=False, is_other=True) for page in range(9)]
    assert row == [NOTHING] * 9
    host.passed(9)
    host.at_s += 20.0 * HOUR_S
    row = [host.says(page, "It has expired.", noindex=False, is_other=True) for page in range(9)]
    assert row == [NOTHING] * 9
    assert [told(host, page) for page in (3, 4, 5)][2].is_doubted


def test_pages_that_were_alike_before_may_be_alike_again() -> None:
    """As where nothing is their own but the news of the day."""
    host = begun()
    for day in range(1, 9):
        text, before = f"News of day {day}.", f" News of day {day - 1}.".encode()
        row = [host.says(page, text, noindex=False, before=before) for page in range(10)]
        assert row == [NOTHING] * 10


def test_pages_that_differ_by_numbers_are_not_alike() -> None:
    host = begun()
    for hour in range(5):
        for page in range(10):
            assert host.says(
                page, f"It is {hour + page} degrees.", noindex=False, is_other=True
            ) == (NOTHING)


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
    outcome = Outcome.DENIED if how.isdigit() else Outcome.REDIRECTED
    return host.refusals.turned_away(
        url(page), outcome, how, host.at_s, is_held=is_held, goes=False
    )


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


def gone(host: Host, page: int, *, goes: bool = False, is_held: bool = True) -> Verdict:
    host.at_s += 1.0
    return host.refusals.turned_away(
        url(page), Outcome.NOT_FOUND, "404", host.at_s, is_held=is_held, goes=goes
    )


def test_no_copy_goes_where_no_page_is_there() -> None:
    """First looks take none away, so nobody is asked for a few of them."""
    host = begun()

    assert [gone(host, page) for page in range(6)] == [NOTHING] * 6
    assert gone(begun(), 0, goes=True) == NOTHING
    assert gone(host, 0, goes=True) == Verdict(is_doubted=True, ask=(url(9),))
    assert gone(host, 9) == BEGUN
    assert gone(host, 1, goes=True) == REFUSED
    assert gone(host, 40, is_held=False) == REFUSED
    assert host.passed(2).ask == (*map(url, (0, 1, 2, 3, 4, 5, 9, 40)),)


def test_many_first_looks_are_asked_about() -> None:
    host = begun()

    row = [gone(host, page) for page in range(20, 28)]
    assert row == [NOTHING] * 7 + [Verdict(is_doubted=True, ask=(url(9),))]


def test_pages_that_go_while_others_stay_are_gone() -> None:
    """That is believed for a day, as each question costs a request where many go."""
    host = begun()
    for page in range(20, 24):
        gone(host, page)
    assert gone(host, 20, goes=True).ask == (url(9),)
    assert host.passed(9) == Verdict(ask=(url(20),))
    row = [gone(host, page, goes=goes) for page in range(20, 40) for goes in (False, True)]
    assert row == [NOTHING] * 40
    host.at_s += 2.0 * HOUR_S
    assert gone(host, 41, goes=True) == NOTHING
    host.at_s += 24.0 * HOUR_S
    assert gone(host, 42, goes=True).is_doubted


def test_addresses_that_were_never_there_are_no_row() -> None:
    host = begun()

    assert [gone(host, page, is_held=False) for page in range(40)] == [NOTHING] * 40
    gone(host, 1)
    assert [gone(host, page, is_held=False, goes=True) for page in range(50, 90)] == [NOTHING] * 40


def test_a_process_that_begins_amid_it_asks_the_start_page() -> None:
    """What pages said before proves that they are not alike."""
    host = Host()
    row = [gone(host, page, goes=True) for page in range(6)]

    assert row[:4] == [NOTHING] * 4
    assert row[4:] == [Verdict(is_doubted=True, ask=("https://a.test/",)), DOUBTED]
    answer = host.refusals.turned_away(
        "https://a.test/", Outcome.NOT_FOUND, "404", host.at_s, is_held=True, goes=False
    )
    assert answer == BEGUN


def test_a_single_pass_amid_a_notice_asks_nobody() -> None:
    host = Host()
    host.refusals._may_ask = False

    assert [told(host, page) for page in range(9)] == [NOTHING] * 7 + [BEGUN, REFUSED]
    assert [gone(Host(), page, goes=True) for page in range(20)] == [NOTHING] * 20
