"""Page of what-if plans: other numbers, solved at once, applied by nobody but the reader."""

from recrawl.web.markup import Child, Markup, element
from recrawl.web.pages.layout import document, empty_table

_ROWS = (
    ("freshness", "Fresh in the long run, by weight"),
    ("price", "Fetches for one more fresh page"),
    ("never", "Pages left alone"),
    ("hosts", "Hosts at their limit"),
    ("robots", "Robots active, on average"),
    ("starvation", "Indexer idle"),
    ("loss", "Pages lost"),
    ("sojourn", "Wait for the index"),
)


def what_if_page() -> str:
    """Return the page; the script asks the server for every plan."""
    content: list[Child] = [
        element("h1", "What if"),
        element("p", "Move a slider: the plan and the robots' control are solved anew for it. "
                "Nothing is applied.", class_="quiet"),
        element("noscript", element("p", "This page needs JavaScript.")),
        element("p", "Reading the state …", id="state", class_="state", role="status"),
        element(
            "div",
            element("form", _slider("budget", "Budget of all requests"),
                    _slider("delay", "Least delay between requests to a host"),
                    _slider("starvation", "Weight of an idle indexer"),
                    element("button", "Back to the present", type="reset"),
                    id="sliders", class_="sliders"),
            _answers(),
            class_="two", id="question", hidden=True,
        ),
        element(
            "div",
            _picture("Freshness that a budget buys", "trade-off"),
            element(
                "section",
                element("h2", "Robots by the length of the buffer"),
                element("div", id="curve-picture", class_="picture", role="img",
                        aria_label="Robots by the length of the buffer"),
                element("p", "", id="curve-words", class_="quiet"),
            ),
            class_="two", id="pictures", hidden=True,
        ),
        element(
            "section",
            element("h2", "Hosts at their limit", id="dearest-title"),
            element("p", "There politeness and not the budget says how often pages are visited; "
                    "what one more visit would be worth there is its price.", class_="quiet"),
            empty_table("dearest", "Hosts at their limit",
                        ("host", "pages", "at most", "a visit costs"), is_named=True),
            element("p", "", id="dearest-words", class_="quiet"),
            aria_labelledby="dearest-title", id="limits", hidden=True,
        ),
        element(
            "section",
            element("h2", "To apply it"),
            element("p", "The crawl takes these numbers at its next start:", class_="quiet"),
            element("pre", element("code", id="command"), tabindex=0),
            element("button", "Copy", type="button", id="copy"),
            id="apply", hidden=True,
        ),
    ]  # fmt: skip
    return document(
        "What if · recrawl",
        content,
        place="/what-if",
        styles=("vendor/uplot.css",),
        scripts=("vendor/uplot.js", "figures.js", "charts.js", "what-if.js"),
    )


def _slider(identifier: str, label: str) -> Markup:
    control = element(
        "input", type="range", id=identifier, min=-20, max=20, step=1, value=0,
        aria_describedby=f"{identifier}-now",
    )  # fmt: skip
    return element(
        "div",
        element("label", label, for_=identifier),
        element("output", "–", id=f"{identifier}-now", for_=identifier),
        control,
    )


def _answers() -> Markup:
    head = element("tr", element("td"), element("th", "now", scope="col", class_="number"),
                   element("th", "what if", scope="col", class_="number"))  # fmt: skip
    rows = [
        element("tr", element("th", words, scope="row"),
                element("td", "–", id=f"{name}-present", class_="number"),
                element("td", "–", id=f"{name}-then", class_="number strong"))
        for name, words in _ROWS
    ]  # fmt: skip
    table = element("table", element("caption", "What the plan promises"), element("thead", head),
                    element("tbody", rows, aria_live="polite"))  # fmt: skip
    return element("div", table, element("p", "", id="took", class_="quiet"))


def _picture(title: str, identifier: str) -> Markup:
    return element(
        "section",
        element("h2", title),
        element("div", id=f"{identifier}-picture", class_="picture", role="img", aria_label=title),
    )
