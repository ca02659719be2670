"""The main content of a page as Markdown, by html-to-markdown, which the extra ``markdown`` brings.

Headings, lists, tables, code with its language and links are kept, the links absolute. What a
host repeats on its pages is not known here; the index leaves it out
(:mod:`recrawl.crawler.index.repeats.boilerplate`).
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from typing import Any, Final

from selectolax.lexbor import LexborNode

from recrawl.crawler.fetch.reading.code_language import language_of, language_within
from recrawl.crawler.fetch.reading.main_content import BREAK, printable

MAX_MARKDOWN: Final = 2_000_000  # characters
# Links of a heading to itself, which are no content.
_HEADLINKS: Final = 'a.headerlink, a.anchor, a.anchor-link, a.header-anchor, a[href*="#"]:empty'
# Says nothing but its text; beside that of a heading what it is called leads to the heading.
_UNSAID: Final = (
    "a[href]:not([title]):not([aria-label]), h1 a[href], h2 a[href], h3 a[href], h4 a[href], "
    "h5 a[href], h6 a[href]"
)
_HEADMARKS: Final = " \t\n\f#\u00a7\u00b6\u200b\U0001f517"  # as texts of such links
_FENCE: Final = re.compile(r"\s{0,40}(?:[-*>]\s+)*(`{3,}|~{3,})")
_CODE: Final = r"(?P<code>`(?<!``)`*+[^`]++`++)"  # in linear time
# By its first sign, which is soon found: what stands before it is looked at then.
_NEEDLESS: Final = re.compile(
    rf"{_CODE}|\\(?:(?<!\\.)(?=-(?:\\-)?\w)|(?<=\w.)(?=-`)|(?<=[^\W_] .)(?=-(?:[ \w]|$))"
    r"|(?<=[`)] .)(?=- )|(?<=\(\w.)(?=\))|(?<=\d.)(?=\.\S)"
    r"|(?=\))(?:(?<=[^\s\d>]\d.)|(?<=[^\s\d>]\d\d.)|(?<=[^\s\d>]\d{3}.)|(?<=[^\s\d>]\d{4}.)))"
)
# Behind a letter no list begins, nor a heading, which a sign at its end would close.
_LETTER: Final = re.compile(r"[^\W\d_]")
_NEEDLESS_WITHIN: Final = re.compile(
    rf"{_CODE}|(?<!\\)\\(?=[.+=]|#(?!#*\s*$)|&(?!\\?#?[a-zA-Z0-9]{{1,40}};))"
)
_HEADED: Final = re.compile(r"#{1,6} (?=\S)")  # nothing else begins within such a line either
_SIGNED: Final = frozenset("summary b strong em i cite dfn".split())  # between asterisks
_SLANTED_TWICE: Final = ":is(em, i, var, dfn) :is(em, i, var, dfn)"  # the inner sign would end it
_MOST_AROUND: Final = 4  # of those around a heading
# Blocks that no cell of a table can hold in Markdown, where it is a line.
_BLOCKS: Final = "td h1, td h2, td h3, td h4, td h5, td h6, td pre"
_MOST_BLOCKS: Final = 2_000
_MOST_ABOVE: Final = 60  # elements around such a block, tables and what is between them
_PARTS: Final = frozenset("thead tbody tfoot tr th td caption".split())
_LONGEST: Final = 2_000  # characters of a heading that becomes a link
_SCHEME: Final = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):")
_PLACES: Final = frozenset({"http", "https", "ftp", "mailto", "tel"})
_ADDRESSES: Final = ("href", "src", "cite")  # attributes of which the converter makes links
# Labels, as of tabs, and links with nothing between them are words of their own.
_BESIDE: Final = re.compile(f"(</(?:label|a)>){BREAK}(<(?:label|input|a)[ >])")
_EMPTY_LINES: Final = re.compile(r"\n{3,}")


def is_available() -> bool:
    """Tell whether the library is installed."""
    return find_spec("html_to_markdown") is not None


def load() -> None:
    """Load the library, as long as files can be opened."""
    _options("http://localhost/")


def markdown(roots: Iterable[LexborNode], base: str) -> str:
    """Return what stands in some elements as CommonMark with tables; "" where that cannot be.

    Changes the tree.

    Parameters
    ----------
    roots : elements, in their order
    base : address from which links are meant
    """
    parts = []
    for root in roots:
        for node in root.css(_HEADLINKS):
            if not node.text().strip(_HEADMARKS):
                node.decompose()
        for node in root.css(_UNSAID):
            if not node.text().strip() and node.css_first("img") is None:
                node.decompose()
        for node in root.css(_SLANTED_TWICE):
            node.unwrap()
        for node in root.css("pre"):
            # Where the converter looks for it.
            if language := language_of(node) or language_within(node):
                node.attrs["class"] = f"language-{language}"
        _leave_code(root)
        _link_headings(root)
        _bare_headings(root)
        _lay_down(root)
        _disarm(root)
        html = _BESIDE.sub(r"\1 \2", root.html or "")
        parts.append(html.replace(BREAK, ""))
    convert, options = _options(base)
    try:
        made = convert(printable("".join(parts)), options).content or ""
    except Exception:  # what it will not take has no Markdown of its own; its errors are many
        return ""
    lines = _EMPTY_LINES.sub("\n\n", made[:MAX_MARKDOWN].replace("\x00", " ")).strip().split("\n")
    return "\n".join(_readable(lines)) + "\n"


def _readable(lines: list[str]) -> Iterator[str]:
    """Yield lines that say something, without escapes that change nothing.

    Those are hyphens in words, dashes behind one, what closes a bracket, and what would begin a
    list or a heading elsewhere; an item of a list may be empty.
    """
    fence = ""
    for line in lines:
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        if not fence and line.strip() == "-":
            continue
        is_code = bool(fence) or "\\`" in line or line.count("`") % 2 == 1
        yield line if is_code or "\\" not in line else _lean(line)


def _lean(line: str) -> str:
    """Return a line without escapes that change nothing."""
    line = _NEEDLESS.sub(_code_of, line)
    letter = _HEADED.match(line) or _LETTER.search(line.partition("`")[0])
    start = len(line) if letter is None else letter.end()
    return line[:start] + _NEEDLESS_WITHIN.sub(_code_of, line[start:])


def _code_of(found: re.Match[str]) -> str:
    """Return what is code, of that and of needless escapes."""
    return found["code"] or ""


def _leave_code(root: LexborNode) -> None:
    """Take links, pictures and lists out of code: in a block of it Markdown is read as written."""
    for node in root.css("pre li"):
        node.insert_after("\n")
    for node in root.css("pre a, pre ol, pre ul, pre li, pre pre"):
        node.unwrap()
    for node in root.css("pre img"):
        node.replace_with(node.attributes.get("alt") or "")


def _link_headings(root: LexborNode) -> None:
    """Have the headings of cards be the links that whole cards are: one link has no headings."""
    for heading in root.css(
        "a[href] h1, a[href] h2, a[href] h3, a[href] h4, a[href] h5, a[href] h6"
    ):
        link = heading.parent
        for _ in range(_MOST_AROUND):
            if link is None or link.tag == "a" or link.mem_id == root.mem_id:
                break
            link = link.parent
        said = heading.inner_html or ""
        if link is None or link.tag != "a" or link.mem_id == root.mem_id or len(said) > _LONGEST:
            continue
        heading.inner_html = f"<a>{said}</a>"
        inner = heading.css_first("a")
        if inner is not None:
            inner.attrs["href"] = link.attributes.get("href") or ""
            link.unwrap()


def _bare_headings(root: LexborNode) -> None:
    """Take away what a heading stands in that is written by signs around it, as a fold's title.

    The title of no fold may be a whole page, as in manuals of GTK.
    """
    for summary in root.css(":not(details) > summary"):
        summary.unwrap()
    for heading in root.css("h1, h2, h3, h4, h5, h6"):
        for _ in range(_MOST_AROUND):
            around = heading.parent
            if around is None or around.tag not in _SIGNED or around.mem_id == root.mem_id:
                break
            around.unwrap()


def _lay_down(root: LexborNode) -> None:
    """Have the cells of tables that only place blocks on a page follow each other as blocks.

    Those are tables of which a cell holds a heading or several lines of code.
    """
    laid: dict[int, LexborNode] = {}
    for block in root.css(_BLOCKS)[:_MOST_BLOCKS]:
        if block.tag == "pre" and "\n" not in block.text().strip():
            continue
        above = block
        for _ in range(_MOST_ABOVE):
            if above.mem_id in laid or above.mem_id == root.mem_id or above.parent is None:
                break
            if above.tag == "table":
                laid[above.mem_id] = above
            above = above.parent
    for table in laid.values():
        _unwrap_parts(table)


def _unwrap_parts(table: LexborNode) -> None:
    """Unwrap a table with its rows and cells, an empty paragraph before each and behind them."""
    apart = table.parser.create_node
    table.insert_after(apart("p"))
    parts = [table]
    while parts:
        part = parts.pop()
        if part.tag not in {"th", "td"}:
            parts += [inner for inner in part.iter() if inner.tag in _PARTS]
        part.insert_before(apart("p"))
        part.unwrap()


def _disarm(root: LexborNode) -> None:
    """Take away what acts when it is followed, and pictures that are written into the page."""
    for name in _ADDRESSES:
        for node in root.css(f"[{name}]"):
            if not _is_place(node.attributes.get(name) or ""):
                del node.attrs[name]
    for node in root.css("img:not([src])"):
        node.replace_with(node.attributes.get("alt") or "")


def _is_place(target: str) -> bool:
    """Tell whether a target is an address, or meant from the page's own; not ``javascript:``."""
    # Browsers overlook blanks before and in a scheme; what is not printable becomes one.
    found = _SCHEME.match("".join(printable(target).split()))
    return found is None or found[1].lower() in _PLACES


@cache
def _converter() -> Any:
    import html_to_markdown  # with 22 MB loaded only by who keeps Markdown

    return html_to_markdown


def _options(base: str) -> tuple[Any, Any]:
    library = _converter()
    options = library.ConversionOptions(
        base_url=base,
        extract_metadata=False,
        bullets="-",
        escape_misc=True,
        escape_asterisks=True,
        compact_tables=True,
        skip_images=False,
        # What is content has been decided: forms that are the page, and what a rule selects.
        preprocessing=library.PreprocessingOptions(remove_forms=False, remove_navigation=False),
    )
    return library.convert, options
