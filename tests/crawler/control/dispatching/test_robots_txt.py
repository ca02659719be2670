"""robots.txt by RFC 9309: what an answer means and what its rules allow."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.crawler.control.dispatching.robots_txt import (
    MAX_ROBOTS_BYTES,
    RobotsRules,
    crawl_delay_of,
    robots_from_answer,
)
from recrawl.terms import HostRecord

A = "http://a.test"


def rules(text: str, agent: str = "recrawl") -> RobotsRules:
    return robots_from_answer(agent, 200, text.encode())


@pytest.mark.parametrize(
    ("allowed", "reachable", "statuses"),
    [
        (False, True, [200, 204, 206]),
        (True, True, [400, 401, 403, 404, 410, 418, 451, 499]),
        (False, False, [429, 500, 501, 502, 503, 504, 599, None]),
        (False, False, [301, 304, 100]),
    ],
)
def test_statuses_mean_what_the_rfc_says(
    allowed: bool, reachable: bool, statuses: list[int | None]
) -> None:
    """2.3.1: 4xx allows everything, no answer nothing; only a 2xx body is read."""
    body = b"User-agent: *\nDisallow: /"

    for status in statuses:
        found = robots_from_answer("recrawl", status, body)
        assert (found.allows(f"{A}/x"), found.reachable) == (allowed, reachable), status


@pytest.mark.parametrize("charset", ["utf-8-sig", "utf-16", "utf-16-be"])
def test_rules_hold_as_an_editor_has_saved_them(charset: str) -> None:
    """In UTF-16 they were read as no rules, and everything was allowed."""
    text = "User-agent: *\nCrawl-delay: 9\nDisallow: /x\n"
    body = (("\ufeff" if charset == "utf-16-be" else "") + text).encode(charset)
    found = robots_from_answer("recrawl", 200, body)

    host = HostRecord(1, A, 0.0, robots_status=200, robots_body=body)
    assert crawl_delay_of(host, "recrawl") == 9.0
    assert not found.allows(f"{A}/x")
    assert found.allows(f"{A}/y")


@pytest.mark.parametrize("status", [404, 503, None])
def test_without_rules_there_is_no_delay_and_no_sitemap(status: int | None) -> None:
    """Whatever the body of an error page looks like."""
    found = robots_from_answer("recrawl", status, b"User-agent: *\nCrawl-delay: 9\nSitemap: /x")

    assert found.crawl_delay_s is None
    assert found.sitemaps == []


@pytest.mark.parametrize(
    ("expected", "text", "path"),
    [
        (True, "", "/x"),
        (True, "User-agent: *\nDisallow:", "/x"),
        (False, "User-agent: *\nDisallow: /", "/x"),
        (False, "user-AGENT: *\r\ndisALLOW: /x\r\n", "/x/y"),
        (False, "User-agent: *\rDisallow: /x\r", "/x/y"),
        (False, "\ufeffUser-agent: *\nDisallow: /", "/x"),
        (True, "User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c"),
        (False, "User-agent: *\nAllow: /a\nDisallow: /a/b", "/a/b/c"),
        (True, "User-agent: *\nDisallow: /a\nAllow: /a", "/a"),
        (False, "User-agent: *\nDisallow: /*.pdf$", "/x.pdf"),
        (True, "User-agent: *\nDisallow: /*.pdf$", "/x.pdf?y"),
        (False, "User-agent: *\nDisallow: /caf%C3%A9", "/caf%C3%A9"),
        (False, "User-agent: *\nDisallow: /café", "/caf%C3%A9"),
        (True, "User-agent: *\nDisallow: /", "/robots.txt"),
        (False, "User-agent: *\nDisallow: /*?session", "/a?session=1"),
        (True, "Disallow: /", "/x"),
        (False, "User-agent: *\nDisallow: / # all", "/x"),
    ],
)
def test_the_longest_match_decides(expected: bool, text: str, path: str) -> None:
    """2.2.2: and where lengths are equal, the rule that allows."""
    assert rules(text).allows(A + path) is expected


@pytest.mark.parametrize(
    ("expected", "named"),
    [
        (False, "recrawl"),
        (False, "ReCrawl"),
        (False, "other\nUser-agent: recrawl"),
        (True, "other"),
        (True, "crawl"),
        (True, "recrawler"),
    ],
)
def test_a_group_for_the_robot_by_name_counts_instead_of_the_one_for_all(
    expected: bool, named: str
) -> None:
    """2.2.1: the product token, whole and in any case."""
    text = f"User-agent: *\nDisallow: /all\n\nUser-agent: {named}\nDisallow: /one\n"

    assert rules(text).allows(f"{A}/one") is expected
    assert rules(text).allows(f"{A}/all") is not expected


def test_groups_for_one_robot_add_up() -> None:
    """2.2.1: they are combined into one."""
    text = "User-agent: recrawl\nDisallow: /a\n\nUser-agent: x\nDisallow: /\n\n"

    found = rules(text + "User-agent: recrawl\nDisallow: /b\n")

    assert [found.allows(A + path) for path in ("/a", "/b", "/c")] == [False, False, True]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_rules_within_500_kib_count_and_half_a_rule_does_not(line_end: str) -> None:
    """2.5: what lies behind is not read, and a cut rule would forbid more than was asked."""
    head = f"User-agent: *{line_end}Disallow: /first{line_end}"
    cut = f"Disallow: /cut/here{line_end}"
    filler = "#" * (MAX_ROBOTS_BYTES - len(head) - len("Disallow: /cut") - len(line_end))
    text = head + filler + line_end + cut + f"Disallow: /behind{line_end}"

    for body in (text.encode(), text.encode()[:MAX_ROBOTS_BYTES]):
        found = robots_from_answer("recrawl", 200, body)
        assert not found.allows(f"{A}/first/x")
        assert found.allows(f"{A}/cut/elsewhere")
        assert found.allows(f"{A}/cuttlefish")
        assert found.allows(f"{A}/behind")


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        (None, ""),
        (7.0, "Crawl-delay: 7"),
        (0.5, "crawl-delay: 0.5"),
        (0.0, "Crawl-delay: 0"),
        (86_400.0, "Crawl-delay: 1e9"),
        (None, "Crawl-delay: -5"),
        (None, "Crawl-delay: soon"),
        (None, "Crawl-delay: nan"),
        (6.0, "Request-rate: 10/1m"),
        (5.0, "Request-rate: 1/5s"),
        (None, "Request-rate: 0/5s"),
        (30.0, "Crawl-delay: 30\nRequest-rate: 1/5s"),
    ],
)
def test_crawl_delays_are_read_as_far_as_they_make_sense(expected: float | None, text: str) -> None:
    """At most a day, never negative; the slower of delay and rate."""
    assert rules(f"User-agent: *\n{text}\nDisallow: /x\n").crawl_delay_s == expected


def test_sitemaps_stand_outside_of_groups_and_are_bounded() -> None:
    """2.2.4: a thousand of them are enough."""
    text = "".join(f"Sitemap: {A}/{number}.xml\n" for number in range(1500))

    assert rules(f"{text}User-agent: x\nDisallow: /\n").sitemaps == [
        f"{A}/{number}.xml" for number in range(1000)
    ]


LINES = st.lists(
    st.builds(
        "{}:{}".format,
        st.sampled_from("User-agent Disallow Allow Crawl-delay Request-rate Sitemap".split()),
        st.text(max_size=12) | st.sampled_from("* / /*$* % %zz 1e400 1/0 0/1".split()),
    ),
    max_size=12,
).map("\n".join)


@given(st.binary(max_size=200) | LINES.map(lambda text: text.encode("utf-8", "replace")))
def test_no_body_breaks_it(body: bytes) -> None:
    """Every answer can be asked every question."""
    found = robots_from_answer("recrawl", 200, b"User-agent: *\n" + body)

    delay_s = found.crawl_delay_s
    assert isinstance(found.allows(f"{A}/x?y=%zz"), bool)
    assert delay_s is None or (math.isfinite(delay_s) and delay_s >= 0.0)
    assert all(isinstance(sitemap, str) for sitemap in found.sitemaps)


@pytest.mark.parametrize(("n_rules", "allowed"), [(2_000, True), (2_001, False)])
def test_more_wildcards_than_can_be_judged_forbid_everything(n_rules: int, allowed: bool) -> None:
    """Each costs time for each address."""
    body = b"User-agent: *\n" + b"Disallow: /*a*b$\n" * n_rules

    assert robots_from_answer("recrawl", 200, body).allows("http://a.test/x") is allowed


@pytest.mark.parametrize("url", ["http://[", "http://[::1", f"{A}/\udcff"])
def test_an_address_that_cannot_be_judged_is_not_allowed(url: str) -> None:
    """Where there are rules; where there are none, nothing forbids it."""
    assert rules("User-agent: *\nDisallow: /x\n").allows(url) is False
    assert robots_from_answer("recrawl", 404, b"").allows(url) is True
