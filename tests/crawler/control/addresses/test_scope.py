"""What belongs to a crawl, where traps end, and what a page is worth."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.crawler.control.addresses.scope import Scope, Weights, why_outside

A = Scope(hosts=("a.test",))


@pytest.mark.parametrize(
    ("expected", "pattern", "host"),
    [
        (True, "a.test", "http://a.test"),
        (True, "a.test", "https://a.test"),
        (True, "a.test", "http://a.test:8080"),
        (True, "a.test:8080", "http://a.test:8080"),
        (True, "A.Test", "http://a.test"),
        (True, "*.a.test", "http://www.a.test"),
        (True, "*.a.test", "http://deep.www.a.test:81"),
        (True, "[::1]", "http://[::1]"),
        (True, "[::1]:8080", "http://[::1]:8080"),
        (True, "[::1]", "http://[::1]:8080"),
        (False, "a.test:8080", "http://a.test"),
        (False, "a.test:8080", "http://a.test:8081"),
        (False, "a.test", "http://www.a.test"),
        (False, "a.test", "http://a.test.evil.example"),
        (False, "a.test", "http://evila.test"),
        (False, "*.a.test", "http://a.test"),
        (False, "*.a.test", "http://evila.test"),
        (False, "[::1]", "http://1"),
        (False, "a.test", "http://a-test"),
    ],
)
def test_a_host_pattern_is_a_name_a_port_or_all_below(
    expected: bool, pattern: str, host: str
) -> None:
    """Whole names: a dot is a dot, and nobody gets in by a longer name."""
    assert Scope(hosts=(pattern,)).has_host(host) is expected


def test_no_pattern_means_no_host() -> None:
    """An empty list allows nothing, rather than everything."""
    assert not Scope(hosts=()).has_host("http://a.test")


@pytest.mark.parametrize(
    ("expected", "include", "exclude", "path"),
    [
        (None, (), (), "/anything?x"),
        (None, ("/docs/*",), (), "/docs/x"),
        ("matches no include pattern", ("/docs/*",), (), "/news"),
        ("matches no include pattern", ("/docs/*",), (), "/docs"),
        (None, ("/docs/*", "/news"), (), "/news"),
        (None, ("a.test/docs/*",), (), "/docs/x"),
        ("matches an exclude pattern", (), ("*.pdf",), "/x.pdf"),
        (None, (), ("*.pdf",), "/x.pdf?y"),
        ("matches an exclude pattern", ("/docs/*",), ("*/old/*",), "/docs/old/x"),
        ("matches an exclude pattern", (), ("*[?]*",), "/x?y"),
        ("matches an exclude pattern", (), ("a.test/private*",), "/private/x"),
    ],
)
def test_path_patterns_take_in_and_leave_out(
    expected: str | None, include: tuple[str, ...], exclude: tuple[str, ...], path: str
) -> None:
    """Over path and query, or host and path; leaving out wins."""
    scope = Scope(hosts=("a.test",), include=include, exclude=exclude)

    assert why_outside(scope, f"http://a.test{path}") == expected


@pytest.mark.parametrize(
    ("expected", "fields"),
    [
        (None, {"depth": 100, "hops": 5}),
        ("more than 100 links from a seed", {"depth": 101}),
        ("more than 5 redirects in a row", {"hops": 6}),
    ],
)
def test_depth_and_redirects_are_bounded(expected: str | None, fields: dict[str, int]) -> None:
    """The bound itself is still inside."""
    assert why_outside(A, "http://a.test/", **fields) == expected


@pytest.mark.parametrize(
    ("expected", "path"),
    [
        (None, "/" + "/".join("abcdefghijklmnopqrstuvwx")),
        ("more than 24 path segments", "/" + "/".join("abcdefghijklmnopqrstuvwxy")),
        (None, "/again" * 3 + "/x"),
        ("one path segment repeated more than 3 times", "/again" * 4),
        ("one path segment repeated more than 3 times", "/a/b" * 4),
        (None, "/x?" + "/again" * 9),
        (None, "/x?a=1&a=2&a=3&a=4&a=5&b=1&c=1"),
        (None, "/x?a=1&a=1&a=1&b=1"),
        ("one part of the query repeated more than 3 times", "/x?a=1&b=1&a=1&a=1&a=1"),
        (None, "//////////////////////////////"),
    ],
)
def test_endless_paths_end(expected: str | None, path: str) -> None:
    """Links that lead ever deeper or in circles, and queries that say one thing again."""
    assert why_outside(A, f"http://a.test{path}") == expected


def test_another_host_is_outside_whatever_its_path() -> None:
    """The first question asked, and the words that people read."""
    assert why_outside(A, "http://b.test/") == "another host"


PATTERNS = st.sampled_from(("/a", "/a*", "/*", "/b", "*/c", "a.test/a", "a.test/*", "/[ab]", "/z"))


@given(st.lists(st.tuples(PATTERNS, st.floats(0, 10)), max_size=6), st.sampled_from("abc"))
def test_the_first_rule_that_matches_decides(rules: list[tuple[str, float]], name: str) -> None:
    """The shortcut for patterns without wildcards changes nothing but the time it takes."""
    from fnmatch import fnmatchcase

    url, texts = f"http://a.test/{name}", (f"/{name}", f"a.test/{name}")
    matching = (w for p, w in rules if any(fnmatchcase(text, p) for text in texts))

    assert Weights(rules).of(url) == next(matching, 1.0)


def test_without_rules_all_pages_are_worth_the_same() -> None:
    """One."""
    assert Weights().of("http://a.test/x") == 1.0
