"""`recrawl extract`: what of a page is content, before a crawl keeps it."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.servers import Exchange, serving

from recrawl.cli.app import main

PAGE = """<title>Page</title><main><h1 id="top">Page</h1><p>First words.<h2 id="more">More</h2>
<p>More words.</main><article>An article.</article>"""


def run(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> tuple[str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["extract", *arguments])
    told = capsys.readouterr()
    assert ended.value.code == code, told.err
    return told.out, told.err


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A page in a file, where there is no configuration."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "page.html").write_text(PAGE)
    return "page.html"


def test_a_file_is_shown_as_it_would_be_kept(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Content to standard output, what is said of it beside it."""
    out, err = run(capsys, page)
    assert out.startswith("# Page\n\nFirst words.")
    assert "Main content: main" in err
    assert run(capsys, page, "--as", "text")[0] == "Page\nFirst words.\nMore\nMore words.\n"
    out, err = run(capsys, page, "--select", "article", "--title", "h2")
    assert out.strip().endswith("An article.")
    assert ": More" in err
    assert "there is no .nowhere" in run(capsys, page, "--select", ".nowhere")[1]
    told: dict[str, Any] = json.loads(run(capsys, page, "--json", "--chunks", "100")[0])
    assert [one["anchor"] for one in told["chunks"]] == ["top", "more"]
    assert told["selector"] == "main"


def test_a_page_is_asked_for_as_the_crawl_would(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With its secrets, by its rules, and not where robots.txt forbids it."""
    seen: list[tuple[str, str]] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOKEN", "s3cret")

    async def answer(exchange: Exchange) -> None:
        seen.append((exchange.path, exchange.headers.get("authorization", "")))
        if exchange.path == "/robots.txt":
            await exchange.reply(status=301, Location="/moved.txt")
        elif exchange.path == "/moved.txt":
            await exchange.reply("User-agent: *\nDisallow: /no")
        elif exchange.path == "/old":
            await exchange.reply(status=301, Location="/docs/a")
        else:
            await exchange.reply(PAGE)

    with serving(answer) as server:
        host = f"http://127.0.0.1:{server.port}"
        (tmp_path / "recrawl.toml").write_text(
            f'seeds = ["{host}/"]\ncontact = "mailto:me@a.test"\n[politeness]\ndelay = "0s"\n'
            'allow_private = ["127.0.0.1"]\n[[access]]\nhosts = ["127.0.0.1"]\n'
            'secret_env = "TOKEN"\nin_clear = true\n[[content]]\npath = "/docs/*"\n'
            'select = "article"\n'
        )
        assert run(capsys, f"{host}/old", "--as", "text")[0] == "An article.\n"
        _, err = run(capsys, f"{host}/no", code=1)
        assert "robots.txt forbids it" in err
    assert {secret for _, secret in seen} == {"Bearer s3cret"}
    assert "/no" not in [path for path, _ in seen]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.html"], ["nowhere.html", "No such file", "http://"]),
        (["http://a.test/"], ["recrawl init"]),
        (["page.html", "--select", "p["], ["--select", "'p['", "CSS selector"]),
        (["page.html", "--drop", " "], ["--drop"]),
        (["page.html", "--chunks", "1"], ["--chunks", "50"]),
        (["page.html", "--url", "x"], ["--url", "'x'"]),
        (["page.html", "--config", "no.toml"], ["no.toml"]),
    ],
)
def test_what_is_wrong_is_named(
    page: str, capsys: pytest.CaptureFixture[str], arguments: list[str], words: list[str]
) -> None:
    """In one line."""
    assert page
    err = run(capsys, *arguments, code=2)[1]
    assert err.count("\n") == 1
    for word in words:
        assert word in err
