"""Bringing changes to a sink: in order, from where it was, whatever the sink does."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf
from pathlib import Path
from typing import Any

import pytest
from tests.fed import HOST, Fed
from typing_extensions import override

from recrawl.crawler.ports import PageIndex, Sink
from recrawl.crawler.reports.content import content_as
from recrawl.crawler.runtime.delivering import Courier, CourierRules, Verified
from recrawl.crawler.runtime.feed_reader import FeedReader, Wanted
from recrawl.crawler.wiring.stores import open_deliveries
from recrawl.errors import SinkError
from recrawl.terms import Change, Item, SinkState, Taken, Verdict

OK = Taken(Verdict.OK)


class Table(Sink):
    """A sink that does what a test says before it takes what it is told."""

    def __init__(self) -> None:
        self.held: dict[str, tuple[int, str | None]] = {}
        self.batches: list[tuple[str, list[str]]] = []
        self.told: list[tuple[str, str, object]] = []
        self.verdicts: dict[str, Taken] = {}
        self.fails: Callable[[], None] = lambda: None

    @override
    def apply(self, items: Sequence[Item], batch: str) -> list[Taken]:
        self.batches.append((batch, [item.change.url[len(HOST) :] for item in items]))
        self.fails()
        return [self._one(item) for item in items]

    def _one(self, item: Item) -> Taken:
        path = item.change.url[len(HOST) :]
        if path in self.verdicts:
            return self.verdicts[path]
        if item.change.is_removal:
            self.held.pop(path, None)
        else:
            self.held[path] = (item.change.version, item.content)
            self.told.append((item.change.kind.value, path, item.record.get("importance")))
        return OK

    @override
    def scan(self) -> Iterable[tuple[str, int]] | None:
        return [(HOST + path, version) for path, (version, _) in self.held.items()]

    @override
    def close(self) -> None:
        pass


class World:
    """A state, a sink, a clock, and what goes between."""

    def __init__(self, folder: Path) -> None:
        self.fed = Fed(folder)
        self.sink = Table()
        self.now_s = 1_000.0
        self.deliveries = open_deliveries(folder)
        self.rules = CourierRules(batch=10)
        self.wanted = Wanted(content="text", latest=True)

    @property
    def courier(self) -> Courier:
        """A new one each time, as after a start."""
        index: Callable[[], PageIndex | None] = lambda: self.fed.index  # noqa: E731
        reader = FeedReader(self.fed.frontier.feed, index, self.wanted, content_as)
        return Courier(
            "table", self.sink, reader, self.deliveries, rules=self.rules, now_s=lambda: self.now_s
        )

    def deliver(self) -> None:
        """Until everything was told, or it is to wait."""
        while self.courier.deliver() == 0.0:
            pass

    def close(self) -> None:
        """Release files."""
        self.deliveries.close()
        self.fed.close()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path / "state")
    yield made
    made.close()


def texts(world: World) -> dict[str, str | None]:
    return {path: text for path, (_, text) in world.sink.held.items()}


def test_a_sink_gets_every_page_and_then_what_changes(world: World) -> None:
    """Each page's last word only, with what the index holds."""
    world.fed.put("/a", "/b", "/c", text="one")
    world.fed.put("/a", text="two")
    world.fed.drop("/b")
    world.deliver()
    assert texts(world) == {"/c": "one of /c", "/a": "two of /a"}
    assert world.sink.batches == [("0-5", ["/c", "/a", "/b"])]

    world.fed.put("/d", text="three")
    world.deliver()
    assert world.sink.batches[-1] == ("5-6", ["/d"])
    state = world.deliveries.of("table")
    assert (state.seq, state.delivered, state.dead, state.trouble) == (6, 4, 0, None)
    assert (state.sending, world.courier.trouble) == (0, "")
    assert world.courier.deliver() is None


def test_of_a_feed_that_was_begun_anew_everything_is_told(world: World) -> None:
    """Whatever of the one before had been, or may have been."""
    world.deliveries.save(SinkState("table", seq=50, sending=60))
    world.fed.put("/a", "/b")

    world.deliver()

    assert world.sink.batches == [("0-2", ["/a", "/b"])]


def test_trouble_is_told_in_so_many_words(world: World) -> None:
    """The first five hundred characters; until it is over."""
    world.fed.put("/a")
    world.sink.fails = _fails("away " * 200)
    world.deliver()

    assert world.courier.trouble == ("away " * 100)

    world.sink.fails = lambda: None
    world.now_s += 60.0
    world.deliver()
    assert world.courier.trouble == ""


def test_pages_apart_are_those_that_can_be_mended() -> None:
    """What another crawl wrote there is not for this one to mend."""
    found = Verified(pages=100, missing=1, older=2, extra=4, newer=8, unknown=16, mended=32)
    assert found.n_apart == 7


def test_a_batch_is_sent_again_under_its_name(world: World) -> None:
    """Also where more has come since: the receiver may know it by its name."""
    world.fed.put("/a", "/b")
    world.sink.fails = _fails("away")
    world.deliver()
    world.fed.put("/c")
    world.sink.fails = lambda: None
    world.now_s += 60.0
    world.deliver()

    assert world.sink.batches == [("0-2", ["/a", "/b"])] * 2 + [("2-3", ["/c"])]


def test_a_batch_is_sent_again_under_its_name_after_the_end_of_its_process(world: World) -> None:
    """It was sent, and nothing was written any more: what has come since is in the next one."""

    def killed() -> None:
        raise KeyboardInterrupt

    world.fed.put("/a", "/b")
    world.sink.fails = killed
    with pytest.raises(KeyboardInterrupt):
        world.deliver()
    world.fed.put("/c")
    world.sink.fails = lambda: None
    world.deliver()

    assert world.sink.batches == [("0-2", ["/a", "/b"])] * 2 + [("2-3", ["/c"])]


def test_a_batch_that_is_smaller_when_it_is_sent_again_loses_nothing(world: World) -> None:
    """Its bounds were set otherwise, or its texts have grown, since it was sent first."""
    world.fed.put("/a", "/b", "/c")
    world.sink.fails = _fails("away")
    world.deliver()
    world.sink.fails = lambda: None
    world.now_s += 60.0
    world.rules = CourierRules(batch=1)
    world.deliver()

    assert sorted(texts(world)) == ["/a", "/b", "/c"]
    assert world.deliveries.of("table").seq == 3


def _fails(why: str, **told: float) -> Callable[[], None]:
    def fail() -> None:
        raise SinkError(why, **told)

    return fail


def test_a_sink_that_is_away_is_left_alone_for_ever_longer(world: World) -> None:
    """And for as long as it asks; nothing is lost."""
    world.fed.put("/a")
    world.sink.fails = _fails("away")
    waits = []
    for _ in range(14):
        wait_s = world.courier.deliver()
        assert wait_s is not None
        waits.append(wait_s)
        assert world.courier.deliver() == pytest.approx(wait_s), "it was asked too soon"
        world.now_s += wait_s
    assert 0.5 <= waits[0] <= 1.0
    assert all(0.5 * 2.0**n <= wait_s <= 2.0**n for n, wait_s in enumerate(waits[:9]))
    assert max(waits) <= 900.0
    assert len({wait_s / 2.0**n for n, wait_s in enumerate(waits[:9])}) > 1, "all come at once"
    assert world.deliveries.of("table").failures == 14
    assert world.deliveries.of("table").trouble == "away"

    world.sink.fails = _fails("busy", retry_after_s=3_600.0)
    assert world.courier.deliver() == pytest.approx(3_600.0)
    world.now_s += 3_600.0
    world.sink.fails = lambda: None
    world.deliver()
    assert texts(world) == {"/a": "words of /a"}
    assert world.deliveries.of("table").failures == 0


def test_a_sink_is_left_alone_for_a_day_at_most_whatever_it_asks(world: World) -> None:
    """And nobody waits for an instant that a clock gone wrong has set."""
    world.fed.put("/a")
    world.sink.fails = _fails("busy", retry_after_s=7 * 86_400.0)

    assert world.courier.deliver() == pytest.approx(86_400.0)
    assert world.courier.deliver() == pytest.approx(86_400.0)
    world.sink.fails = lambda: None
    world.now_s -= 1.0
    world.deliver()
    assert texts(world) == {"/a": "words of /a"}


def test_what_fails_for_days_is_given_up_where_that_is_asked_for(world: World) -> None:
    """And is told; what follows is delivered."""
    world.rules = CourierRules(retry_for_s=86_400.0)
    world.fed.put("/a")
    world.sink.fails = _fails("answered 500")
    for _ in range(200):
        wait_s = world.courier.deliver()
        world.now_s += wait_s or 0.0
        if not wait_s:
            break
    world.sink.fails = lambda: None
    world.fed.put("/b")
    world.deliver()

    state = world.deliveries.of("table")
    assert world.now_s > 86_400.0
    assert (state.dead, state.seq) == (1, 2)
    ((seq, url, why),) = world.deliveries.dead("table", 9)
    assert (seq, url) == (1, f"{HOST}/a")
    assert "answered 500" in why
    assert list(texts(world)) == ["/b"]


def test_what_a_sink_will_never_take_is_put_aside(world: World) -> None:
    """By itself: what stands beside it in the batch is delivered."""
    world.fed.put("/a", "/b", "/c")
    world.sink.verdicts["/b"] = Taken(Verdict.REJECT, "too long")
    world.deliver()

    assert list(texts(world)) == ["/a", "/c"]
    assert world.deliveries.dead("table", 9) == [(2, f"{HOST}/b", "too long")]
    assert world.deliveries.of("table").trouble == "too long"
    assert world.deliveries.of("table").seq == 3


def test_what_is_to_be_told_again_holds_up_what_follows(world: World) -> None:
    """So that the changes of a page stay in order."""
    world.fed.put("/a", "/b", "/c")
    world.sink.verdicts["/b"] = Taken(Verdict.RETRY, "429")
    world.deliver()
    assert world.deliveries.of("table").seq == 1
    assert world.deliveries.of("table").trouble == "429"
    world.sink.verdicts.clear()
    world.now_s += 60.0
    world.deliver()

    assert world.sink.batches[-1] == ("1-3", ["/b", "/c"])
    assert sorted(texts(world)) == ["/a", "/b", "/c"]


@pytest.mark.parametrize("nonsense", [[], [OK] * 3])
def test_a_sink_that_answers_nonsense_is_asked_again(
    world: World, nonsense: list[Taken], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Too few verdicts, too many, or an error that nobody thought of."""
    world.fed.put("/a")
    monkeypatch.setattr(world.sink, "apply", lambda *_: nonsense)
    assert world.courier.deliver()
    assert "verdicts on 1 changes" in str(world.deliveries.of("table").trouble)
    world.now_s += 60.0
    monkeypatch.setattr(world.sink, "apply", lambda *_: 1 / 0)
    assert world.courier.deliver()
    assert "ZeroDivisionError" in str(world.deliveries.of("table").trouble)
    assert world.deliveries.of("table").seq == 0


async def later(*_: object) -> list[Taken]:
    return [OK]


def worded(*_: object) -> list[Taken]:
    word: Any = "retry"
    return [Taken(word)]


def leave(*_: object) -> list[Taken]:
    raise SystemExit(3)


@pytest.mark.parametrize(
    ("apply", "said"),
    [
        (later, "apply is async"),
        (leave, "SystemExit: 3"),
        (lambda *_: None, "apply answered None; a list of recrawl.terms.Taken is wanted"),
        (lambda *_: [True], "apply answered with True"),
        (worded, "apply answered with Taken(verdict='retry'"),
    ],
)
def test_what_is_no_verdict_is_told_as_the_sinks_trouble(
    world: World, apply: Callable[..., Any], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever somebody wrote: it is kept with the state, for all to see, and nothing is lost."""
    world.fed.put("/a")
    monkeypatch.setattr(world.sink, "apply", apply)

    assert world.courier.deliver()
    state = world.deliveries.of("table")
    assert str(state.trouble).startswith(said)
    assert (state.seq, state.failures) == (0, 1)


def test_a_sink_that_holds_what_no_page_is_says_so(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.fed.put("/a")
    for answer, said in (([(f"{HOST}/a", "1")], "scan told of"), ([7], "scan: TypeError")):
        monkeypatch.setattr(world.sink, "scan", lambda answer=answer: answer)

        with pytest.raises(SinkError, match=said):
            world.courier.verify()


def test_a_copy_that_is_being_replaced_comes_with_what_replaced_it(world: World) -> None:
    """The index is ahead of the feed for a moment: no page is told under an older version."""
    world.fed.put("/a", "/b", text="one")
    document = world.fed.index.copy(f"{HOST}/a")
    assert document is not None
    world.fed.put("/a", text="two")
    signature = b"three"
    world.fed.index.replace(type(document)(f"{HOST}/a", "T", "three of /a", 9.0, signature))
    world.fed.index.commit()
    world.deliver()
    assert texts(world) == {"/b": "one of /b"}

    world.fed.frontier.reconcile(1, signature, 2e9)
    world.deliver()
    assert texts(world) == {"/b": "one of /b", "/a": "three of /a"}


def test_a_feed_that_was_begun_anew_is_told_from_the_start(world: World) -> None:
    """Its numbers are behind those of the sink."""
    world.fed.put("/a")
    state = world.deliveries.of("table")
    world.deliveries.save(type(state)("table", seq=99))
    world.deliver()

    assert list(texts(world)) == ["/a"]


def test_a_comparison_finds_and_mends_what_differs(world: World) -> None:
    """Missing, older, not removed; what this crawl never had is left alone."""
    world.fed.put("/a", "/b", "/c", "/d")
    world.fed.drop("/d")
    world.deliver()
    held = world.sink.held
    del held["/a"]
    held["/b"] = (1, "old")
    held["/d"] = (5, "gone")
    held["/stranger"] = (5, "of somebody")
    held["/c"] = (2**60, "of the future")
    found = world.courier.verify()

    assert found is not None
    assert (found.pages, found.missing, found.older, found.extra) == (3, 1, 1, 1)
    assert (found.newer, found.unknown, found.mended) == (1, 1, 3)
    assert texts(world) == {
        "/a": "words of /a", "/b": "words of /b", "/c": "of the future",
        "/stranger": "of somebody",
    }  # fmt: skip
    assert world.sink.batches[-1][0] == f"verify-{world.fed.frontier.feed.last()}-3"
    again = world.courier.verify()
    assert again is not None
    assert again.n_apart == 0


def test_a_sink_that_fails_for_ever_is_never_given_up(world: World) -> None:
    """Where nobody asked for that."""
    world.fed.put("/a")
    world.sink.fails = _fails("away")
    for _ in range(60):
        world.now_s += world.courier.deliver() or 0.0
    assert world.rules.retry_for_s == inf
    assert world.deliveries.of("table").dead == 0
    assert world.deliveries.of("table").seq == 0


def test_a_new_importance_comes_with_the_whole_page(world: World) -> None:
    """In one batch with a change of the copy both are one change, of that one's kind."""
    world.fed.put("/a", "/b")
    world.fed.weigh("/a", 2.00004)
    world.deliver()
    world.fed.weigh("/a", 4.0)
    world.fed.weigh("/b", 8.0)
    world.fed.put("/b", text="two")
    world.deliver()

    assert world.sink.told == [
        ("new", "/b", None), ("new", "/a", 2.0), ("importance", "/a", 4.0), ("changed", "/b", None),
    ]  # fmt: skip
    assert texts(world) == {"/a": "words of /a", "/b": "two of /b"}
    found = world.courier.verify()
    assert found is not None
    assert (found.pages, found.n_apart, found.newer) == (2, 0, 0)


def test_a_sink_that_wants_no_importance_knows_nothing_of_it(world: World) -> None:
    """Neither changes nor numbers; and a comparison does not miss them."""
    world.wanted = Wanted(content="text", latest=True, importance=False)
    world.fed.frontier.feed.say_importance()
    world.fed.put("/a", "/b")
    world.fed.weigh("/a", 2.0)
    world.deliver()
    world.fed.weigh("/b", 2.0)
    world.deliver()

    assert world.sink.told == [("new", "/a", None), ("new", "/b", None)]
    assert world.deliveries.of("table").seq == world.fed.frontier.feed.last()
    found = world.courier.verify()
    assert found is not None
    assert (found.n_apart, found.newer) == (0, 0)


def test_what_is_mended_is_no_mere_importance(world: World) -> None:
    """The sink has lost the page: it must be told so that it takes the whole of it."""
    world.fed.put("/a")
    world.fed.weigh("/a", 2.0)
    world.deliver()
    world.sink.held.clear()
    found = world.courier.verify()

    assert found is not None
    assert (found.missing, found.mended) == (1, 1)
    assert world.sink.told[-1] == ("changed", "/a", 2.0)
    assert texts(world) == {"/a": "words of /a"}


def test_a_page_that_went_while_a_batch_was_read_is_gone(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two words on a page that one batch has, the later one counts."""
    world.fed.put("/a")
    feed = world.fed.frontier.feed
    read = feed.changes

    def changes(**asked: Any) -> list[Change]:
        found = read(**asked)
        if asked["after"] == 0:
            world.fed.drop("/a")
        return found

    monkeypatch.setattr(feed, "changes", changes)
    world.deliver()

    assert world.sink.batches == [("0-2", ["/a"])]
    assert texts(world) == {}
