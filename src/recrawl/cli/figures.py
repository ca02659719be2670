"""Shared parts of all verbs' pictures: matplotlib is an extra, and files are checked first."""

from pathlib import Path
from typing import TYPE_CHECKING

from recrawl.drawing import add_panels
from recrawl.errors import InputError
from recrawl.whole_files import whole_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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


def empty_figure() -> "Figure":
    """Return a figure without panels.

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
    return Figure()


def new_figure(columns: int, rows: int = 1) -> "tuple[Figure, list[Axes]]":
    """Return a figure with so many panels, as :func:`empty_figure` does."""
    figure = empty_figure()
    return figure, add_panels(figure, columns, rows)


def save_figure(figure: "Figure", path: Path) -> None:
    """Write a picture; the ending of the name says in which form (png, svg, pdf).

    Raises
    ------
    InputError
        If the ending is unknown or the file cannot be written.
    """
    try:
        with whole_file(path, option="--plot", raises=InputError) as part:
            figure.savefig(part, format=path.suffix[1:], dpi=150)
    except ValueError as error:
        raise InputError(
            f"--plot: {path}: the name must end in .png, .svg or .pdf, {error}"
        ) from error
