"""The adapters over PostgreSQL, through the same suites as all others, on a real server."""

import contextlib
import os
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from tests.databases import Server, databases

from recrawl.crawler.control.addresses.yields import LITTLE
from recrawl.crawler.database.membership import Membership
from recrawl.crawler.database.shards import shard_of
from recrawl.crawler.frontier.postgres import copying
from recrawl.crawler.frontier.postgres.loading import Loading, private_copy
from recrawl.crawler.frontier.postgres.owned import PostgresFrontier
from recrawl.crawler.frontier.postgres.reading import PostgresReader
from recrawl.crawler.frontier.postgres.tables import KEPT
from recrawl.crawler.index.postgres import PostgresIndex
from recrawl.crawler.ports import AdmissionLimits, Frontier, PageIndex
from recrawl.errors import StateError, UnusableDatabase
from recrawl.terms import Discovery, Document, Kind, Outcome, PageState, PageUpdate, Visit
from recrawl.testing.conformance import FeedSuite, FrontierSuite, IndexSuite

__all__ = ["databases"]

HOST = "http://a.test"


def _bytes_of_copies() -> int:
    """Return the size of what this process's copies have written to their files."""
    sizes = []
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            if "recrawl-copy-" in os.readlink(f"/proc/self/fd/{number}"):
                sizes.append(os.stat(int(number)).st_size)
    return sum(sizes)


class OverPostgres:
    """One process that owns every shard; afterwards the database says what its copy says."""

    @pytest.fixture(autouse=True)
    def _server(self, databases: Server) -> Iterator[None]:
        self._databases = databases
        yield
        self._made.settle()
        again = private_copy(2**20)
        loading = Loading(again, self._made._connection, self._membership)
        deque(loading.loading(self._membership.owned), maxlen=0)
        loading.bring_hosts(self._membership.owned)
        for table in KEPT:
            rows = f"SELECT {', '.join(table.columns)} FROM {table.name}"
            if table.name == "asked":
                rows += " WHERE outcome IS NULL AND page_id IS NOT NULL"
            rows += " ORDER BY 1"
            assert again.execute(rows).fetchall() == self._made._db.execute(rows).fetchall()
        again.close()
        self._made.close()
        self._membership.close()

    def make(self, directory: Path) -> Frontier:
        self._membership = Membership(self._databases.made(3), shards=3)
        self._membership.join("http://a.test/")
        self._membership.take(3)
        self._made = PostgresFrontier(self._membership)
        return self._made


class TestPostgresFrontier(OverPostgres, FrontierSuite):
    forgets = False

    @pytest.fixture
    def frontier(self, tmp_path: Path) -> Frontier:
        """Give an empty frontier, to be looked at once more before it is closed."""
        return self.make(tmp_path)

    def test_what_no_text_of_the_database_may_hold_is_left_out(self, frontier: Frontier) -> None:
        """A server may send it in whatever becomes a note."""
        frontier.admit([Discovery(f"{HOST}/a", HOST)], 0.0, AdmissionLimits())
        (host,) = frontier.hosts()
        (lease,) = frontier.lease(host.host_id, limit=1, due_by_s=9.0, now_s=1.0, until_s=9.0)
        visit = Visit(2.0, Outcome.FAILED, note="a\0\\b\tc\nd")
        frontier.complete([PageUpdate(lease, visit, PageState.DISCOVERED, 5.0)], 2.0)

        reader = PostgresReader(self._membership.database)
        told = reader.details(f"{HOST}/a")
        reader.close()
        assert told is not None
        assert [one.note for one in told.recent] == ["a\\b\tc\nd"]

    def test_a_database_without_the_functions_that_write_is_half_made(
        self, frontier: Frontier
    ) -> None:
        """As where tables alone were brought back."""
        with psycopg.connect(self._membership.database.address, autocommit=True) as connection:
            connection.execute("DROP FUNCTION write_pages")
        with pytest.raises(UnusableDatabase, match=r"has not all .* restore a backup"):
            frontier.admit([Discovery(f"{HOST}/a", HOST)], 0.0, AdmissionLimits())
        with psycopg.connect(self._membership.database.address, autocommit=True) as connection:
            connection.execute("SELECT make_writers()")
        self._made.close()
        self._made = PostgresFrontier(self._membership)

    def test_what_a_server_refuses_is_said_without_the_function_that_wrote(
        self, frontier: Frontier
    ) -> None:
        with psycopg.connect(self._membership.database.address, autocommit=True) as connection:
            connection.execute(
                "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
                "$$ BEGIN RAISE 'no room'; END $$; CREATE TRIGGER refuse BEFORE INSERT ON page "
                "FOR EACH ROW EXECUTE FUNCTION refuse()"
            )
        with pytest.raises(StateError, match=r"no room$"):
            frontier.admit([Discovery(f"{HOST}/a", HOST)], 0.0, AdmissionLimits())
        self._made.close()
        self._made = PostgresFrontier(self._membership)

    def test_more_than_one_statement_takes_is_written_with_several(
        self, frontier: Frontier, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Of each table its own number; what the database says then is compared as ever."""
        monkeypatch.setattr(copying, "_BATCH", 3)
        found = [Discovery(f"{HOST}/{number}", HOST) for number in range(8)]
        frontier.admit(found, 0.0, AdmissionLimits())
        (host,) = frontier.hosts()
        leases = frontier.lease(host.host_id, limit=8, due_by_s=9.0, now_s=1.0, until_s=9.0)
        frontier.begin_indexing([lease.page_id for lease in leases[:4]])
        visit = Visit(2.0, Outcome.NEW, 200, interval_s=5.0)
        frontier.complete(
            [
                PageUpdate(lease, visit, PageState.INDEXED, 5.0, signature=b"s")
                for lease in leases[:7]
            ],
            2.0,
        )

        reader = PostgresReader(self._membership.database)
        assert sum(reader.n_visits_by_outcome().values()) == 7
        assert reader.n_pages_by_state() == {PageState.INDEXED: 7, PageState.DISCOVERED: 1}
        assert reader.feed.last() == 7
        assert reader.in_indexing() == []
        reader.close()

    def test_of_a_copy_only_what_memory_has_no_room_for_is_written_to_its_file(
        self, frontier: Frontier
    ) -> None:
        """All of it is there, and a file that nobody reads takes half of the time."""
        self._made.close()
        written = []
        for memory_bytes in (2**26, 2**20):
            frontier = self._made = PostgresFrontier(self._membership, memory_bytes=memory_bytes)
            name = f"{memory_bytes}" * 10
            found = [Discovery(f"{HOST}/{name}/{number}", HOST) for number in range(3_000)]
            frontier.admit(found, 0.0, AdmissionLimits())
            (host,) = frontier.hosts()
            leases = frontier.lease(host.host_id, limit=50, due_by_s=9.0, now_s=1.0, until_s=9.0)
            visit = Visit(2.0, Outcome.NEW, 200)
            frontier.complete([PageUpdate(one, visit, PageState.INDEXED, 50.0) for one in leases])
            assert sum(1 for one in found if frontier.details(one.url) is not None) == 3_000
            written.append(_bytes_of_copies())
            if memory_bytes == 2**26:
                frontier.close()

        assert written[0] == 0 < written[1]
        assert frontier.n_pages_by_state() == {PageState.INDEXED: 100, PageState.DISCOVERED: 5_900}

    def test_what_others_have_put_off_is_no_part_of_the_pages_of_a_process(
        self, frontier: Frontier
    ) -> None:
        """Its progress counts its own pages; whoever looks at the whole crawl sees all."""
        hosts = [f"http://{name}.test" for name in "abcdef"]
        frontier.admit([Discovery(f"{host}/a", host) for host in hosts], 0.0, AdmissionLimits())
        frontier.refuse({(hosts[0], "too-fast"): 2})
        for record in frontier.hosts():
            leases = frontier.lease(record.host_id, limit=1, due_by_s=9.0, now_s=1.0, until_s=9.0)
            frontier.put_off([(lease, 500.0) for lease in leases], LITTLE)
        all_of_them = frontier.refused()
        shards = {shard_of(host, 3) for host in hosts}
        kept = min(shards)
        mine = [host for host in hosts if shard_of(host, 3) == kept]
        self._made.own({kept: 0.0})

        assert len(shards) > 1
        assert len(all_of_them) == 7
        assert frontier.refused() == [
            (hosts[0], "too-fast", 2), *((host, "low-yield", 1) for host in mine)
        ]  # fmt: skip
        reader = PostgresReader(self._membership.database)
        assert reader.refused() == all_of_them
        reader.close()
        self._made.own(dict.fromkeys(range(3), 0.0))


class TestPostgresFeed(OverPostgres, FeedSuite):
    @pytest.fixture
    def frontier(self, tmp_path: Path) -> Frontier:
        """Give a frontier that knows some pages, to be looked at once more."""
        made = self.make(tmp_path)
        found = [Discovery(f"{HOST}/{name}", HOST) for name in "abc"]
        found.append(Discovery(f"{HOST}/map.xml", HOST, Kind.SITEMAP))
        made.admit(found, 0.0, AdmissionLimits())
        return made


class TestPostgresIndex(IndexSuite):
    @pytest.fixture(autouse=True)
    def _server(self, databases: Server) -> Iterator[None]:
        self._databases = databases
        yield
        self._membership.close()

    def make(self, directory: Path) -> PageIndex:
        self._membership = Membership(self._databases.made(3), shards=3)
        self._membership.join("http://a.test/")
        self._membership.take(3)
        return PostgresIndex(self._membership.database, self._membership)

    def test_more_words_than_the_server_holds_are_searched_by_the_first(
        self, tmp_path: Path
    ) -> None:
        """A long list of names in a script of three bytes a letter; the copy has all of it."""
        names = " ".join(
            "".join(chr(0x4E00 + number // 20_000**place % 20_000) for place in range(2, -1, -1))
            for number in range(75_000)
        )
        index = self.make(tmp_path)
        long = Document(f"{HOST}/names", "Names", f"harbour {names}", 1.0, b"s", (names[:90_000],))
        index.replace(Document(f"{HOST}/other", "Other", "harbour", 1.0, b"s"))
        index.replace(long)
        index.commit()

        assert {hit.url for hit in index.search("harbour")[1]} == {f"{HOST}/names", f"{HOST}/other"}
        assert index.copy(f"{HOST}/names") == long
        assert index.search(names[:3])[0] == 1
        index.close()

    def test_the_next_owner_knows_what_hosts_repeat(self, tmp_path: Path) -> None:
        """Kept at the end, but not by a process that another one has replaced."""
        index = self.make(tmp_path)
        pages = [
            Document(
                f"{HOST}/{n}",
                "A",
                f"Home\nMenu\nWhat happened to {n} is told.\nFoot\nEnd",
                1.0,
                b"s",
            )
            for n in range(12)
        ]
        told = []
        for is_ended in (True, False):
            for page in pages:
                index.replace(page)
            index.commit()
            if is_ended:
                self._membership.leave()
            index.close()
            if is_ended:
                self._membership.join("http://a.test/")
                self._membership.take(3)
            index = PostgresIndex(self._membership.database, self._membership)
            fresh = Document(
                f"{HOST}/new", "A", "Home\nMenu\nThis is told, too.\nFoot\nEnd", 1.0, b"s"
            )
            index.replace(fresh)
            index.commit()
            copy = index.copy(fresh.url)
            told.append("" if copy is None else copy.text)
        index.close()

        assert told == [fresh.text, "This is told, too."]

    def test_a_search_reads_nothing_that_waits_to_be_sorted_in(self, tmp_path: Path) -> None:
        """Each of hundreds of looks would; nor is a look made machine code, which takes longer."""
        index = self.make(tmp_path)
        for n in range(50):
            index.replace(Document(f"{HOST}/{n}", f"Tale {n}", f"told by {n}", 1.0, b"s"))
        index.commit()

        with psycopg.connect(self._membership.database.address) as db:
            told = db.execute("SELECT gin_clean_pending_list('document_by_words')").fetchall()
        assert told == [(0,)]
        assert isinstance(index, PostgresIndex)
        assert index._ask("SELECT current_setting('jit')", {}) == [("off",)]
        index.close()

    def test_words_are_stemmed_by_the_language_of_their_page(self, tmp_path: Path) -> None:
        """In one table, side by side; also for who only reads."""
        german = "Die Häuser der Gärtner stehen am Ufer, und abends gehen die Kinder heim. " * 4
        english = "The houses of the gardeners stand by the river, where children walk. " * 4
        index = self.make(tmp_path)
        for name, text in (("german", german), ("english", english)):
            index.replace(Document(f"{HOST}/{name}", name, text, 1.0, b"s"))
        index.commit()
        reader = PostgresIndex(self._membership.database)

        for one in (index, reader):
            for query, found in (("Haus Kind", "german"), ("walking gardener", "english")):
                assert [hit.title for hit in one.search(query)[1]][:1] == [found]
            one.close()

    def test_copies_of_another_version_are_taken_along(self, tmp_path: Path) -> None:
        """Some with each commit, and not those of another owner."""
        index = self.make(tmp_path)
        for n in range(60):
            index.replace(Document(f"{HOST}/{n}", f"Tale {n}", "told by gardeners", 1.0, b"s"))
        index.commit()
        with psycopg.connect(self._membership.database.address) as db:
            db.execute("UPDATE document SET named = NULL, words = to_tsvector('simple', text)")
            db.execute("UPDATE document SET shard = 99 WHERE url LIKE '%/1'")
        index.close()
        index = PostgresIndex(self._membership.database, self._membership)

        found = [index.search("gardener")[0]]
        for _ in range(3):
            index.commit()
            found.append(index.search("gardener")[0])
        index.close()

        assert found == [0, 50, 59, 59]

    def test_what_hosts_repeat_is_learned_from_copies_of_another_version(
        self, tmp_path: Path
    ) -> None:
        """Of pages that do not change it would never be."""
        index = self.make(tmp_path)
        for name in "abcdefghijklmnopqrst":
            text = f"Home\nMenu\nThe story of {name} is told.\nFoot\nEnd"
            index.replace(Document(f"{HOST}/{name}", "A", text, 1.0, b"s"))
        index.commit()
        with psycopg.connect(self._membership.database.address) as db:
            db.execute(
                "UPDATE document SET named = NULL, left_out = '', text = "
                "concat_ws(E'\\n', 'Home', 'Menu', text, 'Foot', 'End') WHERE left_out <> ''"
            )
            db.execute("UPDATE document SET named = NULL")
            db.execute("DELETE FROM host_notes")
        self._membership.leave()
        index.close()
        self._membership.join("http://a.test/")
        self._membership.take(3)
        index = PostgresIndex(self._membership.database, self._membership)
        index.commit()
        index.commit()
        told = [copy.text for url, _ in list(index.urls()) if (copy := index.copy(url))]
        index.close()

        assert sorted(told) == [f"The story of {name} is told." for name in "abcdefghijklmnopqrst"]

    def test_what_was_not_written_after_all_is_written_by_the_next_commit(
        self, tmp_path: Path
    ) -> None:
        """Words that are typed in part are found by a table of their own."""
        index = self.make(tmp_path)
        for n in range(20):
            index.replace(Document(f"{HOST}/{n}", f"Lantern {n}", "told", 1.0, b"s"))
        with psycopg.connect(self._membership.database.address, autocommit=True) as db:
            db.execute("ALTER TABLE host_notes RENAME TO away")
            with pytest.raises(StateError):
                index.commit()
            db.execute("ALTER TABLE away RENAME TO host_notes")
        before = index.n_documents()
        index.commit()

        assert (before, index.n_documents()) == (0, 20)
        assert index.search("lant")[0] == 20
        index.close()
