"""What a configuration names and is not there is said before anything is written."""

import asyncio
import re
from pathlib import Path

import pytest

from recrawl.crawler.settings import Settings
from recrawl.crawler.settings.values import AccessSettings, RenderSettings
from recrawl.crawler.telemetry.counters import CountingSink
from recrawl.crawler.wiring import fetchers, reading
from recrawl.crawler.wiring.crawls import open_parts
from recrawl.errors import InvalidSettings
from recrawl.terms import Database

SECRET = {"access": (AccessSettings(("a.test",), secret_env="NOWHERE_SET"),)}
RENDER = {"render": (RenderSettings("/*"),)}
MARKDOWN = {"keep_markdown": True}


@pytest.mark.parametrize(
    ("given", "word"), [(SECRET, "NOWHERE_SET"), (RENDER, "chromium"), (MARKDOWN, "markdown")]
)
def test_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, object], word: str
) -> None:
    """Neither a state nor a folder for it."""
    monkeypatch.setattr(fetchers, "browser_program", lambda: None)
    monkeypatch.setattr(reading, "is_available", lambda: False)
    state = tmp_path / "state"
    settings = Settings(["http://a.test/"], "mailto:me@a.test", state, **given)  # type: ignore[arg-type]

    async def main() -> None:
        async with open_parts(settings, events=CountingSink()):
            raise AssertionError("it was opened")

    with pytest.raises(InvalidSettings, match=word):
        asyncio.run(main())
    assert not state.exists()


@pytest.mark.parametrize(
    "seed", ["http://127.0.0.1:8090/", "http://docs.localhost/", "http://[::1]/"]
)
def test_seeds_that_no_crawl_may_ask_are_refused_at_once(tmp_path: Path, seed: str) -> None:
    """With the line that allows them; not where one of them can be asked, or others fetch."""
    name = seed.split("/")[2].removesuffix(":8090").strip("[]")
    state = tmp_path / "state"

    async def opened(*seeds: str, **more: object) -> None:
        settings = Settings(seeds, "mailto:me@a.test", state, **more)  # type: ignore[arg-type]
        async with open_parts(settings, events=CountingSink()):
            pass

    with pytest.raises(InvalidSettings, match=re.escape(f'allow_private = ["{name}"]')):
        asyncio.run(opened(seed))
    assert not state.exists()
    asyncio.run(opened(seed, "http://a.test/"))
    asyncio.run(opened(seed, allow_private=(name,)))


def test_a_process_that_cannot_fetch_does_not_join() -> None:
    """The database is not even connected to."""
    database = Database("postgresql://nobody@127.0.0.1:9/nothing")
    settings = Settings(["http://a.test/"], "mailto:me@a.test", database, **SECRET)  # type: ignore[arg-type]
    from recrawl.crawler.wiring.cluster import open_cluster  # as who crawls so does

    async def main() -> None:
        async with open_cluster(settings, events=CountingSink()):
            raise AssertionError("it was opened")

    with pytest.raises(InvalidSettings, match="NOWHERE_SET"):
        asyncio.run(main())
