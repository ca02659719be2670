"""Conformance tests for every sink."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from recrawl.crawler.ports import Sink
from recrawl.crawler.runtime.feed_reader import record_of
from recrawl.errors import SinkError
from recrawl.terms import Change, ChangeKind, Item, Verdict

_KINDS = {
    "n": ChangeKind.NEW, "c": ChangeKind.CHANGED, "m": ChangeKind.MOVED, "r": ChangeKind.REMOVED,
    "i": ChangeKind.IMPORTANCE,
}  # fmt: skip
_TAKES = {Verdict.OK, Verdict.STALE}


def item_of(seq: int, what: str, text: str = "words") -> Item:
    """Return a change: its first letter says the kind, the rest is the path; its version is seq."""
    kind = _KINDS[what[0]]
    removed = kind in (ChangeKind.MOVED, ChangeKind.REMOVED)
    change = Change(
        seq,
        1_800_000_000.0 + seq,
        kind,
        f"http://a.test/{what[1:]}",
        seq,
        None if removed else f"{seq}".encode(),
        None if removed else 1_800_000_000.0,
        "Title",
        why="gone" if removed else None,
        importance=2.5 if kind is ChangeKind.IMPORTANCE else None,
    )
    content = None if removed else text
    return Item(change, content, record_of(change, "text", content))


class SinkSuite:
    """Conformance tests for every sink."""

    def make(self, directory: Path) -> Sink:
        """Return a sink; what it keeps outlives it, and is found by the next one made."""
        raise NotImplementedError

    def held(self, directory: Path) -> dict[str, int]:
        """Return path and version of every page that is held."""
        raise NotImplementedError

    def away(self, directory: Path, *, is_away: bool) -> None:
        """Have what is behind the sink go away, or come back."""
        raise NotImplementedError

    @pytest.fixture
    def sink(self, tmp_path: Path) -> Iterator[Sink]:
        """Give a sink that holds nothing."""
        made = self.make(tmp_path)
        yield made
        made.close()

    def _apply(self, sink: Sink, seq: int, *what: str) -> list[Verdict]:
        items = [item_of(seq + place, one) for place, one in enumerate(what)]
        return [taken.verdict for taken in sink.apply(items, f"{seq}-{seq + len(what)}")]

    def test_it_holds_what_it_was_told_last(self, sink: Sink, tmp_path: Path) -> None:
        """New, changed, moved and removed pages, batch after batch."""
        first = self._apply(sink, 1, "na", "nb", "nc")
        assert self.held(tmp_path) == {"a": 1, "b": 2, "c": 3}
        second = self._apply(sink, 4, "ca", "rb", "mc", "nd")

        assert self.held(tmp_path) == {"a": 4, "d": 7}
        assert set(first + second) <= _TAKES

    def test_what_comes_again_has_no_second_effect(self, sink: Sink, tmp_path: Path) -> None:
        """As after a crash between its taking a batch and our knowing it; for a new sink too."""
        self._apply(sink, 1, "na", "nb")
        self._apply(sink, 3, "ca", "rb")
        sink.close()
        again = self.make(tmp_path)
        verdicts = self._apply(again, 3, "ca", "rb")

        assert self.held(tmp_path) == {"a": 3}
        assert set(verdicts) <= _TAKES
        again.close()

    def test_what_is_older_changes_nothing(self, sink: Sink, tmp_path: Path) -> None:
        """Though it comes under another name."""
        self._apply(sink, 5, "na", "nb")

        self._apply(sink, 1, "ca", "rb")

        assert self.held(tmp_path) == {"a": 5, "b": 6}

    def test_a_new_importance_is_a_whole_page_anew(self, sink: Sink, tmp_path: Path) -> None:
        """Of a page that is held, and of one that is not: so nothing else is needed to hold it."""
        self._apply(sink, 1, "na")
        verdicts = self._apply(sink, 2, "ia", "ib")

        assert self.held(tmp_path) == {"a": 2, "b": 3}
        assert set(verdicts) <= _TAKES

    def test_any_text_arrives(self, sink: Sink, tmp_path: Path) -> None:
        """Of any signs and of a megabyte."""
        items = [
            item_of(1, "na", "\u2028 \x85 \U0001f600 'quotes' \"and\" \\ ;-- ☃ \n\n\t"),
            item_of(2, "nb", "x" * 1_000_000),
        ]
        assert {taken.verdict for taken in sink.apply(items, "1-2")} <= _TAKES
        assert self.held(tmp_path) == {"a": 1, "b": 2}

    def test_a_sink_that_is_away_says_so_and_goes_on_later(
        self, sink: Sink, tmp_path: Path
    ) -> None:
        """Nothing is lost, and nothing need be made anew."""
        self._apply(sink, 1, "na")
        self.away(tmp_path, is_away=True)
        with pytest.raises(SinkError):
            self._apply(sink, 2, "nb")
        self.away(tmp_path, is_away=False)
        self._apply(sink, 2, "nb")

        assert self.held(tmp_path) == {"a": 1, "b": 2}

    def test_what_a_scan_tells_is_what_is_held(self, sink: Sink, tmp_path: Path) -> None:
        """Or it says that it cannot tell."""
        self._apply(sink, 1, "na", "nb")
        self._apply(sink, 3, "rb", "nc")
        scanned = sink.scan()

        if scanned is not None:
            told = {url.rpartition("/")[2]: version for url, version in scanned}
            assert told == self.held(tmp_path)

    def test_closing_twice_is_nothing(self, sink: Sink) -> None:
        """It may have failed before."""
        self._apply(sink, 1, "na")
        sink.close()
        sink.close()


def replayed(records: Sequence[dict[str, object]]) -> dict[str, int]:
    """Return what one has who follows records: path and version of every page."""
    held: dict[str, int] = {}
    for record in records:
        path, version = str(record["url"]).rpartition("/")[2], int(str(record["version"]))
        if record["kind"] in ("removed", "moved"):
            held.pop(path, None)
        else:
            held[path] = version
    return held
