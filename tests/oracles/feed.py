"""The feed in plain Python: what the durable one is held against."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from typing_extensions import override

from recrawl.crawler.ports import Feed
from recrawl.terms import Change, ChangeKind, PageState, PageUpdate

__all__ = ["Copy", "PlainFeed"]


@dataclass(frozen=True, slots=True)
class Copy:
    """Copy of a page that an index should hold; signature None: nothing. Its weight besides."""

    page_id: int
    url: str
    state: PageState
    signature: bytes | None
    moved_to: str | None = None
    weight: float = 1.0


def kind_of(told: bytes | None, held: bytes | None, state: PageState) -> ChangeKind | None:
    """Return what became of a copy, or None where all was told.

    Parameters
    ----------
    told : signature of the copy that the latest entry of the page told of; None: of none
    held : signature of the copy that the index holds now; None: it holds none
    state : of the page now
    """
    if held == told:
        return None
    if held is None:
        return ChangeKind.MOVED if state is PageState.MOVED else ChangeKind.REMOVED
    return ChangeKind.NEW if told is None else ChangeKind.CHANGED


def version_of(before: int, at_s: float) -> int:
    """Return the version of an entry: milliseconds of its instant, and always above the last.

    So versions also grow from a state that was restored, or begun anew, to what follows it.

    Parameters
    ----------
    before : the last version of the page; 0: there was none
    at_s : the instant, epoch seconds
    """
    return max(before + 1, int(at_s * 1000.0))


class PlainFeed(Feed):
    """A feed that lives as long as its process.

    Parameters
    ----------
    copies : tells of all pages, by ascending id
    """

    def __init__(self, copies: Callable[[], Iterable[Copy]]) -> None:
        self._copies = copies
        self._entries: dict[int, Change] = {}
        self._latest: dict[str, Change] = {}
        self._latest_copy: dict[str, Change] = {}  # but for what only says an importance
        self._last = 0
        self._says_importance = False

    def tell(self, copy: Copy, now_s: float, update: PageUpdate | None = None) -> None:
        """Make an entry, unless the latest one of the page says the same."""
        before = self._latest.get(copy.url)
        kind = kind_of(before.signature if before else None, copy.signature, copy.state)
        if kind is None:
            return
        told = self._next(copy, kind, now_s)
        if self._says_importance:
            told = replace(told, importance=copy.weight)
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
                told,
                title=title,
                moved_to=copy.moved_to,
                why=copy.state.value,
                edit=None,
                importance=None,
            )
        self._keep(told)

    def _next(self, copy: Copy, kind: ChangeKind, now_s: float) -> Change:
        if self._last:
            now_s = max(now_s, self._entries[self._last].at_s)
        before = self._latest.get(copy.url)
        version = version_of(before.version if before else 0, now_s)
        return Change(self._last + 1, now_s, kind, copy.url, version, copy.signature)

    def _keep(self, told: Change) -> None:
        self._last = told.seq
        self._entries[told.seq] = self._latest[told.url] = told
        if told.kind is not ChangeKind.IMPORTANCE:
            self._latest_copy[told.url] = told

    @override
    def say_importance(self) -> None:
        self._says_importance = True

    def _held(self) -> Iterable[Copy]:
        told = (copy for copy in self._copies() if copy.url in self._latest)
        return (copy for copy in told if not self._latest[copy.url].is_removal)

    @override
    def importances(self, *, after: int, limit: int) -> list[tuple[int, float, float | None]]:
        later = (copy for copy in self._held() if copy.page_id > after)
        return [
            (copy.page_id, copy.weight, self._latest[copy.url].importance)
            for copy in islice(later, limit)
        ]

    @override
    def tell_importance(self, page_ids: Sequence[int], now_s: float) -> int:
        held = {copy.page_id: copy for copy in self._held()}
        chosen = [held[page_id] for page_id in page_ids if page_id in held]
        for copy in chosen:
            new = self._next(copy, ChangeKind.IMPORTANCE, now_s)
            said = {"seq": new.seq, "at_s": new.at_s, "kind": new.kind, "version": new.version}
            before = replace(self._latest[copy.url], edit=None)
            self._keep(replace(before, **said, importance=copy.weight))  # type: ignore[arg-type]
        return len(chosen)

    def _is_latest(self, entry: Change) -> bool:
        among = self._latest if entry.kind is ChangeKind.IMPORTANCE else self._latest_copy
        return among[entry.url].seq == entry.seq

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
    def recent(self, limit: int, *, importance: bool = True) -> list[Change]:
        every = self.changes(after=0, limit=2**62)
        if not importance:
            every = [entry for entry in every if entry.kind is not ChangeKind.IMPORTANCE]
        return every[: -limit - 1 : -1]

    @override
    def last(self) -> int:
        return self._last

    @override
    def before(self, instant_s: float) -> int:
        earlier = (entry.seq for entry in self._entries.values() if entry.at_s < instant_s)
        return max(earlier, default=0)

    @override
    def live(
        self, *, after: int = 0, limit: int | None = None, importance: bool = True
    ) -> Iterable[Change]:
        among = self._latest if importance else self._latest_copy
        numbers = {entry.seq for entry in among.values()}
        every = self.changes(after=after, limit=2**62, latest=True)
        return [one for one in every if one.seq in numbers and not one.is_removal][:limit]

    @override
    def latest(self, urls: Sequence[str], *, importance: bool = True) -> list[Change]:
        among = self._latest if importance else self._latest_copy
        return [replace(among[url], edit=None) for url in urls if url in among]

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
                self._entries[entry.seq] = replace(entry, edit=None)
                for among in (self._latest, self._latest_copy):
                    if among[entry.url].seq == entry.seq:
                        among[entry.url] = self._entries[entry.seq]
            else:
                del self._entries[entry.seq]
        return len(old[limit:])
