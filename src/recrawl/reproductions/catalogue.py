"""All reproductions by name; the module of each paper is loaded only when it is asked for."""

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, cast

from recrawl.errors import InputError
from recrawl.kernels.compile import require_compiler
from recrawl.reproductions.result import Reproduction

_FOUND: Final[Mapping[str, tuple[str, str]]] = {
    # name: function that returns a Reproduction, what it is
    "altman-figure-1": (
        "altman:figure_1",
        "Altman et al. 2000, Figure 1: period of the optimal policy against the second server",
    ),
    "altman-mmpp": (
        "altman:mmpp",
        "Altman et al. 2000, Section 5: losses under MMPP and MAP arrivals (Lemma 5.2)",
    ),
    "avrachenkov-figures": (
        "avrachenkov:figures",
        "Avrachenkov et al. 2011, Figures 1 to 4: cost against the threshold (reconstructed)",
    ),
    "avrachenkov-table-1": (
        "avrachenkov:table_1",
        "Avrachenkov et al. 2011, Table 1: best thresholds by numbers of robots (reconstructed)",
    ),
    "avrachenkov-table-2": (
        "avrachenkov:table_2",
        "Avrachenkov et al. 2011, Table 2: buffer size (reconstructed)",
    ),
    "avrachenkov-table-3": (
        "avrachenkov:table_3",
        "Avrachenkov et al. 2011, Table 3: mean service time (reconstructed)",
    ),
    "avrachenkov-table-4": (
        "avrachenkov:table_4",
        "Avrachenkov et al. 2011, Table 4: mean time until obsolescence (reconstructed)",
    ),
    "coffman-golden": (
        "coffman:golden",
        "Coffman et al. 1998, Section 5: the golden ratio policy and its claimed bound",
    ),
    "eckstein-figures": (
        "eckstein_figures:figures",
        "Eckstein et al. 2005, Figures 1 to 3, 6, 7, 9 to 11 on traces of your own (--data)",
    ),
    "eckstein-grids": (
        "eckstein:grids",
        "Eckstein et al. 2005, Proposition 8: what a finer grid buys, and the bounds",
    ),
    "eckstein-policies": (
        "eckstein:policies",
        "Eckstein et al. 2005, Figures 4, 5 and 8: expected cost of all policies, improved too",
    ),
    "eckstein-traces": (
        "eckstein:traces",
        "Eckstein et al. 2005, Figures 6 and 9: actual cost on traces of your own (--data)",
    ),
    "talim-figures": (
        "talim:figures",
        "Talim et al. 2001, Figures 2 to 4: the optimal switching curves",
    ),
    "talim-table-1": (
        "talim:table_1",
        "Talim et al. 2001, Table 1: fixed against controlled, as many robots as the best fixed",
    ),
    "talim-table-2": (
        "talim:table_2",
        "Talim et al. 2001, Table 2: fixed against controlled, any number of robots",
    ),
}

NAMES: Final[Mapping[str, str]] = {name: what for name, (_, what) in _FOUND.items()}
"""The names that :func:`reproduce` knows, each with what it is."""

ON_DATA: Final = frozenset({"eckstein-figures", "eckstein-traces"})
"""Those of them that are computed on traces of your own."""


def reproduce(name: str, data: Path | str | None = None) -> Reproduction:
    """Compute a published table or figure, and set it beside what was printed.

    Parameters
    ----------
    name
        Which one, of :data:`NAMES`.
    data
        File with a table of updates, columns ``trace`` and ``at``: for those of :data:`ON_DATA`,
        and for no other.

    Returns
    -------
    Reproduction
        Title, rows with printed and computed values and why they differ, remarks, and how to draw
        it where the original is a picture. The same at every call, to the last digit.

    Raises
    ------
    InputError
        The name is unknown, or ``data`` is missing or not wanted.
    InvalidTable
        ``data`` cannot be read as a table of updates.
    MissingPart
        The extra ``decisions`` is not installed.

    Notes
    -----
    Seconds for most, twelve at most on one core. Sources: Talim, Liu, Nain and Coffman (2001);
    Avrachenkov, Dudin, Klimenok, Nain and Semenova (2011); Coffman, Liu and Weber (1998);
    Eckstein, Gal and Reiner (2005); Altman, Bhulai, Gaujal and Hordijk (2000).
    """
    if name not in _FOUND:
        raise InputError(f"{name!r} is not known; the names are {', '.join(sorted(_FOUND))}")
    require_compiler()
    if (data is not None) != (name in ON_DATA):
        raise InputError(
            f"data: {name} takes none"
            if data is not None
            else f"data: {name} needs a table of updates with the columns trace and at"
        )
    module, _, function = _FOUND[name][0].partition(":")
    compute = cast(
        "Callable[..., Reproduction]",
        getattr(importlib.import_module(f"recrawl.reproductions.{module}"), function),
    )
    return compute() if data is None else compute(Path(data))
