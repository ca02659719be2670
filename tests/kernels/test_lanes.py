"""Rows of numbers in registers do what numpy does with rows of an array."""

import numpy as np
from numpy.typing import NDArray

from recrawl.kernels.compile import kernel
from recrawl.kernels.lanes import LANES, at, hold, put, total, where

Singles = NDArray[np.float32]


@kernel
def _combine(a: Singles, b: Singles, out: Singles) -> float:
    row, other = at(a, 3), at(b, LANES)
    put(out, 1, row * other - np.float32(2.0) * (row + other) * np.float32(0.5))
    return float(total(row * other))


@kernel
def _read_in_place(size: int) -> float:
    numbers = np.arange(size) * 1.5
    places = where(numbers)
    found = 0.0
    for k in range(size):
        found += places[k]
    hold(numbers)
    return float(found)


def test_rows_are_read_combined_added_up_and_written_where_they_stand() -> None:
    """Offsets count numbers; what stands before and behind the written row is left alone."""
    random = np.random.default_rng(0)
    a, b = random.random((2, 2, LANES)).astype(np.float32)
    out = np.full(LANES + 2, 9.0, np.float32)

    found = _combine(a, b, out)

    row, other = a.ravel()[3 : 3 + LANES], b[1]
    np.testing.assert_allclose(out[1:-1], row * other - row - other, rtol=1e-5, atol=1e-6)
    assert out[[0, -1]].tolist() == [9.0, 9.0]
    np.testing.assert_allclose(found, np.dot(row, other), rtol=1e-6)


def test_an_array_is_read_from_its_place_until_it_is_let_go() -> None:
    """Whatever its size, and though nothing else refers to it."""
    assert _read_in_place(1000) == 1.5 * 999 * 500
