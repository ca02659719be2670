"""Several processes on one PostgreSQL: what is killed, stopped or cut off does no harm."""

import contextlib
import json
import os
import re
import signal
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from tests.acceptance.command import answer, recrawl, start
from tests.acceptance.farm import Farm
from tests.acceptance.faults import (
    DELAY_S,
    FAULTS,
    RATE_PER_S,
    awaited,
    check_crawl,
    end_all,
    endure,
    rows_of,
    shared_config,
)
from tests.databases import Server, databases
from tests.pooler import pooled
from tests.postgres import postgres

from recrawl.terms import Database

__all__ = ["databases"]

pytestmark = pytest.mark.acceptance

SHOWN = "postgresql://tester@/postgres"


@pytest.fixture
def farm() -> Iterator[Farm]:
    """Give forty hosts of ten pages."""
    made = Farm(40, 10, answer_s=0.02)
    yield made
    made.close()


@pytest.mark.slow
def test_two_processes_share_the_hosts_and_one_takes_over(
    farm: Farm, databases: Server, tmp_path: Path
) -> None:
    """Each has shards of its own; those of one that is killed are the other's within the lease."""
    database = databases.database()
    config = shared_config(farm, tmp_path, database)
    both = "SELECT 1 FROM shard HAVING count(DISTINCT owner) = 2 AND count(owner) = 16"
    alone = "SELECT 1 FROM shard HAVING count(DISTINCT owner) = 1 AND count(owner) = 16"
    processes = [start("run", config, "--quiet", cwd=tmp_path) for _ in range(2)]
    try:
        assert awaited(database, both, 30)
        assert awaited(database, "SELECT 1 FROM visit HAVING count(*) > 50", 30)
        processes[0].kill()
        assert awaited(database, alone, 15)
        before = farm.n_requests()
        assert awaited(
            database, "SELECT 1 FROM page HAVING count(*) FILTER (WHERE visits > 0) > 400", 40
        )
        assert farm.n_requests() > before
        told = answer("status", cwd=tmp_path)
        assert told["running"]
        assert told["budget"] == pytest.approx(RATE_PER_S)
        page = f"http://{farm.name(3)}/1"
        asked = answer("visit", page, "--wait", "--timeout", "30s", cwd=tmp_path)
        assert [one["outcome"] for one in asked["visits"]] == ["unchanged"]
    finally:
        end_all(processes)

    check_crawl(farm, database, tmp_path)
    assert not answer("status", cwd=tmp_path)["running"]
    assert answer("explain", page, cwd=tmp_path)["visits"] >= 2
    changes = [json.loads(line) for line in recrawl("changes", cwd=tmp_path).stdout.splitlines()]
    assert [one["seq"] for one in changes] == list(range(1, len(changes) + 1))
    assert len({one["url"] for one in changes}) == len(changes) > 400
    pages = recrawl("export", "pages", "--out", "pages.jsonl", cwd=tmp_path)
    assert pages.returncode == 0, pages.stderr
    found = answer("search", "title:page word3x1y2", cwd=tmp_path)
    assert [one["url"] for one in found["hits"]] == [page]


@pytest.mark.slow
def test_one_server_of_hosts_of_three_processes_is_asked_as_one(
    databases: Server, tmp_path: Path
) -> None:
    """While one of them is killed, and another is stopped for longer than its lease."""
    farm, database = Farm(24, 3, answer_s=0.02, is_one=True), databases.database()
    config = shared_config(farm, tmp_path, database, politeness__per_address="true")
    three = "SELECT 1 FROM shard HAVING count(DISTINCT owner) = 3 AND count(owner) = 16"
    ended = "SELECT 1 FROM process WHERE ended HAVING count(*) >= {}"
    processes = [start("run", config, "--quiet", cwd=tmp_path) for _ in range(3)]
    try:
        assert awaited(database, three, 30)
        assert awaited(database, "SELECT 1 FROM visit HAVING count(*) > 30", 60)
        processes[0].kill()
        processes[1].send_signal(signal.SIGSTOP)
        assert awaited(database, ended.format(2), 20)
        processes[1].send_signal(signal.SIGCONT)
        n_visits = len(rows_of(database, "SELECT 1 FROM visit"))
        assert awaited(database, f"SELECT 1 FROM visit HAVING count(*) > {n_visits + 40}", 60)
        assert awaited(database, three.replace("= 3", "= 2"), 30)
        assert awaited(database, "SELECT 1 FROM host HAVING count(ip_address) = 24", 60)
        told = answer("explain", f"http://{farm.name(3)}/", cwd=tmp_path)
        assert told["host_shares"] == "shares 127.0.0.1 with 23 other hosts"
    finally:
        end_all(processes)
        farm.close()

    check_crawl(farm, database, tmp_path)


@pytest.mark.slow
def test_changes_are_delivered_by_one_process_after_the_other(
    farm: Farm, databases: Server, tmp_path: Path
) -> None:
    """Also where the one whose turn it is is killed; the sink holds what the index does."""
    database, sink = databases.database(), databases.database()
    config = shared_config(farm, tmp_path, database)
    with config.open("a", encoding="utf-8") as file:
        file.write(f'[[deliver]]\nto = "{sink.address}"\nname = "docs"\n')
    taker = "SELECT holder FROM turn WHERE holder LIKE '%process {}, %'"
    processes = [start("run", config, "--quiet", cwd=tmp_path) for _ in range(2)]
    try:
        assert awaited(sink, "SELECT 1 FROM documents HAVING count(*) > 50", 40)
        (holder,) = rows_of(database, "SELECT holder FROM turn")
        courier = int(str(holder[0]).split("process ")[1].partition(",")[0])
        os.kill(courier, signal.SIGKILL)
        with psycopg.connect(database.address) as connection:  # a minute later
            connection.execute("UPDATE turn SET until_s = 0")
        assert awaited(database, "SELECT 1 FROM turn WHERE until_s > 0", 10)
        assert not rows_of(database, taker.format(courier))
        assert awaited(sink, "SELECT 1 FROM documents HAVING count(*) > 400", 40)
        busy = recrawl("sync", "docs", cwd=tmp_path)
        assert busy.returncode == 1
        assert "another process delivers the changes; one does at a time" in busy.stderr
    finally:
        end_all(processes)

    assert recrawl("deliver", "--once", cwd=tmp_path).returncode == 0
    told = answer("sync", "docs", "--verify", cwd=tmp_path)
    assert told["pages"] > 400
    assert (told["missing"], told["older"], told["extra"], told["unknown"]) == (0, 0, 0, 0)


@pytest.mark.slow
def test_a_shared_crawl_is_shown_and_searched_from_anywhere(
    farm: Farm, databases: Server, tmp_path: Path
) -> None:
    """`serve` reads the database as it reads a folder."""
    database = databases.database()
    config = shared_config(farm, tmp_path, database)
    recrawl("run", config, "--once", "--quiet", cwd=tmp_path)
    server = start("serve", "--config", config, "--port", "0", cwd=tmp_path)
    try:
        assert server.stderr is not None
        found = re.search(r"http://\S+(?=/ )", server.stderr.readline())
        assert found
        assert recrawl("status", "--json", cwd=tmp_path).returncode == 0
        page = f"http://{farm.name(3)}/1"
        for path, words in (
            ("/?q=word3x1y2", page),
            ("/api/search?q=word3x1y2", page),
            ("/dashboard", "fresh"),
            ("/page?url=" + quote(page, safe=""), "<caption>The latest "),
            ("/api/status", '"pages"'),
            ("/what-if", "budget"),
            ("/changes?since=0", '"seq":1,'),
            ("/changes.atom", "<entry>"),
        ):
            assert words in _fetched(f"{found.group()}{path}"), path
    finally:
        end_all([server])
    assert server.returncode == 0


def _fetched(url: str) -> str:
    try:
        with urllib.request.urlopen(url, timeout=60) as answered:
            return str(answered.read().decode())
    except urllib.error.HTTPError as error:
        return f"{error.code}: {error.read().decode()[:1000]}"


@pytest.mark.slow
def test_a_pooler_may_stand_before_the_database(
    farm: Farm, databases: Server, tmp_path: Path
) -> None:
    """No session of the server's is needed from one transaction to the next."""
    database = databases.database()
    with pooled(database) as address:
        config = shared_config(farm, tmp_path, address)
        processes = [start("run", config, "--quiet", cwd=tmp_path) for _ in range(2)]
        try:
            assert awaited(database, "SELECT 1 FROM visit HAVING count(*) > 200", 40)
            assert awaited(database, "SELECT 1 FROM shard HAVING count(DISTINCT owner) = 2", 10)
        finally:
            end_all(processes)
        assert [one.returncode for one in processes] == [0, 0]

        check_crawl(farm, database, tmp_path)
        assert "Page /" in recrawl("search", "page", cwd=tmp_path).stdout


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_faults_one_after_the_other_do_no_harm(
    farm: Farm, databases: Server, tmp_path: Path
) -> None:
    """Kills, stops beyond the lease, networks that fail, ends of the database, wrong clocks."""
    endure(farm, databases, tmp_path, FAULTS * 2, seed=22)


@pytest.mark.slow
def test_a_process_that_starts_before_its_database_waits_for_it(tmp_path: Path) -> None:
    """What runs beside it too; other verbs do not wait, nor does who is stopped meanwhile."""
    farm = Farm(2, 3)
    with postgres() as server, contextlib.closing(farm):
        server.stop()
        config = farm.config(tmp_path, Database(server.address), fetch__timeout='"20s"')
        waiting, stopped = (start("run", config, "--once", cwd=tmp_path) for _ in range(2))
        lines = [process.stderr.readline() for process in (waiting, stopped) if process.stderr]
        away = recrawl("status", cwd=tmp_path)
        stopped.send_signal(signal.SIGTERM)
        told = stopped.communicate(timeout=40)
        server.start()
        waited = waiting.communicate(timeout=60)

    for line in lines:
        assert line.startswith(f"waiting for the database at {SHOWN}: ")
    assert (away.returncode, "cannot be reached" in away.stderr) == (2, True)
    assert (stopped.returncode, told) == (0, ("", f"Visits: none. State: {SHOWN}\n"))
    assert waiting.returncode == 0, waited
    assert "waiting" not in waited[1]
    assert " new" in waited[1]


@pytest.mark.slow
def test_a_database_that_does_not_exist_is_not_waited_for(tmp_path: Path) -> None:
    """The message says what would be right."""
    farm = Farm(1, 1)
    with postgres() as server, contextlib.closing(farm):
        config = farm.config(tmp_path, Database(server.address.replace("/postgres", "/crawl")))
        told = recrawl("run", config, cwd=tmp_path)
    assert told.returncode == 2
    assert told.stderr.startswith("recrawl: postgresql://tester@/crawl refuses the login (")
    assert 'database "crawl" does not exist' in told.stderr


@pytest.mark.slow
def test_two_processes_make_one_pass_together_and_bothend(
    farm: Farm, databases: Server, tmp_path: Path
) -> None:
    """Every page is visited once, though most are found by the other; a second pass visits anew."""
    database = databases.database()
    config = farm.config(
        tmp_path, database, fetch__timeout='"20s"', archive__warc='"kept"'
    )  # no request is to be tried again
    for passes in (1, 2):
        processes = [start("run", config, "--once", cwd=tmp_path) for _ in range(2)]
        try:
            for process in processes:
                told = process.communicate(timeout=60)
                assert process.returncode == 0, told
        finally:
            end_all(processes)
        odd = f"""SELECT url, visits, due_s, array_agg(visited_at_s), array_agg(outcome) FROM page
            JOIN visit ON page_id = page.id WHERE visits <> {passes} GROUP BY 1, 2, 3"""
        assert rows_of(database, odd) == []
        (pages,) = rows_of(database, "SELECT count(*) FROM page")
        assert pages == (40 * 12,)  # of each host: a front page, ten others, a sitemap
    assert rows_of(database, "SELECT 1 FROM inbox") == []
    assert len(list(tmp_path.glob("kept/*/*.warc.gz"))) >= 2
    assert not list(tmp_path.glob("kept/*/*.open"))
    assert not farm.overlaps
    assert farm.least_gap_s() >= DELAY_S - 0.005
    other = start("run", config, "--quiet", cwd=tmp_path)
    try:
        assert awaited(database, "SELECT 1 FROM shard HAVING count(owner) = 16", 30)
        refused = recrawl("run", config, "--once", cwd=tmp_path)
    finally:
        end_all([other])
    assert refused.returncode == 2
    assert "--once" in refused.stderr
