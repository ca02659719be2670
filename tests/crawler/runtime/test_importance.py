"""What links and counts say of pages reaches their weights while a crawl runs."""

import json
from itertools import pairwise

import pytest

from recrawl.crawler.control.addresses.admission import Admission
from recrawl.crawler.control.addresses.scope import Scope, Weights
from recrawl.crawler.control.worth.finders import Finders
from recrawl.crawler.runtime.parts import ImportanceRules
from recrawl.terms import PageDetails
from recrawl.testing import Setup, VirtualCrawl, run_virtually, virtual_crawl
from recrawl.testing.worlds import EPOCH_S


@pytest.mark.parametrize(
    ("uses_links", "is_even", "shares"),
    [
        (False, True, {"even": 1.0}),
        (False, True, {"even": 1.0, "links": 0.0}),
        (True, False, {"even": 0.9, "links": 0.1}),
        (False, False, {"even": 0.5, "logs": 0.5}),
        (False, False, {"logs": 1.0}),
    ],
)
def test_links_are_kept_and_pages_told_apart_only_where_a_source_says_so(
    uses_links: bool, is_even: bool, shares: dict[str, float]
) -> None:
    """However small its share; as long as nothing is said all pages are alike."""
    rules = ImportanceRules(shares)

    assert (rules.uses_links, rules.is_even) == (uses_links, is_even)
    assert ImportanceRules().is_even


def crawled(shares: dict[str, float], **rules: object) -> VirtualCrawl:
    """Crawl six pages, which all link to /popular, and only with nofollow to /shunned."""

    async def run() -> VirtualCrawl:
        virtual = virtual_crawl(
            Setup(
                budget_per_s=10.0,
                rules={"importance": ImportanceRules(shares, least_s=60.0), "replan_s": 30.0}
                | rules,
            )
        )
        paths = [f"/{number}" for number in range(4)] + ["/popular", "/shunned"]
        links = "".join(f'<a href="{path}">{path}</a>' for path in paths)
        virtual.web.page("http://a.test/", f"<main>home</main>{links}")
        for path in paths:
            virtual.web.page(
                f"http://a.test{path}",
                f'<main>page {path}</main><a href="/popular">p</a>'
                '<a rel="nofollow" href="/shunned">s</a>',
            )
        await virtual.run_for(400.0)
        return virtual

    return run_virtually(run())


def details_of(virtual: VirtualCrawl, path: str) -> PageDetails:
    found = virtual.frontier.details(f"http://a.test{path}")
    assert found is not None
    return found


def test_pages_that_many_link_to_weigh_more() -> None:
    virtual = crawled({"links": 0.5, "even": 0.5})

    popular, plain, shunned = (details_of(virtual, path) for path in ("/popular", "/1", "/shunned"))

    assert popular.weight > 2.0 * plain.weight
    assert shunned.weight == pytest.approx(plain.weight, rel=0.05)
    parts = json.loads(popular.importance_parts or "")
    assert {name: share for name, (share, _) in parts.items()} == {"links": 0.5, "even": 0.5}
    assert 0.5 * parts["links"][1] + 0.5 == pytest.approx(popular.importance, rel=0.02)


def test_even_shares_compute_nothing() -> None:
    virtual = crawled({"even": 1.0})

    assert details_of(virtual, "/popular").importance is None
    assert virtual.frontier.worths.link_lists(after=0, limit=9) == []


def test_patterns_multiply_what_comes_out() -> None:
    admission = Admission(Scope(hosts=("*",)), Weights([("/popular", 3.0), ("/1", 0.0)]))
    virtual = crawled({"links": 0.5, "even": 0.5}, admission=admission)

    popular = details_of(virtual, "/popular")

    assert popular.importance is not None
    assert popular.weight == pytest.approx(3.0 * popular.importance)
    assert details_of(virtual, "/1").weight == 0.0


def test_counts_are_heard_and_addresses_found_later_get_what_is_usual() -> None:
    async def run() -> VirtualCrawl:
        virtual = virtual_crawl(
            Setup(
                budget_per_s=10.0,
                revisit=Setup().revisit,
                rules={
                    "importance": ImportanceRules({"logs": 1.0}, least_s=10.0),
                    "replan_s": 30.0,
                },
            )
        )
        folders = "".join(f'<a href="/{name}/{n}">x</a>' for name in "ab" for n in range(5))
        virtual.web.page("http://a.test/", f"<main>home</main>{folders}")
        for name in "ab":
            for n in range(6):
                virtual.web.page(f"http://a.test/{name}/{n}", f"<main>page {name}{n}</main>")
        crawl, worths = virtual.crawl, virtual.frontier.worths
        await crawl.prepare()
        async with crawl.running():
            await virtual.clock.sleep_until(EPOCH_S + 25.0)
            counts = {f"http://a.test/a/{n}": 100.0 for n in range(5)}
            worths.count("logs", counts | {"http://a.test/b/0": 1.0}, EPOCH_S, 86_400.0)
            await virtual.clock.sleep_until(EPOCH_S + 200.0)
            crawl.recorder.add(found=crawl.rules.admission.of(["http://a.test/a/5"]))
            crawl.recorder.add(found=crawl.rules.admission.of(["http://a.test/b/5"]))
            await virtual.clock.sleep_until(EPOCH_S + 210.0)
        return virtual

    virtual = run_virtually(run())

    assert details_of(virtual, "/a/1").weight > 5.0 * details_of(virtual, "/b/1").weight
    late = [details_of(virtual, f"/{name}/5").weight for name in "ab"]
    assert late[0] > 3.0 * late[1] > 0.0


def test_a_count_is_worth_half_after_its_half_life() -> None:
    """A hundred of a day ago, or fifty of today."""

    async def run() -> VirtualCrawl:
        shares = ImportanceRules({"logs": 1.0}, half_life_s=86_400.0, least_s=10.0)
        rules: dict[str, object] = {"importance": shares, "replan_s": 30.0}
        virtual = virtual_crawl(Setup(budget_per_s=10.0, rules=rules))
        links = "".join(f'<a href="/{name}/{n}">x</a>' for name in "abc" for n in range(3))
        virtual.web.page("http://a.test/", f"<main>home</main>{links}")
        for name in "abc":
            for n in range(3):
                virtual.web.page(f"http://a.test/{name}/{n}", f"<main>page {name}{n}</main>")
        worths = virtual.frontier.worths
        await virtual.crawl.prepare()
        async with virtual.crawl.running():
            await virtual.clock.sleep_until(EPOCH_S + 25.0)
            for name, many, at_s in (("a", 100.0, EPOCH_S - 86_400.0), ("b", 50.0, EPOCH_S)):
                counts = {f"http://a.test/{name}/{n}": many for n in range(3)}
                worths.count("logs", counts, at_s, 86_400.0)
            await virtual.clock.sleep_until(EPOCH_S + 200.0)
        return virtual

    old, new, none = (details_of(run_virtually(run()), f"/{name}/1").weight for name in "abc")

    assert old == pytest.approx(new, rel=0.01)
    assert none < 0.5 * new


def test_the_first_finder_has_only_the_lead() -> None:
    finders = Finders()
    finders.found("u", 1, 10.0)
    finders.found("v", 1, 10.0)
    finders.found_again(1, ["u", "v"], 20.0)  # itself again
    finders.found_again(2, ["u", "w"], 40.0)
    finders.found_again(3, ["u"], 90.0)  # no longer the first's matter

    assert finders.take() == {1: (1, 30.0)}
    assert finders.take() == {}

    finders.found("x", 1, 100.0)
    finders.found_again(2, ["v", "x"], 110.0)
    assert finders.take() == {1: (2, 100.0 + 10.0)}


def test_of_a_hundred_thousand_addresses_it_is_remembered_who_was_first() -> None:
    """Of more, the first are forgotten."""
    finders = Finders()
    for number in range(100_001):
        finders.found(str(number), number, 10.0)

    finders.found_again(-1, ["0", "1"], 20.0)

    assert finders.take() == {1: (1, 10.0)}


def told(virtual: VirtualCrawl) -> dict[str, list[tuple[str, float | None]]]:
    """Return what the feed said of each page: kind and importance."""
    said: dict[str, list[tuple[str, float | None]]] = {}
    for change in virtual.frontier.feed.changes(after=0, limit=99):
        said.setdefault(change.url.removeprefix("http://a.test"), []).append(
            (change.kind.value, change.importance)
        )
    return said


def test_the_feed_tells_an_importance_that_has_changed_much() -> None:
    virtual = crawled({"links": 0.5, "even": 0.5}, feed_importance=True)

    said, popular = told(virtual), details_of(virtual, "/popular")
    first, *later = said["/popular"]

    assert first[0] == "new"
    assert [kind for kind, _ in later] == ["importance"] * len(later)
    assert later
    assert later[-1][1] == pytest.approx(popular.weight, rel=0.5)
    numbers = [first[1], *(number for _, number in later)]
    pairs = pairwise(numbers)
    assert all(max(a / b, b / a) >= 1.5 for a, b in pairs if a and b)


def test_the_feed_says_no_importance_unasked() -> None:
    virtual = crawled({"links": 0.5, "even": 0.5})

    assert {number for entries in told(virtual).values() for _, number in entries} == {None}
    assert {len(entries) for entries in told(virtual).values()} == {1}


def test_an_importance_by_patterns_alone_is_told_too() -> None:
    admission = Admission(Scope(hosts=("*",)), Weights([("/popular", 3.0), ("/1", 0.0)]))
    virtual = crawled({"even": 1.0}, admission=admission, feed_importance=True)

    said = told(virtual)

    assert said["/popular"] == [("new", 3.0)]
    assert said["/1"] == [("new", 0.0)]
    assert said["/2"] == [("new", 1.0)]
