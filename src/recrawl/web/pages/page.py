"""One page, explained: its visits on a time line, its rates, and what set its next visit."""

import math
from collections import deque
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote

from recrawl.crawler.control.texts.word_differences import word_steps
from recrawl.quantities import show_bytes
from recrawl.web.markup import Child, Markup, element, link
from recrawl.web.pages.layout import ago, brief, counted, document, facts_list, spoken

_WIDTH: Final = 1000
_FAILED: Final = (
    "failed",
    "server-error",
    "throttled",
    "denied",
    "lost",
    "obsolete",
    "deferred",
    "too-large",
    "poison",
)


def page_explained(report: dict[str, Any], title: str) -> str:
    """Return the page for a report of ``reports.page.page_report``."""
    now_s = report["at"]
    visits = sorted(report["recent"], key=lambda visit: float(visit["visited_at_s"]))
    content = [
        _asked(report["url"]),
        element("h1", title or report["url"], dir="auto"),
        element("p", link(report["url"], report["url"]), class_="address"),
        element("h2", "Visits"),
        _time_line(report, visits) if visits else element("p", "Not visited yet.", class_="quiet"),
        element("h2", "Why it is visited when it is"),
        facts_list(_rows(report, now_s)),
        _changes(report["differences"], now_s),
        _table(visits, now_s),
    ]
    return document(f"{title or report['url']} · recrawl", content, place="/page")


def page_unknown(url: str, why: str) -> str:
    """Return the page for an address that the crawl does not know."""
    content = [
        _asked(url),
        element(
            "div", element("h1", "Not known to this crawl"), element("p", why), class_="message"
        ),
    ]
    return document("Not known · recrawl", content, place="/page")


def _asked(url: str) -> Markup:
    box = element(
        "input", type="url", name="url", value=url, required=True, aria_label="Address of a page"
    )
    button = element("button", "Explain", type="submit")
    return element(
        "form", element("div", box, button, class_="box"), action="/page", class_="search"
    )


def _changes(changes: Sequence[dict[str, Any]], now_s: float) -> list[Markup]:
    """Return what the page said anew, the latest first."""
    if not changes:
        return []
    told = [element("h2", "What it said anew")]
    for change in changes:
        told.append(element("p", ago(change["found_at"], now_s), class_="quiet"))
        lines = list(_lines(change["lines"]))
        told.append(
            element("ul", lines, class_="difference")
            if lines
            else element("p", "The same lines, in another order.")
        )
    return told


def _lines(lines: Sequence[tuple[str, str]]) -> Iterator[Markup]:
    """Yield lines that came and went; of one in another's place, the words that did are marked."""
    rest = deque(lines)
    while rest:
        sign, line = rest.popleft()
        if sign == "-" and rest and rest[0][0] == "+":
            after = rest.popleft()[1]
            parts = [
                element({"-": "del", "+": "ins"}[mark], text) if mark != " " else text
                for mark, text in word_steps(line, after)
            ]
            yield element("li", parts, class_="edited", dir="auto")
        else:
            yield element("li", element("ins" if sign == "+" else "del", line), dir="auto")


def _rows(report: dict[str, Any], now_s: float) -> list[tuple[str, Child]]:
    rate, crawl_rate = report["change_rate_per_s"], report["crawl_rate_per_s"]
    rows: list[tuple[str, Child]] = [("Next visit", _next(report, now_s))]
    if companions := report["companions"]:
        rows.append(("Companions", _companions(companions)))
    if rate:
        low, high = report["change_rate_low_per_s"], report["change_rate_high_per_s"]
        rows.append(
            (
                "Changes",
                f"once in {spoken(1 / rate)}, likely between {spoken(1 / high)} and "
                f"{spoken(1 / low)}",
            )
        )
        if report["last_visit_s"]:
            chance = math.exp(
                -rate * max(0.0, now_s - (report["seen_s"] or report["last_visit_s"]))
            )
            rows.append(("Copy is fresh", f"with probability {chance:.0%}"))
    else:
        rows.append(("Changes", "not known yet; one more visit will tell"))
    if crawl_rate:
        rows.append(("Visited", f"once in {spoken(1 / crawl_rate)}, by the plan"))
    rows.append(("Weight", f"{report['weight']:.3g}"))
    if report["price"] is not None:
        rows.append(("Price", report["price_words"]))
    if "probes_per_week" in report:
        rows.append(("Probes", f"{report['probes_per_week']} a week, {report['pattern']}"))
    changes, visits = counted(report["changes"], "change"), counted(report["visits"], "visit")
    rows += [
        (
            "State",
            f"{report['state']} ({report['kind']}, {counted(report['depth'], 'link')} from a seed)",
        ),
        ("Found", ago(report["discovered_s"], now_s)),
        ("Versions", f"{changes} seen in {visits}; the index keeps the latest copy"),
    ]
    rows += [("Last visit", report["last_note"])] if report["last_note"] else []
    if report["indexed_at_s"]:
        rows.append(("Copy in the index", ago(report["indexed_at_s"], now_s)))
    if report["lastmod_s"]:
        rows.append(("Sitemap says", ("changed ", ago(report["lastmod_s"], now_s))))
    if report["redirect_url"]:
        rows.append(("Leads to", link(report["redirect_url"], report["redirect_url"])))
    return rows


def _next(report: dict[str, Any], now_s: float) -> Child:
    wait_s = report["next_visit_s"] - now_s
    why = report["due_why"]
    if report["host_blocked_why"] and report["next_visit_s"] > report["due_s"]:
        why = f"its host is left alone: {report['host_blocked_why']}"
    if wait_s > 0:
        return (ago(report["next_visit_s"], now_s), f" ({why})")
    return f"due for {spoken(-wait_s)} ({why})"


def _companions(companions: dict[str, Any]) -> Child:
    """Say what was found beside the page, with links to it."""
    words = companions["words"]
    told: list[Child] = [element("p", f"{words[0].upper()}{words[1:]}.")]
    if companions["changed"]:
        links = [
            element("li", element("a", one["url"], href=f"/page?url={quote(one['url'], safe='')}"))
            for one in companions["changed"]
        ]
        told.append(element("ul", links, class_="beside"))
    return told


def _kind(visit: dict[str, Any]) -> str:
    if visit["changed"] or visit["outcome"] == "new":
        return "changed"
    if visit["outcome"] == "not-modified":
        return "same-304"
    if visit["outcome"] in _FAILED:
        return "failed"
    return "same" if visit["changed"] is False else "other"


def _time_line(report: dict[str, Any], visits: Sequence[dict[str, Any]]) -> Markup:
    """Draw visits left to right, and the next one: changed high, failed low."""
    ends = [visit["visited_at_s"] for visit in visits]
    first_s, last_s = (
        ends[0],
        max(report["at"], min(report["next_visit_s"], 2 * report["at"] - ends[0])),
    )
    span_s = max(last_s - first_s, 1.0)

    def x(instant_s: float) -> str:
        return f"{20 + (_WIDTH - 40) * (instant_s - first_s) / span_s:.1f}"

    marks: list[Child] = [element("line", x1=20, x2=_WIDTH - 20, y1=40, y2=40, class_="axis")]
    for visit in visits:
        kind = _kind(visit)
        at = datetime.fromtimestamp(visit["visited_at_s"], UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        told = element("title", f"{at}: {visit['outcome']}")
        place = x(visit["visited_at_s"])
        if kind == "changed":
            marks.append(element("line", told, x1=place, x2=place, y1=14, y2=40, class_="stem"))
            marks.append(element("circle", told, cx=place, cy=14, r=5, class_="changed"))
        elif kind == "failed":
            marks.append(element("path", told, d=f"M{place} 48l-5 9h10z", class_="failed"))
        else:
            marks.append(element("circle", told, cx=place, cy=40, r=3.5, class_=kind))
    now_x = x(report["at"])
    marks.append(element("line", x1=now_x, x2=now_x, y1=8, y2=62, class_="now"))
    marks.append(element("text", "now", x=now_x, y=76, text_anchor="middle"))
    # What is further off than the visits go back is told below, and is no part of the picture.
    is_near = first_s < report["next_visit_s"] <= last_s
    if is_near:
        place = x(report["next_visit_s"])
        marks.append(
            element("circle", element("title", "next visit"), cx=place, cy=40, r=6, class_="next")
        )
    n_changed = sum(_kind(visit) == "changed" for visit in visits)
    picture = element(
        "svg",
        marks,
        viewBox=f"0 0 {_WIDTH} 84",
        role="img",
        aria_label=f"{counted(len(visits), 'visit')} in {spoken(span_s)}, "
        f"{n_changed} with new content",
        class_="time-line",
    )
    keys = [("changed", "new content"), ("same", "unchanged"), ("same-304", "304 not modified"),
            ("failed", "failed"), *([("next", "next visit")] if is_near else [])]  # fmt: skip
    legend = [
        element("li", element("span", class_=f"key {name}", aria_hidden="true"), words)
        for name, words in keys
    ]
    return element("figure", picture, element("ul", legend, class_="legend"))


def _table(visits: Sequence[dict[str, Any]], now_s: float) -> Markup | None:
    if not visits:
        return None
    headings = {"visited": "", "outcome": "", "status": "number", "changed": "", "took": "number",
                "size": "number"}  # fmt: skip
    rows = [
        element(
            "tr",
            element("th", ago(visit["visited_at_s"], now_s), scope="row"),
            element("td", visit["outcome"]),
            element("td", str(visit["status"] or ""), class_="number"),
            element("td", {True: "yes", False: "no", None: ""}[visit["changed"]]),
            element("td", brief(visit["fetch_s"]), class_="number"),
            element("td", show_bytes(visit["received_bytes"]), class_="number"),
        )
        for visit in reversed(visits[-50:])
    ]
    caption = element(
        "caption", "The latest visit" if len(rows) == 1 else f"The latest {len(rows)} visits"
    )
    head = element(
        "thead",
        element(
            "tr",
            [
                element("th", name, scope="col", class_=kind or None)
                for name, kind in headings.items()
            ],
        ),
    )
    table = element("table", caption, head, element("tbody", rows))
    return element("div", table, class_="wide", tabindex=0, role="region", aria_label="Visits")
