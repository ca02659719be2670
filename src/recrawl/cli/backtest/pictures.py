"""Pictures of a backtest: freshness over time, and against the budget."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from recrawl.api.backtesting import Compared
from recrawl.cli.figures import new_figure, save_figure
from recrawl.drawing import add_legend

_SHOWN = ("foresight", "recrawl", "uniform", "oracle", "nutch", "stormcrawler")
_COLOURS = ("#1f5fa8", "#7f5fb8", "#8a8a8a", "#2f8f5b", "#c4451c", "#d9a400")


def draw_backtest(path: Path, found: Sequence[Compared]) -> None:
    """Draw freshness over time at the middle budget, and freshness against all budgets."""
    figure, (left, right) = new_figure(2)
    figure.set_size_inches(11, 4.2)
    middle = found[len(found) // 2]
    for name, colour in zip(_SHOWN, _COLOURS, strict=True):
        course = middle.courses.get(name, np.zeros((0, 2)))
        if course.size:
            times = course[:, 0].astype("datetime64[s]")
            width = 2.0 if name == found[0].reference else 1.0
            left.plot(times, 100 * course[:, 1], color=colour, linewidth=width, label=name)
    judged = np.array([middle.test.since]).astype("datetime64[s]")
    left.plot(np.repeat(judged, 2), [0, 100], color="#cccccc", linewidth=1)
    left.set_title(f"Fresh copies at {middle.name}", loc="left", fontsize=10)
    left.set_ylabel("share of copies fresh, %")
    left.tick_params(axis="x", labelrotation=30)
    add_legend(left)
    for name in found[0].scores:
        spent = [one.scores[name].fetches for one in found]
        fresh = [100 * one.scores[name].freshness for one in found]
        own = dict(zip(_SHOWN, _COLOURS, strict=True)).get(name)
        width = 2.0 if name == found[0].reference else 1.0
        right.plot(spent, fresh, "o-", markersize=3, linewidth=width, color=own, label=name)
    right.set_xscale("log")
    right.set_xlabel("fetches while judged")
    right.set_title("Freshness against the budget", loc="left", fontsize=10)
    add_legend(right, columns=4)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    save_figure(figure, path)
