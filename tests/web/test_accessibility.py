"""Every view can be used by everybody: checked by axe-core in Chromium, and by hand beyond it.

axe-core 4.14.1 (MPL-2.0) lies in ``vendor`` as its authors published it; it is a part of the tests
only. See docs/decisions/0012-axe.md.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.web.browsing import EXPLAINED, VIEWS, server, watched

pytestmark = pytest.mark.slow

VENDOR = Path(__file__).with_name("vendor")
AXE = VENDOR / "axe.min.js"
PUBLISHED = {
    "axe.min.js": "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c",
    "axe-LICENSE": "af175b9d96ee93c21a036152e1b905b0b95304d4ae8c2c921c7609100ba8df7e",
    "axe-LICENSE-3RD-PARTY.txt": "4f8563870d0fca38bbc3e00b6f670cb7fa9f380ba9f26a7f7d1184a6b18b1653",
}
MORE_VIEWS = (
    *VIEWS,
    "/?q=lantern&page=2",
    "/?q=%22quiet+lantrn&host=a.test&age=month",
    "/page?url=http%3A%2F%2Fnowhere.test%2F",
    "/nowhere",
)
LOOKS = {"light": (False, 1100), "dark": (True, 1100), "phone": (False, 360), "small": (True, 360)}


def troubles(page: Page) -> list[str]:
    """Return what axe-core finds wrong: WCAG 2.2 up to AA, and what it calls best practice."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    told: dict[str, Any] = page.evaluate(
        "rules => axe.run(document, { runOnly: rules, resultTypes: ['violations'] })", rules
    )
    assert told["testEngine"]["version"] == "4.14.1"
    return [
        f"{found['id']}: {node['target']}: {node['failureSummary']}"
        for found in told["violations"]
        for node in found["nodes"]
    ]


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_checker_is_as_its_authors_published_it(name: str) -> None:
    """Byte by byte."""
    assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == PUBLISHED[name]


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("path", MORE_VIEWS)
def test_axe_finds_nothing_wrong(browser: Browser, origin: str, path: str, look: str) -> None:
    """Names, roles, contrast, landmarks, headings, tables: after scripts have filled the view."""
    dark, width = LOOKS[look]
    with watched(browser, origin, dark=dark, width=width) as view:
        assert troubles(view.go(path)) == []
        view.troubles.clear()  # of a page that is not there: the browser notes the 404


def test_what_is_planted_is_found(browser: Browser, origin: str) -> None:
    """Or the silence of the others would mean nothing."""
    with watched(browser, origin) as view:
        page = view.go("/")
        page.evaluate("""() => {
            const text = document.createElement("p");
            text.textContent = "hardly to be read";
            text.style.color = "#d0d0d0";
            document.querySelector("main").append(text, document.createElement("button"));
        }""")
        found = {trouble.partition(":")[0] for trouble in troubles(page)}
        assert found == {"color-contrast", "button-name"}


@pytest.fixture(scope="module")
def nothing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a directory in which no crawl has been, behind a token."""
    token = "correct-horse-battery"
    with server("--state", tmp_path_factory.mktemp("nothing"), token=token) as at:
        yield at


@pytest.mark.parametrize("look", LOOKS)
def test_nor_where_there_is_nothing_yet(browser: Browser, nothing: str, look: str) -> None:
    """The form that asks for the token, and every view of an empty directory."""
    dark, width = LOOKS[look]
    with watched(browser, nothing, dark=dark, width=width) as view:
        page = view.go("/")
        assert troubles(page) == []
        page.get_by_label("Token").fill("correct-horse-battery")
        page.get_by_role("button", name="Come in").click()
        for path in ("/", "/?q=lantern", "/dashboard", "/what-if", EXPLAINED):
            page.goto(nothing + path)
            waits_for = {"/dashboard": "#nothing", "/what-if": "#state.broken"}.get(path)
            if waits_for:
                expect(page.locator(waits_for)).to_be_visible()
            assert troubles(page) == [], path
        view.troubles.clear()  # the browser notes every 401 and 503


@pytest.mark.parametrize("path", VIEWS)
def test_the_keyboard_reaches_everything_in_order_and_shows_where_it_is(
    browser: Browser, origin: str, path: str
) -> None:
    """Tab goes through all controls as they stand in the document; each shows an outline."""
    with watched(browser, origin) as view:
        page = view.go(path)
        page.evaluate("document.activeElement.blur(); window.getSelection().removeAllRanges()")
        # The live view makes its rows anew as it goes on, so places are counted at each step.
        shown = """() => {
            const all = document.querySelectorAll("a[href], button, input, select, [tabindex='0']");
            return [...all].filter((node) => node.checkVisibility() && !node.disabled);
        }"""
        n = page.evaluate(f"({shown})().length")
        page.evaluate("document.body.setAttribute('tabindex', -1); document.body.focus()")
        reached = []
        for _ in range(n):
            page.keyboard.press("Tab")
            place, style, width = page.evaluate(f"""() => {{
                const at = document.activeElement;
                const look = getComputedStyle(at);
                return [({shown})().indexOf(at), look.outlineStyle, parseFloat(look.outlineWidth)];
            }}""")
            reached.append(place)
            assert style != "none", place
            assert width >= 1, place
        assert reached == list(range(n))


def test_who_stands_on_a_link_of_the_live_view_stays_there(browser: Browser, origin: str) -> None:
    """The rows around it are made anew every few seconds; the keyboard keeps its place."""
    with watched(browser, origin) as view:
        page = view.go("/dashboard")
        link = "tbody a[href^='/page?url=']"
        page.locator(link).first.focus()
        page.evaluate("""() => {
            window.held = document.activeElement;
            window.address = window.held.getAttribute("href");
        }""")

        page.wait_for_function("() => !window.held.isConnected", timeout=60_000)

        assert page.evaluate("document.activeElement.getAttribute('href') === window.address")
