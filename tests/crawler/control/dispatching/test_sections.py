"""A broken section of a host: it rests alone, and the rest of the site is read meanwhile."""

from collections.abc import Callable
from random import Random

import numpy as np
import pytest

from recrawl.crawler.control.dispatching.politeness import HostPoliteness, PolitenessRules
from recrawl.crawler.control.dispatching.retry import Backoff
from recrawl.crawler.control.dispatching.sections import Sections, section_of
from recrawl.terms import FetchResponse
from recrawl.testing import Setup, VirtualCrawl, run_virtually, virtual_crawl
from recrawl.testing.worlds import EPOCH_S

A = "http://a.test"
HOUR = 3_600.0
NOW_S = 1_800_000_000.0
RANDOM = Random(3)
FOLDERS, EACH = 5, 60


def crawl(seconds: float, is_broken: Callable[[str, float], bool]) -> VirtualCrawl:
    """Crawl a site of 300 pages in five folders, of which some answer 500 at some times."""

    async def main() -> VirtualCrawl:
        virtual = virtual_crawl(Setup())

        def page(path: str, *links: str) -> None:
            anchors = "".join(f'<a href="{link}">x</a> ' for link in links)
            body = f"<html><body><main>{path} {anchors}</main></body></html>".encode()
            virtual.web.reply(
                A + path,
                lambda request: FetchResponse(
                    url=request.url,
                    status=500 if is_broken(path, request.at_s - EPOCH_S) else 200,
                    body=body,
                    content_type="text/html",
                ),
            )

        page("/", *[f"/{folder}/" for folder in range(FOLDERS)])
        for folder in range(FOLDERS):
            page(f"/{folder}/", *[f"/{folder}/{n}" for n in range(EACH)])
            for n in range(EACH):
                page(f"/{folder}/{n}")
        await virtual.run_for(seconds)
        return virtual

    return run_virtually(main())


def test_a_broken_section_does_not_hold_up_its_site() -> None:
    """All else is read within the one rest of a minute that a first trouble brings."""

    def is_broken(path: str, at_s: float) -> bool:
        return path.startswith("/2/") and path != "/2/"

    virtual = crawl(HOUR, is_broken)

    asked = [request.url for request in virtual.web.requests if request.at_s < EPOCH_S + 400]
    others = {f"{A}/{folder}/{n}" for folder in (0, 1, 3, 4) for n in range(EACH)}
    broken = [url for url in asked if url.startswith(f"{A}/2/") and not url.endswith("/")]
    assert others <= set(asked)
    assert len(broken) <= 9  # three, each time that the section is tried again
    assert virtual.frontier.host(1, now_s=EPOCH_S + HOUR).failures <= 1


def test_a_host_of_which_every_page_fails_rests_as_long_as_ever() -> None:
    """Wherever its pages are: three each time, after a minute, two, four and so on."""
    virtual = crawl(HOUR, lambda path, at_s: at_s > 100.0)

    down = [request for request in virtual.web.requests if request.at_s > EPOCH_S + 100.0]
    assert len(down) == 19


@pytest.mark.parametrize(
    ("expected", "url"),
    [
        ((), f"{A}/"),
        ((), f"{A}/one"),
        (("shop",), f"{A}/shop/one"),
        (("shop",), f"{A}/shop/one/"),
        (("view.php",), f"{A}/view.php?id=3"),
        ((), ""),
    ],
)
def test_the_section_of_a_page_is_its_folder_or_its_script(
    expected: tuple[str, ...], url: str
) -> None:
    """An address that ends in a slash is a page of the folder above."""
    assert section_of(url) == expected


@pytest.mark.parametrize("why", [None, "timeout"])
def test_a_section_is_alone_in_its_trouble_once_a_page_outside_is_well(why: str | None) -> None:
    """Before that it may be the host; and again when nothing outside was asked since."""
    timing = HostPoliteness(PolitenessRules(backoff=Backoff(jitter=0.0)))
    blocks, ends, now_s, page_id = [], [], NOW_S, 0
    for between in (0, 1, 0):
        for _ in range(between):
            timing.start()
            timing.answered(now_s, 200, None, RANDOM, 1000, f"{A}/well")
        for _ in range(3):
            page_id += 1
            timing.start()
            if why is None:
                timing.answered(now_s, 500, None, RANDOM, page_id, f"{A}/ill/{page_id}")
            else:
                timing.unanswered(now_s, why, RANDOM, page_id, f"{A}/ill/{page_id}")
        blocks.append(timing.blocked_until_s > now_s)
        ends.append(timing.sections.rests_until_s(f"{A}/ill/x") - now_s)
        now_s += 600.0

    assert blocks == [True, False, True]
    assert ends == [90.0, 180.0, 360.0]
    assert timing.sections.rests_until_s(f"{A}/well") == -np.inf


@pytest.mark.parametrize(
    ("failed", "resting"),
    [
        ([("shop", "a")], ("shop", "a")),
        ([("shop", "a"), ("shop", "b"), ("shop",)], ("shop",)),
        ([("shop", "a"), ("shop", "a", "x")], ("shop", "a")),
        ([("shop",), ("news",)], None),
    ],
)
def test_what_rests_is_the_deepest_folder_of_all_that_failed(
    failed: list[tuple[str, ...]], resting: tuple[str, ...] | None
) -> None:
    """Where they have none in common but the whole site, nothing rests alone."""
    sections = Sections(Backoff(jitter=0.0))

    sections.failed(failed, NOW_S, RANDOM)

    folders = [("shop", "a"), ("shop", "b"), ("shop",), ("news",)]
    rests = {one for one in folders if sections.rests_until_s(f"{A}/{'/'.join(one)}/x") > NOW_S}
    assert rests == {one for one in folders if resting and one[: len(resting)] == resting}


def test_a_section_that_is_well_again_rests_no_longer_than_at_first() -> None:
    """A host that fails for a while, wherever it is asked then, would rest ever longer."""
    timing, now_s, ends = HostPoliteness(PolitenessRules(backoff=Backoff(jitter=0.0))), NOW_S, []
    for page_id in range(0, 12, 3):
        for number in range(page_id, page_id + 3):
            timing.start()
            timing.answered(now_s, 500, None, RANDOM, number, f"{A}/ill/{number}")
        ends.append(timing.sections.rests_until_s(f"{A}/ill/x") - now_s)
        now_s += 600.0
        for number in range(100, 102):
            timing.start()
            timing.answered(now_s, 200, None, RANDOM, number, f"{A}/ill/{number}")
        now_s += 600.0

    assert ends == [90.0] * 4
