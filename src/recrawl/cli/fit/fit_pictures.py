"""Goodness of fit in pictures: quantiles, correlations, batch sizes, distributions."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recrawl.cli.figures import new_figure, save_figure
from recrawl.drawing import add_legend
from recrawl.learning.batch_log import BatchLog
from recrawl.processes.markovian_arrivals import MarkovianArrivals
from recrawl.processes.phase_type import PhaseType

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LAGS = 20


def _quantiles(panel: "Axes", samples: NDArray[np.float64], law: PhaseType, title: str) -> None:
    shares = np.concatenate([np.linspace(0.01, 0.95, 60), 1 - np.geomspace(0.04, 1e-3, 15)])
    fitted, seen = law.quantiles(shares), np.quantile(samples, shares)
    plain = PhaseType.exponential(float(samples.mean())).quantiles(shares)
    panel.loglog(fitted, seen, "o", markersize=3, label="fit")
    panel.loglog(plain, seen, "x", markersize=3, color="#c9ccd1", label="exponential")
    ends = [min(fitted.min(), seen.min()), max(fitted.max(), seen.max())]
    panel.loglog(ends, ends, "-", color="#70757d", linewidth=0.8)
    panel.set_xlabel("quantiles of the law")
    panel.set_ylabel("quantiles of the data")
    panel.set_title(title, fontsize=10)
    add_legend(panel)


def draw_arrivals(path: Path, log: BatchLog, process: MarkovianArrivals) -> None:
    """Draw quantiles of the times between batches, their correlations, and batch sizes."""
    figure, panels = new_figure(3)
    law = PhaseType(process.at_arrivals / process.at_arrivals.sum(), process.hidden)
    _quantiles(panels[0], log.intervals, law, "times between batches")
    lags = np.arange(1, _LAGS + 1)
    errors = log.correlation_errors(_LAGS)
    panels[1].errorbar(lags, log.correlations(_LAGS), yerr=2 * errors, fmt="o", label="log")
    panels[1].plot(lags, process.correlations(_LAGS), "-", label="fit")
    panels[1].axhline(0, color="#70757d", linewidth=0.8)
    panels[1].set_xlabel("lag")
    panels[1].set_ylabel("correlation of times between batches")
    add_legend(panels[1])
    shares = log.size_law
    panels[2].bar(np.arange(1, shares.size + 1), shares, color="#1f5fa8")
    panels[2].set_xlabel("pages in a batch")
    panels[2].set_ylabel("share of batches")
    save_figure(figure, path)


def draw_law(path: Path, samples: NDArray[np.float64], law: PhaseType) -> None:
    """Draw quantiles and the distribution of times."""
    figure, panels = new_figure(2)
    _quantiles(panels[0], samples, law, "quantiles")
    times = np.sort(samples)
    panels[1].step(times, np.arange(1, times.size + 1) / times.size, where="post", label="data")
    grid = np.geomspace(max(times[0], 1e-12), times[-1], 200)
    panels[1].plot(grid, law.distribution(grid), "-", label="fit")
    panels[1].set_xscale("log")
    panels[1].set_xlabel("time")
    panels[1].set_ylabel("P(X <= t)")
    add_legend(panels[1])
    save_figure(figure, path)
