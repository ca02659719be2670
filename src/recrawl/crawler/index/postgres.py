"""The copies of a crawl over PostgreSQL, beside its pages, searched with PostgreSQL's full text.

An owner of shards writes and compares theirs; whoever searches sees all. Longer than most, as the
port is wide.
"""

import contextlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import chain, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

import msgspec
import psycopg
from typing_extensions import override

from recrawl.crawler.control.addresses.gists import content_hash
from recrawl.crawler.control.texts.letters import may_run_on
from recrawl.crawler.control.urls import host_of
from recrawl.crawler.database.connections import (
    Connection,
    check_schema,
    connect,
    n_shards,
    translated,
)
from recrawl.crawler.database.membership import Membership
from recrawl.crawler.database.shards import shard_of
from recrawl.crawler.index.languages import AUTO, Languages
from recrawl.crawler.index.lexemes import lexemes_of
from recrawl.crawler.index.repeats.copies import Found, Group, without_copies
from recrawl.crawler.index.repeats.drawn import Parts, as_it_is
from recrawl.crawler.index.repeats.left_out import lines_of, without_lines, woven
from recrawl.crawler.index.repeats.table_shelf import TableShelf
from recrawl.crawler.index.searching.passages import best_passage
from recrawl.crawler.index.searching.queries import read_query
from recrawl.crawler.index.searching.ranking import MOST_TOKENS, Question, Ranking, told_of
from recrawl.crawler.index.searching.snippets import beginnings
from recrawl.crawler.index.searching.spelling import respelled
from recrawl.crawler.index.searching.sql_queries import SqlQueries
from recrawl.crawler.index.searching.titles import told_apart
from recrawl.crawler.index.words import LANGUAGES, SPACED, stems
from recrawl.crawler.ports import ChanceLearner, PageIndex
from recrawl.errors import StateError
from recrawl.terms import About, Database, Document, Hit
from recrawl.uptime import monotonic_s

if TYPE_CHECKING:
    from recrawl.crawler.index.repeats.own_text import OwnText

_COLUMNS: Final = (
    "url, title, text, fetched_at_s, signature, headings, language, markdown, about, left_out"
)
_REPLACED: Final = (
    "title", "text", "left_out", "fetched_at_s", "signature", "headings", "language", "markdown",
    "about", "words", "named", "n_words", "content",
)  # fmt: skip
_BATCH: Final = 200
_BEFORE: Final = 50  # copies of another version, of a commit
_WORDS_AT_HAND: Final = 200_000
_EXACT: Final = 10_000  # copies; more are as many as the server thinks
_FRESH_S: Final = 600.0
_RANKED: Final = 1_000  # of what a query finds: those with its words in their titles and headings
_SAME_URL: Final = "md5(url)::uuid = md5(%(url)s)::uuid AND url = %(url)s"


class PostgresIndex(PageIndex, ChanceLearner):
    """Holds the copies of one database.

    Parameters
    ----------
    database : shared with the state
    membership : whose shards are written and compared; None: all are read, and nothing is written
    within : a connection whose transaction the copies are written in, by whoever moves a state
    language : of the stemmer, one of ``LANGUAGES``, or "auto": each page's own, English where that
        is not known; kept in the database with the first copy
    mark : makes of lines what is the same where they say the same
    """

    def __init__(
        self,
        database: Database,
        membership: Membership | None = None,
        *,
        language: str = "auto",
        within: Connection | None = None,
        mark: Callable[[str], bytes] = as_it_is,
    ) -> None:
        self._database, self._membership = database, membership
        self._pending: dict[str, Document | None] = {}
        self._languages = Languages()
        self._vocabulary: set[str] = set()  # of what is being written
        self._in_vocabulary: set[str] = set()  # some of what the database has
        self._sizes: tuple[float, int, float] | None = None  # since when; copies, and their words
        self._writes = self._has_before = membership is not None or within is not None
        self._db: Connection = within or (
            membership.connected("index") if membership else connect(database, name="recrawl index")
        )
        try:
            check_schema(self._db, database)
            self._shards = n_shards(self._db)
            self._speak(language)
        except BaseException:
            self._db.close()
            raise
        self._mark = mark

    @cached_property
    def own_text(self) -> "OwnText":
        """Learner of what hosts repeat and show by chance; searches load none of it."""
        from recrawl.crawler.index.repeats.host_lines import HostLines
        from recrawl.crawler.index.repeats.own_text import OwnText

        return OwnText(
            TableShelf(self._db, self._database, "repeated", HostLines),
            TableShelf(self._db, self._database, "drawn", Parts),
            self._mark,
        )

    def _speak(self, language: str) -> None:
        """Go by the rules of a language: those that the first copy was written by."""
        if self._writes:
            self._rows(
                "INSERT INTO label VALUES ('language', %s) ON CONFLICT (name) DO NOTHING "
                "RETURNING 1",
                language,
            )
        rows = self._rows("SELECT value FROM label WHERE name = 'language'")
        chosen = str(rows[0][0]) if rows else language
        self._per_page = chosen == AUTO
        self._stems = stems(chosen if chosen in LANGUAGES else "english")

    def _rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with translated(self._database):
            return self._db.execute(query.encode(), values).fetchall()

    # -- writing --

    @override
    def replace(self, document: Document) -> None:
        self.own_text.learn(document)
        self._pending[document.url] = document

    @override
    def remove(self, url: str) -> None:
        self._pending[url] = None

    def bring(self, documents: Iterable[Document]) -> int:
        """Hold whole copies of another index, of which nothing is learned; return how many."""
        n = 0
        for n, document in enumerate(documents, start=1):
            self._pending[document.url] = document
            if n % _BATCH == 0:
                self._commit()
        self._commit(now=True)
        return n

    @override
    def commit(self) -> None:
        for document in chain(self.own_text.to_part_again(self.whole), self._before()):
            self._pending.setdefault(document.url, document)  # which may be to be removed
        if self._pending:
            self._commit()

    def _before(self) -> Iterator[Document]:
        """Iterate over some copies of another version, to be searched by the rules of this one."""
        if not self._has_before or self._membership is None:
            return
        query = "SELECT url FROM document WHERE named IS NULL AND shard = ANY(%s) LIMIT %s"
        rows = self._rows(query, self._compared(), _BEFORE)
        self._has_before = len(rows) == _BEFORE
        for (url,) in rows:
            document = self.whole(url)
            if document is not None:
                self.own_text.learn(document)
                yield document

    def _commit(self, *, now: bool = False) -> None:
        assert self._writes, "who owns no shard writes no copy"
        kept = [document for document in self._pending.values() if document is not None]
        gone = [url for url, document in self._pending.items() if document is None]
        self._vocabulary.clear()

        def bring() -> None:
            with self._db.transaction():
                if self._membership is not None:
                    self._membership.fence(self._db)
                if gone:
                    self._db.execute(
                        "DELETE FROM document USING unnest(%s::text[]) AS gone (url) WHERE "
                        "md5(document.url)::uuid = md5(gone.url)::uuid AND document.url = gone.url",
                        (gone,),
                    )
                rest = iter(kept)
                while batch := list(islice(rest, _BATCH)):
                    self._write(batch)
                self._add_words()
                self.own_text.save(now=now)

        if self._membership is None:
            with translated(self._database):
                bring()
        else:
            self._membership.room.awaited(self._database, bring)
        if len(self._in_vocabulary) > _WORDS_AT_HAND:
            self._in_vocabulary.clear()
        self._in_vocabulary |= self._vocabulary
        self._pending.clear()

    def _add_words(self) -> None:
        """Add new words, in order: two processes would wait for each other."""
        new = sorted(_clean(one) for one in self._vocabulary - self._in_vocabulary)
        self._db.execute(
            b"INSERT INTO word SELECT unnest(%s::text[]) ON CONFLICT DO NOTHING", (new,)
        )

    def _write(self, batch: list[Document]) -> None:
        columns = [list(column) for column in zip(*map(self._row, batch), strict=True)]
        columns[6] = ["\n".join(headings) for headings in columns[6]]
        self._db.execute(
            "INSERT INTO document (shard, host, url, title, text, language, headings, signature, "
            "fetched_at_s, markdown, about, left_out, words, named, n_words, content) "
            "SELECT shard, host, url, title, text, language, string_to_array(headed, E'\\n'), "
            "signature, fetched_at_s, markdown, about, left_out, words, named, n_words, content "
            "FROM unnest(%s::int[], %s::text[], %s::text[], %s::text[], %s::text[], %s::text[], "
            "%s::text[], %s::bytea[], %s::float8[], %s::text[], %s::text[], %s::text[], "
            "%s::tsvector[], %s::tsvector[], %s::int[], %s::bigint[]) AS told (shard, host, url, "
            "title, text, language, headed, signature, fetched_at_s, markdown, about, left_out, "
            "words, named, n_words, content) "
            "ON CONFLICT ((md5(url)::uuid)) DO UPDATE SET "
            + ", ".join(f"{name} = excluded.{name}" for name in _REPLACED),
            columns,
        )

    def _row(self, document: Document) -> tuple[Any, ...]:
        host, parted = host_of(document.url), self.own_text.parted(document)
        about = None if document.about is None else msgspec.json.encode(document.about).decode()
        language = self._languages.of(document) if self._per_page else None
        told = lexemes_of(
            document, parted, self._stems, None if language == "english" else language
        )
        self._vocabulary.update(told.vocabulary)
        return (
            shard_of(host, self._shards), host.partition("://")[2], document.url,
            _clean(document.title), _clean(parted.text), _clean(document.language),
            [_clean(heading) for heading in document.headings],
            document.signature, document.fetched_at_s, _clean(document.markdown),
            None if about is None else _clean(about), _clean(parted.kept), _clean(told.all),
            _clean(told.named), told.n_words, _signed(content_hash(document.title, parted.text)),
        )  # fmt: skip

    # -- what is held --

    @override
    def copy(self, url: str) -> Document | None:
        held = self._held(url)
        if held is None:
            return None
        document, kept = held
        left_out, told = lines_of(kept), document.markdown
        markdown = without_lines(told, left_out, document.text) if left_out else told
        return replace(document, markdown=markdown)

    def whole(self, url: str) -> Document | None:
        """Return a copy as it was given."""
        held = self._held(url)
        if held is None:
            return None
        document, kept = held
        return replace(document, text=woven(document.text, kept))

    def _held(self, url: str) -> tuple[Document, str] | None:
        query = f"SELECT {_COLUMNS} FROM document WHERE {_SAME_URL}"
        with translated(self._database):
            row = self._db.execute(query.encode(), {"url": url}).fetchone()
        if row is None:
            return None
        url, title, text, fetched_at_s, signature, headings, said, markdown, about, kept = row
        known = None if about is None else msgspec.json.decode(about, type=About)
        held = Document(
            url, title, text, fetched_at_s, signature, tuple(headings), said, (), markdown, known
        )
        return held, kept

    @override
    def signature(self, url: str) -> bytes | None:
        query = f"SELECT signature FROM document WHERE {_SAME_URL}"
        with translated(self._database):
            row = self._db.execute(query.encode(), {"url": url}).fetchone()
        return None if row is None else bytes(row[0])

    @override
    def same(self, document: Document) -> bool:
        held = self._held(document.url)
        if held is None:
            return False
        copy, kept = held
        return self.own_text.same(document, copy.title, copy.text, kept)

    @override
    def learn_drawn(self, document: Document, again: str) -> None:
        self.own_text.learn_drawn(document, again)

    @override
    def difference(self, document: Document) -> str | None:
        held = self._held(document.url)
        if held is None:
            return None
        copy, kept = held
        return self.own_text.difference(document, copy.title, copy.text, kept)

    @override
    def edit(self, document: Document) -> str | None:
        held = self._held(document.url)
        return None if held is None else self.own_text.edit(document, held[0].text, held[1])

    def _compared(self) -> Collection[int] | None:
        member = self._membership
        return None if member is None else list(member.owned.keys() - member.awaited)

    @override
    def urls(self) -> Iterator[tuple[str, bytes]]:
        query = "SELECT url, signature FROM document WHERE %s::int[] IS NULL OR shard = ANY(%s)"
        shards = self._compared()
        with (
            translated(self._database),
            self._db.transaction(),
            psycopg.ServerCursor(self._db, "copies") as cursor,
        ):
            for url, signature in cursor.execute(query, (shards, shards), binary=True):
                yield url, bytes(signature)

    @override
    def n_documents(self) -> int:
        shards = self._compared()
        query = "SELECT count(*) FROM document WHERE %s::int[] IS NULL OR shard = ANY(%s)"
        return int(self._rows(query, shards, shards)[0][0])

    # -- searching --

    @override
    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        offset: int = 0,
        host: str | None = None,
        fetched_since_s: float | None = None,
    ) -> tuple[int, list[Hit]]:
        queries = self._queries()
        question = self._read(query, queries)
        if question is None:
            return 0, []
        values: dict[str, object] = {"query": question.ranked.found_by}
        where = "words @@ %(query)s::tsquery"
        if host is not None:
            where += " AND host = %(host)s"
            values["host"] = host
        if fetched_since_s is not None:
            where += " AND fetched_at_s >= %(since)s"
            values["since"] = fetched_since_s
        (total,) = self._ask(f"SELECT count(*) FROM document WHERE {where}", values)[0]
        ranked: list[Found] = []

        def look(most: int) -> tuple[int, list[Found]]:
            nonlocal ranked
            if not ranked or _RANKED <= len(ranked) < min(most, total):
                ranked = self._ranked(queries, question, where, values, max(most, _RANKED))
            return total, ranked[:most]

        def text_of(held: tuple[str, str, float, str]) -> str:
            copy = self._held(held[0])
            return "" if copy is None else copy[0].text

        first = min(offset, total)
        n, groups = without_copies(look, itemgetter(0), text_of, first + limit)
        words = beginnings(question.words, self._stems, MOST_TOKENS)
        return n, told_apart(_hit(group, words, text_of) for group in groups[first:])

    def _ranked(
        self,
        queries: SqlQueries,
        question: Question,
        where: str,
        values: dict[str, object],
        most: int,
    ) -> list[Found]:
        """Return the pages that a query finds, best first; of very many, the likeliest.

        These are pages with its words in their titles, headings and names.
        """
        asked = values | {"most": most, "mean_words": self._size()[1]}
        looks = []
        for (expression, lexemes), row in queries.looked_at.items():
            looks.append(expression.replace("?", f"%(look_{row})s::tsquery"))
            asked[f"look_{row}"] = lexemes
        any_of = {lexemes for _, lexemes in queries.looked_at if lexemes}
        asked["any"] = " | ".join(any_of)
        first = (
            "SELECT url, title, fetched_at_s, headings, content, n_words, words, "
            f"COALESCE(named, '') AS named FROM document WHERE {where} "
            "ORDER BY ts_rank(COALESCE(named, ''), %(any)s::tsquery) DESC LIMIT %(most)s"
        )
        # Long vectors are unpacked once, and only of those that are ranked.
        unpacked = (
            "SELECT url, title, fetched_at_s, headings, content, n_words, named, words || "
            "''::tsvector AS long, %(mean_words)s::float8 AS mean_words "
            f"FROM ({first} OFFSET 0) AS found OFFSET 0"
        )
        rows = self._ask(
            "SELECT url, title, fetched_at_s, headings[1], COALESCE(content, 0), "
            f"ARRAY[{', '.join(looks)}]::float4[] FROM ({unpacked}) AS held",
            asked,
        )
        found = [
            Found(question.ranked.worth(told), content, (url, title, fetched_at_s, heading or ""))
            for url, title, fetched_at_s, heading, content, told in rows
        ]
        return sorted(found, key=lambda one: (-one.score, one.held[0]))

    def _read(self, query: str, queries: SqlQueries) -> Question | None:
        spoken: list[Any] = []
        if self._per_page:
            others = [one for one in LANGUAGES if one not in ("english", "none")]
            pages = queries.counted(f"g {one}" for one in others)
            spoken = [stems(one) for one in others if pages[f"g {one}"]]
        return Ranking(queries, self._stems, spoken).read(read_query(query))

    def _queries(self) -> SqlQueries:
        return SqlQueries(self._ask, self._stems, self._size()[0])

    def _size(self) -> tuple[int, float]:
        """Return about how many copies there are, and how many words the text of one has."""
        now_s = monotonic_s()
        if self._sizes is None or now_s > self._sizes[0] + _FRESH_S or self._sizes[1] < _EXACT:
            told = "SELECT reltuples::bigint FROM pg_class WHERE oid = 'document'::regclass"
            n = int(self._rows(told)[0][0])
            if n < _EXACT:
                n = int(self._rows("SELECT count(*) FROM document")[0][0])
            some = (
                "SELECT COALESCE(avg(n_words), 0)::float8 FROM "
                "(SELECT n_words FROM document LIMIT 1000) AS held"
            )
            self._sizes = now_s, n, float(self._rows(some)[0][0])
        return self._sizes[1:]

    def _ask(self, query: str, values: dict[str, object]) -> list[tuple[Any, ...]]:
        """Ask for what is found by words; the server reads no table from end to end for that."""
        with translated(self._database), self._db.transaction():
            self._db.execute("SET LOCAL enable_seqscan = off")
            # Machine code for a statement of milliseconds takes fifty of them.
            self._db.execute("SET LOCAL jit = off")
            return self._db.execute(query.encode(), values).fetchall()

    @override
    def misread(self, query: str) -> list[str]:
        question = self._read(query, self._queries())
        corrected = question.corrected if question is not None else ()
        return [*read_query(query).notes, *map(told_of, corrected)]

    @override
    def suggest(self, query: str) -> str | None:
        return respelled(query, self._queries().words)

    def settle(self) -> None:
        """Have the database hold all that was learned of hosts, as long as shards are owned.

        To be called before some are given back.

        Raises
        ------
        StateError
            The database is away, or another process has taken this one's place.
        """
        if self._membership is not None:
            with translated(self._database), self._db.transaction():
                self._membership.fence(self._db)
                self.own_text.settle()

    @override
    def close(self) -> None:
        self._pending.clear()
        with contextlib.suppress(StateError):  # it is learned again
            self.settle()
        self._db.close()


def _clean(text: str) -> str:
    """Leave out the one sign that no text of PostgreSQL may hold."""
    return text.replace("\0", "")


def _signed(number: int) -> int:
    """Return a number of 64 bits as the server's integers are."""
    return number - 2**64 if number >= 2**63 else number


def _hit(group: Group, words: list[str], text_of: Callable[[Any], str]) -> tuple[Hit, str]:
    """Return the copy with the shortest address, the addresses of the others, its first heading."""
    first, *others = sorted(group.held, key=lambda held: (len(held[0]), held[0]))
    url, title, fetched_at_s, heading = first
    snippet = best_passage(text_of(first), words)
    # Where words run on, nothing tells where one begins or ends.
    looked_for = [
        re.escape(word) if may_run_on(word) else rf"(?<!{SPACED}){re.escape(word)}{SPACED}*"
        for word in words
        if word
    ]
    marks = re.finditer("|".join(looked_for), snippet, re.IGNORECASE) if looked_for else ()
    highlights = tuple(mark.span() for mark in marks)
    copies = tuple(str(held[0]) for held in others)
    return Hit(url, title, snippet, highlights, group.score, fetched_at_s, copies), heading
