"""Tables and figures of five papers, computed anew and set beside what was printed.

Each row holds the printed values, ours, and why they differ where they do::

    >>> from recrawl.reproductions import NAMES, reproduce
    >>> NAMES["talim-figures"]
    'Talim et al. 2001, Figures 2 to 4: the optimal switching curves'
    >>> for row in reproduce("talim-figures").rows:
    ...     print(row.case["gamma"], row.printed["cost"], round(row.computed["cost"], 5))
    1.0 0.20907 0.20907
    1.4 0.25924 0.25924
    2.0 0.32211 0.32211
"""

from recrawl.reproductions.catalogue import NAMES, ON_DATA, reproduce
from recrawl.reproductions.result import Reproduction, Row

__all__ = ["NAMES", "ON_DATA", "Reproduction", "Row", "reproduce"]
