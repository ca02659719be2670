"""`recrawl backtest`, `recrawl history` and `recrawl fit changes`, from files to answers."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from recrawl.cli.app import main

# Recorded histories lie beside the checkout, where there are any.
DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
TOLD = "url,visited_at,changed\n"


def stamp(days: float) -> str:
    return f"{np.datetime64('2026-01-01T00:00:00') + np.timedelta64(int(days * 86_400), 's')}Z"


@pytest.fixture
def changes(tmp_path: Path) -> Path:
    """Thirty pages of two sites over 200 days, those of one site quicker."""
    random = np.random.default_rng(1)
    rows = ["url,changed_at,weight"]
    for page in range(30):
        host = page % 2
        n = 1 + random.poisson((0.02, 0.2)[host] * 200)
        url, weight = f"https://h{host}.test/a/{page}", 1 + page % 3
        rows += [f"{url},{stamp(at)},{weight}" for at in np.sort(random.uniform(0, 200, n))]
    path = tmp_path / "changes.csv"
    path.write_text("\n".join(rows))
    return path


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    shown = capsys.readouterr()
    return int(str(ended.value.code)), shown.out, shown.err


@pytest.mark.slow
def test_a_backtest_has_the_keys_that_scripts_rely_on(
    changes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All policies, with intervals; and a picture."""
    plot = tmp_path / "plot.svg"
    code, out, _ = run(
        capsys, "backtest", changes, "--budget", "3/d", "--json", "--plot", plot, "--jobs", 1
    )

    answer = json.loads(out)
    assert code == 0
    assert answer["history"] == str(changes)
    assert [one["budget"] for one in answer["budgets"]] == ["3/d"]
    names = {
        "recrawl",
        "foresight",
        "uniform",
        "proportional",
        "nutch",
        "stormcrawler",
        "news-crawl",
    }
    names |= {"miniflux", "lambdacrawl", "oracle", "clairvoyant"}
    for one in answer["budgets"]:
        assert set(one["policies"]) == names
        for policy in one["policies"].values():
            assert 0 <= policy["low"] <= policy["freshness"] <= policy["high"] <= 1
            assert {"mean_age", "fetches", "wasted", "changes_seen"} <= set(policy)
        assert "reference_at_its_fetches" in one["policies"]["nutch"]
    assert plot.stat().st_size > 1000


def test_a_history_in_parts_is_the_whole(
    changes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By their folder or a pattern; parts with other columns are named."""
    first, *rows = changes.read_text().splitlines()
    parts = tmp_path / "parts"
    parts.mkdir()
    for number, some in enumerate((rows[:90], rows[90:200], rows[200:])):
        (parts / f"c-{number}.csv").write_text("\n".join([first, *some]))
    asked = ("--policies", "nutch,recrawl", "--budget", "0.5x,1x", "--resamples", 20, "--json")

    answers = [
        run(capsys, "backtest", path, *asked) for path in (changes, parts, parts / "c-*.csv")
    ]

    assert [code for code, _, _ in answers] == [0, 0, 0]
    whole, *others = [json.loads(out)["budgets"] for _, out, _ in answers]
    assert others == [whole, whole]
    assert list(whole[0]["policies"]) == ["nutch", "recrawl"]
    (parts / "c-3.csv").write_text("page,changed_at\n")
    code, _, err = run(capsys, "backtest", parts)
    assert code == 2
    assert "c-3.csv: the columns are page, changed_at; in" in err
    (parts / "c-3.csv").write_text(f"{first}\n1,2,x\n")
    assert "a column has other types" in run(capsys, "backtest", parts)[2]


@pytest.mark.slow
def test_a_backtest_is_told_to_people(changes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tables with units; a host limit and Pareto weights are obeyed."""
    code, out, err = run(
        capsys, "backtest", changes, "--budget", "0.5x", "--policies", "uniform", "--weights",
        "pareto", "--host-limit", "2/d",
    )  # fmt: skip

    assert code == 0, err
    assert "budget 0.5x" in out
    assert "foresight ahead by, points" in out


def test_a_git_repository_becomes_a_history(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each file a page: an addition is no change, an edit is, a removal ends the page."""
    repo = tmp_path / "repo"
    repo.mkdir()

    def git(*words: str, at: str = "2026-01-01T00:00:00Z") -> None:
        who = {
            f"GIT_{role}_{part}": "x@y.z"
            for role in ("AUTHOR", "COMMITTER")
            for part in ("NAME", "EMAIL")
        }
        environment = {
            **who,
            "GIT_AUTHOR_DATE": at,
            "GIT_COMMITTER_DATE": at,
            "PATH": "/usr/bin:/bin:/usr/local/bin",
        }
        subprocess.run(
            ["git", "-C", str(repo), *words], check=True, env=environment, capture_output=True
        )

    git("init", "-q")
    for number, (name, text) in enumerate(
        [("a.md", "1"), ("a.md", "2"), ("b.md", "1"), ("c.txt", "1"), ("a.md", "3"), ("b.md", "")]
    ):
        if text:
            (repo / name).write_text(text)
        else:
            (repo / name).unlink()
        git("add", "-A")
        git("commit", "-qm", str(number), at=f"2026-01-0{number + 1}T00:00:00Z")
    (repo / "link.md").symlink_to("a.md")
    (repo / "with\ttab.md").write_text("1")
    git("add", "-A")
    git("commit", "-qm", "odd", at="2026-01-07T00:00:00Z")
    out, pages = tmp_path / "h.csv", tmp_path / "p.csv"

    code, shown, err = run(
        capsys, "history", "from-git", repo, "*.md", "--out", out, "--pages", pages
    )

    assert code == 0, err
    assert "2 changes of 2 files" in shown
    assert err.startswith("2 changes are left out: of links, submodules, and names that no ")
    lines = out.read_text().replace('"', "").splitlines()
    assert lines[0] == "page,changed_at"
    assert [line.partition(",")[0] for line in lines[1:]] == ["a.md", "a.md"]
    assert lines[1].startswith("a.md,2026-01-02")
    assert sum("false" in line for line in pages.read_text().splitlines()) == 1


def test_recall_is_learned_from_pages_that_differ(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Half of the changes are signalled, and visited at once: silent ones show on slow pages."""
    random = np.random.default_rng(3)
    rows = ["url,visited_at,changed,signals"]
    for page, rate in enumerate(np.exp(1.5 * random.standard_normal(80))):
        at = 0.0
        for _ in range(20):
            told = random.exponential(2.0 / rate)
            gap = min(told, random.uniform(2.0, 8.0)) + 0.01
            at += gap
            n = int(told < gap)
            changed = n or random.random() < -np.expm1(-0.5 * rate * gap)
            rows.append(f"https://h.test/{page},{stamp(at)},{str(bool(changed)).lower()},{n}")
    visits = tmp_path / "visits.csv"
    visits.write_text("\n".join(rows))

    code, shown, err = run(capsys, "fit", "changes", visits, "--json")

    assert code == 0, err
    assert json.loads(shown)["signals"]["signals"]["recall"] == pytest.approx(0.5, abs=0.06)


def test_change_rates_are_learned_from_visits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With signals of two sources: the truthful one is weighed, the noisy one is not."""
    random = np.random.default_rng(2)
    rows = ["url,visited_at,changed,signals,source"]
    rates = random.gamma(1.0, 0.2, 40) + 0.01
    for page, rate in enumerate(rates):
        at = 0.0
        for _ in range(60):
            gap = random.exponential(2.0) + 0.1
            at += gap
            n = random.poisson(rate * gap)
            good = page % 2 == 0
            signals = n if good else random.poisson(0.3 * gap)
            source = "sitemap" if good else "feed"
            rows.append(
                f"https://h.test/{page},{stamp(at)},{str(n > 0).lower()},{signals},{source}"
            )
    visits, out = tmp_path / "visits.csv", tmp_path / "rates.csv"
    visits.write_text("\n".join(rows))

    code, shown, err = run(capsys, "fit", "changes", visits, "--json", "--out", out)

    answer = json.loads(shown)
    assert code == 0, err
    found = np.array([answer["rates"][f"https://h.test/{page}"] for page in range(40)])
    z = np.log(found / rates) / np.log(
        [answer["error_factors"][f"https://h.test/{page}"] for page in range(40)]
    )
    assert np.sum(np.abs(z) < 2) >= 33
    bounds = np.array([answer["intervals"][f"https://h.test/{page}"] for page in range(40)])
    assert np.sum((bounds[:, 0] <= rates) & (rates <= bounds[:, 1])) >= 35
    assert answer["signals"]["sitemap"]["precision"] > 0.9
    assert answer["signals"]["feed"]["precision"] < 0.3
    assert out.read_text().startswith('"url","change_rate","rate_low","rate_high"')
    code, shown, err = run(capsys, "plan", out, "--budget", "10/d", "--json")
    assert code == 0, err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("page,changed_at\n", "holds no change at all"),
        (
            "page,when\na,2026-01-01T00:00:00Z\n",
            "changed_at is missing; the columns are page, when",
        ),
        ("name,changed_at\na,2026-01-01T00:00:00Z\n", "column page or url is missing"),
        ("page,changed_at\na,2026-01-01T00:00:00\n", "has no time zone"),
        ("page,changed_at,weight\na,2026-01-01T00:00:00Z,-1\n", "must be finite and >= 0"),
        ("page,changed_at\na,2026-01-01T00:00:00Z\na,2026-02-01T00:00:00Z\n", "too few to compare"),
        ("", "is empty"),
    ],
)
def test_a_wrong_history_is_told_what_would_be_right(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One message, exit code 2, nothing on stdout."""
    path = tmp_path / "h.csv"
    path.write_text(text)

    code, out, err = run(capsys, "backtest", path)

    assert code == 2
    assert message in err
    assert err.count("recrawl:") == 1
    assert not out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--budget", "0x"], "write 500/d, or 0.5x"),
        (["--budget", "many"], "is not a rate"),
        (["--budget", "1e12x"], "more than can be replayed; 1e+08 at most"),
        (["--policies", "best"], "is none of foresight, recrawl, uniform"),
        (["--learning", "1"], "must lie in (0, 1)"),
        (["--resamples", "1"], "between 20 and"),
        (["--orders", "0"], "--orders: 0 must be between 1 and"),
        (["--plot", "x.gif"], "must end in"),
        (["--signals", "recall=2"], "--signals: recall must lie in [0, 1]"),
        (["--signals", "precision=1"], "--signals: recall is missing"),
        (["--signals", "none.csv"], "none.csv"),
        (["--signals", "recall=1,every=1m"], "read them less often"),
    ],
)
def test_a_wrong_option_is_named(
    words: list[str], message: str, changes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before any work is done."""
    code, _, err = run(capsys, "backtest", changes, *words)

    assert code == 2
    assert message in err


@pytest.mark.parametrize(
    ("pages", "message"),
    [
        ("url,observed_from\nx,2026-01-01T00:00:00Z\n", "column observed_until is missing"),
        (
            "url,observed_from,observed_until\nx,2026-01-01T00:00:00Z,2026-09-01T00:00:00Z\n",
            "is not in",
        ),
        (
            "url,observed_from,observed_until\nx,2026-01-02T00:00:00Z,2026-01-01T00:00:00Z\n",
            "observed_until is before observed_from",
        ),
        (
            "url,observed_from,observed_until\n"
            + 2 * "x,2026-01-01T00:00:00Z,2026-01-02T00:00:00Z\n",
            "row 2: page 'x' is there twice",
        ),
    ],
)
def test_a_wrong_table_of_pages_is_named(
    pages: str, message: str, changes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With its row."""
    path = tmp_path / "pages.csv"
    path.write_text(pages)

    code, _, err = run(capsys, "backtest", changes, "--pages", path)

    assert code == 2
    assert message in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            TOLD + "a,2026-01-02T00:00:00Z,true\na,2026-01-01T00:00:00Z,true\n",
            "row 2: the visit is before",
        ),
        (TOLD + "a,2026-01-02T00:00:00Z,true\na,2026-01-02T00:00:00Z,true\n", "at the same time"),
        (TOLD + "a,2096-01-02T00:00:00Z,true\n", "is in the future"),
        (TOLD + "a,2026-01-02T00:00:00Z,perhaps\n", "must be true or false"),
        (TOLD + "a,2026-01-02T00:00:00Z,true\n", "visited twice"),
        (
            TOLD + "a,2026-01-02T00:00:00Z,true\na,2026-01-03T00:00:00Z,false\n",
            "no visit found a change",
        ),
        ("url,visited_at\na,2026-01-02T00:00:00Z\n", "column changed is missing"),
        ("at,visited_at,changed\na,2026-01-02T00:00:00Z,true\n", "column url or page is missing"),
    ],
)
def test_wrong_visits_are_told_what_would_be_right(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Out of order, twice, in the future, unreadable, or saying nothing."""
    path = tmp_path / "visits.csv"
    path.write_text(text)

    code, _, err = run(capsys, "fit", "changes", path)

    assert code == 2
    assert message in err


def test_a_repository_that_is_none_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Missing, or not a repository."""
    assert "no such directory" in run(capsys, "history", "from-git", tmp_path / "x")[2]
    code, _, err = run(capsys, "history", "from-git", tmp_path)
    assert code == 2
    assert "git says" in err


@pytest.mark.slow
@pytest.mark.skipif(not DATA.exists(), reason="the real histories are not here")
@pytest.mark.parametrize("name", ["ota_france", "tosback2"])
def test_on_real_histories_learning_beats_uniform_visits(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """At the total change rate, beyond the interval over pages."""
    code, out, err = run(
        capsys, "backtest", DATA / f"page_changes_{name}.parquet", "--pages",
        DATA / f"pages_{name}.parquet", "--budget", "1x", "--policies", "uniform", "--json",
    )  # fmt: skip

    assert code == 0, err
    behind = json.loads(out)["budgets"][0]["policies"]["uniform"]["behind"]
    assert behind["low"] > 0


def test_what_is_announced_is_told(
    changes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In words and in JSON, drawn or from a table; who does not listen is as before."""
    named = ("--policies", "uniform,recrawl")
    asked = ("backtest", changes, "--budget", "1x", *named, "--resamples", "20")
    _, plain, _ = run(capsys, *asked, "--json")
    table = tmp_path / "told.csv"
    rows = changes.read_text().splitlines()
    table.write_text("\n".join([rows[0].replace("changed_at", "announced_at"), *rows[1:]]))

    for signals in ("recall=1", str(table)):
        code, out, _ = run(capsys, *asked, "--signals", signals)
        assert code == 0
        assert f"Listings announce {len(rows) - 1:,} changes to recrawl and foresight" in out
        _, out, _ = run(capsys, *asked, "--signals", signals, "--json")
        report, before = json.loads(out), json.loads(plain)
        assert (report["announcements"], before["announcements"]) == (len(rows) - 1, None)
        policies, as_before = (one["budgets"][0]["policies"] for one in (report, before))
        assert policies["uniform"]["freshness"] == as_before["uniform"]["freshness"]
        assert policies["recrawl"]["freshness"] > as_before["recrawl"]["freshness"]


@pytest.mark.parametrize(
    ("named", "reference"),
    [("uniform", "foresight"), ("recrawl,uniform", "recrawl"), ("recrawl,foresight", "foresight")],
)
def test_others_are_compared_with_what_a_crawl_goes_by(
    named: str, reference: str, changes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Foresight is that by default; where only recrawl is named, recrawl is."""
    asked = ("backtest", changes, "--budget", "1x", "--policies", named, "--resamples", 20)

    _, told, _ = run(capsys, *asked)
    _, out, _ = run(capsys, *asked, "--json")

    answer = json.loads(out)
    policies = answer["budgets"][0]["policies"]
    assert answer["reference"] == reference
    assert f"{reference} ahead by, points" in told
    assert set(policies) == {*named.split(","), reference}
    ours = policies.pop(reference)
    assert "behind" not in ours
    for policy in policies.values():
        ahead = ours["freshness"] - policy["freshness"]
        assert policy["behind"]["mean"] == pytest.approx(ahead)
