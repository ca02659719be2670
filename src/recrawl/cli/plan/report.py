"""Report of ``recrawl plan``: an answer in numbers, as JSON or for people."""

from pathlib import Path
from typing import TYPE_CHECKING

from recrawl.api.plan_solution import Answer
from recrawl.cli.output import print_table
from recrawl.freshness import TradeOffCurve
from recrawl.quantities import UNIT_S, show_duration

if TYPE_CHECKING:
    from rich.console import Console


def answer_json(answer: Answer, unit: str | None) -> dict[str, object]:
    """Return the object of ``--json``: per second, or per the unit that was asked for."""
    scale = UNIT_S[unit or "s"]
    time = 1 / scale if answer.measure == "age" else 1.0
    per_fetch = time / scale  # a price is worth per (fetch per unit of time)
    return {
        "pages": answer.n_pages,
        "budget": answer.budget * scale,
        "unit": unit or "s",
        "measure": answer.measure,
        "spacing": answer.spacing,
        "value": answer.value * time,
        "price": answer.price * per_fetch,
        "slope": answer.slope * per_fetch,
        "spent": answer.spent * scale,
        "accesses": answer.accesses * scale,
        "value_with_20_percent_more": answer.value_of_more * time,
        "never_visited": answer.n_never_visited,
        "fading": answer.n_fading,
        "hosts": answer.n_hosts,
        "hosts_at_cap": answer.n_hosts_at_cap,
        "capped_hosts": [
            {"host": one.host, "rate": one.rate * scale, "price": one.price * per_fetch}
            for one in answer.capped_hosts
        ],
        "kkt_residual": answer.kkt_residual,
        "duality_gap": answer.duality_gap,
        "passes": answer.passes,
        "compare": {name: value * time for name, value in answer.compare.items()},
    }


def curve_json(answer: Answer, curve: TradeOffCurve, unit: str | None) -> list[dict[str, float]]:
    """Return the trade-off as rows, in the units of :func:`answer_json`."""
    scale = UNIT_S[unit or "s"]
    time = 1 / scale if answer.measure == "age" else 1.0
    flip = answer.measure == "staleness"
    return [
        {
            "budget": float(budget * scale),
            "value": float((1 - value if flip else value) * time),
            "slope": float((-slope if flip else slope) * time / scale),
            "never_visited": float(share),
        }
        for budget, value, slope, share in zip(
            curve.budgets, curve.values, curve.slopes, curve.never_visited, strict=True
        )
    ]


def print_curve(answer: Answer, curve: TradeOffCurve) -> None:
    """Print every fourth point of the trade-off."""
    rows = [
        (
            answer.show_rate(curve.budgets[i]),
            show_value(
                answer.measure,
                1 - curve.values[i] if answer.measure == "staleness" else curve.values[i],
            ),
            _show_price(answer, curve.slopes[i]),
            f"{curve.never_visited[i]:.1%}",
        )
        for i in range(0, curve.budgets.size, 4)
    ]
    print_table(("budget", answer.measure, "price of a fetch", "never visited"), rows)


def show_value(measure: str, value: float) -> str:
    """Write a measure with its unit."""
    if measure == "age":
        return show_duration(value)
    return f"{value:.4f}"


def print_answer(
    answer: Answer, console: "Console", pages: Path, out: Path | None, plot: Path | None
) -> None:
    """Print the report for people."""
    from rich.text import Text

    on = f" on {answer.n_hosts:,} hosts" if answer.n_hosts else ""
    console.print()
    console.print(Text.assemble((f"{answer.n_pages:,} pages{on}", "bold"), f" from {pages}"))
    gain = answer.value_of_more - answer.value
    fading = _show_share(answer.n_fading, answer.n_pages)
    rows = [
        ("budget", answer.show_rate(answer.budget)),
        ("spent", answer.show_rate(answer.spent)),
        ("accesses that robots must make", answer.show_rate(answer.accesses)),
        (f"{answer.measure}, {answer.spacing} visits", show_value(answer.measure, answer.value)),
        ("with 20 % more budget", _show_gain(answer, gain)),
        ("price of a fetch", _show_price(answer, answer.slope)),
        ("never visited", _show_share(answer.n_never_visited, answer.n_pages)),
        *([("content that fades", fading)] if answer.n_fading else []),
        (
            "distance from the optimum",
            f"{answer.duality_gap:.1e} (KKT residual {answer.kkt_residual:.1e})",
        ),
    ]
    print_table(("plan", ""), rows)
    if answer.compare:
        policies = {"optimal": answer.value, **answer.compare}
        print_table(
            ("policy, same budget", answer.measure),
            [(name, show_value(answer.measure, value)) for name, value in policies.items()],
        )
    if answer.n_hosts_at_cap:
        _print_hosts(answer)
    for what, path in (("rates in", out), ("picture in", plot)):
        if path is not None:
            console.print(f"{what} {path}")


def _print_hosts(answer: Answer) -> None:
    shown = answer.capped_hosts[:10]
    dearest = [
        (
            one.host,
            answer.show_rate(one.rate),
            f"{one.price / answer.price:,.3g} x" if answer.price else "-",
        )
        for one in shown
    ]
    rest = answer.n_hosts_at_cap - len(shown)
    title = f"{answer.n_hosts_at_cap:,} hosts at their limit" + (
        f", the {len(shown)} dearest" if rest else ""
    )
    print_table(("host", "rate", "price of a fetch"), dearest, title=title)


def _show_gain(answer: Answer, gain: float) -> str:
    more = show_value(answer.measure, answer.value_of_more)
    if answer.measure == "age":
        return f"{more} ({'+' if gain > 0 else '-'}{show_duration(abs(gain))})"
    return f"{more} ({gain:+.4f})"


def _show_price(answer: Answer, slope: float) -> str:
    """Say what one more fetch a day does to the average, so that it can be compared with value."""
    per_day = abs(slope) / UNIT_S["d"]
    sign = "+" if answer.measure == "freshness" else "-"
    if answer.measure == "age":
        return f"{sign}{per_day:.3g} s of mean age for one more a day"
    return f"{sign}{per_day:.3g} {answer.measure} for one more a day"


def _show_share(count: int, total: int) -> str:
    return f"{count / total:.1%} ({count:,} pages)"
