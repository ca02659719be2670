"""Cookies that pages want back before they show themselves, and no others."""

from http.cookies import SimpleCookie

import pytest

from recrawl.crawler.fetch.cookies import Cookies

A = "http://a.test"


def noted(
    said: str, *, sent: str = "", status: int = 302, location: str | None = "/x?a=1"
) -> tuple[bool, str]:
    """Ask for a page; return whether it wants to be asked again, and what it is sent then."""
    cookies = Cookies()
    wants = cookies.note(f"{A}/x?a=1", sent, status, location, SimpleCookie(said))
    return wants, cookies.of(f"{A}/elsewhere")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("location", ["/x?a=1", "?a=1", f"{A}/x?a=1#top", "HTTP://A.TEST:80/x?a=1"])
def test_who_is_led_back_with_a_cookie_is_to_send_it(status: int, location: str) -> None:
    found = noted("seen=yes; Path=/; HttpOnly", status=status, location=location)
    assert found == (True, "seen=yes")


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("seen=yes", {"status": 200}),
        ("seen=yes", {"location": "/x?a=2"}),
        ("seen=yes", {"location": None}),
        ("seen=yes", {"sent": "seen=yes"}),
        ("", {}),
        ("seen=", {}),
        (f"seen={'y' * 4_000}", {}),
    ],
)
def test_no_other_cookie_is_kept(said: str, known: dict[str, object]) -> None:
    """Of pages, of other redirects, where it was sent back already, or without end."""
    assert noted(said, **known) == (False, "")  # type: ignore[arg-type]


@pytest.mark.parametrize("location", ["/x?a=1&cookieSet=1", "/x?cookieSet=1&a=1#top"])
def test_the_same_address_with_more_may_look_for_the_cookie(location: str) -> None:
    assert noted("seen=yes", location=location) == (True, "seen=yes")


@pytest.mark.parametrize(
    "location", ["/y?a=1&b=1", "/x", "/x?a=1&a=1", "/x?b=1", "http://b.test/x?a=1&b=1"]
)
def test_other_addresses_look_for_none(location: str) -> None:
    assert noted("seen=yes", location=location) == (False, "")


def test_who_is_sent_on_despite_the_cookie_is_asked_without_from_then_on() -> None:
    """As where each address comes to say the language, and a session begins beside it."""
    cookies, led = Cookies(), "/x?lang=en"
    assert cookies.note(f"{A}/x", "", 302, led, SimpleCookie("sid=1"))
    assert not cookies.note(f"{A}/x", "sid=1", 302, led, SimpleCookie("sid=2"))

    assert cookies.of(f"{A}/x") == ""
    assert not cookies.note(f"{A}/x", "", 302, led, SimpleCookie("sid=3"))
    assert cookies.note(f"{A}/x", "", 302, "/x", SimpleCookie("sid=4"))


def test_of_a_session_that_is_over_the_next_one_is_sent_back() -> None:
    """Else each page of the host would lead to itself from then on."""
    assert noted("sid=2; Max-Age=1800", sent="sid=1") == (True, "sid=2")


def test_cookies_are_few_and_go_to_nobody_else() -> None:
    told = SimpleCookie({f"c{n}": "x" for n in range(30)})
    cookies = Cookies()
    assert cookies.note(f"{A}/", "", 302, "/", told)

    assert cookies.of(f"{A}/y") == "; ".join(f"c{n}=x" for n in range(20))
    for other in ("http://b.test/", "https://a.test/", "http://a.test:8080/", "http://www.a.test/"):
        assert cookies.of(other) == ""


def test_of_ten_thousand_hosts_cookies_are_kept() -> None:
    cookies = Cookies()
    for host in (*range(10_000), 0, 10_000):
        assert cookies.note(f"http://{host}.test/", "", 302, "/", SimpleCookie(f"at={host}"))

    assert cookies.of("http://0.test/") == "at=0"
    assert cookies.of("http://1.test/") == ""
    assert cookies.of("http://10000.test/") == "at=10000"
