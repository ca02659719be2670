"""Main content as Markdown: what is kept of headings, code and tables of three real manuals.

Bar: above trafilatura, markdownify and html2text in all three, on pages of Debian's manuals of
Python, PostgreSQL and git. The source is read by lxml, each Markdown by markdown-it: a heading
counts where its words stand as a heading, a block of code where its lines stand in a fence or an
indented block as they are, a row of a table where its cells stand side by side in one.

    python bench/markdown.py               300 pages
    python bench/markdown.py --pages 30    a quick look

Peers: pip install -r bench/requirements.txt; manuals: apt-get install python3-doc
postgresql-doc-15 git-doc
"""

import argparse
import random
import re
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import lxml.html
from markdown_it import MarkdownIt

from recrawl.crawler.fetch.reading.extract import PageExtractor
from recrawl.crawler.fetch.reading.reading_rules import ReadingRules
from recrawl.terms import FetchResponse

MANUALS = (
    "/usr/share/doc/python3-doc/html/library", "/usr/share/doc/python3.11/html/library",
    "/usr/share/doc/postgresql-doc-15/html", "/usr/share/doc/git/html",
)  # fmt: skip
NO_WORD = re.compile(r"[\W_]+")
# What stands around the main content in these manuals; all else is to be kept.
AROUND = (
    "//*[contains(@class,'navheader') or contains(@class,'navfooter')"
    " or contains(@class,'sphinxsidebar') or contains(@class,'related')"
    " or contains(@class,'footer') or @id='footer'"
    " or @role='navigation' or contains(@class,'headerlink') or contains(@class,'toc')]"
)
PARSER = MarkdownIt("commonmark").enable("table")
Items = dict[str, Counter[str]]


def bare(text: str) -> str:
    """Return the letters and digits of a text."""
    return NO_WORD.sub("", text).lower()


def code(text: str) -> str:
    """Return lines of code without what blanks surround them."""
    return "\n".join(line.rstrip() for line in text.strip("\n").split("\n")).strip("\n")


def of_source(html: str) -> Items:
    """Return what is to be kept of a page."""
    tree = lxml.html.document_fromstring(
        html.encode(), parser=lxml.html.HTMLParser(encoding="utf-8")
    )
    for node in tree.xpath(AROUND):
        node.drop_tree()
    tables = [
        node for node in tree.iter("table")
        if not node.xpath("ancestor::table") and not node.xpath(".//pre|.//table|.//ul|.//dl")
    ]  # fmt: skip
    rows = [
        [bare(cell.text_content()) for cell in row.xpath("./td|./th")]
        for table in tables
        for row in table.iter("tr")
        if not row.xpath("./*[@colspan>1 or @rowspan>1]")
    ]
    inside = {id(node) for table in tree.iter("table") for node in table.iter()}
    headings = tree.xpath("//h1|//h2|//h3|//h4|//h5|//h6")
    blocks = (node for node in tree.iter("pre") if id(node) not in inside)
    return {
        "headings": Counter(filter(None, (bare(node.text_content()) for node in headings))),
        "code": Counter(filter(None, (code(node.text_content()) for node in blocks))),
        "tables": Counter("|".join(cells) for cells in rows if len(cells) > 1 and any(cells)),
    }


def of_markdown(text: str) -> Items:
    """Return what a Markdown parser finds."""
    found: Items = {"headings": Counter(), "code": Counter(), "tables": Counter()}
    cells: list[str] = []
    tokens = PARSER.parse(text)
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            found["headings"][_words(tokens[place + 1])] += 1
        elif token.type in ("fence", "code_block"):
            found["code"][code(token.content)] += 1
        elif token.type == "tr_open":
            cells = []
        elif token.type in ("td_open", "th_open"):
            cells.append(_words(tokens[place + 1]))
        elif token.type == "tr_close":
            found["tables"]["|".join(cells)] += 1
    return found


def _words(token: object) -> str:
    children = getattr(token, "children", None) or ()
    return bare("".join(child.content or " " for child in children))


def ours() -> Callable[[str], str]:
    """Return our converter."""
    extractor = PageExtractor("recrawl", ReadingRules(markdown=True))

    def convert(html: str) -> str:
        response = FetchResponse("http://manual.test/", 200, html.encode(), "text/html", "utf-8")
        return extractor.page(response).markdown

    return convert


def peers() -> dict[str, Callable[[str], str]]:
    """Return those that are installed."""
    found: dict[str, Callable[[str], str]] = {}
    if find_spec("trafilatura"):
        import trafilatura

        extract = partial(
            trafilatura.extract, output_format="markdown", include_links=True, include_tables=True
        )
        found["trafilatura"] = lambda html: extract(html) or ""
    if find_spec("markdownify"):
        import markdownify

        found["markdownify"] = lambda html: markdownify.markdownify(html, heading_style="ATX")
    if find_spec("html2text"):
        import html2text

        found["html2text"] = lambda html: html2text.HTML2Text(bodywidth=0).handle(html)
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pages", type=int, default=300)
    arguments = parser.parse_args()
    groups = [sorted(Path(folder).glob("*.html")) for folder in MANUALS]
    groups = [group for group in groups if group]
    each = -(-arguments.pages // max(len(groups), 1))
    draw = random.Random(1)
    files = [file for group in groups for file in draw.sample(group, min(each, len(group)))]
    pages = [file.read_text(encoding="utf-8", errors="replace") for file in files]
    wanted = [of_source(page) for page in pages]
    total = {
        kind: sum(one[kind].total() for one in wanted) for kind in ("headings", "code", "tables")
    }
    size = sum(map(len, pages)) / max(len(pages), 1) / 1000
    print(f"{len(pages)} pages of {size:.0f} kB; to be kept: {total}")
    print(f"{'':16}{'headings':>10}{'code':>10}{'tables':>10}{'ms a page':>12}")
    for name, convert in ({"recrawl": ours()} | peers()).items():
        began_s = time.process_time()
        made = [converted(convert, page) for page in pages]
        took_s = time.process_time() - began_s
        kept = Counter[str]()
        for need, text in zip(wanted, made, strict=True):
            has = of_markdown(text)
            for kind in total:
                kept[kind] += (need[kind] & has[kind]).total()
        shares = "".join(f"{100 * kept[kind] / max(total[kind], 1):9.1f}%" for kind in total)
        print(f"{name:16}{shares}{1e3 * took_s / max(len(pages), 1):12.1f}")


def converted(convert: Callable[[str], str], page: str) -> str:
    """Return Markdown; nothing where a converter breaks."""
    try:
        return convert(page)
    except RecursionError:
        return ""


if __name__ == "__main__":
    main()
