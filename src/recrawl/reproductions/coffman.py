"""Section 5 of "Optimal robot scheduling for web search engines": the golden ratio policy."""

import numpy as np

from recrawl.processes.access_times import ConstantTime
from recrawl.reproductions.result import Reproduction, Row
from recrawl.sequencing import (
    AgeingCosts,
    bound_even_gaps,
    evaluate_cycle,
    golden_cycle,
    golden_limit,
    golden_second_moment,
)

_PHI = (1 + 5**0.5) / 2
_WRONG_WAY = (
    "Theorem 5.1 and Corollary 5.1 bound the cost from above by its value where every frequency is "
    "a power of 1/phi. That is the best case, so they bound it from below; the worst is phi^5/10."
)


def golden() -> Reproduction:
    """Compare the printed example, the claimed bound, and a counterexample to it."""
    rates = np.array([0.1, 0.2, 0.3, 0.4])
    costs = AgeingCosts.obsolescence(rates, rates, ConstantTime(1.0))
    order = golden_cycle([2, 3, 3, 5], 7)
    distances, each = golden_limit(rates)
    limit = float((each * costs.at(np.arange(4)[:, None], distances)).sum())
    worst = float(golden_second_moment(_PHI**2 / 2))
    rows = [
        _row(
            "order for 2/13, 3/13, 3/13, 5/13",
            "4 2 4 1 3 4 2 4 1 3 4 2 3",
            " ".join(str(page + 1) for page in order),
            "With j = 1 .. F_k; the printed j = 0 .. F_k - 1 gives a rotation of it. F_7 = 13, "
            "where the print has k = 8.",
        ),
        _row("cost of that cycle, change rates .1 .. .4", "", evaluate_cycle(costs, order).cost),
        _row("its limit for long cycles", "", limit),
        _row("lower bound C*", "", bound_even_gaps(costs).cost),
        _row("cost over bound, many pages, best", "", float(golden_second_moment(1.0))),
        _row("cost over bound, many pages, worst", "< 1.05", worst, _WRONG_WAY),
        _row("1042 equal pages, mu EX = 0.01, k = 33", "< 1.05", _counterexample(), _WRONG_WAY),
    ]
    return Reproduction("Coffman, Liu, Weber 1998, section 5", rows)


def _counterexample() -> float:
    """Evaluate the policy slot by slot over its 3.5 million slots, by Lemma 3.1."""
    rates = np.full(1042, 0.01 / 1042)
    costs = AgeingCosts.obsolescence(rates, rates, ConstantTime(1.0))
    order = golden_cycle(np.ones(1042), 33)
    return evaluate_cycle(costs, order).cost / bound_even_gaps(costs).cost


def _row(what: str, printed: str, computed: object, note: str = "") -> Row:
    return Row({"what": what}, {"value": printed}, {"value": computed}, note)
