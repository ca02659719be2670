"""Multiply by a sparse matrix given as a list of its entries."""

from recrawl.kernels.arrays import Counts, Floats
from recrawl.kernels.compile import kernel


@kernel
def scatter(rows: Counts, columns: Counts, rates: Floats, given: Floats, out: Floats) -> None:
    """Add rates[k] * given[rows[k]] to out[columns[k]] for every k.

    Parameters
    ----------
    rows, columns, rates : shape (k,), entries of the matrix, in any order
    given : shape (n, w), the table that is multiplied; 0 <= rows < n
    out : shape (m, w), is added to; 0 <= columns < m
    """
    for k in range(rows.shape[0]):
        rate = rates[k]
        for x in range(given.shape[1]):
            out[columns[k], x] += rate * given[rows[k], x]
