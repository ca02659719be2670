"""``reproduce eckstein-figures``: the paper's comparison on traces of people's own."""

from pathlib import Path

import numpy as np
import pytest

from recrawl.cli import main
from recrawl.probing import solve_continuous
from recrawl.reproductions.eckstein import learn_and_keep
from recrawl.reproductions.eckstein_figures import compare_on, figures
from recrawl.tables.event_logs import EventLog

TRACES = Path(__file__).resolve().parents[3] / "shared" / "data" / "event_traces.parquet"
WEEK_S, MONDAY_S = 604_800.0, 1_768_176_000.0  # 2026-01-12


def working_week(weeks: int, seed: int) -> np.ndarray:
    """Twelve updates an hour in working hours, one in ten hours else: Poisson, on a UTC clock."""
    random = np.random.default_rng(seed)
    hour = np.arange(weeks * 168)
    busy = (hour % 168 < 120) & (hour % 24 >= 9) & (hour % 24 < 18)
    counts = random.poisson(np.where(busy, 12.0, 0.1))
    at = np.repeat(hour, counts) * 3600.0 + random.uniform(0, 3600.0, counts.sum())
    return MONDAY_S + np.sort(at)


def test_a_poisson_source_costs_what_is_expected() -> None:
    """Sixty weeks of one pattern: actual within 10 % of expected, in the order of the paper."""
    log = EventLog(Path("x.csv"), "x", working_week(60, 1))
    source, events, weeks = learn_and_keep(log)

    for n in (7, 28):
        found = compare_on(source, events, weeks, n)
        best, doe = solve_continuous(source, n).cost, found["DOE"]
        assert weeks == pytest.approx(18, abs=0.1)
        for one in found.values():
            assert one.actual == pytest.approx(one.expected, rel=0.1)
            assert one.actual_improved == pytest.approx(one.improved, rel=0.1)
            assert best * (1 - 1e-9) <= one.improved <= one.expected * (1 + 1e-12)
            assert doe.expected <= one.expected * (1 + 1e-3)
        assert doe.improved == pytest.approx(best, rel=1e-3)
        assert found["uniform"].actual > 1.05 * doe.actual
        assert found["uniform"].moves > 0


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace.csv"
    rows = [f"news,{np.datetime64(int(at), 's')}Z" for at in working_week(8, 2)]
    path.write_text("\n".join(["trace,at", *rows]) + "\n")
    return path


def test_rows_remarks_and_pictures(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three rows a trace; what the paper says beside how often it is so here; eight panels."""
    picture = tmp_path / "figures.svg"
    with pytest.raises(SystemExit) as ended:
        main(["reproduce", "eckstein-figures", "--data", str(trace), "--plot", str(picture)])
    told = capsys.readouterr().out

    assert not ended.value.code
    for words in ("on DBWorld DOE 'still outperforms", "Here in 3 of 3", "news, 70"):
        assert words in " ".join(told.split())
    drawn = picture.read_text()
    assert drawn.count('id="axes_') == 8
    assert all(f"<!-- Figure {number}" in drawn for number in (1, 2, 3, 6, 7, 9, 10, 11))


def test_without_a_trace_it_says_what_it_needs(capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2 and one line."""
    with pytest.raises(SystemExit) as ended:
        main(["reproduce", "eckstein-figures"])

    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "--data: eckstein-figures needs a table of updates with the columns trace and at" in said


@pytest.mark.slow
@pytest.mark.skipif(not TRACES.exists(), reason="recorded traces lie beside the checkout")
def test_what_the_page_says_of_recorded_traces() -> None:
    """Seven traces, three numbers of probes: how often what the paper says is so."""
    found = figures(TRACES)
    page = (Path(__file__).parents[2] / "docs" / "benchmarks" / "probing.md").read_text()

    assert len(found.rows) == 21
    shares = ("11 of 21", "7 of 21", "5 of 21", "21 of 21", "21 of 21")
    for remark, words in zip(found.remarks[1:], shares, strict=True):
        assert words in remark
        assert words in page
