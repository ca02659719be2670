"""The engine in virtual time, over a scripted web: one test per promise, no sleeping."""

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typing_extensions import override

from recrawl.crawler.control.addresses.admission import Admission
from recrawl.crawler.control.addresses.scope import Scope
from recrawl.crawler.control.addresses.yields import LITTLE
from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.control.dispatching.politeness import PolitenessRules
from recrawl.crawler.control.fleet.activation import FixedRobots
from recrawl.crawler.control.urls import host_of
from recrawl.crawler.fetch.reading.in_place import InPlaceExtractor
from recrawl.crawler.frontier.memory import MemoryFrontier
from recrawl.crawler.index.memory import MemoryIndex
from recrawl.crawler.index.tantivy import TantivyIndex
from recrawl.crawler.reports.recent import why_left_out
from recrawl.crawler.reports.status import bound_words
from recrawl.crawler.runtime.crawl import CrawlPlan
from recrawl.errors import FetchError, PoisonPage, ReadingPutOff
from recrawl.learning.beliefs import RateBeliefs
from recrawl.terms import FetchResponse, Outcome, PageState, PlanRecord
from recrawl.testing import ScriptedFetcher, Setup, VirtualCrawl, run_virtually, virtual_crawl
from recrawl.testing.worlds import EPOCH_S, TimedPreparation

A = "http://a.test"
DAY = 86_400.0
_NAMES = [f"{one}{other}" for one in "abcdefgh" for other in "abcdefgh"]


def text(url: str, body: str, content_type: str = "text/plain", **fields: object) -> FetchResponse:
    return FetchResponse(
        url=url,
        status=200,
        body=body.encode(),
        content_type=content_type,
        **fields,  # type: ignore[arg-type]
    )


def run(
    seconds: float, script: object, setup: Setup | None = None, **options: object
) -> VirtualCrawl:
    """Crawl for a while over what ``script(web)`` sets up."""

    async def main() -> VirtualCrawl:
        virtual = virtual_crawl(setup, **options)  # type: ignore[arg-type]
        script(virtual.web)  # type: ignore[operator]
        await virtual.run_for(seconds)
        return virtual

    return run_virtually(main())


def state_of(virtual: VirtualCrawl, url: str) -> PageState | None:
    details = virtual.frontier.details(url)
    return details.state if details else None


def test_links_are_followed_and_what_they_lead_to_is_searchable() -> None:
    """The main job: seeds, links, index."""

    def script(web: ScriptedFetcher) -> None:
        web.page(f"{A}/", "home", "/one", "/two#part", "mailto:x@y")
        web.page(f"{A}/one", "a zebra")
        web.page(f"{A}/two", "two pandas")

    virtual = run(100, script)

    assert {url for url, _ in virtual.index.urls()} == {f"{A}/", f"{A}/one", f"{A}/two"}
    assert [hit.url for hit in virtual.index.search("zebra")[1]] == [f"{A}/one"]


def test_one_request_in_flight_per_host_and_the_delay_between() -> None:
    """Politeness: the next request starts a second after the last one ended."""

    def script(web: ScriptedFetcher) -> None:
        web.page(f"{A}/", "home", *[f"/{n}" for n in range(20)])
        for n in range(20):
            web.page(f"{A}/{n}", f"page {n}")

    virtual = run(60, script)

    times = [request.at_s for request in virtual.web.requests]
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert len(times) == 23  # robots.txt, sitemap, home, and the pages
    assert min(gaps) >= 1.1 - 1e-6
    assert virtual.web.most_in_flight[A] == 1


def test_crawl_delay_counts_where_it_is_longer() -> None:
    """RFC-less but honoured: Crawl-delay of the host's robots.txt."""

    def script(web: ScriptedFetcher) -> None:
        web.reply(f"{A}/robots.txt", text(A, "User-agent: *\nCrawl-delay: 7"))
        web.page(f"{A}/", "home", "/1", "/2")
        web.page(f"{A}/1", "1")
        web.page(f"{A}/2", "2")

    virtual = run(100, script)

    times = [request.at_s for request in virtual.web.requests[1:]]
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert len(gaps) >= 3
    assert min(gaps) >= 7.1 - 1e-6


def test_what_robots_txt_forbids_is_never_requested() -> None:
    """RFC 9309: disallowed pages are recorded as such, without a request."""

    def script(web: ScriptedFetcher) -> None:
        web.reply(f"{A}/robots.txt", text(A, "User-agent: *\nDisallow: /private*/x\n"))
        web.page(f"{A}/", "home", "/private/x", "/public")
        web.page(f"{A}/private/x", "secret")
        web.page(f"{A}/public", "open")

    virtual = run(100, script)

    assert not virtual.web.asked(f"{A}/private/x")
    assert state_of(virtual, f"{A}/private/x") is PageState.DISALLOWED
    assert state_of(virtual, f"{A}/public") is PageState.INDEXED


@pytest.mark.parametrize("status", [500, 503, 429])
def test_an_unreachable_robots_txt_forbids_for_now(status: int) -> None:
    """RFC 9309 2.3.1.4: nothing but robots.txt is asked until it can be read."""

    def script(web: ScriptedFetcher) -> None:
        web.reply(
            f"{A}/robots.txt",
            FetchResponse(url=A, status=status),
            FetchResponse(url=A, status=404),
        )
        web.page(f"{A}/", "home")

    virtual = run(3 * 3600, script)

    urls = [request.url for request in virtual.web.requests]
    assert urls[:3] == [f"{A}/robots.txt", f"{A}/robots.txt", f"{A}/"]
    assert virtual.web.requests[1].at_s - EPOCH_S >= 60.0


def test_a_robots_txt_that_cannot_be_had_forbids_and_is_retried() -> None:
    """No connection must never read as permission."""

    def script(web: ScriptedFetcher) -> None:
        web.reply(f"{A}/robots.txt", FetchError("connect", "refused"))
        web.page(f"{A}/", "home")

    virtual = run(6 * 3600, script)

    assert {request.url for request in virtual.web.requests} == {f"{A}/robots.txt"}
    assert 2 <= len(virtual.web.requests) <= 20


def test_robots_txt_redirects_end_after_five_and_then_count_as_missing() -> None:
    """RFC 9309 2.3.1.2."""

    def script(web: ScriptedFetcher) -> None:
        for n in range(20):
            here = f"{A}/robots.txt" if n == 0 else f"{A}/r{n}"
            web.reply(here, FetchResponse(url=here, status=302, location=f"/r{n + 1}"))
        web.page(f"{A}/", "home")

    virtual = run(20, script)

    robots = [request.url for request in virtual.web.requests if "/r" in request.url]
    assert len(robots) == 6
    assert state_of(virtual, f"{A}/") is PageState.INDEXED


def test_retry_after_is_obeyed() -> None:
    """A host that says when to come back is not asked before."""

    def script(web: ScriptedFetcher) -> None:
        web.reply(
            f"{A}/",
            FetchResponse(url=A, status=503, retry_after="1000"),
            text(f"{A}/", "home"),
        )

    virtual = run(2000, script)

    first, second = virtual.web.asked(f"{A}/")[:2]
    assert 1000.0 <= second.at_s - first.at_s < 1010.0
    assert state_of(virtual, f"{A}/") is PageState.INDEXED


def test_throttling_doubles_the_wait() -> None:
    """429 without a header: 60 s, 120 s, 240 s, 480 s, each up to a tenth more."""

    def script(web: ScriptedFetcher) -> None:
        for n in range(9):
            web.reply(f"{A}/{n}", FetchResponse(url=A, status=429))

    virtual = run(1000, script, Setup(seeds=[f"{A}/{n}" for n in range(9)]))

    times = [request.at_s for request in virtual.web.requests if "robots" not in request.url]
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert len(gaps) == 4
    for gap, expected in zip(gaps, (60.0, 120.0, 240.0, 480.0), strict=True):
        assert expected <= gap <= 1.1 * expected + 1.2


def test_a_dead_host_is_left_alone_and_the_others_go_on() -> None:
    """The breaker: failures without an answer block that host only."""

    def script(web: ScriptedFetcher) -> None:
        web.reply("http://dead.test/robots.txt", FetchResponse(url=A, status=404))
        web.reply("http://dead.test/", FetchError("timeout", "no answer"))
        web.page(f"{A}/", "home", *[f"/{n}" for n in range(30)])
        for n in range(30):
            web.page(f"{A}/{n}", f"page {n}")

    setup = Setup(seeds=(f"{A}/", "http://dead.test/"))
    virtual = run(3600, script, setup)

    assert len(virtual.web.asked("http://dead.test/")) <= 7
    assert virtual.index.n_documents() == 31


def test_a_second_visit_is_conditional_and_304_means_unchanged() -> None:
    """Both validators are sent; the answer is an observation."""

    def answer(request: object) -> FetchResponse:
        if getattr(request, "etag", None) == '"1"':
            return FetchResponse(url=f"{A}/", status=304)
        return text(f"{A}/", "home", etag='"1"', last_modified="Mon, 05 Jan 2026 00:00:00 GMT")

    virtual = run(2 * 3600, lambda web: web.reply(f"{A}/", answer))

    first, second = virtual.web.asked(f"{A}/")[:2]
    assert (first.etag, first.last_modified) == (None, None)
    assert (second.etag, second.last_modified) == ('"1"', "Mon, 05 Jan 2026 00:00:00 GMT")
    assert virtual.counts.outcomes["new"] == 1
    assert virtual.counts.outcomes["not-modified"] >= 1
    details = virtual.frontier.details(f"{A}/")
    assert details is not None
    assert details.recent[0].changed is False


def test_a_304_that_nobody_asked_for_is_a_failure_of_the_server() -> None:
    """It says nothing of a page of which there is no copy: tried again, ever later."""
    virtual = run(2 * 3600, lambda web: web.reply(f"{A}/", FetchResponse(f"{A}/", 304)))

    asked_s = [request.at_s for request in virtual.web.asked(f"{A}/")]
    waits_s = np.diff(asked_s)
    assert len(asked_s) == 4
    assert waits_s[1:] == pytest.approx(2.0 * waits_s[:-1], rel=0.05)
    details = virtual.frontier.details(f"{A}/")
    assert details is not None
    assert details.state == PageState.DISCOVERED
    assert [visit.outcome for visit in details.recent] == [Outcome.SERVER_ERROR] * 4
    assert "304" in (details.recent[0].note or "")


def test_boilerplate_is_no_change_and_content_is() -> None:
    """A new timestamp leaves the index alone; a new sentence is written to it."""

    def script(web: ScriptedFetcher) -> None:
        def html(body: str, minute: int) -> FetchResponse:
            return text(
                f"{A}/",
                f"<main><p>{body}</p></main><footer>Served 2026-01-05 10:{minute:02d}</footer>",
                "text/html",
            )

        web.reply(f"{A}/", html("same words", 1), html("same words", 2), html("new words", 3))

    revisit = RevisitRules(min_interval_s=600, max_interval_s=3600, initial_interval_s=1000)
    virtual = run(2500, script, Setup(revisit=revisit, rules={"replan_s": 1e9}))

    assert [visit.outcome for visit in reversed(virtual.frontier.details(f"{A}/").recent)][:3] == [  # type: ignore[union-attr]
        Outcome.NEW,
        Outcome.UNCHANGED,
        Outcome.CHANGED,
    ]
    assert virtual.index.search("new")[0] == 1


def test_a_footer_that_a_host_repeats_may_change_and_no_page_has_changed(tmp_path: Path) -> None:
    """No markup says that it is one; the visits tell it apart from a change of the text."""
    names = [f"{A}/{name}" for name in _NAMES[:20]]
    links = "".join(f"<a href='{name}'>go</a>" for name in names)

    def html(url: str, foot: str, words: str = "words") -> FetchResponse:
        body = f"<p>The {words} of {url}.</p><p>Imprint</p><p>{foot}</p>"
        return text(url, body + (links if url == f"{A}/" else ""), "text/html")

    def script(web: ScriptedFetcher) -> None:
        for url in (f"{A}/", *names):
            now = html(url, "Made in 2027", "news" if url == names[0] else "words")
            web.reply(url, html(url, "Made in 2026"), now)

    revisit = RevisitRules(min_interval_s=600, max_interval_s=3600, initial_interval_s=1000)
    setup = Setup(revisit=revisit, rules={"replan_s": 1e9})
    virtual = run(2500, script, setup, index=TantivyIndex(tmp_path))

    changed = [
        url for url in names for visit in virtual.frontier.details(url).recent  # type: ignore[union-attr]
        if visit.outcome is Outcome.CHANGED
    ]  # fmt: skip
    assert changed == [names[0]]
    assert virtual.counts.outcomes["unchanged"] >= 19
    assert dict(virtual.frontier.urls_indexed()) == dict(virtual.index.urls())
    virtual.index.close()


@pytest.mark.parametrize("missing", [FetchResponse(url=A, status=404), text(A, " \n", "text/html")])
def test_a_404_is_confirmed_before_the_copy_goes_and_a_410_is_not(missing: FetchResponse) -> None:
    """One bad answer removes nothing, nor does an empty one; what is declared gone goes at once."""

    def script(web: ScriptedFetcher) -> None:
        web.page(f"{A}/", "home", "/lost", "/gone")
        web.reply(f"{A}/lost", text(A, "lost"), missing)
        web.reply(f"{A}/gone", text(A, "gone"), FetchResponse(url=A, status=410))

    revisit = RevisitRules(
        min_interval_s=600, max_interval_s=DAY, initial_interval_s=1000, confirm_s=5000
    )

    def after(seconds: float) -> VirtualCrawl:
        return run(seconds, script, Setup(revisit=revisit, rules={"replan_s": 1e9}))

    early, late = after(2000), after(9000)

    assert state_of(early, f"{A}/lost") is PageState.MISSING
    assert state_of(early, f"{A}/gone") is PageState.GONE
    assert early.index.signature(f"{A}/lost") is not None
    assert early.index.signature(f"{A}/gone") is None
    assert state_of(late, f"{A}/lost") is PageState.GONE
    assert late.index.signature(f"{A}/lost") is None


def test_a_page_that_moved_gives_way_to_its_new_address() -> None:
    """301: the target is visited as a page of its own, the old address leaves the index."""

    def script(web: ScriptedFetcher) -> None:
        web.reply(
            f"{A}/",
            text(f"{A}/", "old place"),
            FetchResponse(url=A, status=301, location="/new"),
        )
        web.page(f"{A}/new", "new place")

    revisit = RevisitRules(min_interval_s=600, max_interval_s=DAY, initial_interval_s=1000)
    virtual = run(3000, script, Setup(revisit=revisit))

    details = virtual.frontier.details(f"{A}/")
    assert details is not None
    assert (details.state, details.redirect_url) == (PageState.MOVED, f"{A}/new")
    assert [url for url, _ in virtual.index.urls()] == [f"{A}/new"]


def test_endless_redirects_end() -> None:
    """Five redirects in a row, then no further."""

    def script(web: ScriptedFetcher) -> None:
        for n in range(50):
            here = f"{A}/" if n == 0 else f"{A}/r{n}"
            web.reply(here, FetchResponse(url=here, status=302, location=f"/r{n + 1}"))

    virtual = run(100, script)

    assert len(virtual.frontier.n_pages_by_state()) == 1
    assert sum(virtual.frontier.n_pages_by_state().values()) == 6


def test_noindex_is_followed_but_not_indexed_and_nofollow_is_not_followed() -> None:
    """Meta tags and X-Robots-Tag."""

    def script(web: ScriptedFetcher) -> None:
        web.page(f"{A}/", "home", "/meta", "/header", "/nofollow")
        web.reply(
            f"{A}/meta",
            text(
                A, '<meta name="robots" content="noindex"><a href="/from-meta">x</a>', "text/html"
            ),
        )
        web.reply(f"{A}/header", text(A, "words", robots_tag="noindex"))
        web.reply(
            f"{A}/nofollow",
            text(A, '<meta name="ROBOTS" content="nofollow"><a href="/never">x</a>', "text/html"),
        )
        web.page(f"{A}/from-meta", "found")

    virtual = run(100, script)

    assert {url for url, _ in virtual.index.urls()} == {
        f"{A}/",
        f"{A}/nofollow",
        f"{A}/from-meta",
    }
    assert state_of(virtual, f"{A}/meta") is PageState.EXCLUDED
    assert state_of(virtual, f"{A}/never") is None
    visits = {path: virtual.frontier.details(f"{A}{path}") for path in ("/meta", "/nofollow")}
    notes = {path: page and page.recent[-1].note for path, page in visits.items()}
    assert notes == {"/meta": "noindex", "/nofollow": "nofollow"}


def test_a_page_that_sends_its_reader_on_is_a_redirect() -> None:
    """Where it leads is no further from a seed, its other links count, and nothing is indexed."""

    def script(web: ScriptedFetcher) -> None:
        stub = "<meta http-equiv=refresh content='0; url={}'><p>Redirecting <a href=/aside>x</a>"
        web.reply(f"{A}/", text(A, stub.format("/en/"), "text/html"))
        web.reply(f"{A}/old", text(A, stub.format("/login?next=/old"), "text/html"))
        web.page(f"{A}/en/", "home", "/old")
        web.page(f"{A}/aside", "said aside")

    virtual = run(100, script)

    assert {url for url, _ in virtual.index.urls()} == {f"{A}/en/", f"{A}/aside"}
    first, home, old = (virtual.frontier.details(f"{A}{path}") for path in ("/", "/en/", "/old"))
    assert first is not None
    assert (first.state, first.redirect_url) == (PageState.MOVED, f"{A}/en/")
    assert home is not None
    assert home.depth == 0
    assert old is not None
    assert old.recent[-1].outcome == Outcome.DENIED


@pytest.mark.parametrize("body", ["", "<p>little"])
def test_a_header_that_sends_a_reader_on_is_followed(body: str) -> None:
    """Also where there is nothing else in the answer."""

    def script(web: ScriptedFetcher) -> None:
        web.reply(f"{A}/", text(A, body, "text/html", refresh="0; url=/en/"))
        web.page(f"{A}/en/", "home")

    virtual = run(100, script)

    assert {url for url, _ in virtual.index.urls()} == {f"{A}/en/"}
    first = virtual.frontier.details(f"{A}/")
    assert first is not None
    assert (first.state, first.redirect_url) == (PageState.MOVED, f"{A}/en/")


def test_of_a_document_that_cannot_be_read_it_is_said_why() -> None:
    """It does not ask for that; nor does its host say that there is no such page."""

    def script(web: ScriptedFetcher) -> None:
        web.page(f"{A}/", "home", "/torn", "/forbidden")
        torn = text(A, "%PDF-1.4 torn", "application/pdf")
        web.reply(f"{A}/torn", torn)
        web.reply(f"{A}/forbidden", replace(torn, robots_tag="noindex"))

    virtual = run(100, script)

    said = []
    for path in ("/torn", "/forbidden"):
        page = virtual.frontier.details(f"{A}{path}")
        assert page is not None
        visit = page.recent[-1]
        said.append((page.state, why_left_out(page.state, visit.outcome, 200, visit.note)))
    assert said == [
        (PageState.EXCLUDED, "cannot be indexed: the PDF is damaged"),
        (PageState.EXCLUDED, "asks not to be indexed (noindex)"),
    ]


@pytest.mark.parametrize(
    ("links", "note"),
    [
        (["http://www.example/x", f"{A}/"], "such as http://www.example"),
        (["http://www.example/x", f"{A}/in"], None),
        ([f"{A}/"], None),
    ],
)
def test_of_a_seed_that_leads_out_of_the_crawl_it_is_said(
    links: list[str], note: str | None
) -> None:
    """As where a site's links go by another of its names."""
    setup = Setup(seeds=(f"{A}/",), hosts=("a.test",))
    virtual = run(100, lambda web: web.page(f"{A}/", "home", *links), setup)

    page = virtual.frontier.details(f"{A}/")
    assert page is not None
    said = page.recent[-1].note
    assert said is None if note is None else said is not None and said.endswith(note)


def test_a_menu_that_a_script_makes_is_followed() -> None:
    """As in Doxygen's manuals, whose start page has no link; whatever else it loads is no page."""
    libraries = "".join(f'<script src="lib{n}.js"></script>' for n in range(6))

    def script(web: ScriptedFetcher) -> None:
        home = f'<body><p>Manual.</p>{libraries}<script src="menudata.js"></script></body>'
        web.reply(f"{A}/", text(f"{A}/", home, "text/html"))
        for number in range(6):
            name = f"{A}/lib{number}.js"
            web.reply(name, text(name, "var nothing;", "text/javascript"))
        menu, data = f"{A}/menudata.js", 'var menudata=[{text:"Files",url:"files.html#a"}]'
        web.reply(menu, text(menu, data, "text/javascript"))
        web.reply(f"{A}/files.html", text(f"{A}/files.html", "<p>All files.", "text/html"))

    virtual = run(100, script)

    assert {url for url, _ in virtual.index.urls()} == {f"{A}/", f"{A}/files.html"}


def test_a_canonical_address_is_a_hint() -> None:
    """Believed of a page of the same host that is in the index and says the same; else ignored."""

    def script(web: ScriptedFetcher) -> None:
        def reply(path: str, canonical: str, words: str, **fields: object) -> None:
            head = f'<head><title>t</title><link rel="canonical" href="{canonical}"></head>'
            web.reply(f"{A}{path}", text(f"{A}{path}", f"{head}<p>{words}", "text/html", **fields))

        links = " ".join(f'<a href="/{name}">' for name in ("same", "other", "loop", "gone", "b"))
        reply("/", "/", f"all the words{links}")
        reply("/same", "/", "all the words")
        reply("/other", "/", "other words")
        reply("/loop", "/back", "words that lead nowhere")
        web.reply(f"{A}/back", FetchResponse(f"{A}/back", 301, location=f"{A}/loop"))
        reply("/gone", "/nowhere", "words that are gone")
        reply("/b", "http://b.test/", "words of another host")
        other = "<head><title>t</title></head><p>words of another host"
        web.reply("http://b.test/", text("http://b.test/", other, "text/html"))

    seeds = [f"{A}/", "http://b.test/"]
    virtual = run(200, script, Setup(seeds=seeds, hosts=("a.test", "b.test")))

    assert {url for url, _ in virtual.index.urls()} == {
        "http://b.test/",
        *(f"{A}/{path}" for path in ("", "other", "loop", "gone", "b")),
    }
    assert state_of(virtual, f"{A}/same") is PageState.EXCLUDED


def test_a_site_behind_one_script_is_visited_whole_in_a_single_pass() -> None:
    """And what its words or its answers speak against is tried a few times only."""
    n = 150

    def script(web: ScriptedFetcher) -> None:
        web.page(f"{A}/", "index", *(f"/doku?id=page{number}" for number in range(n)))
        for number in range(n):
            actions = [f"/doku?do={do}&id=page{number}" for do in ("edit", "login", "diff")]
            web.page(f"{A}/doku?id=page{number}", f"the text of page {number}", *actions)
            for action in actions:
                web.page(f"{A}{action}", "you are not allowed to do this")

    async def main() -> VirtualCrawl:
        virtual = virtual_crawl(Setup(), once=True)
        script(virtual.web)
        await virtual.crawl.prepare()
        async with virtual.crawl.running():
            await virtual.crawl.until_done()
        return virtual

    virtual = run_virtually(main())

    asked = [request.url for request in virtual.web.requests]
    assert sum("/doku?id=" in url for url in asked) == n
    assert sum("/doku?do=" in url for url in asked) <= 0.15 * n
    details = next(
        virtual.frontier.details(f"{A}/doku?do=edit&id=page{number}")
        for number in range(n)
        if f"{A}/doku?do=edit&id=page{number}" not in asked
    )
    assert details is not None
    assert details.due_why == LITTLE


@pytest.mark.parametrize("body", ["home", 'home <a href="/feed">RSS</a>'])
def test_sitemaps_and_feeds_are_read(body: str) -> None:
    """Indexes, gzip and dates included; entries of feeds are discoveries, linked to or not."""
    import gzip

    def script(web: ScriptedFetcher) -> None:
        web.reply(f"{A}/robots.txt", text(A, f"Sitemap: {A}/index.xml"))
        index = f"<sitemapindex><sitemap><loc>{A}/one.xml.gz</loc></sitemap></sitemapindex>"
        web.reply(f"{A}/index.xml", text(f"{A}/index.xml", index, "application/xml"))
        entry = f"<urlset><url><loc>{A}/hidden</loc><lastmod>2026-01-05</lastmod></url></urlset>"
        zipped = FetchResponse(url=A, status=200, body=gzip.compress(entry.encode()))
        web.reply(f"{A}/one.xml.gz", zipped)
        web.page(f"{A}/hidden", "hidden")
        alternate = '<link rel="alternate" type="application/rss+xml" href="/feed">'
        web.reply(f"{A}/", text(f"{A}/", f"<head>{alternate}</head>{body}", "text/html"))
        feed = f"<rss version='2.0'><channel><item><link>{A}/news</link></item></channel></rss>"
        web.reply(f"{A}/feed", text(f"{A}/feed", feed, "application/rss+xml"))
        web.page(f"{A}/news", "news")

    virtual = run(100, script)

    hidden = virtual.frontier.details(f"{A}/hidden")
    assert {url for url, _ in virtual.index.urls()} == {f"{A}/", f"{A}/hidden", f"{A}/news"}
    assert hidden is not None
    assert hidden.lastmod_s == 1_767_571_200.0


def test_a_sitemap_that_cannot_be_read_is_on_record_as_poison(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With the reason, and it is left alone for a while."""

    async def broken(*_: object) -> None:
        raise PoisonPage("too deep")

    def script(web: ScriptedFetcher) -> None:
        web.page(f"{A}/", "home")
        web.page(f"{A}/sitemap.xml", "<urlset/>")

    monkeypatch.setattr(InPlaceExtractor, "sitemap", broken)
    virtual = run(100, script)

    details = virtual.frontier.details(f"{A}/sitemap.xml")
    assert details is not None
    assert [(visit.outcome, visit.note) for visit in details.recent] == [
        (Outcome.POISON, "too deep")
    ]
    assert len(virtual.web.asked(f"{A}/sitemap.xml")) == 1


@pytest.mark.parametrize(
    ("named", "note"),
    [
        (
            ["http://www.a.test/x"],
            "leads only to what is not in scope.hosts, such as http://www.a.test",
        ),
        (["http://w.a.test/x", f"{A}/y"], None),
    ],
)
def test_a_sitemap_says_where_it_leads_if_all_of_that_is_out_of_the_crawl(
    named: list[str], note: str | None
) -> None:
    """As that of a site that calls itself www, and is asked for without."""
    pages = "".join(f"<url><loc>{url}</loc></url>" for url in named)

    def build(web: ScriptedFetcher) -> None:
        web.page(f"{A}/", "home")
        web.reply(f"{A}/sitemap.xml", text(A, f"<urlset>{pages}</urlset>", "application/xml"))

    virtual = run(100, build, Setup(hosts=("a.test",)))

    details = virtual.frontier.details(f"{A}/sitemap.xml")
    assert details is not None
    assert details.recent[0].outcome is Outcome.LISTING
    assert details.recent[0].note == note


@pytest.mark.parametrize(("kind", "path"), [("sitemap", "/sitemap.xml"), ("page", "/")])
def test_what_was_not_read_is_no_poison(
    monkeypatch: pytest.MonkeyPatch, kind: str, path: str
) -> None:
    """It is deferred, with the reason, for a delay that doubles, and then read."""
    reads = getattr(InPlaceExtractor, kind)
    times = iter(range(2))

    async def busy(*given: Any) -> Any:
        if next(times, None) is not None:
            raise ReadingPutOff("others are read")
        return await reads(*given)

    def script(web: ScriptedFetcher) -> None:
        web.page(f"{A}/", "home")
        web.reply(f"{A}/sitemap.xml", text(A, "<urlset/>", "application/xml"))

    monkeypatch.setattr(InPlaceExtractor, "at_once", lambda *_: None)
    monkeypatch.setattr(InPlaceExtractor, kind, busy)
    virtual = run(600, script)

    details = virtual.frontier.details(f"{A}{path}")
    assert details is not None
    *put_off, read = list(reversed(details.recent))[:3]
    put_off_as = [(visit.outcome, visit.note) for visit in put_off]
    assert put_off_as == [(Outcome.DEFERRED, "others are read")] * 2
    assert read.outcome in (Outcome.NEW, Outcome.LISTING)
    assert details.state == PageState.INDEXED
    asked_s = [request.at_s for request in virtual.web.asked(f"{A}{path}")][:3]
    assert np.diff(asked_s) == pytest.approx([60.0, 120.0], abs=5.0)


def test_the_budget_is_never_exceeded() -> None:
    """In no window are there more requests than the rate allows, plus the burst."""

    def script(web: ScriptedFetcher) -> None:
        for host in "abcdefgh":
            web.page(f"http://{host}.test/", "home", *[f"/{n}" for n in range(50)])
            for n in range(50):
                web.page(f"http://{host}.test/{n}", f"{host} {n}")

    seeds = tuple(f"http://{host}.test/" for host in "abcdefgh")
    virtual = run(600, script, Setup(seeds=seeds, budget_per_s=0.5))

    times = [request.at_s for request in virtual.web.requests]
    assert len(times) > 290
    for start in range(0, len(times), 7):
        for end in range(start + 1, len(times), 11):
            assert end - start <= 0.5 * (times[end] - times[start]) + 5.0 + 1e-6


@pytest.mark.parametrize("fails", [False, True])
def test_a_page_that_takes_many_requests_leaves_fewer_for_others(*, fails: bool) -> None:
    """What filling it took is paid back before the next request, whatever came of it."""

    def script(web: ScriptedFetcher) -> None:
        web.page(f"{A}/", "home", *[f"/{n}" for n in range(200)])
        for n in range(200):
            if fails:
                web.reply(f"{A}/{n}", FetchError("render", "nothing there", n_requests=10))
            else:
                web.reply(f"{A}/{n}", text(f"{A}/{n}", f"page {n}", n_requests=10))

    virtual = run(600, script, Setup(budget_per_s=0.5, politeness=PolitenessRules(delay_s=0.1)))

    asked = sum(request.url[-1].isdigit() for request in virtual.web.requests)
    assert 20 <= asked <= 0.5 * 600 / 10 + 3


def test_a_full_buffer_loses_pages_back_to_the_frontier() -> None:
    """With more robots than the buffer has room for, losses are counted and made good."""

    def script(web: ScriptedFetcher) -> None:
        for host in "abcdefghijkl":
            web.page(f"http://{host}.test/", f"home of {host}")

    seeds = tuple(f"http://{host}.test/" for host in "abcdefghijkl")
    setup = Setup(seeds=seeds, service_s=0.5, rules={"buffer_capacity": 1, "n_robots": 12})
    plan = CrawlPlan(1000.0, PolitenessRules(delay_s=1.0), policy=FixedRobots(12))
    virtual = run(60, script, setup, plan=plan)

    assert virtual.crawl.buffer.lost > 0
    assert virtual.counts.outcomes["lost"] == virtual.crawl.buffer.lost
    assert virtual.index.n_documents() == 12


def test_the_default_control_loses_nothing() -> None:
    """No more robots run than the buffer has room for."""

    def script(web: ScriptedFetcher) -> None:
        for host in "abcdefghijkl":
            web.page(f"http://{host}.test/", f"home of {host}")

    seeds = tuple(f"http://{host}.test/" for host in "abcdefghijkl")
    setup = Setup(seeds=seeds, service_s=0.5, rules={"buffer_capacity": 1, "n_robots": 12})
    virtual = run(60, script, setup)

    assert virtual.crawl.buffer.lost == 0
    assert virtual.index.n_documents() == 12


@pytest.mark.parametrize("service_s", [0.0, 30.0])
def test_a_single_pass_visits_every_page_once(service_s: float) -> None:
    """`--once`: what is found on the way too, however late the indexer reads it; then it ends."""

    def script(web: ScriptedFetcher) -> None:
        web.page(f"{A}/", "home", "/1", "/2")
        web.page(f"{A}/1", "one", "/3")
        web.page(f"{A}/2", "two")
        web.page(f"{A}/3", "three")

    async def main() -> VirtualCrawl:
        virtual = virtual_crawl(Setup(service_s=service_s), once=True)
        script(virtual.web)
        await virtual.crawl.prepare()
        async with virtual.crawl.running():
            await virtual.crawl.until_done()
        return virtual

    virtual = run_virtually(main())

    pages = [request.url for request in virtual.web.requests if request.url[-1] in "/123"]
    assert sorted(pages) == [f"{A}/", f"{A}/1", f"{A}/2", f"{A}/3"]
    assert virtual.index.n_documents() == 4


@pytest.mark.slow
def test_pages_are_revisited_as_the_plan_says() -> None:
    """A page that always changes is visited more often than one that never does."""
    versions = iter(range(100_000))

    def script(web: ScriptedFetcher) -> None:
        web.page(f"{A}/", "home", "/fast")
        web.reply(f"{A}/fast", lambda _: text(f"{A}/fast", f"version number {next(versions)}"))

    setup = Setup(
        budget_per_s=1 / 600.0,
        revisit=RevisitRules(min_interval_s=600, max_interval_s=5 * DAY, initial_interval_s=DAY),
        rules={"replan_s": 7200.0},
    )
    virtual = run(20 * DAY, script, setup)

    fast, slow = virtual.frontier.details(f"{A}/fast"), virtual.frontier.details(f"{A}/")
    assert fast is not None
    assert slow is not None
    assert fast.visits > 3 * slow.visits > 0
    assert (fast.change_rate_per_s or 0) > 10 * (slow.change_rate_per_s or 1)


def test_query_variants_of_one_path_are_bounded() -> None:
    """A calendar cannot fill the frontier."""
    from recrawl.crawler.ports import AdmissionLimits

    def script(web: ScriptedFetcher) -> None:
        web.page(f"{A}/", "home", *[f"/calendar?day={n}" for n in range(500)])

    setup = Setup(rules={"limits": AdmissionLimits(max_query_variants=20)})
    virtual = run(10, script, setup)

    assert sum(virtual.frontier.n_pages_by_state().values()) == 21


def test_hosts_of_one_domain_are_bounded() -> None:
    """Names below one cost nothing: each page of a trap leads to two hosts that were never seen."""
    from recrawl.crawler.ports import AdmissionLimits

    def script(web: ScriptedFetcher) -> None:
        web.page(f"{A}/", "home", "http://h1.trap.test/", "http://b.test/")
        web.page("http://b.test/", "another")
        for number in range(1, 100):
            further = (f"http://h{2 * number + more}.trap.test/" for more in (0, 1))
            web.page(f"http://h{number}.trap.test/", f"trap {number}", *further)

    setup = Setup(rules={"limits": AdmissionLimits(max_hosts_per_domain=20)})
    virtual = run(1_000, script, setup)

    hosts = [record.host for record in virtual.frontier.hosts()]
    assert sum(host.endswith(".trap.test") for host in hosts) == 20
    assert {A, "http://b.test"} <= set(hosts)
    (refused,) = virtual.frontier.refused()
    assert refused[:2] == ("trap.test", "domain-full")


@pytest.mark.slow
def test_a_list_is_followed_to_its_end_and_what_lies_too_deep_is_counted() -> None:
    """Many blogs have no other way to their oldest posts than "older posts", page by page."""

    def script(web: ScriptedFetcher) -> None:
        web.page(f"{A}/", "home", "/?page=2", "/blog/page/2", "/step1")
        for number in range(2, 40):
            web.page(f"{A}/?page={number}", f"list {number}", f"/?page={number + 1}", f"/{number}")
            web.page(f"{A}/{number}", f"post {number}")
            on = f"/blog/page/{number + 1}"
            web.page(f"{A}/blog/page/{number}", f"blog {number}", on, f"/blog/{number}")
            web.page(f"{A}/blog/{number}", f"other post {number}")
        for number in range(1, 9):
            web.page(f"{A}/step{number}", f"step {number}", f"/step{number + 1}")

    admission = Admission(Scope(hosts=("*",), max_depth=5))
    virtual = run(3_600, script, Setup(rules={"admission": admission}))

    indexed = {url for url, _ in virtual.index.urls()}
    assert {f"{A}/39", f"{A}/blog/39", f"{A}/step5"} <= indexed
    assert f"{A}/step6" not in indexed
    assert virtual.frontier.refused() == [(A, "beyond-bounds", 1)]


def test_a_page_that_waited_too_long_in_the_buffer_is_fetched_again() -> None:
    """Obsolete pages go back to the frontier instead of into the index."""

    def script(web: ScriptedFetcher) -> None:
        for host in "abcd":
            web.page(f"http://{host}.test/", f"home of {host}")

    seeds = tuple(f"http://{host}.test/" for host in "abcd")
    rules: dict[str, object] = {"buffer_deadline_s": 5.0}
    virtual = run(200, script, Setup(seeds=seeds, service_s=4.0, rules=rules))

    assert virtual.counts.outcomes["obsolete"] == virtual.crawl.indexer.obsolete > 0
    assert virtual.index.n_documents() == 4


@pytest.mark.parametrize(
    ("setup", "expected", "words"),
    [
        ({"budget_per_s": 0.02}, 0.02, "the budget of 72/h"),
        (
            {"access_s": 40.0, "rules": {"n_robots": 2}},
            0.05,
            "is all that 2 of them can fetch",
        ),
        ({"prepare_s": 25.0}, 0.04, "the indexer: it keeps up with"),
    ],
    ids=["budget", "robots", "indexer"],
)
def test_the_plan_counts_on_what_can_be_brought(
    setup: dict[str, Any], expected: float, words: str
) -> None:
    """The budget, or what robots or indexer can do where that is less: it sets the price."""
    edition = itertools.count()

    def script(web: ScriptedFetcher) -> None:
        for host in "abcdefghijkl":
            url = f"http://{host}.test/"
            web.reply(url, lambda request: text(request.url, f"edition {next(edition)}"))

    seeds = tuple(f"http://{host}.test/" for host in "abcdefghijkl")
    revisit = RevisitRules(1.0, 1e6, 1.0)
    virtual = run(20_000, script, Setup(seeds=seeds, revisit=revisit, **setup))

    plan = virtual.frontier.last_plan()
    assert plan is not None
    assert plan.budget_per_s == pytest.approx(expected, rel=0.1)
    assert words in bound_words(virtual.frontier.facts())


def test_no_host_is_planned_to_be_asked_more_often_than_politeness_allows() -> None:
    """Ten pages that always change, of a host that is asked every 40 seconds at most."""
    edition = itertools.count()

    def script(web: ScriptedFetcher) -> None:
        web.page(f"{A}/", "home", *[f"/{n}" for n in range(10)])
        for n in range(10):
            web.reply(f"{A}/{n}", lambda request: text(request.url, f"edition {next(edition)}"))

    revisit, polite = RevisitRules(1.0, 1e6, 1.0), PolitenessRules(delay_s=40.0)
    virtual = run(8_000, script, Setup(revisit=revisit, politeness=polite, budget_per_s=1.0))

    planned = virtual.frontier.planned_pages().crawl_rates_per_s
    assert np.nansum(planned) == pytest.approx(1.0 / 40.0, rel=0.3)


@pytest.mark.parametrize("first_free", [True, False])
def test_first_visits_cost_the_plan_nothing_where_the_budget_does_not_count_them(
    *, first_free: bool
) -> None:
    """Else what waits for one takes of the budget what it needs: here a quarter."""
    rules: dict[str, Any] = {"replan_s": 1e4, "first_free": first_free}

    async def main() -> PlanRecord | None:
        virtual = virtual_crawl(Setup(seeds=(f"{A}/",), rules=rules))
        virtual.web.page(f"{A}/", "home")
        await virtual.run_for(50.0)
        virtual.crawl.dispatcher.budget.rate_per_s = 0.002
        found = virtual.crawl.rules.admission.of([f"{A}/{n}" for n in range(10)])
        virtual.frontier.admit(found, virtual.crawl.now_s, virtual.crawl.rules.limits)
        return await virtual.crawl.planner.replan()

    plan = run_virtually(main())

    assert plan is not None
    assert plan.budget_per_s == pytest.approx(0.002 - (0.0 if first_free else 10 / 2e4))


def test_the_plan_promises_what_the_budget_brings_of_it() -> None:
    """Of pages seen once all that is known is the prior, so the promise can be written out."""
    seeds = tuple(f"http://{name}.test/" for name in itertools.islice(_NAMES, 40))
    revisit = RevisitRules(600.0, 50 * DAY, 10 * DAY)
    rules: dict[str, Any] = {"replan_s": 1e9, "prior_rate_per_s": 0.5 / DAY}

    async def main() -> tuple[VirtualCrawl, PlanRecord | None]:
        virtual = virtual_crawl(Setup(seeds=seeds, revisit=revisit, rules=rules))
        for url in seeds:
            virtual.web.page(url, f"home of {url}")
        await virtual.run_for(50.0)  # the first plan would come after a minute
        virtual.crawl.dispatcher.budget.rate_per_s = 20.0 / DAY
        return virtual, await virtual.crawl.planner.replan()

    virtual, plan = run_virtually(main())

    assert plan is not None
    assert plan.n_pages == len(seeds)
    planned = virtual.frontier.planned_pages().crawl_rates_per_s
    assert planned.sum() > 1.02 * plan.budget_per_s  # more falls due than is paid for
    beliefs = RateBeliefs(len(seeds), prior_rate=0.5 / DAY, octaves=(-11, 13))
    brought = planned * plan.budget_per_s / planned.sum()
    assert plan.freshness == pytest.approx(
        beliefs.freshness(np.arange(len(seeds)), brought).mean(), rel=1e-3
    )


def test_copies_that_all_wait_long_are_not_given_up_for_others_that_would() -> None:
    """Pages change faster than the indexer comes to them: what waits as long as all is indexed."""
    edition = itertools.count()
    seeds = tuple(f"http://{name}.test/" for name in itertools.islice(_NAMES, 12))

    def script(web: ScriptedFetcher) -> None:
        for url in seeds:
            web.reply(url, lambda request: text(request.url, f"edition {next(edition)}"))

    rules: dict[str, object] = {"n_robots": 12, "buffer_deadline_s": 1e6, "prior_rate_per_s": 0.01}
    revisit = RevisitRules(1.0, 1e6, 1.0)
    virtual = run(20_000, script, Setup(seeds=seeds, revisit=revisit, prepare_s=20.0, rules=rules))

    seen = virtual.counts.outcomes
    assert virtual.crawl.buffer.usual_wait_s > 60.0
    assert seen["changed"] > 10 * seen["obsolete"]


def test_several_servers_index_as_many_pages_at_a_time() -> None:
    """Twelve pages that take ten seconds each: three servers are done in a third of the time."""

    def script(web: ScriptedFetcher) -> None:
        for host in "abcdefghijkl":
            web.page(f"http://{host}.test/", f"home of {host}")

    seeds = tuple(f"http://{host}.test/" for host in "abcdefghijkl")

    def indexed(n_servers: int, seconds: float) -> tuple[int, int]:
        rules: dict[str, object] = {"n_servers": n_servers, "n_robots": 12, "commit_s": 0.1}
        virtual = run(seconds, script, Setup(seeds=seeds, prepare_s=10.0, rules=rules))
        prepare = virtual.crawl.world.prepare
        assert isinstance(prepare, TimedPreparation)
        return virtual.index.n_documents(), prepare.most_at_once

    assert indexed(1, 45.0) == (5, 1)  # the one in service at the end is not cut off
    assert indexed(3, 45.0) == (12, 3)


def test_starvation_is_the_time_in_which_the_buffer_is_empty() -> None:
    """One page read for 4 and committed for 4 of 100 seconds leaves the indexer idle for 92."""

    def script(web: ScriptedFetcher) -> None:
        web.page(f"{A}/", "home")

    setup = Setup(service_s=4.0, rules={"commit_s": 0.0})
    virtual = run(100, script, setup)

    assert virtual.crawl.buffer.starved_s == pytest.approx(92.0, abs=0.2)


@pytest.mark.slow
def test_weights_move_visits_to_what_matters() -> None:
    """Of two pages that change alike, the one worth more is visited more often."""
    from recrawl.crawler.control.addresses.admission import Admission
    from recrawl.crawler.control.addresses.scope import Scope, Weights

    versions = iter(range(100_000))

    def script(web: ScriptedFetcher) -> None:
        web.page(f"{A}/", "home", "/dear", "/cheap")
        for name in ("dear", "cheap"):
            web.reply(f"{A}/{name}", lambda _: text(A, f"version number {next(versions)}"))

    rules: dict[str, object] = {
        "replan_s": 7200.0,
        "admission": Admission(Scope(hosts=("*",)), Weights((("/dear", 20.0),))),
    }
    revisit = RevisitRules(min_interval_s=600, max_interval_s=5 * DAY, initial_interval_s=DAY)
    setup = Setup(budget_per_s=1 / 3600.0, revisit=revisit, rules=rules)
    virtual = run(20 * DAY, script, setup)

    dear, cheap = virtual.frontier.details(f"{A}/dear"), virtual.frontier.details(f"{A}/cheap")
    assert dear is not None
    assert cheap is not None
    assert dear.weight == 20.0
    assert dear.visits > 2 * cheap.visits


@pytest.mark.slow
def test_a_page_that_answers_503_for_ever_does_not_starve_its_host() -> None:
    """It backs off by itself; the others are visited as if it were not there."""
    pages = [f"{A}/{n}" for n in range(20)]

    def visits(status: int) -> int:
        def script(web: ScriptedFetcher) -> None:
            for url in pages:
                web.page(url, f"page {url}")
            web.reply(pages[0], FetchResponse(url=pages[0], status=status))

        virtual = run(3_600, script, Setup(seeds=pages, budget_per_s=0.5, least_worth=0.0))
        return sum(len(virtual.web.asked(url)) for url in pages[1:])

    well, ill = visits(200), visits(503)

    assert ill >= 0.9 * well


def test_a_sitemap_that_was_absent_is_looked_for_again_ever_later() -> None:
    """Not in a month: what was not there at the start may come any day."""
    revisit = RevisitRules(min_interval_s=60.0, listing_s=1_000.0)

    def script(web: ScriptedFetcher) -> None:
        web.page(f"{A}/", "home")

    virtual = run(7_500, script, Setup(revisit=revisit))

    times = [request.at_s for request in virtual.web.asked(f"{A}/sitemap.xml")]
    assert np.diff(times) == pytest.approx([1_000.0, 2_000.0, 4_000.0], abs=3.0)


def test_pages_are_weighed_anew_only_by_other_settings() -> None:
    """Of a million known addresses that takes seconds, at each start."""
    weighed: list[float] = []

    class Weighed(MemoryFrontier):
        @override
        def reweigh(self, weight_of: Callable[[str], float]) -> int:
            weighed.append(weight_of(A))
            return super().reweigh(weight_of)

    frontier = Weighed()
    for mark in (1.0, 1.0, 2.0):
        run(
            9,
            lambda web: web.page(f"{A}/", "home"),
            Setup(rules={"settings_mark": mark}),
            frontier=frontier,
        )

    assert len(weighed) == 2


def test_no_block_outlives_the_settings_that_led_to_it() -> None:
    """Who mends the configuration need not wait for a back-off to end; who is sent away does."""
    frontier = MemoryFrontier()

    def refused(web: ScriptedFetcher) -> None:
        for host in ("a", "b"):
            web.reply(f"http://{host}.test/robots.txt", FetchError("refused-address", "10.0.0.1"))
        web.reply("http://b.test/robots.txt", FetchResponse(url=A, status=429, retry_after="9000"))

    seeds = (f"{A}/", "http://b.test/")
    run(100, refused, Setup(seeds=seeds, rules={"settings_mark": 1.0}), frontier=frontier)

    def mended(web: ScriptedFetcher) -> None:
        for url in seeds:
            web.page(url, f"home of {url}")

    same = run(20, mended, Setup(seeds=seeds, rules={"settings_mark": 1.0}), frontier=frontier)
    other = run(20, mended, Setup(seeds=seeds, rules={"settings_mark": 2.0}), frontier=frontier)

    assert not same.web.asked(f"{A}/")
    assert other.web.asked(f"{A}/")
    assert not other.web.asked("http://b.test/")


@pytest.mark.slow
def test_a_page_that_came_back_is_found_again_before_the_longest_interval() -> None:
    """By the worth of looking; how often pages return is learned, and kept."""
    revisit = RevisitRules(60.0, 30 * DAY, 3_600.0, confirm_s=600.0)
    pages = [f"{A}/{number}" for number in range(10)]

    def script(web: ScriptedFetcher) -> None:
        for url in pages:
            web.page(url, f"page {url}")
        web.reply(pages[0], *[text(pages[0], "first")] * 2, FetchResponse(url=A, status=410),
                  text(pages[0], "it is back"))  # fmt: skip

    setup = Setup(
        seeds=pages,
        budget_per_s=200 / DAY,
        revisit=revisit,
        least_worth=0.0,
        rules={"replan_s": DAY / 4},
    )
    virtual = run(12 * DAY, script, setup)

    details = virtual.frontier.details(pages[0])
    assert details is not None
    assert details.state is PageState.INDEXED
    assert virtual.frontier.facts().plan.returned == 1.0


def test_variants_that_say_nearly_what_their_pages_say_are_given_up() -> None:
    """Each adds a word of its own to the text of its page."""

    def script(web: ScriptedFetcher) -> None:
        web.page(f"{A}/", "home", *[f"/{n}" for n in range(30)])
        for n in range(30):
            words = " ".join(f"{letter}{n}" for letter in "abcdefghijklmnopqrst")
            web.page(f"{A}/{n}", words, f"/{n}?view=wide")
            web.page(f"{A}/{n}?view=wide", f"{words} {n}wide")

    virtual = run(200, script, Setup(budget_per_s=10.0))

    asked = [request.url for request in virtual.web.requests]
    assert sum(url.endswith("wide") for url in asked) <= 10
    assert {f"{A}/{n}" for n in range(30)} <= set(asked)


def test_pages_whose_titles_alone_differ_are_pages_of_their_own() -> None:
    """As those of trackers, which show everybody a form: none is put off as a copy of another."""

    async def main() -> VirtualCrawl:
        virtual = virtual_crawl()
        paths = [f"/issue{number}" for number in range(150)]
        virtual.web.page("http://a.test/", "home", *paths)
        for number, path in enumerate(paths):
            body = f"<title>Broken thing no. {number}w</title><main>Created today by admin</main>"
            answer = FetchResponse(f"http://a.test{path}", 200, body.encode(), "text/html")
            virtual.web.reply(answer.url, answer)
        await virtual.run_for(900.0)
        return virtual

    virtual = run_virtually(main())
    assert all(virtual.web.asked(f"http://a.test/issue{number}") for number in range(150))


def test_a_list_is_followed_to_its_end_though_its_first_pages_list_what_is_known() -> None:
    """What only the last page of it leads to is visited."""

    async def main() -> VirtualCrawl:
        virtual = virtual_crawl()
        things = [f"/thing{number}" for number in range(14)]
        virtual.web.page("http://a.test/", "home", "/list?page=1", *things)
        for page, thing in enumerate(things, 1):
            on = f"/list?page={page + 1}" if page < len(things) else "/hidden"
            virtual.web.page(f"http://a.test/list?page={page}", f"x x x x part{page}w", thing, on)
        await virtual.run_for(900.0)
        return virtual

    assert run_virtually(main()).web.asked("http://a.test/hidden")


def test_what_is_being_leased_when_a_crawl_ends_is_given_back() -> None:
    """Another crawl on the same frontier, with other shards or settings, finds it free."""

    async def main() -> VirtualCrawl:
        virtual, leased = virtual_crawl(), asyncio.Event()
        virtual.web.page(f"{A}/", "home")
        crawl = virtual.crawl
        offload = crawl.world.on_state

        async def slowly(work: Any, *args: object) -> Any:
            answer = await offload(work, *args)
            if work.__name__ == "_lease" and answer[0]:
                leased.set()
                await asyncio.sleep(1.0)  # the robots are cancelled meanwhile
            return answer

        object.__setattr__(crawl.world, "on_state", slowly)
        await crawl.prepare()
        async with crawl.running(grace_s=0.1):
            await leased.wait()
        return virtual

    virtual = run_virtually(main())

    (host,) = virtual.frontier.hosts()
    now_s = virtual.crawl.now_s
    again = virtual.frontier.lease(
        host.host_id, limit=9, due_by_s=now_s, now_s=now_s, until_s=now_s + 9.0
    )
    assert f"{A}/" in {one.url for one in again}


@pytest.mark.parametrize("once", [True, False])
def test_a_host_that_the_scope_no_longer_takes_is_not_asked(once: bool) -> None:
    """Its pages stay known, and are visited again once it is taken."""
    frontier, index = MemoryFrontier(), MemoryIndex()
    a, b = "http://a.test", "http://b.test"

    async def asked(days: int, *hosts: str) -> set[str]:
        epoch_s = EPOCH_S + days * 86_400.0
        setup = Setup(hosts=hosts, epoch_s=epoch_s)
        virtual = virtual_crawl(setup, frontier=frontier, index=index, once=once)
        virtual.web.page(f"{a}/", "home", f"{b}/", f"{b}/page")
        for path in ("/", "/page"):
            virtual.web.page(f"{b}{path}", f"what {path} says")
        if once:
            await virtual.crawl.prepare()
            async with virtual.crawl.running():
                await virtual.crawl.until_done()
        else:
            await virtual.run_for(3 * 3_600.0)
        return {host_of(request.url) for request in virtual.web.requests}

    assert run_virtually(asked(0, "*")) == {a, b}
    assert run_virtually(asked(2, "a.test")) == {a}
    assert frontier.n_pages_by_state()[PageState.INDEXED] == 3
    assert run_virtually(asked(4, "*")) == {a, b}


@pytest.mark.parametrize("by", [{"exclude": ("/old",)}, {"include": ("/", "/new")}])
def test_pages_that_the_scope_no_longer_takes_are_not_fetched(by: dict[str, Any]) -> None:
    """Neither when they are due nor ahead of that; once they are taken, within a day."""
    frontier, index = MemoryFrontier(), MemoryIndex()

    async def asked(days: int, **by: Any) -> set[str]:
        rules: dict[str, object] = {"admission": Admission(Scope(hosts=("*",), **by))}
        setup = Setup(epoch_s=EPOCH_S + days * 86_400.0, rules=rules)
        virtual = virtual_crawl(setup, frontier=frontier, index=index)
        virtual.web.page(f"{A}/", "home", f"{A}/old", f"{A}/new")
        for path in ("/old", "/new"):
            virtual.web.page(f"{A}{path}", f"what {path} says")
        await virtual.run_for(3_600.0)
        return {request.url for request in virtual.web.requests} & pages

    pages = {f"{A}/", f"{A}/old", f"{A}/new"}
    assert run_virtually(asked(0)) == pages
    assert run_virtually(asked(3, **by)) == pages - {f"{A}/old"}
    known = frontier.details(f"{A}/old")
    assert known is not None
    assert known.due_why is not None
    assert known.due_why.startswith("scope.include and scope.exclude take it no longer")
    assert EPOCH_S + 4 * 86_400.0 <= known.due_s <= EPOCH_S + 4 * 86_400.0 + 3_600.0
    assert run_virtually(asked(6)) == pages


def test_what_a_visit_would_do_is_left_alone_from_the_login_on() -> None:
    """Though it was found, and visited, by a crawl without one."""
    frontier, index = MemoryFrontier(), MemoryIndex()

    async def asked(days: int, **by: Any) -> set[str]:
        rules: dict[str, object] = {"admission": Admission(Scope(hosts=("*",), **by))}
        setup = Setup(epoch_s=EPOCH_S + days * 86_400.0, rules=rules)
        virtual = virtual_crawl(setup, frontier=frontier, index=index)
        virtual.web.page(f"{A}/", "home", f"{A}/?action=delete", f"{A}/new")
        for path in ("/?action=delete", "/new"):
            virtual.web.page(f"{A}{path}", f"what {path} says")
        await virtual.run_for(3_600.0)
        return {request.url for request in virtual.web.requests} & pages

    pages = {f"{A}/", f"{A}/?action=delete", f"{A}/new"}
    assert run_virtually(asked(0)) == pages
    assert run_virtually(asked(3, signed_in=("*",))) == pages - {f"{A}/?action=delete"}
