"""Pictures of robot control: in the terminal, and with matplotlib."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from recrawl.drawing import BLUE, GREY, add_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from recrawl.fleet import TradeOff

_WIDTH = 48
_HEIGHT = 16


def terminal_curve(targets: Sequence[int]) -> list[str]:
    """Draw robots to aim for against the buffer's length as lines of text."""
    most = max(*targets, 1)
    lengths = sorted(
        {round(q) for q in np.linspace(0, len(targets) - 1, min(len(targets), _HEIGHT))}
    )
    digits = len(str(lengths[-1]))
    lines = [f"{'pages':>{max(digits, 5)}}  robots to aim for"]
    for q in lengths:
        bar = "█" * round(_WIDTH * targets[q] / most) or "▏"
        lines.append(f"{q:>{max(digits, 5)}}  {bar} {targets[q]}")
    return lines


def draw_trade_off(panel: "Axes", points: "Sequence[TradeOff]") -> None:
    """Draw loss against starvation, fixed and dynamic, as the weight varies."""
    weights = sorted(point.starvation_weight for point in points)
    panel.plot(
        [point.static.starvation for point in points],
        [point.static.loss_rate for point in points],
        marker="s",
        markersize=4,
        color=GREY,
        markeredgecolor="#70757d",
        label="best fixed number",
    )
    panel.plot(
        [point.dynamic.starvation for point in points],
        [point.dynamic.loss_rate for point in points],
        marker="o",
        markersize=4,
        color=BLUE,
        label=f"optimal control, weight {weights[0]:.3g} at the right to {weights[-1]:.3g}",
    )
    panel.set_xlabel("starvation: fraction of time the indexer is idle")
    panel.set_ylabel("loss: pages per unit of time")
    panel.set_xlim(left=0)
    panel.set_ylim(bottom=0)
    add_legend(panel, columns=1)
