"""The crawler's verbs as a person uses them: a site crawled, looked at, searched, exported."""

import contextlib
import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.acceptance.command import ENV, answer, recrawl, start, write_config
from tests.acceptance.servers import Exchange, LocalServer, serving
from tests.simulation.recorded.repository import made_repository
from warcio.archiveiterator import ArchiveIterator

pytestmark = pytest.mark.acceptance

CONFIG = """
seeds = ["http://site.localhost:{port}/"]
contact = "mailto:tester@site.test"
budget = "500/s"
[politeness]
delay = "0s"
allow_private = ["*.localhost"]
"""


async def small_site(exchange: Exchange) -> None:
    """Three pages with validators, of which one is found through another."""
    bodies = {
        "/": '<title>Home</title><main>start here <a href="/birds">birds</a></main>',
        "/birds": '<title>Birds</title><main>an owl <a href="/fish">fish</a></main>',
        "/fish": "<title>Fish</title><main>a salmon swims</main>",
    }
    body = bodies.get(exchange.path)
    if body is None:
        await exchange.reply(status=404)
    elif exchange.headers.get("if-none-match") == '"v1"':
        await exchange.reply(status=304, ETag='"v1"')
    else:
        await exchange.reply(body, ETag='"v1"')


@pytest.fixture(scope="module")
def server() -> Iterator[LocalServer]:
    with serving(small_site) as running:
        yield running


@pytest.fixture(scope="module")
def crawled(server: LocalServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory in which the small site has been crawled twice."""
    cwd = tmp_path_factory.mktemp("small")
    write_config(cwd, CONFIG.format(port=server.port))
    for _ in range(2):
        ended = recrawl("run", "--once", cwd=cwd)
        assert ended.returncode == 0, ended.stderr
    return cwd


def test_a_second_pass_is_all_304s(crawled: Path) -> None:
    """Three new pages, then three visits that cost next to nothing."""
    told = answer("status", cwd=crawled)

    assert told["pages"] == {"indexed": 3}
    assert told["fetches"]["new"] == 3
    assert told["fetches"]["not-modified"] == 3
    assert told["budget"] == 500.0
    assert told["price"] >= 0.0
    assert 0.0 <= told["freshness_low"] <= told["freshness"] <= told["freshness_high"] <= 1.0
    assert told["hosts_blocked"] == []


def test_search_answers_people_and_programs(crawled: Path) -> None:
    told = answer("search", "owl", cwd=crawled)
    shown = recrawl("search", "salmon", "swims", cwd=crawled).stdout

    assert told["query"] == "owl"
    assert [hit["title"] for hit in told["hits"]] == ["Birds"]
    assert {"url", "title", "snippet", "score", "fetched_at"} <= set(told["hits"][0])
    assert time.time() - 300 < told["hits"][0]["fetched_at"] < time.time()
    assert "Fish" in shown
    assert "a salmon swims" in shown


def test_nothing_found_is_said(crawled: Path) -> None:
    shown = recrawl("search", "unicorn", cwd=crawled).stdout

    assert "Nothing among 3 pages" in shown


def test_explain_tells_what_set_the_next_visit(crawled: Path, server: LocalServer) -> None:
    url = f"http://site.localhost:{server.port}/fish"
    told = answer("explain", url, cwd=crawled)
    shown = recrawl("explain", url, cwd=crawled).stdout

    assert (told["state"], told["visits"], told["changes"]) == ("indexed", 2, 0)
    assert (
        told["change_rate_low_per_s"] < told["change_rate_per_s"] < told["change_rate_high_per_s"]
    )
    assert told["due_why"] == "the plan"
    assert told["next_visit_s"] > told["at"]
    assert [visit["outcome"] for visit in told["recent"]] == ["not-modified", "new"]
    for word in ("change rate", "weight", "price", "next visit", "the plan"):
        assert word in shown


def test_explain_says_why_a_url_is_not_known(crawled: Path, server: LocalServer) -> None:
    outside = recrawl("explain", "http://elsewhere.test/", cwd=crawled)
    unlinked = recrawl("explain", f"http://site.localhost:{server.port}/x", cwd=crawled)

    assert (outside.returncode, unlinked.returncode) == (2, 2)
    assert "another host" in outside.stderr
    assert "no page that was visited links to it" in unlinked.stderr


@pytest.mark.parametrize("table", ["pages", "visits"])
def test_exports_agree_in_every_format(crawled: Path, table: str) -> None:
    """The same rows in Parquet, CSV and JSON Lines."""
    files = {ending: crawled / f"{table}.{ending}" for ending in ("parquet", "csv", "jsonl")}
    for file in files.values():
        told = answer("export", table, "--out", file, cwd=crawled)
        assert told["rows"] > 0

    columns = pq.read_table(files["parquet"]).to_pydict()
    with files["csv"].open(encoding="utf-8") as stream:
        from_csv = [row["url"] for row in csv.DictReader(stream)]
    from_jsonl = [json.loads(line)["url"] for line in files["jsonl"].read_text().splitlines()]
    assert columns["url"] == from_csv == from_jsonl
    assert len(columns["url"]) == (4 if table == "pages" else 8)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_it_in_order_within_five_seconds(
    tmp_path: Path, server: LocalServer, number: int
) -> None:
    """Exit code 0, nothing leased, nothing half indexed, and the lock is free."""
    write_config(tmp_path, CONFIG.format(port=server.port))
    before = server.requests.total()
    crawl = start("run", cwd=tmp_path)
    server.wait_for(before + 3)

    crawl.send_signal(number)
    sent_s = time.monotonic()
    crawl.communicate(timeout=60)
    took_s = time.monotonic() - sent_s

    assert crawl.returncode == 0
    assert took_s < 5.0
    again = recrawl("run", "--once", "-q", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert answer("status", cwd=tmp_path)["pages"] == {"indexed": 3}


@pytest.mark.slow
def test_a_new_rule_of_content_reaches_pages_that_stay_the_same(
    tmp_path: Path, server: LocalServer
) -> None:
    """It is said how many there are, and the feed tells what became of their copies."""
    text = CONFIG.format(port=server.port)
    write_config(tmp_path, text)
    assert recrawl("run", "--once", "-q", cwd=tmp_path).returncode == 0
    write_config(tmp_path, text + '[[content]]\npath = "/birds"\ndrop = "a"\n')
    ended = recrawl("run", "--once", cwd=tmp_path)
    again = recrawl("run", "--once", cwd=tmp_path)

    assert "Note: 1 pages are read again, as other rules" in ended.stderr
    assert "read again" not in again.stderr
    told = recrawl("changes", "--since", "3", "--content", "text", cwd=tmp_path).stdout
    (change,) = map(json.loads, told.splitlines())
    assert (change["kind"], change["text"]) == ("changed", "an owl")


@pytest.mark.slow
def test_a_configuration_is_taken_up_while_the_crawl_runs(
    tmp_path: Path, server: LocalServer
) -> None:
    """On a change and on SIGHUP; what cannot be waits, what is wrong changes nothing."""
    text = CONFIG.format(port=server.port)
    birds = f'seeds = ["http://site.localhost:{server.port}/birds"]'
    path = write_config(tmp_path, text + '[scope]\nexclude = ["/birds"]\n')
    asked_for = f"site.localhost:{server.port}/birds"
    begun = server.requests[asked_for]
    crawl = start("run", "--config-reload", "--log", "log", "--log-format", "text", cwd=tmp_path)
    server.wait_for(server.requests.total() + 2)

    text = text.replace("500/s", "300/s").replace("tester@", "other@")
    path.write_text("\n".join([birds, *text.splitlines()[2:]]))
    told = _line_with(crawl, "Configuration read again")
    server.wait_for_path(asked_for, begun + 1)  # what had been excluded
    path.write_text("budget = 'much'")
    crawl.send_signal(signal.SIGHUP)
    refused = _line_with(crawl, "the crawl goes on")
    crawl.send_signal(signal.SIGTERM)
    crawl.communicate(timeout=60)

    taken, left = "taken up: seeds, budget, exclude", "waits for the next start: contact"
    assert told == f"Configuration read again; {taken}; {left}"
    assert "recrawl.toml: seeds" in refused
    assert crawl.returncode == 0
    assert " info reload budget_per_s=300" in (tmp_path / "log").read_text()


def _line_with(crawl: "subprocess.Popen[str]", words: str) -> str:
    assert crawl.stderr is not None
    return next(line.strip() for line in iter(crawl.stderr.readline, "") if words in line)


def test_a_single_pass_keeps_its_configuration(tmp_path: Path) -> None:
    write_config(tmp_path, CONFIG.format(port=1))

    ended = recrawl("run", "--once", "--config-reload", cwd=tmp_path)

    assert ended.returncode == 2
    assert ended.stderr.startswith("recrawl: --config-reload: ")


@pytest.mark.slow
def test_run_for_a_while_and_log_every_event(tmp_path: Path, server: LocalServer) -> None:
    write_config(tmp_path, CONFIG.format(port=server.port))

    told = answer("run", "--for", "1s", "--log", "events.jsonl", cwd=tmp_path)

    events = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    assert told["fetches"]["new"] == 3
    assert [event["event"] for event in events].count("visit") == sum(told["fetches"].values())
    assert all(event["at"] > 1.7e9 for event in events)


@pytest.mark.slow
def test_init_writes_a_config_that_run_takes(tmp_path: Path, server: LocalServer) -> None:
    """From nothing to a searchable index in two commands."""
    url = f"http://site.localhost:{server.port}/"
    written = recrawl(
        "init", url, "--contact", "me@site.test", "--budget", "100/s", "--allow-private",
        cwd=tmp_path,
    )  # fmt: skip
    again = recrawl("init", url, cwd=tmp_path)

    ended = recrawl("run", "--once", "-q", cwd=tmp_path)

    assert written.returncode == 0, written.stderr
    assert "recrawl run recrawl.toml" in written.stdout
    assert again.returncode == 2
    assert "exists" in again.stderr
    assert ended.returncode == 0, ended.stderr
    assert answer("status", cwd=tmp_path)["pages"] == {"indexed": 3}


@pytest.mark.slow
def test_the_demo_measures_three_policies_and_leaves_a_searchable_index(tmp_path: Path) -> None:
    """A short demo: the contract of its JSON, and an index that answers."""
    told = answer("demo", "--seconds", "6", "--pages", "80", "--seed", "3", cwd=tmp_path)

    assert set(told["policies"]) == {"optimal", "uniform", "proportional"}
    for arm in told["policies"].values():
        assert 0.0 < arm["freshness"] < 1.0
        assert 0.0 < arm["weighted_freshness"] < 1.0
        assert arm["fetches"] <= told["budget"] * told["days"] * 86_400 + 60
    state = tmp_path / told["state"]
    assert state.is_dir()
    found = answer("search", "--state", state, "revision", cwd=tmp_path)
    assert found["total"] > 30
    status = answer("status", "--state", state, cwd=tmp_path)
    assert sum(status["fetches"].values()) >= told["fetches"] * 0.95


@pytest.mark.slow
def test_a_history_is_crawled_for_real_and_judged_by_the_truth(tmp_path: Path) -> None:
    """Ten days of a small repository, a day in a second: all is found, within the budget."""
    made_repository(tmp_path / "repo")

    told = answer("demo", "--git", "repo", "--seconds", "8", "--budget", "60/d", cwd=tmp_path)

    own = told["recrawl"]
    assert told["pages"] == 7  # one of them twice: it went, and came back
    assert 0.5 < own["freshness"] <= told["backtest"]["foresight"] + 0.01
    assert set(told["others"]) == {"uniform"}
    assert sum(own["requests"].values()) <= told["budget_per_s"] * told["days"] * 86_400 * 1.1
    assert own["requests"]["robots.txt"] >= 1
    assert answer("search", "--state", told["state"], "again", cwd=tmp_path)["total"] == 1


@pytest.mark.slow
def test_a_terminal_shows_the_crawl_as_it_goes(tmp_path: Path) -> None:
    """The panel of a terminal is drawn anew while the crawl runs, with what has happened."""
    ours, theirs = os.openpty()
    with os.fdopen(ours, "rb", buffering=0) as screen:
        command = [sys.executable, "-m", "recrawl", "demo", "--seconds", "8", "--pages", "60"]
        shown = b""
        with subprocess.Popen(
            command, cwd=tmp_path, env=ENV, stdout=subprocess.DEVNULL, stderr=theirs
        ) as process:
            os.close(theirs)
            with contextlib.suppress(OSError):  # how a terminal says that its other end is gone
                while chunk := screen.read(65536):
                    shown += chunk
        assert process.returncode == 0
    plain = re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", shown)
    frames = plain.split(b"fetches  ")[1:]
    assert len(frames) >= 3
    # Coverage until the first pass is over, freshness from then on.
    told = [(b"to come " in frame, b"fresh, estimated " in frame) for frame in frames]
    assert told[0] == (True, False)
    assert all(coverage != freshness for coverage, freshness in told[:-1])
    assert sorted(told[:-1], reverse=True) == told[:-1]
    assert re.search(rb"new +[1-9]\d", plain)
    assert b"Nothing fetched" not in frames[-1]  # a minute of its time is a thousandth of ours


@pytest.mark.slow
def test_what_is_fetched_is_kept_where_it_is_wanted(server: LocalServer, tmp_path: Path) -> None:
    """Whole the first time, as revisits the second, in files that other programs read."""
    write_config(tmp_path, CONFIG.format(port=server.port) + '[archive]\nwarc = "warc"\n')
    for _ in range(2):
        ended = recrawl("run", "--once", cwd=tmp_path)
        assert ended.returncode == 0, ended.stderr

    kinds = []
    for path in sorted((tmp_path / "warc").glob("*.warc.gz")):
        with path.open("rb") as file:
            kinds += [
                (record.rec_type, record.rec_headers.get("WARC-Target-URI", "").rpartition("/")[2])
                for record in ArchiveIterator(file)
            ]
    assert ("response", "fish") in kinds
    assert ("revisit", "fish") in kinds
    assert ("response", "robots.txt") in kinds
    assert not list((tmp_path / "warc").glob("*.open"))
