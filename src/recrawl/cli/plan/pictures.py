"""Pictures of a plan: crawl rate against change rate, and what more budget would buy."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.api.plan_solution import Answer
from recrawl.cli.plan.report import show_value
from recrawl.freshness import Pages, PriceList, TradeOffCurve
from recrawl.kernels.arrays import Vector
from recrawl.quantities import UNIT_S
from recrawl.whole_files import whole_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

_SHOWN = 6000
_MOST_TICKS = 10
_INK, _FAINT, _ACCENT = "#222222", "#9a9a9a", "#c4451c"
_STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#777777",
    "axes.linewidth": 0.6,
    "figure.constrained_layout.w_pad": 0.12,
    "axes.labelcolor": _INK,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.titlepad": 10,
    "xtick.color": "#777777",
    "ytick.color": "#777777",
    "xtick.labelcolor": _INK,
    "ytick.labelcolor": _INK,
    "xtick.minor.size": 0,
    "ytick.minor.size": 0,
    "svg.hashsalt": "recrawl",
}


def draw_plan(
    path: Path,
    sample: Pages,
    prices: PriceList,
    answer: Answer,
    curve: TradeOffCurve,
    unit_s: float,
) -> None:
    """Draw both panels into a file."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    with mpl.rc_context(_STYLE):
        figure, (left, right) = plt.subplots(
            1, 2, figsize=(10.4, 4.3), width_ratios=(1.25, 1), layout="constrained"
        )
        _draw_rates(figure, left, sample, prices, unit_s)
        if answer.n_fading:
            left.set_xlabel(f"changes per {_unit_name(unit_s)}; of what fades, the rate of fading")
        _draw_curve(right, answer, curve)
        form = path.suffix[1:]
        dated = {"Date": None} if form == "svg" else None
        try:
            with whole_file(path, option="--plot") as part:
                figure.savefig(part, format=form, dpi=160, metadata=dated)
        finally:
            plt.close(figure)


def _draw_rates(figure: Any, axes: "Axes", sample: Pages, prices: PriceList, unit_s: float) -> None:
    """Crawl rate against change rate, coloured by weight; pages left out as ticks below."""
    step = max(1, len(sample) // _SHOWN)
    sample = sample.part(slice(None, None, step))
    sample = Pages.join([sample])
    change, rates = sample.change_rates * unit_s, prices.rates(sample) * unit_s
    weights = np.ones(change.size) if sample.weights is None else sample.weights
    seen, left_out = (rates > 0) & (change > 0), (rates == 0) & (change > 0)
    order = np.argsort(weights[seen], kind="stable")
    colour, norm = _colours(weights[seen][order])
    dots = axes.scatter(
        change[seen][order],
        rates[seen][order],
        c=colour,
        s=5,
        linewidths=0,
        alpha=0.75,
        rasterized=True,
        **norm,
    )
    axes.set(xscale="log", yscale="log")
    unit = _unit_name(unit_s)
    axes.set_xlabel(f"changes per {unit}")
    axes.set_ylabel(f"visits per {unit}")
    axes.set_title("How often each page is visited")
    if np.any(left_out):
        axes.plot(
            change[left_out],
            np.zeros(np.count_nonzero(left_out)),
            "|",
            transform=axes.get_xaxis_transform(),
            color=_FAINT,
            markersize=7,
            markeredgewidth=0.4,
            alpha=0.5,
            clip_on=False,
            rasterized=True,
        )
        share = np.count_nonzero(left_out) / change.size
        axes.annotate(
            f"never visited: {share:.0%} of pages",
            (1, 0.03),
            xycoords="axes fraction",
            ha="right",
            color="#666666",
            fontsize=8,
        )
    if norm:
        bar = figure.colorbar(dots, ax=axes, pad=0.02, aspect=32)
        bar.outline.set_visible(False)
        _weight_ticks(bar.ax.yaxis)
        bar.set_label("weight")


def _colours(weights: Vector) -> tuple[Any, dict[str, Any]]:
    """Colour by the logarithm of the weight, or all alike where weights are."""
    positive = weights[weights > 0]
    if not positive.size or positive.min() == positive.max():
        return "#31688e", {}
    from matplotlib.colors import LogNorm

    low, high = np.quantile(positive, [0.01, 0.995])
    if not low < high:
        low, high = positive.min(), positive.max()
    return np.maximum(weights, low), {"cmap": "viridis_r", "norm": LogNorm(low, high)}


def _draw_curve(axes: "Axes", answer: Answer, curve: TradeOffCurve) -> None:
    """Draw the best value for each budget, the plan on it, and the control arms below."""
    values = 1 - curve.values if answer.measure == "staleness" else curve.values
    scale = answer.shown_unit
    axes.plot(curve.budgets * UNIT_S[scale], values, color=_INK, linewidth=1.4)
    x = answer.budget * UNIT_S[scale]
    axes.plot([x], [answer.value], "o", color=_ACCENT, markersize=6, zorder=3)
    offset, alignment = ((-8, 6), "right") if answer.measure == "freshness" else ((8, 6), "left")
    axes.annotate(
        f"{show_value(answer.measure, answer.value)} at {answer.show_rate(answer.budget)}",
        (x, answer.value),
        textcoords="offset points",
        xytext=offset,
        ha=alignment,
        color=_ACCENT,
    )
    for name, value in answer.compare.items():
        axes.plot([x], [value], "o", color=_FAINT, markersize=4.5)
        axes.annotate(
            f"{name} {show_value(answer.measure, value)}",
            (x, value),
            textcoords="offset points",
            xytext=(8, -3),
            color="#555555",
            fontsize=8,
        )
    axes.set_xscale("log")
    axes.set_xlabel(f"budget, fetches per {_UNIT_NAMES[scale]}")
    _plain_ticks(axes.xaxis, lambda value, _: f"{value:,g}")
    if answer.measure == "age":
        axes.set_yscale("log")
        _duration_ticks(axes.yaxis)
    axes.set_title(_CURVE_TITLES[answer.measure])


def _plain_ticks(axis: "Axis", write: Callable[[float, float], str]) -> None:
    """Label 1, 2 and 5 of each decade with plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=12))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(write))


def _weight_ticks(axis: "Axis") -> None:
    """Label 1, 2 and 5 of each decade, or both ends where there are too few of those."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    low, high = axis.get_view_interval()
    decades = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    marks = [one * 10.0**power for power in decades for one in (1, 2, 5)]
    shown = [mark for mark in marks if low <= mark <= high]
    if len(shown) > _MOST_TICKS:
        shown = [10.0**power for power in decades if low <= 10.0**power <= high]
        shown = shown[:: -(-len(shown) // _MOST_TICKS)]
    axis.set_major_locator(FixedLocator(shown if len(shown) > 1 else [low, high]))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.3g}"))


def _duration_ticks(axis: "Axis") -> None:
    """Label a logarithmic axis of seconds with durations that people use."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    low, high = axis.get_view_interval()
    marks = [mark for mark in _DURATIONS if low <= UNIT_S[mark[1]] * mark[0] <= high]
    every = max(1, -(-len(marks) // 8))
    names = {UNIT_S[unit] * count: f"{count:g} {unit}" for count, unit in marks[::every]}
    axis.set_major_locator(FixedLocator(list(names)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: names.get(value, "")))


_DURATIONS = tuple(
    (count, unit)
    for unit, counts in {
        "s": (0.001, 0.01, 0.1, 1, 2, 5, 10, 20),
        "min": (1, 2, 5, 10, 20),
        "h": (1, 2, 4, 12),
        "d": (1, 2, 4, 10, 20, 50, 100, 200, 400, 1000, 2000, 5000, 10_000),
    }.items()
    for count in counts
)
_CURVE_TITLES = {
    "freshness": "Freshness that a budget buys",
    "staleness": "Staleness that a budget leaves",
    "age": "Mean age that a budget leaves",
    "harmonic": "Harmonic penalty that a budget leaves",
}
_UNIT_NAMES = {
    "ms": "millisecond",
    "s": "second",
    "m": "minute",
    "min": "minute",
    "h": "hour",
    "d": "day",
    "w": "week",
    "y": "year",
}


def _unit_name(unit_s: float) -> str:
    for unit, name in _UNIT_NAMES.items():
        if UNIT_S[unit] == unit_s:
            return name
    return f"{unit_s:g} s"
