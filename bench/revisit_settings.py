"""Which settings of the revisit control predict best, chosen on some pages and judged on others.

    python bench/revisit_settings.py HISTORIES [--names peps,...] [--visits-per-change 0.25,1,4]

HISTORIES is a folder with page_changes_NAME.parquet and pages_NAME.parquet. The pages of each
history are split at random into a choosing and a reporting half. Every page is visited at even
intervals (so that no policy chooses what is seen), the beliefs predict each visit before they are
told of it, and settings are compared by the mean logarithm of the chance that they gave to what
was found, in nats a visit, over the second half of the time. The setting with the best mean over
the choosing halves is starred; the figures of the reporting halves had no part in that.
No freshness is looked at. Bar: the shipped setting is within 0.005 nats of the best on both halves.
"""

import argparse
from itertools import pairwise
from pathlib import Path

import numpy as np

import recrawl.learning.beliefs as module
from recrawl.learning.beliefs import RateBeliefs
from recrawl.tables.histories import history_of

SHIPPED = "never, 14, 1.4; 10 pages"
LIVES = {
    "never": (),
    "never, 28": (28.0,),
    "never, 7": (7.0,),
    "never, 56, 7": (56.0, 7.0),
    "never, 28, 3": (28.0, 3.0),
    "never, 14, 1.4": (14.0, 1.4),
    "never, 28, 1": (28.0, 1.0),
    "never, 48, 12, 3": (48.0, 12.0, 3.0),
}
PARENTS = (3.0, 10.0, 30.0, 100.0)


def even_visits(history, pages, budget, seed=0):
    """Page, instant, elapsed, changed of visits at even intervals, in the order of time."""
    pace, random = history.n_pages / budget, np.random.default_rng(seed)
    columns = [[], [], [], []]
    for place, i in enumerate(pages):
        born, end = history.observed_from[i], min(history.gone_at[i], history.end)
        at = np.arange(born + pace * random.uniform(0.05, 1.0), end, pace)
        known = history.changed_at[history.first[i] : history.first[i + 1]]
        edges = np.concatenate([[born], at])
        found = np.diff(np.searchsorted(known, edges, side="right")) > 0
        for column, one in zip(columns, (at * 0 + place, at, np.diff(edges), found), strict=True):
            column.append(one)
    page, at, elapsed, changed = (np.concatenate(column) for column in columns)
    order = np.argsort(at, kind="stable")
    return page[order].astype(np.int64), at[order], elapsed[order], changed[order], pace


def predicted(history, pages, visits, lives, parent, epochs=40):
    """Mean log chance given to what visits of the second half of the time found."""
    page, at, elapsed, changed, pace = visits
    module._PARENT_PAGES = parent
    beliefs = RateBeliefs(
        pages.size, prior_rate=1.0 / pace, half_lives=(np.inf, *(pace * life for life in lives))
    )
    groups = [history.hosts[pages], history.paths[pages]]
    logs, edges = np.empty(page.size), np.linspace(0, page.size, epochs + 1).astype(int)
    known = np.zeros(pages.size, np.bool_)
    for a, b in pairwise(edges):
        logs[a:b] = np.log(beliefs.observe(page[a:b], elapsed[a:b], changed[a:b]))
        known[page[a:b]] = True
        beliefs.learn(np.flatnonzero(known), groups)
    return float(logs[at >= 0.5 * (history.start + history.end)].mean())


def settings():
    for name, lives in LIVES.items():
        yield f"{name}; 30 pages", lives, 30.0
    for name in ("never, 28, 3", "never, 14, 1.4"):
        for parent in PARENTS:
            if parent != 30.0:
                yield f"{name}; {parent:.0f} pages", LIVES[name], parent


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("histories", type=Path)
    parser.add_argument("--names", default="peps,ota_france,tosback2,phpdoc")
    parser.add_argument("--visits-per-change", default="0.25,1,4")
    given = parser.parse_args()
    table, cases = {name: ([], []) for name, _, _ in settings()}, []
    for name in given.names.split(","):
        folder = given.histories
        history = history_of(
            folder / f"page_changes_{name}.parquet", folder / f"pages_{name}.parquet"
        )
        mixed = np.random.default_rng(0).permutation(history.n_pages)
        halves = np.array_split(mixed, 2)
        for text in given.visits_per_change.split(","):
            cases.append(f"{name} {text}x")
            for half, pages in enumerate(halves):
                visits = even_visits(history, pages, float(text) * history.change_rate)
                for setting, lives, parent in settings():
                    one = predicted(history, pages, visits, lives, parent)
                    table[setting][half].append(one)
    best = max(table, key=lambda setting: np.mean(table[setting][0]))
    print("half-lives in intervals; strength of the law around a group. Nats a visit: choosing")
    print("half / reporting half, and the reporting halves one by one:", ", ".join(cases))
    for setting, (chosen, judged) in table.items():
        mark = "*" if setting == best else ("shipped" if setting == SHIPPED else "")
        each = " ".join(f"{one:.4f}" for one in judged)
        print(f"{setting:28s} {np.mean(chosen):.4f} / {np.mean(judged):.4f}  {each}  {mark}")


if __name__ == "__main__":
    main()
