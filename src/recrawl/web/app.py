"""The application: addresses, and what answers them. Every GET only looks.

Longer than most modules because every address is answered here.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Scope

from recrawl.crawler.ports import StatePlace
from recrawl.crawler.reports.activity import activity_report
from recrawl.crawler.reports.status import status_report
from recrawl.crawler.settings import Settings
from recrawl.errors import InputError, RecrawlError, StateError
from recrawl.web.answers import PageUnknown, Planning, Searching, explain_page
from recrawl.web.asked import (
    as_json,
    asked_body,
    asked_delay,
    asked_rate,
    asked_search,
    asked_weight,
)
from recrawl.web.changes import Changes
from recrawl.web.doors import Doors
from recrawl.web.files import static_file
from recrawl.web.guard import COOKIE, Access, Guard, TokenBuckets
from recrawl.web.hubs import Hubs
from recrawl.web.live import LiveView
from recrawl.web.markup import element
from recrawl.web.observation import crawl_instant
from recrawl.web.opensearch import description
from recrawl.web.pages.activity import activity_page
from recrawl.web.pages.dashboard import dashboard_page
from recrawl.web.pages.layout import message_page
from recrawl.web.pages.page import page_explained, page_unknown
from recrawl.web.pages.search import PER_PAGE, search_page
from recrawl.web.pages.what_if import what_if_page
from recrawl.web.shown import Shown
from recrawl.web.source import CrawlSource
from recrawl.web.streams import EventStream
from recrawl.web.threads import Reader

_REQUESTS_PER_S, _BURST = 400.0, 800.0  # of one client: searches by hand never come near
_LOGINS_PER_S, _LOGIN_BURST = 0.2, 5.0
_LONGEST_LOGIN, _LOGIN_S = 4_096, 10.0
_LONGEST_URL = 2_100  # what a crawl takes is no longer


class CrawlPages:
    """Request handlers of all addresses, for one state directory.

    Parameters
    ----------
    directory : of the state
    access : who may come in
    settings, config : of the crawl, where a configuration is at hand, and what it is called
    """

    def __init__(
        self, directory: StatePlace, *, access: Access, settings: Settings | None, config: str
    ) -> None:
        self._access = access
        self._settings = settings
        self._planning = Planning(settings, config)
        self._searching = Searching()
        self._on_search = Reader(directory, "search")
        self._on_state = Reader(directory, "state")
        self._on_plan = Reader(directory, "plan")
        self._on_live = Reader(directory, "live")
        self._doors = Doors(self._on_state, settings)
        self._hubs = Hubs(self._on_state, settings)
        self._on_changes = Reader(directory, "changes")
        self._changes = Changes(self._on_changes)
        self.shown = Shown(self._on_state, settings)
        self._logins = TokenBuckets(_LOGINS_PER_S, _LOGIN_BURST, time.monotonic)
        self.live = LiveView(self._on_live, agent=settings.name if settings else "recrawl")

    @contextlib.asynccontextmanager
    async def running(self, _: Starlette) -> AsyncIterator[None]:
        """Look at the crawl while the server runs."""
        tasks = [
            asyncio.create_task(self.live.run(), name="live"),
            # Compiled loops take a while to load: better before the first slider moves.
            asyncio.create_task(self._on_plan(self._warm_up), name="warm-up"),
            asyncio.create_task(self.shown.run(), name="shown"),
        ]
        try:
            yield
        finally:
            self.close()
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            await self.shown.keep()
            for reader in self.readers:
                await asyncio.to_thread(reader.close)

    @property
    def readers(self) -> tuple[Reader, ...]:
        """The threads that look."""
        return (
            self._on_search, self._on_state, self._on_plan, self._on_live, self._on_changes,
        )  # fmt: skip

    def close(self) -> None:
        """Let go who waits for what comes."""
        self.live.close()
        self._changes.close()

    def routes(self) -> list[Route]:
        """Return the addresses."""
        return [
            Route("/", self.search),
            Route("/dashboard", self.dashboard),
            Route("/activity", self.activity),
            Route("/page", self.page),
            Route("/what-if", self.what_if),
            Route("/opensearch.xml", self.opensearch),
            Route("/login", self.login, methods=["POST"]),
            Route("/api/search", self.api_search),
            Route("/api/status", self.api_status),
            Route("/api/page", self.api_page),
            Route("/api/what-if", self.api_what_if),
            Route("/api/trade-off", self.api_trade_off),
            Route("/api/events", self.events),
            Route("/static/{name:path}", self.static),
            *self._doors.routes(),
            *self._hubs.routes(),
            *self._changes.routes(),
        ]

    # -- pages --

    async def search(self, request: Request) -> Response:
        """Box, filters and hits."""
        question = asked_search(request.query_params)
        around, result, trouble = await self._on_search(self._searching.find, question)
        self.shown.note(result.hits if result is not None else ())
        page = search_page(
            question,
            result,
            hosts=around.hosts,
            n_documents=around.n_documents,
            now_s=around.now_s,
            trouble=trouble,
        )
        return HTMLResponse(page, 200 if trouble is None else 503)

    async def dashboard(self, request: Request) -> Response:
        """The live view."""
        return HTMLResponse(dashboard_page())

    async def activity(self, request: Request) -> Response:
        """Serve tables of what was found where and when."""
        return HTMLResponse(activity_page(*await self._on_state(_activity)))

    async def what_if(self, request: Request) -> Response:
        """The sliders."""
        return HTMLResponse(what_if_page())

    async def page(self, request: Request) -> Response:
        """One page, explained."""
        url = request.query_params.get("url", "")[:_LONGEST_URL]
        try:
            report, title = await self._on_state(explain_page, url, self._settings)
        except InputError as error:
            return HTMLResponse(page_unknown(url, str(error)), 404)
        return HTMLResponse(page_explained(report, title))

    async def opensearch(self, request: Request) -> Response:
        """Serve the OpenSearch description for browsers."""
        base = str(request.base_url).rstrip("/")
        if self._access.is_behind_tls:
            base = "https://" + base.partition("://")[2]
        text = description(base)
        return Response(text, media_type="application/opensearchdescription+xml")

    async def static(self, request: Request) -> Response:
        """Style sheets, scripts, the icon."""
        found = static_file(request.path_params["name"])
        if found is None:
            raise HTTPException(404, "There is no such file.")
        known = request.query_params.get("v") == found.version
        keep = "public, max-age=31536000, immutable" if known else "no-cache"
        headers = {"cache-control": keep, "content-type": found.content_type}
        return Response(found.body, headers=headers)

    async def login(self, request: Request) -> Response:
        """Take the token from a form, and give the browser a session for it."""
        origin = request.headers.get("origin")
        if origin is not None and origin.partition("://")[2] != request.headers.get("host"):
            raise HTTPException(403, "This form was sent by another site.")
        if not self._logins.take(request.client.host if request.client else ""):
            raise HTTPException(429, "Too many attempts. Wait a few seconds.")
        shown = parse_qs((await _small_body(request)).decode("utf-8", "replace")).get(
            "token", [""]
        )[0]
        if not self._access.admits(shown.strip()):
            return HTMLResponse(login_page("That is not the token."), 401)
        answer = RedirectResponse("/", status_code=303)
        answer.set_cookie(
            COOKIE,
            self._access.session,
            httponly=True,
            samesite="strict",
            path="/",
            secure=self._access.is_behind_tls,
        )
        return answer

    # -- the same as JSON --

    async def api_search(self, request: Request) -> Response:
        """Hits, as `recrawl search --json` has them."""
        question = asked_search(request.query_params)
        if not question.text:
            raise InputError("q: say what to search for")
        _, result, trouble = await self._on_search(self._searching.find, question)
        if result is None:
            raise StateError(trouble or "")
        return as_json(
            {
                "query": question.text,
                "total": result.total,
                "page": question.page,
                "per_page": PER_PAGE,
                "suggestion": result.suggestion,
                "notes": result.notes,
                "hits": [
                    {
                        "url": hit.url,
                        "title": hit.title,
                        "snippet": hit.snippet,
                        "highlights": hit.highlights,
                        "score": hit.score,
                        "fetched_at": hit.fetched_at_s,
                        "seen_at": (result.seen_s or {}).get(hit.url),
                    }
                    for hit in result.hits
                ],
            }
        )

    async def api_status(self, request: Request) -> Response:
        """Serve the object of `recrawl status --json`."""
        return as_json(await self._on_state(_status))

    async def api_page(self, request: Request) -> Response:
        """Serve the object of `recrawl explain --json`, and the title."""
        url = request.query_params.get("url", "")[:_LONGEST_URL]
        report, title = await self._on_state(explain_page, url, self._settings)
        return as_json(report | {"title": title})

    async def api_what_if(self, request: Request) -> Response:
        """Solve for other numbers, and change nothing."""
        asked = request.query_params
        answer = await self._on_plan(
            self._planning.answer,
            budget_per_s=asked_rate(asked.get("budget")),
            delay_s=asked_delay(asked.get("delay")),
            starvation_weight=asked_weight(asked.get("starvation_weight")),
        )
        return as_json(answer)

    def _warm_up(self, source: CrawlSource) -> None:
        with contextlib.suppress(RecrawlError):
            self._planning.answer(source)

    async def api_trade_off(self, request: Request) -> Response:
        """Freshness by budget."""
        return as_json({"points": await self._on_plan(self._planning.trade_off)})

    async def events(self, request: Request) -> Response:
        """The live view, as server-sent events."""
        if request.method == "HEAD":  # whose answer has no end otherwise
            return Response(media_type="text/event-stream")
        if self.live.is_full:
            raise HTTPException(503, "Too many dashboards are open.")
        number = self.live.enter()
        return EventStream(self.live.messages(number), lambda: self.live.leave(number))


def make_app(pages: CrawlPages, access: Access) -> ASGIApp:
    """Return the guarded application."""
    inner = Starlette(
        routes=pages.routes(),
        lifespan=pages.running,
        exception_handlers={
            HTTPException: _on_http_error,
            RecrawlError: _on_own_error,
            Exception: _on_defect,
        },
    )
    buckets = TokenBuckets(_REQUESTS_PER_S, _BURST, time.monotonic)
    return Guard(inner, access=access, buckets=buckets, refuse=_refuse)


async def _small_body(request: Request) -> bytes:
    try:
        async with asyncio.timeout(_LOGIN_S):
            return await asked_body(request, _LONGEST_LOGIN, "That is no token.")
    except TimeoutError as error:
        raise HTTPException(408, "The token did not come.") from error


def login_page(trouble: str | None = None) -> str:
    """Return the form that asks for the token."""
    box = element(
        "input", type="password", name="token", id="token", required=True, autofocus=True,
        autocomplete="current-password",
    )  # fmt: skip
    form = element(
        "form",
        element("label", "Token", for_="token"),
        element("div", box, element("button", "Come in", type="submit"), class_="box"),
        element("p", trouble, class_="note", role="alert") if trouble else None,
        action="/login",
        method="post",
        class_="search",
    )
    text = (
        "This crawl is shown to those who have its token. It stands where the server was started."
    )
    return message_page("A token is asked for", text, form)


def _refuse(status: int, text: str, scope: Scope) -> Response:
    if _wants_json(scope["path"]):
        return as_json({"error": text}, status)
    if status == 401:
        return HTMLResponse(login_page(), status, headers={"www-authenticate": "Bearer"})
    return HTMLResponse(message_page("Not here", text), status)


def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    words = error.detail if error.status_code not in (404, 405) else "There is no such page."
    return _failed(request, error.status_code, "Not here", words)


def _on_own_error(request: Request, error: Exception) -> Response:
    if isinstance(error, PageUnknown):
        return _failed(request, 404, "Not known to this crawl", str(error))
    if isinstance(error, InputError):
        return _failed(request, 400, "That cannot be asked", str(error))
    return _failed(request, 503, "The crawl's state cannot be read", str(error))


def _on_defect(request: Request, error: Exception) -> Response:
    text = "Something went wrong here; the terminal of the server has the details."
    return _failed(request, 500, "A defect", text)


def _failed(request: Request, status: int, title: str, text: str) -> Response:
    if _wants_json(request.url.path):
        return as_json({"error": text}, status)
    return HTMLResponse(message_page(title, text), status)


def _wants_json(path: str) -> bool:
    return path.startswith(("/api/", "/visit", "/indexnow", "/changes"))


def _activity(source: CrawlSource) -> tuple[dict[str, object], float]:
    frontier = source.frontier()
    now_s = crawl_instant(frontier.facts(), is_running=source.history().is_running())
    return activity_report(frontier, frontier.last_plan(), now_s=now_s), now_s


def _status(source: CrawlSource) -> dict[str, object]:
    frontier = source.frontier()
    running = source.history().is_running()
    now_s = crawl_instant(frontier.facts(), is_running=running)
    return status_report(frontier, now_s=now_s) | {"running": running}
