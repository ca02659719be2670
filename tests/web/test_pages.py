"""Every page and its JSON, asked without a browser, over a state that they only read."""

import hashlib
import itertools
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest
from selectolax.lexbor import LexborHTMLParser as HTMLParser
from selectolax.lexbor import LexborNode as Node
from starlette.types import ASGIApp
from tests.web.asgi import Answer, ask
from tests.web.state import DAY_S, FACTS, HOST, HOSTILE, NOW_S, stories, write_state

from recrawl.crawler.ports import AdmissionLimits
from recrawl.crawler.wiring.stores import open_frontier
from recrawl.terms import Discovery, Outcome, PageState, PageUpdate, PlanRecord, Visit
from recrawl.web.app import CrawlPages, make_app
from recrawl.web.guard import COOKIE, Access

TOKEN = "correct-horse-battery"
PAGES = [
    "/",
    "/?q=lantern",
    "/?q=lantern&page=2",
    "/?q=nothing",
    "/dashboard",
    "/activity",
    "/what-if",
    f"/page?url={quote(HOST + '/1', safe='')}",
    "/page?url=http%3A%2F%2Fnowhere.test%2F",
    "/page?url=rubbish",
    "/nowhere",
]


@asynccontextmanager
async def serving(directory: Path, token: str | None = None) -> AsyncIterator[ASGIApp]:
    """Give the application over a state directory."""
    access = Access(token=token)
    pages = CrawlPages(directory, access=access, settings=None, config="recrawl.toml")
    try:
        yield make_app(pages, access)
    finally:
        for reader in pages.readers:
            reader.close()


async def get(directory: Path, url: str) -> Answer:
    async with serving(directory) as app:
        return await ask(app, url)


def texts(answer: Answer, selector: str) -> list[str]:
    return [node.text().strip() for node in HTMLParser(answer.text).css(selector)]


# -- search --


async def test_search_finds_and_says_how_old(crawl: Path) -> None:
    """Title, address, highlighted snippet, age of the copy, and when it was last seen the same."""
    answer = await get(crawl, "/?q=quiet+lantern&host=b.test:81")

    assert answer.status == 200
    assert sorted(texts(answer, ".hits h2")) == [f"Story {number}" for number in range(5)]
    assert {"quiet", "lantern"} <= set(texts(answer, ".hits mark"))
    assert "1 to 5 of 5 pages" in answer.text
    assert "copy of" in answer.text
    assert "seen unchanged" in answer.text
    for shown in ("#q", ".hits h2", ".hits .snippet"):  # also what is read from right to left
        assert {node.attributes["dir"] for node in HTMLParser(answer.text).css(shown)} == {"auto"}


async def test_hits_come_in_pages_that_have_addresses(crawl: Path) -> None:
    """Every page of them can be shared; together they are all."""
    seen: list[str] = []
    async with serving(crawl) as app:
        for number in (1, 2, 3):
            answer = await ask(app, f"/?q=lantern&page={number}")
            seen += [node.attributes["href"] or "" for node in hits(answer)]

    assert len(seen) == len(set(seen)) == 30
    assert [node.text() for node in HTMLParser(answer.text).css(".pages [aria-current]")] == ["3"]
    assert "rel=next" not in answer.text.replace('"', "")


async def test_a_page_of_hits_that_is_none_leads_to_the_last(crawl: Path) -> None:
    """As a link that was kept does once fewer pages match: that is not to find nothing."""
    answer = await get(crawl, "/?q=lantern&page=9")

    assert "30 pages in all; there is no page 9 of them." in answer.text
    assert "Nothing found" not in answer.text
    (link,) = HTMLParser(answer.text).css(".message a")
    assert link.attributes["href"] == "/?q=lantern&page=3"


def hits(answer: Answer) -> list[Node]:
    return HTMLParser(answer.text).css(".hits h2 a")


async def test_host_and_age_narrow_it_down(crawl: Path) -> None:
    """And the way back is one link."""
    async with serving(crawl) as app:
        fresh = await ask(app, "/?q=lantern&age=hour")
        none = await ask(app, "/?q=lantern&host=nowhere.test")

    assert "of 15 pages" in fresh.text
    assert "Search all hosts and ages" in none.text


async def test_a_misspelt_query_finds_and_says_what_was_looked_for(crawl: Path) -> None:
    """In words beside the hits."""
    answer = await get(crawl, "/?q=lantrn")

    assert "lantern" in " ".join(texts(answer, ".note"))
    assert texts(answer, ".hit, .hits li, ol li")


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ('"quiet lantern', "a quotation mark is missing"),
        ("colour:red lantern", "there is no field"),
    ],
)
async def test_a_query_that_cannot_be_read_is_answered_in_words(
    crawl: Path, query: str, words: str
) -> None:
    """What could be read is searched for."""
    answer = await get(crawl, f"/?{urlencode({'q': query})}")

    assert answer.status == 200
    assert words in answer.text


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("/?q=x&page=0", "page"),
        ("/?q=x&page=101", "page"),
        ("/?q=x&page=²", "page"),
        ("/?q=x&age=decade", "age"),
        ("/api/search?q=", "q"),
        ("/api/what-if?budget=much", "budget"),
        ("/api/what-if?budget=-1/h", "budget"),
        ("/api/what-if?budget=1e300/s", "budget"),
        ("/api/what-if?delay=0s", "delay"),
        ("/api/what-if?delay=1e9d", "delay"),
        ("/api/what-if?starvation_weight=nan", "starvation_weight"),
        ("/api/page?url=javascript:alert(1)", "javascript"),
    ],
)
async def test_bad_input_is_named(crawl: Path, url: str, words: str) -> None:
    """With the field, its value, and no trace of the program."""
    answer = await get(crawl, url)

    assert answer.status == 400
    assert words in answer.text
    assert "Traceback" not in answer.text


async def test_json_says_what_the_page_says(crawl: Path) -> None:
    """With the keys of `recrawl search --json`."""
    answer = (await get(crawl, "/api/search?q=lantern&host=b.test:81")).json

    assert answer["total"] == len(answer["hits"]) == 5
    hit = answer["hits"][0]
    assert {"url", "title", "snippet", "highlights", "score", "fetched_at"} <= hit.keys()
    assert hit["seen_at"] == pytest.approx(NOW_S - 2 * DAY_S, abs=60.0)


async def test_a_browser_can_add_the_search(crawl: Path) -> None:
    """By a description that names this server as it was asked."""
    answer = await get(crawl, "/opensearch.xml")

    assert 'template="http://127.0.0.1:8710/?q={searchTerms}"' in answer.text
    assert answer.headers["content-type"].startswith("application/opensearchdescription+xml")


# -- what strangers wrote --


async def test_hostile_pages_are_shown_and_do_nothing(crawl: Path) -> None:
    """No element of ours is made by them, in hits, in the title, or where they are explained."""
    async with serving(crawl) as app:
        found = await ask(app, "/?q=evil")
        explained = [await ask(app, f"/page?url={quote(url, safe='')}") for url, _, _ in HOSTILE]

    assert f"of {len(HOSTILE)} pages" in found.text
    assert [answer.status for answer in explained] == [200] * len(HOSTILE)
    for answer in (found, *explained):
        tree = HTMLParser(answer.text)
        assert not tree.css("style, iframe, img, base, object, embed")
        assert all(
            (node.attributes["src"] or "").startswith("/static/") for node in tree.css("script")
        )
        named = [name for node in tree.css("*") for name in node.attributes]
        assert not [name for name in named if name.startswith("on") or name == "style"]
        assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", answer.text)
        for node in tree.css("a[href]"):
            assert (node.attributes["href"] or "").startswith(("/", "#", "http://", "https://"))


# -- the other pages --


async def test_a_page_is_explained(crawl: Path) -> None:
    """Visits on a time line, rate with its uncertainty, weight, price, and what comes next."""
    answer = await get(crawl, f"/page?url={quote(HOST + '/1', safe='')}")

    assert answer.status == 200
    assert "once in 2 days, likely between" in answer.text
    assert "in 1 day" in answer.text
    assert len(HTMLParser(answer.text).css("svg circle.changed")) == 2
    assert len(HTMLParser(answer.text).css("svg circle.same-304")) == 1
    assert len(texts(answer, "tbody tr")) == 3


async def test_a_next_visit_is_in_the_legend_where_it_is_in_the_picture(tmp_path: Path) -> None:
    """Not where it is further off than the visits go back, as after the first of them."""
    state, url = write_state(tmp_path, stories(1)), f"{HOST}/new"
    frontier = open_frontier(state)
    (host,) = frontier.admit([Discovery(url, HOST, depth=1)], NOW_S, AdmissionLimits())
    leases = frontier.lease(host, limit=9, due_by_s=NOW_S, now_s=NOW_S, until_s=NOW_S + 9.0)
    (lease,) = [one for one in leases if one.url == url]
    visit = Visit(NOW_S - 60.0, Outcome.NEW, 200)
    frontier.complete([PageUpdate(lease, visit, PageState.INDEXED, due_s=NOW_S + DAY_S)])
    frontier.close()

    soon = await get(state, f"/page?url={quote(HOST + '/0', safe='')}")
    late = await get(state, f"/page?url={quote(url, safe='')}")

    for answer, shown in ((soon, 1), (late, 0)):
        page = HTMLParser(answer.text)
        assert len(page.css("svg circle.next")) == len(page.css(".legend .next")) == shown
    assert "(page, 1 link from a seed)" in late.text
    assert "The latest visit<" in late.text


async def test_what_is_special_about_the_last_visit_is_told_as_text(tmp_path: Path) -> None:
    """Why it failed, in words that may be a stranger's."""
    state, url = write_state(tmp_path, stories(1)), f"{HOST}/failed"
    frontier = open_frontier(state)
    (host,) = frontier.admit([Discovery(url, HOST)], NOW_S, AdmissionLimits())
    leases = frontier.lease(host, limit=9, due_by_s=NOW_S, now_s=NOW_S, until_s=NOW_S + 9.0)
    (lease,) = [one for one in leases if one.url == url]
    visit = Visit(NOW_S, Outcome.FAILED, note="bad header <img src=x>")
    frontier.complete([PageUpdate(lease, visit, PageState.DISCOVERED, due_s=NOW_S + 99.0)])
    frontier.close()

    answer = await get(state, f"/page?url={quote(url, safe='')}")

    assert "Last visit" in answer.text
    assert "bad header &lt;img src=x&gt;" in answer.text


async def test_what_happens_on_the_web_is_told_in_a_table(tmp_path: Path) -> None:
    """By directory and by time, for whom no picture helps; names that people chose are text."""
    evil = f"{HOST}/<img src=x onerror=alert(1)>/'\"/1"
    state = write_state(tmp_path, [*stories(3, f"{HOST}/guide"), (evil, "E", "e")])
    frontier = open_frontier(state)
    clocks = json.dumps(
        [{"group": evil[:-1], "factor": 2.5, "found": 3.0, "expected": 0.5, "for_s": 1e6}]
    )
    frontier.save_plan(PlanRecord(NOW_S - 9.0, 4, 1.0, 1.0, 0.5, 0, "foresight", clocks))
    frontier.close()

    answer = await get(state, "/activity")

    assert answer.status == 200
    assert HTMLParser(answer.text).css("main img, main script") == []
    assert texts(answer, "tbody tr")[:2] == [f"{HOST}/guide/33", f"{evil[:-1]}11"]
    assert f"{evil[:-1]} runs 2.5 times as fast as usual" in texts(answer, ".fast li")[0]
    assert any(row.endswith(f"(3 days ago){HOST}/guide/30") for row in texts(answer, "tbody tr"))


async def test_nothing_found_yet_is_said(tmp_path: Path) -> None:
    """Where a crawl has not visited anything."""
    answer = await get(write_state(tmp_path, []), "/activity")

    assert answer.status == 200
    assert "Nothing was found" in answer.text


async def test_companions_are_told_on_the_page_of_a_page(tmp_path: Path) -> None:
    """With links to those that changed."""
    state = write_state(tmp_path, stories(3))
    frontier = open_frontier(state)
    plan = PlanRecord(NOW_S - 9.0, 3, 1.0, 1.0, 0.5, 0, "foresight")
    frontier.save_plan(plan)
    frontier.close()

    answer = await get(state, f"/page?url={quote(HOST + '/1', safe='')}")

    assert "Nothing beside it was found to have changed since its last visit" in answer.text


async def test_a_page_that_nobody_knows_is_said_to_be_so(crawl: Path) -> None:
    """With the reason."""
    answer = await get(crawl, "/page?url=http://nowhere.test/")

    assert answer.status == 404
    assert "no page that was visited links to it" in answer.text


async def test_status_is_that_of_the_command_line(crawl: Path) -> None:
    """The contract's keys, and whether it runs."""
    told = (await get(crawl, "/api/status")).json

    assert {"pages", "fetches", "budget", "price", "freshness", "hosts_blocked"} <= told.keys()
    assert told["running"] is False
    assert told["hosts_blocked"][0]["why"] == "answered 503"


async def test_more_budget_promises_more(crawl: Path) -> None:
    """At a lower price, with the command that would apply it; and nothing is applied."""
    async with serving(crawl) as app:
        now = (await ask(app, "/api/what-if")).json
        more = (await ask(app, "/api/what-if?budget=200/d&delay=2s&starvation_weight=3")).json
        points = (await ask(app, "/api/trade-off")).json["points"]

    assert now["command"] == "recrawl run recrawl.toml"
    assert more["command"] == (
        "recrawl run recrawl.toml --budget 200/d --delay 2s --starvation-weight 3"
    )
    assert more["freshness"] > now["freshness"]
    assert more["price"] < now["price"]
    assert now["curve"]["kind"] == "optimal"
    assert len(now["curve"]["targets"]) == FACTS["buffer_capacity"] + 1
    assert more["curve"]["starvation"] <= now["curve"]["starvation"]
    fresh = [point["freshness"] for point in points]
    assert fresh == sorted(fresh)


async def test_hosts_at_their_limit_are_named_with_their_price(crawl: Path) -> None:
    """What limits them, and how much dearer a visit is there than elsewhere."""
    async with serving(crawl) as app:
        none = (await ask(app, "/api/what-if")).json["dearest_hosts"]
        some = (await ask(app, "/api/what-if?delay=2h")).json["dearest_hosts"]

    assert none == []
    assert {"http://a.test"} <= {host["host"] for host in some}
    for host in some:
        assert host["most_per_s"] == pytest.approx(1 / 7200)
        assert host["by"] == "us"
        assert host["price"] > 0.0
        assert host["times"] is None or host["times"] > 1.0


# -- where there is nothing, or nothing good --


async def test_a_directory_without_a_crawl_is_no_defect(tmp_path: Path) -> None:
    """It says so, and answers once the crawl is there."""
    async with serving(tmp_path) as app:
        before = [await ask(app, url) for url in ("/", "/?q=x", "/api/status", "/api/what-if")]
        write_state(tmp_path, stories(3))
        after = await ask(app, "/?q=lantern")

    assert [answer.status for answer in before] == [503, 503, 503, 503]
    assert "holds no index yet" in before[1].text
    assert "holds no crawl" in before[2].text
    assert "of 3 pages" in after.text


def refusing(state: Path, look: Callable[[Path], bool]) -> Callable[[Path], bool]:
    """Look at a file, but for those of a state that is not this user's."""

    def looked(path: Path) -> bool:
        if state in path.parents:
            raise PermissionError(13, "Permission denied", str(path))
        return look(path)

    return looked


async def test_another_users_state_is_no_defect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says whose it must be: a service's state is asked for as somebody else soon enough."""
    state = write_state(tmp_path / "state", stories(1))

    for name in ("exists", "is_dir"):
        monkeypatch.setattr(Path, name, refusing(state, getattr(Path, name)))
    answers = [await get(state, url) for url in ("/?q=x", f"/page?url={HOST}/0", "/api/status")]

    assert [answer.status for answer in answers] == [503, 503, 503]
    for answer in answers:
        assert "run as the owner of the state directory" in answer.text


async def test_a_state_that_was_replaced_is_read_anew(tmp_path: Path) -> None:
    """As by a second `recrawl demo`."""
    first, place = write_state(tmp_path / "first", stories(3)), tmp_path / "place"
    second = write_state(tmp_path / "second", stories(7))
    first.rename(place)
    async with serving(place) as app:
        before = (await ask(app, "/api/status")).json["pages"]
        place.rename(tmp_path / "gone")
        second.rename(place)
        after = (await ask(app, "/api/status")).json["pages"]
        found = await ask(app, "/?q=lantern")

    assert (before, after) == ({"indexed": 3}, {"indexed": 7})
    assert "of 7 pages" in found.text


@pytest.mark.parametrize("version", [999, 0])
async def test_a_state_of_another_version_is_named(tmp_path: Path, version: int) -> None:
    """And what to do about it."""
    import sqlite3

    write_state(tmp_path, stories(1))
    connection = sqlite3.connect(tmp_path / "state.sqlite3")
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()

    answer = await get(tmp_path, "/api/status")

    assert answer.status == 503
    assert ("newer version" if version else "older version") in answer.json["error"]


async def test_before_any_visit_there_is_nothing_to_plan(tmp_path: Path) -> None:
    """Which is said, too."""
    write_state(tmp_path, [])

    assert "no page has been visited" in (await get(tmp_path, "/api/what-if")).json["error"]


async def test_looking_changes_nothing(crawl: Path) -> None:
    """Not a byte of the state, whatever is asked."""

    def marks() -> dict[str, str]:
        return {
            str(path): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(crawl.rglob("*"))
            if path.is_file() and not path.name.endswith(("-shm", "-wal"))
        }

    before = marks()
    async with serving(crawl) as app:
        for url in (*PAGES, "/api/status", "/api/what-if?budget=1/h", "/api/trade-off"):
            await ask(app, url)

    assert marks() == before


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
async def test_nothing_takes_orders(crawl: Path, method: str) -> None:
    """Every address but the one that takes the token only answers GET."""
    async with serving(crawl) as app:
        for url in ("/", "/dashboard", "/api/status", "/api/what-if"):
            assert (await ask(app, url, method=method)).status == 405


@pytest.mark.parametrize(
    "name", ["nothing.js", "../app.py", "..%2fapp.py", "/etc/passwd", "vendor", ""]
)
async def test_only_files_of_the_pages_are_served(crawl: Path, name: str) -> None:
    """Names lead to files that were found before anyone asked."""
    assert (await get(crawl, f"/static/{name}")).status == 404


# -- the token --


async def test_the_token_opens_the_door(crawl: Path) -> None:
    """By a form, for a session in a cookie that scripts and other sites do not get."""
    async with serving(crawl, TOKEN) as app:
        closed = await ask(app, "/?q=lantern")
        wrong = await ask(app, "/login", method="POST", body=b"token=wrong")
        right = await ask(app, "/login", method="POST", body=f"token={TOKEN}".encode())
        cookie = right.headers["set-cookie"]
        opened = await ask(app, "/?q=lantern", cookie=cookie.partition(";")[0])

    assert (closed.status, wrong.status, right.status, opened.status) == (401, 401, 303, 200)
    assert "lantern" not in closed.text
    assert cookie.startswith(f"{COOKIE}=")
    assert {"httponly", "samesite=strict"} <= set(cookie.lower().replace(" ", "").split(";"))
    assert TOKEN not in cookie


@pytest.mark.parametrize("is_behind_tls", [True, False])
async def test_behind_tls_the_cookie_travels_over_nothing_else(
    crawl: Path, is_behind_tls: bool
) -> None:
    access = Access(frozenset(), TOKEN, is_behind_tls)
    pages = CrawlPages(crawl, access=access, settings=None, config="recrawl.toml")
    app = make_app(pages, access)

    answer = await ask(app, "/login", method="POST", body=f"token={TOKEN}".encode())

    assert ("secure" in answer.headers["set-cookie"].lower().split("; ")) == is_behind_tls


async def test_guessing_is_slow(crawl: Path) -> None:
    """Five attempts, then one in five seconds."""
    async with serving(crawl, TOKEN) as app:
        seen = [(await ask(app, "/login", method="POST", body=b"token=x")).status for _ in range(6)]

    assert seen == [401] * 5 + [429]


async def test_a_form_of_another_site_is_refused(crawl: Path) -> None:
    """And so is one that is no form."""
    async with serving(crawl, TOKEN) as app:
        other = await ask(app, "/login", method="POST", origin="http://evil.example")
        large = await ask(app, "/login", method="POST", body=b"token=" + b"x" * 5_000)

    assert (other.status, large.status) == (403, 413)


# -- for everybody --


@pytest.mark.parametrize("url", PAGES)
async def test_pages_can_be_read_by_machines_that_read_aloud(crawl: Path, url: str) -> None:
    """Language, one heading of the first order, a name for every control, landmarks, unique ids."""
    tree = HTMLParser((await get(crawl, url)).text)

    assert [node.attributes["lang"] for node in tree.css("html")] == ["en"]
    assert len(tree.css("h1")) == 1
    assert len(tree.css("main")) == 1
    assert all(node.text().strip() for node in tree.css("title"))
    identifiers = [node.attributes["id"] for node in tree.css("[id]")]
    assert len(identifiers) == len(set(identifiers))
    labelled = {node.attributes.get("for") for node in tree.css("label")}
    for control in tree.css("input, select, textarea"):
        inside = any(parent.tag == "label" for parent in parents(control))
        named = control.attributes.get("aria-label") or control.attributes.get("id") in labelled
        assert inside or named, control.html
    for node in tree.css("a, button"):
        assert node.text().strip() or node.attributes.get("aria-label"), node.html
    for node in tree.css("svg, [role=img], [role=region], nav"):
        assert node.attributes.keys() & {"aria-label", "aria-hidden"}, node.html
    for node in tree.css("[aria-labelledby]"):
        assert node.attributes["aria-labelledby"] in identifiers
    levels = [int((node.tag or "")[1:]) for node in tree.css("h1, h2, h3, h4")]
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    for table in tree.css("table"):
        assert table.css_first("caption") is not None
    for cell in tree.css("th"):
        assert cell.attributes.get("scope") in ("col", "row")


def parents(node: Node) -> list[Node]:
    found = []
    at: Node | None = node.parent
    while at is not None:
        found.append(at)
        at = at.parent
    return found
