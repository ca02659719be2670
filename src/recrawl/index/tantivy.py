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
_WORD: Final = re.compile(r"\w+")
_TEXT_FIELDS: Final = ["title", "text"]


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
            self._index.register_tokenizer("words", _words(language))
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
        self._index.reload()
        searcher = self._index.searcher()
        boosts = {"title": 3.0, "text": 1.0}
        text = query[:1_000]
        found: Any = None  # the binding's stubs do not know the count
        # All words first; where no page has them all, any of them.
        for all_words in (True, False):
            parsed, _ = self._index.parse_query_lenient(
                text, _TEXT_FIELDS, field_boosts=boosts, conjunction_by_default=all_words
            )
            wanted = self._with_phrase(parsed, text) if all_words else parsed
            narrowed = self._narrowed(wanted, host, fetched_since_s)
            try:
                found = searcher.search(narrowed, limit=limit, offset=offset, count=True)
            except ValueError as error:  # of an index that was made without the age
                raise StateError(
                    f"index {self._directory} cannot be searched so ({error}); it was written by "
                    "another version: move the state away and crawl anew"
                ) from error
            if found.count:
                break
        if found is None or not found.hits:
            return (found.count or 0) if found else 0, []
        snippets = tantivy.SnippetGenerator.create(searcher, parsed, self._index.schema, "text")
        snippets.set_max_num_chars(_SNIPPET_CHARACTERS)
        hits = [_hit(searcher.doc(address), score, snippets) for score, address in found.hits]
        return found.count or len(hits), hits

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
        _, errors = self._index.parse_query_lenient(query[:1_000], _TEXT_FIELDS)
        return list(dict.fromkeys(_in_words(str(error)) for error in errors))

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
                text = f"{document['title'][0]} {str(document['text'][0])[:100_000]}"
                found.update(_WORD.findall(text.lower()))
            if found:
                break
        return found

    def _with_phrase(self, parsed: Any, text: str) -> Any:
        """Prefer pages that have the words next to each other."""
        words = [word for word in text.split() if word.isalnum()]
        if len(words) < 2 or len(words) != len(text.split()):
            return parsed
        phrase, _ = self._index.parse_query_lenient(
            f'"{" ".join(words)}"~2', _TEXT_FIELDS, field_boosts={"title": 3.0, "text": 1.0}
        )
        return tantivy.Query.boolean_query(
            [
                (tantivy.Occur.Must, parsed),
                (tantivy.Occur.Should, tantivy.Query.boost_query(phrase, 2.0)),
            ]
        )

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


def _in_words(error: str) -> str:
    if "missing delimiter" in error:
        return "a quotation mark is missing; it was taken as not there"
    if "does not exist" in error:
        name = error.partition("'")[2].partition("'")[0]
        return f"there is no field {name!r}; only title: and text: can be asked for"
    return f"a part of it was left out ({error})"


def tantivy_exists(directory: Path) -> bool:
    """Tell whether a directory holds an index."""
    return directory.is_dir() and bool(tantivy.Index.exists(str(directory)))


def clear(directory: Path) -> None:
    """Remove an index."""
    shutil.rmtree(directory, ignore_errors=True)


def _hit(document: Any, score: float, snippets: Any) -> Hit:
    snippet = snippets.snippet_from_doc(document)
    fragment = snippet.fragment()
    ranges = tuple(_characters(fragment, part.start, part.end) for part in snippet.highlighted())
    if not fragment:
        fragment = str(document["text"][0])[:_SNIPPET_CHARACTERS]
    return Hit(
        url=str(document["url"][0]),
        title=str(document["title"][0]),
        snippet=fragment,
        highlights=ranges,
        score=float(score),
        fetched_at_s=float(document["fetched_at_s"][0]),
    )


def _characters(text: str, start: int, end: int) -> tuple[int, int]:
    """Turn positions in UTF-8 bytes, as tantivy counts, into positions in characters."""
    raw = text.encode()
    return len(raw[:start].decode(errors="ignore")), len(raw[:end].decode(errors="ignore"))
