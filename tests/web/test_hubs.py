"""WebSub with a scripted hub on this machine: asked, verified, told, renewed, refused."""

import hashlib
import hmac
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, quote, urlencode

import pytest
from starlette.types import ASGIApp
from tests.acceptance.servers import Exchange, serving
from tests.web.asgi import ask
from tests.web.state import HOST, stories, write_state
from tests.web.test_doors import asked_of

from recrawl.crawler.fetch.http import HttpFetcher
from recrawl.crawler.ports import HubClient
from recrawl.crawler.runtime.subscriptions import Subscriber
from recrawl.crawler.settings import Settings
from recrawl.crawler.wiring.stores import open_subscriptions
from recrawl.terms import FetchResponse, Subscription
from recrawl.testing import Setup, run_virtually, virtual_crawl
from recrawl.web.app import CrawlPages, make_app
from recrawl.web.guard import Access

TOPIC = f"{HOST}/feed"
CALLBACK = "https://crawl.my.domain"
FEED = (
    '<feed xmlns="http://www.w3.org/2005/Atom">'
    f'<entry><link href="{HOST}/1"/><updated>2999-01-01T00:00:00Z</updated></entry>'
    f'<entry><link href="{HOST}/2"/><updated>2001-01-01T00:00:00Z</updated></entry>'
    '<entry><link href="http://else.test/"/></entry></feed>'
).encode()


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return write_state(tmp_path / "crawl", stories(3))


@asynccontextmanager
async def pages(state: Path, callback: str = CALLBACK) -> AsyncIterator[ASGIApp]:
    """Serve the pages of a crawl, behind a token that no hub knows."""
    settings = Settings(
        seeds=(f"{HOST}/",), contact="mailto:me@my.domain", state=state,
        hosts=(HOST.partition("://")[2],), callback=callback,
    )  # fmt: skip
    access = Access(token="correct-horse-battery")
    made = CrawlPages(state, access=access, settings=settings, config="recrawl.toml")
    try:
        yield make_app(made, access)
    finally:
        for reader in made.readers:
            reader.close()


def kept(state: Path) -> Subscription:
    """Return the one subscription there is."""
    subscriptions = open_subscriptions(state)
    try:
        (one,) = subscriptions.every()
        return one
    finally:
        subscriptions.close()


def keep(state: Path, **fields: object) -> Subscription:
    """Have a subscription whose fields are these."""
    subscriptions = open_subscriptions(state)
    subscriptions.found(TOPIC, "http://hub.test/", 5.0)
    (one,) = subscriptions.every()
    changed = replace(one, **fields)  # type: ignore[arg-type]
    subscriptions.save(changed)
    subscriptions.close()
    return changed


def verification(one: Subscription, **fields: str) -> str:
    told = {
        "hub.mode": "subscribe",
        "hub.topic": one.topic,
        "hub.challenge": "a challenge & more",
        "hub.lease_seconds": "40000",
    } | {f"hub.{name}": value for name, value in fields.items()}
    return f"/websub/{one.callback}?{urlencode(told)}"


def signed(one: Subscription, body: bytes, method: str = "sha256") -> str:
    return f"{method}={hmac.new(one.secret.encode(), body, method).hexdigest()}"


async def looked(state: Path, feed: FetchResponse, status: int) -> list[dict[str, str]]:
    """Show a feed to a subscriber whose hub answers so; return the forms that the hub got."""
    got: list[dict[str, str]] = []

    async def hub(exchange: Exchange) -> None:
        form = parse_qs(exchange.body.decode())
        got.append({name: values[0] for name, values in form.items()})
        await exchange.reply("", status=status)

    with serving(hub) as server:
        named = replace(feed, body=feed.body.replace(b"HUB", f"127.0.0.1:{server.port}".encode()))
        async with HttpFetcher(user_agent="recrawl", allow_private=["127.0.0.1"]) as client:
            virtual = virtual_crawl()
            subscriptions = open_subscriptions(state)
            world = replace(virtual.crawl.world, hubs=client, subscriptions=subscriptions)
            subscriber = Subscriber(
                world, CALLBACK, is_ours=lambda url: url.startswith(HOST), every_s=1.0
            )
            subscriber.look_at(TOPIC, named)
            await subscriber.look()
            await subscriber.look()  # nothing is due any more
            subscriptions.close()
    return got


async def test_a_hub_that_a_feed_names_is_asked_once_and_verifies(state: Path) -> None:
    """With a callback that nobody guesses, a secret and a lease; the challenge comes back."""
    body = b'<link rel="hub" href="http://HUB/"/><link rel="self" href="http://else.test/f"/>'
    (form,) = await looked(state, FetchResponse(TOPIC, 200, body), 202)
    one = kept(state)

    assert form["hub.mode"] == "subscribe"
    assert form["hub.topic"] == one.topic == TOPIC  # another site's topic is not ours to ask for
    assert form["hub.callback"] == f"{CALLBACK}/websub/{one.callback}"
    assert form["hub.secret"] == one.secret
    assert len(one.secret) >= 32
    assert len(one.callback) >= 32
    # The clock of a virtual crawl is not that of the pages: the hub may verify from here on.
    assert one.asked_until_s > 0.0
    keep(state, asked_until_s=time.time() + 60.0)
    async with pages(state) as app:
        answer = await ask(app, verification(kept(state)))
    assert (answer.status, answer.text) == (200, "a challenge & more")
    granted = kept(state)
    assert granted.until_s == pytest.approx(time.time() + 40_000.0, abs=60.0)
    assert granted.due_s == pytest.approx(time.time() + 30_000.0, abs=60.0)  # renewed before
    assert (granted.failures, granted.asked_until_s) == (0, 0.0)


async def test_a_hub_that_refuses_is_asked_again_later(state: Path) -> None:
    """And may not verify what it said no to."""
    body = b'<link rel="hub" href="http://HUB/"/>'
    assert len(await looked(state, FetchResponse(TOPIC, 200, body), 500)) == 1
    one = kept(state)

    assert one.note == "the hub answered 500"
    assert (one.failures, one.asked_until_s) == (1, 0.0)
    async with pages(state) as app:
        assert (await ask(app, verification(one))).status == 404


@pytest.mark.parametrize(
    "fields",
    [
        {"topic": f"{HOST}/another"},
        {"mode": "unsubscribe"},
        {"challenge": ""},
        {"challenge": "x" * 5_000},
    ],
)
async def test_only_what_was_asked_is_confirmed(state: Path, fields: dict[str, str]) -> None:
    """Another topic, another wish, no challenge or an endless one: nobody asked for that."""
    one = keep(state, asked_until_s=time.time() + 60.0)
    async with pages(state) as app:
        assert (await ask(app, verification(one, **fields))).status == 404
        assert (await ask(app, verification(replace(one, callback="x" * 32)))).status == 404

    assert kept(state) == one


async def test_a_signed_notification_is_a_signal_for_the_pages_it_names(state: Path) -> None:
    """Those that belong to the crawl and are dated since; any way of signing of the standard."""
    one = keep(state, until_s=time.time() + 60.0, told_s=time.time() - 600.0)
    async with pages(state) as app:
        for method in ("sha1", "sha256", "sha512"):
            headers = {"x-hub-signature": signed(one, FEED, method)}
            answer = await ask(app, f"/websub/{one.callback}", method="POST", body=FEED, **headers)
            assert answer.status == 202
        other = b"not a feed"
        headers = {"x-hub-signature": signed(one, other)}
        await ask(app, f"/websub/{one.callback}", method="POST", body=other, **headers)

    assert asked_of(state) == [*[(f"{HOST}/1", 1)] * 3, (TOPIC, 1)]
    assert kept(state).told_s == pytest.approx(time.time(), abs=60.0)


async def test_what_is_not_signed_is_taken_and_thrown_away(state: Path) -> None:
    """As the standard asks for; who has no subscription is told so, and nothing is too long."""
    one = keep(state, until_s=time.time() + 60.0)
    wrong = ("", "sha256=", f"sha256={hashlib.sha256(FEED).hexdigest()}", signed(one, FEED[1:]))
    path = f"/websub/{one.callback}"
    async with pages(state) as app:
        for signature in (*wrong, "md5=" + hmac.new(b"x", FEED, "md5").hexdigest()):
            told = await ask(app, path, method="POST", body=FEED, **{"x-hub-signature": signature})
            assert told.status == 202, signature
        unknown = await ask(app, "/websub/nobody", method="POST", body=FEED)
        long = await ask(app, path, method="POST", body=b"x" * 1_100_000)
    keep(state, until_s=time.time() - 1.0)
    async with pages(state) as app:
        headers = {"x-hub-signature": signed(one, FEED)}
        lapsed = await ask(app, path, method="POST", body=FEED, **headers)

    assert (unknown.status, long.status, lapsed.status) == (410, 413, 410)
    assert asked_of(state) == []


async def test_a_refusal_ends_a_subscription_for_a_while(state: Path) -> None:
    """With its reason kept; of another topic it means nothing."""
    one = keep(state, until_s=time.time() + 60.0)
    async with pages(state) as app:
        path = f"/websub/{one.callback}?hub.mode=denied&hub.reason=full&hub.topic="
        await ask(app, path + quote("http://a.test/another", safe=""))
        assert kept(state) == one
        assert (await ask(app, path + quote(TOPIC, safe=""))).status == 200

    refused = kept(state)
    assert (refused.until_s, refused.note) == (0.0, "the hub refused: full")
    assert refused.due_s > time.time() + 3_600.0


async def test_without_a_callback_there_is_no_such_page(state: Path) -> None:
    """Neither to verify nor to tell."""
    one = keep(state, asked_until_s=time.time() + 60.0, until_s=time.time() + 60.0)
    async with pages(state, callback="") as app:
        assert (await ask(app, verification(one))).status == 404
        assert (await ask(app, f"/websub/{one.callback}", method="POST", body=b"")).status == 404


class Hub(HubClient):
    """Notes what it is asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    async def post(self, url: str, form: Mapping[str, str]) -> FetchResponse:
        self.asked.append((url, form["hub.topic"]))
        return FetchResponse(url, 202)


def test_a_crawl_asks_the_hub_of_every_feed_that_it_reads(state: Path) -> None:
    """From the page that names the feed to the hub that that one names; again unless verified."""

    async def main() -> list[tuple[str, str]]:
        hub, subscriptions = Hub(), open_subscriptions(state)
        setup = Setup(rules={"callback": CALLBACK, "subscribe_every_s": 60.0})
        virtual = virtual_crawl(setup, hubs=hub, subscriptions=subscriptions)
        link = '<link rel="alternate" type="application/atom+xml" href="/feed">'
        home = FetchResponse(f"{HOST}/", 200, f"<head>{link}</head>home".encode(), "text/html")
        virtual.web.reply(f"{HOST}/", home)
        feed = FetchResponse(
            TOPIC, 200, FEED, "application/atom+xml", link='<http://hub.test/>; rel="hub"'
        )
        virtual.web.reply(TOPIC, feed)
        await virtual.run_for(1_000.0)
        subscriptions.close()
        return hub.asked

    assert run_virtually(main()) == [("http://hub.test/", TOPIC)] * 2


def test_a_hub_that_is_asked_has_some_minutes_to_verify(state: Path) -> None:
    """From before the question on: it may verify before it answers."""
    left_s: list[float] = []

    async def main() -> None:
        subscriptions = open_subscriptions(state)
        virtual = virtual_crawl(Setup(rules={"callback": CALLBACK}), subscriptions=subscriptions)

        class Asked(Hub):
            async def post(self, url: str, form: Mapping[str, str]) -> FetchResponse:
                (one,) = subscriptions.every()
                left_s.append(one.asked_until_s - virtual.crawl.now_s)
                return await super().post(url, form)

        world = replace(virtual.crawl.world, hubs=Asked(), subscriptions=subscriptions)
        subscriber = Subscriber(world, CALLBACK, is_ours=lambda _: True, every_s=1.0)
        subscriptions.found(TOPIC, "http://hub.test/", virtual.crawl.now_s)
        await subscriber.look()
        subscriptions.close()

    run_virtually(main())
    assert len(left_s) == 1
    assert 60.0 <= left_s[0] <= 3_600.0
