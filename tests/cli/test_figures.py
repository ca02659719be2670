"""Pictures: legends beside the curves, and ticks that say something."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from recrawl.cli.figures import new_figure
from recrawl.cli.plan.pictures import _weight_ticks
from recrawl.drawing import add_legend


@pytest.mark.parametrize("entries", [1, 3, 8])
@pytest.mark.parametrize("columns", [1, 3])
def test_a_legend_covers_no_curve_and_no_title(entries: int, columns: int) -> None:
    """It stands outside the panel, and the title outside of it."""
    figure, panels = new_figure(2)
    for panel in panels:
        for number in range(entries):
            panel.plot([0, 1], [number, 1 - number], label=f"curve {number}")
        panel.set_title("What is drawn", loc="left")
        add_legend(panel, columns=columns)
    figure.draw_without_rendering()

    for panel in panels:
        legend = panel.get_legend()
        assert legend is not None
        box, inside = legend.get_window_extent(), panel.patch.get_window_extent()
        title = panel._left_title.get_window_extent()  # type: ignore[attr-defined]
        assert box.y0 >= inside.y1 - 1.0
        assert title.y0 >= box.y1 - 2.0
        assert title.y1 <= figure.bbox.y1


def test_no_verb_draws_a_legend_elsewhere() -> None:
    """All legends pass by the one function that keeps them off the curves."""
    sources = Path("src/recrawl").rglob("*.py")
    found = [path.name for path in sources if ".legend(" in path.read_text(encoding="utf-8")]

    assert found == ["drawing.py"]


@pytest.mark.parametrize(
    ("expected", "low", "high"),
    [
        (["1", "2", "5", "10", "20", "50"], 0.9, 60.0),
        (["0.001", "0.01", "0.1", "1", "10", "100"], 5e-4, 300.0),
        (["1.02", "1.31"], 1.02, 1.31),
    ],
)
def test_the_bar_of_weights_has_ticks_that_say_something(
    expected: list[str], low: float, high: float
) -> None:
    """1, 2 and 5 of each decade, whole decades where those are too many, else both ends."""
    axes = Figure().subplots()
    axes.set(yscale="log", ylim=(low, high))

    _weight_ticks(axes.yaxis)

    shown = [axes.yaxis.get_major_formatter()(mark) for mark in axes.yaxis.get_majorticklocs()]
    assert shown == expected
    assert np.size(axes.yaxis.get_minorticklocs()) == 0
