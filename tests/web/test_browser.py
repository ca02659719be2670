"""The pages in a real browser, which sees what people see."""

import json
import re
import signal
import subprocess
import sys
import time
from itertools import count
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, expect
from tests.acceptance.command import ENV, write_config
from tests.acceptance.servers import Exchange, serving
from tests.web.browsing import VIEWS, server, watched
from tests.web.state import FACTS, HOST, HOSTILE, NOW_S, stories, write_state

from recrawl.crawler.ports import AdmissionLimits
from recrawl.crawler.wiring.stores import open_frontier
from recrawl.terms import Discovery, Outcome, PageState, PageUpdate, PlanRecord, Visit

pytestmark = pytest.mark.slow

TOKEN = "correct-horse-battery"


def test_search_by_keyboard_alone(browser: Browser, origin: str) -> None:
    """The box has the focus; / comes back to it; arrows and j, k go through the hits."""
    with watched(browser, origin) as view:
        page = view.go("/")
        expect(page.locator("#q")).to_be_focused()
        page.keyboard.type("quiet lantern")
        page.keyboard.press("Enter")
        page.wait_for_url("**/?q=quiet+lantern**")
        links = page.locator(".hits h2 a")
        expect(links).to_have_count(10)
        page.keyboard.press("j")
        expect(links.nth(0)).to_be_focused()
        page.keyboard.press("j")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("k")
        expect(links.nth(1)).to_be_focused()
        page.keyboard.press("/")
        expect(page.locator("#q")).to_be_focused()


def test_search_needs_no_script(browser: Browser, origin: str) -> None:
    """Found, further pages, meant otherwise and not found."""
    with watched(browser, origin, script=False) as view:
        page = view.go("/?q=lantern")
        expect(page.get_by_text("1 to 10 of 30 pages")).to_be_visible()
        page.get_by_role("link", name="Further").click()
        expect(page.get_by_text("11 to 20 of 30 pages")).to_be_visible()
        page.get_by_role("searchbox").fill("lantrn")
        page.get_by_role("button", name="Search").click()
        expect(page.get_by_text("1 to 10 of 30 pages")).to_be_visible()
        expect(page.locator(".hits li")).to_have_count(10)
        page.get_by_role("searchbox").fill("zzyzxqqk")
        page.get_by_role("button", name="Search").click()
        expect(page.get_by_role("heading", name="Nothing found")).to_be_visible()


def test_a_hit_leads_to_its_explanation(browser: Browser, origin: str) -> None:
    """One click from a hit: the time line, and why it is visited when it is."""
    with watched(browser, origin) as view:
        page = view.go("/?q=lantern")
        page.get_by_role("link", name="why visited when it is").first.click()
        expect(page.get_by_role("heading", name="Why it is visited when it is")).to_be_visible()
        expect(page.get_by_role("img", name=re.compile("3 visits in .*2 with new"))).to_be_visible()


def test_the_dashboard_fills_itself(browser: Browser, origin: str) -> None:
    """Figures, pictures and tables; and it says that the crawl has stopped."""
    with watched(browser, origin) as view:
        page = view.go("/dashboard")
        expect(page.locator("#state")).to_contain_text("Stopped")
        expect(page.locator("#freshness")).to_contain_text("%")
        expect(page.locator("#gain")).to_contain_text("more fresh")
        expect(page.locator("#robots-picture path.curve")).to_have_count(1)
        expect(page.locator("#hosts")).to_contain_text("answered 503")
        expect(page.locator("#valuable tr")).to_have_count(8)
        expect(page.locator("#model")).to_contain_text("indexer idle")
        expect(page.locator("#price")).to_contain_text("fetches a day keep one more page fresh")
        expect(page.locator("#changes > li")).to_have_count(8)
        expect(page.locator("#changes ins").first).to_contain_text("is so")
        expect(page.locator("#troubles-words")).to_contain_text("None")
        expect(page.locator("#first-pass")).to_be_hidden()
        page.locator("#changes a").first.click()
        expect(page.get_by_role("heading", name="What it said anew")).to_be_visible()
        expect(page.locator(".edited del").first).to_have_text("was")
        expect(page.locator(".edited ins").first).to_have_text("is")


def test_what_happens_on_the_web_is_drawn(browser: Browser, tmp_path: Path) -> None:
    """A strip for each directory, and those that run fast; whatever they are called."""
    evil = f"{HOST}/<img src=x onerror=alert(1)>/1"
    state = write_state(tmp_path, [*stories(3, f"{HOST}/guide"), (evil, "E", "e")])
    frontier = open_frontier(state)
    told = {"group": evil[:-1], "factor": 2.5, "found": 3.0, "expected": 0.5, "for_s": 1e6}
    clocks = json.dumps([told])
    frontier.save_plan(PlanRecord(NOW_S - 9.0, 4, 1.0, 1.0, 0.5, 0, "foresight", clocks))
    frontier.close()
    with server("--state", state) as at, watched(browser, at) as view:
        page = view.go("/dashboard")
        expect(page.locator("#fast li")).to_contain_text("runs 2.5 times as fast as usual")
        expect(page.locator("#fast b")).to_have_text("/<img src=x onerror=alert(1)>/")
        rows = page.locator("#activity tbody tr")
        expect(rows).to_have_count(2)
        expect(rows.first.locator("th")).to_have_text("/guide/")
        expect(rows.first.get_by_role("img")).to_have_attribute(
            "aria-label", re.compile("3 changes, most of them from 2033-05-.*; 3 new pages")
        )
        expect(rows.first.locator("rect.found")).to_have_count(1)
        assert page.locator("main img").count() == 0
        page.get_by_role("link", name="The same as a table").click()
        expect(page.get_by_role("heading", name="What is happening on this web")).to_be_visible()
    with server("--state", state) as at, watched(browser, at, script=False) as view:
        page = view.page
        page.goto(f"{at}/dashboard")
        page.get_by_role("link", name="in a table").click()
        expect(page.get_by_role("region", name="Found by directory")).to_contain_text("/guide/")


def test_nothing_found_yet_is_said(browser: Browser, tmp_path: Path) -> None:
    """Where no visit has found anything."""
    with server("--state", write_state(tmp_path, [])) as at, watched(browser, at) as view:
        view.page.goto(f"{at}/dashboard")
        expect(view.page.locator("#activity-words")).to_contain_text("Nothing was found yet")
        expect(view.page.locator("#activity")).to_be_hidden()


def test_a_first_pass_and_troubles_are_told(browser: Browser, tmp_path: Path) -> None:
    """How far it is, what went wrong, what is left out; and no staircase where none was solved."""
    facts = {name: FACTS[name] for name in ("now_s", "budget_per_s", "robots", "buffer_capacity")}
    state = write_state(tmp_path, stories(4), facts=facts)
    frontier = open_frontier(state)
    found = [Discovery(f"{HOST}/new/{n}", HOST) for n in range(9)]
    (host,) = frontier.admit(found, NOW_S, AdmissionLimits())
    first, second = frontier.lease(
        host, limit=2, due_by_s=NOW_S, now_s=NOW_S, until_s=NOW_S + 9.0, discovery_share=1.0
    )
    ill, hidden = (
        Visit(NOW_S, Outcome.SERVER_ERROR, 503),
        Visit(NOW_S, Outcome.NEW, 200, note="noindex"),
    )
    frontier.complete([PageUpdate(first, ill, PageState.DISCOVERED, due_s=NOW_S + 99.0)])
    frontier.complete([PageUpdate(second, hidden, PageState.EXCLUDED, due_s=NOW_S + 99.0)])
    frontier.close()
    with server("--state", state) as at, watched(browser, at) as view:
        page = view.go("/dashboard")
        expect(page.locator("#first-pass")).to_contain_text("4 of 13 pages known are indexed, 8")
        expect(page.locator("#troubles")).to_contain_text("the server is in trouble (503)")
        expect(page.locator("#left-out")).to_contain_text("asks not to be indexed (noindex)")
        expect(page.locator("#robots-picture")).to_be_hidden()


def test_what_if_is_answered_and_applied_by_nobody(browser: Browser, origin: str) -> None:
    """By keyboard: the slider moves, the server solves, the command appears; and back again."""
    with watched(browser, origin) as view:
        page = view.go("/what-if")
        now = page.locator("#freshness-present").inner_text()
        for _ in range(6):
            page.locator("#budget").press("ArrowRight")
        expect(page.locator("#command")).to_contain_text("--budget")
        expect(page.locator("#freshness-then")).not_to_have_text(now)
        page.locator("#starvation").press("End")
        expect(page.locator("#command")).to_contain_text("--starvation-weight 4")
        page.get_by_role("button", name="Back to the present").click()
        expect(page.locator("#freshness-then")).to_have_text(now)
        expect(page.locator("#command")).to_have_text("recrawl run CONFIG")


@pytest.mark.parametrize("path", VIEWS)
def test_every_view_fits_a_phone(browser: Browser, origin: str, path: str) -> None:
    """Nothing needs scrolling to the side, but tables inside their own frames."""
    with watched(browser, origin, width=360) as view:
        page = view.go(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_tables_beside_each_other_fit_whatever_pages_are_called(
    browser: Browser, origin: str
) -> None:
    """Long titles are cut short, and no column of numbers is."""
    with watched(browser, origin, width=1280) as view:
        page = view.go("/dashboard")
        expect(page.locator("#valuable tr").first).to_be_visible()
        fits = page.evaluate("""() => {
            const longer = " and so on".repeat(30)
            document.querySelectorAll(".two .name a").forEach(a => a.append(longer))
            return [...document.querySelectorAll(".two .wide")].map(
                one => one.clientWidth > 0 && one.scrollWidth <= one.clientWidth)
        }""")
        assert len(fits) >= 2
        assert all(fits)


def test_dark_is_dark(browser: Browser, origin: str) -> None:
    """Where the reader's system says so; pictures follow a change while they are shown."""
    with watched(browser, origin, dark=True) as view:
        page = view.go("/dashboard")
        ground = "getComputedStyle(document.body).backgroundColor"
        assert page.evaluate(ground) == "rgb(20, 24, 26)"
        page.emulate_media(color_scheme="light")
        assert page.evaluate(ground) == "rgb(255, 255, 255)"
        expect(page.locator("#freshness-picture canvas")).to_have_count(1)


def test_hostile_pages_do_nothing(browser: Browser, origin: str) -> None:
    """Not in hits, not explained, not on the dashboard: no script, no dialog, no request."""
    with watched(browser, origin) as view:
        page = view.go("/?q=evil")
        expect(page.locator(".hits li")).to_have_count(len(HOSTILE))
        for url, _, _ in HOSTILE:
            view.go(f"/page?url={quote(url, safe='')}")
            expect(page.locator("svg.time-line")).to_be_visible()
            assert page.locator("main img, main script, main iframe, main style").count() == 0
        view.go("/dashboard")
        assert page.locator("main img, main script, main iframe, main style").count() == 0


@pytest.mark.parametrize("path", VIEWS)
def test_views_are_named_for_machines_that_read_aloud(
    browser: Browser, origin: str, path: str
) -> None:
    """After scripts have filled them, too: names of controls and links, scopes, unique ids."""
    rules = """() => {
        const bad = [];
        const named = (node) => node.getAttribute("aria-label") || node.textContent.trim()
            || node.labels?.length || node.getAttribute("title");
        for (const node of document.querySelectorAll("a, button, input, select, output"))
            if (!named(node)) bad.push(node.outerHTML);
        for (const node of document.querySelectorAll("th"))
            if (!node.scope) bad.push(node.outerHTML);
        for (const node of document.querySelectorAll("[role=img]"))
            if (!node.getAttribute("aria-label")) bad.push(node.outerHTML.slice(0, 80));
        const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
        for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) bad.push(id);
        const tab = [...document.querySelectorAll("[tabindex]")].filter((at) => at.tabIndex > 0);
        return bad.concat(tab.map((node) => node.outerHTML));
    }"""
    with watched(browser, origin) as view:
        # u-legend is the chart library's; what it says is in the picture's own label.
        bad = [text for text in view.go(path).evaluate(rules) if "u-" not in text]
        assert bad == []


def test_the_token_is_asked_for(browser: Browser, crawl: Path) -> None:
    """Refused without, refused with another, and remembered once shown."""
    with server("--state", crawl, token=TOKEN) as at:
        context = browser.new_context()
        page = context.new_page()
        assert page.goto(f"{at}/?q=lantern").status == 401  # type: ignore[union-attr]
        page.get_by_label("Token").fill("not this one, surely")
        page.get_by_role("button", name="Come in").click()
        expect(page.get_by_role("alert")).to_have_text("That is not the token.")
        page.get_by_label("Token").fill(TOKEN)
        page.get_by_role("button", name="Come in").click()
        expect(page.get_by_role("searchbox")).to_be_visible()
        assert page.goto(f"{at}/?q=lantern").status == 200  # type: ignore[union-attr]
        assert TOKEN not in page.url
        context.close()


def test_the_dashboard_follows_a_crawl(browser: Browser, tmp_path: Path) -> None:
    """`recrawl run --serve`: figures move by themselves, and the end is told."""
    number = count()

    async def site(exchange: Exchange) -> None:
        if exchange.path == "/robots.txt":
            await exchange.reply("", status=404)
            return
        links = "".join(f"<a href='/{page}'>{page}</a>" for page in range(20))
        await exchange.reply(f"<title>T</title><main>edition {next(number)} {links}</main>")

    told = tmp_path / "told"
    with serving(site) as web, told.open("w") as err:
        write_config(
            tmp_path,
            f'seeds = ["http://127.0.0.1:{web.port}/"]\n'
            'contact = "mailto:test@localhost"\nbudget = "20/s"\n'
            '[politeness]\ndelay = "10ms"\nallow_private = ["127.0.0.1"]\n'
            '[revisit]\nmin_interval = "1s"\ninitial_interval = "1s"\nmax_interval = "10s"\n',
        )
        command = [sys.executable, "-m", "recrawl", "run", "--serve", "--port", "0"]
        with subprocess.Popen(command, cwd=tmp_path, env=ENV, stderr=err) as process:
            web.wait_for(30)
            context = browser.new_context()
            page = context.new_page()
            until_s = time.monotonic() + 60.0
            while (found := re.search(r"Look at (\S+)/ ", told.read_text())) is None:
                assert time.monotonic() < until_s, "its pages are not served"
                time.sleep(0.05)  # the server of the pages starts beside the crawl
            page.goto(f"{found[1]}/dashboard")
            expect(page.locator("#state")).to_contain_text("Running", timeout=60_000)
            seen = page.locator("#not-modified-more")
            expect(seen).to_contain_text("visits", timeout=60_000)
            expect(seen).not_to_have_text(seen.inner_text(), timeout=60_000)
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0
            expect(page.locator("#state")).to_contain_text("does not answer", timeout=60_000)
            context.close()
