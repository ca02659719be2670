"""Report of ``recrawl backtest``."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from recrawl.api.backtesting import Compared
from recrawl.cli.output import console, print_table
from recrawl.quantities import show_duration, show_rate
from recrawl.simulation.history import ChangeHistory


def backtest_json(
    path: Path, record: ChangeHistory, found: Sequence[Compared]
) -> dict[str, object]:
    """Return the answer under the keys that scripts rely on."""
    return {
        "history": str(path),
        "pages": record.n_pages,
        "changes": int(record.page.size),
        "change_rate": record.change_rate,
        "evaluated_from": found[0].test.since,
        "evaluated_until": record.end,
        "reference": found[0].reference,
        "announcements": _announced(found),
        "budgets": [
            {
                "budget": one.name,
                "budget_per_s": one.test.budget,
                "policies": {name: _json(one, name) for name in one.scores},
            }
            for one in found
        ],
    }


def _announced(found: Sequence[Compared]) -> int | None:
    """Count changes that listings announce, true or not; None: nobody listens."""
    told = found[0].test.told
    return None if told is None else int(told.page.size)


def _json(one: Compared, name: str) -> dict[str, object]:
    score = one.scores[name]
    answer: dict[str, object] = {
        "freshness": score.freshness,
        "low": score.low,
        "high": score.high,
        "mean_age": score.mean_age,
        "harmonic_penalty": score.penalty,
        "fetches": score.fetches,
        "wasted": score.wasted,
        "changes_seen": score.seen,
    }
    if name != one.reference:
        answer["behind"] = dict(zip(("mean", "low", "high"), one.ahead(name), strict=True))
    if name in one.at_same:
        answer["reference_at_its_fetches"] = {
            key: getattr(one.at_same[name], key) for key in ("freshness", "low", "high", "fetches")
        }
    return answer


def print_backtest(path: Path, record: ChangeHistory, found: Sequence[Compared]) -> None:
    """Print the report for people."""
    out = console()
    start, until = (np.datetime64(int(at), "s") for at in (found[0].test.since, record.end))
    out.print(
        f"\n{record.n_pages:,} pages, {record.page.size:,} changes from {path}; judged from "
        f"{start}Z to {until}Z",
    )
    if (announced := _announced(found)) is not None:
        out.print(
            f"Listings announce {announced:,} changes to recrawl and foresight, which pay for each "
            "reading; nobody else hears of them.",
            markup=False,
        )
    for one in found:
        rows = [_row(one, name) for name in one.scores]
        print_table(
            (
                "policy",
                "fresh",
                "95 %",
                f"{one.reference} ahead by, points",
                "mean age",
                "penalty",
                "fetches",
                "wasted",
                "changes seen",
            ),
            rows,
            title=f"budget {one.name}: {show_rate(one.test.budget)}",
        )
    out.print(
        f"Rules that do not spend the budget are beside {found[0].reference} at what they spent.",
        markup=False,
    )


def _row(one: Compared, name: str) -> tuple[str, ...]:
    score = one.scores[name]
    ahead = (
        ""
        if name == one.reference
        else "{:+.2f} ({:+.2f} .. {:+.2f})".format(*(100 * part for part in one.ahead(name)))
    )
    known = np.isfinite(score.mean_age)
    return (
        name,
        f"{100 * score.freshness:.2f} %",
        f"{100 * score.low:.2f} .. {100 * score.high:.2f}",
        ahead,
        show_duration(score.mean_age) if known else "",
        f"{score.penalty:.4f}" if known else "",
        f"{score.fetches:,}",
        f"{score.wasted:.0%}",
        f"{score.seen:.0%}",
    )
