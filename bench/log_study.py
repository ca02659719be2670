"""The log of a crawl whose robots never stop, for the study of a log from end to end.

The real runtime in virtual time: seven robots that bring a page each in ten seconds, an indexer
whose times are log-normal (mean 1 s, squared variation 3.5), and a buffer that is never full. Of
each page that a robot brings the log holds when, and how long the indexer took over it.

    python bench/log_study.py docs/examples/crawl-log.csv

Bar: the log has 6,000 pages, and the indexer is busy for 0.6 to 0.8 of the time.
"""

import csv
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
from tests.restless import restless_crawl

from recrawl.crawler.control.fleet.activation import FixedRobots
from recrawl.testing import run_virtually

ROBOTS, PAGES, WARM_UP = 7, 6_000, 500


class Noting:
    """Robots that never stop, and when each brought a page."""

    def __init__(self, robots):
        self.fixed, self.now_s, self.arrived = FixedRobots(robots), lambda: 0.0, []

    def activate_on_arrival(self, buffered, active):
        """Note the arrival."""
        self.arrived.append(self.now_s())
        return self.fixed.activate_on_arrival(buffered, active)

    def activate_on_departure(self, buffered, active):
        """Nothing to note."""
        return self.fixed.activate_on_departure(buffered, active)


async def run(policy, seconds):
    """Crawl until there are enough pages."""

    def service_s(random):
        seconds.append(float(random.lognormal(-0.75, np.sqrt(1.5))))
        return seconds[-1]

    virtual = restless_crawl(
        11, n_robots=ROBOTS, buffer=1_000, fetch_s=10.0, service_s=service_s, policy=policy
    )
    policy.now_s = virtual.clock.now_s
    await virtual.crawl.prepare()
    async with virtual.crawl.running():
        while min(len(policy.arrived), len(seconds)) < WARM_UP + PAGES:
            await virtual.clock.sleep_until(virtual.crawl.now_s + 100.0)


def main():
    policy, seconds = Noting(ROBOTS), []
    run_virtually(run(policy, seconds))
    arrived = np.array(policy.arrived[WARM_UP : WARM_UP + PAGES])
    took = np.array(seconds[WARM_UP : WARM_UP + PAGES])
    arrived -= arrived[0]
    busy = took.sum() / arrived[-1]
    print(f"{arrived.size} pages in {arrived[-1]:.0f} s, the indexer busy for {busy:.3f} of it")
    with open(sys.argv[1], "w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("arrived_at", "robots", "index_seconds"))
        rows.writerows(
            (f"{at:.3f}", ROBOTS, f"{s:.3f}") for at, s in zip(arrived, took, strict=True)
        )


if __name__ == "__main__":
    main()
