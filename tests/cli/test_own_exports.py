"""What one verb exports another reads as it is."""

import json
from pathlib import Path

import numpy as np
import pytest
from pyarrow import Table, csv
from pyarrow.json import read_json
from pyarrow.parquet import read_table as read_parquet

from recrawl.cli.app import main
from recrawl.crawler.frontier.sqlite import SqliteFrontier
from recrawl.crawler.ports import AdmissionLimits
from recrawl.crawler.wiring.indexes import open_index
from recrawl.terms import Discovery, Document, Outcome, PageState, PageUpdate, PlanRecord, Visit


def read_csv(path: Path) -> Table:
    return csv.read_csv(path, parse_options=csv.ParseOptions(newlines_in_values=True))


START_S, HOUR_S = 1_780_000_000.0, 3_600.0
HOST = "http://a.test"


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl that visited twelve pages thirty times, and knows one that it never reached."""
    folder = tmp_path_factory.mktemp("crawled")
    frontier = SqliteFrontier(folder)
    random = np.random.default_rng(2)
    found = [Discovery(f"{HOST}/{number}", HOST) for number in range(13)]
    frontier.admit(found, START_S, AdmissionLimits())
    for turn in range(30):
        now_s = START_S + turn * HOUR_S
        leases = frontier.lease(1, limit=13, due_by_s=now_s, now_s=now_s, until_s=now_s)
        updates = []
        for lease in leases:
            number = int(lease.url.rpartition("/")[2])
            changed = None if not turn else bool(random.random() < (number + 1) / 20)
            outcome = (
                Outcome.NEW if not turn else (Outcome.UNCHANGED, Outcome.CHANGED)[bool(changed)]
            )
            if number == 12:
                outcome, changed = Outcome.FAILED, None
            visit = Visit(now_s, outcome, 200, changed, None if changed is None else HOUR_S)
            state = PageState.DISCOVERED if number == 12 else PageState.INDEXED
            updates.append(PageUpdate(lease, visit, state, now_s + HOUR_S, signature=b"x"))
        frontier.complete(updates)
    ids = np.arange(1, 13)
    frontier.save_change_rates(ids, ids / 20 / HOUR_S, np.full(12, 1.3))
    rates = np.full(12, 1.0 / HOUR_S)
    plan = PlanRecord(START_S, 12, 12 / HOUR_S, 1.0, 0.9, 0)
    frontier.save_plan(plan)
    frontier.save_crawl_rates(plan, ids, rates, np.full(12, START_S))
    frontier.close()
    return folder


def told(capsys: pytest.CaptureFixture[str], *words: object) -> dict[str, object]:
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    shown = capsys.readouterr()
    assert ended.value.code == 0, shown.err
    answer: dict[str, object] = json.loads(shown.out)
    return answer


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
@pytest.mark.parametrize(
    ("table", "words", "pages"),
    [
        ("visits", ["fit", "changes"], 12),
        ("visits", ["backtest", "--budget", "1x"], 12),
        ("pages", ["plan", "--budget", "100/d"], 13),
        ("pages", ["order"], 13),
    ],
)
def test_every_export_is_read_by_the_verbs_that_are_for_it(
    crawled: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    ending: str,
    table: str,
    words: list[str],
    pages: int,
) -> None:
    """No column has to be renamed, none left out."""
    path = tmp_path / f"{table}.{ending}"
    told(capsys, "export", table, "--out", path, "--state", crawled, "--json")

    answer = told(capsys, *words[:1], *(["changes"] if words[0] == "fit" else []), path,
                  *words[1 + (words[0] == "fit") :], "--json")  # fmt: skip

    if "pages" in answer:
        assert answer["pages"] == pages
    if words[0] == "fit":
        rates = answer["rates"]
        assert isinstance(rates, dict)
        assert rates[f"{HOST}/11"] > 2 * rates[f"{HOST}/0"] > 0
    if words[0] == "plan":
        assert answer["budget"] == pytest.approx(100.0 / 86_400.0)


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_text_and_markdown_come_with_the_pages(
    crawled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], ending: str
) -> None:
    """Of those that the index holds; of visits there is none."""
    index = open_index(crawled)
    index.replace(Document(f"{HOST}/3", "Three", "Why\nbecause_of it", 1.0, b"x", ("Why",)))
    index.commit()
    index.close()
    out = tmp_path / f"pages.{ending}"
    command = ["export", "pages", "--text", "--state", crawled, "--out", out, "--json"]

    assert told(capsys, *command)["rows"] == 13

    read = {"csv": read_csv, "parquet": read_parquet, "jsonl": read_json}[ending]
    pages = {row["url"]: row for row in read(out).to_pylist()}
    assert pages[f"{HOST}/3"]["text"] == "Why\nbecause_of it"
    assert pages[f"{HOST}/3"]["markdown"] == "# Three\n\n## Why\n\nbecause\\_of it\n"
    assert not pages[f"{HOST}/4"]["markdown"]
    with pytest.raises(SystemExit) as ended:
        main(["export", "visits", "--text", "--state", str(crawled), "--out", str(out)])
    assert ended.value.code == 2
    assert "--text: there is text of pages, not of visits" in capsys.readouterr().err
