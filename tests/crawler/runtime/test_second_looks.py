"""Pages that are another at every look, crawled: looked at twice at once, then left in peace."""

import random
from itertools import pairwise
from pathlib import Path

import pytest

from recrawl.crawler.index.tantivy import TantivyIndex
from recrawl.terms import FetchResponse, Outcome, Visit
from recrawl.testing import Setup, VirtualCrawl, run_virtually, virtual_crawl
from recrawl.testing.scripted import Request
from recrawl.testing.worlds import EPOCH_S

A, DAY_S, N = "http://a.test", 86_400.0, 12
URLS = [f"{A}/{number or ''}" for number in range(N)]
_READ = (Outcome.CHANGED, Outcome.UNCHANGED)


class Site:
    """Each page has a saying among its words; of one in six somebody edits the text every day."""

    def __init__(self) -> None:
        self.draw = random.Random(0)

    def __call__(self, request: Request) -> FetchResponse:
        number = int(request.url.rpartition("/")[2] or 0)
        day = int((request.at_s - EPOCH_S) / DAY_S) if number % 6 == 1 else 0
        saying = " ".join(self.draw.choices("amber birch cedar delta ember fjord".split(), k=25))
        links = "".join(f'<a href="/{n}">{n}</a> ' for n in range(1, N))
        body = (
            f"<main><h1>Page {number}</h1><p>What is told of {number} on day {day}.</p>"
            f"<h2>A saying</h2><p>{saying}</p><h2>More</h2><p>{links}</p></main>"
        )
        return FetchResponse(request.url, 200, body.encode(), "text/html")


class Diary(Site):
    """Its sayings stay as they are for an hour."""

    def __call__(self, request: Request) -> FetchResponse:
        self.draw = random.Random(f"{request.url} {request.at_s // 3_600.0}")
        return super().__call__(request)


class Rooms(Site):
    """Half of its pages tell a saying between lines of their own; each says who asked, unseen."""

    def __call__(self, request: Request) -> FetchResponse:
        number = int(request.url.rpartition("/")[2] or 0)
        saying = " ".join(self.draw.choices("amber birch cedar delta ember fjord".split(), k=25))
        links = "".join(f'<a href="/{n}">{n}</a> ' for n in range(1, N))
        lines = [f"What is told of {number}, in part {n}." for n in range(4)]
        if number % 2:
            lines.insert(2, saying)
        told = "".join(f"<p>{line}</p>" for line in lines)
        body = f"<main><h1>Page {number}</h1>{told}</main><nav>{links}</nav><i id={saying[:9]}></i>"
        return FetchResponse(request.url, 200, body.encode(), "text/html")


def crawled(
    path: Path, days: float, *, second_looks: bool = True, site: Site | None = None
) -> VirtualCrawl:
    """Crawl the site for some days, with two visits of each page a day."""
    site = site or Site()

    async def crawl() -> VirtualCrawl:
        rules: dict[str, object] = {} if second_looks else {"second_looks": False}
        rules["replan_s"] = DAY_S / 4
        setup = Setup((f"{A}/",), budget_per_s=2.0 * N / DAY_S, rules=rules)
        virtual = virtual_crawl(setup, index=TantivyIndex(path))
        for url in URLS:
            virtual.web.reply(url, site)
        await virtual.run_for(days * DAY_S)
        return virtual

    return run_virtually(crawl())


def visits(virtual: VirtualCrawl, url: str) -> list[Visit]:
    """Return what was recorded of a page, the latest first."""
    details = virtual.frontier.details(url, recent=1_000)
    assert details is not None
    return [visit for visit in details.recent if visit.outcome in _READ]


def seconds(virtual: VirtualCrawl) -> list[tuple[str, float]]:
    """Return the requests that followed another of their page within a minute."""
    return [
        (url, second.at_s)
        for url in URLS
        for first, second in pairwise(virtual.web.asked(url))
        if second.at_s - first.at_s < 60.0
    ]


@pytest.mark.parametrize("second_looks", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_what_is_drawn_is_no_change_once_pages_were_looked_at_twice(
    tmp_path: Path, *, second_looks: bool
) -> None:
    """Edits are found as before; without second looks every visit finds a change."""
    virtual = crawled(tmp_path, 20.0, second_looks=second_looks)
    found: dict[bool, list[bool | None]] = {True: [], False: []}
    for number, url in enumerate(URLS):
        late = [one for one in visits(virtual, url) if one.visited_at_s > EPOCH_S + 8 * DAY_S]
        found[number % 6 == 1] += [visit.changed for visit in late]

    assert found[True].count(True) >= 20
    assert len(found[False]) > 80
    assert set(found[False]) == {not second_looks}
    assert (2 <= len(seconds(virtual)) <= 24) == second_looks


def test_few_pages_are_looked_at_twice_of_a_host_that_shows_the_same_both_times(
    tmp_path: Path,
) -> None:
    """Each of its pages is another at every visit; looks at them would be three times as many."""
    virtual = crawled(tmp_path, 8.0, site=Diary())

    assert 4 <= len(seconds(virtual)) <= 8


def test_what_some_pages_have_shown_counts_for_the_others(tmp_path: Path) -> None:
    """Six of twelve pages draw something; a look at each of them, and few at the others."""
    virtual = crawled(tmp_path, 20.0, site=Rooms())
    looked_at = [int(url.rpartition("/")[2] or 0) for url, _ in seconds(virtual)]
    found = [visit for url in URLS for visit in visits(virtual, url) if visit.changed]

    assert len(set(looked_at)) >= 6
    assert sum(number % 2 == 0 for number in looked_at) <= 4
    assert len(found) <= 20


def test_both_looks_are_one_visit_with_the_rest_of_the_host_between_them(tmp_path: Path) -> None:
    """Both count in the budget, and no other page of the host is asked for meanwhile."""
    virtual = crawled(tmp_path, 8.0)
    requests = sorted(one.at_s for url in URLS for one in virtual.web.asked(url))
    read = [visit for url in URLS for visit in visits(virtual, url)]

    assert len(seconds(virtual)) > 1
    assert sum(str(one.note).startswith("fetched twice") for one in read) == len(seconds(virtual))
    assert len(requests) == len(read) + len(seconds(virtual)) + N  # first visits
    assert min(b - a for a, b in pairwise(requests)) >= 1.0
    assert len(requests) <= 2.0 * N * 8.0 + 10
