"""Conformance tests for the feed of every frontier."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from recrawl.crawler.ports import AdmissionLimits, Frontier
from recrawl.terms import (
    Change,
    Discovery,
    Kind,
    Outcome,
    PageState,
    PageUpdate,
    PageWorth,
    Visit,
)

HOST = "http://a.test"
DAY_S = 86_400.0


class FeedSuite:
    """Conformance tests for the feed of every frontier."""

    def make(self, directory: Path) -> Frontier:
        """Return a new frontier; ``directory`` is empty and its own."""
        raise NotImplementedError

    @pytest.fixture
    def frontier(self, tmp_path: Path) -> Iterator[Frontier]:
        """Give a frontier that knows three pages and a sitemap."""
        made = self.make(tmp_path)
        found = [Discovery(f"{HOST}/{name}", HOST) for name in "abc"]
        found.append(Discovery(f"{HOST}/map.xml", HOST, Kind.SITEMAP))
        made.admit(found, 0.0, AdmissionLimits())
        yield made
        made.close()

    def _visit(
        self, frontier: Frontier, name: str, at_s: float, signature: bytes | None, **fields: object
    ) -> None:
        """Record a visit of one page, which finds a copy or takes it away."""
        host_id = frontier.hosts()[0].host_id
        leases = frontier.lease(
            host_id, limit=9, due_by_s=1e12, now_s=at_s, until_s=at_s + 1.0, discovery_share=0.5
        )
        lease = next(one for one in leases if one.url == f"{HOST}/{name}")
        frontier.release([one for one in leases if one is not lease])
        outcome = Outcome.NEW if lease.signature is None else Outcome.CHANGED
        state = PageState.INDEXED
        if signature is None:
            outcome, state = Outcome.GONE, PageState.GONE
        values: dict[str, object] = {"signature": signature, "title": f"Title of {name}"}
        update = PageUpdate(lease, Visit(at_s, outcome), state, at_s + 9.0)
        frontier.complete([replace(update, **(values | fields))], at_s)  # type: ignore[arg-type]

    def _told(self, changes: list[Change]) -> list[tuple[int, str, str, bytes | None]]:
        return [(one.seq, one.kind.value, one.url[-1], one.signature) for one in changes]

    def test_every_change_of_a_copy_is_told_once_in_order(self, frontier: Frontier) -> None:
        """New, changed, removed, and new again; a visit that changes nothing tells nothing."""
        self._visit(frontier, "a", 10.0, b"1")
        self._visit(frontier, "b", 11.0, b"2")
        self._visit(frontier, "a", 12.0, b"1")
        self._visit(frontier, "a", 13.0, b"3")
        self._visit(frontier, "a", 14.0, None)
        self._visit(frontier, "a", 15.0, None)
        self._visit(frontier, "a", 16.0, b"3")

        changes = frontier.feed.changes(after=0, limit=99)
        assert self._told(changes) == [
            (1, "new", "a", b"1"),
            (2, "new", "b", b"2"),
            (3, "changed", "a", b"3"),
            (4, "removed", "a", None),
            (5, "new", "a", b"3"),
        ]
        assert frontier.feed.last() == 5
        assert [one.is_latest for one in changes] == [False, True, False, False, True]
        versions = [one.version for one in changes if one.url.endswith("/a")]
        assert versions == [10_000, 13_000, 14_000, 16_000]  # milliseconds

    def test_what_was_overtaken_can_be_left_out(self, frontier: Frontier) -> None:
        """And what comes after a number is read in pieces."""
        self._visit(frontier, "a", 10.0, b"1")
        self._visit(frontier, "b", 11.0, b"2")
        self._visit(frontier, "a", 12.0, b"3")
        feed = frontier.feed

        assert self._told(feed.changes(after=0, limit=9, latest=True)) == [
            (2, "new", "b", b"2"),
            (3, "changed", "a", b"3"),
        ]
        assert [one.seq for one in feed.changes(after=1, limit=1)] == [2]
        assert feed.changes(after=3, limit=9) == []
        assert [one.seq for one in feed.recent(2)] == [3, 2]
        assert [one.seq for one in feed.live()] == [2, 3]
        assert [one.seq for one in feed.live(after=2, limit=1)] == [3]
        assert [one.seq for one in feed.latest([f"{HOST}/a", f"{HOST}/none"])] == [3]

    def test_an_entry_says_what_is_known_of_the_copy(self, frontier: Frontier) -> None:
        """And its diff where that is asked for; a removal, where the page has gone."""
        said = {"language": "de", "canonical": f"{HOST}/b", "content_type": "text/html"}
        self._visit(frontier, "a", 10.0, b"1", **said, edit="-x\n+y")
        moved = {"state": PageState.MOVED, "redirect_url": f"{HOST}/c", "title": None}
        self._visit(frontier, "b", 11.0, b"2")
        self._visit(frontier, "b", 12.0, None, **moved)
        first, _, last = frontier.feed.changes(after=0, limit=9, edits=True)

        assert (first.title, first.language, first.canonical) == ("Title of a", "de", f"{HOST}/b")
        assert (first.content_type, first.fetched_at_s, first.edit) == ("text/html", 10.0, "-x\n+y")
        assert (last.kind.value, last.moved_to, last.why) == ("moved", f"{HOST}/c", "moved")
        assert last.title == "Title of b"
        assert frontier.feed.changes(after=0, limit=1)[0].edit is None

    def test_what_an_end_out_of_order_left_is_told_too(self, frontier: Frontier) -> None:
        """By whatever makes state and index agree, and never twice."""
        self._visit(frontier, "a", 10.0, b"1")
        self._visit(frontier, "b", 10.0, b"2")
        (host,) = frontier.hosts()
        ids = {one.url: one.page_id for one in map(frontier.details, self._urls()) if one}
        frontier.reconcile(ids[f"{HOST}/a"], b"9", 20.0)
        frontier.reconcile(ids[f"{HOST}/c"], None, 20.0)
        frontier.agree([(f"{HOST}/b", None), ("http://b.test/new", b"7")], 21.0)

        told = {one.url: one.signature for one in frontier.feed.live()}
        assert told == {f"{HOST}/a": b"9", "http://b.test/new": b"7"}
        assert told == dict(frontier.urls_indexed())
        assert frontier.feed.last() == 5
        assert frontier.feed.mend(30.0) == 0
        assert host.host == HOST

    def _urls(self) -> list[str]:
        return [f"{HOST}/{name}" for name in "abc"]

    def test_instants_never_go_back(self, frontier: Frontier) -> None:
        """Or whoever asks since an instant would miss what a clock set back has recorded."""
        for name, at_s in (("a", 10.0), ("b", 30.0), ("c", 20.0)):
            self._visit(frontier, name, at_s, b"1")
        self._visit(frontier, "a", 40.0, b"2")
        feed = frontier.feed

        assert [one.at_s for one in feed.changes(after=0, limit=9)] == [10.0, 30.0, 30.0, 40.0]
        asked = (5.0, 10.0, 10.5, 30.0, 31.0, 40.0, 99.0)
        assert [feed.before(at_s) for at_s in asked] == [0, 0, 1, 1, 3, 3, 4]

    def test_what_is_old_is_compacted_to_the_latest_of_each_page(self, frontier: Frontier) -> None:
        """In pieces; removals stay, so that whoever begins anew has all that there is."""
        feed = frontier.feed
        for day in range(6):
            self._visit(frontier, "a", DAY_S * day, bytes([day]), edit="+x")
        self._visit(frontier, "b", DAY_S * 5, b"1", edit="+x")
        self._visit(frontier, "b", DAY_S * 5, None)
        while feed.compact(DAY_S * 3.5, limit=2):
            pass
        assert [one.seq for one in feed.changes(after=0, limit=99)] == [5, 6, 7, 8]
        while feed.compact(DAY_S * 20, limit=2):
            pass
        assert [one.seq for one in feed.changes(after=0, limit=99)] == [6, 8]

        self._visit(frontier, "a", DAY_S * 30, b"x", edit="+y")
        self._visit(frontier, "b", DAY_S * 30, b"y", edit="+y")
        assert feed.compact(DAY_S * 20) == 0
        kept = feed.changes(after=0, limit=99, edits=True)
        assert [(one.seq, one.edit) for one in kept] == [(9, "+y"), (10, "+y")]
        while feed.compact(DAY_S * 40):
            pass
        assert [one.edit for one in feed.changes(after=0, limit=99, edits=True)] == [None, None]
        assert feed.last() == 10

    def _weigh(self, frontier: Frontier, **weights: float) -> None:
        """Set what pages are worth."""
        known = {one: frontier.details(f"{HOST}/{one}") for one in weights}
        ids = {name: one.page_id for name, one in known.items() if one is not None}
        frontier.worths.save(
            [PageWorth(ids[name], weight, weight, "{}") for name, weight in weights.items()]
        )

    def _tell(self, frontier: Frontier, names: str, at_s: float) -> int:
        known = (frontier.details(f"{HOST}/{name}") for name in names)
        ids = [one.page_id for one in known if one is not None]
        return frontier.feed.tell_importance(ids, at_s)

    def test_importance_is_told_only_where_that_was_asked(self, frontier: Frontier) -> None:
        """Then with every copy; of each page it is known what was told last."""
        self._visit(frontier, "a", 10.0, b"1")
        self._weigh(frontier, a=3.0, b=2.0)
        frontier.feed.say_importance()
        self._visit(frontier, "b", 11.0, b"1")
        self._visit(frontier, "c", 11.0, b"1")
        self._visit(frontier, "c", 12.0, None)

        told = [one.importance for one in frontier.feed.changes(after=0, limit=9)]
        assert told == [None, 2.0, 1.0, None]
        known = frontier.feed.importances(after=0, limit=9)
        assert [one[1:] for one in known] == [(3.0, None), (2.0, 2.0)]
        assert frontier.feed.importances(after=known[0][0], limit=9) == known[1:]
        assert frontier.feed.importances(after=0, limit=1) == known[:1]

    def test_a_new_importance_says_of_the_copy_what_was_said(self, frontier: Frontier) -> None:
        """And is told of pages with a copy only."""
        said = {"language": "de", "canonical": f"{HOST}/b", "content_type": "text/html"}
        self._visit(frontier, "a", 10.0, b"1", **said, edit="+x")
        self._visit(frontier, "b", 11.0, b"1")
        self._visit(frontier, "b", 12.0, None)
        self._weigh(frontier, a=4.0, b=4.0, c=4.0)
        assert self._tell(frontier, "abc", 13.0) == 1

        first, _, _, last = frontier.feed.changes(after=0, limit=9, edits=True)
        assert (last.kind.value, last.importance, last.edit) == ("importance", 4.0, None)
        assert last.version > first.version
        same = {"seq": 1, "at_s": 10.0, "kind": first.kind, "version": first.version}
        assert replace(last, **same, importance=None, edit="+x") == first  # type: ignore[arg-type]
        assert frontier.feed.importances(after=0, limit=9)[0][1:] == (4.0, 4.0)
        assert frontier.feed.mend(14.0) == 0

    def test_a_new_importance_hides_nothing(self, frontier: Frontier) -> None:
        """Neither the entry of the copy, nor a later one; and versions grow over both."""
        feed = frontier.feed
        self._visit(frontier, "a", 10.0, b"1")
        self._visit(frontier, "b", 10.0, b"1")
        for at_s, weight in ((11.0, 2.0), (12.0, 4.0)):
            self._weigh(frontier, a=weight, b=weight)
            self._tell(frontier, "ab", at_s)
        self._visit(frontier, "b", 13.0, b"2")

        changes = feed.changes(after=0, limit=99)
        assert [one.is_latest for one in changes] == [
            True, False, False, False, True, False, True,
        ]  # fmt: skip
        assert [one.seq for one in feed.changes(after=0, limit=99, latest=True)] == [1, 5, 7]
        assert [one.seq for one in feed.live()] == [5, 7]
        assert [one.seq for one in feed.live(importance=False)] == [1, 7]
        urls = [f"{HOST}/a", f"{HOST}/b"]
        assert [one.seq for one in feed.latest(urls)] == [5, 7]
        assert [one.seq for one in feed.latest(urls, importance=False)] == [1, 7]
        assert [one.seq for one in feed.recent(3)] == [7, 6, 5]
        assert [one.seq for one in feed.recent(3, importance=False)] == [7, 2, 1]
        for name in "ab":
            versions = [one.version for one in changes if one.url.endswith(name)]
            assert versions == sorted(set(versions))
        assert dict(frontier.urls_indexed()) == {one.url: one.signature for one in feed.live()}

    def test_compaction_keeps_the_copy_and_its_last_importance(self, frontier: Frontier) -> None:
        """Whatever the order in which they came."""
        feed = frontier.feed
        self._visit(frontier, "a", DAY_S, b"1")
        self._visit(frontier, "b", DAY_S, b"1")
        for day in (2, 3, 4):
            self._weigh(frontier, a=2.0**day, b=2.0**day)
            self._tell(frontier, "ab", day * DAY_S)
        self._visit(frontier, "b", 5 * DAY_S, b"2")
        while feed.compact(DAY_S * 20, limit=2):
            pass
        assert [one.seq for one in feed.changes(after=0, limit=99)] == [1, 7, 9]

        self._visit(frontier, "a", 30 * DAY_S, None)
        while feed.compact(DAY_S * 40, limit=2):
            pass
        assert [one.seq for one in feed.changes(after=0, limit=99)] == [9, 10]
        assert feed.changes(after=9, limit=1)[0].importance is None
