"""The feed in memory: what the durable one is held against."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from typing_extensions import override

from recrawl.crawler.control.telling import kind_of, version_of
from recrawl.crawler.ports import Feed
from recrawl.terms import Change, PageState, PageUpdate

__all__ = ["Copy", "MemoryFeed"]


@dataclass(frozen=True, slots=True)
class Copy:
    """What the index should hold of a page; a signature of None: nothing."""

    page_id: int
    url: str
    state: PageState
    signature: bytes | None
    moved_to: str | None = None


class MemoryFeed(Feed):
    """A feed that lives as long as its process.

    Parameters
    ----------
    copies : tells of all pages
    """

    def __init__(self, copies: Callable[[], Iterable[Copy]]) -> None:
        self._copies = copies
        self._entries: dict[int, Change] = {}
        self._latest: dict[str, Change] = {}
        self._last = 0

    def tell(self, copy: Copy, now_s: float, update: PageUpdate | None = None) -> None:
        """Make an entry, unless the latest one of the page says the same."""
        before = self._latest.get(copy.url)
        kind = kind_of(before.signature if before else None, copy.signature, copy.state)
        if kind is None:
            return
        if self._last:
            now_s = max(now_s, self._entries[self._last].at_s)
        self._last += 1
        told = Change(
            self._last,
            now_s,
            kind,
            copy.url,
            version_of(before.version if before else 0, now_s),
            copy.signature,
        )
        if update is not None:
            told = replace(
                told,
                fetched_at_s=update.visit.visited_at_s,
                title=update.title,
                language=update.language,
                canonical=update.canonical,
                content_type=update.content_type,
                edit=update.edit,
            )
        if told.is_removal:
            title = before.title if before else None
            told = replace(
                told, title=title, moved_to=copy.moved_to, why=copy.state.value, edit=None
            )
        self._entries[told.seq] = self._latest[copy.url] = told

    def _is_latest(self, entry: Change) -> bool:
        return self._latest[entry.url].seq == entry.seq

    @override
    def changes(
        self, *, after: int, limit: int, latest: bool = False, edits: bool = False
    ) -> list[Change]:
        found = (
            replace(
                entry,
                is_latest=self._is_latest(entry),
                edit=entry.edit if edits else None,
            )
            for entry in self._entries.values()
            if entry.seq > after and (not latest or self._is_latest(entry))
        )
        return list(islice(found, limit))

    @override
    def recent(self, limit: int) -> list[Change]:
        return self.changes(after=0, limit=2**62)[: -limit - 1 : -1]

    @override
    def last(self) -> int:
        return self._last

    @override
    def before(self, instant_s: float) -> int:
        earlier = (entry.seq for entry in self._entries.values() if entry.at_s < instant_s)
        return max(earlier, default=0)

    @override
    def live(self, *, after: int = 0, limit: int | None = None) -> Iterable[Change]:
        every = self.changes(after=after, limit=2**62, latest=True)
        return [entry for entry in every if not entry.is_removal][:limit]

    @override
    def latest(self, urls: Sequence[str]) -> list[Change]:
        return [replace(self._latest[url], edit=None) for url in urls if url in self._latest]

    @override
    def mend(self, now_s: float) -> int:
        before = self._last
        for copy in self._copies():
            self.tell(copy, now_s)
        return self._last - before

    @override
    def compact(self, before_s: float, *, limit: int = 1_000) -> int:
        old = [
            entry
            for entry in self._entries.values()
            if entry.at_s < before_s and (entry.edit is not None or not self._is_latest(entry))
        ]
        for entry in old[:limit]:
            if self._is_latest(entry):
                self._entries[entry.seq] = self._latest[entry.url] = replace(entry, edit=None)
            else:
                del self._entries[entry.seq]
        return len(old[limit:])
