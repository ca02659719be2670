"""What a crawl notes about itself: one writer each, and names that no reader spells."""

import ast
import sqlite3
from collections import Counter
from dataclasses import MISSING, fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recrawl
from recrawl.crawler import facts as module
from recrawl.crawler.facts import CrawlFacts, FactRecord, PlanFacts, rows_of
from recrawl.crawler.wiring.stores import open_frontier

SOURCE = Path(recrawl.__file__).parent
WRITERS = {
    "ControlFacts": "crawler/runtime/fleet_control.py",
    "EndFacts": "crawler/runtime/agreement.py",
    "FeedFacts": "crawler/frontier/feed.py",
    "FleetFacts": "crawler/runtime/fleet_control.py",
    "InstantFacts": "crawler/runtime/parts.py",
    "MeasuredFacts": "crawler/runtime/fleet_control.py",
    "PlanFacts": "crawler/runtime/planner.py",
    "PredictedFacts": "crawler/runtime/fleet_control.py",
    "SafeFacts": "crawler/runtime/fleet_control.py",
    "SettingsFacts": "crawler/runtime/crawl.py",
    "SolvedFacts": "crawler/runtime/fleet_control.py",
}
KINDS: list[type[FactRecord]] = [getattr(module, name) for name in WRITERS]
NAMES = [kind.prefix + item.name for kind in KINDS for item in fields(kind)]
# Words that settings, statements, options, metrics and reports have too, for what is theirs.
SHARED = set(
    """budget_per_s buffer_capacity buffer_deadline_s delay_s lasting least_worth
    max_interval_s min_interval_s now_s per_address prior_rate_per_s robots robots_active
    settings_mark starvation_weight""".split()
)


@pytest.fixture(scope="module")
def trees() -> dict[str, ast.Module]:
    """All sources but where facts are defined."""
    return {
        name: ast.parse(path.read_text(encoding="utf-8"))
        for path in SOURCE.rglob("*.py")
        if (name := path.relative_to(SOURCE).as_posix()) != "crawler/facts.py"
        and not name.startswith("testing/")
    }


@st.composite
def records(draw: st.DrawFn, kind: type[FactRecord]) -> FactRecord:
    """Draw a record that knows some of what it may leave open."""
    told = {}
    for item in fields(kind):
        values = st.booleans() if item.type is bool else st.floats(allow_nan=False)
        told[item.name] = draw(st.none() | values if item.default is None else values)
    return kind(**told)


any_record = st.sampled_from(KINDS).flatmap(records)
all_records = st.tuples(*map(records, KINDS))


@given(any_record)
def test_a_record_is_read_as_it_was_written(record: FactRecord) -> None:
    """From rows that are all numbers."""
    rows = record.to_rows()

    assert type(record).of(rows) == record
    assert type(record).if_told(rows) == record
    assert all(isinstance(value, float) for value in rows.values())


@given(all_records)
def test_no_record_reads_what_another_wrote(written: tuple[FactRecord, ...]) -> None:
    """All rows lie in one table, each name once."""
    rows = rows_of(*written)

    assert Counter(NAMES).most_common(1)[0][1] == 1
    assert [type(record).of(rows) for record in written] == list(written)


@given(any_record, st.data())
def test_what_an_older_version_did_not_write_has_its_default(
    record: FactRecord, data: st.DataObject
) -> None:
    """And where there is none, the whole record is not told."""
    kind, rows = type(record), record.to_rows()
    kept = data.draw(st.sets(st.sampled_from(sorted(rows)))) if rows else set()

    told = kind.if_told({name: rows[name] for name in kept})

    lost = [item for item in fields(kind) if kind.prefix + item.name not in kept]
    if told is None:
        assert any(item.default is MISSING for item in lost)
        return
    assert [getattr(told, item.name) for item in lost] == [item.default for item in lost]
    for item in fields(kind):
        if item not in lost:
            assert getattr(told, item.name) == getattr(record, item.name)


def test_a_state_of_another_version_is_read(tmp_path: Path) -> None:
    """Rows of names and numbers, fewer than ours and some that we do not know."""
    open_frontier(tmp_path).close()
    (database,) = tmp_path.glob("*.sqlite*")
    with sqlite3.connect(database) as db:
        rows = [("now_s", 5.0), ("returned", 2.0), ("control_known", 0.0), ("unheard_of", 1.0)]
        db.executemany("INSERT INTO fact (name, value) VALUES (?, ?)", rows)
    db.close()
    frontier = open_frontier(tmp_path)
    facts = frontier.facts()
    frontier.close()

    assert facts == CrawlFacts.of({"now_s": 5.0, "returned": 2.0, "control_known": 0.0})
    assert (facts.instant.now_s, facts.plan) == (5.0, PlanFacts(returned=2.0))
    assert (facts.control.known, facts.solved, facts.safe) == (False, None, None)


def test_each_record_has_one_writer(trees: dict[str, ast.Module]) -> None:
    """The module that makes it."""
    made = {
        (node.func.id, name)
        for name, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }

    assert {(kind, name) for kind, name in made if kind in WRITERS} == set(WRITERS.items())
    assert {name for name in module.__all__ if name.endswith("Facts")} - {"CrawlFacts"} == set(
        WRITERS
    )


def test_no_name_is_spelt_elsewhere(trees: dict[str, ast.Module]) -> None:
    """Neither where it is written nor where it is read; nor is it looked up among rows."""
    spelt = [
        f"{name}:{node.lineno}: {node.value!r}"
        for name, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and node.value in set(NAMES) - SHARED
    ]
    assert spelt == []
    assert [place for name, tree in trees.items() for place in lookups(name, tree)] == []


@pytest.mark.parametrize(
    "code",
    ['facts["robots"]', 'self._facts.get("robots", 1)', 'frontier.facts()["now_s"]',
     '"robots" in facts', 'frontier.save_facts({"now_s": 1.0})'],
)  # fmt: skip
def test_a_look_among_rows_is_noticed(code: str) -> None:
    """However it is written."""
    assert list(lookups("here", ast.parse(code))) == ["here:1"]


def lookups(name: str, tree: ast.Module) -> list[str]:
    """Return where facts are taken for a mapping."""
    found = []
    for node in ast.walk(tree):
        match node:
            case (
                ast.Subscript(value=place, slice=ast.Constant(value=str()))
                | ast.Call(func=ast.Attribute(value=place, attr="get"))
                | ast.Compare(left=ast.Constant(value=str()), comparators=[place])
            ) if word_of(place) in ("facts", "_facts", "rows_of", "to_rows"):
                found.append(f"{name}:{node.lineno}")
            case ast.Call(func=place, args=[ast.Dict() | ast.DictComp(), *_]) if (
                word_of(place) == "save_facts"
            ):
                found.append(f"{name}:{node.lineno}")
    return found


def word_of(place: ast.expr) -> str:
    """Return the last word of a name, an attribute or a call."""
    match place:
        case ast.Name(id=word) | ast.Attribute(attr=word):
            return word
        case ast.Call(func=func):
            return word_of(func)
    return ""
