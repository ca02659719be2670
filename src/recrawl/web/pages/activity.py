"""Tables of what was found on a web, by directory and time: the same as the live view draws."""

from datetime import UTC, datetime
from typing import Any, Final

from recrawl.web.markup import Child, Markup, element
from recrawl.web.pages.layout import ago, document, spoken

_NUMBERS: Final = ("changes", "new pages")


def activity_page(report: dict[str, Any], now_s: float) -> str:
    """Return the page for a report of ``reports.activity.activity_report``.

    Parameters
    ----------
    report : of the crawl
    now_s : the instant
    """
    content: list[Child] = [
        element("h1", "What is happening on this web"),
        element("p", "Changes and new pages that visits found, by directory; times in UTC. ",
                element("a", "Back to the crawl", href="/dashboard"), class_="quiet"),
    ]  # fmt: skip
    if report["fast"]:
        content += [element("h2", "Runs fast now"), _fast(report["fast"])]
    if not report["directories"]:
        content.append(element("p", "Nothing was found in the last twelve days."))
    else:
        content += [_directories(report), _times(report, now_s)]
    return document("What is happening · recrawl", content, place="/activity")


def _fast(fast: list[dict[str, Any]]) -> Markup:
    return element(
        "ul",
        [element("li", element("b", one["group"]), f" runs {one['words']}") for one in fast],
        class_="fast",
    )


def _directories(report: dict[str, Any]) -> Markup:
    rows = [(one["directory"], one["changes"], one["new"]) for one in report["directories"]]
    others = report["others"]
    if others["directories"]:
        name = f"{others['directories']:,} other directories"
        rows.append((name, others["changes"], others["new"]))
    body = [
        element("tr", element("th", name, scope="row", class_="address"), _number(n), _number(new))
        for name, n, new in rows
    ]
    return _table("Found by directory", ("directory", "changes", "new pages"), body)


def _times(report: dict[str, Any], now_s: float) -> Markup:
    body = []
    for place in reversed(range(report["bins"])):
        told = [
            (one["directory"], one["changes_by_bin"][place], one["new_by_bin"][place])
            for one in report["directories"]
        ]
        rows = [one for one in told if one[1] or one[2]]
        begin_s = report["since"] + place * report["step"]
        for first, (name, n, new) in enumerate(rows):
            at: Child = f"{datetime.fromtimestamp(begin_s, UTC):%Y-%m-%d %H:%M:%S}"
            if not first:
                at = (at, " (", ago(begin_s, now_s), ")")
            where = element("td", name, class_="address")
            when = element("th", at, scope="row")
            body.append(element("tr", when, where, _number(n), _number(new)))
    caption = f"Found in these directories in each {spoken(report['step'])}, the latest first"
    return _table(caption, ("from", "directory", "changes", "new pages"), body)


def _number(n: int) -> Markup:
    return element("td", f"{n:,}", class_="number")


def _table(caption: str, headings: tuple[str, ...], body: list[Markup]) -> Markup:
    head = element(
        "tr",
        [
            element("th", name, scope="col", class_="number" if name in _NUMBERS else None)
            for name in headings
        ],
    )
    table = element(
        "table", element("caption", caption), element("thead", head), element("tbody", body)
    )
    return element("div", table, class_="wide", tabindex=0, role="region", aria_label=caption)
