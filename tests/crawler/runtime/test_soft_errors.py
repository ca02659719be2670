"""Errors that are called pages, forms to sign in, and pages that are to be found until a day."""

import re
import time
from email.utils import formatdate

import pytest

from recrawl.crawler.control.addresses.admission import Admission
from recrawl.crawler.control.addresses.scope import Scope
from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.control.answers.soft_errors import ends_like, is_probe, leads_to_sign_in
from recrawl.terms import FetchResponse, PageState
from recrawl.testing import Setup, VirtualCrawl, run_virtually, virtual_crawl
from recrawl.testing.scripted import Request
from recrawl.testing.worlds import EPOCH_S

REVISIT = RevisitRules(600.0, 30 * 86_400.0, 6 * 3_600.0)
A, HOUR_S = "http://a.test", 3_600.0
GOOD, BAD = ([f"/{folder}{n}" for n in range(20)] for folder in ("good/thing", "bad/stuff"))
ERROR = "<title>Oops</title><p>Sorry, {} is nowhere on our site. Try the search or the start page."


def html(request: Request, text: str) -> FetchResponse:
    return FetchResponse(request.url, 200, text.encode(), "text/html")


def missing(request: Request) -> FetchResponse:
    return html(request, ERROR.format(request.url.removeprefix(A)))


def crawled(*, hours: float, answers_missing: bool = True) -> VirtualCrawl:
    """Crawl a site that says with status 200 that twenty of its forty pages do not exist."""

    async def main() -> VirtualCrawl:
        virtual = virtual_crawl(Setup(budget_per_s=0.01, revisit=REVISIT))
        web = virtual.web
        web.page(f"{A}/", "home", *GOOD, *BAD)
        for path in GOOD:
            web.page(f"{A}{path}", f"this is about {path} and what it is good for")
        for path in BAD:
            web.reply(f"{A}{path}", missing)
        if answers_missing:
            web.fallback = missing
        await virtual.run_for(hours * HOUR_S)
        return virtual

    return run_virtually(main())


def indexed(virtual: VirtualCrawl, *paths: str) -> list[str]:
    """Return which of these are held."""
    found = [(path, virtual.frontier.details(f"{A}{path}")) for path in paths]
    return [path for path, page in found if page and page.state is PageState.INDEXED]


def test_what_does_not_exist_is_asked_for_before_all_else_is_read() -> None:
    """Though nearly all that lies beside it has brought nothing, and was found long before."""
    lost = [f"/old/thing{n}.html" for n in range(100)]

    async def main() -> VirtualCrawl:
        virtual = virtual_crawl(Setup(budget_per_s=1.0, revisit=REVISIT))
        virtual.web.page(f"{A}/", "home", *lost)
        for path in lost:
            virtual.web.reply(f"{A}{path}", missing)
        virtual.web.fallback = missing
        await virtual.run_for(300.0)
        return virtual

    virtual = run_virtually(main())
    asked = [is_probe(request.url) for request in virtual.web.requests]
    assert asked.index(True) < 10
    assert len(indexed(virtual, *lost)) < 40


@pytest.mark.slow
def test_what_says_what_a_made_up_address_says_is_no_page() -> None:
    """Asked once; those read before it was known are found out at their next visit."""
    virtual = crawled(hours=30.0)

    probes = [one for one in virtual.web.requests if is_probe(one.url)]
    assert 1 <= len(probes) <= 3  # at most once a day
    probed = [one.url.removeprefix(A) for one in probes]
    assert not indexed(virtual, *BAD, *probed)
    assert len(indexed(virtual, *GOOD)) == 20
    buffer, indexer = virtual.crawl.buffer, virtual.crawl.indexer
    assert indexer.served + indexer.obsolete == buffer.arrivals - buffer.lost - buffer.length


def test_a_thing_that_a_script_says_does_not_exist_any_more_is_removed() -> None:
    """With status 200, though what does not exist elsewhere is said to be missing."""
    topics = [f"/topic.php?id={n}" for n in range(4)]

    def other(request: Request) -> FetchResponse:
        is_topic = request.url.startswith(f"{A}/topic.php?")
        gone = "<title>Forum</title><p>The topic that you asked for does not exist."
        return html(request, gone) if is_topic else FetchResponse(request.url, 404)

    def deleted(request: Request) -> FetchResponse:
        is_there = request.at_s < EPOCH_S + HOUR_S
        return html(request, "this is about boots and lamps") if is_there else other(request)

    async def main() -> VirtualCrawl:
        virtual = virtual_crawl(Setup(budget_per_s=0.004, revisit=REVISIT))
        web = virtual.web
        web.fallback = other
        web.page(f"{A}/", "home of many words", *topics)
        for path in topics[1:]:
            web.page(f"{A}{path}", f"this is about {path} of lamps")
        web.reply(f"{A}{topics[0]}", deleted)
        await virtual.run_for(4 * HOUR_S)
        return virtual

    virtual = run_virtually(main())
    page = virtual.frontier.details(f"{A}{topics[0]}")
    assert page is not None
    assert page.state is PageState.GONE
    assert indexed(virtual, *topics) == topics[1:]


@pytest.mark.parametrize(("path", "n_probes"), [("/", 0), ("/wiki", 1)])
def test_a_start_page_that_is_called_like_an_error_is_no_suspect(path: str, n_probes: int) -> None:
    """All addresses may lead to it; any other that is called so is one."""

    async def main() -> VirtualCrawl:
        virtual = virtual_crawl(Setup(budget_per_s=0.1, revisit=REVISIT))
        virtual.web.page(f"{A}/", "home of many words", "/wiki")
        title = "<title>404 not found: a history</title>"
        virtual.web.reply(
            f"{A}{path}", lambda request: html(request, f'{title}<a href="/wiki">w</a> of it all')
        )
        await virtual.run_for(HOUR_S)
        return virtual

    asked = run_virtually(main()).web.requests
    assert sum(is_probe(request.url) for request in asked) == n_probes


def test_pages_alike_of_a_host_that_answers_404_are_pages() -> None:
    """They say the same, but what does not exist is said to be missing."""
    virtual = crawled(hours=8.0, answers_missing=False)

    visited = [path for path in BAD if virtual.web.asked(f"{A}{path}")]
    assert len(visited) >= 8  # copies of each other, of which not all are tried
    assert indexed(virtual, *BAD) == visited
    assert len([one for one in virtual.web.requests if is_probe(one.url)]) == 1


@pytest.mark.parametrize("include", [("/manual/*.html",), ("/manual/*",)])
def test_where_only_some_endings_belong_the_made_up_address_has_one(
    include: tuple[str, ...],
) -> None:
    """A gate answers every address with its form: it is taken for the first few pages only."""
    paths = [f"/manual/{name}.html" for name in ("cat", "index", *(f"p{n}" for n in range(30)))]

    async def main() -> VirtualCrawl:
        admission = Admission(Scope(hosts=("*",), include=include))
        seeds = [f"{A}{path}" for path in paths]
        rules: dict[str, object] = {"admission": admission}
        virtual = virtual_crawl(Setup(seeds[:1], budget_per_s=1.0, revisit=REVISIT, rules=rules))
        gate = "<title>Hotel</title><p>Please sign in with your room and your last name."

        def answer(request: Request) -> FetchResponse:
            is_shut = virtual.clock.now_s() > EPOCH_S + HOUR_S
            return html(request, gate if is_shut else f"<p>all there is of {request.url} {links}")

        links = " ".join(f'<a href="{path}">{path}</a>' for path in paths)
        for url in seeds:
            virtual.web.reply(url, answer)
        virtual.web.fallback = lambda request: html(request, gate)
        await virtual.run_for(6.5 * HOUR_S)  # all have been visited again, once
        return virtual

    virtual = run_virtually(main())
    (probe,) = [one.url for one in virtual.web.requests if is_probe(one.url)]
    assert probe.endswith(".html") is (include == ("/manual/*.html",))
    copies = [virtual.index.copy(f"{A}{path}") for path in paths]
    taken = [copy for copy in copies if copy is not None and copy.title == "Hotel"]
    assert len(taken) < 10  # those of which it was not known yet


@pytest.mark.parametrize(("away_h", "told"), [(0.5, []), (9.0, ["changed", "changed"])])
def test_a_page_without_text_where_it_had_some_is_one_when_that_is_confirmed(
    away_h: float, told: list[str]
) -> None:
    """As where a database is away and the frame of the page is all that comes."""
    frame = "<title>Shop</title><header></header><div id=page></div>"

    async def main() -> VirtualCrawl:
        virtual = virtual_crawl(Setup(budget_per_s=0.1, revisit=REVISIT))
        away_s = EPOCH_S + 5.9 * HOUR_S

        def answer(request: Request) -> FetchResponse:
            is_away = away_s <= request.at_s < away_s + away_h * HOUR_S
            return html(request, frame if is_away else "<title>Shop</title><p>lamps and chairs")

        virtual.web.page(f"{A}/", "home", "/lamps")
        virtual.web.reply(f"{A}/lamps", answer)
        await virtual.run_for(24 * HOUR_S)
        return virtual

    feed = run_virtually(main()).frontier.feed.changes(after=0, limit=99)
    assert [one.kind.value for one in feed if one.url == f"{A}/lamps"] == ["new", *told]


@pytest.mark.slow
@pytest.mark.parametrize(("until_h", "held"), [(20.0, False), (60.0, True)])
def test_a_page_is_taken_out_after_its_day_though_it_says_the_same(
    monkeypatch: pytest.MonkeyPatch, until_h: float, held: bool
) -> None:
    """Byte for byte the same."""
    until = formatdate(EPOCH_S + until_h * HOUR_S, usegmt=True)
    said = f'<meta name="robots" content="unavailable_after: {until}">'

    async def main() -> VirtualCrawl:
        virtual = virtual_crawl(Setup(budget_per_s=0.001, revisit=REVISIT))
        monkeypatch.setattr(time, "time", virtual.clock.now_s)
        virtual.web.page(f"{A}/", "home", "/sale")
        virtual.web.reply(f"{A}/sale", lambda request: html(request, f"{said}<p>all must go"))
        await virtual.run_for(40 * HOUR_S)
        return virtual

    assert indexed(run_virtually(main()), "/sale") == (["/sale"] if held else [])


def test_what_leads_to_a_form_to_sign_in_is_no_page_that_moved() -> None:
    """Nor is the form visited once for each page that asks for it."""

    async def main() -> VirtualCrawl:
        virtual = virtual_crawl(Setup(budget_per_s=1.0))
        virtual.web.page(f"{A}/", "home", *[f"/private/{n}" for n in range(30)])
        for n in range(30):
            virtual.web.reply(
                f"{A}/private/{n}",
                lambda request: FetchResponse(
                    request.url, 302, location=f"/login?next={request.url.removeprefix(A)}"
                ),
            )
        await virtual.run_for(HOUR_S)
        return virtual

    virtual = run_virtually(main())
    assert not [one for one in virtual.web.requests if re.search("login", one.url)]


@pytest.mark.parametrize(
    ("url", "target", "leads"),
    [
        ("/private", "/login?next=/private", True),
        ("/private", "/accounts/sign-in/", True),
        ("/wp-admin", "/wp-login.php?redirect_to=x", True),
        ("/login", "/login/", False),
        ("/a", "/logins", False),
        ("/a", "/b?page=login", False),
    ],
)
def test_a_form_to_sign_in_is_known_by_its_address(url: str, target: str, leads: bool) -> None:
    """By its path, and not where the page itself is one."""
    assert leads_to_sign_in(f"{A}{url}", f"{A}{target}") is leads


@pytest.mark.parametrize(
    ("page", "ending"),
    [
        ("/git/log.html", ".html"),
        ("/show.php?id=3.5", ".php"),
        ("/git/", ""),
        ("/v1.2/intro", ""),
        ("/notes.of-a-walk", ""),
        ("/a.b\u0436", ""),
    ],
)
def test_a_made_up_address_may_end_as_a_page_does(page: str, ending: str) -> None:
    """And is known for one."""
    probe = f"{A}/zq0123456789abcdef"

    assert ends_like(f"{A}{page}", probe) == probe + ending
    assert is_probe(ends_like(f"{A}{page}", probe))
