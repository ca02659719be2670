"""Every map from pages to robots at once: enumeration that shares what maps have in common."""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from recrawl.errors import InvalidModel
from recrawl.fleet.bursty.iterative import MOST_STATES, solve_phases
from recrawl.fleet.bursty.law import service_rates, stale_rates
from recrawl.fleet.bursty.measures import fates, sum_up, weigh
from recrawl.fleet.bursty.model import BufferCosts, BurstyBuffer, show_count
from recrawl.fleet.bursty.sojourn import chances_of_service
from recrawl.kernels.arrays import Counts, Matrix
from recrawl.kernels.buffer_levels import enumerate_maps

MOST_BLOCKS = 5_000_000  # block operations; some seconds where blocks are small
_BLOCKS_BY_PHASES = 2_000  # maps that are solved one by one


@dataclass(frozen=True, eq=False)
class MapTable:
    """Measures of many maps of one model.

    Parameters
    ----------
    model : the buffer
    sums : shape (maps, 8); per unit of time: pages brought, lost, stale, served; mean pages
        present that will be served, that will go stale; mean robots; time empty
    levels_by_mode : shape (maps, modes); how many numbers of pages have each mode
    is_monotone : whether robots never increase with pages in any of these maps
    blocks : block operations that it took
    """

    model: BurstyBuffer
    sums: Matrix
    levels_by_mode: Counts
    is_monotone: bool
    blocks: int

    def costs(self, costs: BufferCosts | None = None) -> Matrix:
        """Return J of each map, under other costs than the model's if given."""
        return weigh(self.sums, costs or self.model.costs)

    def measure(self, name: str) -> Matrix:
        """Return a measure of each map by its name in :class:`BufferMeasures`.

        Raises
        ------
        InvalidModel
            If there is no measure of that name here.
        """
        rate, lost, gone, served, to_serve, to_go, robots, empty = self.sums.T
        known: dict[str, Callable[[], Matrix]] = {
            "cost": self.costs,
            "arrival_rate": lambda: rate,
            "loss": lambda: lost / rate,
            "obsolescence": lambda: gone / rate,
            "success": lambda: served / rate,
            "throughput": lambda: served,
            "starvation": lambda: empty,
            "robots_mean": lambda: robots,
            "buffer_mean": lambda: to_serve + to_go,
            "sojourn_served": lambda: to_serve / served,
        }
        if name not in known:
            raise InvalidModel(f"{name!r} is no measure; they are {', '.join(known)}")
        return np.asarray(known[name]())

    def robots_by_length(self, number: int) -> tuple[int, ...]:
        """Return a map of the table."""
        labels = self.model.robots
        if self.is_monotone:
            counts = self.levels_by_mode[number]
            pairs = list(zip(labels, counts, strict=True))[::-1]
            return tuple(int(r) for r, count in pairs for _ in range(count))
        digits = []
        left = number
        for _ in range(self.model.levels):
            left, digit = divmod(left, len(labels))
            digits.append(labels[digit])
        return tuple(digits)  # level 0 is the fastest digit


def blocks_of_thresholds(model: BurstyBuffer, modes: int | None = None) -> int:
    """Return how many block operations all threshold rules take.

    Parameters
    ----------
    model : the buffer
    modes : how many of its modes are allowed, >= 1; None: all
    """
    count = modes if modes is not None else len(model.robots)
    return math.comb(model.levels + count, count) - 1


def blocks_of_maps(model: BurstyBuffer) -> int:
    """Return how many block operations all maps take."""
    return sum(len(model.robots) ** k for k in range(1, model.levels + 1))


def list_thresholds(
    model: BurstyBuffer,
    modes: Sequence[int] | None = None,
    *,
    most_blocks: int = MOST_BLOCKS,
) -> MapTable:
    """Evaluate every map in which robots never increase with the number of pages.

    Parameters
    ----------
    modes : indices of the modes allowed, increasing; all if left out
    most_blocks : refuse more block operations than that

    Raises
    ------
    InvalidModel
        If there are too many.

    Notes
    -----
    What follows from the higher levels is worked out once for all maps that agree there: one
    block operation for each different suffix, C(L + R, R) - 1 with L levels and R modes. With
    obsolescence by phases each map is solved by itself.
    """
    return _listed(model, modes, most_blocks, monotone=True)


def list_maps(model: BurstyBuffer, *, most_blocks: int = MOST_BLOCKS) -> MapTable:
    """Evaluate every map from numbers of pages to robots, R ** L of them.

    Parameters
    ----------
    model : the buffer, with L levels and R modes
    most_blocks : refuse more block operations than that

    Raises
    ------
    InvalidModel
        If they take too many.
    """
    return _listed(model, None, most_blocks, monotone=False)


def _listed(
    model: BurstyBuffer, modes: Sequence[int] | None, most_blocks: int, *, monotone: bool
) -> MapTable:
    every = len(model.robots)
    chosen = np.array(range(every) if modes is None else modes, dtype=np.int64)
    levels, options = model.levels, chosen.size
    blocks = blocks_of_thresholds(model, options) if monotone else blocks_of_maps(model)
    by_phases = model.phases[2] > 1
    most = _BLOCKS_BY_PHASES * levels if by_phases else most_blocks
    maps = math.comb(levels + options - 1, options - 1) if monotone else options**levels
    if (maps * levels if by_phases else blocks) > most:
        raise InvalidModel(
            f"{show_count(maps)} maps of {levels} numbers of pages to {options} modes would take "
            f"{show_count(blocks)} block operations; the limit is {most:.3g}"
        )
    counts = np.zeros((maps, options), dtype=np.int64)
    if by_phases:
        sums, done = _one_by_one(model, chosen, counts, monotone=monotone), maps
    else:
        found = np.zeros((maps, 9))
        done = enumerate_maps(
            model.jumps,
            model.room,
            service_rates(model),
            stale_rates(model),
            _gains(model),
            monotone,
            chosen,
            found,
            counts,
        )
        sums = found[:, 1:]
    by_mode = np.zeros((maps, every), dtype=np.int64)
    by_mode[:, chosen] = counts
    return MapTable(model, sums, by_mode, monotone, done)


def _one_by_one(model: BurstyBuffer, chosen: Counts, counts: Counts, *, monotone: bool) -> Matrix:
    chances = chances_of_service(model)
    sums = np.zeros((counts.shape[0], 8))
    for number, modes in enumerate(_maps(chosen, model.levels, monotone=monotone)):
        law = solve_phases(model, modes, tolerance=1e-12, most_states=MOST_STATES)
        sums[number] = sum_up(model, modes, law, *fates(model, law, chances))
        counts[number] = [np.count_nonzero(modes == mode) for mode in chosen]
    return sums


def _maps(chosen: Counts, levels: int, *, monotone: bool) -> Iterator[Counts]:
    """Run over maps in the order of the compiled enumeration: the highest level slowest."""
    choices: Iterable[tuple[int, ...]]
    if monotone:
        choices = itertools.combinations_with_replacement(range(chosen.size), levels)
    else:
        choices = itertools.product(range(chosen.size), repeat=levels)
    for choice in choices:
        yield chosen[np.array(choice[::-1])]


def _gains(model: BurstyBuffer) -> Matrix:
    """Rates of what is counted, shape (levels, modes, W M, 9), time first."""
    w, m, _ = model.phases
    levels, modes = model.levels, len(model.robots)
    out = np.zeros((levels, modes, w * m, 9))
    out[..., 0] = 1.0
    out[..., 7] = np.array(model.robots)[:, None]
    stale = stale_rates(model)
    chances = np.cumsum([part[0] for part in chances_of_service(model)], axis=0)  # (n, m, 2)
    for n in range(levels):
        width = m if n else 1
        rows = slice(0, w * width)
        out[n, :, rows, 1] = np.repeat(model.brought, width, axis=1)
        out[n, :, rows, 2] = np.repeat(model.lost[model.room[n]], width, axis=1)
        if n:
            out[n, :, :, 3] = stale[n]
            out[n, :, :, 4] = np.tile(model.service.exits, w)
            out[n, :, :, 5] = np.tile(chances[n - 1, :, 0], w)
            out[n, :, :, 6] = np.tile(chances[n - 1, :, 1], w)
    out[0, ..., 8] = 1.0
    return out
