"""A web that answers as it is told, without a network."""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from typing_extensions import override

from recrawl.crawler.ports import Clock, Fetcher, Resolver
from recrawl.errors import FetchError
from recrawl.simulation.fetcher import bounded
from recrawl.terms import FetchResponse

Duration = float | Callable[[], float]
Reply = FetchResponse | FetchError | Callable[["Request"], FetchResponse]


def drawn(duration: Duration) -> float:
    """Return a duration that is fixed, or drawn by a call."""
    return duration() if callable(duration) else duration


@dataclass(frozen=True, slots=True)
class Request:
    """One request that was made."""

    at_s: float
    url: str
    etag: str | None
    last_modified: str | None


class ScriptedFetcher(Fetcher, Resolver):
    """Answers from a script, and remembers what it was asked.

    Hosts have the IP addresses in ``ips``, and else one of their own; a reply that is a failure is
    how resolving one ends.

    Each URL has a list of replies; the last one is repeated for ever. What is not in the script is
    answered by ``fallback``: a 404 unless another is set.

    Parameters
    ----------
    clock : the crawl's
    access_s : how long an exchange takes, always or drawn anew each time
    """

    def __init__(self, clock: Clock, *, access_s: Duration = 0.1) -> None:
        self.requests: list[Request] = []
        self.in_flight: Counter[str] = Counter()
        self.most_in_flight: Counter[str] = Counter()
        self.fallback: Reply = lambda request: FetchResponse(url=request.url, status=404)
        self.ips: dict[str, str | FetchError] = {}
        self.resolved: list[str] = []
        self._clock = clock
        self._access_s = access_s
        self._replies: dict[str, deque[Reply]] = defaultdict(deque)

    def reply(self, url: str, *replies: Reply) -> None:
        """Set what a URL answers from now on, one reply after the other."""
        self._replies[url] = deque(replies)

    def page(self, url: str, body: str, *links: str, status: int = 200, **fields: str) -> None:
        """Have a URL answer with an HTML page of a text and some links."""
        anchors = "".join(f'<a href="{link}">x</a> ' for link in links)
        html = f"<html><head><title>{body}</title></head><body><main>{body} {anchors}</main></body>"
        response = FetchResponse(
            url=url, status=status, body=html.encode(), content_type="text/html"
        )
        self.reply(url, replace(response, **fields))  # type: ignore[arg-type]

    def asked(self, url: str) -> Sequence[Request]:
        """Return the requests for a URL."""
        return [request for request in self.requests if request.url == url]

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
        request = Request(self._clock.now_s(), url, etag, last_modified)
        self.requests.append(request)
        host = url[: url.index("/", url.index("://") + 3)]
        self.in_flight[host] += 1
        self.most_in_flight[host] = max(self.most_in_flight[host], self.in_flight[host])
        try:
            await self._clock.sleep_until(self._clock.now_s() + drawn(self._access_s))
        finally:
            self.in_flight[host] -= 1
        return bounded(self._answer(request), max_bytes, truncate=truncate, pages_only=pages_only)

    @override
    async def resolve(self, host: str) -> str:
        self.resolved.append(host)
        await self._clock.sleep_until(self._clock.now_s() + drawn(self._access_s))
        told = self.ips.get(host, f"of {host}")
        if isinstance(told, FetchError):
            raise told
        return told

    def _answer(self, request: Request) -> FetchResponse:
        replies = self._replies.get(request.url) or deque([self.fallback])
        reply = replies.popleft() if len(replies) > 1 else replies[0]
        if isinstance(reply, FetchError):
            raise reply
        return reply(request) if callable(reply) else reply
