"""The trade-off between starvation and loss."""

import numpy as np
import pytest

from recrawl.errors import InvalidModel
from recrawl.fleet import ControlledBuffer, sweep_weights


def test_a_higher_price_of_starvation_buys_less_of_it() -> None:
    """Along the sweep starvation falls and losses rise; control is never worse than fixed."""
    model = ControlledBuffer(40, 5, 0.1, 1.0, 1.0)

    points = sweep_weights(model, np.geomspace(0.1, 10, 12).tolist())

    starvation = [point.dynamic.starvation for point in points]
    losses = [point.dynamic.loss_rate for point in points]
    assert starvation == sorted(starvation, reverse=True)
    assert losses == sorted(losses)
    assert all(point.dynamic.cost <= point.static.cost for point in points)
    assert [point.starvation_weight for point in points] == sorted(
        point.starvation_weight for point in points
    )


def test_no_weights_no_sweep() -> None:
    """An empty sweep is a mistake."""
    with pytest.raises(InvalidModel, match="at least one weight"):
        sweep_weights(ControlledBuffer(2, 2, 0.1, 1.0, 1.0), [])
