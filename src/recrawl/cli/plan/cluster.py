"""A plan on a Dask cluster, from the command line."""

from collections.abc import Sequence
from pathlib import Path

from recrawl.api.plan_question import PlanQuestion
from recrawl.api.plan_solution import Answer
from recrawl.cli.cluster import open_cluster
from recrawl.errors import InputError


def plan_with_dask(
    paths: Sequence[Path], question: PlanQuestion, scheduler: str | None, out: Path | None
) -> Answer:
    """Solve a plan on a cluster, and have its workers write the tables.

    Parameters
    ----------
    scheduler : its address; None: a cluster on this machine, as long as this takes
    out : a folder; the file where there is one table
    """
    if out is not None and len(paths) == 1 and out.suffix:
        raise InputError(f"--out: {out} must be a folder: workers write each table under its name")
    with open_cluster(scheduler) as client:
        from recrawl.integrations.dask.plans import plan_on

        solved = plan_on(client, [path.resolve() for path in paths], question)
        if out is not None:
            solved.write(out.resolve())
        return solved.answer
