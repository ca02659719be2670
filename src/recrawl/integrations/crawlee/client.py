"""The client: validators go in; status, size and signature come out."""

from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import Any

import xxhash
from crawlee import HttpHeaders, Request
from crawlee.errors import ContextPipelineInterruptedError
from crawlee.http_clients import HttpClient, HttpCrawlingResult, HttpResponse, ImpitHttpClient
from crawlee.proxy_configuration import ProxyInfo
from crawlee.sessions import Session
from crawlee.statistics import Statistics
from typing_extensions import override

from recrawl.crawler.control.answers.lifecycle import outcome_of_status
from recrawl.crawler.wiring.reading import text_signature
from recrawl.integrations.crawlee.requests import RecrawlRequests


class RecrawlHttpClient(HttpClient):  # type: ignore[misc] # Crawlee is not in the environment
    """Wraps a client of Crawlee; a page that says nothing new ends before its handler.

    Parameters
    ----------
    requests : of the crawler
    inner : the client that fetches; None: Crawlee's own default
    """

    def __init__(self, requests: RecrawlRequests, inner: HttpClient | None = None) -> None:
        super().__init__()
        self._requests = requests
        self._inner = inner or ImpitHttpClient()

    @override
    async def crawl(
        self,
        request: Request,
        *,
        session: Session | None = None,
        proxy_info: ProxyInfo | None = None,
        statistics: Statistics | None = None,
        timeout: timedelta | None = None,
    ) -> HttpCrawlingResult:
        visit = self._requests.visit_of(request)
        asked = request
        if visit is not None:
            visit.asked_s = visit.asked_s or self._requests.now_s()
            visit.status = visit.signature = None  # of an attempt before
            named = (("if-none-match", "etag"), ("if-modified-since", "last_modified"))
            validators = {name: visit.known(column) for name, column in named
                          if visit.known("signature") and visit.known(column)}  # fmt: skip
            # A copy, so that another attempt asks as the crawler's own request has it.
            headers = HttpHeaders(validators) | request.headers
            asked = request.model_copy(update={"headers": headers})
        result = await self._inner.crawl(
            asked, session=session, proxy_info=proxy_info, statistics=statistics, timeout=timeout
        )
        request.loaded_url = asked.loaded_url
        if visit is None:
            return result
        response = result.http_response
        body = await response.read()
        visit.status, visit.received_bytes = response.status_code, len(body)
        visit.etag = response.headers.get("etag")
        visit.last_modified = response.headers.get("last-modified")
        if body and outcome_of_status(visit.status) is None:  # none: to HEAD
            visit.signature = self._signature(request.url, body, response)
        visit.is_known = visit.status == 304 or (
            visit.signature is not None and visit.signature == visit.known("signature")
        )
        if visit.is_known:
            raise ContextPipelineInterruptedError(f"{request.url} says nothing new")
        return result

    def _signature(self, url: str, body: bytes, response: HttpResponse) -> bytes:
        if self._requests.change == "text":
            return text_signature(url, body, response.headers.get("content-type") or "")
        return xxhash.xxh3_128_digest(body)

    @override
    async def send_request(self, url: str, **options: Any) -> HttpResponse:
        return await self._inner.send_request(url, **options)

    @override
    def stream(self, url: str, **options: Any) -> AbstractAsyncContextManager[HttpResponse]:
        stream: AbstractAsyncContextManager[HttpResponse] = self._inner.stream(url, **options)
        return stream

    @override
    async def cleanup(self) -> None:
        await self._inner.cleanup()
