"""The control in force, and what theory expects of it."""

import pytest

from recrawl.crawler.control.fleet.room import starvation_with_room
from recrawl.crawler.facts import CrawlFacts
from recrawl.crawler.reports.robots import control_curve, safe_control_report

SAFE = {
    "robots": 4.0, "buffer_capacity": 6.0, "starvation_weight": 1.0, "control_known": 0.0,
    "safe_pages": 80.0, "safe_fetch_rate": 0.5, "safe_index_rate": 10.0, "safe_seconds": 100.0,
    "safe_starvation": 0.8, "safe_loss_rate": 0.0, "safe_throughput": 2.0,
    "safe_buffer_mean": 0.25, "safe_robots_mean": 4.0,
    # of an earlier run, whose control is not in force:
    "control_fetch_rate": 3.0, "control_index_rate": 1.0, "measured_seconds": 9.0,
}  # fmt: skip


def test_a_heavier_weight_keeps_the_indexer_busier() -> None:
    """And more robots at every length."""
    facts = {
        "robots": 8.0, "buffer_capacity": 5.0, "starvation_weight": 0.2,
        "control_fetch_rate": 0.2, "control_index_rate": 1.0,
    }  # fmt: skip
    light, heavy = control_curve(CrawlFacts.of(facts)), control_curve(CrawlFacts.of(facts), 5.0)
    assert light is not None
    assert heavy is not None

    assert heavy["starvation"] < light["starvation"]
    assert all(more >= less for more, less in zip(heavy["targets"], light["targets"], strict=True))


def test_before_rates_are_known_robots_run_while_there_is_room() -> None:
    """And an old state, which does not tell, has no curve."""
    curve = control_curve(
        CrawlFacts.of({"robots": 3, "buffer_capacity": 4, "starvation_weight": 1.0})
    )

    assert curve is not None
    assert (curve["kind"], curve["targets"]) == ("room", [3, 3, 2, 1, 0])
    assert control_curve(CrawlFacts.of({})) is None


def test_a_control_that_is_not_worth_having_is_shown_beside_the_one_in_force() -> None:
    """With what the one in force is to bring, by the rates measured in this run."""
    curve = control_curve(CrawlFacts.of(SAFE))

    assert curve is not None
    assert (curve["kind"], curve["targets"]) == ("room", [4, 4, 4, 3, 2, 1, 0])
    assert curve["starvation"] == pytest.approx(starvation_with_room(4, 6, 0.05))
    assert curve["loss_rate"] == 0.0
    assert curve["best"]["kind"] == "optimal"
    assert curve["best"]["starvation"] <= curve["starvation"]
    asked = control_curve(CrawlFacts.of(SAFE), 5.0)
    assert asked is not None
    assert asked["kind"] == "optimal"


def test_prediction_stands_beside_measurement_without_a_control_too() -> None:
    """And why there is none: how little it could win, and the best fixed number of robots."""
    report = safe_control_report(CrawlFacts.of(SAFE))

    assert report is not None
    assert report["measures"]["starvation"] == {
        "predicted": pytest.approx(starvation_with_room(4, 6, 0.05)),
        "measured": 0.8,
    }
    assert 0.0 <= report["to_win"] < 0.02
    assert report["static"]["robots"] == 4
    assert report["parted"] == []


@pytest.mark.parametrize("change", [{"control_known": 1.0}, {"safe_pages": 10.0}])
def test_it_is_told_only_while_it_is_in_force_and_rates_are_known(
    change: dict[str, float],
) -> None:
    """Under a control that was solved the other report is the one."""
    assert safe_control_report(CrawlFacts.of(SAFE | change)) is None


def test_a_control_that_was_dropped_is_not_the_one_in_force() -> None:
    """Robots run as room permits again; what was dropped is shown as the one that promised more."""
    curve = control_curve(CrawlFacts.of(SAFE | {"control_known": 1.0, "control_dropped": 1.0}))

    assert curve is not None
    assert curve["kind"] == "room"
    assert curve["best"]["kind"] == "optimal"
