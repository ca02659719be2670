"""The form in which every reproduction hands back what was printed and what we compute."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Cells: TypeAlias = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a printed table, or one figure.

    Parameters
    ----------
    case : what tells the row from the others, by name
    printed : the printed values, as text where trailing zeros matter
    computed : ours, with the same names
    note : why they differ, or empty where they agree
    """

    case: Cells
    printed: Cells
    computed: Cells
    note: str = ""


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A printed result beside ours.

    Parameters
    ----------
    title : paper and place
    rows : row by row
    remarks : what holds for the whole, for people
    draw : draws the pictures onto an empty matplotlib figure, where the original is a picture
    beside : "printed"; "independent" where another program's values stand in for a picture's
    """

    title: str
    rows: Sequence[Row]
    remarks: Sequence[str] = ()
    draw: "Callable[[Figure], None] | None" = None
    beside: str = "printed"
