"""Every policy on real histories of changes: the table of docs/benchmarks/backtest.md.

    python bench/histories.py FOLDER [--names peps,...] [--budget 0.25x,1x,4x]

FOLDER holds page_changes_NAME.parquet, pages_NAME.parquet and, where there is one,
polls_NAME.parquet. Bars: recrawl at least as fresh as every rule that crawlers ship and every
control arm at equal budget, ahead by 3 points on average, within 2 points of the rate oracle. Rows
of the table go to the standard output as they are found, and what they come to at the end.
"""

import argparse
from collections import defaultdict
from pathlib import Path

import numpy as np

from recrawl.cli.backtest.report import Compared
from recrawl.cli.backtest.verb import _at_the_same, _budget, _replay_all, _test
from recrawl.simulation.backtest import POLICIES
from recrawl.simulation.comparison import resample_pages, score_policy
from recrawl.tables.histories import read_history


def cell(found, name):
    fresh = 100 * found.scores[name].freshness
    if name == "recrawl":
        low, high = (100 * one for one in (found.scores[name].low, found.scores[name].high))
        return f"**{fresh:.1f}** ({low:.1f}..{high:.1f})"
    if name == "clairvoyant":
        return f"{fresh:.1f}"
    ahead = "{:+.1f}: {:+.1f}..{:+.1f}".format(*(100 * part for part in found.ahead(name)))
    return f"{fresh:.1f} ({ahead})"


def compare(record, text, counts):
    test = _test(record, _budget(text, record), 0.5, None)
    replayed = _replay_all(test, POLICIES, 1, lambda n: None)
    scores = {name: score_policy(test, one, counts) for name, one in replayed.items()}
    return Compared(text, test, scores, _at_the_same(test, scores, replayed, counts), {})


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("histories", type=Path)
    parser.add_argument("--names", default="peps,ota_france,bbcfeeds,tosback2,phpdoc")
    parser.add_argument("--budget", default="0.25x,1x,4x")
    given = parser.parse_args()
    print("| history | weights | budget |", " | ".join(POLICIES), "|")
    print("|---|---|--:|" + "--:|" * len(POLICIES))
    ahead = defaultdict(list)
    for name in given.names.split(","):
        files = [given.histories / f"{kind}_{name}.parquet" for kind in ("page_changes", "pages")]
        polls = given.histories / f"polls_{name}.parquet"
        for pareto in (False, True):
            record = read_history(*files, polls if polls.exists() else None, pareto=pareto)
            counts = resample_pages(record.n_pages, 300, 0)
            for text in given.budget.split(","):
                found = compare(record, text, counts)
                start = f"| {name} | {'Pareto' if pareto else 'equal'} | {text} | "
                print(start + " | ".join(cell(found, one) for one in POLICIES), "|", flush=True)
                for one in POLICIES[1:]:
                    ahead[one].append(100 * found.ahead(one)[0])
    print("\n| ahead of |", " | ".join(POLICIES[1:]), "|")
    for title, of in (("on average", np.mean), ("at the worst", np.min)):
        print(f"| {title} |", " | ".join(f"{of(ahead[one]):+.2f}" for one in POLICIES[1:]), "|")


if __name__ == "__main__":
    main()
