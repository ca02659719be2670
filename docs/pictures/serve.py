"""The pictures of the pages: every view, light, dark and on a phone.

recrawl demo --state recrawl-demo &
recrawl serve --state recrawl-demo --port 8710 &
python docs/pictures/serve.py http://127.0.0.1:8710 dashboard    # while the demo runs
python docs/pictures/serve.py http://127.0.0.1:8710 home search nothing what-if page stopped
recrawl serve --state empty-directory --port 8711 &
python docs/pictures/serve.py http://127.0.0.1:8711 empty
"""

import shutil
import sys
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Page, sync_playwright

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
QUERY = "quiet lantern"
LOOKS = (("", "light", 1100, 1220), ("-dark", "dark", 1100, 1220), ("-phone", "light", 390, 844))


def show(page: Page, origin: str, view: str) -> None:
    """Open a view and wait until it is complete."""
    found = page.request.get(f"{origin}/api/search?q={quote(QUERY)}").json()
    hit = found["hits"][0]["url"] if "hits" in found else ""
    paths = {
        "home": "/",
        "stopped": "/dashboard",
        "empty": "/dashboard",
        "search": f"/?q={quote(QUERY)}",
        "nothing": "/?q=quit%20lantrn",
        "dashboard": "/dashboard",
        "what-if": "/what-if",
        "page": f"/page?url={quote(hit, safe='')}",
    }
    page.goto(origin + paths[view])
    if view == "empty":
        page.locator("#nothing").wait_for()
    if view in ("dashboard", "stopped"):
        page.locator("#fetches-picture canvas").wait_for()
        page.locator("#valuable tr").first.wait_for()
        page.wait_for_timeout(4_000)  # the crawl moves on
    if view == "what-if":
        page.locator("#trade-off-picture canvas").wait_for()
        for _ in range(8):
            page.locator("#budget").press("ArrowRight")
        page.locator("#command", has_text="--budget").wait_for()
        page.locator("#freshness-then").wait_for()
        page.evaluate("document.activeElement.blur()")
    page.wait_for_load_state("networkidle" if view in ("search", "page") else "load")


def main() -> None:
    """Take those that are named."""
    origin = sys.argv[1].rstrip("/")
    folder = Path(__file__).parent
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for suffix, scheme, width, height in LOOKS:
            page = browser.new_page(
                color_scheme=scheme, viewport={"width": width, "height": height}
            )
            for view in sys.argv[2:]:
                show(page, origin, view)
                page.screenshot(
                    path=folder / f"serve-{view}{suffix}.png",
                    full_page=view in ("stopped", "what-if"),
                )
        browser.close()


if __name__ == "__main__":
    main()
