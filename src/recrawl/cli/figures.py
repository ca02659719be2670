"""What the pictures of all verbs share: matplotlib is an extra, and files are checked first."""

from pathlib import Path
from typing import TYPE_CHECKING

from recrawl.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["add_legend", "check_picture", "new_figure", "save_figure"]

_ENDINGS = (".svg", ".png", ".pdf")


def check_picture(plot: Path | None) -> None:
    """Refuse a picture that could not be drawn, before any work is done."""
    if plot is None:
        return
    if plot.suffix not in _ENDINGS:
        raise InputError(f"--plot: {plot} must end in {', '.join(_ENDINGS)}")
    if not plot.parent.is_dir():
        raise InputError(f"--plot: there is no directory {plot.parent}")
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise InputError("--plot needs matplotlib: pip install 'recrawl[plots]'") from None


def new_figure(columns: int, rows: int = 1) -> "tuple[Figure, list[Axes]]":
    """Return an empty figure with so many panels.

    Raises
    ------
    InputError
        If matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise InputError(
            "--plot needs matplotlib, which is not installed: pip install 'recrawl[plots]'"
        ) from error
    figure = Figure(figsize=(4.6 * columns, 3.9 * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False)
    return figure, list(panels.ravel())


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


def save_figure(figure: "Figure", path: Path) -> None:
    """Write a picture; the ending of the name says in which form (png, svg, pdf).

    Raises
    ------
    InputError
        If the ending is unknown or the file cannot be written.
    """
    try:
        figure.savefig(path, dpi=150)
    except ValueError as error:
        raise InputError(
            f"--plot: {path}: the name must end in .png, .svg or .pdf, {error}"
        ) from error
    except OSError as error:
        raise InputError(f"--plot: {path}: cannot be written: {error.strerror}") from error
