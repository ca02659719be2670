"""Plans for other crawlers: each in its form, in full or not at all."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from recrawl.cli.app import main

PAGES = """url,change_rate,weight
https://a.test/,24,10
https://a.test/x&y,2,8
https://a.test/log,300,1
"""
# Visits a day by `recrawl plan --budget 17/d`, which `--out plan.csv` would say.
START, OTHER = "https://a.test/", "https://a.test/x&y"


def plan(folder: Path, form: str, text: str = PAGES, out: str = "list") -> tuple[int, str]:
    """Run the verb; return its exit code, and what it wrote."""
    (folder / "pages.csv").write_text(text)
    path = folder / out
    with pytest.raises(SystemExit) as ended:
        main(["plan", str(folder / "pages.csv"), "--budget", "17/d", "--for", form,
              "--out", str(path), "--json"])  # fmt: skip
    return int(str(ended.value.code)), path.read_text() if path.exists() else ""


@pytest.fixture
def intervals(tmp_path: Path) -> dict[str, float]:
    """Seconds between visits, as the table of the same plan has them."""
    (tmp_path / "p.csv").write_text(PAGES)
    with pytest.raises(SystemExit):
        main(["plan", str(tmp_path / "p.csv"), "--budget", "17/d", "--out",
              str(tmp_path / "p.jsonl"), "--json"])  # fmt: skip
    rows = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()]
    return {row["url"]: 86_400.0 / row["crawl_rate"] for row in rows if row["crawl_rate"] > 0}


def test_start_requests_of_scrapy(tmp_path: Path, intervals: dict[str, float]) -> None:
    """Each line makes a request by ``Request.from_dict``-like keywords: url, priority, meta."""
    _, text = plan(tmp_path, "scrapy")
    found = [json.loads(line) for line in text.splitlines()]

    assert {one["url"]: one["meta"]["recrawl_interval_s"] for one in found} == {
        url: round(interval_s) for url, interval_s in intervals.items()
    }
    assert found[0]["priority"] == 100 > found[1]["priority"] > 0


def test_a_file_that_nutch_injects(tmp_path: Path, intervals: dict[str, float]) -> None:
    _, text = plan(tmp_path, "nutch")
    fields = [line.split("\t") for line in text.splitlines()]

    assert [one[0] for one in fields] == [START, OTHER]
    assert fields[0][1:] == [
        "nutch.score=1.0000",
        f"nutch.fetchInterval={round(intervals[START])}",
    ]


def test_seeds_of_stormcrawler_are_in_minutes(tmp_path: Path, intervals: dict[str, float]) -> None:
    _, text = plan(tmp_path, "stormcrawler")

    assert text.splitlines()[1] == f"{OTHER}\tfetchInterval={round(intervals[OTHER] / 60)}"


def test_a_configuration_of_curl(tmp_path: Path) -> None:
    _, text = plan(tmp_path, "curl")

    assert text == (f'url = "{START}"\noutput = "00000001"\nurl = "{OTHER}"\noutput = "00000002"\n')


def test_a_sitemap_is_xml(tmp_path: Path) -> None:
    _, text = plan(tmp_path, "sitemap")
    space = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
    urls = ElementTree.fromstring(text).findall(f"{space}url")

    assert [one.findtext(f"{space}loc") for one in urls] == [START, OTHER]
    assert urls[0].findtext(f"{space}priority") == "1.0"
    assert {one.findtext(f"{space}changefreq") for one in urls} <= {"hourly", "daily"}


@pytest.mark.parametrize(
    ("form", "text", "said"),
    [
        ("nutch", "change_rate\n1\n", "has no column url"),
        (
            "curl",
            "url,change_rate\nhttp://a.test/a b,1\n",
            "row 1, column url: 'http://a.test/a b'",
        ),
        (
            "sitemap",
            "url,change_rate\n" + "".join(f"http://a.test/{n},1\n" for n in range(50_001)),
            "50,001 pages do not fit into a sitemap",
        ),
    ],
)
def test_what_cannot_be_listed_is_said_and_nothing_is_written(
    form: str, text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, written = plan(tmp_path, form, text)

    assert code == 2
    assert said in capsys.readouterr().err
    assert written == ""
    assert [path.name for path in tmp_path.iterdir()] == ["pages.csv"]
