"""Truth, promise and backtest of real histories, through the whole crawler.

Bars: the three within 2 points of each other, or explained; policies ordered as in the backtest;
the server never without a request for longer than the budget explains (20 of its intervals).

    python bench/time_machine.py [REPOSITORY ...]      # this repository where none is given
    python bench/time_machine.py --real                # also over HTTP, a minute for each budget
    python bench/time_machine.py --faults 5            # and in bad weather, from five seeds

With ``--faults`` each request is held to the rest of its host and to the budget, and the longest
pause is told once the weather, half of the time, is over.
"""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from recrawl.cli.crawler.recorded import RecordedPlay, Replay, backtest_of, plan_of
from recrawl.cli.crawler.stage import OWN, Played, play, play_virtually
from recrawl.simulation.recorded.recording import Source

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.storms.weather import Manners, in_weather

HERE = Path(__file__).resolve().parent.parent
HEAD = "budget policy          truth estimate promised backtest requests    new missed imagined"
CALM_AGAIN = 0.6  # of the time, from which on no pause is excused
POLICIES = (OWN, "recrawl", "uniform", "nutch")
BUDGETS = ("0.25x", "1x", "4x")


def line(name: str, budget: str, arm: Played, told: float | None) -> str:
    """One row of the table."""
    said = (
        "" if one is None else f"{100 * one:6.1f}" for one in (arm.estimated, arm.promised, told)
    )
    new = arm.outcomes.get("new", 0)
    return (
        f"{budget:>6} {name:14} {100 * arm.freshness:6.1f} {' '.join(f'{one:>8}' for one in said)} "
        f"{arm.fetches:8,} {new:6,} {arm.missed:6} {arm.imagined:8}"
    )


def stormy(plan: RecordedPlay, seed: int) -> tuple[Played, float]:
    """Crawl in bad weather; return what came of it, and the longest pause after it in intervals."""
    site = plan.site(80)
    rules, hosts = plan.settings(Path("unused"), site, OWN), list(site.hosts)
    site.close()
    length_s = plan.end_s - plan.epoch_s
    burst = plan.budget_per_s * rules.burst_s + 1.0
    manners = Manners(rules.delay_s, plan.budget_per_s, burst, slack_s=1e-6 * plan.speed)
    weather = in_weather(
        seed, hosts=hosts, start_s=plan.epoch_s, length_s=length_s / 2, manners=manners
    )
    played = play_virtually(OWN, plan, weather)
    pause_s = manners.longest_pause_s(plan.epoch_s + CALM_AGAIN * length_s, plan.end_s)
    return played, pause_s * plan.budget_per_s


def main() -> None:
    """Print a table for each repository."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repositories", nargs="*", type=Path, default=[HERE])
    parser.add_argument("--path", default="*")
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--faults", type=int, default=0, metavar="SEEDS")
    arguments = parser.parse_args()
    for repo in arguments.repositories:
        print(repo)
        print(HEAD)
        for budget in BUDGETS:
            plan = plan_of(Replay(path=arguments.path, budget=budget), Source(str(repo)), 60.0)
            arms = {name: play_virtually(name, plan) for name in POLICIES}
            told = backtest_of(plan, arms)
            for name, arm in arms.items():
                print(line(name, budget, arm, told.get(name)), flush=True)
            for seed in range(arguments.faults):
                arm, pause = stormy(plan, seed)
                print(line(f"weather {seed}", budget, arm, None))
                print(f"{'':6} longest pause after it: {pause:.1f} intervals", flush=True)
            if not arguments.real:
                continue
            with tempfile.TemporaryDirectory() as folder:
                own, _ = asyncio.run(play(plan, Path(folder), (), quiet=True))
            print(line("recrawl, HTTP", budget, own, None))
            intervals = own.idle_s * plan.budget_per_s
            print(f"{'':6} longest time without a request: {intervals:.1f} intervals", flush=True)


if __name__ == "__main__":
    main()
