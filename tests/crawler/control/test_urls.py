"""Normal forms of addresses: one page, one address, whatever a link looks like."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recrawl.crawler.control.urls import (
    MAX_URL_LENGTH,
    host_of,
    join,
    normalise,
    path_of,
    site_of,
    variant_key,
)

PIECES = st.sampled_from(
    (
        "http://", "https://", "HTTP://", "//", "/", "..", ".", "%2e", "%2E%2e", "%25", "%", "%32",
        "%65", "%7E", "%c3%bc", "ü", "a", "B", "example.org", "[::1]", ":80", ":443", ":8080", "@",
        "user:pw@", "?", "&", "=", "#", ";sid=1", ";jsessionid=", "utm_source=x", "\\", "\t", " ",
        "\x00", "\ud800", "xn--", "１", "。", "\u202e",
    )
)  # fmt: skip
ADDRESSES = st.one_of(
    st.text(max_size=60),
    st.lists(PIECES, max_size=14).map("".join),
    st.lists(PIECES, max_size=14).map(lambda pieces: "http://a/" + "".join(pieces)),
)


@given(ADDRESSES)
@example("http://a/..;sid=1")
@example("http://a/%%32%65")
@example("http://a/?x=%%32%65")
def test_normalisation_never_raises_and_is_idempotent(text: str) -> None:
    """Links are written by strangers; and a page must not have a second address after a restart."""
    url = normalise(text)

    if url is not None:
        assert url == normalise(url)
        assert url.startswith(("http://", "https://"))
        assert url.isascii()
        assert not set(url) & set(' #"<>\t\n\\')
        assert host_of(url) + path_of(url) == url
        assert path_of(url).startswith("/")


@given(ADDRESSES, ADDRESSES)
def test_joining_never_raises_and_gives_normal_forms(base: str, reference: str) -> None:
    """What is found on a page is stored as it will be looked up."""
    url = join(normalise(base) or "http://a.test/x/", reference)

    assert url is None or url == normalise(url)


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        ("http://example.org/", "HTTP://EXAMPLE.org"),
        ("http://example.org/", "http://example.org:80/"),
        ("https://example.org/", "https://example.org:443"),
        ("https://example.org:80/", "https://example.org:80/"),
        ("http://example.org:8080/A", "http://example.org:8080/A"),
        ("http://example.org/c", "http://example.org/a/../b/./../c"),
        ("http://example.org/c", "http://example.org/a/%2e%2E/c"),
        ("http://example.org/", "http://example.org/../../.."),
        ("http://example.org/a/", "http://example.org/a/b/.."),
        ("http://example.org/a//b", "http://example.org/a//b"),
        ("http://example.org/a", "http://user:secret@example.org/a"),
        ("http://example.org/a", "http://example.org/a#part"),
        ("http://example.org/a@b", "http://example.org/a@b"),
        ("http://xn--bcher-kva.example/%C3%BC", "http://Bücher.example/ü"),
        ("http://xn--bcher-kva.example/", "http://xn--bcher-kva.example/"),
        ("http://example.org/a%20b", " http://example.org/a b\n"),
        ("http://example.org/~me/-._", "http://example.org/%7Eme/%2D%2e%5f"),
        ("http://example.org/%2Fa%3F", "http://example.org/%2fa%3f"),
        ("http://127.0.0.1/", "http://0x7f.1/"),
        ("http://127.0.0.1/", "http://2130706433"),
        ("http://[::1]:8080/", "http://[0:0::1]:8080/"),
        ("http://example.org/", "http:\\\\example.org\\"),
    ],
)
def test_forms_of_one_address_have_one_normal_form(expected: str, text: str) -> None:
    """By the WHATWG standard, as browsers do; without fragment, user name and password."""
    assert normalise(text) == expected


@pytest.mark.parametrize(
    ("expected", "query"),
    [
        ("", "?"),
        ("", "?utm_source=x&UTM_Campaign=y&gclid=1&fbclid=2&PHPSESSID=3"),
        ("?id=7", "?id=7&osCsid=bffe9901c4d5&zenid=1&XTCsid=2&CFID=5028110&CFTOKEN=57180840"),
        ("?a=1", "?utm_source=x&a=1"),
        ("?a=1&b=2", "?a=1&utm_medium=x&b=2"),
        ("?b=2&a=1", "?b=2&a=1"),
        ("?a=1", "?&&a=1&"),
        ("?a", "?a"),
        ("?a=", "?a="),
        ("?a=1&a=1", "?a=1&a=1"),
        ("?utm=1", "?utm=1"),
        ("?a=b?c", "?a=b?c"),
        ("?a=1;sid=5&page=2", "?a=1;sid=5&page=2"),
    ],
)
def test_queries_keep_what_servers_may_care_about(expected: str, query: str) -> None:
    """Order and repetition stay; tracking goes; a session in a path does not reach the query."""
    assert normalise(f"http://a/p{query}") == f"http://a/p{expected}"


@pytest.mark.parametrize("tail", ["", "?x=1", "/more", ";v=2"])
def test_sessions_in_a_path_are_cut_out(tail: str) -> None:
    """Java servers write them behind the path; each would be a copy of the site."""
    assert normalise(f"http://a/p;jsessionid=0A1{tail}") == f"http://a/p{tail}"


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "/path", "//a/b", "example.org", "ftp://a/", "file:///etc/passwd", "data:,x",
        "javascript:alert(1)", "mailto:a@b", "http://", "http:///", "http://a:99999/",
        "http://a b/", "http://[::1/", "http://a%00b/", "http://\ud800/", "http://1.2.3.256/",
    ],
)  # fmt: skip
def test_what_is_no_web_address_is_none(text: str) -> None:
    """Other schemes are not followed, and what no browser would open has no address."""
    assert normalise(text) is None or normalise(text) == "http://a/"
    if not text.startswith("http"):
        assert normalise(text) is None


def test_length_is_bounded_before_and_after() -> None:
    """Encoding makes addresses longer; what is too long either way is a trap."""
    just = "http://a/" + "x" * (MAX_URL_LENGTH - 9)

    assert normalise(just) == just
    assert normalise(just + "x") is None
    assert normalise("http://a/" + "ü" * 500) is None
    assert normalise("http://a/" + "x" * 10_000_000) is None


@pytest.mark.parametrize(
    ("expected", "reference"),
    [
        ("http://a.test/x/c", "c"),
        ("http://a.test/c", "/c"),
        ("http://b.test/", "//b.test"),
        ("http://a.test/x/y?q", "?q"),
        ("http://a.test/x/y", "#part"),
        ("http://a.test/", "../../.."),
        ("https://b.test/", "https://b.test"),
        (None, "mailto:x@y"),
        (None, "javascript:void(0)"),
    ],
)
def test_references_are_resolved_against_their_page(expected: str | None, reference: str) -> None:
    """Every form of relative link."""
    assert join("http://a.test/x/y", reference) == expected


def test_a_host_is_scheme_name_and_port() -> None:
    """The unit of politeness: another port is another server."""
    assert host_of("http://a.test:8080/x/y?z") == "http://a.test:8080"
    assert host_of("https://a.test/") == "https://a.test"
    assert path_of("http://a.test:8080/x/y?z") == "/x/y?z"


@pytest.mark.parametrize(
    ("site", "host"),
    [
        ("a.test", "http://x.y.a.test:8080"),
        ("a.co.uk", "https://www.a.co.uk"),
        ("me.github.io", "https://me.github.io"),
        ("127.0.0.1", "http://127.0.0.1:8080"),
        ("[::1]", "http://[::1]:8080"),
        ("localhost", "http://localhost:8080"),
    ],
)
def test_a_site_is_the_registrable_domain(site: str, host: str) -> None:
    """Hosts that are in none are sites by their names."""
    assert site_of(host) == site


def test_variants_of_one_address_share_a_key() -> None:
    """They differ in their query only; an address without one is no variant."""
    one, two = variant_key("http://a/p?x=1"), variant_key("http://a/p?x=2")

    assert one is not None
    assert one == two
    assert one != variant_key("http://a/q?x=1")
    assert variant_key("http://a/p") is None
    assert -(2**63) <= one < 2**63  # what a column of SQLite holds


def test_a_path_that_a_query_begins_with_is_part_of_the_address() -> None:
    """As forums have them whose server rewrites none: any number of topics are no variants."""
    topic, other = "http://a/index.php?/topic/7-lamps/", "http://a/index.php?threads/ferns.8/"

    assert variant_key(topic) is None
    assert variant_key(other) is None
    assert variant_key(f"{topic}&page=2") == variant_key(f"{topic}&page=3") is not None
    assert variant_key(f"{topic}&page=2") != variant_key(f"{other}&page=2")
    assert variant_key("http://a/p?at=/x/1") == variant_key("http://a/p?lamps")
