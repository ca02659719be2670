"""How hubs are asked to announce feeds, and what is kept of their answers."""

from collections.abc import Mapping
from typing import Any

import pytest
from typing_extensions import override

from recrawl.crawler.ports import HubClient
from recrawl.crawler.runtime.subscriptions import Subscriber
from recrawl.errors import FetchError
from recrawl.terms import FetchResponse, Subscription
from recrawl.testing import run_virtually, virtual_crawl
from recrawl.testing.worlds import EPOCH_S

FEED, HUB = "http://a.test/feed", "http://hub.test/"
ONE = Subscription(FEED, HUB, "end", "secret", EPOCH_S, failures=2)


class Hub(HubClient):
    """A hub that answers as it is told."""

    def __init__(self, answer: FetchResponse | FetchError) -> None:
        self.answer = answer
        self.asked: list[tuple[str, Mapping[str, str]]] = []

    @override
    async def post(self, url: str, form: Mapping[str, str]) -> FetchResponse:
        self.asked.append((url, form))
        if isinstance(self.answer, FetchError):
            raise self.answer
        return self.answer


class Kept:
    """A store in which one subscription is due."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str, float]] = []
        self.saved: list[Subscription] = []

    def found(self, topic: str, hub: str, now_s: float) -> None:
        self.told.append((topic, hub, now_s))

    def due(self, now_s: float, limit: int) -> list[Subscription]:
        return [ONE]

    def save(self, subscription: Subscription) -> None:
        self.saved.append(subscription)


def looked(answer: FetchResponse | FetchError, *feeds: FetchResponse) -> tuple[Hub, Kept]:
    """Look twice; the feeds are read before the first time."""
    hub, kept = Hub(answer), Kept()
    own: Any = kept

    async def main() -> None:
        virtual = virtual_crawl(hubs=hub, subscriptions=own)
        subscriber = Subscriber(
            virtual.crawl.world,
            "https://here.test",
            is_ours=lambda url: url.startswith("http://a.test/"),
            every_s=60.0,
        )
        for feed in feeds:
            subscriber.look_at(feed.url, feed)
        await subscriber.look()
        await subscriber.look()

    run_virtually(main())
    return hub, kept


@pytest.mark.parametrize(
    ("answer", "note"),
    [
        (FetchResponse(HUB, 200), None),
        (FetchResponse(HUB, 202), None),
        (FetchResponse(HUB, 299), None),
        (FetchResponse(HUB, 300), "the hub answered 300"),
        (FetchResponse(HUB, 199), "the hub answered 199"),
        (FetchError("timeout", "no answer " * 99), f"timeout: {'no answer ' * 99}"[:300]),
    ],
)
def test_a_hub_is_asked_and_may_verify_for_ten_minutes_unless_it_refused(
    answer: FetchResponse | FetchError, note: str | None
) -> None:
    """It is asked again later each time; a note of that comes before it is asked."""
    hub, kept = looked(answer)

    assert hub.asked == 2 * [
        (
            HUB,
            {
                "hub.mode": "subscribe",
                "hub.topic": FEED,
                "hub.callback": "https://here.test/websub/end",
                "hub.secret": "secret",
                "hub.lease_seconds": "864000",
            },
        )
    ]
    asked, *refused = kept.saved[: len(kept.saved) // 2]
    assert (asked.due_s, asked.failures) == (EPOCH_S + 4 * 600.0, 3)
    assert (asked.asked_until_s, asked.note) == (EPOCH_S + 600.0, None)
    assert [(one.asked_until_s, one.note) for one in refused] == [(0.0, note)] * bool(note)


def test_what_feeds_name_is_noted_once() -> None:
    """Of a topic that belongs to another site, that of the feed itself is."""
    named = '<http://hub.test/>; rel="hub", <{}>; rel="self"'
    other = "http://a.test/other"

    _, kept = looked(
        FetchResponse(HUB, 202),
        FetchResponse(FEED, 200, link=named.format(f"{FEED}?all")),
        FetchResponse(other, 200, link=named.format("http://b.test/feed")),
        FetchResponse("http://a.test/bare", 200),
    )

    assert kept.told == [(f"{FEED}?all", HUB, EPOCH_S), (other, HUB, EPOCH_S)]
