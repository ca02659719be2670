"""A recorded site answers as it was at each instant, and its truth is that of the commits."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.simulation.recorded.repository import DAY_S, START_S, made_repository

from recrawl.errors import InputError
from recrawl.simulation.recorded.git import read_log
from recrawl.simulation.recorded.log import PageHistory, RecordedLog
from recrawl.simulation.recorded.recording import Recording, Source
from recrawl.simulation.recorded.render import render
from recrawl.simulation.recorded.site import Habits, RecordedSite
from recrawl.simulation.recorded.web import RecordedWeb, web_of_log
from recrawl.simulation.site import Answer
from recrawl.simulation.truth import TruthMeter

Make = Callable[..., RecordedSite]
HOST = "recorded.localhost"


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten days of a small site."""
    return made_repository(tmp_path_factory.mktemp("recorded") / "repo").path


@pytest.fixture
def site_of(repo: Path) -> Iterator[Make]:
    """Make sites with habits, from half a day on; close them at the end."""
    made: list[RecordedSite] = []

    def make(**habits: object) -> RecordedSite:
        told = {"validators": "true", "sitemap": "true", "feed": "true", "errors": 0.0, **habits}
        made.append(
            Recording(Source(str(repo)), "*", START_S + 0.5 * DAY_S, 9.0, habits=told).site(80)
        )
        return made[-1]

    yield make
    for site in made:
        site.close()


def _at(site: RecordedSite, path: str, day: float, **told: str) -> Answer:
    return site.answer(HOST, path, START_S + day * DAY_S, **told)


def test_pages_are_what_they_were_at_each_instant(site_of: Make) -> None:
    """Text by time; before its birth, after its end, after a move, and when it came back."""
    site = site_of()
    assert b"first" in _at(site, "/docs/a.md", 0.6).body
    assert b"second" in _at(site, "/docs/a.md", 1.5).body
    assert b"third" in _at(site, "/docs/a.md", 9.4).body
    assert _at(site, "/docs/c.rst", 1.9).status == 404
    assert b"<h2>Title</h2>" in _at(site, "/docs/c.rst", 2.1).body
    moved = _at(site, "/docs/c.rst", 4.1)
    assert (moved.status, moved.headers["Location"]) == (301, f"http://{HOST}/docs/d.rst")
    assert [_at(site, "/docs/b.md", day).status in (404, 410) for day in (2.9, 3.1, 5.1)] == [
        False,
        True,
        False,
    ]
    assert _at(site, "/index.html", 1.0).body == b"<p>whole"
    assert b"&lt;script&gt;" in _at(site, "/code.py", 7.0).body
    assert b'href="b.md"' in _at(site, "/docs/a.md", 0.6).body


def test_what_the_site_tells_about_itself_is_true_unless_it_lies(site_of: Make) -> None:
    """Validators, sitemap and feed."""
    site = site_of()
    first = _at(site, "/docs/a.md", 1.5)
    again = _at(site, "/docs/a.md", 1.9, if_none_match=first.headers["ETag"])
    later = _at(site, "/docs/a.md", 2.1, if_none_match=first.headers["ETag"])
    assert (again.status, later.status) == (304, 200)
    listed = _at(site, "/sitemap.xml", 3.5).body.decode()
    assert listed.count("<loc>") == 3
    assert "2023-11-16T22:13:20+00:00" in listed  # day 2, when docs/a.md last changed
    feed = _at(site, "/feed.atom", 2.5).body.decode()
    assert feed.index("docs/a.md") < feed.rindex("docs/a.md")
    assert "docs/d.rst" not in feed

    liar = site_of(validators="lying", sitemap="lying", feed="none")
    tags = {_at(liar, "/docs/a.md", day).headers["ETag"] for day in (1.2, 1.3)}
    assert len(tags) == 2
    assert "2023-11-18T10:13:20" in _at(liar, "/sitemap.xml", 3.5).body.decode()
    assert _at(liar, "/feed.atom", 3.5).status == 404
    bare = site_of(validators="none", errors=0.999)
    assert _at(bare, "/docs/a.md", 1.0).status == 503


def test_directories_list_what_is_there(site_of: Make) -> None:
    """And lead to every page from the root."""
    site = site_of()
    assert b'href="/docs/"' in _at(site, "/", 0.6).body
    inside = _at(site, "/docs/", 3.5).body
    assert b"a.md" in inside
    assert b"b.md" not in inside
    assert _at(site, "/nowhere/", 3.5).status == 404


def test_a_large_directory_comes_in_pages(tmp_path: Path) -> None:
    """Five hundred entries each, and a link to the next."""
    files = {f"f{n:04}.txt": read for n, read in enumerate([_file()] * 1200)}
    web = web_of_log(RecordedLog(files, 1, START_S, 0), START_S, 5.0, max_pages=5000)
    site = RecordedSite(web, _Nothing(), epoch_s=START_S)
    pages = [_at(site, f"/{query}", 1.0).body.decode() for query in ("", "?page=2", "?page=3")]
    assert [page.count(".txt</a>") for page in pages] == [500, 500, 200]
    assert ['rel="next"' in page for page in pages] == [True, True, False]
    with pytest.raises(InputError, match="narrow --path"):
        web_of_log(RecordedLog(files, 1, START_S, 0), START_S, 5.0, max_pages=1000)


class _Nothing:
    are_pages = False

    def read(self, blob: str) -> bytes | None:
        return None

    def close(self) -> None:
        pass


def _file() -> PageHistory:
    return PageHistory([START_S], ["0" * 40], [1])


def test_the_truth_counts_freshness_delays_and_mistaken_signatures(site_of: Make) -> None:
    """One page of a.md, visited at days 1.5, 2.5 and 3.5; the other pages never."""
    site = site_of()
    meter = TruthMeter(site)
    for day, outcome in ((1.5, "new"), (2.5, "unchanged"), (3.5, "changed")):
        fields = {"url": f"http://{HOST}/docs/a.md", "at_s": START_S + day * DAY_S}
        meter.emit("visit", {**fields, "outcome": outcome})
    assert (meter.missed, meter.imagined) == (1, 1)
    span = (START_S + 1.5 * DAY_S, START_S + 3.0 * DAY_S)
    delays = meter.delays(*span)
    assert delays.n_changes == 2  # a.md at day 2, and c.rst that was born then
    assert delays.median == pytest.approx(0.5 * DAY_S)
    assert delays.ninety == np.inf
    # a.md is fresh for 1 of 1.5 days; b.md and index.html are there, c.rst for one day.
    assert meter.over(*span).freshness == pytest.approx(1.0 / (3 * 1.5 + 1.0))


def test_a_history_for_backtests_holds_the_same_changes(repo: Path) -> None:
    """Each change once, in the span; lives as long as pages were there."""
    web: RecordedWeb = Recording(Source(str(repo)), "docs/*", START_S, 10.0).web()
    history = web.history()
    assert history.n_pages == len(web.pages) == 5  # b.md lives twice
    assert sorted(history.changed_at.tolist()) == [1.0, 2.0]
    assert web.changes_per_day == pytest.approx(0.2)
    assert (history.lifetimes(0.0) <= 10.0).all()


def test_no_file_is_rendered_into_markup_of_its_own() -> None:
    """Raw HTML inside Markdown is text; what is binary is no page."""
    assert "<script>" not in (render("x.md", b"hi <script>alert(1)</script>") or "")
    assert "<script>" not in (render("x.rst", b"hi <script>") or "")
    assert render("x.bin", b"\0\1") is None
    assert (render("x.md", b"[" * 1_000_000) or "").startswith("<h1>x.md</h1><pre>[[[")


def test_only_what_git_reads_is_read(repo: Path) -> None:
    """The log that a pattern narrows has no other pages."""
    web = web_of_log(read_log(repo), START_S, 10.0, pattern="*.py", max_pages=10)
    assert [page.path for page in web.pages] == ["/code.py"]
    with pytest.raises(InputError, match="no page that matches"):
        web_of_log(read_log(repo), START_S, 10.0, pattern="*.png", max_pages=10)
    assert Habits().errors == 0.0
