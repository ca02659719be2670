"""What a configuration names and is not there is said before anything is written."""

import asyncio
from pathlib import Path

import pytest

from recrawl.crawler.settings import Settings
from recrawl.crawler.settings.values import AccessSettings, RenderSettings
from recrawl.crawler.telemetry.counters import CountingSink
from recrawl.crawler.wiring import fetchers, reading
from recrawl.crawler.wiring.crawls import open_parts
from recrawl.errors import InvalidSettings

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
