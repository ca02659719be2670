"""The replay of any policy, object by object, beside the compiled replay of the same rules."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import override

from recrawl.crawler.control.revisiting.interval_rules import SHIPPED_RULES, IntervalRulePolicy
from recrawl.crawler.control.revisiting.revisit_policy import (
    NextVisit,
    PageVisit,
    Replan,
    RevisitPolicy,
)
from recrawl.errors import InvalidModel
from recrawl.simulation.backtest import Backtest, run_policy
from recrawl.simulation.history import ChangeHistory
from recrawl.simulation.policy_replay import replay_policy

DAY_S = 86_400.0


def history(seed: int, n: int = 12, days: float = 200.0) -> ChangeHistory:
    """Pages of many rates, some born late, some gone early; seconds."""
    random = np.random.default_rng(seed)
    # No two at once: pages that are due at the same time come in any order.
    born = np.where(random.random(n) < 0.5, 0.01, 1.0) * random.uniform(0.0, 0.5, n) * days * DAY_S
    until = np.where(random.random(n) < 0.7, days * DAY_S, born + 0.4 * days * DAY_S)
    page, at = [], []
    for row, rate in enumerate(np.geomspace(0.02, 2.0, n)):
        times = random.uniform(0.0, days * DAY_S, random.poisson(rate * days))
        times = np.sort(times[(times > born[row]) & (times < until[row])])
        page += [row] * times.size
        at += times.tolist()
    return ChangeHistory(
        np.array(page, np.int64),
        np.array(at),
        born,
        until,
        until < days * DAY_S,
        np.ones(n),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.zeros(0),
    )


@pytest.mark.parametrize("name", SHIPPED_RULES)
@given(seed=st.integers(0, 1_000), pace=st.floats(0.2, 6.0))
@settings(max_examples=15, deadline=None)
def test_a_rule_as_an_object_visits_as_the_compiled_one(name: str, seed: int, pace: float) -> None:
    """At the same instants, with the same result, page by page."""
    past, random = history(seed), np.random.default_rng(seed)
    n_visits = int(pace * 12 * 100)
    instants = np.sort(random.uniform(past.start, past.end, n_visits))  # so that nothing is tied
    test = Backtest(past, n_visits / (past.end - past.start), instants=instants)

    compiled = run_policy(test, name)
    mine = replay_policy(test, IntervalRulePolicy(name, SHIPPED_RULES[name]))

    np.testing.assert_array_equal(mine.instants, compiled.instants)
    np.testing.assert_allclose(mine.fresh, compiled.fresh, rtol=1e-9, atol=1e-3)
    np.testing.assert_allclose(mine.age, compiled.age, rtol=1e-9, atol=1e-3)
    np.testing.assert_allclose(mine.penalty, compiled.penalty, rtol=1e-9, atol=1e-3)
    np.testing.assert_array_equal(mine.visits, compiled.visits)
    np.testing.assert_array_equal(mine.seen, compiled.seen)
    assert (mine.fetches, mine.wasted) == (compiled.fetches, compiled.wasted)


class Never(RevisitPolicy):
    """Says that a page is never due again."""

    name = "never"

    @override
    def after_visit(self, visit: PageVisit) -> NextVisit:
        return NextVisit(float("inf"), "never")

    @override
    def replan(self, question: Replan) -> None:
        return None


def test_a_policy_that_forgets_a_page_is_refused() -> None:
    """Naming the policy and the page."""
    test = Backtest(history(1), 1.0 / DAY_S)

    with pytest.raises(InvalidModel, match="never: due_s must be finite, got inf after a visit of"):
        replay_policy(test, Never())
