"""Changes found beside a page, and how much of its next visit's time is due to them."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from recrawl.crawler.control.revisiting.revisit_policy import BY_PLAN
from recrawl.crawler.control.urls import directory_of, host_of, path_of
from recrawl.crawler.ports import Frontier
from recrawl.quantities import show_duration, show_number
from recrawl.terms import PageDetails, PlanRecord

_DAY_S: Final = 86_400.0
_LONGEST_S: Final = 30.0 * _DAY_S
_AMONG: Final = 300_000  # of the latest visits
_MOST: Final = 20_000  # copies that are looked through
_NAMED: Final = 8  # companions that are named


def companions_report(
    frontier: Frontier, details: PageDetails, plan: PlanRecord | None, *, now_s: float
) -> dict[str, Any] | None:
    """Say what was found beside a page since its last visit, and what that moved.

    Parameters
    ----------
    frontier : of the crawl
    details : of the page
    plan : the one in force
    now_s : the instant

    Returns
    -------
    dict or None
        None: the policy does not look at companions, or the page was not visited yet. ``directory``
        is the innermost one around the page in which others have changed since, None where none
        has; ``n_changed`` of them, the first at ``since``, the latest of them in ``changed``. By
        the page's own rate alone it would be visited again ``own_interval_s`` after its last visit,
        with its companions ``interval_s`` after it: ``sooner_s`` (negative: later), which is
        ``share`` of the former. All four are None while no plan has moved the page for their sake
        by a twentieth. ``words`` says all that in a sentence.
    """
    if plan is None or plan.measure != "foresight" or details.last_visit_s is None:
        return None
    since_s = max(details.last_visit_s, now_s - _LONGEST_S)
    found = frontier.found_since(since_s, among=_AMONG, limit=_MOST)
    directory, changes = _around(details.url, [one for one in found if not one[2]])
    changed: dict[str, float] = {}
    for url, at_s in changes:  # the latest first
        changed.setdefault(url, at_s)
    report: dict[str, Any] = {
        "directory": directory,
        "n_changed": len(changed),
        "since": min((at_s for _, at_s in changes), default=None),
        "changed": [{"url": url, "found_at": changed[url]} for url in list(changed)[:_NAMED]],
        "own_interval_s": None,
        "interval_s": None,
        "sooner_s": None,
        "share": None,
    }
    if details.own_due_s is not None and details.due_why == BY_PLAN:
        own_s = details.own_due_s - details.last_visit_s
        sooner_s = details.own_due_s - details.due_s
        report.update(
            own_interval_s=own_s,
            interval_s=details.due_s - details.last_visit_s,
            sooner_s=sooner_s,
            share=sooner_s / own_s if own_s > 0.0 else 0.0,
        )
    return report | {"words": _words(report, now_s)}


def _around(
    url: str, changes: Sequence[tuple[str, float, bool]]
) -> tuple[str | None, list[tuple[str, float]]]:
    """Return the innermost directory around a page with changes of others, and these."""
    directory, host = directory_of(url), f"{host_of(url)}/"
    while True:
        inside = [
            (other, at_s)
            for other, at_s, _ in changes
            if other != url and other.startswith(directory)
        ]
        if inside:
            return directory, inside
        if directory == host:
            return None, []
        directory = directory_of(directory[:-1])


def _words(report: dict[str, Any], now_s: float) -> str:
    n, sooner_s, own_s = report["n_changed"], report["sooner_s"], report["own_interval_s"]
    if n:
        pages, have = ("page", "has") if n == 1 else ("pages", "have")
        said = f"{show_number(n)} {pages} of {path_of(report['directory'])} {have} changed since "
        said += since_words(report["since"], now_s)
    else:
        said = "nothing beside it was found to have changed since its last visit"
    if sooner_s is None or abs(report["share"]) < 0.005:
        return f"{said}; that leaves its next visit as it is"
    way = "brought forward" if sooner_s > 0.0 else "put off"
    by = show_duration(abs(sooner_s))
    return (
        f"{said}; the next visit is {way} by {by}, {abs(report['share']):.0%} of the "
        f"{show_duration(own_s)} by its own rate alone"
    )


def since_words(at_s: float, now_s: float) -> str:
    """Say since when: a time of today, a day of the week that has passed, or a date; UTC.

    Parameters
    ----------
    at_s : since when, epoch seconds
    now_s : the instant it is said, >= ``at_s``
    """
    at, now = (datetime.fromtimestamp(one, UTC) for one in (at_s, now_s))
    if at.date() == now.date():
        return f"{at:%H:%M} today"
    return f"{at:%A}" if now_s - at_s < 6.0 * _DAY_S else f"{at.day} {at:%B}"
