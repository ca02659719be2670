"""Truth, promise and backtest of real histories, through the whole crawler.

Bars: the three within 2 points of each other, or explained; policies ordered as in the backtest;
the server never without a request for longer than the budget explains (20 of its intervals).

    python bench/time_machine.py [REPOSITORY ...]      # this repository where none is given
    python bench/time_machine.py --real                # also over HTTP, a minute for each budget
"""

import argparse
import asyncio
import tempfile
from pathlib import Path

from recrawl.cli.crawler.recorded import Replay, backtest_of, plan_of
from recrawl.cli.crawler.stage import OWN, Played, play, play_virtually
from recrawl.simulation.recorded.recording import Source

HERE = Path(__file__).resolve().parent.parent
POLICIES = (OWN, "recrawl", "uniform", "nutch")
BUDGETS = ("0.25x", "1x", "4x")


def line(name: str, budget: str, arm: Played, told: float | None) -> str:
    """One row of the table."""
    promised = "" if arm.promised is None else f"{100 * arm.promised:6.1f}"
    backtest = "" if told is None else f"{100 * told:6.1f}"
    new = arm.outcomes.get("new", 0)
    return (
        f"{budget:>6} {name:14} {100 * arm.freshness:6.1f} {promised:>8} {backtest:>8} "
        f"{arm.fetches:8,} {new:6,} {arm.missed:6} {arm.imagined:8}"
    )


def main() -> None:
    """Print a table for each repository."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repositories", nargs="*", type=Path, default=[HERE])
    parser.add_argument("--path", default="*")
    parser.add_argument("--real", action="store_true")
    arguments = parser.parse_args()
    for repo in arguments.repositories:
        print(repo)
        print("budget policy          truth promised backtest requests    new missed imagined")
        for budget in BUDGETS:
            plan = plan_of(Replay(path=arguments.path, budget=budget), Source(str(repo)), 60.0)
            arms = {name: play_virtually(name, plan) for name in POLICIES}
            told = backtest_of(plan, arms)
            for name, arm in arms.items():
                print(line(name, budget, arm, told.get(name)), flush=True)
            if not arguments.real:
                continue
            with tempfile.TemporaryDirectory() as folder:
                own, _ = asyncio.run(play(plan, Path(folder), (), quiet=True))
            print(line("recrawl, HTTP", budget, own, None))
            intervals = own.idle_s * plan.budget_per_s
            print(f"{'':6} longest time without a request: {intervals:.1f} intervals", flush=True)


if __name__ == "__main__":
    main()
