"""The paper's local search over periodic words of two servers, and what it rests on."""

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Integers
from recrawl.sequencing.costs import DistanceCosts
from recrawl.sequencing.evaluation import evaluate_cycle


@dataclass(frozen=True, eq=False)
class LocalSearch:
    """A word that none of its neighbours beats.

    Parameters
    ----------
    sequence : shape (n,), servers 0 and 1
    cost : its average cost
    moves : how often a better neighbour was found
    """

    sequence: Integers
    cost: float
    moves: int


def neighbours(word: ArrayLike) -> Integers:
    r"""Return the neighbours of a word of 0s and 1s that are words, shape (m, n), m <= 2^(n+1) - 2.

    Notes
    -----
    Points :math:`x + \sum\alpha_i b_i` with :math:`\alpha` neither all 0 nor all 1, on the base
    :math:`-e_1, e_1 - e_2, \dots, e_{n-1} - e_n, e_n` of multimodularity: slot i changes by
    :math:`\alpha_{i+1} - \alpha_i`. Those that leave {0, 1} are no words.
    """
    at = np.asarray(word, dtype=np.int64)
    choices = np.array(list(product((0, 1), repeat=at.size + 1))[1:-1], dtype=np.int64)
    moved = at + np.diff(choices, axis=1)
    return np.unique(moved[np.all((moved == 0) | (moved == 1), axis=1)], axis=0)


def search_word(costs: DistanceCosts, start: ArrayLike) -> LocalSearch:
    """Move to the best neighbour until there is none that is better.

    Parameters
    ----------
    costs : of 2 pages
    start : shape (n,), 0 and 1; n at most 16, since there are 2^(n+1) - 2 neighbours

    Notes
    -----
    The paper's method. Its proof that a local minimum is global (Lemma 4.3, Theorem 4.4) is not
    valid as printed: multimodularity fails on words that do not begin with a visit. In all trials
    the minima were global all the same; :func:`recrawl.sequencing.two.solve_two` needs no search.
    """
    word = np.asarray(start, dtype=np.int64)
    if costs.n_pages != 2 or word.ndim != 1 or not np.all((word == 0) | (word == 1)):
        raise InvalidModel("local search is for words of 0 and 1, for two servers")
    if not 1 <= word.size <= 16:
        raise InvalidModel(f"a word must have 1 to 16 slots, got {word.size}")
    cost, moves = evaluate_cycle(costs, word).cost, 0
    while True:
        around = neighbours(word)
        values = [evaluate_cycle(costs, other).cost for other in around]
        best = int(np.argmin(values))
        if values[best] >= cost - 1e-13 * abs(cost):
            return LocalSearch(word, cost, moves)
        word, cost, moves = around[best], values[best], moves + 1
