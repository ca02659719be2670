"""Parts that all pages share: the frame, the navigation, and instants as people say them."""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from recrawl.web.files import static_url
from recrawl.web.markup import GAP, Child, Markup, Pattern, element, joined

_UNITS: Final = (
    ("year", 31_557_600.0),
    ("day", 86_400.0),
    ("hour", 3_600.0),
    ("minute", 60.0),
)
_TIME: Final = Pattern(element("time", GAP, datetime=GAP, title=GAP))
_PLACES: Final = (("/", "Search"), ("/dashboard", "Crawl"), ("/what-if", "What if"))


def document(
    title: str,
    *content: Child,
    place: str = "",
    scripts: Sequence[str] = (),
    styles: Sequence[str] = (),
    body_class: str | None = None,
) -> str:
    """Return a whole page.

    Parameters
    ----------
    title : of the window
    content : of the main part
    place : path of the entry of the navigation that this page is
    scripts, styles : names of static files, beside those of every page
    body_class : for the style sheet
    """
    return _frame(tuple(styles), tuple(scripts), place, body_class).fill(title, content)


@lru_cache(maxsize=64)
def _frame(
    styles: tuple[str, ...], scripts: tuple[str, ...], place: str, body_class: str | None
) -> Pattern:
    head = element("head", _head(styles, scripts), element("title", GAP))
    mark = element("a", "recrawl", href="/", class_="mark")
    body = element(
        "body",
        element("a", "Skip to the content", href="#main", class_="skip"),
        element("header", element("div", mark, _navigation(place), class_="frame"), class_="top"),
        element("main", GAP, id="main", class_="frame", tabindex=-1),
        class_=body_class,
    )
    return Pattern(Markup(f"<!doctype html>\n{element('html', head, body, lang='en')}"))


def _head(styles: tuple[str, ...], scripts: tuple[str, ...]) -> Markup:
    sheets = [element("link", rel="stylesheet", href=static_url(name)) for name in styles]
    programs = [element("script", src=static_url(name), defer=True) for name in scripts]
    return joined(
        [
            element("meta", charset="utf-8"),
            element("meta", name="viewport", content="width=device-width, initial-scale=1"),
            element("meta", name="color-scheme", content="light dark"),
            element("link", rel="icon", href=static_url("icon.svg"), type="image/svg+xml"),
            element(
                "link",
                rel="search",
                type="application/opensearchdescription+xml",
                title="recrawl",
                href="/opensearch.xml",
            ),
            sheets,
            element("link", rel="stylesheet", href=static_url("page.css")),
            programs,
            element("script", src=static_url("keys.js"), defer=True),
        ]
    )


def _navigation(place: str) -> Markup:
    entries = [
        element("a", name, href=path, aria_current="page" if path == place else None)
        for path, name in _PLACES
    ]
    return element("nav", entries, aria_label="Pages")


def message_page(title: str, text: str, *more: Child) -> str:
    """Return a page that says one thing."""
    return document(
        f"{title} · recrawl", element("div", element("h1", title), element("p", text), *more,
        class_="message")
    )  # fmt: skip


def ago(instant_s: float, now_s: float) -> Markup:
    """Return how long ago an instant was, or in how long it is, with the instant itself."""
    seconds = now_s - instant_s
    words = f"{spoken(seconds)} ago" if seconds >= 0 else f"in {spoken(-seconds)}"
    at = datetime.fromtimestamp(instant_s, UTC).isoformat(" ", "seconds")[:19]
    return _TIME.fill(f"{at}Z", f"{at} UTC", words)


def spoken(seconds: float) -> str:
    """Return a duration as people say it: ``3 minutes``, ``1.5 hours``, ``12 days``."""
    for unit, size in _UNITS:
        if seconds >= size:
            number = f"{float(f'{seconds / size:.2g}'):g}"
            return f"{number} {unit}" if number == "1" else f"{number} {unit}s"
    return f"{seconds:.0f} seconds" if round(seconds) != 1 else "1 second"


def counted(n: int, noun: str) -> str:
    """Return a number and its noun."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def brief(seconds: float) -> str:
    """Return how long an exchange took."""
    return f"{1000 * seconds:.3g} ms" if seconds < 1.0 else f"{seconds:.3g} s"


def facts_list(rows: Sequence[tuple[str, Child]]) -> Markup:
    """Return names and values, one pair a line."""
    pairs = [element("div", element("dt", name), element("dd", value)) for name, value in rows]
    return element("dl", pairs, class_="facts")


def empty_table(
    identifier: str, caption: str, headings: Sequence[str], *, is_named: bool = False
) -> Markup:
    """Return a table for the script to fill; ``is_named``: by the heading above it."""
    head = element(
        "tr",
        [
            element("th", name, scope="col", class_="number" if place else None)
            if name
            else element("td")
            for place, name in enumerate(headings)
        ],
    )
    title = element("caption", caption, class_="unseen" if is_named else None)
    table = element("table", title, element("thead", head), element("tbody", id=identifier))
    named = f"Table of {caption.lower()}" if is_named else caption
    return element(
        "div", table, class_="wide", id=f"{identifier}-table", tabindex=0, role="region",
        aria_label=named,
    )  # fmt: skip
