"""Sites whose pages are reached through what is no page: redirects, and lists that are left out."""

from urllib.parse import parse_qsl, urlencode

import pytest

from recrawl.crawler.control.addresses.admission import Admission
from recrawl.crawler.control.addresses.scope import Scope
from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.control.dispatching.politeness import PolitenessRules
from recrawl.crawler.frontier.memory import MemoryFrontier
from recrawl.crawler.index.memory import MemoryIndex
from recrawl.terms import FetchResponse
from recrawl.testing import Setup, run_virtually, virtual_crawl
from recrawl.testing.scripted import Request
from recrawl.testing.worlds import EPOCH_S

A = "http://a.test"
ONE_PASS = Setup(
    politeness=PolitenessRules(delay_s=0.1),
    revisit=RevisitRules(30_000.0, 60_000.0, 30_000.0),
    epoch_s=EPOCH_S,
)
N_PAGES, ON_A_LIST = 120, 4
NAMES = [f"{'abcdefgh'[n % 8]}{'klmnopqrstuvwxyz'[n // 8]}" for n in range(N_PAGES)]


def page(url: str, body: str, head: str = "") -> FetchResponse:
    html = f"<html><head>{head}</head><body><main>{body}</main></body></html>"
    return FetchResponse(url=url, status=200, body=html.encode(), content_type="text/html")


def moved(url: str, to: str, *, by_page: bool = False) -> FetchResponse:
    if by_page:
        return page(url, "on its way", f'<meta http-equiv="refresh" content="0; url={to}">')
    return FetchResponse(url=url, status=301, location=to)


def reached_by(shape: str, *, by_page: bool = False) -> dict[str, FetchResponse]:
    """A site whose links have this shape, and redirect."""
    ways = [shape.format(n=n, name=name) for n, name in enumerate(NAMES)]
    links = " ".join(f'<a href="{way}">{name}</a>' for way, name in zip(ways, NAMES, strict=True))
    answers = {f"{A}/": page(f"{A}/", f"home {links}")}
    for way, name in zip(ways, NAMES, strict=True):
        there = f"/names/{name}/"
        answers[A + way] = moved(A + way, A + there, by_page=by_page)
        answers[A + there] = page(A + there, f"<h1>{name}</h1> what {name} is: {name * 3}")
    return answers


def listed_by(shape: str) -> dict[str, FetchResponse]:
    """A site whose lists have this shape, lead from one to the next, and are to be left out."""
    answers = {f"{A}/": page(f"{A}/", f'home <a href="{shape.format(n=1)}">all names</a>')}
    for n in range(1, N_PAGES // ON_A_LIST + 1):
        names = NAMES[(n - 1) * ON_A_LIST : n * ON_A_LIST]
        links = " ".join(f'<a href="/names/{name}/">{name}</a>' for name in names)
        url, after = A + shape.format(n=n), shape.format(n=n + 1)
        body = f'names {n} {links} <a href="{after}">more</a>'
        answers[url] = page(url, body, '<meta name="robots" content="noindex, follow">')
    for name in NAMES:
        url = f"{A}/names/{name}/"
        answers[url] = page(url, f"<h1>{name}</h1> what {name} is: {name * 3}")
    return answers


def read(answers: dict[str, FetchResponse], *, starts: int) -> set[str]:
    """Crawl a site, starting anew a few times meanwhile; return what can be searched then."""
    frontier, index = MemoryFrontier(), MemoryIndex()

    def reply(request: Request) -> FetchResponse:
        return answers.get(request.url, FetchResponse(url=request.url, status=404))

    async def run(nth: int) -> None:
        setup = Setup(
            politeness=PolitenessRules(delay_s=0.1),
            revisit=RevisitRules(30_000.0, 60_000.0, 30_000.0),
            epoch_s=EPOCH_S + 9.0 * nth,
            rules={"admission": Admission(Scope(hosts=("a.test",), max_depth=5))},
        )
        virtual = virtual_crawl(setup, frontier=frontier, index=index)
        for url in answers:
            virtual.web.reply(url, reply)
        await virtual.run_for(119.0 if nth == starts - 1 else 8.0)

    for nth in range(starts):
        run_virtually(run(nth))
    return {url for url, _ in index.urls()}


def test_a_list_that_is_left_out_of_the_index_is_looked_at_again_for_what_it_led_to() -> None:
    """What is listed there later is found, long before the longest interval ends."""
    listing = f"{A}/list"

    def reply(request: Request) -> FetchResponse:
        names = NAMES[: 4 if request.at_s < EPOCH_S + 100.0 else 8]
        links = " ".join(f'<a href="/names/{name}/">{name}</a>' for name in names)
        return page(listing, f"names {links}", '<meta name="robots" content="noindex">')

    async def run() -> set[str]:
        setup = Setup(revisit=RevisitRules(10.0, 60_000.0, 300.0), epoch_s=EPOCH_S)
        virtual = virtual_crawl(setup, frontier=MemoryFrontier(), index=MemoryIndex())
        virtual.web.page(f"{A}/", "home", "/list")
        virtual.web.reply(listing, reply)
        for name in NAMES[:8]:
            virtual.web.page(f"{A}/names/{name}/", f"what {name} is: {name * 3}")
        await virtual.run_for(600.0)
        return {url for url, _ in virtual.index.urls()}

    assert {f"{A}/names/{name}/" for name in NAMES[:8]} <= run_virtually(run())


def test_later_pages_of_a_list_are_no_further_off_than_its_second_and_none_is_a_seed() -> None:
    """Though the first page of it is one: what a seed is asked besides is not asked of them."""

    async def run() -> list[int]:
        virtual = virtual_crawl(Setup(), frontier=MemoryFrontier(), index=MemoryIndex())
        for here, there in (("/", "/page/2"), ("/page/2", "/page/3"), ("/page/3", "/names/a")):
            virtual.web.page(A + here, f"names of {here}", there)
        virtual.web.page(f"{A}/names/a", "what a is")
        await virtual.run_for(60.0)
        found = [virtual.frontier.details(A + to) for to in ("/page/2", "/page/3", "/names/a")]
        return [one.depth for one in found if one]

    assert run_virtually(run()) == [1, 1, 2]


NAMED = {f"{A}/names/{name}/" for name in NAMES}
NAMED_BARE = {url.rstrip("/") for url in NAMED}


@pytest.mark.parametrize("shape", ["/names/{name}", "/node/{n}", "/?p={n}", "/go?to={name}&n={n}"])
def test_pages_that_links_lead_to_by_redirects_are_read(shape: str) -> None:
    """All of them, as each of the redirects brings a page."""
    assert read(reached_by(shape), starts=1) >= NAMED


def test_pages_that_pages_send_on_to_are_read() -> None:
    """A page may redirect as well as its server."""
    assert read(reached_by("/{n}.html", by_page=True), starts=1) >= NAMED


@pytest.mark.parametrize(
    "shape", ["/?page={n}", "/page/{n}", "/blog/page/{n}/", "/page-{n}.html", "/?after=key{n}"]
)
@pytest.mark.parametrize("starts", [1, 3])
def test_pages_of_lists_that_are_left_out_of_the_index_are_read(shape: str, starts: int) -> None:
    """All of them, as each of the lists leads on; also where an earlier run read the lists.

    Though the last list is thirty links from a seed, and pages five links from it are read.
    """
    assert read(listed_by(shape), starts=starts) >= NAMED


@pytest.mark.parametrize("is_shelf", [True, False])
def test_filters_of_lists_with_prices_are_left_once_what_they_list_is_known(
    is_shelf: bool,
) -> None:
    """As shops have them; where what is chosen has a title of its own, all are read."""
    asked: set[str] = set()
    colours, n_shelves = [name for name in NAMES if name[0] in "ab"], 6

    def reply(request: Request) -> FetchResponse:
        url, _, query = request.url.partition("?")
        if "/names/" in url:
            name = url.rpartition("/")[2]
            return page(request.url, f"<title>{name}</title>what {name} is: {name * 3}")
        shelf = int(url.rpartition("/")[2] or 0)
        if query:
            asked.add(request.url)
        chosen = NAMES[shelf::n_shelves]
        if query:
            nth = colours.index(query.partition("=")[2])
            chosen = [name for n, name in enumerate(chosen) if (1 << n % 5) & (nth + 1)]
        things = "".join(
            f'<div><h3><a href="/names/{name}">{name} {name[::-1]} {name * 2}</a></h3>'
            f"{n % 7} crowns each, in stock by tomorrow</div>"
            for n, name in enumerate(chosen)
        )
        links = "".join(f'<a href="?colour={colour}">of {colour}</a>' for colour in colours)
        shelves = "".join(f'<a href="/shelf/{n}">shelf {n}</a>' for n in range(n_shelves))
        title = f"shelf {shelf}" if is_shelf or not query else f"shelf of {query}"
        return page(request.url, f"<title>{title}</title>{things}<nav>{links}{shelves}</nav>")

    async def run() -> set[str]:
        virtual = virtual_crawl(ONE_PASS, frontier=MemoryFrontier(), index=MemoryIndex())
        virtual.web.page(f"{A}/", "home", *(f"/shelf/{n}" for n in range(n_shelves)))
        for n in range(n_shelves):
            virtual.web.reply(f"{A}/shelf/{n}", reply)
            for colour in colours:
                virtual.web.reply(f"{A}/shelf/{n}?colour={colour}", reply)
        for name in NAMES:
            virtual.web.reply(f"{A}/names/{name}", reply)
        await virtual.run_for(150.0)
        return {url for url, _ in virtual.index.urls()}

    read_ones = run_virtually(run())

    assert {f"{A}/names/{name}" for name in NAMES} <= read_ones
    assert (len(asked) <= 60) if is_shelf else (len(asked) == n_shelves * len(colours))


CHOICES = {"end": "klmnop", "initial": "abcdef"}


def told(name: str) -> str:
    return f"of {name * 2} it is told that {name[::-1] * 3} came to {name * 3} by night"


def chosen_from(url: str, *, is_table: bool) -> FetchResponse:
    """A table of names, chosen from by one thing or two; or what is said of the choice alone."""
    chosen = dict(parse_qsl(url.partition("?")[2]))
    rows = [name for name in NAMES if all(value in name for value in chosen.values())]
    body = "".join(f'<tr><td><a href="/names/{name}">{name}</a><td>{told(name)}' for name in rows)
    if len(chosen) > 1 and not is_table:
        body = f"<tr><td>{told('by'.join(chosen.values()) * 5)}"
    further = [{**chosen, name: value} for name, values in CHOICES.items() for value in values]
    ways = [f"/table?{urlencode(sorted(one.items()))}" for one in further]
    ways.append(f"/?sql=select+{''.join(chosen.values())}")
    links = "".join(f'<a href="{way}">{way}</a>' for way in ways)
    title = " and ".join(f"{name} = {value}" for name, value in chosen.items())
    head = f"<title>table: {len(rows)} rows where {title}</title>"
    return page(url, f"<table>{body}</table><nav>{links}</nav>", head)


@pytest.mark.parametrize("is_table", [True, False])
def test_combinations_of_filters_of_a_table_are_left_once_its_rows_are_read(
    *, is_table: bool
) -> None:
    """Titles tell what was chosen. Where each combination says what none else does all are read."""
    asked: set[str] = set()

    def reply(request: Request) -> FetchResponse:
        asked.add(request.url)
        return chosen_from(request.url, is_table=is_table)

    pairs = [f"?end={end}&initial={one}" for end in CHOICES["end"] for one in CHOICES["initial"]]
    single = [f"?{name}={value}" for name, values in CHOICES.items() for value in values]

    async def run() -> set[str]:
        virtual = virtual_crawl(ONE_PASS, frontier=MemoryFrontier(), index=MemoryIndex())
        virtual.web.page(f"{A}/", "home", "/table")
        for query in ["", *single, *pairs]:
            virtual.web.reply(f"{A}/table{query}", reply)
        for name in NAMES:
            virtual.web.page(f"{A}/names/{name}", f"{name}: {told(name)}")
        await virtual.run_for(150.0)
        return {url for url, _ in virtual.index.urls()}

    read_ones = run_virtually(run())

    assert read_ones >= NAMED_BARE
    n_asked = len(asked.intersection(f"{A}/table{pair}" for pair in pairs))
    assert (n_asked < 12) if is_table else (n_asked == len(pairs))


def test_feeds_that_tell_of_versions_alone_are_left_after_a_few() -> None:
    """Each page of a wiki announces one, of its own history."""
    asked: set[str] = set()

    def reply(request: Request) -> FetchResponse:
        url, name = request.url, request.url.rpartition("/")[2]
        if "/changes/" in url:
            asked.add(url)
            entries = "".join(
                f"<item><link>{A}/names/{name}?oldid={rev}</link></item>" for rev in (1, 2)
            )
            feed = f"<rss version='2.0'><channel>{entries}</channel></rss>"
            return FetchResponse(
                url=url, status=200, body=feed.encode(), content_type="application/rss+xml"
            )
        if "?" in url or name not in NAMES:
            return FetchResponse(url=url, status=404)
        feed = f'<link rel="alternate" type="application/rss+xml" href="/changes/{name}">'
        return page(url, f"<h1>{name}</h1> what {name} is: {name * 3}", feed)

    async def run() -> set[str]:
        setup = Setup(politeness=PolitenessRules(delay_s=0.1))
        virtual = virtual_crawl(setup)
        links = " ".join(f'<a href="/names/{name}">{name}</a>' for name in NAMES)
        virtual.web.reply(f"{A}/", page(f"{A}/", f"home {links}"))
        for name in NAMES:
            virtual.web.reply(f"{A}/names/{name}", reply)
            virtual.web.reply(f"{A}/changes/{name}", reply)
        await virtual.run_for(120.0)
        return {url for url, _ in virtual.index.urls()}

    held = run_virtually(run())

    assert len(held) == N_PAGES + 1
    assert len(asked) < N_PAGES / 2
