"""Pictures of robot control: in the terminal, and with matplotlib."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from recrawl.cli.figures import add_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from recrawl.fleet import RobotPolicy, TradeOff

__all__ = ["draw_policy", "draw_trade_off", "terminal_curve"]

_WIDTH = 48
_HEIGHT = 16
_BLUE, _GREY, _RED = "#1f5fa8", "#c9ccd1", "#c0392b"


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


def draw_policy(panels: "Sequence[Axes]", policy: "RobotPolicy", title: str) -> None:
    """Draw a policy as the paper's Figures 2 to 4 do: departures left, arrivals right.

    A filled dot at (r, q) means that a robot is started, an open one that none is.
    """
    sides = (
        (policy.departure[1:, :-1], 1, 0, "departure (s = 0)", "f₀"),
        (policy.arrival[:, 1:], 0, 1, "arrival (s = 1)", "f₁"),
    )
    curves = policy.switching_curves()
    lines = (curves.departure, curves.arrival) if curves else (None, None)
    for panel, (table, first_q, first_r, name, symbol), line in zip(
        panels, sides, lines, strict=True
    ):
        _draw_side(panel, np.asarray(table), first_q, first_r)
        if line is not None:
            robots = np.arange(len(line)) + first_r
            panel.step(robots, line, where="mid", color=_RED, linewidth=1.4, label=symbol)
        panel.set_xlabel("active robots r before the event")
        panel.set_ylabel("pages q before the event")
        panel.set_title(f"{title}\n{name}" if title else name, fontsize=10)
        panel.set_ylim(-1.6, policy.buffer + 1.2)
        panel.set_xlim(-0.8, policy.robots + 0.8)
        panel.locator_params(integer=True)
        add_legend(panel)


def _draw_side(panel: "Axes", table: np.ndarray, first_q: int, first_r: int) -> None:
    if table.size > 4000:  # dots would run into each other
        rows, columns = table.shape
        panel.imshow(
            np.where(table, 1.0, 0.0),
            origin="lower",
            aspect="auto",
            cmap="Blues",
            vmin=-0.2,
            vmax=1.4,
            extent=(first_r - 0.5, first_r + columns - 0.5, first_q - 0.5, first_q + rows - 0.5),
        )
        return
    q, r = np.nonzero(table)
    panel.scatter(r + first_r, q + first_q, s=22, color=_BLUE, zorder=3)
    q, r = np.nonzero(~table)
    panel.scatter(r + first_r, q + first_q, s=22, facecolors="none", edgecolors=_GREY, zorder=2)


def draw_trade_off(panel: "Axes", points: "Sequence[TradeOff]") -> None:
    """Draw loss against starvation, fixed and dynamic, as the weight varies."""
    weights = sorted(point.starvation_weight for point in points)
    panel.plot(
        [point.static.starvation for point in points],
        [point.static.loss_rate for point in points],
        marker="s",
        markersize=4,
        color=_GREY,
        markeredgecolor="#70757d",
        label="best fixed number",
    )
    panel.plot(
        [point.dynamic.starvation for point in points],
        [point.dynamic.loss_rate for point in points],
        marker="o",
        markersize=4,
        color=_BLUE,
        label=f"optimal control, weight {weights[0]:.3g} at the right to {weights[-1]:.3g}",
    )
    panel.set_xlabel("starvation: fraction of time the indexer is idle")
    panel.set_ylabel("loss: pages per unit of time")
    panel.set_xlim(left=0)
    panel.set_ylim(bottom=0)
    add_legend(panel, columns=1)
