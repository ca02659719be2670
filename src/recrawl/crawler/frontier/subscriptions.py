"""Subscriptions to hubs, kept in the state: of the crawl that asks, and of the pages it is told by.

Two processes write here, each one short statement at a time.
"""

import secrets
from dataclasses import asdict
from typing import Final

from typing_extensions import override

from recrawl.crawler.frontier.store import Door, translated
from recrawl.crawler.ports import Subscriptions
from recrawl.terms import Subscription

_MOST: Final = 1_000


class SqliteSubscriptions(Door, Subscriptions):
    """At most a thousand subscriptions of one state directory."""

    @override
    def found(self, topic: str, hub: str, now_s: float) -> None:
        row = {
            "topic": topic,
            "hub": hub,
            "now_s": now_s,
            "most": _MOST,
            "callback": secrets.token_urlsafe(24),
            "secret": secrets.token_urlsafe(32),
        }
        with translated(self._path):
            self._run("add_subscription", **row)

    @override
    def due(self, now_s: float, limit: int) -> list[Subscription]:
        return self._read("subscriptions_due", now_s=now_s, limit=limit)

    @override
    def of(self, callback: str) -> Subscription | None:
        rows = self._read("subscription_of", callback=callback)
        return rows[0] if rows else None

    @override
    def every(self) -> list[Subscription]:
        return self._read("subscriptions", limit=_MOST)

    @override
    def save(self, subscription: Subscription) -> None:
        with translated(self._path):
            self._run("save_subscription", **asdict(subscription))

    def _read(self, name: str, **values: object) -> list[Subscription]:
        return [Subscription(*row) for row in self._rows(name, **values)]
