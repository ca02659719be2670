"""What a person sees while a crawl runs, in virtual time."""

import asyncio
import io
import re
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from recrawl.cli.crawler import watch
from recrawl.cli.crawler.watch import Watch
from recrawl.crawler.reports.status import status_report
from recrawl.testing import Setup, run_virtually, virtual_crawl

A = "http://a.test"


def test_coverage_is_shown_until_the_first_pass_is_over_and_freshness_after(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Never both, and no freshness before a second visit has told of changes.

    The crawl's time runs 240 times as fast as ours, however busy the machine is.
    """
    ours = SimpleNamespace(monotonic=lambda: asyncio.get_running_loop().time() / 240.0)
    monkeypatch.setattr(watch, "time", ours)

    async def main() -> None:
        virtual = virtual_crawl(Setup(budget_per_s=2.0))
        virtual.web.page(f"{A}/", "home", *[f"/{n}" for n in range(40)])
        for n in range(40):
            virtual.web.page(f"{A}/{n}", f"page {n}")
        async with Watch(virtual.crawl, virtual.counts, budget_per_s=2.0):
            await virtual.run_for(1200)

    run_virtually(main())

    lines = [line for line in capsys.readouterr().err.splitlines() if "fetches: " in line]
    first, after = (
        [line for line in lines if words in line] for words in ("to come: ", "fresh, estimated: ")
    )
    assert [*first, *after] == lines
    assert re.search(r"pages known: 41  indexed: [1-9]\d*  to come: [1-9]\d*", first[1])
    assert not any("unknown" in line for line in lines), "no time is told before a pace is known"
    assert re.search(r"pages known: 41  indexed: 41  new: 41  ", after[-1])
    assert "fresh, estimated: once pages have been visited again" in after[0]
    assert re.search(r"fresh, estimated: \d+\.\d % \(\d+\.\d to \d+\.\d\)$", after[-1])
    assert all(re.search(r"in flight: [01] of \d+ robots", line) for line in lines)


@pytest.mark.parametrize(("term", "is_panel"), [("xterm", True), ("dumb", False)])
def test_a_narrow_terminal_is_told_everything(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, term: str, is_panel: bool
) -> None:
    """One number below the other, uncut; one that can draw no panel has lines, not silence."""
    ours = SimpleNamespace(monotonic=lambda: asyncio.get_running_loop().time())
    monkeypatch.setattr(watch, "time", ours)
    shown = io.StringIO()
    screen = Console(
        file=shown, force_terminal=True, width=30, _environ={"TERM": term}, color_system=None
    )
    monkeypatch.setattr(watch, "progress_console", lambda: screen)

    async def main() -> None:
        virtual = virtual_crawl(Setup(budget_per_s=2.0))
        virtual.web.page(f"{A}/", "home")
        async with Watch(virtual.crawl, virtual.counts, budget_per_s=2.0):
            await virtual.run_for(12)

    run_virtually(main())

    lines = [line for line in capsys.readouterr().err.splitlines() if "fetches: " in line]
    assert bool(lines) is not is_panel
    for words in ("fetches  ", "0 of 8 robots", "0 of 32, 0 lost", "0% used"):
        assert (words in shown.getvalue()) is is_panel


def test_what_was_used_before_a_configuration_was_read_again_is_of_another_budget(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The counts go on, and the time for which there is a budget begins anew."""
    ours = SimpleNamespace(monotonic=lambda: asyncio.get_running_loop().time() / 60.0)
    monkeypatch.setattr(watch, "time", ours)

    async def main() -> None:
        virtual = virtual_crawl(Setup(budget_per_s=0.1))
        virtual.web.page(f"{A}/", "home")
        virtual.counts.outcomes["not-modified"] = 1_000
        async with Watch(virtual.crawl, virtual.counts, budget_per_s=0.1):
            await virtual.run_for(400)

    run_virtually(main())

    (line, *_) = (line for line in capsys.readouterr().err.splitlines() if "fetches: 1,00" in line)
    (used,) = re.findall(r"budget: \S+, (\d+)% used", line)
    assert int(used) < 100


def test_first_visits_beside_the_budget_use_none_of_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Forty-one pages come at one a second, where the budget is one in two."""
    ours = SimpleNamespace(monotonic=lambda: asyncio.get_running_loop().time() / 60.0)
    monkeypatch.setattr(watch, "time", ours)

    async def main() -> dict[str, Any]:
        virtual = virtual_crawl(Setup(budget_per_s=0.5, rules={"first_free": True}))
        virtual.web.page(f"{A}/", "home", *[f"/{n}" for n in range(40)])
        for n in range(40):
            virtual.web.page(f"{A}/{n}", f"page {n}")
        async with Watch(virtual.crawl, virtual.counts, budget_per_s=0.5):
            await virtual.run_for(900)
        return status_report(virtual.frontier, now_s=virtual.clock.now_s())

    report = run_virtually(main())

    (line, *_) = (line for line in capsys.readouterr().err.splitlines() if "new: 41" in line)
    (used,) = re.findall(r"budget: \S+, (\d+)% used", line)
    assert int(used) <= 10  # robots.txt and a sitemap
    later = sum(report["fetches"].values()) - report["fetches"]["new"]
    assert report["budget_used"] == pytest.approx(later / (0.5 * 3600.0))
