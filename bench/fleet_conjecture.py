"""Is the optimal policy always a monotone switching curve? Random instances, each certified.

Talim et al. (2001) saw it in every case they computed and could not prove it. For each instance
the curve method ends in a nonincreasing curve, and every other action of every state is compared
with it: where nothing is better the conjecture holds in that instance. A part of the instances is
solved again by policy iteration that knows nothing of curves, and the costs must agree. Beyond
the conjecture, the relative value v(q, r) is checked for convexity in r, and its slope in r for
growth with q; the two imply it. A last part adds a holding cost, where the conjecture is false.

    python bench/fleet_conjecture.py [--scale 0.1]

Bar: at least 50,000 instances in under 5 minutes; no failure without a holding cost.
"""

import argparse
import time
from dataclasses import dataclass, field

import numpy as np

from recrawl.fleet import ControlledBuffer, solve_robots_generally
from recrawl.fleet.curve import TOLERANCE, find_best_curve, kernel_rates
from recrawl.kernels.fleet_curve import evaluate_curve


@dataclass
class Tally:
    """What was seen in one group of instances."""

    name: str
    instances: int = 0
    curves: int = 0
    failures: list[str] = field(default_factory=list)
    not_convex: int = 0
    not_monotone_slope: int = 0
    cross_checked: int = 0
    worst_difference: float = 0.0

    def row(self) -> str:
        """Return the line of the table."""
        return (
            f"{self.name:34s} {self.instances:9d} {self.curves:9d} {len(self.failures):8d} "
            f"{self.not_convex:10d} {self.not_monotone_slope:10d} {self.cross_checked:9d} "
            f"{self.worst_difference:10.1e}"
        )


def shape_of_values(model, targets):
    """Say whether v is convex in r and its slope grows with q, beyond a slack of 1e-9."""
    gain, spent, time_to = evaluate_curve(kernel_rates(model), targets)
    slope = (np.diff(spent, axis=0) - gain * np.diff(time_to, axis=0))[:, :]
    size = spent + gain * time_to
    scale = size[1:] + size[:-1]
    slope[0, 0], scale[0, 0] = slope[min(1, len(slope) - 1), 0], np.inf  # (0, 0) does not exist
    bend = np.diff(slope, axis=0)
    convex = bool(np.all(bend >= -1e-9 * (scale[1:] + scale[:-1])))
    growth = np.diff(slope, axis=1)
    grows = bool(np.all(growth >= -1e-9 * (scale[:, 1:] + scale[:, :-1])))
    return convex, grows


def run(tally, draw, count, rng, check_every):
    for number in range(count):
        model = draw(rng)
        best = find_best_curve(model)
        tally.instances += 1
        if best.residual <= TOLERANCE:
            tally.curves += 1
            convex, grows = shape_of_values(model, best.targets)
            tally.not_convex += not convex
            tally.not_monotone_slope += not grows
        else:
            general = solve_robots_generally(model, start=best)
            if general.is_curve:
                tally.curves += 1  # the walk stopped short of it
            else:
                tally.failures.append(f"{model} cost {general.cost!r}")
        if check_every and number % check_every == 0:
            general = solve_robots_generally(model)
            cost = min(best.gain, general.cost) if best.residual > TOLERANCE else best.gain
            if general.cost > 1e-290:
                difference = abs(cost - general.cost) / general.cost
                tally.worst_difference = max(tally.worst_difference, difference)
                tally.cross_checked += 1
    return tally


def extreme(most):
    def draw(rng):
        return ControlledBuffer(
            int(rng.integers(1, most + 1)),
            int(rng.integers(1, most + 1)),
            float(10 ** rng.uniform(-4, 4)),
            1.0,
            float(10 ** rng.uniform(-8, 8)),
        )

    return draw


def moderate(least, most):
    def draw(rng):
        robots, buffer = (int(n) for n in rng.integers(least, most + 1, 2))
        load = 10 ** rng.uniform(-0.5, 0.5)
        return ControlledBuffer(robots, buffer, load / robots, 1.0, float(10 ** rng.uniform(-3, 3)))

    return draw


def with_holding(rng):
    robots, buffer = (int(n) for n in rng.integers(2, 9, 2))
    return ControlledBuffer(
        robots,
        buffer,
        float(10 ** rng.uniform(-1, 2)),
        1.0,
        float(10 ** rng.uniform(-1, 3)),
        holding_cost=float(10 ** rng.uniform(-2, 2)),
    )


def state_dependent(rng):
    robots, buffer = (int(n) for n in rng.integers(2, 9, 2))
    fetch = np.concatenate([[0.0], np.cumsum(10 ** rng.uniform(-2, 0, robots))])
    index = np.concatenate([[0.0], 10 ** rng.uniform(-1, 1, buffer)])
    return ControlledBuffer(robots, buffer, fetch, index, float(10 ** rng.uniform(-2, 2)))


GROUPS = (
    ("K, N to 8, rates 1e-4..1e4", extreme(8), 40_000, 10),
    ("K, N to 15, rates 1e-4..1e4", extreme(15), 10_000, 10),
    ("K, N to 40, load 0.3..3", moderate(2, 40), 3_000, 20),
    ("K, N to 100, load 0.3..3", moderate(40, 100), 300, 0),
    ("K, N 100 to 600, load 0.3..3", moderate(100, 600), 100, 0),
    ("with a holding cost", with_holding, 5_500, 10),
    ("rates that depend on q and r", state_dependent, 5_500, 10),
)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="part of the instances to run")
    scale = parser.parse_args().scale
    rng = np.random.default_rng(20010616)
    find_best_curve(ControlledBuffer(16, 16, 0.1, 1.0, 1.0))  # compile
    solve_robots_generally(ControlledBuffer(3, 3, 0.1, 1.0, 1.0))
    print(
        f"{'group':34s} {'instances':>9s} {'curve':>9s} {'no curve':>8s} {'not convex':>10s} "
        f"{'slope':>10s} {'checked':>9s} {'difference':>10s}"
    )
    began, failures = time.process_time(), []
    for name, draw, count, check_every in GROUPS:
        tally = run(Tally(name), draw, max(1, round(count * scale)), rng, check_every)
        print(tally.row(), flush=True)
        failures += [(name, failure) for failure in tally.failures]
    print(f"{time.process_time() - began:.1f} s of CPU")
    for name, failure in failures[:10]:
        print(f"no curve ({name}): {failure}")


if __name__ == "__main__":
    main()
