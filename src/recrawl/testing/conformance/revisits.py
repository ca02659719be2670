"""Conformance tests for every revisit policy, whoever wrote it."""

from math import isfinite

import numpy as np

from recrawl.crawler.control.evidence import PlannedPages
from recrawl.crawler.control.revisiting.revisit_policy import (
    NextVisit,
    PageVisit,
    Replan,
    RevisitPolicy,
)

_NOW_S, _DAY_S = 1_800_000_000.0, 86_400.0
_MOST_MEMORY = 1_024  # bytes of a page


class RevisitPolicySuite:
    """Subclass it, and have ``make`` return a new policy."""

    def make(self) -> RevisitPolicy:
        """Return a policy that has seen nothing."""
        raise NotImplementedError

    def walk(self, policy: RevisitPolicy, changed: list[bool]) -> list[NextVisit]:
        """Visit a page again and again, each time when it is due."""
        answers = [policy.after_visit(PageVisit("http://a.test/", _NOW_S, None))]
        at_s = _NOW_S
        for found in changed:
            before = answers[-1]
            elapsed_s, at_s = max(before.due_s - at_s, 1.0), max(before.due_s, at_s + 1.0)
            answers.append(
                policy.after_visit(
                    PageVisit(
                        "http://a.test/",
                        at_s,
                        found,
                        elapsed_s=elapsed_s,
                        due_s=before.due_s,
                        memory=before.memory or b"",
                    )
                )
            )
        return answers

    def test_it_has_a_name(self) -> None:
        """By which reports call it."""
        assert self.make().name

    def test_every_visit_is_followed_by_another(self) -> None:
        """At a finite time that is not before the visit, for a reason, with little to remember."""
        at_s = _NOW_S
        for answer in self.walk(self.make(), [True, False, False, True] * 10 + [False] * 60):
            assert isfinite(answer.due_s)
            assert answer.due_s >= at_s
            assert answer.why
            assert len(answer.memory or b"") <= _MOST_MEMORY
            at_s = answer.due_s

    def test_it_decides_by_what_it_is_told_alone(self) -> None:
        """Another object, told the same, says the same: a start goes on where a kill was."""
        found = [True, False, True, True, False, False]

        assert self.walk(self.make(), found) == self.walk(self.make(), found)

    def test_memory_of_another_version_is_no_harm(self) -> None:
        """As if the page were new."""
        visit = PageVisit("http://a.test/", _NOW_S, True, elapsed_s=_DAY_S, memory=b"\xffelse")

        assert isfinite(self.make().after_visit(visit).due_s)

    def test_a_plan_keeps_to_its_budget(self) -> None:
        """If the policy plans, no more falls due within its span than the budget pays for."""
        n = 40
        nothing = np.full(n, np.nan)
        pages = PlannedPages(
            np.arange(1, n + 1),
            np.zeros(n, np.int64),
            np.ones(n),
            np.geomspace(1e-8, 1e-4, n),
            np.full(n, 2.0),
            nothing,
            np.full(n, _NOW_S - _DAY_S),
            np.full(n, _NOW_S),
            nothing,
        )
        budget_per_s = n / (10 * _DAY_S)

        made = self.make().replan(
            Replan(
                pages,
                np.zeros(n, np.int64),
                np.array([np.inf]),
                budget_per_s,
                _NOW_S,
                span_s=2.5 * _DAY_S,
            )
        )

        if made is not None:
            assert made.due.shape == made.crawl_rates.shape == (n,)
            assert np.isfinite(made.due).all()
            assert (made.crawl_rates >= 0.0).all()
            assert 0.0 <= made.freshness <= 1.0
            soon = np.sum(made.due <= _NOW_S + 2.5 * _DAY_S)
            assert soon <= 1.2 * budget_per_s * 2.5 * _DAY_S + 1.0
