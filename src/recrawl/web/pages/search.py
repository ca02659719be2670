"""The search page: works without a script."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from urllib.parse import quote, urlencode

from recrawl.terms import Hit
from recrawl.web.markup import GAP, Child, Markup, Pattern, element, joined, link
from recrawl.web.pages.layout import ago, counted, document

PER_PAGE: Final = 10
AGES: Final[Mapping[str, tuple[str, float | None]]] = {
    "": ("any age", None),
    "hour": ("up to an hour old", 3_600.0),
    "day": ("up to a day old", 86_400.0),
    "week": ("up to a week old", 7 * 86_400.0),
    "month": ("up to a month old", 30 * 86_400.0),
}
_LAST_PAGE: Final = 100


@dataclass(frozen=True, slots=True)
class SearchQuestion:
    """Search request: text, host, age (a key of ``AGES``), and which page of the hits."""

    text: str = ""
    host: str = ""
    age: str = ""
    page: int = 1

    def url(self, **changes: str | int) -> str:
        """Return the address of this search, or of one that differs in something."""
        told = {"q": self.text, "host": self.host, "age": self.age, "page": self.page} | changes
        kept = {
            name: value for name, value in told.items() if value and (name, value) != ("page", 1)
        }
        return f"/?{urlencode(kept)}"


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Search result: one page of the hits.

    Parameters
    ----------
    total, hits : matches, and this page of them
    took_s : by the index
    seen_s : when each address was last seen, changed or not
    suggestion : another spelling, where nothing was found
    notes : what of the query was not understood
    """

    total: int = 0
    hits: tuple[Hit, ...] = ()
    took_s: float = 0.0
    seen_s: Mapping[str, float] | None = None
    suggestion: str | None = None
    notes: tuple[str, ...] = ()


def search_page(
    question: SearchQuestion,
    result: SearchResult | None,
    *,
    hosts: Sequence[str],
    n_documents: int | None,
    now_s: float,
    trouble: str | None = None,
) -> str:
    """Return the page: only the box without a result, and the box above the hits with one."""
    home = not question.text and trouble is None
    content: list[Child] = [_form(question, hosts, home=home)]
    if trouble is not None:
        what = element("h2", "There is nothing to search yet")
        content.append(element("div", what, element("p", trouble), class_="message"))
    elif result is None:
        content.append(_hints(n_documents))
    elif result.hits:
        content += [_summary(question, result), _hits(result, now_s), _pages(question, result)]
    elif result.total:
        content.append(_beyond(question, result))
    else:
        content.append(_nothing(question, result, n_documents))
    title = f"{question.text} · recrawl" if question.text else "recrawl search"
    return document(title, content, place="/", body_class="home" if home else None)


def _form(question: SearchQuestion, hosts: Sequence[str], *, home: bool) -> Markup:
    return _empty_form(question.age, home).fill(question.text, question.host, _names(tuple(hosts)))


@lru_cache(maxsize=16)
def _empty_form(age: str, home: bool) -> Pattern:
    ages = [
        element("option", words, value=key, selected=key == age) for key, (words, _) in AGES.items()
    ]
    box = element(
        "input",
        type="search",
        name="q",
        id="q",
        value=GAP,
        maxlength=1000,
        autocomplete="off",
        spellcheck="false",
        dir="auto",  # from right to left where the words are
        autofocus=home,
        aria_label="Search the index",
        placeholder="Search the index",
    )
    return Pattern(element(
        "form",
        element("h1", "Search", class_="unseen"),
        element("div", box, element("button", "Search", type="submit"), class_="box"),
        element(
            "div",
            element("label", "Host ", element(
                "input", name="host", value=GAP, list="hosts", placeholder="all",
                autocomplete="off", spellcheck="false",
            )),
            GAP,
            element("label", "Copies ", element("select", ages, name="age")),
            class_="filters",
        ),
        action="/",
        method="get",
        role="search",
        class_="search",
    ))  # fmt: skip


@lru_cache(maxsize=4)
def _names(hosts: tuple[str, ...]) -> Markup:
    return element("datalist", [element("option", value=host) for host in hosts], id="hosts")


def _hints(n_documents: int | None) -> Markup:
    many = f"{n_documents:,} pages in the index." if n_documents is not None else ""
    return element(
        "p",
        many,
        " ",
        element("code", '"words in quotes"'),
        " stand together, ",
        element("code", "-word"),
        " must not occur, ",
        element("code", "title:word"),
        " is in the title, ",
        element("code", "OR"),
        " finds either. ",
        element("kbd", "/"),
        " goes to the box, ",
        element("kbd", "j"),
        " and ",
        element("kbd", "k"),
        " go through the hits.",
        class_="quiet hints",
    )


def _summary(question: SearchQuestion, result: SearchResult) -> Markup:
    first = (question.page - 1) * PER_PAGE + 1
    last = first + len(result.hits) - 1
    return joined(
        [
            element(
                "p",
                f"{first:,} to {last:,} of {result.total:,} pages, "
                f"in {max(1000 * result.took_s, 0.1):.2g} ms",
                class_="quiet",
                role="status",
            ),
            _notes(result),
        ]
    )


def _notes(result: SearchResult) -> Markup | None:
    if not result.notes:
        return None
    return element("p", f"Of the query, {'; '.join(result.notes)}.", class_="note")


def _hits(result: SearchResult, now_s: float) -> Markup:
    return element("ol", [_hit(hit, result, now_s) for hit in result.hits], class_="hits")


def _hit(hit: Hit, result: SearchResult, now_s: float) -> Markup:
    seen_s = (result.seen_s or {}).get(hit.url)
    age: list[Child] = [ago(hit.fetched_at_s, now_s)]
    if seen_s is not None and seen_s > hit.fetched_at_s + 1.0:
        age += [" · seen unchanged ", ago(seen_s, now_s)]
    title = link(hit.url, hit.title.strip() or hit.url)
    return _HIT.fill(title, hit.url, _snippet(hit), age, f"/page?url={quote(hit.url, safe='')}")


_HIT: Final = Pattern(
    element(
        "li",
        element("h2", GAP, dir="auto"),
        element("p", element("bdi", GAP), class_="address"),
        element("p", GAP, class_="snippet", dir="auto"),
        element(
            "p",
            "copy of ",
            GAP,
            " · ",
            element("a", "why visited when it is", href=GAP),
            class_="quiet",
        ),
    )
)
_MARK: Final = Pattern(element("mark", GAP))


def _snippet(hit: Hit) -> list[Child]:
    parts: list[Child] = []
    done = 0
    for start, end in hit.highlights:
        if start < done or end > len(hit.snippet):
            continue
        parts += [hit.snippet[done:start], _MARK.fill(hit.snippet[start:end])]
        done = end
    return [*parts, hit.snippet[done:]]


def _last_page(result: SearchResult) -> int:
    return min(-(-result.total // PER_PAGE), _LAST_PAGE)


def _pages(question: SearchQuestion, result: SearchResult) -> Markup | None:
    last = _last_page(result)
    if last <= 1:
        return None
    near = [n for n in range(question.page - 3, question.page + 4) if 1 <= n <= last]
    numbers = sorted({1, last, *near})
    entries: list[Child] = []
    if question.page > 1:
        entries.append(
            element("a", "Earlier", href=question.url(page=question.page - 1), rel="prev")
        )
    for before, number in zip([0, *numbers], numbers, strict=False):
        if number > before + 1:
            entries.append(element("span", "…"))
        current = "page" if number == question.page else None
        entries.append(element("a", number, href=question.url(page=number), aria_current=current))
    if question.page < last:
        entries.append(
            element("a", "Further", href=question.url(page=question.page + 1), rel="next")
        )
    return element("nav", entries, class_="pages", aria_label="Pages of hits")


def _beyond(question: SearchQuestion, result: SearchResult) -> Markup:
    """Say that fewer pages match than a link from earlier, or by hand, asks for."""
    last = _last_page(result)
    there = element("a", f"Go to page {last}", href=question.url(page=last))
    words = f"{counted(result.total, 'page')} in all; there is no page {question.page} of them."
    return element(
        "div", element("h2", "No more hits"), element("p", words, role="status"),
        element("p", there), class_="message",
    )  # fmt: skip


def _nothing(question: SearchQuestion, result: SearchResult, n_documents: int | None) -> Markup:
    among = f"None of {n_documents:,} pages matches" if n_documents else "Nothing matches"
    parts: list[Child] = [
        element("h2", "Nothing found"),
        element("p", f"{among} ", element("strong", question.text), ".", role="status"),
        _notes(result),
    ]
    if result.suggestion:
        parts.append(
            element(
                "p",
                "Did you mean ",
                element("a", result.suggestion, href=question.url(q=result.suggestion, page=1)),
                "?",
            )
        )
    if question.host or question.age:
        everywhere = question.url(host="", age="", page=1)
        parts.append(element("p", element("a", "Search all hosts and ages", href=everywhere)))
    return element("div", parts, class_="message")
