"""Fetches from a synthetic web without a network: for runs in virtual time."""

from dataclasses import replace

from typing_extensions import override

from recrawl.crawler.ports import Clock, Fetcher
from recrawl.errors import FetchError
from recrawl.simulation.site import ServedSite
from recrawl.terms import INDEXABLE, FetchResponse


class SiteFetcher(Fetcher):
    """Asks a site directly.

    Parameters
    ----------
    site, clock : the web, and the time it is asked at
    access_s : how long an exchange takes, in crawl seconds
    """

    def __init__(self, site: ServedSite, clock: Clock, *, access_s: float) -> None:
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
        pages_only: bool = False,
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
        response = FetchResponse(
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
        return bounded(response, max_bytes, truncate=truncate, pages_only=pages_only)


def bounded(
    response: FetchResponse, max_bytes: int | None, *, truncate: bool, pages_only: bool = False
) -> FetchResponse:
    """Return a response with at most so many bytes of body, as every fetcher promises.

    Parameters
    ----------
    response : with its whole body
    max_bytes : bound on the body; None: none
    truncate : cut a longer body at the bound instead of failing
    pages_only : return no body of what is no page by its content type

    Raises
    ------
    FetchError
        ``too-large`` when the body is longer and must not be cut.
    """
    if pages_only and response.content_type and response.content_type not in INDEXABLE:
        return replace(response, body=b"")
    if max_bytes is None or len(response.body) <= max_bytes:
        return response
    if not truncate:
        raise FetchError("too-large", f"more than {max_bytes} bytes")
    return replace(response, body=response.body[:max_bytes], truncated=True)
