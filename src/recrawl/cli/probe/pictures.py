"""Pictures of probe schedules: the week on one axis, and the cost against the number of probes."""

from pathlib import Path

import numpy as np

from recrawl.cli.figures import new_figure, save_figure
from recrawl.drawing import add_legend
from recrawl.probing import ProbedSource

_BLUE, _GREY, _RED, _GREEN = "#1f5fa8", "#c9ccd1", "#c0392b", "#2e7d4f"
_COLORS = {"optimal": _RED, "uniform": _GREY, "threshold": _BLUE, "first arrival": _GREEN}
_DAY_S = 86_400.0
_LEVELS = " ▁▂▃▄▅▆▇█"


def terminal_week(source: ProbedSource, probes: np.ndarray, width: int = 72) -> list[str]:
    """Draw intensity, importance and probes as three lines of text."""
    edges = np.linspace(0, source.period, width + 1)
    integrals = np.diff(source.integrals(edges))
    lines = []
    for name, row in zip(("updates", "importance"), integrals, strict=True):
        scaled = np.ceil(row / max(row.max(), 1e-300) * (len(_LEVELS) - 1) - 1e-9).astype(int)
        lines.append(f"{name:>10}  " + "".join(_LEVELS[level] for level in scaled))
    marks = np.bincount(np.clip(np.searchsorted(edges, probes) - 1, 0, width - 1), minlength=width)
    signs = "".join("·|:#"[min(int(mark), 3)] if mark else "·" for mark in marks)
    lines.append(f"{'probes':>10}  " + signs)
    return lines


def draw_schedule(
    path: Path,
    source: ProbedSource,
    probes: np.ndarray,
    curves: dict[str, tuple[np.ndarray, np.ndarray]],
    unit_s: float,
) -> None:
    """Draw intensity, importance and probes over one period, and cost against n for all policies.

    Parameters
    ----------
    curves : policy -> numbers of probes and their expected costs
    unit_s : seconds in the source's unit of time

    Raises
    ------
    InputError
        If matplotlib is missing or the file cannot be written.
    """
    figure, panels = new_figure(1, 2)
    figure.set_size_inches(11, 7.5)
    above, below = panels
    day = unit_s / _DAY_S  # days in a unit of time
    times, intensity, importance = _outline(source)
    above.fill_between(times * day, intensity / day, color=_BLUE, alpha=0.35, label="intensity")
    above.set_xlabel("time from the start of the period [days]")
    above.set_ylabel("updates per day")
    above.set_ylim(0, 1.25 * float(intensity.max()) / day)
    other = above.twinx()
    other.plot(times * day, importance, color=_GREEN, linewidth=1.2, label="importance")
    other.set_ylabel("importance")
    other.set_ylim(0, 1.25 * float(importance.max()))
    above.vlines(
        probes * day, 0, float(intensity.max()) / day, color=_RED, linewidth=0.9, label="probes"
    )
    above.set_xlim(0, source.period * day)
    add_legend(above, other)
    for name, (numbers, costs) in curves.items():
        below.plot(numbers, costs * day, color=_COLORS.get(name), label=name, linewidth=1.5)
    below.set_xlabel("probes in one period")
    below.set_ylabel("expected cost [days of update time]")
    below.set_yscale("log")
    below.axvline(probes.size, color="#70757d", linewidth=0.8, linestyle=":")
    add_legend(below, columns=5)
    save_figure(figure, path)


def _outline(source: ProbedSource) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times and values of both functions with a corner at either end of each piece."""
    starts, widths = source.cell_starts, np.diff(source.cell_starts)
    rate, slope, worth, rise = source.cells
    times = np.column_stack([starts[:-1], starts[1:]]).ravel()
    intensity = np.column_stack([rate, rate + slope * widths]).ravel()
    importance = np.column_stack([worth, worth + rise * widths]).ravel()
    return times, intensity, importance
