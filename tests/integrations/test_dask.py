"""Plans by the workers of a cluster: the same as on one machine, whoever dies."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.tables.test_many import rates, run, written

from recrawl.api.plan_question import PlanQuestion
from recrawl.api.plan_solution import SolvedPlan
from recrawl.errors import InputError, InvalidTable
from recrawl.integrations.dask import plans
from recrawl.tables.many import open_page_tables, table_paths

distributed: Any = pytest.importorskip("distributed", reason="recrawl[dask] is not installed")


@pytest.fixture
def client() -> Iterator[Any]:
    """Workers in this process."""
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
    )
    with cluster, distributed.Client(cluster) as made:
        yield made


def test_the_plan_is_that_of_one_machine(tmp_path: Path, client: Any) -> None:
    """Numbers, certificate and every rate; under every measure."""
    folder = written(tmp_path / "parts", 5)
    paths = table_paths(folder)
    for measure, spacing in (("freshness", "even"), ("age", "random"), ("staleness", "random")):
        out = tmp_path / f"{measure}-{spacing}"
        question = PlanQuestion(budget="70/d", measure=measure, spacing=spacing)
        made = plans.plan_on(client, paths, question)
        assert made.write(out) == sum(40 + number for number in range(5))
        told = ("--measure", measure, "--spacing", spacing, "--out", str(tmp_path / "local"))
        run(str(folder), "--budget", "70/d", *told)
        for path in paths:
            expected = rates(tmp_path / "local" / path.name)
            assert np.allclose(rates(out / path.name), expected, rtol=1e-12, atol=0.0)
        assert made.answer.n_pages == 210
        assert made.answer.kkt_residual < 1e-9
        assert made.answer.spent == pytest.approx(70 / 86_400, rel=1e-9)


def test_content_that_fades(tmp_path: Path, client: Any) -> None:
    """Of all pages by option, or of some by their column; the rates of one machine."""
    path = tmp_path / "p-1.csv"
    path.write_text("change_rate,half_life\n1,\n2,0.5\n")
    other = tmp_path / "p-2.csv"
    other.write_text("change_rate,half_life\n3,\n4,\n")
    for life, n_fading in ((None, 1), ("6h", 4)):
        question = PlanQuestion(budget="3/d", half_life=life)
        made = plans.plan_on(client, [path, other], question)
        with SolvedPlan.of(open_page_tables(tmp_path), question) as solved:
            assert made.answer.n_fading == solved.answer.n_fading == n_fading
            assert made.answer.value == pytest.approx(solved.answer.value, rel=1e-12)


def test_what_is_wrong_is_said_by_whoever_finds_it(tmp_path: Path, client: Any) -> None:
    """With the file and the row; what one machine must see at once is refused."""
    paths = table_paths(written(tmp_path / "parts"))
    with pytest.raises(InputError, match="one machine"):
        plans.plan_on(client, paths, PlanQuestion(budget="1/d", host_limits=("1/d",)))
    with pytest.raises(InputError, match="budget"):
        plans.plan_on(client, paths, PlanQuestion(budget="0/d"))
    pq.write_table(pa.table({"change_rate": [1.0, -1.0]}), paths[1])
    with pytest.raises(InvalidTable, match=r"pages-1.parquet, row 2"):
        plans.plan_on(client, paths, PlanQuestion(budget="1/d"))


@pytest.mark.slow
def test_the_death_of_a_worker_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it held is read again by another, between any two passes."""
    folder = written(tmp_path / "parts", 6)
    paths = table_paths(folder)
    run(str(folder), "--budget", "70/d", "--out", str(tmp_path / "local"))
    cluster = distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None
    )
    killed: list[int] = []

    with cluster, distributed.Client(cluster) as client:
        first = plans._WorkerParts.mapped

        def mapped(parts: Any, function: Any) -> Any:
            pids = list(client.run(os.getpid).values())
            if len(killed) < 2:
                os.kill(pids[0], signal.SIGKILL)
                killed.append(pids[0])
            return first(parts, function)

        monkeypatch.setattr(plans._WorkerParts, "mapped", mapped)
        made = plans.plan_on(client, paths, PlanQuestion(budget="70/d"))
        made.write(tmp_path / "dask")
    assert len(killed) == 2
    for path in paths:
        expected = rates(tmp_path / "local" / path.name)
        assert np.allclose(rates(tmp_path / "dask" / path.name), expected, rtol=1e-12, atol=0.0)


@pytest.mark.slow
def test_the_command_line_starts_a_cluster_or_says_why_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One message, and nothing written."""
    folder = written(tmp_path / "parts")
    run(str(folder), "--budget", "9/d", "--engine", "dask", "--out", str(tmp_path / "out"))
    assert len(list((tmp_path / "out").iterdir())) == 3
    capsys.readouterr()
    for arguments, words in (
        (("--engine", "dask", "--scheduler", "tcp://127.0.0.1:9"), "does not answer"),
        (("--engine", "dask", "--scheduler", "nowhere://x"), "does not answer"),
        (("--scheduler", "tcp://127.0.0.1:9"), "--engine dask"),
        (("--engine", "dask", "--host-limit", "1/d"), "one machine"),
        (("--engine", "dask", "--trade-off"), "local engine"),
    ):
        run(str(folder), "--budget", "9/d", *arguments, code=2)
        assert words in capsys.readouterr().err
