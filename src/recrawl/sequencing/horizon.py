"""A finite horizon: the best order of so many accesses, with what is left undone charged."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Integers
from recrawl.sequencing.costs import DistanceCosts

Ages: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class HorizonOptimum:
    """The best order of a number of accesses.

    Parameters
    ----------
    sequence : shape (T - 1,), page numbers
    cost : total cost, terminal cost included
    """

    sequence: Integers
    cost: float


def solve_horizon(
    costs: DistanceCosts,
    ages: ArrayLike,
    accesses: int,
    *,
    terminal: bool = True,
    max_states: int = 2_000_000,
) -> HorizonOptimum:
    r"""Find the best order of a number of accesses, from given ages.

    Parameters
    ----------
    costs : of n pages
    ages : shape (n,), >= 1, slots since each page's last access
    accesses : how many are to be made, >= 0
    terminal : charge every page :math:`f_i` of its age at the end, equation (1) of the paper;
        without it neglect is free towards the end (Example 3.5)
    max_states : of the dynamic programme, all stages together

    Notes
    -----
    Forward over the ages that can be reached; of two ways to the same ages the cheaper is kept.
    After t accesses there are at most min(n^t, number of distinct ages) states.

    References
    ----------
    E. Altman et al., Journal of Applied Probability 37, 2000, sections 2 and 3.
    """
    start: Ages = tuple(int(age) for age in np.asarray(ages))
    if len(start) != costs.n_pages or min(start, default=0) < 1:
        raise InvalidModel(f"ages must be {costs.n_pages} whole numbers >= 1")
    if accesses < 0:
        raise InvalidModel(f"accesses must be >= 0, got {accesses}")
    table = costs.tabulate(max(start) + accesses)
    stages: list[dict[Ages, tuple[float, int, Ages]]] = [{start: (0.0, -1, start)}]
    total = 1
    for _ in range(accesses):
        after: dict[Ages, tuple[float, int, Ages]] = {}
        for now, (paid, _, _) in stages[-1].items():
            for page in range(costs.n_pages):
                cost = paid + float(table[page, now[page] - 1])
                new = tuple(1 if m == page else age + 1 for m, age in enumerate(now))
                if new not in after or cost < after[new][0]:
                    after[new] = (cost, page, now)
        stages.append(after)
        total += len(after)
        if total > max_states:
            raise InvalidModel(f"{accesses} accesses reach over {max_states:,} states; take fewer")

    def final(state: Ages) -> float:
        end = sum(float(table[m, age - 1]) for m, age in enumerate(state)) if terminal else 0.0
        return stages[-1][state][0] + end

    state = min(stages[-1], key=final)
    cost, order = final(state), []
    for stage in reversed(stages[1:]):
        _, page, state = stage[state]
        order.append(page)
    return HorizonOptimum(np.array(order[::-1], dtype=np.int64), cost)
