"""What foresight adds to the plan of a running crawl: CPU time and memory.

    python bench/foresight_plan.py [--pages 1000000]

Ten visits of each page are learned, a plan made, a twentieth of the pages visited once more, and a
plan made again, under recrawl's own policy and under foresight, each in a process of its own. Bar:
no more than 1.3 times the time and memory of recrawl's own.
"""

import argparse
import resource
import subprocess
import sys
import time

import numpy as np

from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.control.evidence import Evidence, PlannedPages
from recrawl.crawler.control.revisiting.believed import Believed
from recrawl.crawler.control.revisiting.policies import revisit_policy
from recrawl.crawler.control.revisiting.revisit_policy import Replan

DAY_S, NOW_S, VISITS = 86_400.0, 1_800_000_000.0, 10


def evidence(rows, visits):
    random = np.random.default_rng(rows.size)
    page = np.repeat(np.arange(rows.size), visits)
    changed = random.random(page.size) < 0.25
    nothing = np.full(page.size, np.nan)
    urls = [f"https://site{row // 5_000}.test/{row // 50}/{row}.html" for row in rows.tolist()]
    told = (np.full(page.size, 10.0 * DAY_S), changed, nothing, nothing)
    return Evidence(rows + 1, page, *told, urls)


def plan(policy, n, last_s, now_s):
    nothing, none = np.full(n, np.nan), np.zeros(n, np.int64)
    columns = (np.ones(n), nothing, nothing, nothing, last_s, last_s, nothing)
    pages = PlannedPages(np.arange(1, n + 1), none, *columns)
    policy.replan(Replan(pages, none, np.full(1, np.inf), n / (10 * DAY_S), now_s))


def measure(name, n):
    rules = RevisitRules(min_interval_s=600.0)
    believed = Believed(rules, budget_per_s=1e-4, prior_rate_per_s=1e-6, prior_shape=0.5)
    policy = revisit_policy(name, rules, believed)
    last_s = NOW_S - DAY_S * np.random.default_rng(1).uniform(0.0, 10.0, n)
    spent = []
    some = np.arange(0, n, 20)
    for step, (rows, visits) in enumerate(((np.arange(n), VISITS), (some, VISITS + 1))):
        told = evidence(rows, visits)
        if step:
            last_s[rows] = NOW_S + DAY_S * np.linspace(0.0, 0.5, rows.size)
        started = time.process_time()
        believed.learn(told)
        plan(policy, n, last_s, NOW_S + 0.5 * DAY_S * step)
        spent.append(time.process_time() - started)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"{name}: first plan {spent[0]:.1f} CPU s, the next {spent[1]:.1f}, memory {memory} MiB")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--policy", default="")
    given = parser.parse_args()
    if given.policy:
        measure(given.policy, given.pages)
        return
    for name in ("recrawl", "foresight"):
        own = [sys.executable, __file__, "--pages", str(given.pages), "--policy", name]
        subprocess.run(own, check=True)


if __name__ == "__main__":
    main()
