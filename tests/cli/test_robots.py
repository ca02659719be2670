"""The verb ``robots``: its contract, its tables, its pictures, its complaints."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from recrawl.cli import main
from recrawl.fleet import ControlledBuffer, solve_response, solve_robots

BASE = ("robots", "--buffer", "5", "--fetch-rate", "0.1", "--index-rate", "1")
PAPER = (*BASE, "--robots", "16", "--starvation-weight", "1.4")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    """Run the command in this process: exit code, stdout, stderr."""

    def call(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(list(arguments))
        printed = capsys.readouterr()
        return int(ended.value.code or 0), printed.out, printed.err

    return call


def answer(run: Any, *arguments: str) -> dict[str, Any]:
    code, out, err = run(*arguments, "--json")
    assert code == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def complaint(run: Any, *arguments: str) -> str:
    code, out, err = run(*arguments)
    assert code == 2, (code, out, err)
    assert out == ""
    assert err.startswith("recrawl: ")
    assert err.count("\n") == 1, err
    return str(err)


def merged(arguments: tuple[str, ...]) -> list[str]:
    """Give each option once: the last value wins."""
    verb, *rest = arguments
    options: dict[str, str] = {}
    for part in rest:
        if part.startswith("--"):
            name, _, value = part.partition("=")
            options[name] = value
        else:
            options[name] = part
    return [verb, *(f"{name}={value}" for name, value in options.items())]


def test_the_json_contract(run: Any) -> None:
    """The keys that people's scripts live on, with the values of the paper's Figure 3."""
    found = answer(run, *PAPER)

    assert found["static"]["robots"] == 10
    assert found["static"]["cost"] == pytest.approx(0.4)
    dynamic = found["dynamic"]
    assert dynamic["cost"] == pytest.approx(0.2592395960694297, rel=1e-10)
    assert dynamic["starvation"] == pytest.approx(0.11617365404375593, rel=1e-10)
    assert dynamic["loss_rate"] == pytest.approx(0.0965964804081714, rel=1e-10)
    assert dynamic["robots_mean"] == pytest.approx(9.804228263644154, rel=1e-10)
    assert (dynamic["robots_min"], dynamic["robots_max"]) == (4, 15)
    assert dynamic["target"] == [16, 14, 12, 9, 7, 4]
    assert found["gain_percent"] == pytest.approx(54.2974, abs=1e-3)
    assert found["curves"]["arrival"] == [5, 5, 5, 5, 3, 3, 3, 2, 2, 1, 1, 1, 0, 0, -1, -1]
    assert len(found["policy"]["departure"]) == 6
    assert found["certificate"]["residual"] <= 1e-11


def test_the_tables_for_people(run: Any) -> None:
    """Both costs, the gain, the curve as bars, and what to do at each length."""
    code, out, _ = run(*PAPER)

    assert code == 0
    assert "best fixed number" in out
    assert "0.25924" in out
    assert "costs 54.3 % more" in out
    assert "█ 16" in out
    assert "robots to aim for" in out
    assert "all 101 states" in out


def test_any_number_of_robots_and_a_weight_by_default(run: Any) -> None:
    """Without --robots there are enough; without a weight, robots that keep up are right."""
    found = answer(run, *BASE)

    assert found["model"]["starvation_weight"] == pytest.approx(1.4)
    assert found["dynamic"]["target"][0] < found["model"]["robots"]
    assert found["static"]["robots"] == 10


def test_rates_as_people_write_them(run: Any) -> None:
    """6/min is 0.1 per second."""
    found = answer(
        run, "robots", "--buffer", "5", "--fetch-rate", "6/min", "--index-rate", "60/min",
        "--robots", "16", "--starvation-weight", "1.4",
    )  # fmt: skip

    assert found["dynamic"]["cost"] == pytest.approx(0.2592395960694297, rel=1e-10)
    assert found["model"]["unit"] == "s"


def test_a_sweep_over_the_weight(run: Any) -> None:
    """From one end to the other, evenly in proportion."""
    found = answer(run, *BASE, "--sweep", "0.1:10:5")

    weights = [point["starvation_weight"] for point in found["sweep"]]
    assert weights == pytest.approx([0.1, 10**-0.5, 1, 10**0.5, 10])
    assert found["sweep"][0]["dynamic"]["starvation"] > found["sweep"][4]["dynamic"]["starvation"]
    code, out, _ = run(*BASE, "--sweep", "0.1:10:5")
    assert code == 0
    assert "Trade-off" in out


def test_a_simulation_beside_it(run: Any) -> None:
    """The seed makes it repeatable."""
    found = answer(run, *PAPER, "--simulate", "200000", "--seed", "3")

    cost = found["simulation"]["cost"]
    assert abs(cost["mean"] - found["dynamic"]["cost"]) < 2 * cost["half_width"]
    code, out, _ = run(*PAPER, "--simulate", "200000")
    assert code == 0
    assert "200000 simulated events" in out


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_pictures(run: Any, tmp_path: Path, ending: str) -> None:
    """The policy, and with a sweep the trade-off."""
    for extra in ((), ("--sweep", "0.5:5:3")):
        path = tmp_path / f"picture.{ending}"
        code, _, err = run(*PAPER, *extra, "--plot", str(path))
        assert code == 0, err
        assert path.stat().st_size > 5_000


def test_a_large_policy_is_drawn_as_an_area(run: Any, tmp_path: Path) -> None:
    """Thousands of dots would run into each other."""
    path = tmp_path / "large.png"
    code, out, err = run(
        "robots", "--buffer", "80", "--robots", "80", "--fetch-rate", "0.0125",
        "--index-rate", "1", "--plot", str(path),
    )  # fmt: skip

    assert code == 0, err
    assert path.stat().st_size > 5_000
    assert "(40 of 81 lengths)" in out


def test_a_policy_of_ones_own(run: Any, tmp_path: Path) -> None:
    """Targets, or both tables: the optimum given back as tables costs the optimum."""
    targets, tables = tmp_path / "targets.json", tmp_path / "tables.json"
    targets.write_text('{"targets": [10, 10, 10, 10, 10, 10]}')
    best = answer(run, *PAPER)
    tables.write_text(json.dumps(best["policy"]))

    fixed = answer(run, *PAPER, "--policy", str(targets))
    same = answer(run, *PAPER, "--policy", str(tables))

    assert fixed["yours"][0]["cost"] == pytest.approx(0.4)
    assert same["yours"][0]["cost"] == pytest.approx(best["dynamic"]["cost"], rel=1e-12)
    code, out, _ = run(*PAPER, "--policy", str(targets))
    assert code == 0
    assert "Your policy" in out


def test_where_no_curve_is_optimal_the_tables_say_so(run: Any) -> None:
    """The counterexample to the conjecture."""
    arguments = (
        "robots", "--buffer", "2", "--robots", "3", "--fetch-rate", "50", "--index-rate", "1",
        "--starvation-weight", "500", "--holding-cost", "20",
    )  # fmt: skip

    found = answer(run, *arguments)
    code, out, _ = run(*arguments)

    assert found["curves"] is None
    assert found["dynamic"]["cost"] == pytest.approx(500 / 17)
    assert code == 0
    assert "no single curve is optimal" in out


def write_log(path: Path, *, n: int = 800, with_service: bool = True) -> None:
    """Write a log of robots at 0.1 per second, 4 to 16 of them, and an indexer at 1 per second."""
    rng = np.random.default_rng(21)
    robots = rng.integers(4, 17, n)
    times = np.cumsum(rng.exponential(1 / (0.1 * robots)))
    columns: dict[str, Any] = {"arrived_at": 1_700_000_000 + times, "robots": robots}
    if with_service:
        columns["index_seconds"] = rng.exponential(1.0, n)
    if path.suffix == ".parquet":
        parquet.write_table(pa.table(columns), path)
    elif path.suffix == ".csv":
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))
    else:
        rows = [
            dict(zip(columns, map(float, row), strict=True))
            for row in zip(*columns.values(), strict=True)
        ]
        path.write_text("\n".join(json.dumps(row) for row in rows))


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_rates_from_a_log(run: Any, tmp_path: Path, ending: str) -> None:
    """Intervals hold the true rates, and the advice is rated at their ends."""
    log = tmp_path / f"log.{ending}"
    write_log(log)

    found = answer(
        run, "robots", "--buffer", "5", "--robots", "16", "--from-log", str(log),
        "--starvation-weight", "1.4",
    )  # fmt: skip

    assert found["rates"]["fetch"]["low"] <= 0.1 <= found["rates"]["fetch"]["high"]
    assert found["rates"]["index"]["low"] <= 1.0 <= found["rates"]["index"]["high"]
    assert found["rates"]["fetch"]["events"] == 799
    expected = solve_robots(
        ControlledBuffer(
            16, 5, found["rates"]["fetch"]["rate"], found["rates"]["index"]["rate"], 1.4
        )
    )
    assert found["dynamic"]["cost"] == pytest.approx(expected.cost)
    assert len(found["if_wrong"]) == 2
    assert all(-1e-9 < corner["regret_percent"] < 10 for corner in found["if_wrong"])


def test_a_log_for_people(run: Any, tmp_path: Path) -> None:
    """How sure it is, in words; service times may stand in a file of their own."""
    log, service = tmp_path / "log.csv", tmp_path / "service.csv"
    write_log(log, with_service=False)
    service.write_text("index_seconds\n" + "\n".join(["0.5", "1.5", "1.0", "1.0"]))

    code, out, err = run(
        "robots", "--buffer", "5", "--from-log", str(log), "--service-times", str(service)
    )

    assert code == 0, err
    assert "Rates from the log" in out
    assert "95 % interval" in out
    assert "this advice costs at most" in out


def test_a_log_with_dates_and_a_known_indexer(run: Any, tmp_path: Path) -> None:
    """ISO 8601 times, a fixed number of robots, and an index rate from elsewhere."""
    log = tmp_path / "log.csv"
    rows = [f"2026-01-01T00:00:{second:02d}Z" for second in range(0, 60, 5)]
    log.write_text("arrived_at\n" + "\n".join(rows))

    found = answer(
        run, "robots", "--buffer", "5", "--from-log", str(log), "--robots-in-log", "2",
        "--index-rate", "60/min",
    )  # fmt: skip

    assert found["rates"]["fetch"]["rate"] == pytest.approx(0.1)
    assert found["rates"]["index"] is None


def test_classes_of_robots(run: Any) -> None:
    """Two equal classes cost what one of both does; there is no curve."""
    arguments = (
        "robots", "--buffer", "5", "--index-rate", "1", "--classes", "8@0.05,8@0.05",
        "--starvation-weight", "1.4",
    )  # fmt: skip

    found = answer(run, *arguments)
    code, out, _ = run(*arguments)

    assert found["dynamic"]["cost"] == pytest.approx(0.43407645393681665, rel=1e-10)
    assert found["dynamic"]["target"] is None
    assert found["static"]["robots"] == 16
    assert code == 0
    assert "no curve" in out


@pytest.mark.slow
def test_an_environment_and_erlang_indexing(run: Any) -> None:
    """One curve for each phase; the simulator stands beside it."""
    arguments = (
        *BASE, "--robots", "12", "--environment", "0.1,0.2", "--index-phases", "2",
        "--simulate", "50000",
    )  # fmt: skip

    found = answer(run, *arguments)
    code, out, _ = run(*arguments)

    assert np.shape(found["dynamic"]["target_by_phase"]) == (2, 2, 6)
    assert "simulation" in found
    assert code == 0
    assert "environment 2, indexing 2" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*PAPER, "--robots", "0"), "--robots: 0 must be between 1 and"),
        ((*BASE, "--buffer", "0"), "--buffer: 0 must be between 1 and"),
        (("robots", "--buffer", "5", "--index-rate", "1"), "--fetch-rate: missing"),
        (("robots", "--buffer", "5", "--fetch-rate", "1"), "--index-rate: missing"),
        ((*BASE, "--fetch-rate", "0"), "--fetch-rate: must be finite and > 0, got 0"),
        ((*BASE, "--index-rate=-1"), "--index-rate: must be finite and > 0, got -1"),
        ((*BASE, "--index-rate", "inf"), "--index-rate: must be finite and > 0, got inf"),
        ((*BASE, "--index-rate", "fast"), "--index-rate: 'fast' is not a rate"),
        ((*BASE, "--index-rate", "60/min"), "give both with a unit"),
        ((*BASE, "--starvation-weight", "0", "--loss-weight", "0"), "are both 0"),
        ((*BASE, "--starvation-weight=-2"), "--starvation-weight: -2 must be 0, or"),
        ((*BASE, "--loss-weight", "0", "--starvation-weight", "1"), "give the number of robots"),
        ((*BASE, "--holding-cost", "nan"), "--holding-cost: nan must be 0, or"),
        ((*BASE, "--sweep", "1:2"), "--sweep: '1:2' is not first:last:how many"),
        ((*BASE, "--sweep", "0:2:3"), "--sweep: '0:2:3' is not"),
        ((*PAPER, "--simulate", "10"), "--simulate: 10 must be between 3200"),
        ((*PAPER, "--plot", "/nowhere/at/all.png"), "/nowhere/at/all.png: cannot be written"),
        ((*PAPER, "--plot", "policy.doc"), "must end in .png, .svg or .pdf"),
        ((*BASE, "--classes", "8"), "'8' is not count@rate"),
        ((*BASE, "--classes", "0@1"), "'0@1' is not count@rate"),
        ((*PAPER, "--classes", "8@0.1"), "--robots: leave it out"),
        ((*BASE, "--index-phases", "2"), "--robots: give the number"),
        ((*PAPER, "--index-phases", "0"), "--index-phases: 0 must be between 1"),
        ((*PAPER, "--environment", "0.1"), "--environment: '0.1' is not two or more rates"),
        ((*PAPER, "--environment", "0.1,x"), "--environment: '0.1,x' is not two or more rates"),
        ((*PAPER, "--index-phases", "2", "--sweep", "1:2:3"), "--sweep: is for one class"),
        ((*BASE, "--from-log", "none.csv", "--index-rate", "1/s"), "none.csv: cannot be read"),
        ((*PAPER, "--policy", "missing.json"), "missing.json: cannot be read"),
        ((*PAPER, "--response-weight", "-1"), "--response-weight: -1 must be between 1e-30 and"),
        ((*PAPER, "--response-weight", "nan"), "--response-weight: nan must be between 1e-30 and"),
        ((*BASE, "--response-weight", "1"), "--robots: missing; say how many there are"),
        ((*PAPER, "--response-weight", "1", "--sweep", "1:2:3"), "--sweep: is for costs without"),
        ((*PAPER, "--response-weight", "1", "--index-phases", "2"), "--response-weight: is for"),
    ],
)  # fmt: skip
def test_bad_input_is_one_message(run: Any, arguments: tuple[str, ...], message: str) -> None:
    """Exit code 2, what is wrong with its value, nothing on stdout."""
    assert message in complaint(run, *merged(arguments))


def test_response_times_have_a_price(run: Any) -> None:
    """The control of the solver in Python with its certificate, against simulation, in words."""
    model = ControlledBuffer(16, 5, 0.1, 1.0, starvation_weight=1.4)
    same = solve_response(model, 0.1)

    found = answer(run, *PAPER, "--response-weight", "0.1", "--simulate", "200000")

    dynamic, seen = found["dynamic"], found["simulation"]
    assert dynamic["target"] == list(same.optimum.targets) == [15, 13, 10, 8, 5, 3]
    assert dynamic["cost"] == same.cost
    assert found["certificate"]["bound"] == same.bound <= same.cost
    assert found["certificate"]["gap"] < 1e-4
    cost = seen["cost_but_response"]["mean"] + 0.1 * seen["response_time"]["mean"]
    assert cost == pytest.approx(same.cost, rel=0.03)
    assert found["static"]["robots"] == 9
    assert found["gain_percent"] == pytest.approx(25.9, abs=0.1)
    code, out, _ = run(*PAPER, "--response-weight", "0.1")
    assert code == 0
    assert "No control costs less than 0.548919" in out
    assert "Under control a page is indexed 2.779 units of time after it came" in out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is no JSON; write"),
        ('{"target": [1]}', "unknown key 'target'"),
        ("{}", "no arrival; give targets, or both"),
        ('{"targets": [3, 2]}', "targets must name 0..1 robots"),
        ('{"targets": [0, 0, 0]}', "targets has 3 entries"),
        ('{"targets": [0, 1]}', "at least 1 at an empty buffer"),
        ('{"arrival": [[1, 1]], "departure": [[1, 1], [1, 1]]}', "arrival has 1 rows"),
        ('{"arrival": [[1], [1]], "departure": [[1, 1], [1, 1]]}', "arrival, row 0 has 1 entries"),
        ('{"arrival": [[1, 2], [1, 1]], "departure": [[1, 1], [1, 1]]}', "row 0, column 1: 2 is"),
        ('{"arrival": [[1, 1], [1, 1]], "departure": [[1, 1], [0, 1]]}', "departure[1, 0] must be"),
    ],
)
def test_policies_that_make_no_sense(run: Any, tmp_path: Path, content: str, message: str) -> None:
    """A wrong shape, or a policy that would keep the buffer empty for ever."""
    path = tmp_path / "policy.json"
    path.write_text(content)

    text = complaint(
        run, "robots", "--buffer", "1", "--robots", "1", "--fetch-rate", "1", "--index-rate", "1",
        "--policy", str(path),
    )  # fmt: skip

    assert message in text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("arrived_at,robots\n1,1\n2,1\n", "at least 3 arrivals are needed, got 2"),
        ("when,robots\n1,1\n2,1\n3,1\n", "no column arrived_at; the columns are when, robots"),
        ("arrived_at,robots\n1,1\n3,1\n2,1\n", "column arrived_at, row 3: the time is before"),
        ("arrived_at,robots\n1,1\n2,0\n3,1\n", "column robots, row 2: 0 is not a whole number"),
        ("arrived_at,robots\n1,1\n2,1.5\n3,1\n", "column robots, row 2: 1.5 is not a whole"),
        ("arrived_at,robots\n1,1\n,1\n3,1\n", "column arrived_at, row 2: empty or not finite"),
        ("arrived_at,robots\nsoon,1\nlater,1\nnow,1\n", "column arrived_at"),
        ("arrived_at\n1\n2\n3\n", "no column robots"),
        ("arrived_at,robots\n1,1\n2,1\n3,1\n", "nothing says how fast the indexer is"),
        (
            "arrived_at,robots,index_seconds\n1,1,1\n2,1,-1\n3,1,1\n",
            "column index_seconds, row 2: -1 is negative",
        ),
        ("arrived_at,robots\n1,1\n2,1,7\n3,1\n", "row 2: 2 columns are expected"),
    ],
)
def test_logs_that_make_no_sense(run: Any, tmp_path: Path, content: str, message: str) -> None:
    """File, column, row and value are named."""
    path = tmp_path / "log.csv"
    path.write_text(content)

    assert message in complaint(run, "robots", "--buffer", "5", "--from-log", str(path))


def test_a_log_is_in_seconds(run: Any, tmp_path: Path) -> None:
    """A bare index rate has no unit to go with it, and a second fetch rate has no place."""
    path = tmp_path / "log.csv"
    write_log(path)

    assert "give it with a unit" in complaint(
        run, "robots", "--buffer", "5", "--from-log", str(path), "--index-rate", "1"
    )
    assert "--from-log measures it" in complaint(
        run, "robots", "--buffer", "5", "--from-log", str(path), "--fetch-rate", "1/s"
    )


def test_without_matplotlib_the_picture_says_what_to_install(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Matplotlib is an extra."""
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)

    text = complaint(run, *PAPER, "--plot", str(tmp_path / "p.png"))

    assert "pip install 'recrawl[plots]'" in text
