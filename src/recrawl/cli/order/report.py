"""Report of ``recrawl order``: one policy, or all beside each other."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from recrawl.cli.order.table import OrderTable
from recrawl.cli.output import console, print_table
from recrawl.kernels.arrays import Integers
from recrawl.sequencing import OrderCost, bound_greedy

_LONGEST = 10_000


@dataclass(frozen=True, eq=False)
class OrderAnswer:
    """An order in numbers.

    Parameters
    ----------
    policy : the one that is used
    chosen_from : candidates that were tried, where the choice was left to us
    judged : what it costs
    bounds : policy to its best lower bound, and whether that holds for all frequencies
    sequence : shape (L,), the accesses asked for; None where there are too many to show
    is_cycle : whether the sequence is to be repeated
    compare : policy to its cost
    """

    policy: str
    chosen_from: tuple[str, ...]
    judged: OrderCost
    bounds: Mapping[str, tuple[float, bool]]
    sequence: Integers | None
    is_cycle: bool
    compare: Mapping[str, OrderCost]

    @property
    def bound(self) -> float:
        """No order of its frequencies, or of any, costs less."""
        return self.bounds[self.policy][0]

    @property
    def bound_is_free(self) -> bool:
        """Whether the bound holds for all frequencies, or for those given."""
        return self.bounds[self.policy][1]

    def gap(self, cost: float, policy: str | None = None) -> float:
        """Return how far a cost is above the bound of its policy, relative to that."""
        bound = self.bounds[policy or self.policy][0]
        return (cost - bound) / abs(bound) if bound else cost


def order_json(answer: OrderAnswer, table: OrderTable) -> dict[str, object]:
    """Return the answer under the keys that scripts rely on."""
    shown = answer.sequence is not None and answer.sequence.size <= _LONGEST
    return {
        "policy": answer.policy,
        "cost": answer.judged.cost,
        "error": answer.judged.error if np.isfinite(answer.judged.error) else None,
        "frequencies_off": _off(answer.judged, table),
        "bound": answer.bound,
        "gap": answer.gap(answer.judged.cost),
        "bound_for": "any frequencies" if answer.bound_is_free else "these frequencies",
        "at_most": _at_most(answer, table),
        "pages": table.frequencies.size,
        "is_cycle": answer.is_cycle,
        "worst_spacing": answer.judged.worst_spacing,
        "unevenness": answer.judged.unevenness,
        "idle": answer.judged.idle,
        "chosen_from": list(answer.chosen_from),
        "compare": {
            name: {
                "cost": one.cost,
                "error": one.error if np.isfinite(one.error) else None,
                "gap": answer.gap(one.cost, name),
                "bound_for": "any frequencies" if answer.bounds[name][1] else "these frequencies",
                "frequencies_off": _off(one, table),
                "worst_spacing": one.worst_spacing,
                "unevenness": one.unevenness,
            }
            for name, one in answer.compare.items()
        },
    } | ({"sequence": answer.sequence.tolist()} if shown and answer.sequence is not None else {})


def print_order(answer: OrderAnswer, table: OrderTable, notes: list[str]) -> None:
    """Print the report for people."""
    from rich.text import Text

    out = console()
    pace = (
        "" if table.rate is None else f", {table.rate:,.6g} accesses per unit of the table's time"
    )
    out.print()
    pages = (f"{table.frequencies.size:,} pages", "bold")
    out.print(Text.assemble(pages, f" from {table.path}{pace}"))
    judged = answer.judged
    off = _off(judged, table)
    tried = f" (best of {', '.join(answer.chosen_from)})" if len(answer.chosen_from) > 1 else ""
    kind = "any" if answer.bound_is_free else "these"
    rows = [
        ("policy", answer.policy + tried),
        ("cost, share of time out of date", f"{judged.cost:.6f}" + _error(judged.error)),
        (f"no order with {kind} frequencies costs less than", f"{answer.bound:.6f}"),
        ("gap to that bound", _percent(answer.gap(judged.cost))),
        ("visits that go to other pages than asked", _percent(off)),
        ("worst spacing, in mean distances", _times(judged.worst_spacing)),
        ("unevenness (0 even, 1 at random)", f"{judged.unevenness:.4f}"),
    ]
    proved = _at_most(answer, table)
    if proved is not None:
        rows.insert(3, ("it is proved to cost in the long run at most", f"{proved:.6f}"))
    if judged.idle:
        rows.append(("slots in which every host rests", _percent(judged.idle)))
    print_table(("order", ""), rows)
    if answer.compare:
        _print_comparison(answer, table)
    if answer.sequence is not None:
        shown = [table.show(int(p)) if p >= 0 else "(rest)" for p in answer.sequence[:12]]
        rest = answer.sequence.size - len(shown)
        what = "cycle" if answer.is_cycle else "next"
        tail = f", and {rest:,} more" if rest > 0 else ""
        out.print(f"{what}: {', '.join(shown)}{tail}")
    for note in notes:
        out.print(note)


def _print_comparison(answer: OrderAnswer, table: OrderTable) -> None:
    rows = [
        (
            name,
            f"{one.cost:.6f}" + _error(one.error),
            _percent(answer.gap(one.cost, name)),
            "any" if answer.bounds[name][1] else "these",
            _percent(_off(one, table)),
            _times(one.worst_spacing),
            f"{one.unevenness:.4f}",
        )
        for name, one in sorted(answer.compare.items(), key=lambda item: item[1].cost)
    ]
    heads = (
        "policy",
        "cost",
        "gap to the bound",
        "bound for",
        "visits elsewhere",
        "worst spacing",
        "unevenness",
    )
    print_table(heads, rows)


def _at_most(answer: OrderAnswer, table: OrderTable) -> float | None:
    """Return what an endless order is proved to cost at most, where anything is."""
    endless = answer.policy == "greedy" and not answer.is_cycle
    return bound_greedy(table.costs).most if endless else None


def _off(judged: OrderCost, table: OrderTable) -> float:
    """Share of all visits that go to other pages than the frequencies say."""
    return float(0.5 * np.abs(judged.frequencies - table.frequencies).sum())


def _error(error: float) -> str:
    return f" ± {error:.1g}" if 0 < error < np.inf else ""


def _percent(share: float) -> str:
    return f"{100 * share:.4f} %" if abs(share) < 0.01 else f"{100 * share:.2f} %"


def _times(ratio: float) -> str:
    return "no limit" if np.isinf(ratio) else f"{ratio:.2f}"
