"""Records that are made for every page, quickly and as any other."""

import copy
import inspect
import pickle
from dataclasses import MISSING, FrozenInstanceError, fields, is_dataclass, replace
from typing import Any

import pytest

from recrawl import terms
from recrawl.terms import Lease, Outcome, PageState, PageUpdate, Visit

RECORDS = [
    record for record in vars(terms).values() if is_dataclass(record) and isinstance(record, type)
]
QUICK = [
    terms.BufferedPage, terms.Discovery, terms.Extract, terms.FetchResponse, Lease, PageUpdate,
    Visit,
]  # fmt: skip


@pytest.mark.parametrize("record", QUICK)
def test_what_is_made_for_every_page_looks_up_none_of_its_fields(record: Any) -> None:
    """Frozen records do, for each field, which takes three times as long as all else."""
    assert "__setattr__" not in record.__init__.__code__.co_names


@pytest.mark.parametrize("record", RECORDS)
def test_a_record_takes_its_fields_in_order_by_name_and_with_their_defaults(record: Any) -> None:
    taken = inspect.signature(record).parameters
    given = {name: object() for name in taken}

    made = record(**given)

    assert record(*given.values()) == made
    assert {one.name: getattr(made, one.name) for one in fields(record)} == given
    for one in fields(record):
        if one.default is not MISSING:
            assert taken[one.name].default == one.default
            bare = {name: value for name, value in given.items() if name != one.name}
            assert getattr(record(**bare), one.name) == one.default
    with pytest.raises(TypeError, match=rf"{record.__name__}.__init__\(\) got an unexpected"):
        record(**given, another=1)
    if any(one.default is MISSING for one in fields(record)):
        with pytest.raises(TypeError, match=rf"{record.__name__}.__init__\(\) missing"):
            record()


def test_a_record_stays_as_it_is_and_is_copied_whole() -> None:
    visit = Visit(1.0, Outcome.NEW, note="a")
    update = PageUpdate(Lease(1, "http://a.test/", 2, 3, 4.0), visit, PageState.INDEXED, 5.0)

    with pytest.raises(FrozenInstanceError):
        visit.note = "b"  # type: ignore[misc]
    assert visit.note == "a"
    assert pickle.loads(pickle.dumps(update)) == copy.deepcopy(update) == replace(update) == update
    assert hash(replace(update)) == hash(update)
    assert replace(update, title="T") != update
    assert repr(visit).startswith("Visit(visited_at_s=1.0, outcome=<Outcome.NEW: 'new'>, status=")
