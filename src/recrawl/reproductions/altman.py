"""Figure 1 and Section 5 of "Open-loop routeing to M parallel servers with no buffers" (2000)."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from recrawl.drawing import add_panels
from recrawl.processes.markovian_arrivals import MarkovianArrivals
from recrawl.reproductions.result import Reproduction, Row
from recrawl.sequencing import AgeingCosts, loss_costs, solve_two, switching_rate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PAPER = "Altman, Bhulai, Gaujal, Hordijk 2000"
_SAMPLES = 200_000


def figure_1() -> Reproduction:
    """Find the speeds of the second server at which the best period changes."""
    rows = []
    for period in range(2, 16):
        speed = switching_rate(period)
        around = [
            solve_two(AgeingCosts.losses([1.0, at], 1.0)).period
            for at in (speed * (1 - 1e-9), speed * (1 + 1e-9))
        ]
        rows.append(
            Row(
                {"change": f"{period} -> {period + 1}"},
                {"mu_2": "1 + sqrt 2" if period == 2 else "(figure)"},
                {"mu_2": speed, "below": around[0], "above": around[1]},
            )
        )
    return Reproduction(
        f"{_PAPER}, Figure 1: speeds mu_2 at which the period changes, lambda = mu_1 = 1",
        rows,
        ["Closed form: K = (n + 2) / 2^(n + 1), mu_2 = (1 + sqrt(1 - K)) / K - 1."],
        _draw,
    )


def mmpp() -> Reproduction:
    """Evaluate Lemma 5.2 for an MMPP and a MAP, beside simulation, and the best orders."""
    modulated = MarkovianArrivals.modulated([[-0.3, 0.3], [0.8, -0.8]], [0.5, 4])
    hidden: ArrayLike = [[-3.0, 1.0], [0.5, -2.0]]
    general = MarkovianArrivals(hidden, [[1.5, 0.5], [0.2, 1.3]])
    rng = np.random.default_rng(5)
    rows = []
    for name, arrivals, rate in (("MMPP, mu = 1", modulated, 1.0), ("MAP, mu = 0.7", general, 0.7)):
        exact = arrivals.discounts(rate, 6)
        intervals = arrivals.sample(_SAMPLES, rng)
        total = np.concatenate([[0.0], np.cumsum(intervals)])
        for n in range(1, 7):
            seen = float(np.exp(-rate * (total[n:] - total[:-n])).mean())
            rows.append(
                Row(
                    {"case": f"{name}, n = {n}"},
                    {"f(n)": "(formula)"},
                    {"f(n)": float(exact[n - 1]), "simulated": seen, "period": ""},
                )
            )
    best = solve_two(loss_costs([1.0, 4.0], modulated))
    rows.append(
        Row(
            {"case": "MMPP, best order, mu = (1, 4)"},
            {"f(n)": "", "period": "(one period)"},
            {"f(n)": best.cost, "simulated": "", "period": best.period},
            "This row has the share of packets lost for f(n). The best order is one period, not a "
            "mixture of those of the two phases, as the paper says.",
        )
    )
    return Reproduction(
        f"{_PAPER}, Section 5: Lemma 5.2",
        rows,
        [
            "The printed F(t) of a MAP lacks D in its integral, and E e^(mu tau) a minus sign.",
            f"Simulated over {_SAMPLES:,} intervals, seed 5.",
        ],
    )


def _draw(figure: "Figure") -> None:
    """Draw the period against the speed of the second server."""
    (axes,) = add_panels(figure, 1)
    speeds = np.geomspace(1, 400, 600)
    periods = [solve_two(AgeingCosts.losses([1.0, speed], 1.0)).period for speed in speeds]
    axes.step(speeds, [np.nan if p is None else float(p) for p in periods], where="post")
    axes.set_xscale("log")
    axes.set_xlabel("speed of the second server")
    axes.set_ylabel("period of the optimal policy")
