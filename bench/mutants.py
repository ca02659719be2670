"""Tests as guarantees: decisions are made wrong on purpose, one at a time, and a test must notice.

Bar: under 5 % of a sample of 300 survive; those that `mutants_equal.txt` names, with the reason why
no promise depends on them, are not counted.

A sample of the changes of `mutant_changes.py` is drawn evenly over the modules. First every quick
test runs once, to learn which lines it reaches (some minutes, kept in ``--known``). Then each
mutant meets the tests that reach its statement, or what it defines, quickest first, up to
``--seconds`` of them, and then as many of those that reach its module elsewhere; one that no test
reaches survives, one that hangs does not. Nothing on disk is changed: a fork of this process
imports the mutant in place of its module. (mutmut leaves alone what stands outside of functions,
thresholds among it; cosmic-ray starts Python anew for each.)

    python bench/mutants.py --sample 300 --seed 1 [--modules freshness crawler/control/fleet]
    python bench/mutants.py --again FILE    the survivors that an earlier run printed into FILE
"""

import argparse
import importlib
import math
import os
import random
import re
import sys
import tempfile
import time
from pathlib import Path

from mutant_changes import ROOT, Mutant, mutants_of
from mutant_tests import Known, dies, in_fork, learn

PACKAGES = ["crawler/control", "crawler/runtime", "freshness", "crawler/settings"]
WARM = "pytest hypothesis numpy numba scipy.optimize aiohttp tantivy lxml recrawl.kernels.revisits"


def drawn(every: list[Mutant], count: int, seed: int) -> list[Mutant]:
    """Return each n-th mutant, module by module: as large a share of each, to within one."""
    chance = random.Random(seed)
    ordered = sorted(every, key=lambda mutant: (mutant.path, chance.random()))
    step, start = max(len(ordered) / count, 1.0), chance.random()
    return [ordered[int((start + n) * step)] for n in range(int(min(count, len(ordered))))]


def interval(found: int, of: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share."""
    share, z = found / of, 1.96
    middle = share + z * z / (2 * of)
    half = z * math.sqrt(share * (1 - share) / of + (z / of / 2) ** 2)
    return (middle - half) / (1 + z * z / of), (middle + half) / (1 + z * z / of)


def unplaced(shown: str) -> str:
    """Return what is shown of a mutant without its line, which moves."""
    return re.sub(r"^(\S+?):\d+:", r"\1:", shown.strip())


def main() -> int:
    """Draw, run and judge; show who survives, and which share."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--modules", nargs="+", default=PACKAGES, help="of src/recrawl")
    parser.add_argument("--again", type=Path, help="what an earlier run has printed")
    parser.add_argument("--seconds", type=float, default=30.0, help="of tests for each mutant")
    temporary = Path(tempfile.gettempdir())
    parser.add_argument("--known", type=Path, default=temporary / "recrawl-mutants.coverage")
    chosen = parser.parse_args()
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # a fork has one thread
    os.chdir(ROOT)
    for name in WARM.split():
        importlib.import_module(name)
    places = [ROOT / "src/recrawl" / place for place in chosen.modules]
    if not chosen.known.with_suffix(".json").exists():
        print("learning which tests reach which lines ...", flush=True)
        if in_fork(lambda: learn(chosen.known.resolve()), 3600.0) != 0:
            return 1
    known = Known(chosen.known)
    files = [f for place in places for f in ([place] if place.is_file() else place.rglob("*.py"))]
    every = [mutant for file in sorted(files) for mutant in mutants_of(file)]
    if chosen.again:
        wanted = set(chosen.again.read_text().splitlines())
        sample = [mutant for mutant in every if mutant.shown() in wanted]
    else:
        sample = drawn(every, chosen.sample, chosen.seed)
    judged = set(Path(__file__).with_name("mutants_equal.txt").read_text().splitlines())
    started, survivors, equal = time.monotonic(), 0, 0
    for number, mutant in enumerate(sample, start=1):
        tests = known.tests(mutant, chosen.seconds)
        beside = known.tests_beside(mutant, chosen.seconds)
        if not any(dies(mutant, some, chosen.seconds) for some in (tests, beside)):
            same = unplaced(mutant.shown()) in judged
            equal, survivors = equal + same, survivors + (not same)
            print(
                f"{mutant.shown()}",
                f"    {'judged' if same else len(tests) + len(beside)}",
                sep="\n",
            )
        if number % 20 == 0:
            print(f"    {number} of {len(sample)}, {time.monotonic() - started:.0f} s", flush=True)
    low, high = interval(survivors, len(sample))
    print(f"{len(sample)} of {len(every):,} mutants: {survivors} survive, {equal} more are judged")
    print(f"{100 * survivors / len(sample):.1f} % ({100 * low:.1f} to {100 * high:.1f} %) survive")
    return 0


if __name__ == "__main__":
    sys.exit(main())
