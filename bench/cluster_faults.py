"""Several processes on one PostgreSQL through hundreds of faults, one after the other, by chance.

Bar: 500 rounds without a broken promise: no host asked twice at once or sooner than its delay, as
its server saw it; the budget never exceeded by more than the burst; every visit recorded once;
every page owned again within the lease; index equal to what was seen last.

    python bench/cluster_faults.py --rounds 500 [--seed 0]

A round is a kill, a stop beyond the lease, an end of the database by force, a network that is cut,
that swallows everything or that is slow, or a new process whose clock is an hour wrong. Each crawl
has fifty of them, and is examined when it has ended. About five seconds a round.

On a busy machine the server itself is late: it may read a request, and answer it, when its process
was killed, ended its crawl or gave up after the time-out, and the host is politely asked again. The
crawler cannot be blamed for that, so such a request is over, for the two promises on hosts, when it
came, which the kernel tells: see ``tests/acceptance/farm.py``.
"""

import argparse
import itertools
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.acceptance.farm import Farm
from tests.acceptance.faults import FAULTS, endure
from tests.databases import Server
from tests.postgres import postgres

EACH = 50


def main() -> None:
    """Run them, and say what broke."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    started, broken, requests = time.monotonic(), 0, 0
    befell = Counter[str]()
    for number, first in enumerate(range(0, chosen.rounds, EACH)):
        faults = list(itertools.islice(itertools.cycle(FAULTS), min(EACH, chosen.rounds - first)))
        farm = Farm(40, 10, answer_s=0.02)
        try:
            with postgres() as server, tempfile.TemporaryDirectory() as folder:
                endure(farm, Server(server), Path(folder), faults, seed=chosen.seed + number)
        except AssertionError as error:
            broken += 1
            where = traceback.extract_tb(error.__traceback__)[-1]
            print(f"seed {chosen.seed + number}: {error} ({where.line})", flush=True)
        finally:
            farm.close()
        befell.update(faults)
        requests += farm.n_requests()
        print(
            f"{sum(befell.values())} rounds, {requests:,} requests, {broken} crawls with a broken "
            f"promise, {time.monotonic() - started:.0f} s",
            flush=True,
        )
    print(dict(befell))
    sys.exit(broken > 0)


if __name__ == "__main__":
    main()
