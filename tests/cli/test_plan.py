"""The verb plan: formats, options, JSON contract, files written, and every refusal."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from scipy import optimize

from recrawl.cli import main
from recrawl.freshness import Pages, solve_even_freshness

Run = Callable[..., tuple[int, str, str]]

URLS = [f"https://{host}.example.org/{i}" for i in range(20) for host in ("a", "b", "c")]
CHANGE = np.geomspace(0.01, 30, 60)
WEIGHT = np.linspace(1, 5, 60)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the verb; return exit code, stdout and stderr."""

    def call(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["plan", *map(str, arguments)])
        captured = capsys.readouterr()
        code = ended.value.code
        return (code if isinstance(code, int) else 0), captured.out, captured.err

    return call


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Write a table of sixty pages on three hosts."""
    path = tmp_path / "pages.parquet"
    pq.write_table(pa.table({"url": URLS, "change_rate": CHANGE, "weight": WEIGHT}), path)
    return path


def answer(run: Run, *arguments: object) -> dict[str, Any]:
    """Return the JSON object of a run that must succeed."""
    code, out, err = run(*arguments, "--json")
    assert code == 0, err
    parsed: dict[str, Any] = json.loads(out)
    return parsed


def write_csv(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n")
    return path


def test_json_is_the_plan_of_the_python_api(run: Run, table: Path, tmp_path: Path) -> None:
    """The keys of the contract, per second, and the rates of the table per day."""
    out = tmp_path / "plan.parquet"

    said = answer(run, table, "--budget", "40/d", "--out", out)

    plan = solve_even_freshness(Pages(CHANGE, WEIGHT), 40.0)
    assert {
        *("pages", "budget", "measure", "value", "price", "never_visited", "hosts_at_cap"),
        *("kkt_residual", "duality_gap", "compare"),
    } <= set(said)
    assert said["pages"] == 60
    assert said["budget"] == pytest.approx(40 / 86_400)
    assert said["value"] == pytest.approx(plan.value, rel=1e-9)
    assert said["price"] == pytest.approx(plan.price * 86_400, rel=1e-9)
    assert said["never_visited"] == plan.n_never_visited > 0
    assert said["kkt_residual"] < 1e-8
    assert said["duality_gap"] < 1e-9
    written = pq.read_table(out)
    assert written.column_names == ["url", "change_rate", "weight", "crawl_rate"]
    np.testing.assert_allclose(written["crawl_rate"], plan.crawl_rates, rtol=1e-9, atol=1e-12)


def test_all_formats_say_the_same(run: Run, table: Path, tmp_path: Path) -> None:
    """A format is known by what the file holds, whatever it is called."""
    rows = pq.read_table(table)
    as_csv, as_json = tmp_path / "a.txt", tmp_path / "b.txt"
    pa.csv.write_csv(rows, as_csv)
    as_json.write_text("".join(json.dumps(row) + "\n" for row in rows.to_pylist()))

    said = [
        answer(run, path, "--budget", "40/d", "--host-limit", "12/d")
        for path in (table, as_csv, as_json)
    ]

    assert said[0] == said[1] == said[2]
    assert said[0]["hosts"] == 3
    assert said[0]["hosts_at_cap"] == 3
    assert said[0]["spent"] == pytest.approx(36 / 86_400)


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_rates_are_written_in_every_format(
    run: Run, table: Path, tmp_path: Path, ending: str
) -> None:
    """And a written plan is a table of pages again, whose column crawl_rate is replaced."""
    first, second = tmp_path / f"first.{ending}", tmp_path / f"second.{ending}"

    answer(run, table, "--budget", "40/d", "--out", first)
    answer(run, first, "--budget", "40/d", "--out", second)

    assert first.read_bytes() == second.read_bytes()
    assert not list(tmp_path.glob("*.part"))


def test_unit_applies_to_table_and_answer(run: Run, tmp_path: Path) -> None:
    """The same numbers read per hour: everything per hour scales alike."""
    path = write_csv(tmp_path / "p.csv", "change_rate", "1", "2", "3", "4", "5")

    said = answer(run, path, "--budget", "5/h", "--unit", "h")

    assert said["unit"] == "h"
    assert said["budget"] == pytest.approx(5)
    assert said["price"] == pytest.approx(0.21643182610150274, rel=1e-9)
    assert said["value"] == pytest.approx(0.37388869927439067, rel=1e-9)


@pytest.mark.slow
def test_measures_and_comparisons(run: Run, table: Path) -> None:
    """Staleness complements freshness; no arm beats the plan of its measure."""
    values = {}
    for measure in ("freshness", "staleness", "age", "harmonic"):
        for spacing in ("even", "random"):
            options = ("--measure", measure, "--spacing", spacing)
            said = answer(
                run, table, "--budget", "40/d", *options, "--compare", "uniform,proportional"
            )
            values[measure, spacing] = said["value"]
            best = max if measure == "freshness" else min
            assert best([said["value"], *said["compare"].values()]) == said["value"]

    assert values["freshness", "even"] + values["staleness", "even"] == pytest.approx(1)
    assert values["freshness", "even"] > values["freshness", "random"]


def test_intervals_bound_the_rates(run: Run, table: Path, tmp_path: Path) -> None:
    """For all pages by option, for single ones by column; the tighter holds."""
    rows = pq.read_table(table).append_column("min_interval", pa.array([2.0] + [0.25] * 59))
    path, out = tmp_path / "bounded.parquet", tmp_path / "out.parquet"
    pq.write_table(rows, path)

    options = ("--min-interval", "12h", "--max-interval", "30d")
    answer(run, path, "--budget", "80/d", "--out", out, *options)

    rates = pq.read_table(out)["crawl_rate"].to_numpy()
    assert rates.min() == pytest.approx(1 / 30)
    assert rates[0] <= 0.5
    assert rates.max() == pytest.approx(2.0)


def test_content_that_fades_beside_content_that_changes(run: Run, tmp_path: Path) -> None:
    """News and pages under one price: no other rates bring in more weight times time."""
    news = ("6,2,0.25", "20,1,0.05", "1,1,3")
    rows = ("change_rate,weight,half_life", *news, "0.5,3,", "4,2,")
    path, out = write_csv(tmp_path / "p.csv", *rows), tmp_path / "out.csv"

    said = answer(run, path, "--budget", "8/d", "--unit", "d", "--out", out, "--compare", "uniform")

    rates = pa.csv.read_csv(out)["crawl_rate"].to_numpy()
    items, weights = np.array([6.0, 20.0, 1.0]), np.array([2.0, 1.0, 1.0, 3.0, 2.0])
    decay = np.log(2.0) / np.array([0.25, 0.05, 3.0])

    def had(visits: np.ndarray) -> float:
        """Worth of items and of fresh pages a day, each from its own definition."""
        v = np.maximum(visits, 1e-9)
        of_items = weights[:3] * items / decay * v[:3] / decay * -np.expm1(-decay / v[:3])
        changes = np.array([0.5, 4.0])
        return float(of_items.sum() + weights[3:] @ (v[3:] / changes * -np.expm1(-changes / v[3:])))

    most = float((weights[:3] * items / decay).sum() + weights[3:].sum())
    found = optimize.minimize(
        lambda v: -had(v),
        np.full(5, 1.6),
        bounds=[(1e-9, 8.0)] * 5,
        constraints={"type": "eq", "fun": lambda v: v.sum() - 8.0},
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    assert said["fading"] == 3
    assert said["kkt_residual"] < 1e-9
    assert said["value"] == pytest.approx(had(rates) / most, rel=1e-9)
    assert had(rates) == pytest.approx(-found.fun, rel=1e-7)
    assert had(rates) >= -found.fun * (1 - 1e-12)
    assert said["compare"]["uniform"] == pytest.approx(had(np.full(5, 1.6)) / most, rel=1e-9)
    told = run(path, "--budget", "8/d", "--plot", tmp_path / "p.svg")[1]
    assert "content that fades" in told
    assert "3 pages" in told


def test_a_half_life_for_all_pages_without_one(run: Run, tmp_path: Path) -> None:
    """As an option, in any unit; the column has precedence."""
    bare = write_csv(tmp_path / "bare.csv", "change_rate", "1", "2", "30")
    full = write_csv(tmp_path / "full.csv", "change_rate,half_life", "1,6", "2,6", "30,6")
    part = write_csv(tmp_path / "part.csv", "change_rate,half_life", "1,", "2,6", "30,")
    budget = ("--budget", "5/h", "--unit", "h")

    said = answer(run, full, *budget)

    assert answer(run, bare, *budget, "--half-life", "6h") == said
    assert answer(run, part, *budget, "--half-life", "360min") == said
    stale = answer(run, full, *budget, "--measure", "staleness")
    assert stale["value"] == pytest.approx(1 - said["value"])


@pytest.mark.slow
def test_accesses_are_counted_beside_costs(run: Run, tmp_path: Path) -> None:
    """Robots make accesses; the budget counts what they cost."""
    path = write_csv(tmp_path / "p.csv", "change_rate,fetch_cost", "1,2", "1,2")

    said = answer(run, path, "--budget", "6/d", "--unit", "d")

    assert said["spent"] == pytest.approx(6)
    assert said["accesses"] == pytest.approx(3)


@pytest.mark.parametrize("measure", ["freshness", "staleness", "age", "harmonic"])
def test_trade_off_is_a_table_with_slopes(run: Run, table: Path, measure: str) -> None:
    """The point at the budget itself is the plan, and slopes are derivatives of the values."""
    options = ("--budget", "40/d", "--measure", measure, "--unit", "d", "--trade-off")

    said = answer(run, table, *options)
    text = run(table, *options)[1]

    rows = said["trade_off"]
    middle = rows[len(rows) // 2]
    assert middle["budget"] == pytest.approx(40)
    assert middle["value"] == pytest.approx(said["value"], rel=1e-9)
    assert abs(middle["slope"]) == pytest.approx(said["slope"], rel=1e-6)
    assert (middle["slope"] > 0) == (measure == "freshness")
    assert "40/d" in text


def test_single_host_limits_and_site_limits(run: Run, table: Path) -> None:
    """A host by name, all hosts, and the registrable domain above them."""
    said = answer(
        run, table, "--budget", "40/d", "--host-limit", "20/d",
        *("--host-limit", "a.example.org=1/d", "--site-limit", "30/d"),
    )  # fmt: skip

    hosts = {one["host"]: one["rate"] * 86_400 for one in said["capped_hosts"]}
    assert hosts["https://a.example.org"] == pytest.approx(1.0)
    assert said["spent"] * 86_400 == pytest.approx(30.0)


def test_report_for_people(run: Run, table: Path) -> None:
    """Budget in its own unit, the measure, the price, the share left out, hosts at their limit."""
    code, out, err = run(table, "--budget", "40/d", "--host-limit", "3/d", "--compare", "uniform")

    assert code == 0, err
    for part in ("60 pages on 3 hosts", "40/d", "9/d", "never visited", "3 hosts at their limit"):
        assert part in out
    assert "uniform" in out
    assert "https://a.example.org" in out


@pytest.mark.parametrize("ending", ["svg", "png"])
@pytest.mark.parametrize("measure", ["freshness", "age"])
def test_pictures_are_drawn(
    run: Run, table: Path, tmp_path: Path, ending: str, measure: str
) -> None:
    """A file of the right kind; the content is for eyes."""
    picture = tmp_path / f"plan.{ending}"

    options = ("--measure", measure, "--max-interval", "90d", "--host-limit", "15/d")
    answer(run, table, "--budget", "40/d", "--plot", picture, *options, "--compare", "uniform")

    assert picture.read_bytes()[:5] in (b"<?xml", b"\x89PNG\r")


def test_tables_larger_than_memory_are_spooled(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plan from parts in a temporary file is the plan from memory."""
    rng = np.random.default_rng(2)
    path = tmp_path / "many.parquet"
    columns = {
        "change_rate": rng.lognormal(0, 2, 600_000),
        "host": pa.array([f"h{i}" for i in rng.integers(0, 40, 600_000)]),
    }
    pq.write_table(pa.table(columns), path)
    inside = answer(run, path, "--budget", "200000/d", "--host-limit", "4000/d")

    monkeypatch.setattr("recrawl.tables.spool._IN_MEMORY", 1)
    outside = answer(run, path, "--budget", "200000/d", "--host-limit", "4000/d")

    assert outside == inside
    assert inside["hosts_at_cap"] > 0


BAD_TABLES = [
    (["change_rate", "1", "-2"], "row 2, column change_rate: -2 must be finite and >= 0"),
    (["change_rate", "1", "nan"], "row 2, column change_rate: nan"),
    (["change_rate", "inf"], "row 1, column change_rate: inf"),
    (["change_rate,weight", "1,1", "1,"], "row 2, column weight: the value is missing"),
    (["change_rate,weight", "1,1", "1,x"], "row 2, column weight: 'x' is no number"),
    (["change_rate,weight", "1,0", "1,0"], "column weight: all are 0"),
    (["change_rate,half_life", "1,0"], "row 1, column half_life: 0 must be finite and > 0"),
    (["change_rate,half_life", "0,1"], "what fades is worth its weight times its change_rate"),
    (["change_rate,fetch_cost", "1,0"], "row 1, column fetch_cost: 0 must be finite and > 0"),
    (["change_rate,weight", "1,1", "2"], "row 2: 2 columns are expected"),
    (["rate", "1"], "column change_rate is missing; the columns are rate"),
    (["change_rate"], "0 pages, at least 1 is needed"),
    ([""], "the file is empty"),
    (
        ["change_rate,min_interval,max_interval", "1,3,2"],
        "row 1, column min_interval: the least interval of 259200 s is above the greatest",
    ),
]


@pytest.mark.parametrize(("lines", "message"), BAD_TABLES)
def test_bad_tables_are_refused(run: Run, tmp_path: Path, lines: list[str], message: str) -> None:
    """Exit code 2, one line with row and column, nothing written."""
    path, out = write_csv(tmp_path / "bad.csv", *lines), tmp_path / "out.csv"

    code, said, err = run(path, "--budget", "5/d", "--out", out)

    assert code == 2
    assert message in err
    assert err.count("\n") == 1
    assert not said
    assert not out.exists()


BAD_OPTIONS = [
    (("--budget", "0/h"), "--budget: 0/h must be > 0"),
    (("--budget", "10"), "--budget: '10' is not a rate"),
    (("--budget", "5/d", "--unit", "fortnight"), "--unit: 'fortnight' is no unit of time"),
    (("--budget", "5/d", "--compare", "best"), "--compare: 'best' is unknown"),
    (("--budget", "5/d", "--min-interval", "0d"), "--min-interval: 0d must be > 0"),
    (
        ("--budget", "5/d", "--min-interval", "3d", "--max-interval", "1d"),
        "--min-interval: 3d is above --max-interval, 1d",
    ),
    (("--budget", "5/d", "--half-life", "0h"), "--half-life: 0h must be > 0"),
    (("--budget", "5/d", "--half-life", "soon"), "--half-life: 'soon' is not a duration"),
    (
        ("--budget", "5/d", "--half-life", "6h", "--measure", "age"),
        "--half-life: content that fades is planned for freshness, not for age",
    ),
    (
        ("--budget", "5/d", "--half-life", "6h", "--compare", "proportional"),
        "--compare: proportional is to change rates, of which content that fades has none",
    ),
    (("--budget", "5/d", "--host-limit", "0/d"), "--host-limit: 0/d must be > 0"),
    (("--budget", "5/d", "--host-limit", "x.org=1/d"), "--host-limit: no page is on host x.org"),
    (("--budget", "5/d", "--out", "plan.txt"), "--out: plan.txt must end in"),
    (("--budget", "5/d", "--out", "no/such/plan.csv"), "--out: there is no directory no/such"),
    (("--budget", "5/d", "--plot", "plan.gif"), "--plot: plan.gif must end in"),
    (("--budget", "5/d", "--plot", "no/such/p.svg"), "--plot: there is no directory"),
    (
        ("--budget", "5/d", "--max-interval", "1d"),
        "minimum rates ask for 60/d of the budget, 55/d more than its 5/d",
    ),
    (
        ("--budget", "90/d", "--max-interval", "1d", "--host-limit", "10/d"),
        "ask for 20/d of the limit of host https://a.example.org, 10/d more than its 10/d",
    ),
    (
        ("--budget", "90/d", "--max-interval", "1d", "--site-limit", "50/d"),
        "of the limit of site example.org",
    ),
]


@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS)
def test_bad_options_are_refused(
    run: Run, table: Path, options: tuple[str, ...], message: str
) -> None:
    """Exit code 2 and what would be right."""
    code, said, err = run(table, *options)

    assert code == 2
    assert message in err
    assert not said


def test_files_of_the_wrong_kind_are_refused(run: Run, tmp_path: Path) -> None:
    """Missing, binary, truncated, JSON of another shape, numbers where there are none."""
    cases: list[tuple[bytes, str]] = [
        (b"\x00\x01\x02\x03" * 50, "neither Parquet, CSV nor JSON Lines"),
        (b"PAR1" + b"x" * 100, "not a whole Parquet file"),
        (b'{"change_rate": 1,\n "weight": 2}\n', "row 1: not a JSON object on one line"),
        (b'{"change_rate": 1}\n[1]\n', "row 2: not a JSON object"),
        (b'{"change_rate": 1}\n{"change_rate": "x"}\n', "row 2, column change_rate: 'x'"),
        (b'{"change_rate": 1}\n{"weight": 1}\n', "row 2, column change_rate: the value is missing"),
    ]
    for number, (content, message) in enumerate(cases):
        path = tmp_path / f"{number}.dat"
        path.write_bytes(content)

        code, _, err = run(path, "--budget", "5/d")

        assert code == 2, content
        assert message in err
    code, _, err = run(tmp_path / "none.csv", "--budget", "5/d")
    assert code == 2
    assert "No such file" in err
    texts = tmp_path / "texts.parquet"
    pq.write_table(pa.table({"change_rate": ["a"]}), texts)
    assert "column change_rate holds string, must be numbers" in run(texts, "--budget", "5/d")[2]


def test_host_limits_need_hosts(run: Run, tmp_path: Path) -> None:
    """A column host or url, and URLs that are absolute."""
    plain = write_csv(tmp_path / "plain.csv", "change_rate", "1")
    relative = write_csv(tmp_path / "rel.csv", "change_rate,url", "1,/about")

    assert (
        "host limits need a column host or url"
        in run(plain, "--budget", "5/d", "--host-limit", "1/d")[2]
    )
    assert (
        "row 1, column url: '/about' names no host"
        in run(relative, "--budget", "5/d", "--host-limit", "1/d")[2]
    )


UNIFORM = ["url,change_rate,weight", "http://a/,24,10", "http://b/,2,8", "http://c/,0.02,1"]


def test_a_plan_is_explained_against_uniform_visits(run: Run, tmp_path: Path) -> None:
    """Saved is what the trade-off says: a plan of that budget is as good as uniform."""
    path = write_csv(tmp_path / "p.csv", *UNIFORM)
    got = answer(run, path, "--budget", "10/d", "--unit", "d", "--explain", "--compare", "uniform")
    told = got["explanation"]

    assert told["present"] == "uniform"
    assert told["spent"] == pytest.approx(10)
    assert told["value"] == pytest.approx(got["compare"]["uniform"], rel=1e-9)
    assert (told["more_often"] + told["less_often"] + told["no_more"]) == 3
    assert told["budget_as_good_as_now"] < 10
    enough = f"{told['budget_as_good_as_now']}/d"
    assert answer(run, path, "--budget", enough)["value"] == pytest.approx(told["value"], abs=2e-3)
    gained = 100 * (got["value"] - told["value"])
    assert f"({gained:+.1f} points)" in told["text"]
    assert "of the fetches saved" in told["text"]


@pytest.mark.parametrize(
    ("name", "values"),
    [("rate", [6, 3, 1]), ("interval", [1 / 6, 1 / 3, 1]), ("crawl_rate", [6, 3, 1])],
)
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_the_present_policy_is_a_column_of_the_table(
    run: Run, tmp_path: Path, name: str, values: list[float], form: str
) -> None:
    header, *rows = UNIFORM
    lines = [f"{row},{value!r}" for row, value in zip(rows, values, strict=True)]
    path = write_csv(tmp_path / "p.csv", f"{header},{name}", *lines)
    if form == "parquet":
        path = tmp_path / "p.parquet"
        pq.write_table(pa.csv.read_csv(tmp_path / "p.csv"), path)
    told = answer(run, path, "--budget", "10/d", "--unit", "d", "--explain")["explanation"]
    present = np.array([6.0, 3.0, 1.0]) / [24, 2, 0.02]
    fresh = present * -np.expm1(-1 / present) @ np.array([10, 8, 1]) / 19

    assert told["present"] == name
    assert told["spent"] == pytest.approx(10)
    assert told["value"] == pytest.approx(fresh, rel=1e-6)
    assert f"Instead of the column {name} (10/d)" in told["text"]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["change_rate,interval", "1,0"], "column interval: 0 must be > 0"),
        (["change_rate,rate", "1,-1"], "column rate: -1 must be finite and >= 0"),
        (["change_rate,rate", "1,"], "column rate: the value is missing"),
    ],
)
def test_a_wrong_present_policy_is_refused(
    run: Run, tmp_path: Path, lines: list[str], said: str
) -> None:
    path = write_csv(tmp_path / "p.csv", *lines)
    code, _, err = run(path, "--budget", "1/d", "--explain")

    assert code == 2
    assert said in err


@pytest.mark.parametrize(("rate", "said"), [("0.001", "less than"), ("9999", "more than")])
def test_what_a_present_policy_is_worth_may_lie_beyond_the_trade_off(
    run: Run, tmp_path: Path, rate: str, said: str
) -> None:
    path = write_csv(tmp_path / "p.csv", "change_rate,rate", f"24,{rate}", f"6,{rate}")
    told = answer(run, path, "--budget", "5/d", "--explain")["explanation"]

    assert said in told["text"]
    assert told["budget_as_good_as_now"] is None
