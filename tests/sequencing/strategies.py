"""Pages and orders that hypothesis draws."""

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from recrawl.processes.access_times import ConstantTime
from recrawl.sequencing import AgeingCosts

__all__ = ["ageing", "shares"]

positive = st.floats(0.01, 10)


@st.composite
def shares(draw: st.DrawFn, least: int = 2, most: int = 12) -> NDArray[np.float64]:
    """Frequencies that sum to 1."""
    values = np.array(draw(st.lists(positive, min_size=least, max_size=most)))
    return np.asarray(values / values.sum())


@st.composite
def ageing(draw: st.DrawFn, least: int = 2, most: int = 8) -> AgeingCosts:
    """Obsolescence of a few pages with any weights."""
    rates = draw(st.lists(positive, min_size=least, max_size=most))
    weights = draw(st.lists(positive, min_size=len(rates), max_size=len(rates)))
    load = draw(st.floats(0.1, 3)) / sum(rates)
    return AgeingCosts.obsolescence(rates, weights, ConstantTime(load))
