"""The verbs `probe` and `fit events`: contract, tables, files, pictures, many sources, refusals."""

import csv
import datetime as dt
import json
import zoneinfo
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recrawl.cli import main
from recrawl.crawler.wiring.zones import local_clock
from recrawl.probing import (
    DBWORLD,
    ProbedSource,
    Profile,
    plan_trips,
    solve_continuous,
    solve_exactly,
    work_hours,
)
from recrawl.tables.event_logs import fit_log, read_event_log

Run = Callable[..., tuple[int, str, str]]
PAPER = ("probe", "dbworld", "--probes", "28", "--period", "4w", "--work-hours", "9-18")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command in this process: exit code, stdout, stderr."""

    def call(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(list(map(str, arguments)))
        printed = capsys.readouterr()
        return int(ended.value.code or 0), printed.out, printed.err

    return call


def answer(run: Run, *arguments: object) -> dict[str, Any]:
    code, out, err = run(*arguments, "--json")
    assert code == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def complaint(run: Run, *arguments: object) -> str:
    code, out, err = run(*arguments)
    assert (code, out) == (2, ""), (code, out, err)
    assert err.startswith("recrawl: ")
    assert err.count("\n") == 1, err
    return err


def events(weeks: int = 30, seed: int = 1, zone: str = "Europe/Paris") -> list[str]:
    """Updates in work hours of a place with summer time, as UTC timestamps."""
    rng = np.random.default_rng(seed)
    where = zoneinfo.ZoneInfo(zone)
    found = []
    first = dt.datetime(2026, 1, 5, tzinfo=where)
    for day in range(7 * weeks):
        rate = 3 if day % 7 < 5 else 0.3
        for _ in range(rng.poisson(rate)):
            at = first + dt.timedelta(days=day, seconds=float(rng.uniform(9, 18)) * 3600)
            found.append(at.astimezone(dt.UTC))
    return [f"{at:%Y-%m-%dT%H:%M:%SZ}" for at in sorted(found)]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "events.csv"
    path.write_text("at\n" + "\n".join(events()) + "\n")
    return path


def test_the_json_contract(run: Run) -> None:
    """The keys that people's scripts live on, with the exact optimum of the paper's pattern."""
    found = answer(run, *PAPER)

    assert found["expected_cost"] == pytest.approx(262397842969 / 3256800000, rel=1e-10)
    assert found["uniform_cost"] == pytest.approx(107.9125, rel=1e-10)
    assert len(found["probes"]) == 28
    assert found["probes"] == sorted(found["probes"])
    assert found["probes"][-1] == 28
    source = ProbedSource(DBWORLD.repeat(4), work_hours(9, 18, 3).repeat(4))
    assert source.cost(found["probes"]) == pytest.approx(found["expected_cost"])
    more = solve_continuous(source, 29).cost
    assert found["price"] == pytest.approx(found["expected_cost"] - more, rel=1e-8)
    assert found["unit"] == "d"
    assert set(found["policies"]) == {"uniform", "threshold", "first_arrival"}
    assert found["above_best_at_most"] < 1e-9


def test_the_tables_for_people(run: Run) -> None:
    """The week as a picture, the policies, what one more would buy, weekday and time."""
    code, out, _ = run(*PAPER)

    assert code == 0
    for part in (
        "28 probes in 28d",
        "importance",
        "first arrival",
        "cost 33.9 % more",
        "One more probe would buy 2.129 d",
        "week 1 Tue 09:47:22",
        "mean delay",
    ):
        assert part in out


def test_a_grid_a_gap_and_fewer(run: Run) -> None:
    """--grid gives the paper's discrete optimum; --min-gap is kept; --at-most may use fewer."""
    hours = answer(run, *PAPER, "--grid", "1h")
    apart = answer(run, *PAPER, "--min-gap", "23h")
    free = answer(run, *PAPER, "--min-gap", "23h", "--at-most")

    assert hours["expected_cost"] == pytest.approx(80.59145833333059, rel=1e-10)
    assert hours["published_bound"] == pytest.approx(26.796875)
    assert hours["sharper_bound"] == pytest.approx(0.52734375)
    assert np.diff(apart["probes"], prepend=0).min() >= 23 / 24 - 1e-9
    assert apart["expected_cost"] >= hours["expected_cost"] - 0.1
    assert len(free["probes"]) <= 28


def test_number_by_interval_and_by_budget(run: Run) -> None:
    """Once a day is 28 in four weeks, and so are 7 a week."""
    rest = PAPER[4:]
    for option in (("--every", "1d"), ("--budget", "7/w")):
        found = answer(run, "probe", "dbworld", *option, *rest)
        assert len(found["probes"]) == 28


def test_the_start_of_the_period(run: Run) -> None:
    """From Sunday the optimum differs, as computed elsewhere; a date gives its weekday."""
    by_day = answer(run, *PAPER, "--start", "sun")
    by_date = answer(run, *PAPER, "--start", "2026-01-11")

    assert by_day["expected_cost"] == pytest.approx(79.881069316503, rel=1e-9)
    assert by_date["expected_cost"] == pytest.approx(by_day["expected_cost"], rel=1e-12)
    assert by_day["local_times"][-1].endswith("Sun 00:00:00")


def test_a_log_is_learned_and_probed(run: Run, log: Path) -> None:
    """Probes fall into the work hours of the zone, and beat uniform ones."""
    found = answer(run, "probe", log, "--probes", "10", "--tz", "Europe/Paris")

    assert found["expected_cost"] < 0.8 * found["uniform_cost"]
    assert "learned from" in found["learned"]
    assert found["unit"] == "s"
    assert found["period"] == 604_800


def test_summer_time_is_heeded(log: Path) -> None:
    """On the clock of the place the pattern does not move in March; on UTC it does."""
    (one,) = read_event_log(log)

    there, _ = fit_log(one, "Europe/Paris")
    elsewhere, _ = fit_log(one, "UTC")

    assert there.rates[8] < 0.2 * there.rates[10]
    assert elsewhere.rates[7] > 0.2 * elsewhere.rates[10]


def test_the_clock_knows_skipped_and_repeated_hours() -> None:
    """In 2026 Paris skips 2 h on 29 March and repeats 2 h on 25 October."""
    zone = zoneinfo.ZoneInfo("Europe/Paris")
    first = dt.datetime(2026, 1, 5, tzinfo=zone).timestamp()
    last = dt.datetime(2026, 12, 28, tzinfo=zone).timestamp()

    observed, _ = local_clock(zone, first, last).observed(first, last)

    assert observed.sum() == pytest.approx(last - first)
    sundays = observed[:, 6 * 24 + 2] / 3600
    assert sorted(set(np.round(sundays[:-1], 6))) == [0.0, 1.0, 2.0]


def test_fit_writes_what_probe_reads(run: Run, log: Path, tmp_path: Path) -> None:
    """The same schedule from the pattern file as from the log."""
    path = tmp_path / "pattern.json"
    fitted = answer(run, "fit", "events", log, "--tz", "Europe/Paris", "--out", path)

    by_file = answer(run, "probe", path, "--probes", "9")
    by_log = answer(run, "probe", log, "--probes", "9", "--tz", "Europe/Paris")

    assert by_file["time_zone"] == "Europe/Paris"
    assert by_file["probes"] == pytest.approx(by_log["probes"])
    assert len(fitted["intensity"]) == 168
    assert 0.5 < fitted["dispersion_week"] < 2
    code, out, _ = run("fit", "events", log, "--tz", "Europe/Paris")
    assert code == 0
    assert "Variance over mean" in out
    assert "best models" in out


def test_results_of_probes_are_a_log_too(run: Run, tmp_path: Path) -> None:
    """Binary answers give a pattern, for both verbs."""
    path = tmp_path / "probes.csv"
    rows = ["probed_at,changed"]
    for hour in range(0, 24 * 7 * 20, 2):
        at = dt.datetime(2026, 1, 5, tzinfo=dt.UTC) + dt.timedelta(hours=hour)
        rows.append(f"{at:%Y-%m-%dT%H:%M:%SZ},{'true' if 10 <= at.hour <= 18 else 'false'}")
    path.write_text("\n".join(rows) + "\n")

    fitted = answer(run, "fit", "events", path)
    found = answer(run, "probe", path, "--probes", "14")

    rates = np.array(fitted["intensity"]).reshape(7, 24).mean(axis=0)
    assert rates[12] > 10 * rates[3]
    assert found["expected_cost"] < found["uniform_cost"]
    assert run("fit", "events", path)[0] == 0


def test_patterns_by_hand(run: Run, tmp_path: Path) -> None:
    """TOML with its own unit, importance and linear pieces; equals the Python call."""
    path = tmp_path / "p.toml"
    path.write_text(
        'unit = "h"\nshape = "linear"\nbreaks = [0, 12, 24]\nintensity = [0.1, 2, 0.1]\n'
        "importance = [1, 3, 1]\n"
    )

    found = answer(run, "probe", path, "--probes", "5", "--period", "2d")

    assert found["period"] == 48
    assert found["unit"] == "h"
    assert found["expected_cost"] < found["uniform_cost"]


def test_files_other_programs_obey(run: Run, tmp_path: Path) -> None:
    """JSON, CSV, a calendar that repeats, crontab lines to the minute."""
    base = ("probe", "dbworld", "--probes", "7", "--work-hours", "9-18", "--tz", "Europe/Paris")
    for ending in ("json", "csv", "ics", "cron"):
        assert run(*base, "--out", tmp_path / f"s.{ending}")[0] == 0

    written = json.loads((tmp_path / "s.json").read_text())
    rows = list(csv.DictReader((tmp_path / "s.csv").read_text().splitlines()))
    calendar = (tmp_path / "s.ics").read_text()
    crontab = (tmp_path / "s.cron").read_text().splitlines()

    assert len(written["probes"]) == len(rows) == 7
    assert float(rows[-1]["seconds_from_start"]) == 604_800
    assert calendar.count("RRULE:FREQ=DAILY;INTERVAL=7") == 7
    assert "DTSTART;TZID=Europe/Paris:2026" in calendar
    assert "CRON_TZ=Europe/Paris" in crontab
    assert "0 0 * * 1 recrawl-probe dbworld" in crontab  # the end is the next Monday 0:00
    assert "crontab lines can express" in complaint(run, *PAPER, "--out", tmp_path / "s4.cron")


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_pictures(run: Run, tmp_path: Path, ending: str) -> None:
    """Both functions with the probes, and cost against the number for all policies."""
    path = tmp_path / f"picture.{ending}"

    assert run(*PAPER, "--plot", path)[0] == 0

    assert path.stat().st_size > 20_000


def patterns(path: Path, **columns: object) -> Path:
    rng = np.random.default_rng(0)
    rates = rng.gamma(1.0, 1.0, (6, 168)) * np.arange(1, 7)[:, None]
    table: dict[str, object] = {
        "source": [f"feed-{i}" for i in range(6)],
        "intensity": pa.array(list(rates)),
        "host": ["a", "a", "a", "b", "b", "b"],
        "weight": [1.0] * 6,
    }
    pq.write_table(pa.table(table | columns), path)
    return path


def test_many_sources_share_a_budget(run: Run, tmp_path: Path) -> None:
    """From a table of patterns, streamed: spent where it gains most, within limits."""
    path = patterns(tmp_path / "p.parquet", min_gap=[3600.0] * 6, max_probes=[40] * 6)

    found = answer(run, "probe", path, "--budget", "90/w", "--out", tmp_path / "s.csv")
    capped = answer(run, "probe", path, "--budget", "90/w", "--host-limit", "30/w")

    assert sum(found["probes"].values()) == found["spent"] == 90
    assert found["expected_cost"] < found["uniform_cost"]
    assert found["probes"]["feed-5"] > found["probes"]["feed-0"]
    assert found["integrality_gap"] < 1e-9
    assert len((tmp_path / "s.csv").read_text().splitlines()) == 91
    assert sum(capped["probes"][f"feed-{i}"] for i in (3, 4, 5)) == 30
    assert capped["hosts_at_limit"] == ["a", "b"]
    code, out, _ = run("probe", path, "--probes", "15")
    assert code == 0
    assert "6 sources, 90 of 90 probes" in out


@pytest.mark.slow
def test_sources_that_share_trips(run: Run, tmp_path: Path) -> None:
    """The plan of the solver in Python, with its certificate; cheaper than trips for each alone."""
    path = patterns(tmp_path / "p.parquet", weight=[1.0, 2.0, 1.0, 1.0, 1.0, 1.0])
    costs = ("--trip-cost", "20h", "--probe-cost", "4h", "--work-hours", "9-18")

    found = answer(run, "probe", path, *costs, "--out", tmp_path / "t.csv")

    rates = np.array(pq.read_table(path)["intensity"].to_pylist()) / 86_400.0
    rates[1] *= 2.0
    hours = np.arange(169) * 3600.0
    worth = work_hours(9, 18, 3.0, day=86_400.0)
    sources = [ProbedSource(Profile.steps(hours, one), worth) for one in rates]
    same = plan_trips(sources, hours, 72_000.0, 14_400.0)
    assert found["cost"] == pytest.approx(same.cost, rel=1e-9)
    assert found["bound"] <= found["cost"] < found["cost_of_trips_for_each_alone"]
    assert found["gap"] < 0.01
    assert found["trips"][-1]["at"] == found["period"] == 604_800.0
    assert len(found["trips"][-1]["probed"]) == 6
    rows = [line.split(",") for line in (tmp_path / "t.csv").read_text().splitlines()[1:]]
    assert len(rows) == sum(found["probes"].values())
    assert {float(row[2]) for row in rows} == {trip["at"] for trip in found["trips"]}
    code, out, _ = run("probe", path, *costs)
    assert code == 0
    assert f"{len(found['trips'])} trips to 6 sources in 7d" in out
    assert "Sun 24:00" in out
    assert "Trips for each source alone cost" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--probe-cost", "1h"), "--probe-cost: goes with --trip-cost"),
        (("--trip-cost", "2h", "--probes", "4"), "--probes: leave it out, --trip-cost decides"),
        (("--trip-cost", "2h", "--min-gap", "2h"), "--min-gap: leave it out, --trip-cost decides"),
        (("--trip-cost", "0h"), "--trip-cost: must be > 0 where probes cost nothing, such as 2h"),
        (("--trip-cost", "soon"), "--trip-cost: 'soon' is not a duration"),
        (("--trip-cost", "2h", "--grid", "5min"), "--grid: 2016 times for 6 sources are too many"),
        (
            ("--trip-cost", "2h", "--out", "x.ics"),
            "--out: x.ics must end in .parquet, .csv, .jsonl",
        ),
        (("--trip-cost", "2h", "--plot", "x.png"), "--plot and --start are for one source"),
    ],
)
def test_trips_that_make_no_sense(
    run: Run, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    """Exit code 2, one line with the option, the value and what would be right."""
    assert said in complaint(run, "probe", str(patterns(tmp_path / "p.parquet")), *arguments)


def test_trips_know_of_no_gaps_and_of_no_single_source(run: Run, tmp_path: Path) -> None:
    """A gap that the grid does not keep by itself, and a printed pattern."""
    path = patterns(tmp_path / "p.parquet", min_gap=[0.0, 0.0, 9000.0, 0.0, 0.0, 0.0])

    assert "min_gap of 'feed-2': longer than the grid of 1h" in complaint(
        run, "probe", str(path), "--trip-cost", "2h"
    )
    assert "--trip-cost: is for tables of several sources" in complaint(
        run, "probe", "dbworld", "--trip-cost", "2h"
    )


def test_several_sources_in_one_log(run: Run, tmp_path: Path) -> None:
    """Each is learned; one can be named."""
    path = tmp_path / "logs.csv"
    lines = ["source,at"]
    for name, weeks in (("busy", 20), ("calm", 6)):
        lines += [f"{name},{at}" for at in events(weeks, seed=weeks)]
    path.write_text("\n".join(lines) + "\n")

    found = answer(run, "probe", path, "--every", "12h")
    one = answer(run, "probe", path, "--name", "calm", "--probes", "5")

    assert set(found["probes"]) == {"busy", "calm"}
    assert found["spent"] == 28
    assert len(one["probes"]) == 5


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "give one of --probes 40"),
        (("--probes", "0"), "--probes: 0 probes in one period; at least 1"),
        (("--probes", "4", "--every", "6h"), "give one of"),
        (("--every", "0h"), "--every: must be > 0"),
        (("--probes", "9", "--min-gap", "1d"), "the largest possible number is 7"),
        (("--probes", "9", "--min-gap", "8d"), "gap must lie in 0 .. 7"),
        (("--probes", "9", "--period", "10d"), "whole number of times the period"),
        (("--probes", "9", "--tz", "Mars/Olympus"), "'Mars/Olympus' is not a known time zone"),
        (("--probes", "9", "--work-hours", "18-9"), "must lie in 0-24 and go forward"),
        (("--probes", "9", "--work-hours", "nine"), "is not a span of hours"),
        (("--probes", "9", "--preference", "3"), "also say --work-hours"),
        (("--probes", "9", "--work-hours", "9-18", "--preference", "-1"), "between 0 and 1e12"),
        (("--probes", "9", "--start", "someday"), "neither a weekday"),
        (("--probes", "9", "--start", "wed 25:00"), "neither a weekday"),
        (("--probes", "9", "--grid", "11h"), "does not divide the period"),
        (("--probes", "200", "--grid", "1h"), "the largest possible number is 168"),
        (("--probes", "9", "--out", "x.txt"), "must end in .json, .csv"),
        (("--probes", "9", "--plot", "x.txt"), "must end in .png"),
        (("--probes", "9", "--host-limit", "3/d"), "for tables of several sources"),
    ],
)
def test_wrong_options_are_refused(run: Run, arguments: tuple[str, ...], said: str) -> None:
    """Exit code 2, one line with the option, the value and what would be right."""
    assert said in complaint(run, "probe", "dbworld", *arguments)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is empty"),
        ("at\n", "holds no event"),
        ("at\n2026-01-05T09:00:00Z\n2026-01-04T09:00:00Z\n", "row 2: the time is before"),
        (
            "at\n2026-01-05T09:00:00\n2026-01-06T09:00:00\n",
            "row 1: 2026-01-05 09:00:00 has no time",
        ),
        ("at\n2026-01-05\n", "has no time zone"),
        ("at\nyesterday\n", "has no time zone"),
        ("when,what\na,b\n", "no column at with timestamps; the columns are when, what"),
        ("at\n2026-01-05T09:00:00Z\n", "a rate needs a longer record"),
        ("at\n2026-01-05T09:00:00Z\n\n", "longer record"),
        ("probed_at,changed\n2026-01-05T09:00:00Z,true\n", "at least 10 probes"),
        (
            "url,probed_at,changed\n/a,2026-01-05T09:00:00Z,true\n/b,2026-01-05T10:00:00Z,true\n",
            "has 2 sources; probes of one are needed",
        ),
        ('{"intensity": [1, -2], "breaks": [0, 1, 2]}', "value of piece 1"),
        ('{"intensity": [1, 2], "breaks": [0, 1]}', "one value"),
        ('{"intensity": 3, "breaks": [0, 1]}', "intensity must be a list"),
        ('{"intensity": [0], "breaks": [0, 1]}', "intensity is zero everywhere"),
        (
            '{"intensity": [1], "breaks": [0, 1], "importance": [0]}',
            "importance is zero everywhere",
        ),
        ('{"intensity": [1], "breaks": [0, 1], "unit": "parsec"}', "unit must be one of"),
        ('{"intensity": [1], "breaks": [0, 1], "time_zone": "X/Y"}', "not a known time zone"),
        ('{"intensity": [1,', "no JSON object with a pattern"),
    ],
)
def test_wrong_sources_are_refused(run: Run, tmp_path: Path, content: str, said: str) -> None:
    """The message names the file, the row and the value."""
    path = tmp_path / ("bad.json" if content.startswith("{") else "bad.csv")
    path.write_text(content)

    assert said in complaint(run, "probe", path, "--probes", "3")
    if not content.startswith("{"):
        assert said in complaint(run, "fit", "events", path)


def test_no_file_and_no_such_source(run: Run, log: Path, tmp_path: Path) -> None:
    """The printed patterns are named for whoever mistypes."""
    assert "dbworld, micronet" in complaint(run, "probe", tmp_path / "none.csv", "--probes", "3")
    assert "no column source" in complaint(run, "probe", log, "--name", "x", "--probes", "3")
    assert ".json" in complaint(run, "fit", "events", log, "--out", tmp_path / "x.csv")


def test_wrong_tables_of_patterns_are_refused(run: Run, tmp_path: Path) -> None:
    """Row, column and value."""
    rates = np.ones((6, 168))
    rates[3, 5] = -1
    bad = patterns(tmp_path / "a.parquet", intensity=pa.array(list(rates)))
    short = patterns(tmp_path / "b.parquet", intensity=pa.array([[1.0]] * 6))
    weight = patterns(tmp_path / "c.parquet", weight=[1.0, 0.0, 1, 1, 1, 1])
    good = patterns(tmp_path / "d.parquet")

    assert "row 4, column intensity: hour 5 is -1" in complaint(run, "probe", bad, "--probes", "9")
    assert "has 1 values" in complaint(run, "probe", short, "--probes", "9")
    assert "row 2, column weight: 0" in complaint(run, "probe", weight, "--probes", "9")
    assert "less than one for each of 6" in complaint(run, "probe", good, "--budget", "5/w")
    assert "whole weeks" in complaint(run, "probe", good, "--probes", "9", "--period", "3d")
    assert "--threads" in complaint(run, "probe", good, "--probes", "9", "--threads", "0")
    assert "written as .csv" in complaint(run, "probe", good, "--probes", "9", "--out", "x.ics")
    assert "for one source" in complaint(run, "probe", good, "--probes", "9", "--plot", "x.png")


def test_the_same_in_python(run: Run) -> None:
    """The verb is a few calls of the public interface."""
    source = ProbedSource(DBWORLD, work_hours(9, 18, 2))

    found = answer(run, "probe", "dbworld", "--probes", "12", "--work-hours", "9-18",
                   "--preference", "2", "--grid", "30min")  # fmt: skip

    assert found["probes"] == pytest.approx(solve_exactly(source, 12, 336).probes.tolist())
