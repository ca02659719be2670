"""The frontier behind URLFrontier's interface, without a network and with a clock of its own."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.errors import StateError
from recrawl.integrations.revisits.options import RevisitOptions
from recrawl.integrations.urlfrontier.frontier import Frontier, Put, key_of
from recrawl.integrations.urlfrontier.interface import FAIL, METHODS, OK, SKIPPED, message
from recrawl.integrations.urlfrontier.queues import Queues
from recrawl.integrations.urlfrontier.server import Service
from recrawl.integrations.urlfrontier.told import read_metadata
from recrawl.terms import Outcome

NOW_S = 1_700_000_000.0
DAY_S = 86_400.0
RULES = RevisitRules(min_interval_s=600.0, max_interval_s=30 * DAY_S, initial_interval_s=DAY_S)


@contextmanager
def opened(directory: Path, now_s: float = NOW_S, per_day: float = 1e6) -> Iterator[Frontier]:
    frontier = Frontier(RevisitOptions(directory, per_day / DAY_S, RULES), now_s)
    try:
        yield frontier
    finally:
        frontier.close()


def put(
    url: str, refetch_s: float | None = None, key: str = "", crawl: str = "", **said: str
) -> Put:
    info = message("URLInfo")(url=url, key=key, crawlID=crawl)
    for name, value in said.items():
        info.metadata[name.replace("__", ".")].values.append(value)
    return Put(info, refetch_s)


def urls(found: list[bytes]) -> list[str]:
    return [message("URLInfo").FromString(one).url for one in found]


def due_s(frontier: Frontier, url: str) -> float:
    found = frontier.find("DEFAULT", key_of(url, "") or "", url)
    assert found is not None
    return found[1]


def test_the_interface_has_the_published_numbers() -> None:
    """As bytes that a client of the published description sends, written by hand."""
    info = b"\x0a\x03u/1\x12\x01k"  # 1 url, 2 key
    metadata = b"\x1a\x08\x0a\x01a\x12\x03\x0a\x01b"  # 3 metadata {a: [b]}
    known = b"\x0a" + bytes([len(info + metadata)]) + info + metadata + b"\x10\x05"
    sent = b"\x12" + bytes([len(known)]) + known + b"\x1a\x02id"
    item = message("URLItem").FromString(sent)

    assert item.WhichOneof("item") == "known"
    assert (item.ID, item.known.info.url, item.known.info.key) == ("id", "u/1", "k")
    assert list(item.known.info.metadata["a"].values) == ["b"]
    assert item.known.refetchable_from_date == 5
    assert item.SerializeToString() == sent
    assert message("AckMessage")(ID="id", status=2).SerializeToString() == b"\x0a\x02id\x10\x02"
    assert message("BatchAck")(statuses=[0, 1]).SerializeToString() == b"\x12\x02\x00\x01"
    asked = message("GetParams").FromString(b"\x08\x01\x10\x02\x20\x03\x32\x01c")
    assert (asked.max_urls_per_queue, asked.max_queues, asked.delay_requestable) == (1, 2, 3)
    assert asked.WhichOneof("item") == "crawlID"
    assert {one.name for one in METHODS if one.streams_in} == {"PutURLs", "PutDiscovered"}
    file = FileDescriptorProto()
    message("Stats").DESCRIPTOR.file.CopyToProto(file)
    assert file.package == "urlfrontier"


def test_discovered_addresses_are_taken_once_and_handed_out(tmp_path: Path) -> None:
    with opened(tmp_path) as frontier:
        asked = [put("http://a.test/1"), put("http://a.test/1"), put("http://a.test/2")]
        assert frontier.put(asked, NOW_S) == [OK, SKIPPED, OK]
        assert frontier.put([put("http://a.test/2")], NOW_S) == [SKIPPED]
        assert frontier.put([put("nonsense"), put("http://a.test/", key="k" * 256)], NOW_S) == [
            SKIPPED,
            SKIPPED,
        ]
        assert sorted(urls(frontier.get(None, "", NOW_S))) == ["http://a.test/1", "http://a.test/2"]


def test_what_is_handed_out_is_hidden_until_it_is_put_back_or_late(tmp_path: Path) -> None:
    with opened(tmp_path) as frontier:
        frontier.put([put("http://a.test/1"), put("http://a.test/2")], NOW_S)
        (first,) = urls(frontier.get(None, "", NOW_S, max_urls=1, hidden_s=60))
        assert frontier.n_held("DEFAULT", None, NOW_S) == 1
        # No more of a queue are in clients' hands than a client may ask for.
        assert frontier.get(None, "", NOW_S + 10, max_urls=1, hidden_s=60) == []
        (other,) = urls(frontier.get(None, "", NOW_S + 11, max_urls=2, hidden_s=60))
        assert other != first
        frontier.put([put(first, NOW_S, fetch__statusCode="200")], NOW_S + 20)
        assert frontier.get(None, "", NOW_S + 70, max_urls=2) == []
        assert urls(frontier.get(None, "", NOW_S + 72, max_urls=2)) == [other]


def test_queues_take_turns_and_rest(tmp_path: Path) -> None:
    with opened(tmp_path) as frontier:
        frontier.put([put(f"http://{h}.test/{n}") for h in "abc" for n in range(4)], NOW_S)
        first = urls(frontier.get(None, "", NOW_S, max_queues=2, max_urls=2, hidden_s=999))
        second = urls(frontier.get(None, "", NOW_S, max_queues=2, max_urls=2, hidden_s=999))

        assert len(first) == 4
        assert [url[:13] for url in second] == ["http://c.test"] * 2
        assert frontier.get(None, "", NOW_S + 0.5, max_urls=4) == []  # all rest for a second
        frontier.set_delay("DEFAULT", "a.test", 100.0)
        frontier.block("DEFAULT", "b.test", NOW_S + 50)
        later = urls(frontier.get(None, "", NOW_S + 10, max_urls=4, hidden_s=999))
        assert {url[7] for url in later} == {"c"}
        assert {url[7] for url in urls(frontier.get(None, "", NOW_S + 51, max_urls=4))} == {"b"}
        assert "a" in {url[7] for url in urls(frontier.get(None, "", NOW_S + 101, max_urls=4))}


def test_our_due_time_takes_the_place_of_the_clients_but_for_never(tmp_path: Path) -> None:
    with opened(tmp_path) as frontier:
        same = {"fetch__statusCode": "200", "signature": "s"}
        frontier.put([put("http://a.test/1", NOW_S + 5, **same)], NOW_S)
        frontier.put([put("http://a.test/2", 0, **same)], NOW_S)
        assert due_s(frontier, "http://a.test/1") == pytest.approx(NOW_S + DAY_S, rel=1e-3)
        assert due_s(frontier, "http://a.test/2") == float("inf")
        assert frontier.get(None, "", NOW_S + 99 * DAY_S) != []
        # The client thinks better of it.
        frontier.put([put("http://a.test/2", NOW_S, **same)], NOW_S + DAY_S)
        assert NOW_S + DAY_S < due_s(frontier, "http://a.test/2") < NOW_S + 40 * DAY_S
        # Who tells nothing of the fetch knows best when to try again.
        frontier.put([put("http://a.test/3", NOW_S + 77)], NOW_S)
        assert due_s(frontier, "http://a.test/3") == NOW_S + 77


def test_pages_that_change_are_due_sooner_than_pages_that_do_not(tmp_path: Path) -> None:
    with opened(tmp_path, per_day=2) as frontier:
        for day in range(12):
            now_s = NOW_S + day * DAY_S
            frontier.put(
                [
                    put("http://a.test/new", now_s, fetch__statusCode="200", signature=str(day)),
                    put("http://a.test/old", now_s, fetch__statusCode="200", signature="x"),
                    put("http://a.test/304", now_s, fetch__statusCode="304" if day else "200",
                        signature="x"),
                ],
                now_s,
            )  # fmt: skip
        freshness = frontier.plan(now_s + 60)
        dues = [due_s(frontier, f"http://a.test/{name}") for name in ("new", "old", "304")]

        assert freshness is not None
        assert dues[0] - now_s < 0.5 * (dues[1] - now_s)
        assert dues[2] == pytest.approx(dues[1], rel=1e-6)


def test_the_budget_holds_back_known_pages_and_no_first_fetch(tmp_path: Path) -> None:
    with opened(tmp_path, per_day=10) as frontier:
        known = [put(f"http://{n}.test/", NOW_S, fetch__statusCode="200") for n in range(50)]
        frontier.put(known, NOW_S)
        late_s = NOW_S + 40 * DAY_S  # everything is due; as many may be fetched as there are pages
        n = len(frontier.get(None, "", late_s, hidden_s=10 * DAY_S))
        frontier.put([put("http://new.test/")], late_s)
        assert n == 50
        assert urls(frontier.get(None, "", late_s + 60)) == ["http://new.test/"]


def test_a_state_opens_again_as_it_was(tmp_path: Path) -> None:
    with opened(tmp_path) as frontier:
        frontier.put([put("http://a.test/1", depth="2"), put("http://b.test/1")], NOW_S)
        frontier.set_delay("DEFAULT", "", 7.0)
        frontier.block("DEFAULT", "b.test", NOW_S + 100)
        frontier.set_active(is_active=False)
        assert frontier.get(None, "", NOW_S) == []
        with pytest.raises(StateError, match="runs here already"):
            Frontier(frontier.options, NOW_S)
    with opened(tmp_path) as frontier:
        frontier.set_active(is_active=True)
        found = frontier.get(None, "", NOW_S)
        assert frontier.queues.delay_s == 7.0
        assert list(message("URLInfo").FromString(found[0]).metadata["depth"].values) == ["2"]
        assert urls(found) == ["http://a.test/1"]


def test_crawls_are_kept_apart_and_deleted_whole(tmp_path: Path) -> None:
    with opened(tmp_path) as frontier:
        frontier.put([put("http://a.test/", crawl=crawl) for crawl in ("", "x")], NOW_S)
        assert len(frontier.get("x", "", NOW_S)) == 1
        assert frontier.forget("x", None) == 1
        assert frontier.queues.crawls() == ["DEFAULT"]
        assert frontier.put([put("http://a.test/", crawl="x")], NOW_S) == [OK]


def test_a_number_that_no_status_is_holds_nobody_up(tmp_path: Path) -> None:
    """SQLite has no room for it: whatever was to be written with it was not, nor after it."""
    with opened(tmp_path) as frontier:
        for said in ("9" * 20, "200"):
            told = put("http://a.test/", NOW_S, fetch__statusCode=said, signature="a")
            assert frontier.put([told], NOW_S) == [OK]
            frontier.store.flush()


@pytest.mark.parametrize(
    ("said", "before", "outcome"),
    [
        ({}, None, None),
        ({"fetch.exception": ["timeout"]}, None, Outcome.FAILED),
        ({"fetch.statusCode": ["-1"]}, None, Outcome.FAILED),
        ({"fetch.statusCode": ["503"]}, b"s:a", Outcome.SERVER_ERROR),
        ({"fetch.statusCode": ["304"]}, b"s:a", Outcome.NOT_MODIFIED),
        ({"fetch.statusCode": ["200"], "signature": ["a"]}, None, Outcome.NEW),
        ({"fetch.statusCode": ["200"], "signature": ["a"]}, b"s:a", Outcome.UNCHANGED),
        ({"fetch.statusCode": ["200"], "signature": ["b"]}, b"s:a", Outcome.CHANGED),
        ({"last-modified": ["Mon"]}, b"m:Mon", Outcome.UNCHANGED),
        ({"protocol.last-modified": ["Tue"]}, b"m:Mon", Outcome.CHANGED),
        ({"signature": ["b"]}, b"m:Mon", Outcome.NEW),  # another kind says nothing of a change
        ({"fetch.statusCode": ["many"]}, None, None),
        ({"fetch.statusCode": ["9" * 20]}, None, None),
    ],
)
def test_metadata_says_what_came_of_a_fetch(
    said: dict[str, list[str]], before: bytes | None, outcome: Outcome | None
) -> None:
    assert read_metadata(said, before).outcome is outcome


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.sampled_from("wake serve rest".split()), st.integers(0, 9)),
        max_size=60,
    )
)
def test_a_queue_that_may_be_served_is_served(steps: list[tuple[int, str, int]]) -> None:
    """Whatever was said before: by the latest instant that it was woken for, and never too soon."""
    queues, now_s = Queues(), 0.0
    wanted: dict[str, float] = {}
    for number, step, amount in steps:
        queue = queues.at("c", str(number))
        if step == "wake":
            wanted[queue.name] = min(wanted.get(queue.name, 1e9), now_s + amount)
            queues.wake(queue, now_s + amount)
        elif step == "rest":
            now_s += amount
        else:
            ready = list(queues.ready("c", now_s))
            assert len(ready) == len({one.name for one in ready})
            for one in ready:
                assert queues.rested_s(one) <= now_s
                assert wanted.pop(one.name) <= now_s
                one.served_s = now_s
    now_s += 100.0
    assert {one.name for one in queues.ready("c", now_s)} == set(wanted)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("dkg"), st.integers(0, 9)), max_size=30))
def test_no_address_is_lost_or_handed_out_twice(steps: list[tuple[str, int]]) -> None:
    """Clients discover, put back and get in any order; the end finds every address once."""
    with TemporaryDirectory() as folder, opened(Path(folder)) as frontier:
        now_s, seen, held = NOW_S, set[str](), set[str]()
        for step, number in steps:
            now_s += 2.0
            url = f"http://{number % 3}.test/{number}"
            if step == "d":
                frontier.put([put(url)], now_s)
                seen.add(url)
            elif step == "k" and url in held:
                frontier.put([put(url, 1, fetch__statusCode="200", signature="s")], now_s)
                held.discard(url)
            elif step == "g":
                found = urls(frontier.get(None, "", now_s, max_urls=2, hidden_s=9_999))
                assert not held & set(found)
                held |= set(found)
        late_s = now_s + 100 * DAY_S
        assert sorted(urls(frontier.get(None, "", late_s))) == sorted(seen)


def test_what_one_address_brings_on_is_told_and_does_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clients wait for an answer to each; what is written is written once."""
    told: list[str] = []

    async def written() -> list[int]:
        with opened(tmp_path) as frontier:
            put_all = frontier.put

            def fails(puts: list[Put], now_s: float) -> list[int]:
                if any("bad" in one.info.url for one in puts):
                    raise OverflowError("too large")
                return put_all(puts, now_s)

            monkeypatch.setattr(frontier, "put", fails)
            service = Service(frontier, lambda: NOW_S, told.append)
            puts = [put(f"http://a.test/{name}") for name in ("1", "bad", "2")]
            answers = list(await service._written(puts))
            monkeypatch.undo()
            known = list(await service._written([put("http://a.test/1"), put("http://a.test/3")]))
            return [*answers, *known]

    assert asyncio.run(written()) == [OK, FAIL, OK, SKIPPED, OK]
    assert told == ["'http://a.test/bad': OverflowError: too large"]


def test_a_plan_that_fails_is_told_and_does_not_end_the_planning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    planned = asyncio.Event()

    async def until_planned() -> None:
        frontier = Frontier(RevisitOptions(tmp_path, 1.0, RULES, replan_s=0.0), NOW_S)
        outcomes: list[Exception] = [MemoryError("no more"), StateError("the disk is full")]

        def plan(now_s: float) -> None:
            if outcomes:
                raise outcomes.pop(0)

        monkeypatch.setattr(frontier, "plan", plan)
        monkeypatch.setattr(frontier, "refresh", planned.set)
        service = Service(frontier, lambda: NOW_S, told.append)
        await service.start("127.0.0.1", 0)
        await asyncio.wait_for(planned.wait(), 30)
        await service.stop()

    asyncio.run(until_planned())

    assert told == ["no plan was made: MemoryError: no more", "the disk is full"]
