"""Recent changes, troubles by kind, and pages left out of the index, with reasons."""

from collections.abc import Iterable
from typing import Any, Final

from recrawl.crawler.ports import Frontier
from recrawl.crawler.wiring.stores import CrawlHistory
from recrawl.errors import failure_words
from recrawl.terms import Difference

_CHANGES: Final = 8
_AMONG: Final = 20_000  # visits that troubles are looked for in
_SPENT_AMONG: Final = 1_000
_PURPOSES: Final = {
    "first": "first visits of pages",
    "again": "visits of pages known",
    "listings": "sitemaps and feeds",
}
_MOST_PAGES: Final = 20_000  # that are asked why they are left out
_KINDS: Final = 8
_GROUPS: Final = 200
_NOTED: Final = 160  # characters
_STATUS: Final = {
    "server-error": "the server is in trouble",
    "throttled": "the server asks for fewer requests",
    "denied": "the server refuses",
    "not-found": "not found",
    "too-large": "the answer is too large",
    "poison": "reading it takes too long or too much memory",
}
_LEFT_OUT: Final = {
    "moved": "leads to another address",
    "gone": "is gone",
    "missing": "was not found, or empty; it is looked at once more before it is given up",
    "disallowed": "robots.txt forbids it",
}
_NOTES: Final = {
    "noindex": "asks not to be indexed (noindex)",
    "nofollow": "asks that no link in it be followed (nofollow)",
    "canonical elsewhere": "says what the page says that it names as its canonical address",
}


def note_words(note: str) -> str:
    """Return in words what was noted of a visit."""
    return _NOTES.get(note, note)


def recent_changes(frontier: Frontier) -> list[dict[str, Any]]:
    """Return what pages said anew, the latest first: address, title, instant and lines."""
    return [change_lines(one) for one in frontier.differences(limit=_CHANGES)]


def change_lines(one: Difference) -> dict[str, Any]:
    """Return a change with its lines parted into sign and text."""
    lines = [(line[:1], line[1:]) for line in one.text.split("\n") if line]
    return {"url": one.url, "title": one.title, "found_at": one.found_at_s, "lines": lines}


def troubles(history: CrawlHistory) -> list[dict[str, Any]]:
    """Return the troubles among the latest 20,000 visits by kind, with an example of each."""
    told = []
    for outcome, status, kind, visits, pages, latest in history.troubles(_AMONG, limit=_KINDS):
        url, at_s, note = history.visit_example(latest)
        why = _STATUS.get(outcome) or (failure_words(kind) if kind else outcome)
        told.append(
            {
                "why": f"{why} ({status})" if status else why,
                "outcome": outcome,
                "visits": visits,
                "pages": pages,
                "example": url,
                "at": at_s,
                "note": (note or "")[:_NOTED],
            }
        )
    return told


def spending(history: CrawlHistory) -> list[dict[str, Any]]:
    """Return what the latest thousand visits were for, and what they brought, by purpose.

    ``brought`` is how many new and changed copies and new addresses came of a visit on average.
    """
    told = []
    for purpose, visits, new, changed, troubled, found in history.spending(_SPENT_AMONG):
        told.append(
            {
                "purpose": _PURPOSES[purpose],
                "visits": visits,
                "new": new,
                "changed": changed,
                "found": found,
                "troubled": troubled,
                "brought": (new + changed + found) / visits,
            }
        )
    return told


def left_out(history: CrawlHistory) -> list[dict[str, Any]]:
    """Return why pages that were visited are not in the index: reason, pages, an example.

    Of the first 20,000 such pages.
    """
    found: dict[str, dict[str, Any]] = {}
    rows: Iterable[tuple[Any, ...]] = history.left_out(_MOST_PAGES, limit=_GROUPS)
    for state, outcome, status, note, pages, example in rows:
        why = why_left_out(state, outcome, status, note)
        row = found.setdefault(why, {"why": why, "state": state, "pages": 0, "example": example})
        row["pages"] += pages
    return sorted(found.values(), key=lambda row: (-row["pages"], row["why"]))[:_KINDS]


def why_left_out(state: str, outcome: str | None, status: int | None, note: str | None) -> str:
    """Say why a page is not in the index, from its last visit that saw anything of it.

    Parameters
    ----------
    state : of the page, a value of PageState
    outcome : of that visit, a value of Outcome; None: there was none
    status : of its HTTP answer; None: there was none
    note : what the visit noted for people
    """
    if state == "excluded":
        if note in _NOTES:
            return _NOTES[note]
        if outcome == "unsupported" and note:
            return f"cannot be indexed: {note}"
        if outcome in _STATUS:
            return f"{_STATUS[outcome]} ({status})" if status else _STATUS[outcome]
        return f"excluded{f' ({outcome})' if outcome else ''}"
    if state in ("gone", "missing") and status is not None and status >= 400:
        return f"{_LEFT_OUT[state]} ({status})"
    return _LEFT_OUT.get(state, state)
