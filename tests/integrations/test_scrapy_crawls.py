"""Crawls by Scrapy with the add-on, against a local site, at instants that the test sets."""

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.integrations.runs import DAY, ROOT, QuotesSite, crawl
from tests.integrations.site import Site, serving

pytestmark = pytest.mark.acceptance
Runs = list[dict[str, Any]]
EVERYTHING = {"/page/1", "/page/2", "/page/3", "/author/1", "/author/2"}


def visits(run: dict[str, Any]) -> dict[str, int]:
    """Return the outcomes of a run's visits."""
    start = "recrawl/visits/"
    return {name.removeprefix(start): n for name, n in run["stats"].items() if start in name}


@pytest.mark.parametrize("reactor", ["asyncio", pytest.param("epoll", marks=pytest.mark.slow)])
def test_a_spider_becomes_a_recrawler(reactor: str, tmp_path: Path) -> None:
    """Nothing twice in a day; then what is due, changed pages alone with items of their own."""
    web = QuotesSite()
    web.from_day = {2: {"author/2": "reborn"}}
    first, at_once, later = crawl(
        web.site, tmp_path, [{"at": 0}, {"at": 60}, {"at": 2 * DAY}], reactor=reactor
    )

    assert first["error"] is None, first["stderr"]
    assert web.fetched(0) == EVERYTHING
    assert len(first["items"]) == 5
    assert visits(first) == {"new": 5}
    assert web.fetched(1) == set()
    assert at_once["stats"]["recrawl/not_due"] == 1
    # The pages that lead to the author were not modified, and still it is visited, with its own
    # callback and arguments.
    assert web.fetched(2) == EVERYTHING
    assert web.statuses_by_run[2] == {304: 4, 200: 2}  # one of them for the time of day
    assert later["items"] == [{"author": "A2", "born": "reborn"}]
    assert visits(later) == {"not-modified": 4, "changed": 1}


def test_the_birth_of_a_page_is_between_two_visits_of_the_one_that_leads_to_it(
    tmp_path: Path,
) -> None:
    """Of what first visits lead to nobody knows when it was born."""
    web = QuotesSite()
    web.from_day = {2: {"page/1": 'first</div><a class="author" href="/author/9">A9</a><div>'}}

    crawl(web.site, tmp_path, [{"at": 0}, {"at": 2 * DAY}])

    with closing(sqlite3.connect(tmp_path / "scrapy.sqlite3")) as db:
        found = db.execute("SELECT url, born_s, discovered_s FROM page").fetchall()
    began_s = min(row[2] for row in found)
    born = {row[0].rpartition("/")[2]: row[1] - began_s for row in found if row[1] is not None}
    assert born == {"9": pytest.approx(DAY, abs=60.0)}


@pytest.mark.slow
def test_a_spider_logs_in_before_its_known_pages_are_asked_for(tmp_path: Path) -> None:
    """Though the form has not changed; the page would say something else without."""
    entered = False

    def page(host: str, path: str) -> str:
        nonlocal entered
        entered = path == "/enter" or (entered and not path.startswith("/_at/"))
        return {"/secret": "the secret" if entered else "log in first"}.get(path, "a form")

    runs: Runs = [{"at": 0}, {"at": 2 * DAY}]
    first, later = crawl(Site(page), tmp_path, runs, spider="tests.integrations.spiders.LogsIn")

    assert first["items"] == [{"said": "the secret"}]
    assert visits(later) == {"not-modified": 1}
    assert later["items"] == []


@pytest.mark.slow
def test_a_page_without_validators_is_told_by_its_body(tmp_path: Path) -> None:
    """A full answer with the same bytes is no change; the callback may be had all the same."""
    web = QuotesSite(validators=False)
    runs: Runs = [{"at": 0}, {"at": 2 * DAY}, {"at": 4 * DAY, "settings": {
        "RECRAWL_UNCHANGED": "callback"}}]  # fmt: skip
    _, later, told = crawl(web.site, tmp_path, runs)

    assert later["items"] == []
    assert visits(later) == {"unchanged": 5}
    assert visits(told) == {"unchanged": 5}
    assert len(told["items"]) == 5


@pytest.mark.slow
def test_what_another_program_fetches_is_asked_for_whole(tmp_path: Path) -> None:
    """A browser that is told 304 has no page to show; what is new is told by the body."""
    web = QuotesSite()
    runs: Runs = [{"at": 0}, {"at": 2 * DAY}]
    handlers = {"http": "tests.integrations.spiders.Foreign"}
    first, later = crawl(web.site, tmp_path, runs, DOWNLOAD_HANDLERS=handlers)

    assert visits(first) == {"new": 5}
    assert visits(later) == {"unchanged": 5}
    assert web.statuses_by_run[1][304] == 0


@pytest.mark.slow
def test_a_cache_that_hides_every_change_is_told_of(tmp_path: Path) -> None:
    """Scrapy's other policy asks the server, and so does one whose copies expire."""
    web = QuotesSite()
    cache: dict[str, Any] = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path / "cache")}
    runs: Runs = [{"at": 0}, {"at": 1, "settings": {"HTTPCACHE_EXPIRATION_SECS": 60}}]
    first, _ = crawl(web.site, tmp_path / "state", runs, **cache)

    assert first["stderr"].count("recrawl: HTTPCACHE_POLICY: ") == 1
    assert "or take 'scrapy.extensions.httpcache.RFC2616Policy'" in first["stderr"]


@pytest.mark.slow
def test_a_304_reaches_the_callback_where_that_is_set(tmp_path: Path) -> None:
    runs: Runs = [{"at": 0}, {"at": 2 * DAY}]
    web = QuotesSite()
    _, later = crawl(web.site, tmp_path, runs, RECRAWL_UNCHANGED="callback")

    assert web.statuses_by_run[1][304] == 5
    assert sorted(one["author"] for one in later["items"]) == ["A1", "A2"]


@pytest.mark.slow
def test_items_are_the_change_where_that_is_set(tmp_path: Path) -> None:
    """Another text around the same items is no change, nor is a volatile field."""
    web = QuotesSite(validators=False)
    web.from_day = {
        2: {"page/2": "<i></i>first of 2", "author/1": "elsewhere"},
        4: {"page/2": "second"},
    }
    runs: Runs = [{"at": 0}, {"at": 2 * DAY}, {"at": 4 * DAY}]
    found = crawl(web.site, tmp_path, runs, RECRAWL_CHANGE="items", RECRAWL_VOLATILE=["born"])

    assert [visits(run) for run in found] == [
        {"new": 5},
        {"unchanged": 5},
        {"unchanged": 4, "changed": 1},
    ]


@pytest.mark.slow
def test_requests_of_every_kind_end_as_without_the_add_on(tmp_path: Path) -> None:
    """POST, dont_filter, redirects, retries, errbacks, callbacks that are no methods."""
    web = QuotesSite()
    answers: dict[str, Any] = {
        "/moved": (302, {"Location": "/target"}, b""),
        "/busy": (503, {}, b""),
    }
    known = {"/plain", "/target", "/again", "/form", "/lambda", "/tuple", "/always"}

    def page(host: str, path: str) -> Any:
        if path.startswith("/_at/"):
            return web.page(host, path)
        return answers.get(path, path if path in known else None)

    web.site.page = page
    runs: Runs = [{"at": 0}, {"at": 2 * DAY}]
    first, later = crawl(
        web.site, tmp_path, runs, spider="tests.integrations.spiders.Odd", RETRY_TIMES=1
    )
    said = sorted((one["of"], one["said"]) for one in first["items"])

    assert said == [
        ("again", "/again"),
        ("again", "/again"),
        ("always", "/always"),
        ("busy", "HTTP 503"),
        ("form", "/form"),
        ("missing", "HTTP 404"),
        ("plain", "/plain"),
        ("target", "/target"),
        ("tuple", "(1, 2)"),
    ]
    assert web.asked_by_run[0]["/busy"] == 2
    assert visits(first) == {"new": 4, "not-found": 1, "server-error": 1}
    assert first["stats"]["recrawl/passed"] == 2  # the form, and what is always asked for
    assert first["stats"]["recrawl/passed/unstorable"] == 1
    # Two days later: what has not changed ends before its callback, what passes by comes again.
    assert {one["of"] for one in later["items"]} == {"form", "busy", "missing"}
    assert visits(later) == {"not-modified": 4, "not-found": 1, "server-error": 1}
    assert web.asked_by_run[1]["/lambda"] == 1


@pytest.mark.slow
def test_a_visit_counts_when_its_items_are_taken(tmp_path: Path) -> None:
    """A pipeline that fails has the page back, unconditionally; one that drops an item does not."""
    web = QuotesSite()
    web.from_day = {
        0: {"page/1": "drop me", "page/2": "break me"},
        1: {"page/2": "break me"},
    }
    runs: Runs = [{"at": 0}, {"at": 0.5 * DAY}]
    first, later = crawl(
        web.site,
        tmp_path,
        runs,
        ITEM_PIPELINES={"tests.integrations.spiders.Picky": 1},
        RECRAWL_BUDGET="1/d",
    )

    assert visits(first) == {"new": 4, "failed": 1}
    assert web.fetched(1) == {"/page/2"}
    assert web.statuses_by_run[1][304] == 0
    assert visits(later) == {"failed": 1}


@pytest.mark.slow
def test_a_callback_that_fails_has_its_page_back(tmp_path: Path) -> None:
    """Once it is mended, the page gives what it should have given."""
    web = QuotesSite()
    web.from_day = {0: {"page/1": "ill"}, 1: {"page/1": "well"}}
    runs: Runs = [{"at": 0}, {"at": 60}, {"at": DAY}]
    first, soon, later = crawl(web.site, tmp_path, runs, spider="tests.integrations.spiders.Moody")

    assert visits(first) == {"failed": 1}
    assert visits(soon) == {}  # retried after a delay
    assert visits(later) == {"new": 5}


@pytest.mark.slow
def test_what_a_callback_downloads_is_no_visit_of_its_page(tmp_path: Path) -> None:
    """Nor is it asked for by the page's validators, though it carries the page's meta."""
    web = QuotesSite()
    web.from_day = {2: {"page/1": "another"}}
    runs: Runs = [{"at": 0}, {"at": 2 * DAY}, {"at": 4 * DAY}]
    first, later, last = crawl(
        web.site, tmp_path, runs, spider="tests.integrations.spiders.Reaches"
    )

    assert first["items"] == later["items"] == [{"born": "born"}] * 2
    assert [visits(one) for one in (first, later, last)] == [
        {"new": 1},
        {"changed": 1},
        {"not-modified": 1},
    ]
    assert web.fetched(2) == {"/page/1"}


@pytest.mark.slow
def test_spiders_share_a_state(tmp_path: Path) -> None:
    """Each has its own pages and callbacks; budget and plan are common."""
    web = QuotesSite()
    twin = {"spider": "tests.integrations.spiders.Twin"}
    found = crawl(
        web.site,
        tmp_path,
        [{"at": 0}, {"at": 10, **twin}, {"at": 2 * DAY}, {"at": 2 * DAY, **twin}],
    )

    assert [len(run["items"]) for run in found] == [5, 5, 0, 0]
    assert [visits(run) for run in found[2:]] == [{"not-modified": 5}] * 2


@pytest.mark.slow
def test_known_pages_are_visited_within_the_budget(tmp_path: Path) -> None:
    """Two visits a day and five pages: what is due waits its turn; new pages are free."""
    web = QuotesSite()
    runs: Runs = [{"at": day * DAY} for day in range(6)]
    found = crawl(web.site, tmp_path, runs, RECRAWL_BUDGET="2/d")
    revisits = [run["stats"].get("recrawl/revisits", 0) for run in found]

    assert len(web.fetched(0)) == 5
    assert sum(revisits) <= 1 + 2 * 5
    assert sum(revisits) >= 6


@pytest.mark.slow
def test_a_continuous_crawl_waits_until_something_is_due(tmp_path: Path) -> None:
    """Two days pass in a moment; the spider stays open, and visits its pages again and again."""
    web = QuotesSite()
    (run,) = crawl(
        web.site,
        tmp_path,
        [{"at": 0, "speed": 100_000.0}],
        RECRAWL_CONTINUOUS=True,
        RECRAWL_REPLAN="1h",
        CLOSESPIDER_PAGECOUNT=20,
    )

    assert run["stats"]["finish_reason"] == "closespider_pagecount"
    assert run["stats"]["recrawl/revisits"] >= 10
    assert run["stats"]["recrawl/planned_freshness"] > 0


def test_a_wrong_setting_ends_in_one_message(tmp_path: Path) -> None:
    web = QuotesSite()
    (run,) = crawl(web.site, tmp_path / "new", [{"at": 0}], RECRAWL_BUDGET="plenty")

    assert run["error"].startswith("InvalidSettings: RECRAWL_BUDGET: 'plenty' is not a rate")
    assert web.fetched(0) == set()
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("where", "given", "said", "reactor"),
    [
        ("command", "RECRAWL_BUDGET=fast", "RECRAWL_BUDGET: 'fast' is not a rate", "asyncio"),
        ("spider", "RECRAWL_BUDGT=1/h", "RECRAWL_BUDGT: there is no such setting", "select"),
    ],
)
def test_scrapys_command_line_ends_wrong_settings_in_one_message(
    tmp_path: Path, where: str, given: str, said: str, reactor: str
) -> None:
    """With 2, as its own errors of usage; no traceback, and nothing is begun."""
    project = tmp_path / "project"
    shutil.copytree(ROOT / "examples" / "scrapy", project)
    name, _, value = given.partition("=")
    command = ["crawl", "quotes", "-s", given]
    if where == "spider":
        command = ["crawl", "quotes"]
        (spider,) = project.glob("*/spiders/quotes.py")
        text = spider.read_text()
        line = f"    custom_settings = {{{name!r}: {value!r}}}\n    name = "
        spider.write_text(text.replace("    name = ", line, 1))
    if reactor == "select":
        path = "twisted.internet.selectreactor.SelectReactor"
        command += ["-s", f"TWISTED_REACTOR={path}"]
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", *command, "-s", "LOG_LEVEL=ERROR"],
        cwd=project, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith(f"scrapy: error: {said}")
    assert done.stderr.count("\n") == 1
    assert not (project / "recrawl-state").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ["fetch", "--spider=quotes", "SITE"],
        ["parse", "--spider=quotes", "SITE"],
        ["shell", "--spider=quotes", "SITE", "-c", "response.status"],
    ],
)
def test_a_look_at_one_page_is_no_recrawl(tmp_path: Path, command: list[str]) -> None:
    """It would visit all that is due, for items that go nowhere."""
    project = tmp_path / "project"
    shutil.copytree(ROOT / "examples" / "scrapy", project)
    with serving(Site(lambda *_: "<p>a</p>")) as site:
        given = [site.url if one == "SITE" else one for one in command]
        done = subprocess.run(
            [sys.executable, "-m", "scrapy", *given],
            cwd=project, capture_output=True, text=True, check=False,
        )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert not (project / "recrawl-state").exists()


@pytest.mark.slow
def test_the_example_project_crawls_and_says_what_it_knows(tmp_path: Path) -> None:
    """As its guide has it; the second run brings nothing, as nothing is due."""
    project = tmp_path / "project"
    shutil.copytree(ROOT / "examples" / "scrapy", project)
    quote = (
        '<div class="quote"><span class="text">a</span><small class="author">A</small></div>'
        '<li class="next"><a href="/2">next</a></li>'
    )
    with serving(Site(lambda _, path: quote if path in ("/", "/2") else None)) as site:
        for _ in range(2):
            command = ["crawl", "quotes", "-a", f"site={site.url}/"]
            done = subprocess.run(
                [sys.executable, "-m", "scrapy", *command],
                cwd=project, capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
        assert site.asked["/"] + site.asked["/2"] == 2
    lines = (project / "quotes.jsonl").read_text().splitlines()

    assert [json.loads(line) for line in lines] == [{"text": "a", "of": "A"}] * 2
