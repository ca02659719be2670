"""What `import recrawl` offers: small, light, and as documented."""

import subprocess
import sys
import threading
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest

import recrawl
from recrawl.errors import InputError


def test_importing_loads_nothing_heavy() -> None:
    """Not the numbers, not the network, not the tables: those come with what needs them."""
    heavy = "numpy pyarrow numba aiohttp tantivy asyncio msgspec rich cyclopts"
    code = f"import sys, recrawl; print([n for n in {heavy.split()!r} if n in sys.modules])"

    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert said.stdout.strip() == "[]"


def test_every_name_is_there_and_no_other() -> None:
    """And what is not there is an AttributeError as of any module."""
    assert all(getattr(recrawl, name) is not None for name in recrawl.__all__)
    assert set(dir(recrawl)) == set(recrawl.__all__)
    with pytest.raises(AttributeError, match="no attribute 'crawl'"):
        _ = recrawl.crawl


PAGES = {"url": ["http://a.test/x", "http://a.test/y"], "change_rate": [1, 4], "kind": ["p", "q"]}


class Stream:
    """A table of another library: it has the Arrow stream interface, and nothing else."""

    def __arrow_c_stream__(self, schema: object = None) -> object:
        return pa.table(PAGES).__arrow_c_stream__(schema)


SWAPPED = PAGES | {"change_rate": np.array([1, 4], ">i8")}


@pytest.mark.parametrize(
    "table",
    [PAGES, SWAPPED, pa.table(PAGES), Stream()],
    ids=["dict", "bytes swapped", "arrow", "any"],
)
def test_a_plan_of_any_table(table: object) -> None:
    """The rows come back as they were, with rates that the budget pays and a proof."""
    made = recrawl.plan(table, budget="3/d", compare="uniform")

    assert made.table.drop_columns("crawl_rate").to_pydict() == PAGES
    assert sum(made.table["crawl_rate"].to_pylist()) == pytest.approx(3.0)
    assert made.certificate.kkt_residual < 1e-9
    assert made.freshness > made.answer.compare["uniform"]


def test_a_plan_that_cannot_be_computed_is_none() -> None:
    """Its rates were nan, without a word."""
    with pytest.raises(recrawl.NotConverged, match="rates or weights are too small"):
        recrawl.plan({"change_rate": [1e-200] * 3}, budget="3/d")


BACKWARDS = {"min_interval": "2d", "max_interval": "1d"}


@pytest.mark.parametrize(
    ("said", "table", "options"),
    [
        ("budget: '3'", PAGES, {"budget": "3"}),
        ("budget: 3.0 is not a rate; write a number", PAGES, {"budget": 3.0}),
        ("min_interval: 60 is not a duration; write", PAGES, {"min_interval": 60}),
        ("compare: None must be a text, or a list", PAGES, {"compare": None}),
        ("measure: 'best' is unknown; choose from freshness", PAGES, {"measure": "best"}),
        ("unit: 'day' is no unit of time", PAGES, {"unit": "day"}),
        ("host_limit: no page is on host b.test", PAGES, {"host_limit": "b.test=1/d"}),
        ("min_interval: 2d is above max_interval", PAGES, BACKWARDS),
        ("column change_rate is missing", {"url": ["http://a.test/"]}, {}),
        ("row 2, column change_rate: nan must be finite", {"change_rate": [1.0, float("nan")]}, {}),
        ("its columns make no table", {"change_rate": [1.0], "weight": [1.0, 2.0]}, {}),
        ("they differ in length: a has 1, b has 2", {"a": [1.0], "b": [1.0, 2.0]}, {}),
        ("column weight is 2.0; give a value for each page", {"weight": 2.0}, {}),
        ("column change_rate makes no column: Python int", {"change_rate": [10**400]}, {}),
        ("column url makes no column", {"url": ["\ud800"]}, {}),
        ("int is no table", 3, {}),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_plan_is_said_once(
    said: str, table: object, options: dict[str, Any]
) -> None:
    """By the names that Python knows, not by the options of the command."""
    with pytest.raises(recrawl.InputError) as error:
        recrawl.plan(table, **({"budget": "3/d"} | options))

    assert said in str(error.value)
    assert "--" not in str(error.value)


DAYS = [86_400.0 * day for day in range(1, 121)]
CHANGES = {
    "url": ["http://a.test/x"] * 120 + ["http://a.test/y"] * 12,
    "changed_at": DAYS + DAYS[::10],
}


class EveryDay:
    """Visits each page a day after its last visit."""

    name = "every day"

    def after_visit(self, visit: recrawl.PageVisit) -> recrawl.NextVisit:
        return recrawl.NextVisit(visit.at_s + 86_400.0, "a day is over")

    def replan(self, question: recrawl.Replan) -> None:
        return None


def test_a_policy_of_ones_own_beside_the_others() -> None:
    """In one table, at the same budget."""
    found = recrawl.backtest(
        CHANGES, budgets=["8x"], policies=["uniform", EveryDay()], resamples=20
    )

    assert found.table["policy"].to_pylist() == ["foresight", "uniform", "every day"]
    mine = found.table.to_pylist()[2]
    assert 0.3 < mine["freshness"] < 1.0
    assert mine["fetches"] == pytest.approx(2 * 60, abs=20)


class Named(EveryDay):
    """Is called what it is given."""

    def __init__(self, name: Any) -> None:
        self.name = name


class ByAddress(EveryDay):
    """Visits the folder that it knows once an hour."""

    name = "by address"
    heard: ClassVar[set[tuple[str, float]]] = set()

    def after_visit(self, visit: recrawl.PageVisit) -> recrawl.NextVisit:
        self.heard.add((visit.url, visit.weight))
        return super().after_visit(visit)


@pytest.mark.parametrize(
    ("sites", "called"),
    [({}, ["http://a.test/x", "http://a.test/y"]), ({"site": ["s"] * 132}, ["s/x", "s/y"])],
)
def test_a_policy_is_told_of_pages_as_their_table_calls_them(
    sites: dict[str, list[str]], called: list[str]
) -> None:
    """It was told numbers of rows, and that each page weighs 1 when it is found."""
    ByAddress.heard.clear()
    names = ["x"] * 120 + ["y"] * 12 if sites else CHANGES["url"]
    changes = CHANGES | {"url": names, "weight": [2.0] * 120 + [0.5] * 12} | sites

    recrawl.backtest(changes, budgets=["4x"], policies=[ByAddress()], resamples=20)

    assert ByAddress.heard == {(called[0], 2.0), (called[1], 0.5)}


class Tires(EveryDay):
    """Visits each page once a day until it has seen a hundred visits, and never after."""

    name = "tires"

    def __init__(self) -> None:
        self.left = 100

    def after_visit(self, visit: recrawl.PageVisit) -> recrawl.NextVisit:
        self.left -= 1
        return recrawl.NextVisit(visit.at_s + (86_400.0 if self.left > 0 else 1e12), "tired")


def test_no_budget_hears_of_another() -> None:
    """A policy that remembers begins each replay as it was given."""
    policy = Tires()
    found = recrawl.backtest(CHANGES, budgets=["4x", "8x"], policies=[policy], resamples=20)
    alone = recrawl.backtest(CHANGES, budgets=["8x"], policies=[Tires()], resamples=20)

    assert found.table.slice(2).equals(alone.table)
    assert policy.left == 100
    policy.name = "held"
    policy.lock = threading.Lock()  # type: ignore[attr-defined]
    with pytest.raises(recrawl.InputError, match="policies: held cannot be copied"):
        recrawl.backtest(CHANGES, budgets=["8x"], policies=[policy], resamples=20)


@pytest.mark.parametrize(
    ("said", "options"),
    [
        ("policies: 'best' is none of foresight", {"policies": ["best"]}),
        ("budgets: 'much'", {"budgets": ["much"]}),
        ("budgets: it pays", {"budgets": ["1/y"]}),
        ("learning: 1.0 must lie in", {"learning": 1.0}),
        ("weights: 'zipf' is unknown", {"weights": "zipf"}),
        ("budgets: '1' is not a rate; write a number", {"budgets": [1]}),
        ("seed: -1 must be at least 0, and whole", {"seed": -1}),
        ("orders: 1.5 must be at least 1, and whole", {"orders": 1.5}),
        ("resamples: 20.5 must be at least 20, and", {"resamples": 20.5}),
        ("policies: EveryDay is a class; give an object", {"policies": [EveryDay]}),
        ("policies: object has no after_visit, name, replan", {"policies": [object()]}),
        ("policies: two are called 'every day'", {"policies": [EveryDay(), EveryDay()]}),
        ("policies: two are called 'recrawl'", {"policies": [Named("recrawl")]}),
        ("policies: two are called 'nutch'", {"policies": [Named("nutch"), "nutch"]}),
        ("policies: a policy is called None", {"policies": [Named(None)]}),
    ],
)
def test_what_is_wrong_with_a_backtest_is_said_once(said: str, options: dict[str, object]) -> None:
    """Before anything is replayed."""
    with pytest.raises(recrawl.InputError) as error:
        recrawl.backtest(CHANGES, **options)  # type: ignore[arg-type]

    assert said in str(error.value)


@pytest.mark.parametrize(
    ("said", "options"),
    [
        ("seeds: give at least one address", {"seeds": []}),
        ("seeds: 'here' is no http or https address", {"seeds": ["here"]}),
        ("seeds: 'http://a.test/' is one text; write a list", {"seeds": "http://a.test/"}),
        ("contact: 'me@example.org' reaches nobody", {"contact": "me@example.org"}),
        ("budget_per_s: 0 must be > 0", {"budget_per_s": 0}),
        ("n_robots: 0 must be at least 1", {"n_robots": 0}),
        ("delay_s: nan must be a finite number", {"delay_s": float("nan")}),
        ("plan.policy: 'best' is none of recrawl", {"policy": "best"}),
        ("is not on any of scope.hosts (b.test)", {"hosts": ["b.test"]}),
        ("min_interval (2d) is longer", {"min_interval_s": 172_800.0, "max_interval_s": 86_400.0}),
        ("budget: no setting is called so; did you mean budget_per_s?", {"budget": "20/s"}),
        ("robots: no setting is called so; did you mean n_robots?", {"robots": 2}),
        ("contakt: no setting is called so; did you mean contact?", {"contakt": "me@my.domain"}),
    ],
)  # fmt: skip
def test_settings_check_themselves(said: str, options: dict[str, object]) -> None:
    """And say what would be right."""
    good = {"seeds": ["http://a.test/"], "contact": "me@my.domain"}

    made = recrawl.Settings(**good)  # type: ignore[arg-type]
    with pytest.raises(recrawl.InvalidSettings) as error:
        recrawl.Settings(**(good | options))  # type: ignore[arg-type]

    assert made.hosts == ("a.test",)
    assert made.contact == "mailto:me@my.domain"
    assert said in str(error.value)


def test_one_budget_and_one_policy_are_written_as_they_are() -> None:
    """A text was taken for a list of letters."""
    found = recrawl.backtest(CHANGES, budgets="4x", policies="uniform", resamples=20)

    assert found.table["policy"].to_pylist() == ["foresight", "uniform"]


def test_fewer_than_one_order_is_refused() -> None:
    """In one sentence, before anything is read."""
    changes = {"url": ["http://a.test/x"], "changed_at": [1.0]}

    with pytest.raises(InputError, match="orders: 0 must be at least 1"):
        recrawl.backtest(changes, orders=0)
