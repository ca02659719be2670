"""A real browser for tests: Debian's Chromium, and a server of the pages to look at."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from tests.acceptance.command import ENV
from tests.web.state import HOST

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
EXPLAINED = f"/page?url={quote(HOST + '/1', safe='')}"
VIEWS = ("/", "/?q=lantern", "/?q=nothing", "/dashboard", "/activity", "/what-if", EXPLAINED)


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """Start Chromium; where there is none the test is skipped, or fails where it must be there."""
    if CHROMIUM is None:
        if os.environ.get("CI") == "true":
            pytest.fail("Chromium must be installed where CI=true")
        pytest.skip("there is no chromium here; apt-get install chromium")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield started
        started.close()


@contextlib.contextmanager
def server(*arguments: str | Path, token: str | None = None) -> Iterator[str]:
    """Run `recrawl serve` on a free port, and give its origin."""
    environment = ENV | ({"RECRAWL_TOKEN": token} if token else {})
    command = [sys.executable, "-m", "recrawl", "serve", "--port", "0", *map(str, arguments)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        told = process.stderr.readline()
        found = re.search(r"http://\S+(?=/ )", told)
        assert found, told
        try:
            yield found.group()
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(120) == 0  # what is being compiled is not cut off
            assert process.stderr.read() == ""


class Watched:
    """A page, and everything that went wrong on it."""

    def __init__(self, context: BrowserContext, origin: str) -> None:
        self.page: Page = context.new_page()
        self.troubles: list[str] = []
        self.requests: list[str] = []
        self.dialogs: list[str] = []
        self._origin = origin
        self.page.on("console", lambda told: self.troubles.append(told.text))
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("dialog", lambda dialog: self.dialogs.append(dialog.message))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def go(self, path: str) -> Page:
        """Open a path, and wait until the view shows something."""
        self.page.goto(self._origin + path)
        if path == "/dashboard":
            expect(self.page.locator("#freshness-picture canvas")).to_be_visible(timeout=240_000)
        if path == "/what-if":
            # The first answer waits for the solvers to be compiled, once on a machine.
            expect(self.page.locator("#trade-off-picture canvas")).to_be_visible(timeout=240_000)
        return self.page

    def check(self) -> None:
        """Nothing on the console, no dialog, no request to another host."""
        assert self.troubles == []
        assert self.dialogs == []
        assert {urlsplit(url).netloc for url in self.requests} <= {urlsplit(self._origin).netloc}


@contextlib.contextmanager
def watched(
    browser: Browser,
    origin: str,
    *,
    dark: bool = False,
    width: int = 1100,
    script: bool = True,
) -> Iterator[Watched]:
    context = browser.new_context(
        color_scheme="dark" if dark else "light",
        viewport={"width": width, "height": 800},
        java_script_enabled=script,
    )
    context.set_default_timeout(30_000)
    expect.set_options(timeout=30_000)
    view = Watched(context, origin)
    yield view
    view.check()
    context.close()
