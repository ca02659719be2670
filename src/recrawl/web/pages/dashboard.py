"""The live view of a crawl: a frame that the script fills from server-sent events."""

from recrawl.web.markup import Child, Markup, element
from recrawl.web.pages.layout import document, empty_table


def dashboard_page() -> str:
    """Return the page; what it shows comes by itself."""
    content: list[Child] = [
        element("h1", "Crawl"),
        element("p", "Reading the state …", id="state", class_="state", role="status"),
        element("p", "", id="idle", class_="note", role="status", hidden=True),
        element("div", element("progress", "", id="first-pass-bar", max=1, value=0,
                               aria_labelledby="first-pass-words"),
                element("p", "", id="first-pass-words"), id="first-pass", hidden=True),
        element("noscript", element("p", "This page needs JavaScript; the same facts are at ",
                element("a", "/api/status", href="/api/status"), ", and what was found where ",
                element("a", "in a table", href="/activity"), ".")),
        element("div", _figures(), _freshness(), _activity(), _changes(), _fetches(),
                _troubles(), _hosts(), _pages(), _robots(),
                id="crawl", hidden=True),
        element(
            "div",
            element("h2", "Nothing to show yet"),
            element("p", "", id="nothing-why"),
            element("p", "Start a crawl with ", element("code", "recrawl run"),
                    ", or have one made up on this machine with ",
                    element("code", "recrawl demo"), ".",
                    id="how-to-start", hidden=True),
            class_="message", id="nothing", hidden=True,
        ),
    ]  # fmt: skip
    return document(
        "Crawl · recrawl",
        content,
        place="/dashboard",
        styles=("vendor/uplot.css",),
        scripts=("vendor/uplot.js", "figures.js", "charts.js", "dashboard.js"),
    )


def _figure(name: str, identifier: str, *, is_words: bool = False) -> Markup:
    return element(
        "div",
        element("dt", name),
        element("dd", element("span", "–", id=identifier, class_="words" if is_words else "big"),
                element("span", "", id=f"{identifier}-more", class_="quiet")),
    )  # fmt: skip


def _figures() -> Markup:
    return element(
        "dl",
        _figure("Fresh now, by weight", "freshness"),
        _figure("Budget", "budget"),
        _figure("Price of a fetch", "price", is_words=True),
        _figure("20 % more budget would buy", "gain"),
        _figure("Due now", "due"),
        _figure("Answers 304", "not-modified"),
        class_="figures",
    )


def _section(title: str, lead: str, *content: Child, identifier: str) -> Markup:
    return element(
        "section",
        element("h2", title, id=f"{identifier}-title"),
        element("p", lead, class_="quiet") if lead else None,
        *content,
        aria_labelledby=f"{identifier}-title",
    )


def _picture(identifier: str, words: str) -> Markup:
    return element("div", id=identifier, class_="picture", role="img", aria_label=words)


def _freshness() -> Markup:
    return _section(
        "Freshness over time",
        "Share of the copies that were fresh, by weight, as far as the visits since tell, with its "
        "95 % interval; the dashed line is what the plan in force promises in the long run.",
        _picture("freshness-picture", "Freshness over time"),
        identifier="freshness-section",
    )


def _activity() -> Markup:
    return _section(
        "What is happening on this web",
        "Changes that visits found, by directory over time: the stronger the colour, the more; "
        "a line below a cell is pages that are new.",
        element("ul", id="fast", class_="fast", hidden=True),
        element("p", "", id="activity-words", class_="quiet"),
        element("div", id="activity", class_="activity", role="region", tabindex=0,
                aria_label="Activity by directory", hidden=True),
        element("p", element("a", "The same as a table", href="/activity"), class_="quiet",
                id="activity-table", hidden=True),
        identifier="activity-section",
    )  # fmt: skip


def _robots() -> Markup:
    left = element(
        "div",
        _picture("robots-picture", "Robots active by the length of the buffer"),
        element("p", id="robots-words", class_="quiet"),
    )
    right = element(
        "div",
        empty_table("model", "What the control predicts, and what happened",
               ("", "predicted", "measured")),
        element("p", id="model-words", class_="quiet"),
        id="model-side",
    )  # fmt: skip
    return _section(
        "Robots and buffer",
        "",
        element("p", id="robots-lead", class_="quiet"),
        element("div", left, right, class_="two"),
        identifier="robots-section",
    )


def _fetches() -> Markup:
    return _section(
        "Visits",
        "",
        _picture("fetches-picture", "Visits over time"),
        empty_table(
            "spending",
            "What the latest thousand visits were for, and what they brought",
            (
                "",
                "visits",
                "share",
                "new copies",
                "changed",
                "new addresses",
                "troubles",
                "brought by a visit",
            ),
        ),
        element(
            "div",
            empty_table("outcomes", "Visits by outcome", ("outcome", "visits", "share", "")),
            empty_table("states", "Pages by state", ("state", "pages")),
            class_="two",
        ),
        identifier="fetches-section",
    )


def _changes() -> Markup:
    return _section(
        "Recent changes",
        "",
        element("p", "", id="changes-words", class_="quiet"),
        element("ul", id="changes", class_="changes"),
        identifier="changes-section",
    )


def _troubles() -> Markup:
    return _section(
        "Troubles, and pages that are left out",
        "",
        element("p", "", id="troubles-words", class_="quiet"),
        empty_table("troubles", "Troubles among the latest visits, by kind",
               ("what happened", "visits", "pages", "the latest at")),
        empty_table("left-out", "Why pages that were visited are not in the index",
               ("reason", "pages", "one of them")),
        empty_table("refused", "Addresses that were found and not taken in",
               ("host", "why", "addresses")),
        identifier="troubles-section",
    )  # fmt: skip


def _hosts() -> Markup:
    headings = ("host", "pages", "due", "over an hour", "robots.txt", "at most", "a visit costs",
                "now")  # fmt: skip
    return _section(
        "Hosts",
        "Hosts that are left alone come first, then those at their limit, where a visit costs more "
        "than the price. The limit is the longer of our own delay and what robots.txt asks for.",
        empty_table("hosts", "Hosts", headings, is_named=True),
        identifier="hosts-section",
    )


def _pages() -> Markup:
    return _section(
        "Pages",
        "",
        element(
            "div",
            empty_table("valuable", "Whose visit now would be worth the most",
                   ("page", "worth", "stale with", "due")),
            empty_table("slowest", "Slowest to answer, among the latest visits",
                   ("page", "takes", "visits")),
            class_="two",
        ),
        identifier="pages-section",
    )  # fmt: skip
