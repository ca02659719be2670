"""Talim, Liu, Nain and Coffman, "Controlling the robots of Web search engines", SIGMETRICS 2001.

Exact values were computed independently (policy iteration with separate code, the figures also in
rational arithmetic and by a linear programme) and stand in data/talim-2001.json.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph

from recrawl.fleet import (
    ControlledBuffer,
    RobotPolicy,
    evaluate_policy,
    iterate_as_published,
    solve_robots,
    solve_robots_unrestricted,
    solve_static,
    solve_static_unrestricted,
)
from recrawl.fleet.events import from_buffer
from recrawl.reproductions import talim

DATA = json.loads((Path(__file__).parent / "data" / "talim-2001.json").read_text())


def model_of(row: dict[str, Any]) -> ControlledBuffer:
    return ControlledBuffer(row["robots"], row["buffer"], row["fetch_rate"], 1.0, row["weight"])


@pytest.mark.parametrize("figure", DATA["figures"], ids=lambda row: f"figure-{row['figure']}")
def test_figures_2_to_4(figure: dict[str, Any]) -> None:
    """Cost, both switching curves and the one curve behind them; the rule's own step count."""
    model = ControlledBuffer(16, 5, 0.1, 1.0, figure["weight"])

    best = solve_robots(model)
    historical = iterate_as_published(model)

    assert best.cost == pytest.approx(figure["cost"], rel=1e-12)
    assert best.measures.starvation == pytest.approx(figure["starvation"], rel=1e-10)
    assert best.measures.loss_rate == pytest.approx(figure["loss_rate"], rel=1e-10)
    assert best.measures.robots_mean == pytest.approx(figure["robots_mean"], rel=1e-10)
    assert best.measures.buffer_mean == pytest.approx(figure["buffer_mean"], rel=1e-10)
    assert list(best.targets) == figure["targets"]
    curves = best.policy.switching_curves()
    assert curves is not None
    assert list(curves.departure) == figure["f0"]
    assert list(curves.arrival) == figure["f1"]
    assert historical.steps == figure["printed_iterations"]
    assert round(historical.cost, 5) == figure["printed_cost"]


@pytest.mark.parametrize("table", ["table_1", "table_2"])
def test_every_row_is_exact(table: str) -> None:
    """All 27 rows of each table: optimum, policy and measures to 1e-10."""
    for row in DATA[table]:
        best = solve_robots(model_of(row))
        measures = best.measures

        assert best.cost == pytest.approx(row["cost"], rel=1e-10)
        assert measures.starvation == pytest.approx(row["starvation"], rel=1e-10)
        assert measures.loss_rate == pytest.approx(row["loss_rate"], rel=1e-10)
        assert measures.robots_mean == pytest.approx(row["robots_mean"], rel=1e-10)
        assert measures.buffer_mean == pytest.approx(row["buffer_mean"], rel=1e-10)
        assert (measures.robots_min, measures.robots_max) == (row["robots_min"], row["robots_max"])
        assert measures.recurrent_states == row["recurrent_states"]
        assert list(best.targets) == row["targets"]


def test_the_printed_stopping_rule_gives_the_printed_costs_and_counts() -> None:
    """Table 1: all 27 costs and iteration numbers, the eight that stopped too early included."""
    for row in DATA["table_1"]:
        historical = iterate_as_published(model_of(row))

        assert historical.cost == pytest.approx(row["rule_cost"], abs=1e-12)
        assert round(historical.cost, 5) == row["printed_cost"]
        assert historical.steps + 1 == row["printed_iterations"]


def test_the_printed_rule_on_table_2() -> None:
    """Its costs depend a little on how many robots were allowed; these are for 15 to 150."""
    for row in DATA["table_2"]:
        historical = iterate_as_published(model_of(row))

        assert historical.steps == row["rule_steps"]
        assert historical.cost == pytest.approx(row["rule_cost"], abs=1e-12)


def test_fixed_numbers_of_robots() -> None:
    """Proposition 3: 27 rows of N_s and C_s; the rows printed 1.13 took it literally in C_s."""
    for row in DATA["table_1"]:
        weight = 1.13 if row["weight"] == pytest.approx(17 / 15) else row["weight"]

        fixed = solve_static_unrestricted(row["fetch_rate"], 1.0, weight, row["buffer"])

        assert fixed.robots == row["static_robots"]
        assert fixed.cost == pytest.approx(row["printed_static_cost"], abs=5.001e-6)


def test_without_a_limit_on_robots() -> None:
    """Table 2: the search for enough robots ends at the same optimum; N_max is r*(0) - 1."""
    for row in DATA["table_2"]:
        start = ControlledBuffer(
            row["static_robots"], row["buffer"], row["fetch_rate"], 1.0, row["weight"]
        )

        best = solve_robots_unrestricted(start)

        assert best.cost == pytest.approx(row["cost"], rel=1e-10)
        assert list(best.targets) == row["targets"]
        assert best.targets[0] - 1 == row["printed_max"]


def test_the_reproductions_differ_from_print_only_where_they_say_why() -> None:
    """A cell of ours that does not round to the printed one has a note in its row."""
    for reproduction in (talim.figures(), talim.table_1(), talim.table_2()):
        for row in reproduction.rows:
            for name, printed in row.printed.items():
                text, ours = str(printed), float(str(row.computed[name]))
                slack = 0.5 * 10.0 ** -len(text.partition(".")[2]) if "." in text else 0.0
                if abs(float(text) - ours) > slack * 1.001:
                    assert row.note, (row.case, name)


def test_the_misprints_are_marked() -> None:
    """Four slips in Table 2, eight early stops in Table 1, three rows with 17/15 in each."""
    notes = [[row.note for row in table().rows] for table in (talim.table_1, talim.table_2)]

    assert sum("stopped" in note for note in notes[0]) == 8
    assert sum("17/15" in note for note in notes[0]) == 3
    assert sum("17/15" in note for note in notes[1]) == 3
    assert sum("copying slip" in note for note in notes[1]) == 2
    assert sum("misprint" in note or "does not follow" in note for note in notes[1]) == 2


@pytest.mark.parametrize("buffer", [2, 5, 10, 15])
def test_the_balanced_weight_makes_utilisation_one_best(buffer: int) -> None:
    """gamma(K) = mu (K + 2) / K, where the slope of equation 9 at rho = 1 vanishes."""
    for rate in (0.01, 0.1, 0.25):
        fixed = solve_static_unrestricted(rate, 1.0, (buffer + 2) / buffer, buffer)

        assert fixed.robots == round(1 / rate)
        assert fixed.cost == pytest.approx(((buffer + 2) / buffer + 1) / (buffer + 1), rel=1e-12)


@pytest.mark.parametrize(
    ("size", "load", "cost"),
    [
        (50, 0.8, 0.28000513),
        (50, 1.0, 0.031640787),
        (50, 2.0, 1.3710876e-8),
        (200, 1.0, 0.0075196666),
        (200, 2.0, 1.0579356e-30),
        (500, 2.0, 7.7979990e-75),
    ],
)
def test_costs_that_value_iteration_cannot_see(size: int, load: float, cost: float) -> None:
    """Without a binding limit on robots the least cost falls exponentially with the buffer."""
    best = solve_robots(ControlledBuffer(size, size, load / size, 1.0, 1.4))

    assert best.cost == pytest.approx(cost, rel=1e-7)
    assert best.residual <= 1e-11
    assert best.is_curve


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "load", "cost"),
    [
        (1000, 0.8, 0.28),
        (1000, 1.0, 0.0014460253),
        (1000, 2.0, 2.2684215e-148),
        (2000, 1.0, 7.1578783e-4),
        (2000, 2.0, 1.9457790e-295),
    ],
)
def test_a_thousand_and_two_thousand(size: int, load: float, cost: float) -> None:
    """The largest sizes, down to 1e-295."""
    best = solve_robots(ControlledBuffer(size, size, load / size, 1.0, 1.4))

    assert best.cost == pytest.approx(cost, rel=1e-7)
    assert best.residual <= 1e-11


def test_the_rule_bounds_no_error() -> None:
    """At N = K = 50 and load 1 it stops away from the optimum, which its own bounds show."""
    model = ControlledBuffer(50, 50, 1 / 50, 1.0, 1.4)

    historical, best = iterate_as_published(model), solve_robots(model)

    assert historical.cost > best.cost * 1.001
    assert historical.low <= best.cost <= historical.high


def test_a_static_policy_is_never_better() -> None:
    """The control may always keep a fixed number, so it costs no more; Table 1's gain is 4 % up."""
    gains = []
    for row in DATA["table_1"]:
        model = model_of(row)
        gains.append(solve_static(model).cost / solve_robots(model).cost - 1)

    assert np.min(gains) > 0.04
    assert np.max(gains) == pytest.approx(1.03, abs=0.01)


@pytest.mark.parametrize("robots", [1, 2, 3, 7, 16])
@pytest.mark.parametrize("buffer", [1, 2, 5, 12])
def test_lemma_1_from_every_state_some_policy_leads_to_every_other(
    robots: int, buffer: int
) -> None:
    """The process is communicating; and multichain, by the paper's example, from two robots on."""
    model = from_buffer(ControlledBuffer(robots, buffer, 0.3, 1.0, 1.4))
    n = model.event_start.size - 1
    state = np.repeat(np.arange(n), np.diff(model.event_start))
    options = np.diff(model.option_start)[model.event_decision]
    first = model.option_start[model.event_decision]
    edges = [
        (state[options > k], model.option_state[(first + k)[options > k]])
        for k in range(int(options.max()))
    ]
    rows, columns = (np.concatenate(ends) for ends in zip(*edges, strict=True))
    graph = sparse.coo_matrix((np.ones(rows.size), (rows, columns)), shape=(n, n))

    parts, _ = csgraph.connected_components(graph, directed=True, connection="strong")

    assert n == (buffer + 1) * (robots + 1) - 1
    assert parts == 1
    if robots > 1:
        tables = np.zeros((2, buffer + 1, robots + 1), np.bool_)
        tables[0, :, 1:] = True  # whatever has stopped is started again, and nothing else
        tables[1, 1, 0] = True
        policy = RobotPolicy(arrival=tables[0], departure=tables[1])
        assert len(evaluate_policy(ControlledBuffer(robots, buffer, 0.3, 1.0, 1.4), policy)) > 1
