"""From addresses found on a page to discoveries that belong to the crawl."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from recrawl.crawler.control.addresses.scope import Scope, Weights, is_beyond_bounds, why_outside
from recrawl.crawler.control.urls import host_of, variant_key
from recrawl.terms import Discovery, Kind, Lease


@dataclass(frozen=True, slots=True)
class Admission:
    """Admission of URLs, with their weights.

    Parameters
    ----------
    scope : which URLs belong to the crawl
    weights : worth by URL
    sitemaps, feeds : whether those are read at all
    """

    scope: Scope
    weights: Weights = field(default_factory=Weights)
    sitemaps: bool = True
    feeds: bool = True

    def of(
        self,
        urls: Iterable[str],
        *,
        kind: Kind = Kind.PAGE,
        depth: int = 0,
        hops: int = 0,
    ) -> list[Discovery]:
        """Return the discoveries among URLs in normal form."""
        return self.dated(((url, None) for url in urls), kind=kind, depth=depth, hops=hops)

    def beyond_bounds(self, urls: Iterable[str], *, depth: int) -> list[str]:
        """Return which URLs the crawl is for, if a bound did not keep them out."""
        return [url for url in urls if is_beyond_bounds(self.scope, url, depth=depth)]

    def leads_away(self, page: Lease, links: Iterable[str]) -> str | None:
        """Say where the links of a seed lead, if all of them lead out of the crawl."""
        others = [url for url in links if url != page.url] if page.depth == 0 else []
        hosts = list(dict.fromkeys(map(host_of, others)))
        if not hosts or host_of(page.url) in hosts or self.of(others, depth=1):
            return None
        return f"leads only to what is not in scope.hosts, such as {hosts[0]}"

    def dated(
        self,
        urls: Iterable[tuple[str, float | None]],
        *,
        kind: Kind = Kind.PAGE,
        depth: int = 0,
        hops: int = 0,
    ) -> list[Discovery]:
        """Return the discoveries among (URL, lastmod) pairs."""
        if (kind is Kind.SITEMAP and not self.sitemaps) or (kind is Kind.FEED and not self.feeds):
            return []
        return [
            Discovery(
                url=url,
                host=host_of(url),
                kind=kind,
                depth=depth,
                hops=hops,
                weight=self.weights.of(url),
                variant_of=variant_key(url),
                lastmod_s=lastmod_s,
            )
            for url, lastmod_s in urls
            if self._belongs(url, kind, depth, hops)
        ]

    def _belongs(self, url: str, kind: Kind, depth: int, hops: int) -> bool:
        if kind is Kind.PAGE:
            return why_outside(self.scope, url, depth=depth, hops=hops) is None
        # Sitemaps and feeds are found under paths that the patterns for pages may not cover.
        return (
            self.scope.has_host(host_of(url))
            and hops <= self.scope.max_hops
            and depth <= 3 + self.scope.max_depth
        )
