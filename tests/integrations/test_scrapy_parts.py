"""The parts of the add-on by themselves: settings, stored requests, the store, the command."""

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scrapy import Request
from scrapy.http import JsonRequest
from scrapy.settings import Settings
from tests.integrations.kills import crawl_with_kills
from tests.integrations.spiders import Quotes, unnamed

from recrawl.errors import InvalidSettings, StateError
from recrawl.integrations.scrapy.options import read_options
from recrawl.integrations.scrapy.requests import META, decode_request, encode_request, page_id_of
from recrawl.integrations.scrapy.signals import item_hash, items_signature
from recrawl.integrations.scrapy.store import RequestStore, SpiderLock

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.binary()
    | st.floats(allow_nan=False),
    lambda inner: st.lists(inner) | st.tuples(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@settings(max_examples=50, deadline=None)
@given(meta=st.dictionaries(st.text(min_size=1), VALUES, max_size=3), priority=st.integers(-9, 9))
def test_a_stored_request_comes_back_as_it_was(meta: dict[str, Any], priority: int) -> None:
    """Callback, errback, arguments, meta, headers, priority; tuples stay tuples."""
    spider = Quotes(site="http://a.test")
    meta.pop(META, None)
    asked = Request(
        "http://a.test/ü?q=1",
        callback=spider.parse_author,
        errback=spider.parse,
        cb_kwargs={"named": (1, "x")} if priority > 0 else {"named": "x"},
        headers={"X-A": "1", "X-B": b"\xe9"},
        cookies={"c": "d"},
        meta=meta,
        priority=priority,
        dont_filter=True,
        flags=["f"],
    )
    again = decode_request(encode_request(asked, spider), spider)

    assert again.to_dict(spider=spider) == asked.to_dict(spider=spider)
    assert again.callback == spider.parse_author


def test_what_json_can_say_is_json_and_keeps_its_class() -> None:
    spider = Quotes()
    asked = JsonRequest("http://a.test/", data={"a": 1}, meta={META: 7, "depth": 1})
    kept = encode_request(asked, spider)

    assert kept.startswith(b'{"url":')
    assert META.encode() not in kept
    assert type(decode_request(kept, spider)) is JsonRequest
    assert decode_request(kept, spider).body == asked.body


@pytest.mark.parametrize(
    "value", [2**70, -(2**70), "\ud800", float("inf"), -0.0, {"a": [True, None]}]
)
def test_what_json_says_otherwise_comes_back_as_it_was(value: Any) -> None:
    spider = Quotes()
    asked = Request("http://a.test/", cb_kwargs={"value": value}, callback=spider.parse)
    again = decode_request(encode_request(asked, spider), spider)

    assert repr(again.cb_kwargs) == repr(asked.cb_kwargs)
    assert again.callback == spider.parse


def test_what_is_kept_of_a_request_makes_no_request_larger() -> None:
    """Requests wait in their thousands: none gets headers and cookies by being written down."""
    asked = Request("http://a.test/")
    encode_request(asked, Quotes())

    made = [name for name in ("_headers", "_cookies", "_flags", "_cb_kwargs", "_meta")
            if getattr(asked, name, None) is not None]  # fmt: skip
    assert made == []


def test_what_cannot_be_stored_is_refused() -> None:
    with pytest.raises(ValueError, match="not an instance method"):
        encode_request(Request("http://a.test/", callback=unnamed), Quotes())
    with pytest.raises(ValueError, match="pickle"):
        encode_request(Request("http://a.test/", meta={"f": lambda: 1}), Quotes())


@pytest.mark.parametrize(
    "kept", [b'{"url":"http://a.test/","callback":"gone"}', b"{", b"\x80\x04nonsense", b""]
)
def test_a_request_that_cannot_be_read_says_so(kept: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - each library has words of its own
        decode_request(kept, Quotes())


def test_pages_of_two_spiders_are_two() -> None:
    assert page_id_of("a", b"x") != page_id_of("b", b"x")
    assert 0 <= page_id_of("a", b"x") < 2**63


def test_items_are_the_same_in_any_order_without_volatile_fields() -> None:
    one = item_hash({"a": 1, "b": [1, 2], "at": 5}, frozenset({"at"}))
    other = item_hash({"b": [1, 2], "a": 1, "at": 6}, frozenset({"at"}))

    assert one == other
    assert one != item_hash({"a": 1, "b": [2, 1]}, frozenset())
    assert item_hash({"a": {0, 8}}, frozenset()) == item_hash({"a": {8, 0}}, frozenset())
    assert items_signature([b"x", b"y"], []) == items_signature([b"y", b"x"], ["http://a.test/"])
    assert items_signature([], ["a"]) != items_signature([], ["b"])  # a list without items


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("BUDGET", "5000", "RECRAWL_BUDGET: '5000' is not a rate"),
        ("BUDGET", "0/d", "RECRAWL_BUDGET: '0/d' must be > 0"),
        ("BUDGET", 5000, "RECRAWL_BUDGET: 5000 must be a text"),
        ("CHANGE", "title", "RECRAWL_CHANGE: 'title' is none of body, text, items"),
        ("UNCHANGED", "drop", "RECRAWL_UNCHANGED: 'drop' is none of skip, callback"),
        ("POLICY", "magic", "RECRAWL_POLICY: 'magic' is none of"),
        ("MIN_INTERVAL", "60d", "RECRAWL_MIN_INTERVAL: '60d' is longer than RECRAWL_MAX_INTERVAL"),
        ("REPLAN", "soon", "RECRAWL_REPLAN: 'soon' is not a duration"),
        ("CONTINUOUS", "perhaps", "RECRAWL_CONTINUOUS: 'perhaps' must be True or False"),
        ("WEIGHTS", {"*": -1}, "RECRAWL_WEIGHTS: {'\\*': -1} must give weights >= 0"),
        ("VOLATILE", 3, "RECRAWL_VOLATILE: 3 must be a list"),
        ("STATE", "", "RECRAWL_STATE: '' must be a text"),
        ("BUDGT", "1/d", "RECRAWL_BUDGT: there is no such setting; there are RECRAWL_ENABLED"),
    ],
)
def test_a_wrong_setting_says_what_would_be_right(name: str, value: object, said: str) -> None:
    with pytest.raises(InvalidSettings, match=said):
        read_options(Settings({f"RECRAWL_{name}": value}))


def test_the_budget_is_one_for_all_and_earned_with_time(tmp_path: Path) -> None:
    """One visit at first, then by the rate; at most one of every page; none is granted twice."""
    with closing(RequestStore(tmp_path)) as one, closing(RequestStore(tmp_path)) as other:
        for number in range(10):
            one.add(page(number))
        one.flush()
        one._db.execute("UPDATE page SET visits = 1")

        assert one.grant(5, 1.0, 100.0) == 1
        assert other.grant(5, 1.0, 103.0) == 3
        assert one.grant(5, 1.0, 103.0) == 0
        one.give_back(2)
        assert other.grant(5, 1.0, 103.0) == 2
        assert one.grant(99, 1.0, 1e9) == 10


def page(number: int) -> dict[str, Any]:
    """A page as the store takes it."""
    return {
        "id": number, "spider": "s", "url": f"http://a.test/{number}", "host": "http://a.test",
        "request": b"{}", "priority": number % 3, "weight": 1.0, "now_s": 1.0, "why": "new",
    }  # fmt: skip


def test_what_waits_comes_by_priority_then_age(tmp_path: Path) -> None:
    with closing(RequestStore(tmp_path)) as store:
        for number in range(6):
            store.add(page(number) | {"now_s": float(number)})
        found = store.due("s", 4.0, first=True, limit=10)

        assert [row["id"] for row in found] == [2, 1, 4, 0, 3]
        assert store.due("t", 4.0, first=True, limit=10) == []


def test_a_state_that_cannot_be_used_says_why(tmp_path: Path) -> None:
    with pytest.raises(StateError, match="holds no state of Scrapy spiders"):
        RequestStore(tmp_path / "none", read_only=True)
    with closing(RequestStore(tmp_path)) as store:
        store._db.execute("PRAGMA user_version = 9")
    with pytest.raises(StateError, match="newer version"):
        RequestStore(tmp_path)
    (tmp_path / "scrapy.sqlite3").write_bytes(b"no database" * 100)
    with pytest.raises(StateError, match="not a database"):
        RequestStore(tmp_path)
    lock = SpiderLock(tmp_path, "s")
    with pytest.raises(StateError, match=f"spider s runs already, in process {os.getpid()}"):
        SpiderLock(tmp_path, "s")
    SpiderLock(tmp_path, "t").release()
    lock.release()
    SpiderLock(tmp_path, "s").release()


def scrapy(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a verb of Scrapy's command line."""
    command = [sys.executable, "-m", "scrapy", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.acceptance
def test_the_command_says_what_the_state_says(tmp_path: Path) -> None:
    with closing(RequestStore(tmp_path / "recrawl-state")) as store:
        store.add(page(1) | {"url": "http://a.test/\x1b[31m"})
        store.add(page(2))
    status = scrapy("recrawl", "status", cwd=tmp_path)
    plan = scrapy("recrawl", "plan", "--limit", "5", cwd=tmp_path)
    unknown = scrapy("recrawl", "explain", "http://b.test/", cwd=tmp_path)

    assert status.stdout == ("s: 2 pages, 0 visited, 2 due; 0 visits found 0 changes\n"), (
        status.stderr
    )
    assert "http://a.test/2" in plan.stdout
    assert "\x1b" not in plan.stdout
    assert unknown.returncode == 2
    assert "http://b.test/ is not known to this state" in unknown.stderr
    assert scrapy("recrawl", "dance", cwd=tmp_path).returncode == 2


def test_recrawl_by_itself_loads_no_scrapy() -> None:
    code = "import recrawl, recrawl.cli, sys; print('scrapy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"


@pytest.mark.slow
@pytest.mark.acceptance
def test_a_kill_at_any_request_loses_no_item(tmp_path: Path) -> None:
    """Killed at its first, third, ninth ... request, in one state; the last run brings the rest."""
    found = crawl_with_kills(tmp_path, [1, 3, 9, 20, 2, 33], n_pages=120)

    assert found.n_killed == 6
    assert found.missing == 0
