"""An index in memory: every word counts, nothing is ranked well. For tests and virtual time."""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from operator import attrgetter

from typing_extensions import override

from recrawl.crawler.control.addresses.gists import content_hash
from recrawl.crawler.index.repeats.copies import Found, Group, without_copies
from recrawl.crawler.index.searching.spelling import WordList, respelled
from recrawl.crawler.index.searching.titles import told_apart
from recrawl.crawler.ports import PageIndex
from recrawl.terms import Document, Hit

_WORD = re.compile(r"\w+")


class MemoryIndex(PageIndex):
    """Holds copies as they are."""

    def __init__(self) -> None:
        self._held: dict[str, Document] = {}
        self._pending: dict[str, Document | None] = {}

    @override
    def replace(self, document: Document) -> None:
        self._pending[document.url] = document

    @override
    def remove(self, url: str) -> None:
        self._pending[url] = None

    @override
    def commit(self) -> None:
        for url, document in self._pending.items():
            if document is None:
                self._held.pop(url, None)
            else:
                self._held[url] = document
        self._pending.clear()

    @override
    def signature(self, url: str) -> bytes | None:
        document = self._held.get(url)
        return None if document is None else document.signature

    @override
    def copy(self, url: str) -> Document | None:
        return self._held.get(url)

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
        wanted = _WORD.findall(query.lower())
        scored: list[tuple[float, Document]] = []
        for document in self._held.values():
            if host is not None and document.url.split("/", 3)[2] != host:
                continue
            if fetched_since_s is not None and document.fetched_at_s < fetched_since_s:
                continue
            words = _WORD.findall(f"{document.title} {document.text}".lower())
            counts = [words.count(word) for word in wanted]
            if wanted and all(counts):
                scored.append((sum(counts) / len(words), document))
        scored.sort(key=lambda pair: (-pair[0], pair[1].url))

        def look(most: int) -> tuple[int, list[Found]]:
            found = [
                Found(score, content_hash(held.title, held.text), held)
                for score, held in scored[:most]
            ]
            return len(scored), found

        n, groups = without_copies(look, attrgetter("url"), attrgetter("text"), offset + limit)
        return n, told_apart(_hit(group, wanted) for group in groups[offset:])

    @override
    def suggest(self, query: str) -> str | None:
        return respelled(query, _Words(self._held.values()))

    @override
    def urls(self) -> Iterable[tuple[str, bytes]]:
        return [(document.url, document.signature) for document in self._held.values()]

    @override
    def n_documents(self) -> int:
        return len(self._held)

    @override
    def close(self) -> None:
        self._pending.clear()


class _Words(WordList):
    """The words of all copies."""

    def __init__(self, held: Iterable[Document]) -> None:
        pages = [set(_WORD.findall(f"{page.title} {page.text}".lower())) for page in held]
        self._pages = Counter(word for words in pages for word in words)

    @override
    def pages_with(self, word: str) -> int:
        return self._pages[word]

    @override
    def beginning(
        self, text: str, limit: int = 20, like: Callable[[str], bool] | None = None
    ) -> list[tuple[str, int]]:
        found = [(word, n) for word, n in self._pages.most_common() if word.startswith(text)]
        return [pair for pair in found[:limit] if like is None or like(pair[0])]


def _hit(group: Group, wanted: list[str]) -> tuple[Hit, str]:
    """Return a result, and the first heading of its page."""
    document, *others = sorted(group.held, key=lambda held: (len(held.url), held.url))
    lowered = document.text.lower()
    first = min((lowered.find(word) for word in wanted if word in lowered), default=0)
    start = max(0, first - 60)
    snippet = document.text[start : start + 200]
    found = re.finditer("|".join(map(re.escape, wanted)), snippet, re.IGNORECASE)
    hit = Hit(
        url=document.url,
        title=document.title,
        snippet=snippet,
        highlights=tuple(match.span() for match in found),
        score=group.score,
        fetched_at_s=document.fetched_at_s,
        copies=tuple(held.url for held in others),
    )
    return hit, next(iter(document.headings), "")
