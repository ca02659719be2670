"""Membership in arrays, beside numpy's own."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recrawl.kernels.arrays import is_among

_NUMBERS = st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 9), max_size=30)


@given(_NUMBERS, _NUMBERS)
def test_membership_is_that_of_numpy(values: list[int], others: list[int]) -> None:
    held = np.array(values, np.int64)

    assert is_among(held, others).tolist() == np.isin(held, np.array(others, np.int64)).tolist()
