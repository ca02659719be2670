"""Guard around every page: who may ask, how often, and what a browser may do with the answer.

Checked in this order: the Host header (a name that was rebound to this machine is not ours), the
rate, the token. All answers carry a strict content security policy.
"""

import hashlib
import hmac
import ipaddress
import secrets
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from http.cookies import CookieError, SimpleCookie
from typing import Final

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS: Final = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # A form of ours then says where it comes from; nobody else learns where a reader was.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
_RAW_HEADERS: Final = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
_NO_STORE: Final = ((b"cache-control", b"no-store"),)
COOKIE: Final = "recrawl-session"
_OPEN_PATHS: Final = ("/static/", "/login", "/indexnow", "/websub/")  # those who ask show a key


class TokenBuckets:
    """So many requests a second for each client, and a burst.

    Parameters
    ----------
    rate_per_s, burst : of one client
    now_s : a clock that only moves forward
    at_most : clients remembered; the one not heard of for longest is forgotten first
    """

    def __init__(
        self, rate_per_s: float, burst: float, now_s: Callable[[], float], *, at_most: int = 10_000
    ) -> None:
        self._rate_per_s = rate_per_s
        self._burst = burst
        self._now_s = now_s
        self._at_most = at_most
        self._held: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str) -> bool:
        """Whether this client may ask once more now."""
        now_s = self._now_s()
        left, since_s = self._held.pop(client, (self._burst, now_s))
        left = min(self._burst, left + (now_s - since_s) * self._rate_per_s)
        allowed = left >= 1.0
        self._held[client] = (left - 1.0 if allowed else left, now_s)
        if len(self._held) > self._at_most:
            self._held.popitem(last=False)
        return allowed


@dataclass(frozen=True, slots=True)
class Access:
    """Access rules of the server.

    Parameters
    ----------
    names : host names that this server answers to, beside localhost and bare addresses
    token : that must be shown; None: nobody asks
    is_behind_tls : whether browsers reach this server through one that encrypts
    """

    names: frozenset[str] = frozenset()
    token: str | None = None
    is_behind_tls: bool = False
    _key: bytes = field(default_factory=lambda: secrets.token_bytes(32))

    def is_ours(self, host: str) -> bool:
        """Tell whether a Host header names this server and not a name bound to its address."""
        name = _without_port(host)
        if name is None:
            return False
        if name == "localhost" or name in self.names:
            return True
        try:
            ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return False
        return True

    def admits(self, shown: str) -> bool:
        """Tell whether this is the token, in the same time whatever is shown."""
        return self.token is None or hmac.compare_digest(shown.encode(), self.token.encode())

    @property
    def session(self) -> str:
        """Session cookie in place of the token; worth nothing after this process."""
        return hmac.new(self._key, (self.token or "").encode(), hashlib.sha256).hexdigest()

    def knows(self, headers: Headers) -> bool:
        """Tell whether a request may come in: by cookie, or by an Authorization header."""
        if self.token is None:
            return True
        kind, _, shown = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and self.admits(shown.strip()):
            return True
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            return False
        return cookie is not None and hmac.compare_digest(
            cookie.value.encode(), self.session.encode()
        )


class Guard:
    """The outermost layer of the application.

    Parameters
    ----------
    app : what is guarded
    access : who may come in
    buckets : how often
    refuse : makes the answer for a refused request from status, message and scope
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        access: Access,
        buckets: TokenBuckets,
        refuse: Callable[[int, str, Scope], Response],
    ) -> None:
        self._app = app
        self._access = access
        self._buckets = buckets
        self._refuse = refuse
        self._is_ours = lru_cache(maxsize=256)(access.is_ours)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check, then hand on with the headers that every answer carries."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = message["headers"]
                keep = () if any(name == b"cache-control" for name, _ in own) else _NO_STORE
                message["headers"] = [*own, *_RAW_HEADERS, *keep]
            await send(message)

        refused = self._refused(scope)
        await (refused or self._app)(scope, receive, send_guarded)

    def _refused(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        client = scope.get("client")
        if not self._is_ours(headers.get("host", "")):
            text = (
                "This server does not answer to that host name. Ask by its address, or start it "
                "with --name."
            )
            return self._refuse(421, text, scope)
        if not self._buckets.take(str(client[0]) if client else ""):
            return self._refuse(429, "Too many requests at once. Wait a second.", scope)
        if not scope["path"].startswith(_OPEN_PATHS) and not self._access.knows(headers):
            return self._refuse(401, "This crawl is shown to those who have its token.", scope)
        return None


def _without_port(host: str) -> str | None:
    host = host.strip().lower()
    if host.startswith("["):
        address, closed, port = host.partition("]")
        return f"{address}]" if closed and (not port or port[1:].isdigit()) else None
    name, colon, port = host.partition(":")
    if colon and not port.isdigit():
        return None
    return name.rstrip(".") or None
