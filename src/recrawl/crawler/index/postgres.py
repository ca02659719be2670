"""The copies of a crawl over PostgreSQL, beside its pages, searched with PostgreSQL's full text.

Words count as they are and by their stems, in titles most and in headings more than in the text.
An owner of shards writes and compares theirs; whoever searches sees all. Longer than most, as the
statements of what is written and of what is searched lie beside what they are for.
"""

import contextlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from operator import itemgetter
from typing import Any, Final

import msgspec
import psycopg
from typing_extensions import override

from recrawl.crawler.control.gists import content_hash
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
from recrawl.crawler.index.boilerplate import HostLines, without_lines
from recrawl.crawler.index.copies import Found, Group, without_copies
from recrawl.crawler.index.drawn import Parts, as_it_is
from recrawl.crawler.index.own_text import OwnText
from recrawl.crawler.index.passages import best_passage
from recrawl.crawler.index.queries import ReadQuery, Wanted, read_query
from recrawl.crawler.index.spelling import respelled
from recrawl.crawler.index.table_shelf import TableShelf
from recrawl.crawler.index.titles import told_apart
from recrawl.crawler.ports import ChanceLearner, PageIndex
from recrawl.errors import StateError
from recrawl.terms import About, Database, Document, Hit

__all__ = ["PostgresIndex"]

_COLUMNS: Final = (
    "url, title, text, fetched_at_s, signature, headings, language, markdown, about, left_out"
)
_REPLACED: Final = (
    "title", "text", "left_out", "fetched_at_s", "signature", "headings", "language", "markdown",
    "about", "words", "stems",
)  # fmt: skip
_LONGEST: Final = 300_000  # characters of a text that are searched: the server's own bound is near
_SHORTER: Final = 4  # times, where the words of a copy are beyond that bound
_BATCH: Final = 200
_SAME_URL: Final = "md5(url)::uuid = md5(%(url)s)::uuid AND url = %(url)s"
_WORDS: Final = (
    "setweight(to_tsvector({how}, left(title, {most})), 'A') || "
    "setweight(to_tsvector({how}, left(array_to_string(headings, ' '), {most})), 'B') || "
    "setweight(to_tsvector({how}, left(text || E'\\n' || own, {most})), 'D')"
)
_WORD: Final = re.compile(r"\w+")
_WEIGHTS: Final = "{0.1, 0.3, 0.6, 1.0}"  # of the text, nothing, headings, the title


class PostgresIndex(PageIndex, ChanceLearner):
    """Holds the copies of one database.

    Parameters
    ----------
    database : shared with the state
    membership : whose shards are written and compared; None: all are read, and nothing is written
    within : a connection whose transaction the copies are written in, by whoever moves a state
    language : of the texts, as PostgreSQL's configurations of full text are called; "auto" and
        "none" go by words as they are, and English stems for "auto"
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
        self._writes = membership is not None or within is not None
        self._db: Connection = within or (
            membership.connected("index") if membership else connect(database, name="recrawl index")
        )
        try:
            check_schema(self._db, database)
            self._shards = n_shards(self._db)
            self._stems = self._configuration(language)
            self.own_text = OwnText(
                TableShelf(self._db, database, "repeated", HostLines),
                TableShelf(self._db, database, "drawn", Parts),
                mark,
            )
        except BaseException:
            self._db.close()
            raise

    def _configuration(self, language: str) -> str:
        """Return what the stems go by: fixed with the first copy that is written."""
        wanted = {"auto": "english", "none": "simple"}.get(language, language)
        if self._writes:
            known = self._rows("SELECT 1 FROM pg_ts_config WHERE cfgname = %s", wanted)
            self._rows(
                "INSERT INTO label VALUES ('stems', %s) ON CONFLICT (name) DO NOTHING RETURNING 1",
                wanted if known else "simple",
            )
        rows = self._rows("SELECT value FROM label WHERE name = 'stems'")
        return str(rows[0][0]) if rows else "simple"

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
        self.own_text.forget(url)
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
        for document in self.own_text.to_part_again(self.whole):
            self._pending.setdefault(document.url, document)
        if self._pending:
            self._commit()

    def _commit(self, *, now: bool = False) -> None:
        assert self._writes, "who owns no shard writes no copy"
        kept = [document for document in self._pending.values() if document is not None]
        gone = [url for url, document in self._pending.items() if document is None]
        with translated(self._database), self._db.transaction():
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
            self.own_text.save(now=now)
        self._pending.clear()

    def _write(self, batch: list[Document], most: int = _LONGEST) -> None:
        """Write copies; of one whose words are more than the server holds, those at its beginning.

        How many characters that is hangs on the language, and on how the words are joined.
        """
        try:
            with self._db.transaction():
                self._write_words(batch, most)
        except psycopg.errors.ProgramLimitExceeded:
            if not most:
                raise
            if len(batch) == 1:
                most //= _SHORTER
            for document in batch:
                self._write([document], most)

    def _write_words(self, batch: list[Document], most: int) -> None:
        columns = [list(column) for column in zip(*(self._row(one) for one in batch), strict=True)]
        columns[6] = ["\n".join(headings) for headings in columns[6]]
        words = _WORDS.format(how="'simple'", most=most)
        stems = _WORDS.format(how=f"'{self._stems}'", most=most)
        self._db.execute(
            "INSERT INTO document AS held (shard, host, url, title, text, language, headings, "
            "signature, fetched_at_s, markdown, about, left_out, words, stems) "
            "SELECT shard, host, url, title, text, language, headings, signature, fetched_at_s, "
            f"markdown, about, left_out, {words}, {stems} FROM (SELECT shard, host, url, title, "
            "text, language, string_to_array(headed, E'\\n') AS headings, signature, "
            "fetched_at_s, markdown, about, left_out, own "
            "FROM unnest(%s::int[], %s::text[], %s::text[], %s::text[], %s::text[], %s::text[], "
            "%s::text[], %s::bytea[], %s::float8[], %s::text[], %s::text[], %s::text[], "
            "%s::text[]) AS told (shard, host, url, title, text, language, headed, signature, "
            "fetched_at_s, markdown, about, left_out, own)) AS told "
            "ON CONFLICT ((md5(url)::uuid)) DO UPDATE SET "
            + ", ".join(f"{name} = excluded.{name}" for name in _REPLACED),
            columns,
        )

    def _row(self, document: Document) -> tuple[Any, ...]:
        host, parted = host_of(document.url), self.own_text.parted(document)
        about = None if document.about is None else msgspec.json.encode(document.about).decode()
        return (
            shard_of(host, self._shards), host.partition("://")[2], document.url,
            _clean(document.title), _clean(parted.text), document.language, document.headings,
            document.signature, document.fetched_at_s, _clean(document.markdown),
            None if about is None else _clean(about),
            _clean(parted.left_out), _clean(parted.own),
        )  # fmt: skip

    # -- what is held --

    @override
    def copy(self, url: str) -> Document | None:
        held = self._held(url)
        if held is None:
            return None
        document, left_out = held
        told = document.markdown
        markdown = without_lines(told, left_out, document.text) if left_out else told
        return replace(document, markdown=markdown)

    def whole(self, url: str) -> Document | None:
        """Return a copy as it was given, but for the order of what was left out."""
        held = self._held(url)
        if held is None:
            return None
        document, left_out = held
        return replace(document, text="\n".join(filter(None, (document.text, left_out))))

    def _held(self, url: str) -> tuple[Document, str] | None:
        query = f"SELECT {_COLUMNS} FROM document WHERE {_SAME_URL}"
        with translated(self._database):
            row = self._db.execute(query.encode(), {"url": url}).fetchone()
        if row is None:
            return None
        url, title, text, fetched_at_s, signature, headings, said, markdown, about, left_out = row
        known = None if about is None else msgspec.json.decode(about, type=About)
        held = Document(
            url, title, text, fetched_at_s, signature, tuple(headings), said, (), markdown, known
        )
        return held, left_out

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
        copy, left_out = held
        return self.own_text.same(document, copy.title, copy.text, left_out)

    @override
    def learn_drawn(self, document: Document, again: str) -> None:
        self.own_text.learn_drawn(document, again)

    @override
    def difference(self, document: Document) -> str | None:
        held = self._held(document.url)
        if held is None:
            return None
        return self.own_text.difference(document, held[0].title, held[0].text)

    @override
    def edit(self, document: Document) -> str | None:
        held = self._held(document.url)
        return None if held is None else self.own_text.edit(document, held[0].text)

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
        read = read_query(query.replace("\0", " "))
        if not read.groups:
            return 0, []
        values: dict[str, object] = {"host": host, "since": fetched_since_s}
        where = self._condition(read, values)
        if host is not None:
            where += " AND host = %(host)s"
        if fetched_since_s is not None:
            where += " AND fetched_at_s >= %(since)s"
        with translated(self._database):
            counted = f"SELECT count(*) FROM document WHERE {where}"
            row = self._db.execute(counted.encode(), values).fetchone()
            total = 0 if row is None else int(row[0])
            ranked = (
                "SELECT url, title, text, fetched_at_s, headings[1], "
                f"ts_rank('{_WEIGHTS}', words, {_ANY}, 1) + "
                f"ts_rank('{_WEIGHTS}', stems, {self._any_stem()}, 1) AS score FROM document "
                f"WHERE {where} ORDER BY score DESC, url LIMIT %(limit)s"
            )

            first = min(offset, total)

            def look(most: int) -> tuple[int, list[Found]]:
                found = []
                rows = self._db.cursor().stream(ranked.encode(), values | {"limit": most})
                for place, (url, title, text, fetched_at_s, heading, score) in enumerate(rows):
                    # Texts of what is not shown are not kept: there may be a million pages before.
                    shown = text if place >= first else None
                    held = (url, title, shown, fetched_at_s, heading or "")
                    found.append(Found(score, content_hash(title, text), held))
                return total, found

            def text_of(held: tuple[str, str, str | None, float, str]) -> str:
                if held[2] is not None:
                    return held[2]
                row = self._db.execute(b"SELECT text FROM document WHERE url = %s", held[:1])
                return str((row.fetchone() or ("",))[0])

            n, groups = without_copies(look, itemgetter(0), text_of, first + limit)
        looked_for = _words_of(read)
        return n, told_apart(_hit(group, looked_for) for group in groups[first:])

    def _any_stem(self) -> str:
        return f"plainto_tsquery('{self._stems}', %(all)s)"

    def _condition(self, read: ReadQuery, values: dict[str, object]) -> str:
        """Return the condition that a query means; its texts are added to the values."""
        values["all"] = " ".join(_words_of(read))
        must = [
            "(" + " OR ".join(self._one(wanted, values) for wanted in group) + ")"
            for group in read.groups
        ]
        must += [f"NOT {self._one(wanted, values)}" for wanted in read.never]
        return " AND ".join(must)

    def _one(self, wanted: Wanted, values: dict[str, object]) -> str:
        name = f"text_{len(values)}"
        values[name] = wanted.text
        if wanted.field == "host":
            return f"strpos(host, lower(%({name})s)) > 0"
        how = "phraseto_tsquery" if wanted.together else "plainto_tsquery"
        words, stems = "words", "stems"
        if wanted.field is not None:
            part = "a" if wanted.field == "title" else "d"
            words, stems = (f"ts_filter({name_}, '{{{part}}}')" for name_ in ("words", "stems"))
        return (
            f"({words} @@ {how}('simple', %({name})s) OR "
            f"{stems} @@ {how}('{self._stems}', %({name})s))"
        )

    @override
    def misread(self, query: str) -> list[str]:
        return list(read_query(query).notes)

    @override
    def suggest(self, query: str) -> str | None:
        return respelled(query.replace("\0", " "), _Words(self))

    def pages_with(self, word: str) -> int:
        """Return how many copies have a word; of very many, that they are many."""
        query = (
            "SELECT count(*) FROM (SELECT 1 FROM document "
            "WHERE words @@ plainto_tsquery('simple', %s) LIMIT 1000) AS held"
        )
        return int(self._rows(query, word)[0][0])

    def beginning(self, text: str, limit: int) -> list[tuple[str, int]]:
        """Return words that begin so, of some of the copies that have any, most common first."""
        if not _WORD.fullmatch(text):
            return []
        some = f"SELECT words FROM document WHERE words @@ $q${text}:*$q$::tsquery LIMIT 500"
        query = (
            "SELECT word, ndoc FROM ts_stat(%s) WHERE starts_with(word, %s) "
            "ORDER BY ndoc DESC, word LIMIT %s"
        )
        return [(row[0], row[1]) for row in self._rows(query, some, text, limit)]

    @override
    def close(self) -> None:
        self._pending.clear()
        if self._membership is not None:
            with (
                contextlib.suppress(StateError),  # it is learned again
                translated(self._database),
                self._db.transaction(),
            ):
                self._membership.fence(self._db)
                self.own_text.save(now=True)
        self._db.close()


_ANY: Final = "plainto_tsquery('simple', %(all)s)"


class _Words:
    """The words of all copies."""

    def __init__(self, index: PostgresIndex) -> None:
        self._index = index

    def pages_with(self, word: str) -> int:
        return self._index.pages_with(word)

    def beginning(self, text: str, limit: int = 20) -> list[tuple[str, int]]:
        return self._index.beginning(text, limit)

    def stem(self, word: str) -> str:
        return word


def _clean(text: str) -> str:
    """Leave out the one sign that no text of PostgreSQL may hold."""
    return text.replace("\0", "")


def _words_of(read: ReadQuery) -> list[str]:
    found: Iterable[str] = (
        word
        for group in read.groups
        for wanted in group
        if wanted.field != "host"
        for word in _WORD.findall(wanted.text.lower())
    )
    return list(dict.fromkeys(found))


def _hit(group: Group, looked_for: list[str]) -> tuple[Hit, str]:
    """Return the copy with the shortest address, the addresses of the others, its first heading."""
    first, *others = sorted(group.held, key=lambda row: (len(row[0]), row[0]))
    url, title, text, fetched_at_s, heading = first
    snippet = best_passage(text, looked_for)
    pattern = "|".join(rf"\b{re.escape(word[: max(len(word) - 2, 3)])}\w*" for word in looked_for)
    marks = re.finditer(pattern, snippet, re.IGNORECASE) if pattern else ()
    highlights = tuple(mark.span() for mark in marks)
    copies = tuple(str(row[0]) for row in others)
    return Hit(url, title, snippet, highlights, group.score, fetched_at_s, copies), heading
