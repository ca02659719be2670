"""What a start reads: what was learned, and the visits of pages that were visited since."""

import asyncio
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numpy as np
import pytest
from tests.oracles.frontier import PlainFrontier

from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.control.evidence import Evidence
from recrawl.crawler.control.revisiting.believed import Believed
from recrawl.crawler.control.revisiting.policies import revisit_policy
from recrawl.crawler.ports import AdmissionLimits
from recrawl.crawler.runtime.visit_learner import VisitLearner, parts_of
from recrawl.terms import Discovery, Outcome, PageState, PageUpdate, Visit

P = ParamSpec("P")
T = TypeVar("T")
A, N, N_VISITS = "http://a.test", 30, 20


class Asked(PlainFrontier):
    """Notes of which pages the visits are read, and how many of each at most."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[list[int], int | None]] = []

    def evidence(self, page_ids: Any, **limits: int) -> Evidence:
        self.asked.append((list(page_ids), limits.get("limit_per_page")))
        return super().evidence(page_ids, **limits)

    def visit(self, n: int, at_s: float, outcome: Outcome) -> None:
        """Visit the first so many pages."""
        (host,) = self.hosts()
        self.make_due(at_s)
        leases = self.lease(host.host_id, limit=N, due_by_s=at_s, now_s=at_s, until_s=at_s)
        updates = []
        for lease in sorted(leases, key=lambda one: one.page_id)[:n]:
            last_s = lease.last_visit_s
            interval_s = None if last_s is None else at_s - last_s
            changed = None if interval_s is None else outcome is Outcome.CHANGED
            visit = Visit(at_s, outcome, status=200, changed=changed, interval_s=interval_s)
            updates.append(PageUpdate(lease, visit, PageState.INDEXED, at_s + 1.0))
        self.complete(updates, at_s)


async def at_once(call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    return call(*args, **kwargs)


class Learner:
    """A crawl's learner, as it is after a start."""

    def __init__(self, frontier: Asked, policy: str) -> None:
        self.frontier = frontier
        rules = RevisitRules()
        self.believed = Believed(rules, budget_per_s=1e-4, prior_rate_per_s=1e-6, prior_shape=0.5)
        revisit_policy(policy, rules, self.believed)
        self._learner = VisitLearner(self.believed, at_once, at_once)

    def learn(self) -> list[tuple[list[int], int | None]]:
        """Learn what is new; return which visits were read."""
        self.frontier.asked.clear()
        asyncio.run(self._learner.learn(self.frontier))
        return list(self.frontier.asked)

    @property
    def rates(self) -> np.ndarray:
        control, rows = self.believed.control_of(np.arange(1, N + 1))
        return np.asarray(control.beliefs.rates(rows)[0])


def crawled() -> Asked:
    frontier = Asked()
    found = [Discovery(f"{A}/{number % 4}/{number}", A) for number in range(N)]
    frontier.admit(found, 0.0, AdmissionLimits())
    for k in range(N_VISITS):
        outcome = Outcome.NEW if not k else Outcome.CHANGED if k % 3 else Outcome.UNCHANGED
        frontier.visit(N, 1e6 * (k + 1), outcome)
    return frontier


@pytest.mark.parametrize("policy", ["recrawl", "foresight"])
def test_a_start_reads_no_visit_of_pages_that_were_not_visited_since(policy: str) -> None:
    """But the latest ones, for the clocks of a policy that foresees."""
    frontier = crawled()
    before = Learner(frontier, policy)
    before.learn()
    frontier.visit(4, 1e6 * (N_VISITS + 2), Outcome.CHANGED)

    started = Learner(frontier, policy)
    read = started.learn()
    again = started.learn()

    others = [([*range(5, N + 1)], 12)] if policy == "foresight" else []
    assert read == [*others, ([1, 2, 3, 4], None)]
    assert again == []
    assert started.rates[4:] == pytest.approx(before.rates[4:], rel=0.01)
    before.learn()
    assert started.rates == pytest.approx(before.rates, rel=0.01)


def test_the_clocks_of_a_start_are_told_what_was_seen_of_late() -> None:
    """As many visits as by one that goes on with nothing."""
    frontier, told = crawled(), []
    Learner(frontier, "foresight").learn()
    for kept in (True, False):
        if not kept:
            frontier._beliefs.clear()
        started = Learner(frontier, "foresight")
        started.learn()
        clocks = started.believed.told_clocks
        assert clocks is not None
        told.append(np.concatenate([one[0] for one in clocks._waiting]).size)

    assert told == [12 * N, (N_VISITS - 1) * N]


def test_pages_that_are_known_are_asked_for_their_latest_visits_alone() -> None:
    """What is learned one by one is what is learned of all at once, or nearly."""
    frontier = crawled()
    goes_on = Learner(frontier, "recrawl")
    goes_on.learn()
    read = []
    for k in range(4):
        frontier.visit(N, 1e6 * (N_VISITS + 2 + k), (Outcome.CHANGED, Outcome.UNCHANGED)[k % 2])
        read.append(goes_on.learn())
    anew = Learner(frontier, "recrawl")
    frontier._beliefs.clear()
    anew.learn()

    every = list(range(1, N + 1))
    assert read == [[(every, None)], *[[(every, 4)]] * 3], "nineteen visits are few"
    assert goes_on.rates == pytest.approx(anew.rates, rel=1e-3)
    assert Learner(frontier, "recrawl").learn() == []


def test_more_new_visits_than_were_asked_for_are_learned_all() -> None:
    frontier = crawled()
    frontier.visit(N, 1e6 * (N_VISITS + 2), Outcome.CHANGED)
    goes_on = Learner(frontier, "recrawl")
    goes_on.learn()
    for k in range(4):
        frontier.visit(5 if k else N, 1e6 * (N_VISITS + 4 + k), Outcome.CHANGED)
    read = goes_on.learn()
    frontier._beliefs.clear()
    anew = Learner(frontier, "recrawl")
    anew.learn()

    assert read == [(list(range(1, N + 1)), 4), ([1, 2, 3, 4, 5], None)]
    assert goes_on.rates == pytest.approx(anew.rates, rel=1e-3)


def test_it_makes_no_difference_how_many_pages_are_learned_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frontier = crawled()
    whole = Learner(frontier, "recrawl")
    whole.learn()
    frontier._beliefs.clear()
    monkeypatch.setattr("recrawl.crawler.runtime.visit_learner._WHOLE", 4)
    monkeypatch.setattr(parts_of, "__defaults__", (7,))
    by_parts = Learner(frontier, "recrawl")

    assert len(by_parts.learn()) > 4
    assert by_parts.rates == pytest.approx(whole.rates, rel=1e-6)


def test_clocks_are_told_the_visits_that_are_new() -> None:
    frontier = crawled()
    learner = Learner(frontier, "foresight")
    learner.learn()
    clocks = learner.believed.told_clocks
    assert clocks is not None
    clocks._waiting.clear()
    frontier.visit(N, 1e6 * (N_VISITS + 2), Outcome.CHANGED)
    learner.learn()
    clocks._waiting.clear()
    frontier.visit(3, 1e6 * (N_VISITS + 3), Outcome.CHANGED)
    read = learner.learn()

    assert read == [([1, 2, 3], 4)]
    assert np.concatenate([one[0] for one in clocks._waiting]).tolist() == [0, 1, 2]


def test_the_very_first_visit_is_learned_like_any_other() -> None:
    """A state that holds a single one is not taken for one that holds none."""
    frontier = Asked()
    frontier.admit([Discovery(f"{A}/1", A)], 0.0, AdmissionLimits())
    frontier.visit(1, 1e6, Outcome.NEW)

    assert Learner(frontier, "recrawl").learn() == [([1], None)]


def test_rates_are_written_whichever_way_they_were_learned() -> None:
    """Of pages that are new, and of those that are known: what is believed is what is kept."""
    frontier = crawled()
    learner = Learner(frontier, "recrawl")
    for later in range(4):
        assert learner.learn()[-1][1] == (4 if later > 1 else None)
        kept = [frontier._pages[number].change_rate for number in range(1, N + 1)]
        assert kept == pytest.approx(learner.rates)
        frontier.visit(N, 1e6 * (N_VISITS + 2 + later), Outcome.CHANGED)


def test_what_is_learned_of_a_page_hangs_on_all_that_are_visited_not_on_how_they_are_parted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each part is told, before it is learned, of every page that is about to be."""
    frontier, n_known = crawled(), []
    monkeypatch.setattr(parts_of, "__defaults__", (7,))
    learner = Learner(frontier, "recrawl")
    learn = learner.believed.learn

    def noted(evidence: Evidence) -> None:
        control, _ = learner.believed.control_of(np.zeros(0, np.int64))
        n_known.append(len(control))
        learn(evidence)

    monkeypatch.setattr(learner.believed, "learn", noted)
    learner.learn()

    assert n_known == [N] * 5
