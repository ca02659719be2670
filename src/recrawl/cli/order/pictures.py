"""Pictures of an order: how even the spacing is, and a strip of the first accesses."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recrawl.cli.figures import new_figure, save_figure
from recrawl.cli.order.table import OrderTable
from recrawl.kernels.distances import running_distances

_STRIPS, _SLOTS = 24, 240
_INK, _ACCENT = "#1f5fa8", "#c4451c"


def draw_order(path: Path, table: OrderTable, sequence: NDArray[np.int64], policy: str) -> None:
    """Draw the histogram of distances over mean distances, and the first accesses of some pages."""
    figure, (left, right) = new_figure(2)
    figure.set_size_inches(11, 4.2)
    shares = table.frequencies
    distances = np.empty_like(sequence)
    running_distances(sequence, np.full(shares.size, -1, dtype=np.int64), 0, distances)
    known = distances > 0
    spacing = distances[known] * shares[sequence[known]]
    left.hist(np.minimum(spacing, 3), bins=np.linspace(0, 3, 61).tolist(), color=_INK)
    left.axvline(1, color=_ACCENT, linewidth=1)
    left.set_xlabel("distance between accesses / mean distance (3: and more)")
    left.set_ylabel("accesses")
    left.set_title(f"Spacing, {policy}", loc="left", fontsize=10)
    busiest = np.argsort(-shares, kind="stable")[:_STRIPS]
    head = sequence[:_SLOTS]
    strips = [np.flatnonzero(head == page) for page in busiest]
    right.eventplot(strips, colors=_INK, linelengths=0.8, linewidths=1.2)
    right.set_yticks(range(busiest.size), [_short(table.show(int(p))) for p in busiest], fontsize=7)
    right.invert_yaxis()
    right.set_xlabel("slot")
    right.set_title("First accesses, busiest pages first", loc="left", fontsize=10)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    save_figure(figure, path)


def _short(name: str) -> str:
    bare = name.partition("://")[2] or name
    return bare if len(bare) <= 28 else bare[:27] + "…"
