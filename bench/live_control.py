"""What controlling the robots saves where the indexer is slow: theory beside the real engine.

The real runtime in virtual time: sixteen robots, a buffer of a few pages, an indexer that takes a
second for a page, of which each robot brings one in ten seconds. Three controls have the same
robots, web and indexer: the best fixed number of robots, as many robots as the buffer has room for
(the crawler's default), and the control that the crawler finds from its own measurements. Costs are
those of Talim et al.: the weight of starvation times the share of time with an idle indexer, and
pages lost per second.

Bars: the optimal control costs less than the best fixed number, by about what the model says; its
cost is within 20 % of the prediction.

    python bench/live_control.py                         20 parts of 2,500 s each
    python bench/live_control.py --parts 6 --only heavy  a quick look
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
from tests.restless import costs_of, restless_crawl

from recrawl.crawler.control.fleet.activation import ActivationPolicy, FixedRobots
from recrawl.crawler.control.fleet.regularity import Regularity, plan_robots
from recrawl.crawler.runtime.crawl import robots_with_room
from recrawl.fleet import ControlledBuffer, evaluate_irregular
from recrawl.processes.intervals import student_975
from recrawl.testing import run_virtually

WARM_UP_S = 3_000.0


@dataclass(frozen=True)
class Case:
    """A world: its model with exponential times, and how long indexing really takes."""

    words: str
    model: ControlledBuffer
    service_s: Callable[[np.random.Generator], float]
    variation: float
    third: float


def exponential(random: np.random.Generator) -> float:
    """As the papers have it."""
    return float(random.exponential(1.0))


def heavy(random: np.random.Generator) -> float:
    """Most pages take half a second; one in forty twenty."""
    return float(random.exponential(20.0 if random.random() < 1 / 40 else 0.5))


def lognormal(random: np.random.Generator) -> float:
    """As embedding models do on pages of any length: mean 1 s, squared variation 3.5."""
    return float(random.lognormal(-0.75, np.sqrt(1.5)))


HEAVY = [0.975 * 0.5 + 0.5, 2 * (0.975 * 0.25 + 400 / 40), 6 * (0.975 * 0.125 + 8000 / 40)]
CASES = {
    "exponential": Case(
        "16 robots of mean 10 s, indexing times exponential, mean 1 s; buffer 5",
        ControlledBuffer(16, 5, 0.1, 1.0, 1.4), exponential, 1.0, 6.0,
    ),
    "lognormal": Case(
        "the same, indexing times log-normal with squared variation 3.5; buffer 10",
        ControlledBuffer(16, 10, 0.1, 1.0, 1.4), lognormal, np.exp(1.5) - 1, np.exp(3 * 1.5),
    ),
    "heavy": Case(
        "the same, one page in forty takes 40 times as long (squared variation 20); buffer 10",
        ControlledBuffer(16, 10, 0.1, 1 / HEAVY[0], 1.4 / HEAVY[0]), heavy,
        HEAVY[1] / HEAVY[0] ** 2 - 1, HEAVY[2] / HEAVY[0] ** 3,
    ),
}  # fmt: skip


async def costs(
    case: Case, seed: int, policy: ActivationPolicy | None, parts: int, part_s: float
) -> list[float]:
    """Return the cost of each part, after a warm-up."""
    virtual = restless_crawl(
        seed,
        n_robots=case.model.robots,
        buffer=case.model.buffer,
        fetch_s=10.0,
        service_s=case.service_s,
        policy=policy,
        weight=None if policy else 1.4,
    )
    weight = case.model.starvation_weight
    return await costs_of(virtual, weight, warm_up_s=WARM_UP_S, parts=parts, part_s=part_s)


def arms(case: Case) -> list[tuple[str, ActivationPolicy | None, float]]:
    """Return each control with the cost that the model of this indexer predicts."""
    model = case.model
    fleet = replace(Regularity(), service_variation=case.variation, service_third=case.third).fleet(
        model
    )
    n, k = model.robots, model.buffer
    fixed = {r: evaluate_irregular(fleet, [r] * (k + 1)).cost for r in range(1, n + 1)}
    best = min(fixed, key=lambda r: fixed[r])
    room = robots_with_room(n, k)
    plan = plan_robots(model, Regularity(case.variation, case.third))
    return [
        (f"best fixed number: {best} robots", FixedRobots(best), fixed[best]),
        ("as many as there is room for", room, evaluate_irregular(fleet, room.targets).cost),
        ("optimal control, from measured rates", None, plan.measures.cost),
    ]


def run_arm(name: str, arm: int, parts: int, part_s: float) -> list[float]:
    """Run one control in one world."""
    case = CASES[name]
    return run_virtually(costs(case, 1 + arm, arms(case)[arm][1], parts, part_s))


def tell(name: str, results: Sequence[list[float]]) -> None:
    """Print a world's table."""
    case = CASES[name]
    print(f"\n{name}: {case.words}")
    print(f"{'':40}{'predicted':>10}{'measured':>10}{'± 95 %':>9}{'apart':>8}")
    for (words, _, predicted), found in zip(arms(case), results, strict=True):
        half = student_975(len(found) - 1) * np.std(found, ddof=1) / np.sqrt(len(found))
        mean = float(np.mean(found))
        print(f"{words:40}{predicted:10.4f}{mean:10.4f}{half:9.4f}{mean / predicted - 1:8.0%}")


def main() -> None:
    """Run every control in every world."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", type=int, default=20)
    parser.add_argument("--part-s", type=float, default=2_500.0)
    parser.add_argument("--only", nargs="*", choices=list(CASES), default=list(CASES))
    parser.add_argument("--processes", type=int, default=2)
    chosen = parser.parse_args()
    started = time.monotonic()
    with ProcessPoolExecutor(chosen.processes) as pool:
        runs = {
            name: [pool.submit(run_arm, name, arm, chosen.parts, chosen.part_s) for arm in range(3)]
            for name in chosen.only
        }
        for name, futures in runs.items():
            tell(name, [future.result() for future in futures])
    print(
        f"\n{chosen.parts} parts of {chosen.part_s:,.0f} s each; {time.monotonic() - started:.0f} s"
    )


if __name__ == "__main__":
    main()
