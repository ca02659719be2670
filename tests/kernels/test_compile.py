"""A loop as written finds what it finds as machine code, and small tables need no compiler."""

import copy
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recrawl.cli import main
from recrawl.crawler.control.revisiting.revisits import memories
from recrawl.kernels import compile as loops
from recrawl.kernels import revisit_vectors, revisits
from recrawl.learning.beliefs import RateBeliefs

PAGES = "url,change_rate,weight\n" + "".join(
    f"https://h{i % 3}.org/{i},{0.03 * 1.2**i:.6f},{1 + i % 4}\n" for i in range(30)
)
VISITS = "url,visited_at,changed\n" + "".join(
    f"https://h.org/{i},2026-01-{day + 1:02d}T00:00:00Z,{'true' if (i * day) % 3 else 'false'}\n"
    for i in range(12)
    for day in range(9)
)
PROBES = ["probe", "dbworld", "--probes", "9"]
CALLS: dict[str, list[str]] = {
    **{
        f"plan {measure} {spacing}": [
            *("plan", "pages.csv", "--budget", "40/d", "--host-limit", "18/d"),
            *("--measure", measure, "--spacing", spacing),
        ]
        for measure in ("freshness", "age", "harmonic")
        for spacing in ("even", "random")
    },
    "plan without limits": ["plan", "pages.csv", "--budget", "40/d"],
    "robots": ["robots", "--buffer", "5", "--fetch-rate", "1", "--index-rate", "8"],
    "robots by hand": [
        *("robots", "--buffer", "4", "--fetch-rate", "1", "--index-rate", "3"),
        *("--robots", "5", "--starvation-weight", "2"),
    ],
    "probe": PROBES,
    "probe on a grid": [*PROBES, "--grid", "6h"],
    "probe with a gap": [*PROBES, "--grid", "6h", "--min-gap", "12h"],
    "order": ["order", "plan.csv"],
    "order in a cycle": ["order", "plan.csv", "--cycle", "--length", "120"],
    **{
        f"order {policy}": ["order", "plan.csv", "--policy", policy]
        for policy in (
            "index",
            "regular",
            "golden",
            "random",
            "rings",
            "deadline",
            "webster",
            "whittle",
            "greedy",
            "splits",
        )
    },
    "order politely": ["order", "plan.csv", "--policy", "index", "--host-gap", "10s"],
    "fit changes": ["fit", "changes", "visits.csv"],
}


def _call(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert not ended.value.code


@pytest.mark.slow
@pytest.mark.parametrize("arguments", CALLS.values(), ids=CALLS)
def test_every_loop_agrees_with_its_machine_code(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Both forms get the same arguments at every call; what they return and write is compared."""
    monkeypatch.chdir(tmp_path)
    Path("pages.csv").write_text(PAGES)
    Path("visits.csv").write_text(VISITS)
    _call(["plan", "pages.csv", "--budget", "40/d", "--out", "plan.csv"])
    compared = set()

    def both(loop: loops.Loop, *given: Any) -> Any:
        again = copy.deepcopy(given)
        found = loop.compiled(*given)
        with np.errstate(all="ignore"):
            plainly = loop.plain(*again)
        _assert_alike(plainly, found)
        _assert_alike(again, given)
        compared.add(loop.__name__)
        return found

    monkeypatch.setattr(loops.Loop, "__call__", both)
    _call(arguments)
    assert compared


def _assert_alike(one: Any, other: Any) -> None:
    if isinstance(one, tuple):
        for part, like in zip(one, other, strict=True):
            _assert_alike(part, like)
    elif isinstance(one, np.ndarray) and one.dtype.names:
        for name in one.dtype.names:
            np.testing.assert_allclose(one[name], other[name], rtol=1e-12)
    elif isinstance(one, (np.ndarray, float, int)):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-13)


def test_many_steps_are_compiled_few_are_not() -> None:
    """By the steps of one call, and by those of all calls together."""
    loop = loops.Loop(lambda n: n + 1, float, {})
    loop.__dict__["plain"] = lambda n: "plain"
    loop.__dict__["compiled"] = lambda n: "compiled"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loops, "MANY_STEPS", 100.0)
        assert [loop(100) for _ in range(4)] == ["plain"] * 4
        assert loop(1) == "compiled"  # 401 steps by now


def test_what_is_asked_seldom_is_not_compiled_for_having_been_asked_often() -> None:
    """A call of many steps is, whoever makes it."""
    loop = loops.Loop(lambda n: n + 1, float, {})
    loop.__dict__["plain"] = lambda n: "plain"
    loop.__dict__["compiled"] = lambda n: "compiled"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loops, "MANY_STEPS", 100.0)
        with loops.seldom():
            assert [loop(100) for _ in range(9)] == ["plain"] * 9
            assert loop(101) == "compiled"
        assert loop(1) == "compiled"


def test_what_must_agree_to_the_last_bit_is_compiled() -> None:
    """However few the steps are, and by this thread alone."""
    loop = loops.Loop(lambda n: n + 1, float, {})
    loop.__dict__["plain"] = lambda n: "plain"
    loop.__dict__["compiled"] = lambda n: "compiled"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loops, "MANY_STEPS", 100.0)
        assert loop(1) == "plain"
        with loops.machine_code(), ThreadPoolExecutor(1) as other:
            assert other.submit(loop, 1).result() == "plain"
            assert loop(1) == "compiled"


@pytest.mark.parametrize("name", ["plan", "robots", "probe", "order random", "fit changes"])
def test_small_questions_load_no_compiler(name: str, tmp_path: Path) -> None:
    """Loading it takes longer than answering."""
    (tmp_path / "pages.csv").write_text(PAGES)
    (tmp_path / "visits.csv").write_text(VISITS)
    made = ["plan", "pages.csv", "--budget", "40/d", "--out", "plan.csv"]
    program = (
        "import sys\n"
        "from recrawl.cli import main\n"
        f"for arguments in {[made, CALLS.get(name, made)]!r}:\n"
        "    try:\n"
        "        main(arguments)\n"
        "    except SystemExit as ended:\n"
        "        assert not ended.code\n"
        "assert 'numba' not in sys.modules\n"
    )
    subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL
    )


def test_a_crawl_that_follows_sitemaps_loads_no_compiler() -> None:
    """It takes a plan five seconds, and the crawl 100 MB for good."""
    program = (
        "import sys\n"
        "from recrawl.cli.crawler.demo import SPEED, DemoPlan\n"
        "from recrawl.cli.crawler.stage import OWN, play_virtually\n"
        "from recrawl.simulation.web import DAY_S, WebShape\n"
        "shape = WebShape(n_pages=40, n_hosts=1, days=20.0)\n"
        "budget_per_s = 20.0 * shape.mean_changes_per_day / DAY_S\n"
        "plan = DemoPlan(shape, 1, 14.0, budget_per_s=budget_per_s, epoch_s=0.0, speed=SPEED)\n"
        "assert play_virtually(OWN, plan).fetches > 100\n"
        "assert 'numba' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("bounds", [(0.0, 1e-3, 500.0, 2.0), (1.0, 0.5, 400.0, 0.0)])
def test_beliefs_in_numpy_are_the_compiled_ones(bounds: tuple[float, ...]) -> None:
    """Learning, moments, shares, intervals, worths, over groups of pages with laws of their own."""
    random = np.random.default_rng(0)
    n, n_visits = 300, 2000
    page = random.integers(0, n, n_visits)
    elapsed, changed = random.lognormal(1, 1.5, n_visits), random.random(n_visits) < 0.4
    group = random.integers(0, 3, n)
    rows, found = np.arange(n), []
    for form in (revisit_vectors, revisits):
        beliefs = RateBeliefs(n, prior_rate=0.1, half_lives=memories(10.0))
        beliefs.laws = beliefs.laws[np.zeros(3, np.int64)].copy()
        beliefs.laws[1] *= np.linspace(0.1, 2.0, beliefs.laws.shape[1], dtype=np.float32)
        beliefs.laws[1] /= beliefs.laws[1].sum()
        beliefs.law = group
        mean, square, fresh, given = (np.empty(size) for size in (n, n, n, n_visits))
        tally, classes = np.zeros(beliefs.laws.shape), np.zeros(3)
        form.observe_visits(page, elapsed, changed, elapsed, beliefs.arrays(), given)
        form.fill_moments(rows, beliefs.arrays(), mean, square)
        form.fill_freshness(rows, beliefs.arrays(), np.full(n, 0.1), fresh)
        form.tally_rates(rows, beliefs.arrays(), tally, classes)
        intervals = np.empty((4, n))
        for out, price in zip(intervals, (1e-3, 1.0, 30.0, np.inf), strict=True):
            prices = np.full(n, price)
            start = np.full(n, 10.0)
            form.fill_intervals(rows, prices, start, beliefs.arrays(), np.array(bounds), out)
        worths = np.empty(n)
        form.fill_worth(
            rows, np.geomspace(1e-9, 1e9, n), beliefs.arrays(), np.array(bounds), worths
        )
        found.append((given, mean, square, fresh, tally, classes, intervals, worths))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=5e-6, atol=1e-9)
