"""WebSub callbacks: hubs verify that a subscription was meant, and tell that a feed has changed.

What they tell is a signal like the date in a sitemap: pages are visited earlier by as much as such
signals have proved to be worth, and what a notification holds is never indexed.
"""

import hashlib
import hmac
import time
from contextlib import closing
from dataclasses import replace
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from recrawl.crawler.control.addresses.scope import why_outside
from recrawl.crawler.control.answers.hubs import LEASE_S, renewed_s, tried_again_s
from recrawl.crawler.control.urls import normalise
from recrawl.crawler.settings import Settings
from recrawl.crawler.wiring.rules import crawl_rules
from recrawl.crawler.wiring.stores import feed_entries, open_door, open_subscriptions
from recrawl.terms import Subscription
from recrawl.web.asked import asked_body
from recrawl.web.source import CrawlSource
from recrawl.web.threads import Reader

WEBSUB: Final = "/websub/"  # whoever asks here knows an address that nobody guesses
_LONGEST_CHALLENGE: Final = 4_096
_MOST_PAGES: Final = 100  # of one notification
_METHODS: Final = ("sha1", "sha256", "sha384", "sha512")


class Hubs:
    """Takes what hubs say.

    Parameters
    ----------
    reader : thread on which the state is asked
    settings : of the crawl, where a configuration is at hand: its scope and its callback
    """

    def __init__(self, reader: Reader, settings: Settings | None) -> None:
        self._reader = reader
        self._scope = None if settings is None else crawl_rules(settings).admission.scope
        self._is_open = settings is not None and bool(settings.callback)

    def routes(self) -> list[Route]:
        """Return the addresses."""
        path = f"{WEBSUB}{{callback}}"
        return [
            Route(path, self.verify, methods=["GET"]),
            Route(path, self.told, methods=["POST"]),
        ]

    async def verify(self, request: Request) -> Response:
        """Confirm what was asked of a hub, and only that; or note that it refused."""
        self._check_open()
        asked = request.query_params
        mode, topic = asked.get("hub.mode", ""), asked.get("hub.topic", "")
        if mode == "denied":
            reason = asked.get("hub.reason", "")[:200]
            await self._reader(_denied, request.path_params["callback"], topic, reason)
            return Response(status_code=200)
        challenge = asked.get("hub.challenge", "")
        lease = asked.get("hub.lease_seconds", "")
        lease_s = float(lease) if lease.isascii() and lease.isdigit() and len(lease) < 12 else None
        if mode != "subscribe" or not 0 < len(challenge) <= _LONGEST_CHALLENGE:
            raise HTTPException(404, "Nobody asked for that.")
        callback = request.path_params["callback"]
        meant = await self._reader(_verified, callback, topic, lease_s or LEASE_S)
        if not meant:
            raise HTTPException(404, "Nobody asked for that.")
        return PlainTextResponse(challenge)

    async def told(self, request: Request) -> Response:
        """Take a notification; one whose signature is wrong is taken and thrown away."""
        self._check_open()
        body = await asked_body(request)
        signature = request.headers.get("x-hub-signature", "")
        known = await self._reader(self._take, request.path_params["callback"], signature, body)
        if not known:
            raise HTTPException(410, "That is no subscription of ours.")
        return Response(status_code=202)

    def _check_open(self) -> None:
        if not self._is_open:
            raise HTTPException(404, "No hub is listened to: no callback is configured.")

    def _take(self, source: CrawlSource, callback: str, signature: str, body: bytes) -> bool:
        with closing(open_subscriptions(source.directory)) as subscriptions:
            one = subscriptions.of(callback)
            now_s = time.time()
            if one is None or one.until_s <= now_s:
                return False
            if not is_signed(one.secret, signature, body):
                return True
            subscriptions.save(replace(one, told_s=now_s))
        with closing(open_door(source.directory)) as door:
            door.ask(self._news(one, body), is_signal=True)
        return True

    def _news(self, one: Subscription, body: bytes) -> list[str]:
        """Return the pages that a notification is about; the topic itself where it names none."""
        found = [
            address
            for url, at_s in feed_entries(body, one.topic)
            if (at_s is None or at_s > one.told_s - 3_600.0)  # clocks differ
            and (address := normalise(url)) is not None
            and (self._scope is None or why_outside(self._scope, address) is None)
        ]
        return list(dict.fromkeys(found))[:_MOST_PAGES] or [one.topic]


def is_signed(secret: str, signature: str, body: bytes) -> bool:
    """Tell whether a body was signed with a secret, by an X-Hub-Signature header."""
    method, _, shown = signature.partition("=")
    if method.lower() not in _METHODS:
        return False
    right = hmac.new(secret.encode(), body, getattr(hashlib, method.lower())).hexdigest()
    return hmac.compare_digest(shown.lower().encode(), right.encode())


def _verified(source: CrawlSource, callback: str, topic: str, lease_s: float) -> bool:
    with closing(open_subscriptions(source.directory)) as subscriptions:
        one, now_s = subscriptions.of(callback), time.time()
        if one is None or one.topic != topic or one.asked_until_s <= now_s:
            return False
        until_s, due_s = renewed_s(now_s, lease_s)
        granted = replace(one, asked_until_s=0.0, until_s=until_s, due_s=due_s, failures=0)
        subscriptions.save(replace(granted, note=None, told_s=one.told_s or now_s))
    return True


def _denied(source: CrawlSource, callback: str, topic: str, reason: str) -> None:
    with closing(open_subscriptions(source.directory)) as subscriptions:
        one, now_s = subscriptions.of(callback), time.time()
        if one is not None and one.topic == topic:
            later_s = tried_again_s(now_s, max(one.failures, 7))
            note = f"the hub refused: {reason}" if reason else "the hub refused"
            refused = replace(one, asked_until_s=0.0, until_s=0.0, due_s=later_s, note=note)
            subscriptions.save(refused)
