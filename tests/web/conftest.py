"""One state directory for all tests that only read it: which is what they test."""

from pathlib import Path

import pytest
from tests.web.state import HOSTILE, stories, write_state


@pytest.fixture(scope="session")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty pages on two hosts, and some hostile ones."""
    pages = [*stories(25), *stories(5, "http://b.test:81"), *HOSTILE]
    return write_state(tmp_path_factory.mktemp("crawl"), pages)
