"""Hubs: found where the standard says, asked again when that is due."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.crawler.control.answers.hubs import hub_of, renewed_s, tried_again_s

FEED = "http://a.test/feed"
HUB = "http://hub.test/?a=1&b=2"
ATOM = (
    '<feed xmlns="http://www.w3.org/2005/Atom"><link rel="self" href="/feed.atom"/>'
    '<link href="http://hub.test/?a=1&amp;b=2" rel="hub"/></feed>'
)
RSS = (
    "<rss><channel><link>http://a.test/</link>"
    "<atom:link rel='hub' href='http://hub.test/?a=1&amp;b=2' /></channel></rss>"
)


@pytest.mark.parametrize(
    ("expected", "header", "body"),
    [
        ((HUB, "http://a.test/feed.atom"), "", ATOM),
        ((HUB, FEED), "", RSS),
        ((HUB, FEED), f'<{HUB}>; rel="hub"', ""),
        ((HUB, "http://a.test/other"), f'</other>; rel=self, <{HUB}>; rel="next hub"', ""),
        ((HUB, FEED), f'<{HUB}>; rel="hub"', '<link rel="hub" href="http://second.test/"/>'),
        (None, '<http://a.test/2>; rel="next"', '<link rel="self" href="/feed"/>'),
        (None, '<mailto:x>; rel="hub"', '<link rel="hub" href="javascript:1"/>'),
        (None, "", '<link rel="hub"/><link href="http://hub.test/"/>'),
    ],
)
def test_a_hub_is_found_in_headers_and_feeds(
    expected: tuple[str, str] | None, header: str, body: str
) -> None:
    """The header counts first; the topic is the feed itself where none is named."""
    assert hub_of(FEED, header, body.encode()) == expected


@given(st.text(st.sampled_from("<>link relhf=\"'/:&;, ab"), max_size=300), st.binary(max_size=300))
def test_anything_can_be_looked_at(header: str, body: bytes) -> None:
    """And what is found are addresses."""
    found = hub_of(FEED, header, body)

    assert found is None or all(url.startswith("http") for url in found)


def test_leases_are_renewed_before_they_end_and_hubs_are_not_hurried() -> None:
    """Leases of no use are not believed; a hub that fails is asked less and less, daily at last."""
    until_s, due_s = renewed_s(1_000.0, 40_000.0)

    assert (until_s, due_s) == (41_000.0, 31_000.0)
    assert renewed_s(0.0, 1.0)[0] == 300.0
    assert renewed_s(0.0, 1e12)[0] == 90 * 86_400.0
    waits = [tried_again_s(0.0, failures) for failures in range(12)]
    assert waits[:3] == [600.0, 1_200.0, 2_400.0]
    assert waits[-1] == 86_400.0
