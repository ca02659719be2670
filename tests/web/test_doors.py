"""Where others ask for visits or say that pages have changed: checked, bounded, and guarded."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.types import ASGIApp
from tests.web.asgi import Answer, ask
from tests.web.state import HOST, stories, write_state

from recrawl.crawler.frontier.sqlite import SqliteFrontier
from recrawl.crawler.settings import Settings
from recrawl.terms import Discovery
from recrawl.web.app import CrawlPages, make_app
from recrawl.web.guard import Access

KEY = "a-key-of-length-enough"
TOKEN = "correct-horse-battery"


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return write_state(tmp_path / "crawl", stories(3))


@asynccontextmanager
async def serving(state: Path, token: str | None = None, key: str = KEY) -> AsyncIterator[ASGIApp]:
    settings = Settings(
        seeds=(f"{HOST}/",), contact="mailto:me@my.domain", state=state,
        hosts=(HOST.partition("://")[2],), indexnow_key=key,
    )  # fmt: skip
    access = Access(token=token)
    pages = CrawlPages(state, access=access, settings=settings, config="recrawl.toml")
    try:
        yield make_app(pages, access)
    finally:
        for reader in pages.readers:
            reader.close()


async def post(app: ASGIApp, url: str, told: object, **headers: str) -> Answer:
    body = told if isinstance(told, bytes) else json.dumps(told).encode()
    return await ask(app, url, method="POST", body=body, **headers)


def asked_of(state: Path) -> list[tuple[Any, ...]]:
    frontier = SqliteFrontier(state, read_only=True)
    try:
        rows: list[tuple[Any, ...]] = frontier._db.execute(
            "SELECT url, is_signal FROM asked ORDER BY id"
        ).fetchall()
        return rows
    finally:
        frontier.close()


async def test_pages_are_asked_for_and_the_answers_told_by_number(state: Path) -> None:
    """Numbers first; what came of it once the crawl has been there."""
    async with serving(state) as app:
        taken = await post(app, "/visit", {"urls": [f"{HOST}/1", f"{HOST}/1", f"{HOST}/new"]})
        numbers = [one["number"] for one in taken.json["asked"]]
        frontier = SqliteFrontier(state)
        frontier.take_asked(lambda url: Discovery(url, HOST), 1.0, _limits())
        frontier.close()
        told = await ask(app, f"/visit?numbers={numbers[0]},{numbers[1]}")

    assert taken.status == 202
    assert asked_of(state) == [(f"{HOST}/1", 0), (f"{HOST}/new", 0)]
    assert [one["outcome"] for one in told.json["visits"]] == [None, None]


def _limits() -> Any:
    from recrawl.crawler.ports import AdmissionLimits

    return AdmissionLimits()


@pytest.mark.parametrize(
    ("status", "words", "told"),
    [
        (400, "JSON", b"{"),
        (400, "JSON", {"url": ["x"]}),
        (400, "at least one", {"urls": []}),
        (400, "'ftp://x'", {"urls": ["ftp://x"]}),
        (400, "another host", {"urls": ["http://else.test/"]}),
        (400, "too many", {"urls": [f"{HOST}/{n}" for n in range(10_001)]}),
        (413, "1 MiB", b"x" * 1_100_000),
    ],
)
async def test_a_wrong_wish_is_refused_whole(
    state: Path, status: int, words: str, told: object
) -> None:
    """One message with what would be right; nothing is written."""
    async with serving(state) as app:
        answer = await post(app, "/visit", told)

    assert (answer.status, asked_of(state)) == (status, [])
    assert words in answer.json["error"]


async def test_visits_are_asked_for_with_the_token_and_not_by_other_sites(state: Path) -> None:
    """A page that a reader has open elsewhere must not send this crawl about."""
    wish = {"urls": [f"{HOST}/1"]}
    async with serving(state, TOKEN) as app:
        without = await post(app, "/visit", wish)
        with_it = await post(app, "/visit", wish, authorization=f"Bearer {TOKEN}")
    async with serving(state) as app:
        other_site = await post(app, "/visit", wish, origin="http://evil.test")

    assert (without.status, with_it.status, other_site.status) == (401, 202, 403)


async def test_indexnow_pings_with_the_key_are_signals(state: Path) -> None:
    """As the protocol has it, in both forms; also where a token guards the rest."""
    many = {"host": HOST.partition("://")[2], "key": KEY, "urlList": [f"{HOST}/1", f"{HOST}/2"]}
    async with serving(state, TOKEN) as app:
        answers = [
            await post(app, "/indexnow", many),
            await ask(app, f"/indexnow?url={HOST}/3&key={KEY}"),
            await ask(app, f"/indexnow?url={HOST}/3&key=wrong-wrong"),
            await post(app, "/indexnow", many | {"host": "other.test"}),
            await post(app, "/indexnow", b"[]"),
            await ask(app, "/indexnow"),
        ]
    async with serving(state, key="") as app:
        off = await ask(app, f"/indexnow?url={HOST}/3&key=")

    assert [answer.status for answer in answers] == [202, 202, 403, 422, 400, 400]
    assert off.status == 404
    assert asked_of(state) == [(f"{HOST}/1", 1), (f"{HOST}/2", 1), (f"{HOST}/3", 1)]
