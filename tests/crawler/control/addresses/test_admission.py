"""From addresses to discoveries."""

import pytest

from recrawl.crawler.control.addresses.admission import Admission
from recrawl.crawler.control.addresses.scope import Scope, Weights
from recrawl.crawler.control.urls import variant_key
from recrawl.terms import Discovery, Kind, Lease

A = "http://a.test"
ADMISSION = Admission(
    Scope(hosts=("a.test",), include=("/docs/*",), max_depth=2, max_hops=1),
    Weights((("/docs/dear", 5.0),)),
)


def test_what_belongs_is_taken_in_with_all_that_is_known_of_it() -> None:
    """Weight, host, place in the crawl, and which address it is a variant of."""
    found = ADMISSION.of([f"{A}/docs/dear?x", f"{A}/news", "http://b.test/docs/"], depth=2, hops=1)

    assert found == [
        Discovery(f"{A}/docs/dear?x", A, depth=2, hops=1, variant_of=variant_key(f"{A}/docs/dear?"))
    ]
    assert ADMISSION.of([f"{A}/docs/dear"])[0].weight == 5.0


def test_dates_of_a_sitemap_are_kept() -> None:
    """The planner may use them; the order of the sitemap stays."""
    found = ADMISSION.dated([(f"{A}/docs/2", 7.0), (f"{A}/docs/1", None)])

    assert [(entry.url, entry.lastmod_s) for entry in found] == [
        (f"{A}/docs/2", 7.0),
        (f"{A}/docs/1", None),
    ]
    assert {(entry.depth, entry.hops) for entry in found} == {(0, 0)}


@pytest.mark.parametrize("kind", [Kind.SITEMAP, Kind.FEED])
def test_listings_need_no_path_pattern_but_the_host(kind: Kind) -> None:
    """They lie where patterns for pages do not reach; but never on another host."""
    urls = [f"{A}/listing.xml", "http://b.test/listing.xml"]

    assert [entry.url for entry in ADMISSION.of(urls, kind=kind)] == [f"{A}/listing.xml"]
    assert len(ADMISSION.of(urls, kind=kind, depth=5, hops=1)) == 1
    assert ADMISSION.of(urls, kind=kind, hops=2) == []
    assert ADMISSION.of(urls, kind=kind, depth=6) == []


@pytest.mark.parametrize(("kind", "n"), [(Kind.SITEMAP, 0), (Kind.FEED, 0), (Kind.PAGE, 1)])
def test_listings_can_be_left_alone(kind: Kind, n: int) -> None:
    """As the configuration says."""
    admission = Admission(Scope(hosts=("a.test",)), sitemaps=False, feeds=False)

    assert len(admission.of([f"{A}/x"], kind=kind)) == n


@pytest.mark.parametrize(("depth", "hops"), [(3, 0), (0, 2)])
def test_what_lies_too_deep_is_left_out(depth: int, hops: int) -> None:
    """By links and by redirects."""
    assert ADMISSION.of([f"{A}/docs/x"], depth=depth, hops=hops) == []


def test_it_is_said_what_only_a_bound_keeps_out() -> None:
    """Not what is within the bounds, and not what the crawl is not for in any case."""
    urls = [f"{A}/docs/x", f"{A}/news", "http://b.test/docs/"]

    assert ADMISSION.beyond_bounds(urls, depth=2) == []
    assert ADMISSION.beyond_bounds(urls, depth=3) == [f"{A}/docs/x"]


@pytest.mark.parametrize(
    ("host", "depth", "links"),
    [
        ("http://b.test", 0, [f"{A}/docs/", "http://b.test/", "http://c.test/"]),
        (None, 0, []),
        (None, 0, [f"{A}/docs/"]),  # itself
        (None, 0, [f"{A}/news", "http://b.test/"]),  # which the patterns for pages leave out
        (None, 0, ["http://b.test/", "http://d.test/docs/"]),
        (None, 1, ["http://b.test/"]),  # is no seed
    ],
)
def test_a_seed_that_leads_out_of_the_crawl_is_told_of(
    host: str | None, depth: int, links: list[str]
) -> None:
    """With the host that is missing in the configuration."""
    admission = Admission(Scope(hosts=("a.test", "d.test"), include=("/docs/*",)))
    page = Lease(1, f"{A}/docs/", 1, 1, 0.0, depth=depth)

    said = admission.leads_away(page, links)

    assert said == (host and f"leads only to what is not in scope.hosts, such as {host}")
