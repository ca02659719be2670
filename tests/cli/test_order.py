"""The verb order: its JSON contract, policies, files written, and every refusal."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from recrawl.cli import main
from recrawl.freshness import Pages, solve_even_freshness

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the verb; return exit code, stdout and stderr."""

    def call(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["order", *map(str, arguments)])
        captured = capsys.readouterr()
        code = ended.value.code
        return (code if isinstance(code, int) else 0), captured.out, captured.err

    return call


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """Write an optimal plan of forty pages on four hosts, rates a day."""
    change = np.geomspace(0.05, 5, 40)
    rates = solve_even_freshness(Pages(change), 60.0).crawl_rates
    path = tmp_path / "plan.csv"
    lines = ["url,change_rate,crawl_rate"]
    lines += [f"https://h{i % 4}.test/{i},{change[i]},{rates[i]}" for i in range(40)]
    return write(path, *lines)


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n")
    return path


def answer(run: Run, *arguments: object) -> dict[str, Any]:
    """Return the JSON object of a run that must succeed."""
    code, out, err = run(*arguments, "--json")
    assert code == 0, err
    parsed: dict[str, Any] = json.loads(out)
    return parsed


def test_the_keys_of_the_contract(run: Run, plan: Path) -> None:
    """Cost at most a percent above the bound, and as many accesses as asked for."""
    found = answer(run, plan, "--length", 500)

    assert found["policy"] in found["chosen_from"]
    assert len(found["sequence"]) == 500
    assert found["gap"] == pytest.approx(found["cost"] / found["bound"] - 1)
    assert 0 <= found["gap"] < 0.01
    assert found["bound_for"] == "any frequencies"


def test_the_cost_is_what_the_plan_promises(run: Run, plan: Path) -> None:
    """One minus the freshness of the plan, within the gap."""
    fresh = solve_even_freshness(Pages(np.geomspace(0.05, 5, 40)), 60.0).value

    assert answer(run, plan)["cost"] == pytest.approx(1 - fresh, rel=0.01)


@pytest.mark.parametrize(
    "policy", "index golden regular random rings deadline webster whittle".split()
)
def test_each_policy_by_name(run: Run, plan: Path, policy: str) -> None:
    """All pages that have a rate come in time."""
    found = answer(run, plan, "--policy", policy, "--length", 4000)

    assert found["policy"] == policy
    visited = np.bincount(found["sequence"], minlength=40) / 4000
    rates = solve_even_freshness(Pages(np.geomspace(0.05, 5, 40)), 60.0).crawl_rates
    np.testing.assert_allclose(visited, rates / rates.sum(), atol=0.02)


def test_the_optimal_cycle_of_four(run: Run, tmp_path: Path) -> None:
    """Change rates .1 to .4, an access in each unit of time, weights alike: certified."""
    rows = [f"{rate},{rate},{rate}" for rate in (0.1, 0.2, 0.3, 0.4)]
    path = write(tmp_path / "four.csv", "change_rate,crawl_rate,weight", *rows)

    found = answer(run, path, "--policy", "optimal", "--cycle")

    assert found["cost"] == pytest.approx(0.37337825006531133, abs=1e-9)
    assert len(found["sequence"]) == 10
    assert answer(run, path)["policy"] == "optimal"


def test_frequencies_alone_are_enough(run: Run, tmp_path: Path) -> None:
    """Then one change a visit is assumed, and said."""
    path = write(tmp_path / "f.jsonl", '{"frequency": 2}', '{"frequency": 1}', '{"frequency": 1}')

    code, out, _ = run(path)

    assert code == 0
    assert "one change a visit is assumed" in out
    assert "page 0" in out


def test_random_draws_depend_on_the_seed(run: Run, plan: Path) -> None:
    """And on nothing else."""
    one, two, three = (
        answer(run, plan, "--policy", "random", "--seed", seed)["sequence"] for seed in (1, 1, 2)
    )

    assert one == two
    assert one != three


def test_a_cycle_holds_every_page(run: Run, plan: Path) -> None:
    """And its cost is exact: judging it as a given sequence says the same."""
    out = plan.with_name("cycle.csv")
    found = answer(run, plan, "--cycle", "--length", 300, "--out", out)

    assert set(found["sequence"]) == set(range(40))
    assert found["is_cycle"]
    given = answer(run, plan, "--sequence", out)
    assert given["policy"] == "given"
    assert given["cost"] == pytest.approx(found["cost"], rel=1e-12)


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_sequences_are_written_with_urls(run: Run, plan: Path, ending: str) -> None:
    """As the JSON has them; those too long for JSON too."""
    out = plan.with_name(f"order.{ending}")

    found = answer(run, plan, "--length", 200, "--out", out)

    if ending == "jsonl":
        rows = [json.loads(line) for line in out.read_text().splitlines()]
        pages, urls = [row["page"] for row in rows], [row["url"] for row in rows]
    else:
        table = pq.read_table(out) if ending == "parquet" else pyarrow.csv.read_csv(out)
        pages, urls = table["page"].to_pylist(), table["url"].to_pylist()
    assert found["sequence"] == pages
    assert urls == [f"https://h{page % 4}.test/{page}" for page in pages]


def test_long_orders_stay_out_of_the_json(run: Run, plan: Path) -> None:
    """More than 10,000 accesses are written, not printed."""
    out = plan.with_name("long.parquet")

    found = answer(run, plan, "--policy", "index", "--length", 1_100_000, "--out", out)

    assert "sequence" not in found
    assert pq.read_metadata(out).num_rows == 1_100_000


def test_a_host_rests_between_its_accesses(run: Run, plan: Path) -> None:
    """60 accesses a day: a gap of an hour is three slots."""
    order = answer(run, plan, "--host-gap", "1h", "--length", 400)["sequence"]

    for host in range(4):
        assert np.diff(np.flatnonzero(np.array(order) % 4 == host)).min() >= 3


def test_policies_are_compared(run: Run, plan: Path) -> None:
    """With their gap to the bound; random has no worst spacing."""
    compared = answer(run, plan, "--compare")["compare"]

    assert {"index", "golden", "random", "rings", "whittle", "greedy", "splits"} <= set(compared)
    assert compared["index"]["gap"] < compared["golden"]["gap"] < compared["random"]["gap"]
    assert compared["random"]["worst_spacing"] is None
    code, out, _ = run(plan, "--compare")
    assert code == 0
    assert "gap to the bound" in out


def test_greed_says_what_is_proved_of_it(run: Run, plan: Path) -> None:
    """What the best independent draws cost; of no other policy, nor of a cycle cut from it."""
    found = answer(run, plan, "--policy", "greedy", "--compare")

    assert found["bound"] < found["cost"] < 1.02 * found["bound"]
    assert found["cost"] < found["at_most"] <= found["compare"]["random"]["cost"] * (1 + 1e-9)
    assert answer(run, plan, "--policy", "greedy", "--cycle")["at_most"] is None
    assert answer(run, plan, "--policy", "splits")["at_most"] is None
    code, out, _ = run(plan, "--policy", "greedy")
    assert code == 0
    assert f"it is proved to cost in the long run at most {found['at_most']:.6f}" in " ".join(
        out.split()
    )


def test_pictures_are_drawn(run: Run, plan: Path) -> None:
    """Where matplotlib is there."""
    pytest.importorskip("matplotlib")
    picture = plan.with_name("order.svg")

    code, out, _ = run(plan, "--plot", picture)

    assert code == 0
    assert f"picture in {picture}" in out
    assert picture.read_text().startswith("<?xml")


def test_rates_that_are_not_the_best_are_held_to_their_own_bound(run: Run, tmp_path: Path) -> None:
    """Uniform rates lose nothing by the order."""
    rows = [f"{rate},1" for rate in (0.5, 1, 2, 4, 8, 16, 32)]
    path = write(tmp_path / "uniform.csv", "change_rate,crawl_rate", *rows)

    found = answer(run, path)

    assert found["bound_for"] == "these frequencies"
    assert found["gap"] == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        (["crawl_rate", "1", "-2"], [], "row 2, column crawl_rate: -2 must be finite and >= 0"),
        (["crawl_rate", "0", "0"], [], "column crawl_rate: the sum over all pages must be > 0"),
        (["frequency", "x"], [], "row 1, column frequency: 'x' is no number"),
        (["change_rate", "1"], [], "column crawl_rate or frequency is missing"),
        (
            ["crawl_rate", "1", "1", "1"],
            ["--cycle", "--length", "2"],
            "too short to hold each of 3",
        ),
        (["crawl_rate", "1"], ["--length", "0"], "--length: 0 must be between 1 and"),
        (["crawl_rate", "1"], ["--unit", "y!"], "--unit: 'y!' is no unit of time"),
        (["crawl_rate", "1"], ["--host-gap", "5s"], "--host-gap needs a column host or url"),
        (
            ["frequency,host", "1,a"],
            ["--host-gap", "5s"],
            "--host-gap needs a column crawl_rate",
        ),
        (
            ["crawl_rate,host", "1,a"],
            ["--host-gap", "5s", "--policy", "golden"],
            "--host-gap goes with the policies auto and index only",
        ),
        (["crawl_rate,host", "1,a"], ["--host-gap", "0s"], "--host-gap: 0s must be > 0"),
        (["crawl_rate", "1"], ["--out", "order.txt"], "--out: order.txt must end in"),
        (["crawl_rate", "1"], ["--plot", "order.txt"], "--plot: order.txt must end in"),
        (["crawl_rate", "1"], ["--policy", "optimal"], "an order needs at least 2 pages"),
        (["crawl_rate", *["1"] * 20], ["--policy", "optimal"], "over max_states"),
        (["crawl_rate", "1"], ["--policy", "best"], "best"),
        (
            ["crawl_rate", "1"],
            ["--access-time", "gauss"],
            "'gauss' is neither a law",
        ),
        (["crawl_rate", "1"], ["--access-time", "erlang:x"], "'x' must be a number >= 1"),
        (["crawl_rate", "1"], ["--access-time", "erlang:1.5"], "whole number of stages"),
        (["crawl_rate", "1"], ["--access-time", "hyper:0.5"], "'0.5' must be a number >= 1"),
        (["crawl_rate", "1"], ["--state", "x", "--cycle"], "--state keeps an endless order"),
    ],
)
def test_bad_input_ends_with_2_and_one_message(
    run: Run, tmp_path: Path, rows: list[str], options: list[str], message: str
) -> None:
    """Naming the field, the row, the value, and what would be right; nothing is written."""
    path = write(tmp_path / "pages.csv", *rows)

    code, out, err = run(path, *options)

    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err
    assert [path] == list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["page", "0", "7"], "row 2: page 7.0 is unknown; "),
        (
            ["url", "https://h0.test/0", "https://nowhere.test/"],
            "row 2: page https://nowhere.test/",
        ),
        (["slot", "1"], "column page or url is missing"),
        (["page", "0", "-1"], "row 2, column page: -1 must be finite and >= 0"),
    ],
)
def test_sequences_that_name_unknown_pages(
    run: Run, tmp_path: Path, rows: list[str], message: str
) -> None:
    """The row and the page are named."""
    path = write(
        tmp_path / "pages.csv", "url,crawl_rate", "https://h0.test/0,1", "https://b.test/,2"
    )
    given = write(tmp_path / "sequence.csv", *rows)

    code, _, err = run(path, "--sequence", given)

    assert code == 2
    assert message in err


def test_a_sequence_has_its_own_length(run: Run, plan: Path, tmp_path: Path) -> None:
    """Options that contradict each other are refused; an order by names needs names."""
    given = write(tmp_path / "sequence.csv", "page", "1")
    names = write(tmp_path / "names.csv", "url", "a")
    bare = write(tmp_path / "bare.csv", "crawl_rate", "1")

    assert (
        "--length does not go with --sequence" in run(plan, "--sequence", given, "--length", 5)[2]
    )
    assert "has no column url" in run(bare, "--sequence", names)[2]


@pytest.mark.parametrize(
    "options",
    [[], ["--policy", "golden"], ["--policy", "regular"], ["--host-gap", "10min"]],
    ids=["auto", "golden", "regular", "polite"],
)
def test_an_order_goes_on_where_it_was_left(
    run: Run, plan: Path, tmp_path: Path, options: list[str]
) -> None:
    """Two calls with a state give what one gives without."""
    whole = answer(run, plan, "--length", 300, *options)["sequence"]

    state = tmp_path / "order.state"
    parts = [
        answer(run, plan, "--length", length, "--state", state, *options)["sequence"]
        for length in (120, 180)
    ]

    assert parts[0] + parts[1] == whole


def test_a_state_of_other_pages_is_refused(run: Run, plan: Path, tmp_path: Path) -> None:
    """And one of another policy, and what is no state at all."""
    state, other = tmp_path / "order.state", write(tmp_path / "other.csv", "crawl_rate", "1", "2")
    answer(run, plan, "--state", state, "--policy", "golden")

    for arguments, message in [
        ((other, "--state", state), "belongs to other pages or rates"),
        ((plan, "--state", state, "--policy", "index"), "holds an order by --policy golden"),
        ((plan, "--state", other), "holds no order of recrawl's"),
    ]:
        code, out, err = run(*arguments)
        assert (code, out) == (2, "")
        assert message in err


def test_the_law_of_access_times_counts(run: Run, plan: Path, tmp_path: Path) -> None:
    """By convexity a law that varies more costs more, whatever the order (Coffman, 1998)."""
    table = write(tmp_path / "times.csv", "access_time", "1", "1", "1")
    laws = ["constant", "erlang:4", "exponential", "hyper:3"]

    costs = [answer(run, plan, "--policy", "golden", "--access-time", law)["cost"] for law in laws]
    observed = answer(run, plan, "--policy", "golden", "--access-time", table)["cost"]

    assert costs == sorted(costs)
    assert costs[0] < 0.999 * costs[-1]
    assert observed == pytest.approx(costs[0], rel=1e-9)
