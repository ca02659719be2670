"""One state directory for all tests that only read it: which is what they test."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from tests.web.browsing import chromium, server
from tests.web.state import HOSTILE, stories, write_state


@pytest.fixture(scope="session")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty pages on two hosts, and some hostile ones."""
    pages = [*stories(25), *stories(5, "http://b.test:81"), *HOSTILE]
    return write_state(tmp_path_factory.mktemp("crawl"), pages)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start Chromium once."""
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def origin(crawl: Path) -> Iterator[str]:
    """Serve the small state."""
    with server("--state", crawl) as at:
        yield at
