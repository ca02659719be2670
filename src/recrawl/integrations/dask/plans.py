"""The plan of a table in many files, on the workers of a Dask cluster.

Each worker holds the numbers of some files and works on them; what travels is a summary of 8 MB for
each file, added up where it is, then prices to the workers and sums back. The solver is the one of
one machine (:mod:`recrawl.freshness.passes`). What dies with a worker is read again by another.
"""

import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from typing_extensions import override

from recrawl.api.plan_question import PlanQuestion
from recrawl.api.plan_solution import Answer, Rates, show_rate, unit_of, with_rates
from recrawl.errors import InputError, StateError
from recrawl.freshness import OBJECTIVES, Pages, PriceList, solve_prices
from recrawl.freshness.certificate import Certificate, Judge
from recrawl.freshness.threads import Elsewhere
from recrawl.integrations.dask.answers import answer_of
from recrawl.tables.reading import open_page_table
from recrawl.tables.spool import Common, fill_spool, untracked
from recrawl.tables.writing import write_batches

Result = TypeVar("Result")


class _Totals(NamedTuple):
    """Totals of a file, known once it is read."""

    n_pages: int
    weight: float
    n_fading: int


@dataclass(frozen=True, eq=False)
class DaskPlan:
    """A plan whose pages lie on the workers of a cluster.

    Parameters
    ----------
    answer : all numbers of the plan, times in seconds
    prices : give every page its rate
    """

    answer: Answer
    prices: PriceList
    _parts: "_WorkerParts"
    _paths: Sequence[Path]
    _question: PlanQuestion

    def write(self, out: Path) -> int:
        """Have the workers write each file again with a column crawl_rate; return the pages.

        Parameters
        ----------
        out : folder that they reach under this name, as they reach the files

        Raises
        ------
        StateError
            A file cannot be written.
        """
        try:
            out.mkdir(exist_ok=True)
        except OSError as error:
            raise StateError(f"{out}: {error.strerror}") from error
        work = partial(_write, self.prices, self._question.unit_s, out)
        return sum(self._parts.mapped_with(work, self._paths))


def plan_on(client: Any, paths: Sequence[Path], question: PlanQuestion) -> DaskPlan:
    """Solve the plan of a table in several files, each worked on by a worker.

    Parameters
    ----------
    client : of Dask Distributed
    paths : Parquet, CSV or JSON Lines; the workers reach them under these names
    question : what is asked; limits of hosts and sites are not

    Raises
    ------
    InputError
        The question needs what one machine must see at once, or a file holds a wrong value.
    StateError
        The workers were lost again and again.

    Notes
    -----
    The same prices as on one machine, to 1e-12; memory of all workers together: 24 bytes a page.
    """
    question.check()
    if question.host_limits or question.site_limit is not None or question.arms:
        raise InputError(
            "limits of hosts and sites, and policies to compare, are for one machine: leave them "
            "out, or plan there"
        )
    common, budget = question.common(), question.rate_per_s("budget", question.budget)
    measure = "freshness" if question.measure == "staleness" else question.measure
    objective = OBJECTIVES[measure, question.spacing]  # type: ignore[index]
    parts = _WorkerParts(client, paths, question.unit_s, common)
    totals = parts.mapped_with(partial(_totals, common), paths)
    unit = unit_of(question.budget)
    solve = partial(solve_prices, objective, parts, show_rate=partial(show_rate, unit=unit))
    prices = solve(budget=budget)
    proof, accesses = _judged(parts, prices)
    more, _ = _judged(parts, solve(budget=1.2 * budget))
    flip = question.measure == "staleness"
    answer = Answer(
        n_pages=prices.n_pages,
        n_hosts=0,
        budget=budget,
        spent=proof.spent,
        accesses=accesses,
        measure=question.measure,
        spacing=objective.spacing,
        value=1 - proof.value if flip else proof.value,
        value_of_more=1 - more.value if flip else more.value,
        price=prices.price,
        slope=prices.price / sum(one.weight for one in totals),
        n_never_visited=proof.n_never_visited,
        n_hosts_at_cap=0,
        capped_hosts=(),
        kkt_residual=proof.kkt_residual,
        duality_gap=proof.duality_gap,
        passes=prices.passes,
        shown_unit=unit,
        compare={},
        n_fading=sum(one.n_fading for one in totals),
    )
    return DaskPlan(answer, prices, parts, paths, question)


class _WorkerParts(Elsewhere[Pages]):
    """Files whose numbers the workers hold; those that are lost are read again."""

    def __init__(self, client: Any, paths: Sequence[Path], unit_s: float, common: Common) -> None:
        self._client = client
        self._held = client.map(partial(_load, unit_s, common), paths, pure=False)

    @override
    def mapped(self, function: Callable[[Pages], Result]) -> Iterator[Result]:
        return map(answer_of, self._client.map(function, self._held, pure=False))

    @override
    def total(self, function: Callable[[Pages], Result]) -> Result:
        level = self._client.map(function, self._held, pure=False)
        while len(level) > 1:
            pairs = zip(level[::2], level[1::2], strict=False)
            added = [self._client.submit(operator.add, *pair, pure=False) for pair in pairs]
            level = added + level[2 * len(added) :]
        found: Result = answer_of(level[0])
        return found

    def mapped_with(self, function: Callable[..., Result], others: Sequence[Any]) -> list[Result]:
        """Return what a function makes of each part and what belongs to it."""
        return list(map(answer_of, self._client.map(function, self._held, others, pure=False)))


def _load(unit_s: float, common: Common, path: Path) -> Pages:
    with closing(fill_spool(open_page_table(path), unit_s, common, with_hosts=False)) as spool:
        return Pages.join(list(spool))


def _totals(common: Common, pages: Pages, path: Path) -> _Totals:
    table, n_fading = open_page_table(path), 0
    if common.half_life_s is not None:
        n_fading = len(pages)
    elif "half_life" in table.columns:
        columns = (batch.column("half_life") for _, batch in table.batches(["half_life"]))
        n_fading = sum(len(column) - column.null_count for column in columns)
    return _Totals(len(pages), pages.total_weight(), n_fading)


def _judge(prices: PriceList, pages: Pages) -> tuple[Judge, float]:
    rates = prices.rates(pages)
    judge = Judge(prices.objective, prices.tree, prices.prices)
    judge.add(pages, rates)
    return judge, float(rates.sum())


def _judged(parts: _WorkerParts, prices: PriceList) -> tuple[Certificate, float]:
    judge, accesses = Judge(prices.objective, prices.tree, prices.prices), 0.0
    for other, n in parts.mapped(partial(_judge, prices)):
        judge.join(other)
        accesses += n
    return judge.verdict(), accesses


def _write(prices: PriceList, unit_s: float, out: Path, pages: Pages, path: Path) -> int:
    """Write one file again; whatever is given twice is written twice, the same."""
    table = open_page_table(path)
    batches = with_rates(untracked(table, None, ""), Rates(prices, [pages], unit_s))
    write_batches(out / path.name, next(batches), batches)
    return len(pages)
