"""Explanation of a plan in two sentences: its changes to the policy in force, and its gain."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import inf
from typing import Final

import numpy as np

from recrawl.api.plan_solution import Answer, SolvedPlan
from recrawl.cli.plan.progress import track
from recrawl.cli.plan.report import show_value
from recrawl.errors import InvalidTable
from recrawl.freshness import Pages, TradeOffCurve, average_value
from recrawl.kernels.arrays import Vector
from recrawl.quantities import UNIT_S
from recrawl.tables.many import ManyTables
from recrawl.tables.reading import NUMBERS, PageTable

PRESENT: Final = ("crawl_rate", "rate", "interval")
_SAME: Final = 0.01  # rates that differ by less are called the same
_POINTS: Final = ("freshness", "staleness")


@dataclass(frozen=True)
class Change:
    """A plan beside the present policy; rates per second.

    Parameters
    ----------
    present : the column that says it; None: every page alike, at the budget of the plan
    spent, value : of the present policy
    more, less, never : pages that the plan visits more often, less often but still, and no more
    enough : budget with which a plan would be as good as the present policy; 0: below an eighth
        of the plan's, inf: above eight times as much
    """

    present: str | None
    spent: float
    value: float
    more: int
    less: int
    never: int
    enough: float


def with_present(table: PageTable) -> PageTable:
    """Return a table with the columns that may say the present policy read as numbers."""
    numeric = (*NUMBERS, *PRESENT)
    if isinstance(table, ManyTables):
        parts = tuple(replace(one, numeric=numeric) for one in table.tables)
        return replace(table, numeric=numeric, tables=parts)
    return replace(table, numeric=numeric)


def explain_change(table: PageTable, solved: SolvedPlan, curve: TradeOffCurve) -> Change:
    """Compare a plan with the column ``crawl_rate``, ``rate`` or ``interval``, or with uniform.

    Raises
    ------
    InvalidTable
        A value of that column is missing or outside its domain.
    """
    problem = solved.problem
    column = next((name for name in PRESENT if name in table.columns), None)
    spent = more = less = never = 0.0

    def rated() -> Iterator[tuple[Pages, Vector]]:
        nonlocal spent, more, less, never
        rates = _Present(table, column, solved)
        for part in problem.spool:
            now, then = rates.take(len(part)), solved.prices.rates(part)
            spent += float((now if part.fetch_costs is None else now * part.fetch_costs).sum())
            more += np.count_nonzero(then > now * (1 + _SAME))
            less += np.count_nonzero((then < now * (1 - _SAME)) & (then > 0))
            never += np.count_nonzero((then == 0) & (now > 0))
            yield part, now

    value = average_value(problem.objective, rated())[0]
    enough = _budget_of(value, curve)
    shown = 1 - value if solved.answer.measure == "staleness" else value
    return Change(column, spent, shown, int(more), int(less), int(never), enough)


class _Present:
    """Hands out the present rates per second, in the order of the pages."""

    def __init__(self, table: PageTable, column: str | None, solved: SolvedPlan) -> None:
        self._rest = np.empty(0)
        unit_s = solved.question.unit_s
        self._uniform = None if column else solved.answer.spent / solved.problem.spool.total_cost
        self._parts = self._read(table, column, unit_s) if column else iter(())

    @staticmethod
    def _read(table: PageTable, column: str, unit_s: float) -> Iterator[Vector]:
        row = 1
        for batch in track(table, [column], "comparing"):
            values = table.numbers(batch, column, row)
            if column == "interval":
                if not np.all(values > 0):
                    at = row + int(np.argmin(values > 0))
                    raise InvalidTable(
                        f"{table.path}, row {at}, column interval: 0 must be > 0; leave the "
                        "column rate at 0 for a page that is never visited"
                    )
                values = 1.0 / values
            row += batch.num_rows
            yield values / unit_s

    def take(self, count: int) -> Vector:
        if self._uniform is not None:
            return np.full(count, self._uniform)
        while self._rest.size < count:
            self._rest = np.concatenate([self._rest, next(self._parts)])
        taken, self._rest = self._rest[:count], self._rest[count:]
        return taken


def _budget_of(value: float, curve: TradeOffCurve) -> float:
    sign = 1.0 if curve.values[-1] >= curve.values[0] else -1.0  # of losses, less is better
    values = sign * curve.values
    if sign * value < values[0]:
        return 0.0
    if sign * value > values[-1]:
        return inf
    return float(np.exp(np.interp(sign * value, values, np.log(curve.budgets))))


def change_json(answer: Answer, change: Change, text: str, unit: str | None) -> dict[str, object]:
    """Return the object of ``--json``, in the units of the answer."""
    scale = UNIT_S[unit or "s"]
    return {
        "text": text,
        "present": change.present or "uniform",
        "spent": change.spent * scale,
        "value": change.value / scale if answer.measure == "age" else change.value,
        "more_often": change.more,
        "less_often": change.less,
        "no_more": change.never,
        "budget_as_good_as_now": change.enough * scale if 0 < change.enough < inf else None,
    }


def explanation(change: Change, solved: SolvedPlan, curve: TradeOffCurve) -> str:
    """Say it: what changes, and what that gains."""
    answer = solved.answer
    show = answer.show_rate
    pages = [
        f"{count:,} {'page' if count == 1 else 'pages'} {how}"
        for count, how in (
            (change.more, "more often"),
            (change.less, "less often"),
            (change.never, "no more"),
        )
        if count
    ]
    before = (
        f"Instead of visiting every page alike ({show(change.spent)})"
        if change.present is None
        else f"Instead of the column {change.present} ({show(change.spent)})"
    )
    visits = f"visits {', '.join(pages)}" if pages else "visits every page as often"
    first = f"{before}, the plan {visits}, for {show(answer.spent)}."
    was, now = change.value, answer.value
    gain = f"{answer.measure} goes from {show_value(answer.measure, was)} to "
    gain += show_value(answer.measure, now)
    if answer.measure in _POINTS:
        gain += f" ({100 * (now - was):+.1f} points)"
    return (
        f"{first} With it {gain}; to be as good as now a plan takes {_saving(change, curve, show)}."
    )


def _saving(change: Change, curve: TradeOffCurve, show: Callable[[float], str]) -> str:
    if change.enough == 0.0:
        return f"less than {show(float(curve.budgets[0]))}"
    if change.enough == inf:
        return f"more than {show(float(curve.budgets[-1]))}"
    share = 1.0 - change.enough / change.spent
    saved = f", {share:.0%} of the fetches saved" if share > 0 else ""
    return f"about {show(change.enough)}{saved}"
