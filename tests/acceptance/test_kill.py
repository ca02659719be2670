"""`kill -9` at random moments: nothing acknowledged is lost, and index and state agree."""

import random
import signal
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.acceptance.command import recrawl, start, write_config
from tests.acceptance.servers import Exchange, LocalServer, serving

from recrawl.crawler.wiring.indexes import open_index
from recrawl.crawler.wiring.stores import open_frontier

pytestmark = pytest.mark.acceptance

CONFIG = """
seeds = ["http://site.localhost:{port}/"]
contact = "mailto:tester@site.test"
budget = "2000/s"
robots = 4
[politeness]
delay = "0s"
allow_private = ["*.localhost"]
[revisit]
min_interval = "1s"
initial_interval = "1s"
max_interval = "2s"
[index]
commit_every = "50ms"
[plan]
replan = "1s"
[importance]
links = 0.9
even = 0.1
every = "1s"
[feed]
importance = true
"""
N_PAGES = 200


class ChangingSite:
    """Two hundred pages; most differ at every look, some move and some go on the way."""

    def __init__(self) -> None:
        self.looks = 0
        self.is_calm = False

    async def __call__(self, exchange: Exchange) -> None:
        self.looks += not self.is_calm
        path = exchange.path
        if path == "/":
            links = "".join(f'<a href="/{number}">x</a>' for number in range(N_PAGES))
            await exchange.reply(f"<main>home {links}</main>")
        elif path[1:].isdigit():
            number = int(path[1:])
            if number % 50 == 7 and self.looks % 3 == 0 and not self.is_calm:
                await exchange.reply(status=410)
            else:
                await exchange.reply(f"<main>{self.text(number)}</main>")
        else:
            await exchange.reply(status=404)

    def text(self, number: int) -> str:
        version = self.looks if number % 10 else 0
        return f"page {number} version {version} of many words"


@pytest.fixture
def site() -> ChangingSite:
    return ChangingSite()


@pytest.fixture
def server(site: ChangingSite) -> Iterator[LocalServer]:
    with serving(site) as running:
        yield running


def visits_in(state: Path) -> int:
    with sqlite3.connect(f"file:{state / 'state.sqlite3'}?mode=ro", uri=True) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        count: int = database.execute("SELECT count(*) FROM visit").fetchone()[0]
    database.close()
    return count


def assert_whole(state: Path) -> None:
    """What the index holds is what the state says it holds, copy by copy."""
    frontier, index = open_frontier(state, read_only=True), open_index(state, read_only=True)
    expected = dict(frontier.urls_indexed())
    unfinished = {url for _, url, _ in frontier.in_indexing()}
    for importance in (True, False):
        live = frontier.feed.live(importance=importance)
        told = {change.url: change.signature for change in live}
        assert told == expected, "the feed tells of other copies than the state"
    frontier.close()
    held = dict(index.urls())
    assert index.n_documents() == len(held), "a page has two copies"
    for url in set(expected) | set(held):
        if url not in unfinished:  # the next start follows these up
            assert held.get(url) == expected.get(url), url


def kill_at_random(cwd: Path, server: LocalServer, moments: int, seed: int) -> list[int]:
    """Start, kill, look; return how many visits were on disk after each."""
    random_moments = random.Random(seed)
    counts: list[int] = []
    state = cwd / "recrawl-state"
    for _ in range(moments):
        before = server.requests.total()
        crawl = start("run", "-q", cwd=cwd)
        while server.requests.total() == before and crawl.poll() is None:
            time.sleep(0.01)
        time.sleep(random_moments.uniform(0.0, 1.5))  # the moment is what is tested
        crawl.send_signal(signal.SIGKILL)
        crawl.communicate()
        if (state / "index" / "meta.json").exists() and (state / "state.sqlite3").exists():
            counts.append(visits_in(state))
            assert_whole(state)
    return counts


def check_the_end(cwd: Path, site: ChangingSite) -> None:
    """One calm pass later everything is as the site is."""
    site.is_calm = True
    state = cwd / "recrawl-state"
    time.sleep(1.0)  # what was visited in the last second is not due yet
    ended = recrawl("run", "--once", "-q", cwd=cwd)
    assert ended.returncode == 0, ended.stderr
    frontier, index = open_frontier(state, read_only=True), open_index(state, read_only=True)
    assert frontier.in_indexing() == []
    assert dict(index.urls()) == dict(frontier.urls_indexed())
    frontier.close()
    assert index.n_documents() == N_PAGES + 1
    for number in (1, 10, 57, 199):
        hits = index.search(f'"page {number} version"', limit=3)[1]
        assert [hit.snippet.split(" of")[0] for hit in hits] == [site.text(number).split(" of")[0]]


@pytest.mark.slow
def test_killed_at_some_moments(tmp_path: Path, server: LocalServer, site: ChangingSite) -> None:
    """A few kills in the quick suite; the slow one has fifty."""
    write_config(tmp_path, CONFIG.format(port=server.port))

    counts = kill_at_random(tmp_path, server, 4, seed=4)

    assert counts == sorted(counts), "an acknowledged visit was lost"
    assert counts[-1] > 0
    check_the_end(tmp_path, site)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_killed_at_fifty_moments(tmp_path: Path, server: LocalServer, site: ChangingSite) -> None:
    """Fifty kills: state and index are whole after each."""
    write_config(tmp_path, CONFIG.format(port=server.port))

    counts = kill_at_random(tmp_path, server, 50, seed=50)

    assert counts == sorted(counts), "an acknowledged visit was lost"
    assert counts[-1] > counts[0]
    check_the_end(tmp_path, site)
