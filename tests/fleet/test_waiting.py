"""Pages that outlive a limit in the buffer."""

import math

import numpy as np
import pytest

from recrawl.errors import InvalidModel
from recrawl.fleet import ControlledBuffer
from recrawl.fleet.waiting import share_waiting_longer


def queue(load: float, size: int) -> tuple[ControlledBuffer, np.ndarray]:
    """Return one robot that never rests, and how long its buffer is, as in a queue M/M/1."""
    model = ControlledBuffer(1, size, load, 1.0, starvation_weight=1.0)
    lengths = load ** np.arange(size + 1)
    occupancy = np.zeros((size + 1, 2))
    occupancy[:, 1] = lengths / lengths.sum()
    return model, occupancy


@pytest.mark.parametrize("limit", [0.0, 0.5, 3.0, 20.0])
def test_it_is_the_wait_of_a_queue_without_end(limit: float) -> None:
    """There it is known: load times exp(-(1 - load) t)."""
    share = share_waiting_longer(*queue(0.6, 400), limit)

    assert share == pytest.approx(0.6 * math.exp(-0.4 * limit), rel=1e-9)


@pytest.mark.parametrize("limit", [0.0, 1.0, 5.0])
def test_with_several_servers_it_is_erlangs(limit: float) -> None:
    """Erlang's C formula for the share that waits, and exp(-(c mu - lambda) t) for how long."""
    load, servers, size = 2.4, 3, 400
    at_work = np.minimum(np.arange(size + 1.0), servers)
    model = ControlledBuffer(1, size, load, at_work, starvation_weight=1.0)
    lengths = np.cumprod(np.concatenate([[1.0], load / at_work[1:]]))
    occupancy = np.zeros((size + 1, 2))
    occupancy[:, 1] = lengths / lengths.sum()
    last = load**servers / math.factorial(servers) / (1.0 - load / servers)
    waiting = last / (sum(load**k / math.factorial(k) for k in range(servers)) + last)

    share = share_waiting_longer(model, occupancy, limit, servers=servers)

    assert share == pytest.approx(waiting * math.exp(-(servers - load) * limit), rel=1e-9)


def test_nobody_waits_where_there_is_room_for_one() -> None:
    """Who is let in is served at once."""
    assert share_waiting_longer(*queue(0.6, 1), 0.0) == 0.0


def test_without_arrivals_nobody_waits() -> None:
    """A buffer that is always full lets nobody in."""
    model, occupancy = queue(0.6, 3)
    full = np.zeros_like(occupancy)
    full[-1, 1] = 1.0

    assert share_waiting_longer(model, full, 1.0) == 0.0


@pytest.mark.parametrize(("limit", "rate"), [(-1.0, 1.0), (math.nan, 1.0), (1.0, [0.0, 1.0, 2.0])])
def test_what_makes_no_sense_is_refused(limit: float, rate: float | list[float]) -> None:
    """A negative limit; and index rates that depend on the length."""
    model = ControlledBuffer(1, 2, 0.5, rate, starvation_weight=1.0)

    with pytest.raises(InvalidModel, match="must be"):
        share_waiting_longer(model, np.ones((3, 2)) / 6, limit)
