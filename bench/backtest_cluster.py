"""Backtests of real histories on a Dask cluster of two processes, against threads of one process.

    python bench/backtest_cluster.py FOLDER [--names phpdoc,ota_france] [--orders 3]

FOLDER holds page_changes_NAME.parquet and pages_NAME.parquet; where it is absent the bench says so
and ends. All policies at 0.25x, 1x and 4x. Peers in the same run, by the clock: one thread, and two
threads of one process, as `recrawl backtest --jobs 1` and `--jobs 2`. Every worker has replayed
something before, as in a cluster that stands; what starting one took is told beside it.

Bars: the report is the same to the last bit; two processes take at most 0.7 times as long as one
thread.
"""

import argparse
import time
from functools import partial
from pathlib import Path

from distributed import Client, LocalCluster

import recrawl
from recrawl.integrations.dask.replays import DaskReplayer
from recrawl.simulation.cells import replay_here

ROW = "{:12s} {:22s} {:>8s} {:>8s}  {}"


def clocked(call):
    started = time.perf_counter()
    answer = call()
    return answer, time.perf_counter() - started


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--names", default="phpdoc,ota_france")
    parser.add_argument("--orders", type=int, default=3)
    given = parser.parse_args()
    if not given.folder.is_dir():
        print(f"{given.folder} is not here: nothing is measured")
        return

    def backtest(name, replayer, orders=given.orders):
        tables = (given.folder / f"{kind}_{name}.parquet" for kind in ("page_changes", "pages"))
        changes, pages = map(str, tables)
        return recrawl.backtest(changes, pages=pages, orders=orders, replayer=replayer)

    print(ROW.format("history", "who", "seconds", "ratio", "same"))
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    cluster, started = clocked(lambda: LocalCluster(**options))
    with cluster, Client(cluster) as client:
        print(ROW.format("", "a cluster starts", f"{started:.1f}", "", ""))
        dask = DaskReplayer(client)
        who = {
            "one thread": partial(replay_here, jobs=1),
            "two threads": partial(replay_here, jobs=2),
            "two processes": dask,
        }
        for name in given.names.split(","):
            for replayer in (who["one thread"], dask):
                backtest(name, replayer, 1)  # loads what is compiled
            alone, first = None, 0.0
            for called, replayer in who.items():
                found, took = clocked(lambda name=name, r=replayer: backtest(name, r))
                report = repr(found.table.to_pylist())
                alone, first = alone or report, first or took
                ratio, same = f"{took / first:.2f}", "yes" if report == alone else "NO"
                print(ROW.format(name, called, f"{took:.1f}", ratio, same), flush=True)


if __name__ == "__main__":
    main()
