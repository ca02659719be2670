"""Logins that have lapsed are told apart from pages that are denied for themselves."""

from dataclasses import replace

from recrawl.crawler.control.answers.logins import Logins
from recrawl.terms import Kind, Lease, PageState

A = "http://a.test"
HELD = Lease(1, f"{A}/1", 1, 1, 0.0, kind=Kind.PAGE, state=PageState.INDEXED)


def page(
    name: str, *, failures: int = 0, seen_s: float = 0.0, state: PageState = PageState.INDEXED
) -> Lease:
    return replace(HELD, url=f"{A}/{name}", failures=failures, last_visit_s=seen_s, state=state)


def test_three_pages_in_a_row_say_that_the_login_has_lapsed() -> None:
    logins = Logins()
    found = [logins.denied(page(name)) for name in "abcd"]
    assert [one.refuses for one in found] == [False, False, True, True]
    assert all(one.is_doubted for one in found)


def test_a_page_that_is_given_says_that_it_is_good() -> None:
    logins = Logins()
    for name in "abcc":
        logins.denied(page(name))

    logins.given(f"{A}/d", 1.0)
    assert not logins.denied(page("e")).refuses


def test_one_page_makes_no_row() -> None:
    logins = Logins()
    assert not any(logins.denied(page("a")).refuses for _ in range(5))


def test_a_page_that_is_denied_for_itself_is_believed_at_the_third_time() -> None:
    """After another one was given."""
    logins = Logins()
    for failures, is_doubted in [(0, True), (1, True), (2, False)]:
        seen_s = float(failures)
        found = logins.denied(page("a", failures=failures, seen_s=seen_s))
        assert (found.is_doubted, found.refuses) == (is_doubted, False)
        logins.given(f"{A}/b", seen_s + 1.5)


def test_a_page_is_not_believed_while_none_is_given() -> None:
    logins = Logins()
    logins.denied(page("a"))
    logins.given(f"{A}/b", 1.0)
    assert all(logins.denied(page(name, failures=9, seen_s=2.0)).is_doubted for name in "abcd")


def test_many_that_are_denied_for_themselves_are_believed_each() -> None:
    logins = Logins()
    logins.denied(page("a"))
    logins.given(f"{A}/b", 1.0)
    found = [logins.denied(page(name, failures=2)) for name in "abcd"]
    assert not any(one.is_doubted or one.refuses for one in found)


def test_what_is_not_held_is_lost_by_nobody() -> None:
    """A section that a login may not read denies page after page, and tells nothing of others."""
    logins = Logins()
    found = [logins.denied(page(name, state=PageState.DISCOVERED)) for name in "abcdef"]
    assert not any(one.is_doubted or one.refuses for one in found)


def test_while_all_are_denied_new_pages_are_not_believed_to_be() -> None:
    logins = Logins()
    for name in "abc":
        logins.denied(page(name))
    assert logins.denied(page("d", state=PageState.DISCOVERED)).is_doubted


def test_the_same_form_instead_of_several_pages_is_none_of_them() -> None:
    logins = Logins()
    assert all(logins.is_form(page(name), b"form", is_other=True) for name in "abc")


def test_pages_that_say_something_of_their_own_beside_a_form_were_given() -> None:
    """As where a box to sign in stands on each page of a site."""
    logins = Logins()
    assert logins.is_form(page("a"), b"a", is_other=True)
    assert not logins.is_form(page("b"), b"b", is_other=True)
    assert not logins.is_form(page("a"), b"a", is_other=True)


def test_a_page_to_change_a_password_is_one_and_tells_nothing_of_others() -> None:
    logins = Logins()
    assert not logins.is_form(page("account"), b"account", is_other=False)
    assert all(logins.is_form(page(name), b"form", is_other=True) for name in "ab")


def test_new_pages_with_a_form_are_forms_while_others_are_denied() -> None:
    logins = Logins()
    logins.denied(page("a"))
    assert logins.is_form(page("b", state=PageState.DISCOVERED), b"form", is_other=False)


def test_hosts_are_judged_each_by_itself_and_a_thousand_are_remembered() -> None:
    logins = Logins()
    for number in range(1_001):
        for name in "abc":
            logins.denied(replace(HELD, url=f"http://h{number}.test/{name}"))
    assert logins.denied(replace(HELD, url="http://h1.test/d")).refuses
    assert not logins.denied(replace(HELD, url="http://h0.test/d")).refuses
