"""``robots MODEL.toml``, ``simulate``, ``fit arrivals``, ``fit service``: contracts, complaints."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recrawl.cli import main
from recrawl.cli.robots.model_file import EXAMPLE
from recrawl.learning.order_two import fit_order_two
from recrawl.processes.batch_arrivals import BatchArrivals


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    """Run the command in this process: exit code, stdout, stderr."""

    def call(*arguments: str | Path) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return int(ended.value.code or 0), printed.out, printed.err

    return call


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.toml"
    path.write_text(EXAMPLE)
    return path


def answer(run: Any, *arguments: str | Path) -> dict[str, Any]:
    code, out, err = run(*arguments, "--json")
    assert code == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def complaint(run: Any, *arguments: str | Path) -> str:
    code, out, err = run(*arguments)
    assert code == 2, (code, out, err)
    assert out == ""
    assert err.startswith("recrawl: ")
    assert err.count("\n") == 1, err
    return str(err)


def test_the_contract_of_robots_with_a_model(run: Any, model: Path) -> None:
    """Best and fixed as promised, and everything that can be asked beside."""
    asked = ("--map", "4,3,1:0,2", "--limit", "loss=0.15", "--limit", "robots_mean=2.5")
    more = ("--front", "loss,starvation", "--study", "service-scv=0.5,2", "--times", "0,1,2")

    found = answer(run, "robots", model, *asked, *more)

    assert found["best"]["cost"] == pytest.approx(63.54254769)
    assert found["best"]["robots_by_length"] == [3, 3, 3, 1, 1, 1]
    assert [found["fixed"][r]["cost"] for r in "1234"] == pytest.approx(
        [149.911519464, 110.009002761, 89.405122202, 130.312471592]
    )
    assert found["proven"]["among_maps"]
    assert found["proven"]["maps"] == "4096"
    assert len(found["subsets"]) == 15
    assert found["full_information"]["cost"] == pytest.approx(53.9179240793)
    assert found["yours"]["cost"] == pytest.approx(67.5207060433)
    assert found["constrained"]["multipliers"]["loss"] > 0
    assert found["constrained"]["multipliers"]["robots_mean"] == 0
    assert found["constrained"]["best"]["loss"] <= 0.15
    assert found["front"][0]["loss"] < found["front"][-1]["loss"]
    assert [row["value"] for row in found["study"]] == [0.5, 2]
    assert found["stays"]["served"][0] == 0


def test_robots_for_people(run: Any, model: Path, tmp_path: Path) -> None:
    """Tables, what is proven, and pictures of each kind."""
    picture = tmp_path / "map.svg"
    asked = ("--limit", "loss=0.15", "--times", "1", "--plot", picture)
    code, out, _ = run("robots", model, "--map", "1*6", *asked)

    assert code == 0
    for part in ("3 robots up to 2 pages, then 1", "the least of all 4,096 maps", "could reach"):
        assert part in out
    assert "Multipliers" in out
    assert picture.stat().st_size > 1000
    for option in (("--study", "capacity=1:3"), ("--front", "loss,starvation")):
        picture.unlink()
        assert run("robots", model, *option, "--plot", picture)[0] == 0
        assert picture.stat().st_size > 1000


def test_the_example_is_written_and_solved(run: Any, tmp_path: Path) -> None:
    """To stdout, or to a file that is not there yet."""
    path = tmp_path / "new.toml"

    assert run("robots", "--example")[1] == EXAMPLE
    assert run("robots", path, "--example")[0] == 0
    assert path.read_text() == EXAMPLE
    assert "exists already" in complaint(run, "robots", path, "--example")


READINGS = {
    "thinning": "[thinning]\nD = [[[-1.0]], [[0.6]], [[0.4]]]\nshares = [0.5, 1.0]\n",
    "crawlers": 'idle = "silent"\n[[crawlers]]\nrate = 0.5\n[[crawlers]]\nrate = 0.5\n',
    "marked": "[marked]\nD0 = [[-1.0]]\nrobots = [[[[0.5]]], [[[0.5]]]]\n",
}
LAWS = {
    "service": "mean = 1.0\nscv = 0.4",
    "erlang": 'kind = "erlang"\nmean = 2\nstages = 2',
    "coxian": 'kind = "coxian"\nrates = [1, 2]\ngo_on = [0.5]',
    "moments": "moments = [1.0, 3.0, 20.0]",
    "hyper": 'kind = "hyperexponential"\nprobabilities = [0.5, 0.5]\nmeans = [1, 3]',
}


@pytest.mark.parametrize("reading", list(READINGS))
@pytest.mark.parametrize("law", list(LAWS))
def test_readings_and_laws(run: Any, tmp_path: Path, reading: str, law: str) -> None:
    """All ways to write arrivals and laws."""
    path = tmp_path / "model.toml"
    head, _, tables = READINGS[reading].partition("[")
    path.write_text(
        f"capacity = 3\n{head}[{tables}[service]\n{LAWS[law]}\n[costs]\nloss = 1\nstarvation = 2\n"
    )

    found = answer(run, "robots", path)

    assert found["best"]["success"] + found["best"]["loss"] == pytest.approx(1)


def test_a_chain_that_is_too_large_and_its_window(run: Any, model: Path) -> None:
    """The message says the size; the window gives an answer with its error."""
    model.write_text(
        "capacity = 30\n[service]\nmean = 1.0\n[obsolescence]\nmean = 5.0\nscv = 4.0\n"
        "[[arrivals]]\nrate = 0.5\n[[arrivals]]\nrate = 1.0\n[costs]\nloss = 5\nstarvation = 2\n"
        "obsolescence = 3\nsojourn = 1\n"
    )

    said = complaint(run, "robots", model)
    code, out, _ = run("robots", model, "--window", "1", "--map", "2*3,1*28")

    assert "states (W = 1, M = 1), which would take" in said
    assert code == 0
    assert "Estimated errors" in out
    assert "--map" in complaint(run, "simulate", model)
    assert run("simulate", model, "--map", "2*3,1*28", "--events", "20000")[0] == 0


@pytest.mark.slow
def test_the_contract_with_a_window(run: Any, model: Path) -> None:
    """The best thresholds of the exponential twin, evaluated with an estimate of the error."""
    text = EXAMPLE.replace("capacity = 5", "capacity = 25")
    model.write_text(text.replace('kind = "exponential"', "scv = 4.0"))

    found = answer(run, "robots", model, "--window", "2")

    assert 0 < found["closed"]["errors"]["cost"] < 1
    assert found["best"]["cost"] < min(one["cost"] for one in found["fixed"].values())


def test_the_contract_of_simulate(run: Any, model: Path, tmp_path: Path) -> None:
    """Theory beside what was seen; four half widths, seed 1."""
    picture = tmp_path / "stays.png"

    found = answer(run, "simulate", model, "--events", "400000", "--seed", "1", "--plot", picture)
    code, out, _ = run("simulate", model, "--map", "4,3,3,1,1,1", "--events", "20000")

    for name, seen in found["simulation"].items():
        assert abs(seen["mean"] - found["theory"][name]) < 4 * seen["half_width"], name
    stays = found["stays"]
    for value, seen in zip(stays["theory"]["served"], stays["served"], strict=True):
        assert abs(seen["mean"] - value) < 4 * seen["half_width"]
    assert picture.stat().st_size > 1000
    assert code == 0
    assert "off by" in out


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("[0, -0.5]]", "[0, -0.6]]", ["arrivals 1", "D_0 + ... + D_2, row 1", "sums to -0.1"]),
        (
            "[0.29, 0.005]",
            "[-0.29, 0.005]",
            ["arrivals 1: D_1, row 1", "must be >= 0, holds -0.29"],
        ),
        ("[[-3, 2], [1, -3]]", "[[-3, 4], [1, -3]]", ["service: generator", "row 0 sums to 1"]),
        ("[0.6, 0.4]", "[0.6, 0.3]", ["service: initial", "sums to 0.9"]),
        ("[0.6, 0.4]", "[1.0, 0.0]\n[oops]\nx = 1", ["oops"]),
        ("capacity = 5", "capacity = 0", ["capacity must be between 1 and 100,000, got 0"]),
        ("capacity = 5", "capcity = 5", ["capcity"]),
        ('"partial"', '"none"', ["admission"]),
        ('"partial"   #', '"reject"\n# ', ["model.toml"]),
        ("[1, 2, 3, 4]", "[1, 3, 2, 4]", ["increasing"]),
        ("mean = 5", "mean = -5", ["obsolescence: mean must be finite and > 0, got -5"]),
        ('kind = "exponential"', 'kind = "erlang"', ["needs mean and stages"]),
        ("loss = 5 ", "loss = -5 ", ["costs.loss", "-5"]),
        ("[[arrivals]]\nD = [[[-2.48", "[[arrivals]]\nrate = 2.0\n#", ["1 phases and the first 2"]),
        ("[costs]", "[thinning]\nD=[[[-1.0]],[[1.0]]]\nshares=[1.0]\n[costs]", ["exactly one"]),
        ("capacity = 5", "capacity = [", ["not valid TOML"]),
    ],
)
def test_bad_models_are_refused(
    run: Any, model: Path, old: str, new: str, words: list[str]
) -> None:
    """Which table, which matrix, which row, by how much."""
    assert old in EXAMPLE
    text = EXAMPLE.replace(old, new, 1)
    if '"reject"' in new:
        text = text.replace("capacity = 5", "capacity = 3")
        words = ["batches of 4 pages come"]
    model.write_text(text)

    said = complaint(run, "robots", model)

    for word in ["model.toml", *words]:
        assert word in said, said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--map", "3,x"), "'x' is no number of robots"),
        (("--map", "3,3"), "2 numbers were given, 0 .. 5 pages need 6"),
        (("--map", "7*6"), "7 robots at 0 pages"),
        (("--map", "4,3,1:2,0"), "thresholds must not decrease, got [2, 0]"),
        (("--map", "1,3:2"), "robots of a threshold rule must decrease"),
        (("--map", "3,1:x"), "is no threshold rule"),
        (("--map", "3,1:9"), "thresholds must be 0 .. 4, got 9"),
        (("--limit", "loss"), "is not measure=value"),
        (("--limit", "speed=1"), "'speed' is no measure"),
        (("--limit", "loss=0.01"), "no map keeps it"),
        (("--front", "loss"), "is not two measures"),
        (("--study", "speed=1"), "cannot be varied"),
        (("--study", "capacity=a:b"), "capacity=1:30"),
        (("--times", "-1"), "is not a list of times"),
        (("--window", "2"), "exact solution is at hand"),
        (("--buffer", "5"), "--buffer: is for a model given by options"),
        (("--plot", "x.gif"), "must end in"),
    ],
)
def test_bad_options_are_refused(
    run: Any, model: Path, arguments: tuple[str, ...], words: str
) -> None:
    """Each with what would be right."""
    assert words in complaint(run, "robots", model, *arguments)


def test_options_that_need_a_file(run: Any, tmp_path: Path) -> None:
    """And a file that is not there."""
    assert "goes with a model file" in complaint(run, "robots", "--buffer", "5", "--map", "1")
    assert "--buffer: missing" in complaint(run, "robots", "--fetch-rate", "1")
    assert "No such file" in complaint(run, "robots", tmp_path / "none.toml")
    assert "between 3200" in complaint(run, "simulate", _example(tmp_path), "--events", "5")


def _example(folder: Path) -> Path:
    path = folder / "model.toml"
    path.write_text(EXAMPLE)
    return path


@pytest.fixture
def log(tmp_path: Path) -> Path:
    truth = fit_order_two(2.0, 4.0, 0.3 * 0.8 ** np.arange(6)).process
    process = BatchArrivals.of(truth, [0.5, 0.5])
    times, sizes = process.sample(4000, np.random.default_rng(5))
    path = tmp_path / "log.csv"
    rows = np.repeat(np.cumsum(times), sizes)
    path.write_text("arrived_at\n" + "\n".join(f"{time:.6f}" for time in rows) + "\n")
    return path


def test_a_log_becomes_a_model(run: Any, log: Path, tmp_path: Path) -> None:
    """The fit is written as TOML that robots reads, for as many robots as wanted."""
    part, picture = tmp_path / "arrivals.toml", tmp_path / "fit.png"

    found = answer(run, "fit", "arrivals", log, "--robots", "1,2", "--out", part, "--plot", picture)

    assert found["method"] == "moments"
    assert found["batch_sizes"] == pytest.approx([0.5, 0.5], abs=0.04)
    assert not found["exponential_will_do"]
    assert picture.stat().st_size > 1000
    both = [BatchArrivals(one["D"]) for one in tomllib.loads(part.read_text())["arrivals"]]
    assert both[1].rate == pytest.approx(2 * both[0].rate)
    assert both[0].rate == pytest.approx(found["rate"])
    model = tmp_path / "model.toml"
    model.write_text(
        "capacity = 8\n" + part.read_text() + "[service]\nmean = 1.0\n[costs]\nloss = 1\n"
    )
    assert answer(run, "robots", model)["best"]["robots_by_length"]


@pytest.mark.slow
def test_a_crawls_own_log_from_end_to_end(run: Any, tmp_path: Path) -> None:
    """Fitted on the first two thirds; what the control promises holds on the rest of the log."""
    whole = (Path(__file__).parents[2] / "docs" / "examples" / "crawl-log.csv").read_text()
    head, *rows = whole.splitlines()
    paths = tmp_path / "first.csv", tmp_path / "rest.csv"
    for path, part in zip(paths, (rows[:4000], rows[4000:]), strict=True):
        path.write_text("\n".join([head, *part]) + "\n")
    parts = tmp_path / "service.toml", tmp_path / "arrivals.toml"
    numbers = ",".join(map(str, range(2, 17, 2)))
    answer(run, "fit", "service", paths[0], "--out", parts[0])
    answer(run, "fit", "arrivals", paths[0], "--robots", numbers, "--out", parts[1])
    model = tmp_path / "model.toml"
    costs = "[costs]\nloss = 1\nstarvation = 1.4\n"
    head = f"capacity = 10\nrobots = [{numbers}]\n"
    model.write_text(head + parts[0].read_text() + parts[1].read_text() + costs)

    found = answer(run, "robots", model, "--replay", paths[1])

    replay = found["replay"]
    fixed, control = replay["arms"]
    assert replay["pages"] == 1999
    assert replay["robots_in_log"] == 7
    assert fixed["robots_by_length"] == [10] * 11
    assert control["robots_by_length"] == found["best"]["robots_by_length"]
    for arm in (fixed, control):
        seen = arm["on_the_log"]["cost"]
        assert abs(seen["mean"] - arm["promised"]["cost"]) < 2 * seen["half_width"]
        assert seen["half_width"] < 0.1
    assert replay["gain_promised_percent"] > 500
    assert replay["gain_on_the_log_percent"] > 300
    code, out, _ = run("robots", model, "--replay", paths[1], "--map", "16*9,2*2")
    assert code == 0
    assert "The log itself: 1,999 pages of 7 robots" in out
    assert "% more by the model" in out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("arrived_at,robots\n1,2\n2,2\n3,2\n", "no column index_seconds, so nothing says"),
        ("arrived_at,robots,seconds\n1,2,1\n2,3,1\n3,2,1\n", "column robots: 2 to 3 robots; a"),
        (
            "arrived_at,robots,seconds\n" + "".join(f"{at},2,1\n" for at in range(20)),
            "log: 19 batches are too few; 320 are needed",
        ),
        ("arrived_at,seconds\n1,1\n2,1\n3,1\n", "no column robots"),
    ],
)
def test_logs_that_cannot_be_replayed(run: Any, tmp_path: Path, content: str, message: str) -> None:
    """One line with file, column and what would be right; obsolescence is not in a log."""
    model, log = tmp_path / "m.toml", tmp_path / "log.csv"
    model.write_text(
        "capacity = 2\n[service]\nmean = 1\n[[arrivals]]\nrate = 1\n[costs]\nloss = 1\n"
    )
    log.write_text(content)

    assert message in complaint(run, "robots", model, "--replay", log)


def test_replays_need_a_model_without_obsolescence(run: Any, model: Path, tmp_path: Path) -> None:
    """And a model at all."""
    assert "--replay: a log does not tell when pages" in complaint(
        run, "robots", model, "--replay", tmp_path / "log.csv"
    )
    assert "--merge: goes with --replay" in complaint(run, "robots", model, "--merge", "50ms")
    assert "--replay: goes with a model file" in complaint(
        run, "robots", "--buffer", "5", "--replay", "log.csv"
    )


def test_a_fit_by_likelihood(run: Any, log: Path) -> None:
    """Structures compared; what is not matched is said; tables for people."""
    found = answer(run, "fit", "arrivals", log, "--method", "likelihood", "--order", "2")
    code, out, _ = run("fit", "arrivals", log, "--method", "likelihood", "--order", "1")

    assert found["candidates"][0]["stages"] == [1, 1]
    assert code == 0
    assert "Not matched: correlations at lags 1" in out
    assert "BIC" in out


def test_service_times(run: Any, tmp_path: Path) -> None:
    """From samples with pictures, from moments scaled, exponential when it will do."""
    table, picture, part = (tmp_path / name for name in ("s.csv", "s.svg", "s.toml"))
    drawn = np.random.default_rng(3).exponential(2.0, 800)
    table.write_text("seconds\n" + "\n".join(f"{x:.9f}" for x in drawn) + "\n")

    found = answer(run, "fit", "service", table, "--order", "2", "--plot", picture, "--out", part)
    scaled = answer(
        run, "fit", "service", "--moments", "49207.0356,2.0527e11,2.5773e18", "--mean", "8.2"
    )
    code, out, _ = run("fit", "service", table, "--order", "1", "--obsolescence")

    assert found["exponential_will_do"]
    assert found["moments"][0] == pytest.approx(drawn.mean())
    assert tomllib.loads(part.read_text())["service"]["initial"] == [1.0]
    assert picture.stat().st_size > 1000
    assert scaled["squared_variation"] == pytest.approx(83.776, abs=5e-4)
    assert scaled["moments"][0] == pytest.approx(8.2)
    assert code == 0
    assert "An exponential law is good enough" in out
    assert "[obsolescence]" in out


@pytest.mark.parametrize(
    ("content", "arguments", "words"),
    [
        ("arrived_at\n", (), "at least 3 arrivals are needed, got 0"),
        ("arrived_at\n1\n3\n2\n", (), "row 3: the time is before that of the row above"),
        ("arrived_at\n1\n2\n3\n", (), "at least 10 times between batches"),
        ("arrived_at,robots\n1,1\n2,1\n3,2\n", (), "1 to 2 robots; a process belongs to one"),
        ("x\n1\n", (), "no column arrived_at"),
        ("arrived_at\n1\n2\n3\n", ("--stop", "soon"), "--stop"),
        ("arrived_at\n1\n2\n3\n", ("--order", "9"), "--order: must be 1 to 6, got 9"),
        ("arrived_at\n1\n2\n3\n", ("--robots", "0"), "list of numbers >= 1"),
    ],
)
def test_bad_logs_are_refused(
    run: Any, tmp_path: Path, content: str, arguments: tuple[str, ...], words: str
) -> None:
    """File, column, row, and what would be right."""
    path = tmp_path / "log.csv"
    path.write_text(content)

    assert words in complaint(run, "fit", "arrivals", path, *arguments)


def test_bad_service_input_is_refused(run: Any, tmp_path: Path) -> None:
    """Each with what would be right; nothing is written."""
    table = tmp_path / "s.csv"
    table.write_text("seconds\n1\n0\n2\n")
    for arguments, words in (
        ((table,), "row 2: a time of 0"),
        ((), "give a table of times, or --moments"),
        (("--moments", "1"), "two or three numbers"),
        (("--moments", "1,0.5"), "--moments: squared variation must be at least 1/200"),
        (("--moments", "1,2", "--mean", "0"), "--mean: must be between 1e-30"),
        (("--moments", "1,2", "--out", "x.txt"), "must end in .toml"),
        (("--moments", "1,2", "--plot", tmp_path / "x.png"), "nothing to compare with"),
        (("--moments", "1,2", "--order", "0"), "--order"),
    ):
        assert words in complaint(run, "fit", "service", *arguments)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.csv"]
    assert not re.search("Traceback", complaint(run, "fit", "service", tmp_path / "none.csv"))
