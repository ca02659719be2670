"""The index on disk, by tantivy: one writer, any number of readers.

A copy is replaced by deleting and adding before one commit; the key is the URL as one raw term.
"""

import contextlib
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import tantivy
from typing_extensions import override

from recrawl.errors import StateError
from recrawl.index.passages import best_passage
from recrawl.index.queries import ReadQuery, Wanted, read_query
from recrawl.index.spelling import respelled
from recrawl.ports import PageIndex
from recrawl.terms import Document, Hit

__all__ = ["LANGUAGES", "TantivyIndex"]

LANGUAGES: Final = (
    "arabic", "danish", "dutch", "english", "finnish", "french", "german", "greek", "hungarian",
    "italian", "norwegian", "portuguese", "romanian", "russian", "spanish", "swedish", "tamil",
    "turkish", "none",
)  # fmt: skip
_HEAP_BYTES: Final = 64 * 1024 * 1024
_SNIPPET_CHARACTERS: Final = 200
_LIKE_CHARACTERS: Final = 20_000  # of a page, in which like words are looked for
_WORD: Final = re.compile(r"\w+")
_TEXT_FIELDS: Final = ("title", "text")
_TITLE_BOOST: Final = 3.0
_MOST_TOKENS: Final = 24  # of one query: what it can cost is bounded
_RARE: Final = 1_000  # pages with a word, up to which its places in texts are looked at
_RARE_IN_TITLES: Final = 10_000
_MUST, _SHOULD, _MUST_NOT = tantivy.Occur.Must, tantivy.Occur.Should, tantivy.Occur.MustNot


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("url", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("host", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("title", stored=True, tokenizer_name="words")
    builder.add_text_field("text", stored=True, tokenizer_name="words")
    builder.add_float_field("fetched_at_s", stored=True, indexed=True, fast=True)
    builder.add_bytes_field("signature", stored=True, indexed=False)
    return builder.build()


def _words(language: str) -> Any:
    builder = (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        .filter(tantivy.Filter.remove_long(60))
        .filter(tantivy.Filter.lowercase())
        .filter(tantivy.Filter.ascii_fold())
    )
    if language != "none":
        builder = builder.filter(tantivy.Filter.stemmer(language))
    return builder.build()


class TantivyIndex(PageIndex):
    """Full text on disk.

    Parameters
    ----------
    directory : made if it is missing and the index may be written
    language : of the stemmer, one of ``LANGUAGES``; kept in the directory once chosen
    read_only : only search; works beside a running crawl

    Raises
    ------
    StateError
        The directory holds no index, a damaged one, or one that is being written by another.
    """

    def __init__(
        self, directory: Path, *, language: str = "english", read_only: bool = False
    ) -> None:
        self._directory = directory
        self._meta_mark: tuple[int, ...] = ()
        if read_only and not tantivy_exists(directory):
            raise StateError(f"{directory} holds no index yet; crawl something first")
        try:
            directory.mkdir(parents=True, exist_ok=True)
            chosen = directory / "language"
            if not chosen.exists() and not read_only:
                chosen.write_text(language, encoding="utf-8")
            with contextlib.suppress(FileNotFoundError):
                language = chosen.read_text(encoding="utf-8").strip()
            self._index = (
                tantivy.Index.open(str(directory))
                if tantivy_exists(directory)
                else tantivy.Index(_schema(), path=str(directory))
            )
            for name in ("url", "host", *_TEXT_FIELDS):  # a damaged schema is found out here
                tantivy.Query.term_query(self._index.schema, name, "")
            self._analyzer = _words(language)
            self._index.register_tokenizer("words", self._analyzer)
            self._writer = None if read_only else self._index.writer(_HEAP_BYTES, 1)
        except (OSError, ValueError) as error:
            raise StateError(f"index {directory}: {error}") from error

    @override
    def replace(self, document: Document) -> None:
        self.remove(document.url)
        made = tantivy.Document()
        made.add_text("url", document.url)
        made.add_text("host", document.url.split("/", 3)[2])
        made.add_text("title", document.title)
        made.add_text("text", document.text)
        made.add_float("fetched_at_s", document.fetched_at_s)
        made.add_bytes("signature", document.signature)
        self._writing().add_document(made)

    @override
    def remove(self, url: str) -> None:
        self._writing().delete_documents_by_term("url", url)

    @override
    def commit(self) -> None:
        try:
            self._writing().commit()
        except (OSError, ValueError) as error:
            raise StateError(f"index {self._directory}: {error}") from error
        self._index.reload()

    @override
    def signature(self, url: str) -> bytes | None:
        searcher = self._index.searcher()
        query = tantivy.Query.term_query(self._index.schema, "url", url)
        for _, address in searcher.search(query, limit=1).hits:
            return bytes(searcher.doc(address)["signature"][0])
        return None

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
        searcher = self._searcher()
        asked = read_query(query)
        every = [self._one_of(group) for group in asked.groups]
        if not every and not asked.never:
            return 0, []
        never = [(_MUST_NOT, self._one_of((wanted,))) for wanted in asked.never]
        found: Any = None  # the binding's stubs do not know the count
        # All words first; where no page has them all, any of them.
        for occur in (_MUST, _SHOULD):
            parts = [(occur, part) for part in every] or [(_MUST, tantivy.Query.all_query())]
            wanted = tantivy.Query.boolean_query([*parts, *never])
            ranked = self._with_phrase(wanted, asked, searcher) if occur == _MUST else wanted
            narrowed = self._narrowed(ranked, host, fetched_since_s)
            try:
                found = searcher.search(narrowed, limit=limit, offset=offset, count=True)
            except ValueError as error:  # of an index that was made without the age
                raise StateError(
                    f"index {self._directory} cannot be searched so ({error}); it was written by "
                    "another version: move the state away and crawl anew"
                ) from error
            if found.count or len(every) < 2:
                break
        if not found.hits:
            return found.count or 0, []
        show = _Snippets(searcher, wanted, self._index.schema, self._beginnings(asked))
        hits = [_hit(searcher.doc(address), score, show) for score, address in found.hits]
        return found.count or len(hits), hits

    def _searcher(self) -> tantivy.Searcher:
        """Return a view of the latest commit; looking for one costs a look at a file's date."""
        if self._writer is None:
            mark = _mark(self._directory / "meta.json")
            if mark != self._meta_mark:
                self._index.reload()
                self._meta_mark = mark
        return self._index.searcher()

    def _one_of(self, group: tuple[Wanted, ...]) -> tantivy.Query:
        parts = [self._of_one(wanted) for wanted in group]
        if len(parts) == 1:
            return parts[0]
        return tantivy.Query.boolean_query([(_SHOULD, part) for part in parts])

    def _of_one(self, wanted: Wanted) -> tantivy.Query:
        """Return what finds a word, or words next to each other; titles count three times."""
        if wanted.field == "host":
            return tantivy.Query.const_score_query(
                tantivy.Query.term_query(self._index.schema, "host", wanted.text.lower()), 0.0
            )
        tokens = self._analyzer.analyze(wanted.text)[:_MOST_TOKENS]
        if not tokens:
            return tantivy.Query.empty_query()
        if wanted.field is not None:
            return self._in_field(wanted.field, tokens)
        return tantivy.Query.boolean_query(
            [
                (_SHOULD, tantivy.Query.boost_query(self._in_field("title", tokens), _TITLE_BOOST)),
                (_SHOULD, self._in_field("text", tokens)),
            ]
        )

    def _in_field(self, field: str, tokens: list[str]) -> tantivy.Query:
        schema = self._index.schema
        if len(tokens) == 1:
            return tantivy.Query.term_query(schema, field, tokens[0])
        return tantivy.Query.phrase_query(schema, field, list(tokens))

    def _beginnings(self, asked: ReadQuery) -> list[str]:
        """Return how words of the text begin that the query may mean."""
        words = [
            word
            for group in asked.groups
            for wanted in group
            if wanted.field != "host"
            for word in _WORD.findall(wanted.text.lower())
        ]
        return [_shared(word, self._analyzer.analyze(word)) for word in words[:_MOST_TOKENS]]

    def _narrowed(self, wanted: Any, host: str | None, fetched_since_s: float | None) -> Any:
        """Keep pages of one host, and copies fetched since an instant; ranks stay."""
        schema = self._index.schema
        conditions = []
        if host is not None:
            conditions.append(tantivy.Query.term_query(schema, "host", host))
        if fetched_since_s is not None:
            conditions.append(
                tantivy.Query.range_query(
                    schema, "fetched_at_s", tantivy.FieldType.Float, fetched_since_s, 1e18
                )
            )
        if not conditions:
            return wanted
        silent = [tantivy.Query.const_score_query(condition, 0.0) for condition in conditions]
        return tantivy.Query.boolean_query(
            [(tantivy.Occur.Must, wanted), *((tantivy.Occur.Must, part) for part in silent)]
        )

    @override
    def misread(self, query: str) -> list[str]:
        return list(read_query(query).notes)

    @override
    def suggest(self, query: str) -> str | None:
        return respelled(query, self._like)

    def _like(self, word: str) -> set[str]:
        """Words of pages that hold something like this word."""
        searcher = self._index.searcher()
        found: set[str] = set()
        for distance in (1, 2):
            fuzzy = tantivy.Query.fuzzy_term_query(self._index.schema, "text", word, distance)
            for _, address in searcher.search(fuzzy, limit=3, count=False).hits:
                document = searcher.doc(address)
                text = f"{document['title'][0]} {str(document['text'][0])[:_LIKE_CHARACTERS]}"
                found.update(_WORD.findall(text.lower()))
            if found:
                break
        return found

    def _with_phrase(
        self, wanted: tantivy.Query, asked: ReadQuery, searcher: tantivy.Searcher
    ) -> tantivy.Query:
        """Prefer pages that have the words next to each other.

        Where one of the words is rare: the cost is that of reading where the pages have it.
        """
        words = [group[0] for group in asked.groups if len(group) == 1 and not group[0].field]
        tokens = [token for word in words for token in self._analyzer.analyze(word.text)]
        if len(words) != len(asked.groups) or not 2 <= len(tokens) <= _MOST_TOKENS:
            return wanted
        nearby = []
        for field, rare, boost in (("title", _RARE_IN_TITLES, _TITLE_BOOST), ("text", _RARE, 1.0)):
            if min(searcher.doc_freq(field, token) for token in tokens) <= rare:
                phrase = tantivy.Query.phrase_query(self._index.schema, field, list(tokens), 2)
                nearby.append((_SHOULD, tantivy.Query.boost_query(phrase, 2.0 * boost)))
        return tantivy.Query.boolean_query([(_MUST, wanted), *nearby]) if nearby else wanted

    @override
    def urls(self) -> Iterable[tuple[str, bytes]]:
        searcher = self._index.searcher()
        n = max(searcher.num_docs, 1)
        for _, address in searcher.search(tantivy.Query.all_query(), limit=n, count=False).hits:
            document = searcher.doc(address)
            yield str(document["url"][0]), bytes(document["signature"][0])

    @override
    def n_documents(self) -> int:
        return int(self._index.searcher().num_docs)

    @override
    def close(self) -> None:
        if self._writer is not None:
            self._writer.rollback()
            self._writer = None

    def _writing(self) -> tantivy.IndexWriter:
        if self._writer is None:
            raise StateError(f"index {self._directory} was opened for reading only")
        return self._writer


def _shared(word: str, stems: list[str]) -> str:
    """Return the beginning that a word has in common with its stem."""
    pairs = zip(word, stems[0] if stems else "", strict=False)
    n = next((place for place, (a, b) in enumerate(pairs) if a != b), None)
    return word[:n] if n else word[: len(stems[0])] if stems else word


def _mark(path: Path) -> tuple[int, ...]:
    """Tell a file from the one that takes its place."""
    try:
        told = path.stat()
    except OSError:
        return ()
    return told.st_mtime_ns, told.st_ino, told.st_size


def tantivy_exists(directory: Path) -> bool:
    """Tell whether a directory holds an index."""
    return directory.is_dir() and bool(tantivy.Index.exists(str(directory)))


def clear(directory: Path) -> None:
    """Remove an index."""
    shutil.rmtree(directory, ignore_errors=True)


class _Snippets:
    """Marks the words of a query in the best passage of a text, however long that is."""

    def __init__(
        self,
        searcher: tantivy.Searcher,
        query: tantivy.Query,
        schema: tantivy.Schema,
        beginnings: list[str],
    ) -> None:
        self._marks = tantivy.SnippetGenerator.create(searcher, query, schema, "text")
        self._marks.set_max_num_chars(_SNIPPET_CHARACTERS)
        self._beginnings = beginnings

    def of(self, text: str) -> tuple[str, tuple[tuple[int, int], ...]]:
        """Return a snippet, and where words of the query stand in it."""
        passage = tantivy.Document()
        passage.add_text("text", best_passage(text, self._beginnings))
        snippet = self._marks.snippet_from_doc(passage)
        fragment = snippet.fragment()
        if not fragment:
            return text[:_SNIPPET_CHARACTERS], ()
        marked = [(part.start, part.end) for part in snippet.highlighted()]
        if fragment.isascii():
            return fragment, tuple(marked)
        return fragment, tuple(_characters(fragment, *part) for part in marked)


def _hit(document: Any, score: float, show: _Snippets) -> Hit:
    snippet, highlights = show.of(str(document["text"][0]))
    return Hit(
        url=str(document["url"][0]),
        title=str(document["title"][0]),
        snippet=snippet,
        highlights=highlights,
        score=float(score),
        fetched_at_s=float(document["fetched_at_s"][0]),
    )


def _characters(text: str, start: int, end: int) -> tuple[int, int]:
    """Turn positions in UTF-8 bytes, as tantivy counts, into positions in characters."""
    raw = text.encode()
    return len(raw[:start].decode(errors="ignore")), len(raw[:end].decode(errors="ignore"))
