"""`kill -9` at the n-th operation on a file of the state, for every n: opening, commits, stopping.

A whole life follows each kill; every third is killed once more first, while it starts.
Bar: of 1,000 kills none leaves a state that does not start, none loses a copy or a visit that was
recorded, and state and index agree after each.

    python bench/aimed_kills.py [--kills 1000]
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.kills.aim import Aim, Aiming, compiled_shim


def main() -> None:
    """Aim at one operation after the other; tell what was hit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=1_000)
    wanted = parser.parse_args().kills
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        shim = compiled_shim(Path(folder))
        if shim is None:
            sys.exit("needs a C compiler named cc")
        aiming = Aiming(Path(folder), shim)
        report, at, sweeps = aiming.report, 0, 0
        with aiming.victims() as victims:
            while report.kills < wanted:
                at += 1
                was_whole = aiming.live(victims, Aim(at, torn=sweeps % 2 == 0)) is not None
                if at % 3 == 0:  # and once more while it follows up what the first has left
                    aiming.live(victims, Aim(1 + at * 7 % 150))
                aiming.live(victims, Aim(-1))
                if was_whole:
                    at, sweeps = 0, sweeps + 1  # all of its operations have been aimed at
                if at % 100 == 0:
                    print(f"{report.kills:,} kills, {time.monotonic() - started:.0f} s", flush=True)
    for words in report.broken:
        print(words)
    print(
        f"{report.kills:,} kills, {report.whole} whole lives, {len(report.broken)} broken promises"
    )
    print("never made:", dict(report.hit.most_common()))
    sys.exit(bool(report.broken))


if __name__ == "__main__":
    main()
