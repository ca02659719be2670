"""Shared parts of pictures, drawn onto matplotlib axes that the caller has made."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from recrawl.fleet import RobotPolicy

BLUE, GREY = "#1f5fa8", "#c9ccd1"
_RED = "#c0392b"


def add_panels(figure: "Figure", columns: int, rows: int = 1) -> "list[Axes]":
    """Give an empty figure so many panels, and the size that they need."""
    figure.set_size_inches(4.6 * columns, 3.9 * rows)
    figure.set_layout_engine("constrained")
    return list(figure.subplots(rows, columns, squeeze=False).ravel())


def add_legend(panel: "Axes", *others: "Axes", columns: int = 3) -> None:
    """Put a legend above a panel, where it covers no curve; its title moves up.

    Parameters
    ----------
    others : further axes of the same panel, whose lines are named too
    columns : names beside each other
    """
    both = [axes.get_legend_handles_labels() for axes in (panel, *others)]
    handles = [handle for some, _ in both for handle in some]
    names = [name for _, some in both for name in some]
    if not names:
        return
    panel.legend(
        handles, names, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=columns, frameon=False,
        fontsize=8, borderaxespad=0.2, columnspacing=1.2, handlelength=1.6,
    )  # fmt: skip
    rows = -(-len(names) // columns)
    for side in ("left", "center"):
        if title := panel.get_title(side):
            panel.set_title(title, loc=side, fontsize=10, pad=8.0 + 13.0 * rows)


def draw_policy(panels: "Sequence[Axes]", policy: "RobotPolicy", title: str) -> None:
    """Draw a policy as the paper's Figures 2 to 4 do: departures left, arrivals right.

    A filled dot at (r, q) means that a robot is started, an open one that none is.

    Parameters
    ----------
    panels : two; their titles, labels and limits are set
    policy : for any numbers of robots and pages; its switching curves are drawn where it has them
    title : first line above each panel; empty: none
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
        _draw_side(panel, table, first_q, first_r)
        if line is not None:
            robots = range(first_r, first_r + len(line))
            panel.step(robots, line, where="mid", color=_RED, linewidth=1.4, label=symbol)
        panel.set_xlabel("active robots r before the event")
        panel.set_ylabel("pages q before the event")
        panel.set_title(f"{title}\n{name}" if title else name, fontsize=10)
        panel.set_ylim(-1.6, policy.buffer + 1.2)
        panel.set_xlim(-0.8, policy.robots + 0.8)
        panel.locator_params(integer=True)
        add_legend(panel)


def _draw_side(panel: "Axes", table: "np.ndarray", first_q: int, first_r: int) -> None:
    if table.size > 4000:  # dots would run into each other
        rows, columns = table.shape
        panel.imshow(
            table.astype(float),
            origin="lower",
            aspect="auto",
            cmap="Blues",
            vmin=-0.2,
            vmax=1.4,
            extent=(first_r - 0.5, first_r + columns - 0.5, first_q - 0.5, first_q + rows - 0.5),
        )
        return
    q, r = table.nonzero()
    panel.scatter(r + first_r, q + first_q, s=22, color=BLUE, zorder=3)
    q, r = (~table).nonzero()
    panel.scatter(r + first_r, q + first_q, s=22, facecolors="none", edgecolors=GREY, zorder=2)
