"""Blocks of columns, and sums over them: what loops over pages have in common.

Compiled loops are cached by the file that they stand in: after a change here, what is cached of
those that use it has to go.
"""

from recrawl.kernels.arrays import Vector
from recrawl.kernels.compile import kernel

BLOCK = 1024
LANES = 64


@kernel
def window(column: Vector, n: int, start: int, count: int) -> Vector:
    """Take a block of a real column, or the head of a constant one."""
    if column.size == n:
        return column[start : start + count]
    return column[:count]


@kernel
def spread(values: Vector, count: int, lanes: Vector) -> None:
    """Add values to 64 running sums: a processor adds several at once and waits for none."""
    whole = count - count % LANES
    for start in range(0, whole, LANES):
        for j in range(LANES):
            lanes[j] += values[start + j]
    for j in range(whole, count):
        lanes[j - whole] += values[j]


@kernel
def fold(lanes: Vector) -> float:
    """Add the running sums up."""
    total = 0.0
    for j in range(LANES):
        total += lanes[j]
    return total
