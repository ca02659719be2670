"""Plans and replays by the workers of a cluster: the same as on one machine, whoever dies."""

import importlib
import importlib.metadata
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.tables.test_many import rates, run, written

import recrawl
from recrawl.api.plan_question import PlanQuestion
from recrawl.api.plan_solution import SolvedPlan
from recrawl.cli import cluster as clusters
from recrawl.cli.app import main
from recrawl.errors import InputError, InvalidTable, StateError
from recrawl.integrations.dask import plans
from recrawl.integrations.dask.replays import DaskReplayer
from recrawl.tables.many import open_page_tables, table_paths

distributed: Any = pytest.importorskip("distributed", reason="recrawl[dask] is not installed")


@pytest.fixture
def client() -> Iterator[Any]:
    """Workers in this process."""
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0"
    )
    with cluster, distributed.Client(cluster) as made:
        yield made


def answering(client: Any) -> list[int]:
    """Processes of the workers, but for those whose death the scheduler has not noticed yet."""
    return list(client.run(os.getpid, on_error="ignore").values())


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
        n_workers=3, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
    )
    killed: list[int] = []

    with cluster, distributed.Client(cluster) as client:
        first = plans._WorkerParts.mapped

        def mapped(parts: Any, function: Any) -> Any:
            if len(killed) < 2:
                pids = answering(client)
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


# -- replays --


class Doubles:
    """Waits twice as long after each visit of any page, up to five days: it remembers."""

    name = "doubles"

    def __init__(self) -> None:
        self.wait_s = 3600.0

    def after_visit(self, visit: recrawl.PageVisit) -> recrawl.NextVisit:
        self.wait_s = min(2.0 * self.wait_s, 432_000.0)
        return recrawl.NextVisit(visit.at_s + self.wait_s, "so it is")

    def replan(self, question: recrawl.Replan) -> None:
        return None


class Locked(Doubles):
    """Cannot be pickled."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()


class Elsewhere(Doubles):
    """Is of a module that workers do not have."""

    def __reduce__(self) -> Any:
        return importlib.import_module, ("not_there",)


def recorded() -> dict[str, list[Any]]:
    """Forty pages of two sites and eight folders over 300 days."""
    draw = np.random.default_rng(3)
    rows: list[tuple[str, float]] = []
    for page in range(40):
        at = draw.uniform(0.0, 300.0, 2 + draw.poisson(300 * draw.gamma(0.6, 0.1)))
        url = f"https://h{page % 2}.test/{page % 8}/{page}"
        rows += [(url, float(86_400.0 * day)) for day in at]
    urls, times = zip(*sorted(rows), strict=True)
    return {"url": list(urls), "changed_at": list(times)}


ASKED: dict[str, Any] = {
    "budgets": ["0.5x", "3x"],
    "resamples": 20,
    "orders": 2,
    "signals": "recall=0.5,precision=0.9",
}


def assert_same(one: recrawl.BacktestReport, other: recrawl.BacktestReport) -> None:
    """To the last bit, in the same order."""
    assert repr(one.table.to_pylist()) == repr(other.table.to_pylist())  # nan is nan
    for mine, theirs in zip(one.compared, other.compared, strict=True):
        assert list(mine.scores) == list(theirs.scores)
        assert set(mine.at_same) == set(theirs.at_same)
        for name, score in mine.scores.items():
            assert np.array_equal(score.resampled, theirs.scores[name].resampled)
            assert np.array_equal(mine.courses[name], theirs.courses[name])
        for name, score in mine.at_same.items():
            assert np.array_equal(score.resampled, theirs.at_same[name].resampled)


@pytest.mark.slow
def test_replays_are_those_of_one_machine(client: Any) -> None:
    """All policies and one's own, with orders and announcements; the report is the same."""
    policies: list[str | recrawl.RevisitPolicy] = [*recrawl.POLICIES, Doubles()]

    here = recrawl.backtest(recorded(), policies=policies, **ASKED)
    there = recrawl.backtest(recorded(), policies=policies, replayer=DaskReplayer(client), **ASKED)

    assert here.table.num_rows == 2 * len(policies)
    assert "doubles" in here.compared[0].at_same
    assert_same(here, there)


def test_a_policy_that_workers_cannot_have_is_named(client: Any) -> None:
    """In one message, whether it cannot be sent or not be imported there."""
    for policy, words in ((Locked(), "doubles cannot be pickled"), (Elsewhere(), "not_there")):
        with pytest.raises(InputError, match=f"policies: .*{words}"):
            recrawl.backtest(recorded(), policies=[policy], replayer=DaskReplayer(client), **ASKED)


def test_what_nobody_waits_for_is_cancelled(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As by Ctrl-C after the first replay."""
    cancelled: list[Any] = []
    cancel = client.cancel

    def noting(futures: Any) -> None:
        cancelled.extend(futures)
        cancel(futures)

    def stop(cell: int, n: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(client, "cancel", noting)
    inner = DaskReplayer(client)

    def replayer(cells: Any, on_progress: Any) -> Any:
        return inner(cells, stop)

    with pytest.raises(KeyboardInterrupt):
        recrawl.backtest(recorded(), replayer=replayer, **ASKED)

    assert len(cancelled) == 2 * 2 * len(recrawl.POLICIES)
    assert {future.status for future in cancelled} == {"cancelled"}


@pytest.mark.slow
@pytest.mark.timeout(300)  # five workers start, one after the other
def test_the_death_of_workers_changes_no_replay() -> None:
    """Neither of one, nor of all at once with what they held."""
    asked: dict[str, Any] = {
        "policies": ["foresight", "nutch", "oracle"],
        "budgets": ["0.5x", "3x"],
    }
    here = recrawl.backtest(recorded(), **asked)
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
    )
    with cluster, distributed.Client(cluster) as client:

        def replayer(cells: Any, on_progress: Any) -> Any:
            seen: list[int] = []

            def kill(cell: int, n: int) -> None:
                if not seen or (len(seen) > 1 and len(killed) < 3):
                    pids = answering(client)
                    for pid in pids[:1] if seen else pids:
                        os.kill(pid, signal.SIGKILL)
                        killed.append(pid)
                seen.append(cell)

            return inner(cells, kill)

        killed: list[int] = []
        inner = DaskReplayer(client)
        there = recrawl.backtest(recorded(), replayer=replayer, **asked)

    assert len(killed) >= 3
    assert_same(here, there)


def test_workers_with_another_recrawl_are_refused() -> None:
    """Their numbers might be others; so are those that have none."""

    class Client:
        def __init__(self, answer: Any) -> None:
            self.answer = answer

        def run(self, *_: Any) -> Any:
            if isinstance(self.answer, Exception):
                raise self.answer
            return self.answer

    for answer, kind, words in (
        ({"a": "0.0.1"}, InputError, "have recrawl 0.0.1, and here is"),
        (importlib.metadata.PackageNotFoundError("recrawl"), InputError, "have recrawl none"),
        ({}, StateError, "has no workers now"),
    ):
        with pytest.raises(kind, match=words):
            clusters._check_workers(Client(answer), "tcp://h:1")


@pytest.mark.slow
def test_a_backtest_by_a_cluster_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The whole report is the same; what is wrong is one message, and nothing is written."""
    table = recorded()
    table["changed_at"] = [f"{np.datetime64(int(at), 's')}Z" for at in table["changed_at"]]
    path = tmp_path / "changes.csv"
    path.write_text("\n".join(map(",".join, [list(table), *zip(*table.values(), strict=True)])))

    def told(*words: str, code: int = 0) -> Any:
        with pytest.raises(SystemExit) as ended:
            main(["backtest", str(path), "--json", "--resamples", "20", *words])
        assert ended.value.code == code
        return capsys.readouterr()

    assert told("--engine", "dask").out == told().out != ""
    for words, said in (
        (("--engine", "dask", "--scheduler", "tcp://127.0.0.1:9"), "does not answer"),
        (("--engine", "dask", "--scheduler", "nowhere://x"), "does not answer"),
        (("--scheduler", "tcp://127.0.0.1:9"), "--engine dask"),
        (("--engine", "dask", "--jobs", "2"), "--jobs: works with --engine local"),
    ):
        plot = tmp_path / "plot.svg"
        shown = told("--plot", str(plot), *words, code=2)
        assert said in shown.err
        assert shown.err.count("recrawl:") == 1
        assert not shown.out
        assert not plot.exists()
