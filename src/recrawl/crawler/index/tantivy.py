"""The index on disk, by tantivy: one writer, any number of readers.

A copy is replaced by deleting and adding before one commit; the key is the URL as one raw term.
The module is longer than most, as the port is wide.
"""

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import tantivy
from typing_extensions import override

from recrawl.crawler.control.addresses.gists import content_hash
from recrawl.crawler.index.anchors import Anchors
from recrawl.crawler.index.files import collect, mend_list, orphans, write_whole
from recrawl.crawler.index.languages import AUTO, Languages
from recrawl.crawler.index.more import packed, unpacked
from recrawl.crawler.index.repeats.copies import Found, Group, without_copies
from recrawl.crawler.index.repeats.drawn import Parts, as_it_is
from recrawl.crawler.index.repeats.left_out import lines_of, without_lines, woven
from recrawl.crawler.index.repeats.note_file import NoteFile
from recrawl.crawler.index.schema import aside_of, clear, held_copies, index_exists, opened
from recrawl.crawler.index.searching.queries import read_query
from recrawl.crawler.index.searching.ranking import MOST_TOKENS, Ranking, told_of
from recrawl.crawler.index.searching.snippets import Snippets, beginnings
from recrawl.crawler.index.searching.spelling import respelled
from recrawl.crawler.index.searching.tantivy_queries import TantivyQueries, Vocabulary
from recrawl.crawler.index.searching.titles import told_apart
from recrawl.crawler.index.trouble import translated
from recrawl.crawler.index.words import (
    LANGUAGES,
    address_words,
    apart,
    as_typed,
    codes,
    names,
    sections,
    stems,
)
from recrawl.crawler.ports import ChanceLearner, PageIndex
from recrawl.errors import StateError
from recrawl.terms import Document, Hit

if TYPE_CHECKING:
    from recrawl.crawler.index.repeats.own_text import OwnText

__all__ = ["LANGUAGES", "TantivyIndex"]

_HEAP_BYTES: Final = 15_000_000  # the least: some hundred pages, for a commit of which it is made
_MERGING_S: Final = 5.0
_RENAMED: Final = 50  # pages of a commit
_BROUGHT: Final = 5_000  # copies of a commit
_MOST_NAMED: Final = 20_000


class TantivyIndex(PageIndex, ChanceLearner):
    """Full text on disk.

    Parameters
    ----------
    directory : made if it is missing and the index may be written
    language : of the stemmer, one of ``LANGUAGES``, or "auto": each page's own, English where that
        is not known; kept in the directory once chosen
    read_only : only search; works beside a running crawl
    mark : makes of lines what is the same where they say the same

    Raises
    ------
    StateError
        The directory holds no index, a damaged one, or one that is being written by another.
    """

    def __init__(
        self,
        directory: Path,
        *,
        language: str = "english",
        read_only: bool = False,
        mark: Callable[[str], bytes] = as_it_is,
    ) -> None:
        self._directory = directory
        self._meta_mark: tuple[int, ...] = ()
        with translated(directory):
            if read_only and not index_exists(directory):
                raise StateError(f"{directory} holds no index yet; crawl something first")
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            chosen = directory / "language"
            with contextlib.suppress(FileNotFoundError):
                language = chosen.read_text(encoding="utf-8").strip() or language
            if not read_only and index_exists(directory):
                mend_list(directory)
            self._index = opened(directory, read_only=read_only)
            if not read_only and not (chosen.exists() and chosen.stat().st_size):
                write_whole(chosen, language)
            self._languages = Languages()
            self._notes = NoteFile(directory, read_only=read_only)
            self._mark = mark
            self._speak(language)
            self._index.register_tokenizer("typed", as_typed())
            self._anchors: Anchors | None = None
            self._named: dict[str, None] = {}  # pages that are called by another name since
            self._added: set[str] = set()  # since the last commit
            self._writer: tantivy.IndexWriter | None = None
            self.n_brought = 0  # copies of another version's index
            with contextlib.ExitStack() as unless_done:
                unless_done.callback(self._let_go)
                if not read_only:
                    self._writer = self._index.writer(_HEAP_BYTES, 1)
                    self._pass_last_number()
                    collect(directory)
                    self._anchors = Anchors(directory)
                    if aside_of(directory).exists():
                        self._bring_over(aside_of(directory))
                unless_done.pop_all()

    def _pass_last_number(self) -> None:
        """Number the operations to come after those of the last commit.

        tantivy gives the first one of a writer the number of that commit. If that is a deletion,
        and segments are merged before the next commit, those that were deleted from at the last
        commit pass for up to date: the copy would stay beside the one that replaces it.
        """
        self._delete("")

    @cached_property
    def own_text(self) -> "OwnText":
        """Learner of what hosts repeat and show by chance; searches load none of it."""
        from recrawl.crawler.index.repeats.host_lines import HostLines
        from recrawl.crawler.index.repeats.own_text import OwnText

        shelf = self._notes.shelf
        return OwnText(shelf("repeated", HostLines), shelf("drawn", Parts), self._mark)

    def _let_go(self) -> None:
        """Release files after a failure, whose traceback may keep this object for long."""
        self._writer = None  # with it goes its lock
        self._notes.close()
        if self._anchors is not None:
            self._anchors.close()

    def _bring_over(self, aside: Path) -> None:
        """Index the copies that another version held; what a kill cut off is gone on with."""
        missing = (one for one in _copies_in(aside) if self._stored(one.url) is None)
        self.n_brought = self.bring(missing)
        clear(aside)

    def bring(self, documents: Iterable[Document]) -> int:
        """Hold whole copies of another index, of which nothing is learned; return how many."""
        n = 0
        with translated(self._directory):
            for n, document in enumerate(documents, start=1):
                self._add(document)
                if n % _BROUGHT == 0:
                    self._writing().commit()
                    self._index.reload()
            self._writing().commit()
            self._index.reload()
        self._added.clear()
        return n

    @override
    def replace(self, document: Document) -> None:
        self.own_text.learn(document)
        with translated(self._directory):
            if self._anchors is not None:
                self._named.update(dict.fromkeys(self._anchors.learn(document.links)))
            self._add(document)

    def _add(self, document: Document) -> None:
        """Stage a copy, without what its host repeats."""
        parted = self.own_text.parted(document)
        text = parted.text
        own = f"{parted.own}\n{apart(text)}"
        self._delete(document.url)
        made = tantivy.Document()
        made.add_text("url", document.url)
        made.add_text("host", document.url.split("/", 3)[2])
        headings = "\n".join(document.headings)
        for name in names(document.title, document.headings, document.url):
            made.add_text("name", name)
        for name in sections(document.headings):
            made.add_text("sections", name)
        made.add_text("title", document.title)
        made.add_text("title", apart(document.title))  # of several, only the first value is read
        made.add_text("headings", headings)
        made.add_text("headings", apart(headings))
        if self._anchors is not None:
            made.add_text("anchors", "\n".join(self._anchors.of(document.url)))
        self._added.add(document.url)
        self._named.pop(document.url, None)
        made.add_text("address", address_words(document.url))
        made.add_text("text", text)
        made.add_text("text", own)  # found, and shown nowhere
        made.add_text("left_out", parted.kept)
        made.add_unsigned("content", content_hash(document.title, text))
        made.add_text("terms", " ".join(codes(f"{document.title}\n{headings}")))
        made.add_text("declared", document.language)
        self._add_stems(made, document, f"{document.title}\n{headings}\n{text}\n{own}")
        made.add_text("codes", " ".join(codes(f"{text}\n{own}")))
        made.add_float("fetched_at_s", document.fetched_at_s)
        made.add_bytes("signature", document.signature)
        more = packed(document)
        if more is not None:
            made.add_bytes("more", more)
        self._writing().add_document(made)

    def _add_stems(self, made: tantivy.Document, document: Document, words: str) -> None:
        """Add the stems of a page in another language than the index's own."""
        language = self._languages.of(document) if self._per_page else None
        if language is not None and language != "english":
            made.add_text("language", language)
            made.add_text("stems", " ".join(stems(language).analyze(words)))

    @override
    def remove(self, url: str) -> None:
        self.own_text.forget(url)
        self._added.add(url)
        with translated(self._directory):
            self._delete(url)

    def _delete(self, url: str) -> None:
        self._writing().delete_documents_by_term("url", url)

    @override
    def commit(self) -> None:
        with translated(self._directory):
            for document in self.own_text.to_part_again(self.whole):
                self._add(document)
            self._call_by_new_names()
            self._writing().commit()
            self._index.reload()
            self.own_text.save()
            if self._anchors is not None:
                self._anchors.save()

    def _call_by_new_names(self) -> None:
        """Index some pages again that others call by another name since; the rest comes later."""
        ready = (url for url in self._named if url not in self._added)
        for url in list(islice(ready, _RENAMED)):
            del self._named[url]
            document = self.whole(url)
            if document is not None:
                self._add(document)
        self._named = dict(islice(self._named.items(), _MOST_NAMED))
        self._added.clear()

    @override
    def copy(self, url: str) -> Document | None:
        held = self._stored(url)
        if held is None:
            return None
        document = _document(held, str(held["text"][0]))
        left_out, told = lines_of(str(held["left_out"][0])), document.markdown
        markdown = without_lines(told, left_out, document.text) if left_out else told
        return replace(document, markdown=markdown)

    def whole(self, url: str) -> Document | None:
        """Return a copy as it was given."""
        held = self._stored(url)
        return None if held is None else _whole(held)

    @override
    def signature(self, url: str) -> bytes | None:
        held = self._stored(url)
        return None if held is None else bytes(held["signature"][0])

    @override
    def same(self, document: Document) -> bool:
        held = self._stored(document.url)
        if held is None:
            return False
        text, kept = str(held["text"][0]), str(held["left_out"][0])
        return self.own_text.same(document, str(held["title"][0]), text, kept)

    @override
    def learn_drawn(self, document: Document, again: str) -> None:
        self.own_text.learn_drawn(document, again)

    @override
    def difference(self, document: Document) -> str | None:
        held = self._stored(document.url)
        if held is None:
            return None
        text, kept = str(held["text"][0]), str(held["left_out"][0])
        return self.own_text.difference(document, str(held["title"][0]), text, kept)

    @override
    def edit(self, document: Document) -> str | None:
        held = self._stored(document.url)
        if held is None:
            return None
        return self.own_text.edit(document, str(held["text"][0]), str(held["left_out"][0]))

    def _stored(self, url: str) -> Any:
        searcher = self._searcher()
        query = tantivy.Query.term_query(self._index.schema, "url", url)
        for _, address in searcher.search(query, limit=1, count=False).hits:
            return searcher.doc(address)
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
        searcher: Any = self._searcher()
        offset = min(offset, int(searcher.num_docs))
        question = self._ranking(searcher).read(read_query(query))
        if question is None:
            return 0, []
        narrowed = self._narrowed(question.ranked, host, fetched_since_s)

        def look(most: int) -> tuple[int, list[Found]]:
            answer = searcher.search(narrowed, limit=most, count=True)
            held = [address for _, address in answer.hits]
            contents = searcher.fast_field_values("content", held) if held else []
            scores = (float(score) for score, _ in answer.hits)
            return answer.count or 0, list(map(Found, scores, contents, held))

        def of(field: str) -> Callable[[Any], str]:
            return lambda address: str(searcher.doc(address)[field][0])

        try:
            n, found = without_copies(look, of("url"), of("text"), offset + limit)
        except ValueError as error:  # of an index that was made without the age
            raise StateError(
                f"index {self._directory} cannot be searched so ({error}); it was written by "
                "another version: move the state away and crawl anew"
            ) from error
        show = Snippets(
            searcher,
            question.wanted,
            self._index.schema,
            beginnings(question.words, self._stems, MOST_TOKENS),
        )
        return n, told_apart(_hit(searcher, group, show) for group in found[offset:])

    def _ranking(self, searcher: tantivy.Searcher) -> Ranking:
        known = LANGUAGES if self._per_page else ()
        spoken = [stems(one) for one in known if searcher.doc_freq("language", one)]
        queries = TantivyQueries(searcher, self._index.schema, self._stems)
        return Ranking(queries, self._stems, spoken)

    def _searcher(self) -> tantivy.Searcher:
        """Return a view of the latest commit; looking for one costs a look at a file's date."""
        if self._writer is None:
            mark = _mark(self._directory / "meta.json")
            if mark != self._meta_mark:
                self._index.reload()
                self._meta_mark = mark
        return self._index.searcher()

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
        asked = read_query(query)
        question = self._ranking(self._searcher()).read(asked)
        corrected = question.corrected if question is not None else ()
        return [*asked.notes, *map(told_of, corrected)]

    @override
    def suggest(self, query: str) -> str | None:
        return respelled(query, Vocabulary(self._searcher(), self._stems))

    @override
    def urls(self) -> Iterable[tuple[str, bytes]]:
        searcher = self._index.searcher()
        n = max(searcher.num_docs, 1)
        for _, address in searcher.search(tantivy.Query.all_query(), limit=n, count=False).hits:
            document = searcher.doc(address)
            yield str(document["url"][0]), bytes(document["signature"][0])

    def change_language(self, language: str) -> int:
        """Index every copy anew by the rules of a language, if it was another one; return how many.

        Parameters
        ----------
        language : one of ``LANGUAGES``, or "auto"
        """
        if language == self._language:
            return 0
        with translated(self._directory):
            self._speak(language)
            urls = [url for url, _ in self.urls()]
            for url in urls:
                document = self.whole(url)
                if document is not None:
                    self._add(document)
            self._writing().commit()
            self._index.reload()
            write_whole(self._directory / "language", language)  # done: not at the next start too
        return len(urls)

    def _speak(self, language: str) -> None:
        self._language, self._per_page = language, language == AUTO
        self._stems = stems("english" if self._per_page else language)
        self._index.register_tokenizer("words", self._stems)

    @override
    def n_documents(self) -> int:
        return int(self._index.searcher().num_docs)

    @override
    def close(self) -> None:
        """Release files; merges under way are waited for, for some seconds.

        What is not done by then ends with the process, and the next start collects what it left.
        """
        writer, self._writer = self._writer, None
        if writer is None:
            self._notes.close()
            return
        self.own_text.save(now=True)
        self._notes.close()
        if self._anchors is not None:
            self._anchors.close()
        merging = threading.Thread(target=_merge, args=(writer,), daemon=True)
        merging.start()
        merging.join(_MERGING_S)
        del writer
        if merging.is_alive():
            return
        with contextlib.suppress(StateError, OSError, ValueError):
            if orphans(self._directory):  # which we were reading when they were replaced
                right_to_write = self._index.writer(_HEAP_BYTES, 1)
                collect(self._directory)
                right_to_write.rollback()

    def _writing(self) -> tantivy.IndexWriter:
        if self._writer is None:
            raise StateError(f"index {self._directory} was opened for reading only")
        return self._writer


def _merge(writer: tantivy.IndexWriter) -> None:
    with contextlib.suppress(ValueError):  # it has ended before, and that was told
        writer.wait_merging_threads()


def _copies_in(aside: Path) -> Iterator[Document]:
    for held in held_copies(aside):
        with contextlib.suppress(ValueError):  # damaged: it is fetched again
            yield _whole(held)


def _whole(held: Any) -> Document:
    """Return a copy with what was left out of it, whatever version wrote it."""
    text, kept = (str(held.get_first(name) or "") for name in ("text", "left_out"))
    return _document(held, woven(text, kept))


def _document(held: Any, text: str) -> Document:
    url, title, declared, headed = (
        str(held.get_first(name) or "") for name in ("url", "title", "declared", "headings")
    )
    headings = tuple(filter(None, headed.split("\n")))
    at_s = float(held.get_first("fetched_at_s") or 0.0)
    mark = bytes(held.get_first("signature") or b"")
    more = held.get_first("more")
    markdown, about = unpacked(None if more is None else bytes(more))
    return Document(url, title, text, at_s, mark, headings, declared, (), markdown, about)


def _mark(path: Path) -> tuple[int, ...]:
    """Tell a file from the one that takes its place."""
    try:
        told = path.stat()
    except OSError:
        return ()
    return told.st_mtime_ns, told.st_ino, told.st_size


def _hit(searcher: tantivy.Searcher, group: Group, show: Snippets) -> tuple[Hit, str]:
    """Return the copy with the shortest address, the addresses of the others, its first heading."""
    documents = [searcher.doc(address) for address in group.held]
    documents.sort(key=lambda held: (len(held["url"][0]), held["url"][0]))
    document = documents[0]
    snippet, highlights = show.of(str(document["text"][0]))
    heading, _, _ = str(document.get_first("headings") or "").partition("\n")
    hit = Hit(
        url=str(document["url"][0]),
        title=str(document["title"][0]),
        snippet=snippet,
        highlights=highlights,
        score=group.score,
        fetched_at_s=float(document["fetched_at_s"][0]),
        copies=tuple(str(held["url"][0]) for held in documents[1:]),
    )
    return hit, heading
