"""The policies that the runtime asks at every arrival and departure."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.crawler.control.fleet import ActivationPolicy, FixedRobots, TableRobots, TargetRobots
from recrawl.errors import InvalidModel

FIGURE_3 = TargetRobots((16, 14, 12, 9, 7, 4))


@given(st.integers(1, 30), st.integers(0, 30), st.integers(0, 40))
def test_the_static_policy_keeps_n_robots_active(n: int, buffered: int, active: int) -> None:
    """With n - 1 others active the arriving robot starts again, with n it stays idle."""
    policy = FixedRobots(n)

    assert policy.activate_on_arrival(buffered, active) is (active < n)
    assert policy.activate_on_departure(buffered, active) is (active < n)


def test_one_curve_gives_the_papers_two_switching_curves() -> None:
    """Figure 3: f_0(r) >= q says activate at a departure, f_1(r) >= q at an arrival."""
    f0 = [5, 5, 5, 5, 5, 5, 5, 4, 4, 3, 3, 3, 2, 2, 1, 1]
    f1 = [5, 5, 5, 5, 3, 3, 3, 2, 2, 1, 1, 1, 0, 0, -1, -1]

    departures = [
        [FIGURE_3.activate_on_departure(q - 1, r) for r in range(16)] for q in range(1, 6)
    ]
    arrivals = [
        [FIGURE_3.activate_on_arrival(min(q + 1, 5), r - 1) for r in range(1, 17)] for q in range(6)
    ]

    assert departures == [[f0[r] >= q for r in range(16)] for q in range(1, 6)]
    assert arrivals == [[f1[r - 1] >= q for r in range(1, 17)] for q in range(6)]


def test_a_longer_buffer_is_looked_up_at_the_last_length() -> None:
    """The live buffer may be larger than the one that was planned for."""
    assert FIGURE_3.robots_at(9) == 4
    assert FIGURE_3.activate_on_departure(9, 3)
    assert not FIGURE_3.activate_on_departure(9, 4)


def test_tables_answer_for_policies_without_a_curve() -> None:
    """The counterexample with a holding cost starts a robot at 0 and 2 active but not at 1."""
    policy = TableRobots(
        on_arrival=((True,) * 3, (False,) * 3, (False,) * 3),
        on_departure=((True, False, True, False), (True,) * 4, (False,) * 4),
    )

    assert [policy.activate_on_departure(0, r) for r in range(4)] == [True, False, True, False]
    assert not policy.activate_on_departure(7, 0)
    assert policy.activate_on_arrival(0, 7)


def test_every_policy_fits_the_port() -> None:
    """The runtime needs two methods and nothing else."""
    table = TableRobots(((True,),), ((True, True),))

    assert all(isinstance(policy, ActivationPolicy) for policy in (FixedRobots(1), FIGURE_3, table))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FixedRobots(0), "n must be at least 1"),
        (lambda: TargetRobots(()), "targets must name"),
        (lambda: TargetRobots((3, -1)), r"targets\[1\]"),
        (lambda: TargetRobots((0, 3)), r"targets\[0\] must be at least 1"),
        (lambda: TableRobots((), ()), "on_arrival must be a table"),
        (lambda: TableRobots(((True,),), ((True,), (True, False))), "on_departure must be"),
        (lambda: TableRobots(((True,),), ((True,), (True,))), "1 rows and on_departure 2"),
        (lambda: TableRobots(((True,),), ((False, True),)), r"on_departure\[0\]\[0\] must be true"),
    ],
)
def test_policies_that_make_no_sense_are_refused(make: Callable[[], object], message: str) -> None:
    """The message names the entry and says what would be right."""
    with pytest.raises(InvalidModel, match=message):
        make()
