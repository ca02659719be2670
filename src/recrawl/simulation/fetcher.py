"""Fetches from a synthetic web without a network: for runs in virtual time."""

from typing_extensions import override

from recrawl.ports import Clock, Fetcher
from recrawl.simulation.site import Site
from recrawl.terms import FetchResponse

__all__ = ["SiteFetcher"]


class SiteFetcher(Fetcher):
    """Asks a :class:`Site` directly.

    Parameters
    ----------
    site, clock : the web, and the time it is asked at
    access_s : how long an exchange takes, in crawl seconds
    """

    def __init__(self, site: Site, clock: Clock, *, access_s: float) -> None:
        self._site = site
        self._clock = clock
        self._access_s = access_s

    @override
    async def fetch(
        self,
        url: str,
        *,
        etag: str | None = None,
        last_modified: str | None = None,
        max_bytes: int | None = None,
        truncate: bool = False,
    ) -> FetchResponse:
        await self._clock.sleep_until(self._clock.now_s() + self._access_s)
        netloc, _, path = url.partition("://")[2].partition("/")
        answer = self._site.answer(
            netloc,
            "/" + path,
            self._clock.now_s(),
            if_none_match=etag,
            if_modified_since=last_modified,
        )
        return FetchResponse(
            url=url,
            status=answer.status,
            body=answer.body,
            content_type=answer.content_type.partition(";")[0],
            charset="utf-8",
            location=answer.headers.get("Location"),
            etag=answer.headers.get("ETag"),
            last_modified=answer.headers.get("Last-Modified"),
            received_bytes=len(answer.body),
            elapsed_s=self._access_s,
        )
