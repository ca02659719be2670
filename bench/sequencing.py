"""How fast the streams of accesses are, and how far above the best lower bound.

Bars: at least 2.5 million steps per CPU second at 1e4 pages and 1.5 million at 1e7 for the default
(index), 10 million at 1e4 for phases on a timing wheel, 20 million at 1e4 for the golden ratio; the
default within 0.1 % of the bound at 100 pages, 0.01 % at 1,000 and 0.001 % at 10,000 on log-normal
rates, and never worse than the best single policy by more than a factor of two on any family.

    python bench/sequencing.py                          speed at 1e4, 1e6, 1e7; gaps up to 1e4
    python bench/sequencing.py --sizes 1e4 --gaps 100   a quick look
    python bench/sequencing.py --gaps 1e6               one size of gaps only
"""

import argparse
import time

import numpy as np

from recrawl.processes.access_times import ConstantTime
from recrawl.processes.phase_type import PhaseType
from recrawl.sequencing import (
    AgeingCosts,
    bound_even_gaps,
    bound_whole_gaps,
    choose_policy,
    judge_policy,
    make_stream,
    solve_cycle,
)

SPEED = ("index", "regular", "rings", "golden", "random", "deadline")
POLICIES = ("index", "regular", "rings", "deadline", "webster", "whittle", "golden", "random")
FAMILIES = ("lognormal", "uniform", "equal", "pareto", "gamma 0.3", "two kinds")
LAWS = {
    "constant": ConstantTime(1.0),
    "Erlang 4": PhaseType.erlang(4, 1.0),
    "exponential": PhaseType.exponential(1.0),
    "hyper": PhaseType.hyperexponential([0.9, 0.1], [0.5, 5.5]),
}


def draw(family: str, n: int, seed: int) -> np.ndarray:
    """Change rates of one family, summing to 1."""
    rng = np.random.default_rng(seed)
    rates = {
        "lognormal": lambda: rng.lognormal(size=n),
        "uniform": lambda: rng.random(n),
        "equal": lambda: np.ones(n),
        "pareto": lambda: rng.pareto(1.2, n) + 1,
        "gamma 0.3": lambda: rng.gamma(0.3, size=n) + 1e-6,  # as real sites show
        "two kinds": lambda: np.where(rng.random(n) < 0.1, 30.0, 1.0) * rng.uniform(0.9, 1.1, n),
    }[family]()
    return rates / rates.sum()


def measure_speed(sizes: list[int]) -> None:
    """Print steps per CPU second after a warm-up, the best of three, and memory per page."""
    print(f"{'stream':10}{'pages':>12}{'M steps/CPU s':>16}{'bytes/page':>12}{'start, CPU s':>14}")
    for n in sizes:
        rates = draw("lognormal", n, 1)
        costs = AgeingCosts.obsolescence(rates, rates, ConstantTime(1.0))
        steps = max(min(n, 4_000_000), 2_000_000)
        for name in SPEED:
            make_stream(name, costs, rates).take(10)  # compilation
            begun = time.process_time()
            stream = make_stream(name, costs, rates)
            start = time.process_time() - begun
            stream.take(steps)
            best = np.inf
            for _ in range(3):
                begun = time.process_time()
                stream.take(steps)
                best = min(best, time.process_time() - begun)
            size = sum(array.nbytes for array in stream.checkpoint().values()) / n
            print(
                f"{name:10}{n:12,}{steps / best / 1e6:16.2f}{size:12.0f}{start:14.2f}", flush=True
            )
            del stream


def measure_gaps(sizes: list[int], draws: int) -> None:
    """Print mean relative gaps to C** at load 1 with constant access times."""
    print(f"\n{'family':10}{'pages':>10}", *(f"{name:>9}" for name in POLICIES), "  chosen")
    for family in FAMILIES:
        for n in sizes:
            gaps, choices = gaps_of(family, n, LAWS["constant"], 1.0, draws if n <= 1000 else 1)
            print(
                f"{family:10}{n:10,}", *(f"{gap:9.1e}" for gap in gaps), f"  {choices}", flush=True
            )


def gaps_of(family: str, n: int, law, load: float, draws: int) -> tuple[np.ndarray, str]:
    """Mean gap of each policy, and the gap of the choice with what it was."""
    rows, chosen, chosen_gaps = [], [], []
    for seed in range(draws):
        rates = draw(family, n, 100 + seed) * load
        costs = AgeingCosts.obsolescence(rates, rates, law)
        shares, bound = bound_even_gaps(costs).frequencies, bound_whole_gaps(costs).cost
        slots = None if n < 100_000 else 2 * n
        row = []
        for name in POLICIES:
            slow = (name == "whittle" and n > 1000) or (name == "deadline" and n > 100_000)
            cost = np.nan if slow else judge_policy(name, costs, shares, slots=slots).cost
            row.append(cost / bound - 1)
        rows.append(row)
        choice = choose_policy(costs, shares, slots=slots)
        chosen.append(choice.name)
        chosen_gaps.append(choice.found[choice.name].cost / bound - 1)
    return np.mean(rows, axis=0), f"{np.mean(chosen_gaps):.1e} {'/'.join(sorted(set(chosen)))}"


def measure_laws() -> None:
    """Print the gaps at 1,000 pages for laws of access time and loads."""
    print(f"\n{'law':14}{'load':>6}", *(f"{name:>9}" for name in POLICIES), "  chosen")
    for name, law in LAWS.items():
        for load in (0.1, 1.0, 5.0):
            gaps, chosen = gaps_of("lognormal", 1000, law, load, 1)
            print(
                f"{name:14}{load:6g}", *(f"{gap:9.1e}" for gap in gaps), f"  {chosen}", flush=True
            )


def measure_optima(draws: int) -> None:
    """Print gaps to the exact optimum of random losses with three and four servers."""
    rng, gaps, exact = np.random.default_rng(11), [], 0
    begun = time.process_time()
    for number in range(draws):
        costs = AgeingCosts.losses(np.exp(rng.uniform(-1.5, 1.5, 3 + number % 2)), 1.0)
        best = solve_cycle(costs, max_states=2_000_000)
        exact += best.is_exact
        shares = bound_even_gaps(costs).frequencies
        row = [judge_policy(name, costs, shares, slots=20_000).cost for name in POLICIES[:7]]
        choice = choose_policy(costs, shares)
        gaps.append([*row, choice.found[choice.name].cost] / np.array(best.cost) - 1)
    print(f"\n{exact} of {draws} optima certified, {time.process_time() - begun:.1f} CPU s in all")
    for name, gap in zip((*POLICIES[:7], "chosen"), np.array(gaps).T, strict=True):
        print(f"{name:10} mean {gap.mean():8.1e}  worst {gap.max():8.1e}")
    for n in (5, 6):
        begun = time.process_time()
        rates = np.arange(1, n + 1) / (n * (n + 1) / 2)
        best = solve_cycle(AgeingCosts.obsolescence(rates, rates, ConstantTime(1.0)))
        seconds = time.process_time() - begun
        print(f"{n} pages: exact {best.is_exact}, {best.n_states:,} states, {seconds:.2f} CPU s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="*", type=float, default=[1e4, 1e6, 1e7])
    parser.add_argument("--gaps", nargs="*", type=float, default=[10, 100, 1000, 10_000])
    parser.add_argument("--draws", type=int, default=4)
    parser.add_argument("--no-laws", action="store_true")
    chosen = parser.parse_args()
    measure_speed([int(size) for size in chosen.sizes])
    measure_gaps([int(size) for size in chosen.gaps], chosen.draws)
    if not chosen.no_laws:
        measure_laws()
        measure_optima(60)


if __name__ == "__main__":
    main()
