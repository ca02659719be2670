"""The real engine through thousands of storms: faults, kills, restarts, all invariants.

Bar: ten thousand seeds without a broken promise.

    python bench/storms.py --seeds 10000 [--first 0] [--processes 2]
"""

import argparse
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.storms.storm import StormReport, run_storm
from tests.storms.weather import Broken


def storm(seed: int) -> StormReport | str:
    """Run one, and say what broke."""
    try:
        return run_storm(seed)
    except Broken as broken:
        return str(broken)


def main() -> None:
    """Run them, and sum up."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    chosen = parser.parse_args()
    started, endings, outcomes, broken, requests = time.monotonic(), Counter(), Counter(), [], 0
    seeds = range(chosen.first, chosen.first + chosen.seeds)
    with ProcessPoolExecutor(chosen.processes) as pool:
        for number, told in enumerate(pool.map(storm, seeds, chunksize=10), start=1):
            if isinstance(told, str):
                broken.append(told)
                print(told, flush=True)
                continue
            endings.update(told.endings)
            outcomes.update(told.outcomes)
            requests += told.requests
            if number % 500 == 0:
                print(f"{number:,} storms, {time.monotonic() - started:.0f} s", flush=True)
    print(f"{chosen.seeds:,} storms, {requests:,} requests, {len(broken)} broken promises")
    print("lives ended:", dict(endings))
    print("visits:", dict(outcomes.most_common()))


if __name__ == "__main__":
    main()
