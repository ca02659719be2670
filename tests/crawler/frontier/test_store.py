"""The SQLite file: one schema however one gets there, one process at a time, nothing half done."""

import re
import sqlite3
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace

import pytest

from recrawl.crawler.control.addresses.yields import LITTLE
from recrawl.crawler.control.worth.births import HALF_LIFE_S
from recrawl.crawler.database import sql as database
from recrawl.crawler.frontier.rows import COMPLETED, VISIT, page_row, visit_row
from recrawl.crawler.frontier.salvage import salvaged
from recrawl.crawler.frontier.sql import migrations, numbered, queries
from recrawl.crawler.frontier.sqlite import SqliteFrontier
from recrawl.crawler.frontier.store import DATABASE, lock_state, open_state
from recrawl.crawler.ports import AdmissionLimits
from recrawl.errors import StateError
from recrawl.held_files import is_held, owner_words
from recrawl.terms import Birth, Discovery, Kind, Lease, Outcome, PageState, PageUpdate, Visit

A = "http://a.test"
ANY = AdmissionLimits()


def found(path: str, **fields: int) -> Discovery:
    return Discovery(A + path, A, **fields)  # type: ignore[arg-type]


def tables(connection: sqlite3.Connection) -> dict[str, str]:
    """Every table and index by name, comments and layout aside."""
    rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
    plain = ((name, re.sub(r"--.*", " ", sql)) for name, sql in rows)
    return {
        name: re.sub(r"\s+", " ", sql).replace(" ,", ",").replace(" )", ")") for name, sql in plain
    }


def schema() -> dict[str, str]:
    connection = sqlite3.connect(":memory:")
    connection.executescript((files("recrawl.crawler.frontier.sql") / "schema.sql").read_text())
    expected = tables(connection)
    connection.close()
    return expected


@pytest.mark.parametrize("version", range(len(migrations()) + 1))
def test_every_older_version_becomes_the_schema(tmp_path: Path, version: int) -> None:
    """`schema.sql` is what people read; the migrations are what runs. Both say the same."""
    path = tmp_path / DATABASE
    old = sqlite3.connect(path)
    for number, script in enumerate(migrations()[:version], start=1):
        old.executescript(f"{script}\nPRAGMA user_version = {number};")
    old.close()

    connection = open_state(path)

    assert tables(connection) == schema()
    assert connection.execute("PRAGMA user_version").fetchone() == (len(migrations()),)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_a_state_from_before_the_feed_tells_of_every_copy(tmp_path: Path) -> None:
    """Whoever follows it from the first entry has all that the index holds."""
    old = sqlite3.connect(tmp_path / DATABASE)
    for number, script in enumerate(migrations()[:9], start=1):
        old.executescript(f"{script}\nPRAGMA user_version = {number};")
    old.execute("INSERT INTO host (id, host) VALUES (1, 'http://a.test')")
    for number, (state, signature) in enumerate(
        [("indexed", b"1"), ("missing", b"2"), ("gone", None), ("excluded", b"3")]
    ):
        row = (number, f"{A}/{number}", state, signature)
        old.execute(
            "INSERT INTO page (id, url, host_id, kind, state, depth, hops, weight, discovered_s,"
            " due_s, title, signature) VALUES (?, ?, 1, 'page', ?, 0, 0, 1.0, 5.0, 5.0, 'T', ?)",
            row,
        )
    old.commit()
    old.close()

    frontier = SqliteFrontier(tmp_path)
    told = frontier.feed.changes(after=0, limit=9)
    assert {one.url: one.signature for one in told} == dict(frontier.urls_indexed())
    assert [(one.kind.value, one.title) for one in told] == [("new", "T")] * 2
    assert frontier.feed.mend(9e9) == 0
    frontier.close()


def test_what_was_put_off_as_nothing_new_is_judged_once_more(tmp_path: Path) -> None:
    """By the rules of this version; PostgreSQL's migration does the same."""
    old = sqlite3.connect(tmp_path / DATABASE)
    for number, script in enumerate(migrations()[:19], start=1):
        old.executescript(f"{script}\nPRAGMA user_version = {number};")
    old.execute("INSERT INTO host (id, host) VALUES (1, 'http://a.test')")
    rows = [(1, LITTLE, 0), (2, "for another reason", 0), (3, LITTLE, 2)]
    old.executemany(
        "INSERT INTO page (id, url, host_id, kind, state, depth, hops, weight, discovered_s, due_s,"
        " due_why, tier) VALUES (?1, ?1, 1, 'page', 'discovered', 0, 0, 1.0, 5.0, 9e8, ?2, ?3)",
        rows,
    )
    old.commit()
    old.close()

    connection = open_state(tmp_path / DATABASE)

    assert connection.execute("SELECT due_s FROM page").fetchall() == [(5.0,), (9e8,), (9e8,)]
    assert database.migrations()[12] == migrations()[19]
    connection.close()


def with_births_of_before(path: Path) -> None:
    """Make a file of the version in which births were rows of their own."""
    old = sqlite3.connect(path)
    for number, script in enumerate(migrations()[:23], start=1):
        old.executescript(f"{script}\nPRAGMA user_version = {number};")
    old.execute("INSERT INTO host (id, host) VALUES (1, 'http://a.test')")
    for number in (1, 2):
        old.execute(
            "INSERT INTO page (id, url, host_id, kind, state, depth, hops, weight, discovered_s,"
            " due_s) VALUES (?1, ?1, 1, 'page', 'indexed', 0, 0, 1.0, 5.0, 5.0)",
            (number,),
        )
    old.execute("INSERT INTO birth VALUES (2, 3.5, 60.0, 1.25, 7.0)")
    old.commit()
    old.close()


def test_births_of_before_stand_with_their_pages(tmp_path: Path) -> None:
    with_births_of_before(tmp_path / DATABASE)

    frontier = SqliteFrontier(tmp_path)

    assert frontier.worths.births() == [Birth(2, 1, Kind.PAGE, 3.5, 60.0, 1.25, 7.0, None, None)]
    frontier.close()


def test_births_of_before_are_salvaged(tmp_path: Path) -> None:
    with_births_of_before(tmp_path / "before")

    counts = salvaged(tmp_path / "before", tmp_path / DATABASE)

    assert (counts["page"], counts["birth"]) == (2, 1)
    frontier = SqliteFrontier(tmp_path)
    assert frontier.worths.births() == [Birth(2, 1, Kind.PAGE, 3.5, 60.0, 1.25, 7.0, None, None)]
    frontier.close()


def test_an_older_version_is_not_read_before_it_is_brought_up_to_date(tmp_path: Path) -> None:
    """Whoever only looks must not write."""
    path = tmp_path / DATABASE
    sqlite3.connect(path).execute("CREATE TABLE page (id INTEGER)").connection.close()

    with pytest.raises(StateError, match="older version"):
        open_state(path, read_only=True)


@pytest.mark.parametrize(
    ("query", "step"),
    [
        ("put_off_by_host", "SCAN page USING INDEX page_put_off"),
        ("n_pages_by_state", "SCAN page USING COVERING INDEX page_by_state"),
        ("moves", "SEARCH page USING INDEX page_by_state (state=? AND kind=?)"),
        ("denied", "SEARCH page USING INDEX page_by_state (state=? AND kind=?)"),
        ("gone", "SEARCH page USING INDEX page_by_state (state=? AND kind=?)"),
        ("vacated", "SEARCH page USING INDEX page_by_state (state=?)"),
        ("heads", "SEARCH page USING COVERING INDEX page_by_due (host_id=? AND tier=?)"),
        (
            "due_tiers",
            "SEARCH page USING COVERING INDEX page_by_due (host_id=? AND tier=? AND due_s<?)",
        ),
    ],
)
def test_few_pages_are_found_without_a_look_at_all(tmp_path: Path, query: str, step: str) -> None:
    """Of a million addresses that were never visited each was read, at every start and look."""
    connection = open_state(tmp_path / DATABASE)
    asked = {"host_id": None, "most": 1, "now_s": 0.0, "tiers": "[]", "due_by_s": 0.0}

    steps = connection.execute(f"EXPLAIN QUERY PLAN {queries()[query]}", asked).fetchall()

    # Newer versions of SQLite see that an index has all that is asked for, and name EXISTS.
    found = [row[3].replace(" EXISTS", "") for row in steps]
    assert step in [*found, *(one.replace("COVERING ", "") for one in found)]
    connection.close()


def test_a_visit_writes_no_index_that_its_page_stays_in_as_it_was(tmp_path: Path) -> None:
    """SQLite writes each index of a column that is set, also to what it was."""
    connection = open_state(tmp_path / DATABASE)
    roots = dict(connection.execute("SELECT rootpage, name FROM sqlite_schema WHERE rootpage > 0"))
    steps = connection.execute(f"EXPLAIN {queries()['complete']}", dict.fromkeys(COMPLETED, 1))

    written = {roots[step[3]] for step in steps if step[1] == "OpenWrite" and step[3] in roots}

    assert written == {"page", "page_by_due", "page_new", "page_put_off"}
    connection.close()


def test_what_is_nothing_or_bytes_is_bound_as_it_is(tmp_path: Path) -> None:
    """Python would look for how to adapt each of them, in vain and for longer than all the rest."""
    connection = open_state(tmp_path / DATABASE)

    kept = connection.execute("SELECT ?, ?", (None, b"s")).fetchone()

    assert kept == (None, b"s")
    assert {kind for kind, _ in sqlite3.adapters} >= {type(None), bytes}
    connection.close()


def test_every_query_can_be_prepared_and_has_its_comment_before_its_name(tmp_path: Path) -> None:
    """A misspelt column shows here, not in the night."""
    connection = open_state(tmp_path / DATABASE)
    for name, text in queries().items():
        parameters = dict.fromkeys(re.findall(r":(\w+)", text), 1)
        statement = text.split(";")[0]
        assert connection.execute(f"EXPLAIN {statement}", parameters).fetchone(), name
    connection.close()


def test_a_second_process_is_told_who_holds_the_state(tmp_path: Path) -> None:
    """And may take over as soon as the first has gone, however it went."""
    holder = (
        "import sys, pathlib; from recrawl.crawler.frontier.store import lock_state\n"
        "lock = lock_state(pathlib.Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", holder, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert other.stdout is not None
    assert other.stdout.readline() == "held\n"

    with pytest.raises(StateError, match=f"in use by process {other.pid}"):
        lock_state(tmp_path)
    assert is_held(tmp_path / "lock")  # whoever's number it is: containers have their own
    other.kill()
    other.communicate()
    assert not is_held(tmp_path / "lock")
    lock_state(tmp_path).release()


def test_files_that_another_user_left_in_a_state_are_named_with_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a crawl as root, the owner was told to run as the owner."""
    (tmp_path / "index").mkdir()
    left = tmp_path / "index" / "meta.json"
    left.touch()
    own = owner_words(tmp_path)
    told = Path.lstat
    monkeypatch.setattr(
        Path, "lstat", lambda path: SimpleNamespace(st_uid=-1) if path == left else told(path)
    )

    assert own == "run as the owner of the state directory, where it can be written"
    assert owner_words(tmp_path) == (
        f"files of another user lie there: chown -R --reference={tmp_path} {tmp_path}"
    )


def test_readers_work_beside_the_writer_and_see_what_is_committed(tmp_path: Path) -> None:
    """`recrawl status` while a crawl runs."""
    writer = SqliteFrontier(tmp_path)
    writer.admit([found("/1")], 5.0, ANY)
    reader = SqliteFrontier(tmp_path, read_only=True)
    writer.admit([found("/2")], 6.0, ANY)

    assert reader.n_pages_by_state() == {PageState.DISCOVERED: 2}
    with pytest.raises(StateError, match="readonly"):
        reader.admit([found("/3")], 7.0, ANY)
    reader.close()
    writer.close()


def test_where_nothing_was_crawled_there_is_nothing_to_read(tmp_path: Path) -> None:
    """And looking leaves nothing behind."""
    with pytest.raises(StateError, match="holds no crawl"):
        SqliteFrontier(tmp_path / "nowhere", read_only=True)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["with space", "per%cent", "que?stion", "ha#sh", "ümläut"])
def test_any_folder_name_will_do(tmp_path: Path, name: str) -> None:
    """SQLite is opened by a URI, in which some characters mean something."""
    SqliteFrontier(tmp_path / name).close()

    assert (tmp_path / name / DATABASE).exists()
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """A file lies in its place."""
    (tmp_path / "file").write_text("")

    with pytest.raises(StateError, match=r"state directory .*file"):
        SqliteFrontier(tmp_path / "file")


def test_a_new_process_has_the_leases_of_a_killed_one_back(tmp_path: Path) -> None:
    """Leases are promises of a process; its end ends them."""
    first = SqliteFrontier(tmp_path)
    first.admit([found("/1")], 0.0, ANY)
    (lost,) = first.lease(1, limit=1, due_by_s=9.0, now_s=9.0, until_s=1e9)
    first.close()

    second = SqliteFrontier(tmp_path)
    (again,) = second.lease(1, limit=1, due_by_s=9.0, now_s=9.0, until_s=1e9)

    assert again.url == lost.url
    second.close()


def test_a_lease_is_good_until_its_last_instant(tmp_path: Path) -> None:
    """Not before it lapses is the page handed out again; from then on the old one is void."""
    frontier = SqliteFrontier(tmp_path)
    frontier.admit([found("/1")], 0.0, ANY)

    def lease_at(now_s: float) -> list[int]:
        leases = frontier.lease(1, limit=5, due_by_s=now_s, now_s=now_s, until_s=now_s + 50.0)
        return [lease.token for lease in leases]

    tokens = [lease_at(10.0), lease_at(59.999), lease_at(60.0), lease_at(60.0)]

    assert [len(given) for given in tokens] == [1, 0, 1, 0]
    assert tokens[0] != tokens[2]
    frontier.close()


def test_a_state_that_is_taken_away_is_written_no_more(tmp_path: Path) -> None:
    """Neither the file that has no name any more, nor another crawl's that has the name now."""
    frontier = SqliteFrontier(tmp_path / "state")
    (tmp_path / "state").rename(tmp_path / "elsewhere")

    with pytest.raises(StateError, match="removed, moved or replaced"):
        frontier.admit([found("/1")], 0.0, ANY)
    other = SqliteFrontier(tmp_path / "state")
    with pytest.raises(StateError, match="removed, moved or replaced"):
        frontier.admit([found("/1")], 0.0, ANY)
    assert not other.n_pages_by_state()
    other.close()
    frontier.close()


def test_what_fails_half_way_leaves_nothing_behind(tmp_path: Path) -> None:
    """A batch is all or nothing, and what is counted in memory goes back too."""
    frontier = SqliteFrontier(tmp_path)
    two = AdmissionLimits(max_pages=2)

    with pytest.raises(OverflowError):
        frontier.admit([found("/1"), found("/2", depth=10**30)], 0.0, two)

    assert frontier.n_pages_by_state() == {}
    assert frontier.hosts() == []
    assert frontier.admit([found("/3"), found("/4"), found("/5")], 0.0, two) == [1]
    assert frontier.n_pages_by_state() == {PageState.DISCOVERED: 2}
    frontier.close()


def test_tables_are_exported_with_their_columns(tmp_path: Path) -> None:
    """Pages and visits, in the order in which they came."""
    frontier = SqliteFrontier(tmp_path)
    frontier.admit([found("/1"), found("/2")], 0.0, ANY)
    leases = frontier.lease(1, limit=2, due_by_s=9.0, now_s=9.0, until_s=99.0)
    frontier.complete(
        [
            PageUpdate(lease, Visit(10.0, Outcome.NEW, 200), PageState.INDEXED, due_s=20.0)
            for lease in leases
        ]
    )

    (pages,) = frontier.table("pages")
    (visits,) = frontier.table("visits")

    assert [row[0] for row in pages[1]] == [f"{A}/1", f"{A}/2"]
    assert [dict(zip(visits[0], row, strict=True))["outcome"] for row in visits[1]] == ["new"] * 2
    frontier.close()


def test_no_statement_is_prepared_anew_for_each_value_of_a_parameter() -> None:
    """SQLite does so where a bare parameter is compared with what a partial index is about."""
    indexes = [sql for sql in schema().values() if "INDEX" in sql and " WHERE " in sql]
    about = {match[1] for sql in indexes if (match := re.search(r"WHERE (\w+) = -?\d+$", sql))}

    bare = [
        name
        for name, query in queries().items()
        if any(re.search(rf"(WHERE|AND) {column} = :", query) for column in about)
    ]

    assert about == {"tier"}
    assert bare == []


def test_pages_are_leased_and_given_back_while_somebody_else_writes(tmp_path: Path) -> None:
    """Leases are no part of the file: nobody waits for them, and they wait for nobody."""
    frontier = SqliteFrontier(tmp_path)
    frontier.admit([found("/a"), found("/b")], 0.0, ANY)
    (host,) = frontier.hosts()
    writer = sqlite3.connect(tmp_path / DATABASE, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")

    leases = frontier.lease(host.host_id, limit=2, due_by_s=1.0, now_s=1.0, until_s=9.0)
    frontier.release(leases[:1])
    again = frontier.lease(host.host_id, limit=2, due_by_s=1.0, now_s=1.0, until_s=9.0)

    assert len(leases) == 2
    assert [lease.page_id for lease in again] == [leases[0].page_id]
    writer.close()
    frontier.close()


def test_parameters_in_an_order_mean_what_they_mean_by_name() -> None:
    db = sqlite3.connect(":memory:")
    by_name = "SELECT :b, CAST(:a AS TEXT), :b + :a -- of what :these are"

    ordered = numbered(by_name.partition(" --")[0], ("a", "b"))

    assert ordered == "SELECT ?2, CAST(?1 AS TEXT), ?2 + ?1"
    expected = db.execute(by_name.partition(" --")[0], {"a": 1, "b": 2}).fetchall()
    assert db.execute(ordered, (1, 2)).fetchall() == expected == [(2, "1", 3)]
    db.close()


@pytest.mark.parametrize(("name", "names"), [("add_visit", VISIT), ("complete", COMPLETED)])
def test_what_is_written_of_a_visit_has_the_order_that_it_says(
    name: str, names: tuple[str, ...]
) -> None:
    """And nothing that SQLite would have to be told how to keep."""
    lease = Lease(7, f"{A}/a", 2, 11, 1.0)
    visit = Visit(
        5.0, Outcome.CHANGED, 200, changed=True, interval_s=4.0, fetch_s=0.5, received_bytes=9,
        note="n", modified_s=3.0, seen_s=2.0,
    )  # fmt: skip
    update = PageUpdate(
        lease, visit, PageState.INDEXED, 8.0, interval_s=60.0, due_why="w", memory=b"m", failures=1,
        etag="e", last_modified="l", signature=b"s", raw_hash=b"r", title="t", redirect_url="u",
        lasting=True, read_as=6,
    )  # fmt: skip
    expected = {
        "page_id": 7, "token": 11, "tier": 8, "change": 1, "failures": 1, "state": "indexed",
        "due_s": 8.0, "due_why": "w", "memory": b"m", "told_s": 5.0, "seen_s": 2.0, "status": 200,
        "copied": 1, "visited_at_s": 5.0, "etag": "e", "last_modified": "l", "signature": b"s",
        "raw_hash": b"r", "title": "t", "redirect_url": "u", "lasting": 1, "read_as": 6,
        "outcome": "changed", "changed": 1, "interval_s": 4.0, "fetch_s": 0.5, "received_bytes": 9,
        "note": "n", "modified_s": 3.0, "kept": 0.5 ** (4.0 / HALF_LIFE_S), "exposed_s": 4.0,
    }  # fmt: skip

    row = (visit_row if names is VISIT else page_row)(update)

    assert set(names) == set(re.findall(r":(\w+)", queries()[name]))
    assert dict(zip(names, row, strict=True)) == {name: expected[name] for name in names}
    assert {type(value) for value in row} <= {int, float, str, bytes}


def test_a_plan_moves_pages_whose_due_time_has_no_reason(tmp_path: Path) -> None:
    """As states of before have them; one that is kept for a reason stays."""
    connection = open_state(tmp_path / DATABASE)
    connection.execute("INSERT INTO host (id, host) VALUES (1, 'http://a.test')")
    for page_id, why in ((1, None), (2, "kept"), (3, "the plan")):
        connection.execute(
            "INSERT INTO page (id, url, host_id, kind, state, depth, hops, weight, discovered_s, "
            "due_s, tier, due_why) VALUES (?, ?, 1, 'page', 'indexed', 0, 0, 1.0, 0.0, 5.0, 3, ?)",
            (page_id, f"{A}/{page_id}", why),
        )
        planned = {"page_id": page_id, "rate": 1.0, "due_s": 90.0, "why": "x", "own_due_s": None}
        reasons = {"kept": "kept", "beside": "beside", "widened": "widened"}
        connection.execute(
            queries()["save_crawl_rate"], planned | reasons | {"tier": 3, "known_s": 9.0}
        ).fetchall()

    due = connection.execute("SELECT due_s FROM page ORDER BY id").fetchall()
    connection.close()

    assert due == [(90.0,), (5.0,), (90.0,)]


@pytest.mark.parametrize("name", ["complete", "save_crawl_rate", "tell", "tell_importance"])
def test_what_is_run_for_each_page_builds_no_tables_of_its_own(tmp_path: Path, name: str) -> None:
    """But those by which it reads what it writes, and answers: each costs as much as the rest."""
    connection = open_state(tmp_path / DATABASE)
    asked = dict.fromkeys(re.findall(r":([a-z_]+)", queries()[name]), 1)

    steps = [row[1] for row in connection.execute(f"EXPLAIN {queries()[name]}", asked)]

    assert steps.count("OpenEphemeral") <= 3
    connection.close()
