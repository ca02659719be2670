"""Picture of how fresh an index was over time."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from recrawl.cli.figures import new_figure, save_figure
from recrawl.drawing import add_legend

_DAY_S: Final = 86_400.0


def draw_courses(
    courses: Mapping[str, Sequence[Sequence[float]]], learning: float, path: Path
) -> None:
    """Draw the true freshness of each policy's index.

    Parameters
    ----------
    courses : by policy: instants in seconds, and the share of pages that were fresh about each
    learning : share of the time before anything is measured
    path : of the picture
    """
    figure, (panel,) = new_figure(1)
    figure.set_size_inches(8.0, 4.0)
    for name, course in courses.items():
        begun = course[0][0]
        days = [(at_s - begun) / _DAY_S for at_s, _ in course]
        is_ours = name in ("foresight", "optimal")
        shares = [100.0 * share for _, share in course]
        panel.plot(days, shares, label=name, linewidth=2.0 if is_ours else 1.2)
        panel.set_xlim(days[0], days[-1])
    panel.axvspan(0.0, learning * panel.get_xlim()[1], color="0.93", zorder=0, label="not measured")
    panel.set_ylim(0.0, 100.0)
    panel.set_xlabel("days of the web")
    panel.set_ylabel("fresh, in truth, %")
    panel.grid(alpha=0.3)
    add_legend(panel, columns=4)
    save_figure(figure, path)
