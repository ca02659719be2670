"""Reads the feed for whoever is told of changes: what became of a page, and what it says now."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from recrawl.crawler.control.texts.chunks import chunks
from recrawl.crawler.control.texts.word_differences import marked_words
from recrawl.crawler.ports import Feed, PageIndex
from recrawl.terms import Change, ChangeKind, Document, Item

CONTENT: Final = ("none", "text", "markdown", "html")
LEAST_CHUNK, MOST_CHUNK = 50, 100_000  # characters of a piece
_SAID: Final = ("published", "modified", "author", "licenses", "robots", "usage")
_AT_ONCE: Final = 500  # entries that are read from the state at a time
_MOST_LOOKS: Final = 40  # for one answer, however few of what it sees are wanted
_MOST_CHARACTERS: Final = 8_000_000  # of content in one answer


@dataclass(frozen=True, slots=True)
class Wanted:
    """Query for changes of the feed.

    Parameters
    ----------
    content : of ``CONTENT``: what comes with each page that has a copy
    matches : tells by the address whether a page is wanted
    kinds : of changes
    edits : whether the diff comes with it
    latest : whether what was overtaken is left out
    chunk : characters of the pieces in which a page comes besides; 0: in none
    importance : whether what pages are worth is told, and when only that has changed
    """

    content: str = "none"
    matches: Callable[[str], bool] | None = None
    kinds: Collection[ChangeKind] = frozenset(ChangeKind)
    edits: bool = False
    latest: bool = False
    chunk: int = 0
    importance: bool = True

    @property
    def takes_all(self) -> bool:
        """True where no kind of change and no address is left out."""
        return self.matches is None and self.importance and set(self.kinds) == set(ChangeKind)

    def matches_url(self, url: str) -> bool:
        """Tell whether a page is wanted."""
        return self.matches is None or self.matches(url)

    def takes(self, change: Change) -> bool:
        """Tell whether a change is wanted."""
        if change.kind is ChangeKind.IMPORTANCE and not self.importance:
            return False
        return change.kind in self.kinds and self.matches_url(change.url)


class FeedReader:
    """Reads changes in order, each with what the index holds.

    Parameters
    ----------
    feed : of the crawl's state
    index : returns the index of the latest commit; None while there is none
    wanted : what is read
    content_as : returns the content of a copy in a form of ``CONTENT``
    """

    def __init__(
        self,
        feed: Feed,
        index: Callable[[], PageIndex | None],
        wanted: Wanted,
        content_as: Callable[[Document, str], str],
    ) -> None:
        self.feed = feed
        self._index = index
        self._wanted = wanted
        self._content_as = content_as

    def read(
        self, after: int, limit: int, until: int | None = None, most: int = _MOST_CHARACTERS
    ) -> tuple[list[Item], int]:
        """Return up to ``limit`` changes after a number, and the number up to which that is all.

        Fewer come, and maybe none, where little of much is wanted: go on from there.

        A change whose copy the index does not hold any more in this edition comes with a later
        entry, which is written with or soon after what replaced it; it is left out where content
        is wanted of every page.

        Where only what was not overtaken is wanted, each page comes once in an answer: a change of
        its copy and of its importance after that are one change, of the kind of the first.

        Parameters
        ----------
        until : the last number that may be read
        most : characters of content, after which the answer ends
        """
        wanted, items, characters, at = self._wanted, dict[object, Item](), 0, after
        at_once = min(_AT_ONCE, limit if wanted.takes_all else 4 * limit)
        for _ in range(_MOST_LOOKS):
            changes = self.feed.changes(
                after=at,
                limit=at_once,
                latest=wanted.latest,
                edits=wanted.edits,
            )
            if not changes:
                return list(items.values()), at
            for change in changes:
                if until is not None and change.seq > until:
                    return list(items.values()), at
                item = self._item(change) if wanted.takes(change) else None
                if item is not None:
                    characters += len(item.content or "")
                    if items and characters > most:
                        return list(items.values()), at
                    key = change.url if wanted.latest else change.seq
                    before = items.pop(key, None)
                    if before is not None and change.kind is ChangeKind.IMPORTANCE:
                        item = _as_kind(item, before.change.kind)
                    items[key] = item
                at = change.seq
                if len(items) >= limit:
                    return list(items.values()), at
        return list(items.values()), at

    def live(self) -> Iterator[Change]:
        """Yield the latest change of every page that is wanted and has a copy."""
        live = self.feed.live(importance=self._wanted.importance)
        return (change for change in live if self._wanted.matches_url(change.url))

    def latest(self, urls: Sequence[str]) -> list[Change]:
        """Return the latest change of each of these pages that ever had a copy."""
        return self.feed.latest(urls, importance=self._wanted.importance)

    def whole(self, changes: Sequence[Change]) -> list[Item]:
        """Return the latest changes of pages for one who may lack the copies, if wanted."""
        items = [self._item(change) for change in changes if self._wanted.takes(change)]
        return [
            _as_kind(item, ChangeKind.CHANGED)
            if item.change.kind is ChangeKind.IMPORTANCE
            else item
            for item in items
            if item is not None
        ]

    def _item(self, change: Change) -> Item | None:
        wanted, content, copy = self._wanted.content, None, None
        if not self._wanted.importance:
            change = replace(change, importance=None)
        has_copy = not change.is_removal and change.is_latest
        if has_copy and (wanted != "none" or change.title is None):
            index = self._index()
            copy = None if index is None else index.copy(change.url)
            if copy is not None and copy.signature == change.signature:
                change = _completed(change, copy)
                if wanted != "none":
                    content = self._content_as(copy, wanted)
            elif wanted != "none" and self._wanted.latest:
                return None
        record = record_of(change, wanted, content)
        if copy is not None and content is not None:
            record |= about_of(copy)
            if self._wanted.chunk:
                record["chunks"] = self._chunks(copy)
        return Item(change, content, record)

    def _chunks(self, copy: Document) -> list[dict[str, object]]:
        places = copy.about.places if copy.about is not None else ()
        found = chunks(copy.url, self._content_as(copy, "markdown"), places, self._wanted.chunk)
        return [one._asdict() | {"headings": list(one.headings)} for one in found]


def _as_kind(item: Item, kind: ChangeKind) -> Item:
    record = {**item.record, "kind": kind.value}
    return replace(item, change=replace(item.change, kind=kind), record=record)


def _completed(change: Change, copy: Document) -> Change:
    """Say what an entry does not that was made when a copy was found again."""
    return replace(
        change,
        title=copy.title if change.title is None else change.title,
        fetched_at_s=copy.fetched_at_s if change.fetched_at_s is None else change.fetched_at_s,
        language=change.language or copy.language,
    )


def about_of(copy: Document) -> dict[str, object]:
    """Return what a page says of itself, as plain values; what it does not say is left out."""
    if copy.about is None:
        return {}
    said = {name: getattr(copy.about, name) for name in _SAID}
    said["licenses"] = list(copy.about.licenses)
    told = {name: value for name, value in said.items() if value}
    return {"about": told} if told else {}


@lru_cache(maxsize=64)  # entries that were recorded together have one instant
def shown_instant(instant_s: float | None) -> str | None:
    """Return an instant in ISO 8601, UTC, to the millisecond."""
    if instant_s is None:
        return None
    told = datetime.fromtimestamp(instant_s, UTC).isoformat(timespec="milliseconds")
    return told.replace("+00:00", "Z")


def record_of(change: Change, wanted: str, content: str | None) -> dict[str, object]:
    """Return a change as plain values.

    Parameters
    ----------
    change : of the feed
    wanted : of ``CONTENT``, what its content is; the name that the record has it by
    content : of the copy; None: none is told
    """
    record: dict[str, object] = {
        "seq": change.seq,
        "at": shown_instant(change.at_s),
        "kind": change.kind.value,
        "url": change.url,
        "version": change.version,
        "title": change.title,
        "fetched_at": shown_instant(change.fetched_at_s),
        "signature": None if change.signature is None else change.signature.hex(),
        "canonical": change.canonical,
        "language": change.language or None,
        "content_type": change.content_type or None,
    }
    if change.is_removal:
        record |= {"moved_to": change.moved_to, "why": change.why}
    if change.importance is not None:
        record["importance"] = float(f"{change.importance:.4g}")
    if not change.is_latest:
        record["overtaken"] = True
    if content is not None:
        record[wanted] = content
    if change.edit is not None:
        record |= {"diff": change.edit, "diff_html": marked_words(change.edit)}
    return record
