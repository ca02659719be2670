"""Lines that lead to the pages beside one."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from recrawl.crawler.fetch.reading import lines_beside
from recrawl.crawler.fetch.reading.lines_beside import LINE, mark_lines_beside


def marked(html: str) -> list[str]:
    """Return what the marked lines of a page say."""
    tree = LexborHTMLParser(html)
    assert tree.body is not None
    mark_lines_beside(tree, tree.body.text())
    return [" ".join(line.text().split()) for line in tree.css(f"[{LINE}]")]


@pytest.mark.parametrize(
    ("line", "is_one"),
    [
        ("<p>Next in thread: <a href=/2>Of lamps</a></p>", True),
        ("<p>Next message: <a href=/2>Of lamps</a> by Ann</p>", False),
        ("<li>Previous: <a href=/1>Of sofas</a></li>", True),
        ("<p><a href=/2>Older</a> <a href=/2>Of lamps</a></p>", True),
        ("<p><a href=/2>Older lamps</a></p>", False),
        ("<p>Next: wait for an hour, then read <a href=/2>this</a></p>", False),
    ],
)
def test_a_line_says_where_it_leads(line: str, *, is_one: bool) -> None:
    assert bool(marked(f"<main><p>What it is about.</p>{line}</main>")) is is_one


def test_a_line_is_read_once_however_many_links_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """An index may be one line of thousands, and lines may stand in lines."""
    read: list[int] = []

    def count(line: object, said: str) -> bool:
        read.append(len(said))
        return False

    monkeypatch.setattr(lines_beside, "_says_only_where", count)
    links = "".join(f"<a href=/{n}>older</a> " for n in range(300))
    assert marked(f"<div>{links}</div>" + "<p><a href=/>older</a></p>" * 5) == []
    assert len(read) == 6

    read.clear()
    deep = "".join(f"<div><a href=/{n}>older</a> of lamps " for n in range(1_500))
    assert marked(deep) == []
    assert sum(read) <= 8 * len(LexborHTMLParser(deep).text())


def test_links_of_a_drawing_are_no_hindrance() -> None:
    """They lead by an attribute of another name."""
    line = "<p><a rel=prev href=/1>Sofas</a> <a rel=next href=/2>Lamps</a></p>"

    assert marked(f"{line}<svg><a xlink:href=/1><text>Sofas</text></a></svg>") == ["Sofas Lamps"]
