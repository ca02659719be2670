"""Activity of a web: what was found where and when, and which directories change fast."""

from collections import Counter
from math import floor
from typing import Any, Final

import msgspec

from recrawl.crawler.control.urls import directory_of
from recrawl.crawler.ports import Frontier
from recrawl.errors import StateError
from recrawl.quantities import show_duration
from recrawl.terms import PlanRecord

_DIRECTORIES: Final = 12
_BINS: Final = 48
_FAST: Final = 8
_AMONG: Final = 300_000  # of the latest visits
_MOST: Final = 50_000  # copies that are counted
_STEPS_S: Final = (
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600,
)  # fmt: skip
_LONGEST_S: Final = float(_STEPS_S[-1] * (_BINS - 1))


class _Clock(msgspec.Struct):
    """A group as the planner writes it down."""

    group: str
    factor: float
    found: float
    expected: float
    for_s: float


def activity_report(
    frontier: Frontier, plan: PlanRecord | None, *, now_s: float, limit: int = _MOST
) -> dict[str, Any]:
    """Return what was found by directory over time, and the directories that change fast now.

    Parameters
    ----------
    frontier : of the crawl
    plan : the one in force, which tells of clocks
    now_s : the instant
    limit : copies that are counted at most, the latest; the time told of begins with them

    Returns
    -------
    dict
        ``since``, ``step`` and ``bins``: at most 48 bins of equal length, the last of which holds
        the instant; they begin when something was found first, at most twelve days ago.
        ``directories``: at most twelve, those with most changes first, each with changes found and
        pages that are new, in all and by bin. ``others``: the sum of all others. ``fast``: at most
        eight groups whose clocks run fast, those with most to tell first, with ``factor``, what is
        ``found`` and ``expected`` by the clocks in the latest ``for_s`` seconds, and ``changes``
        and ``new`` pages that visits found since, and all that in ``words``; None: the policy has
        no clocks.

    Notes
    -----
    Reads at most 50,000 copies among the latest 300,000 visits.
    """
    found = frontier.found_since(now_s - _LONGEST_S, among=_AMONG, limit=limit)
    first_s = min((at_s for _, at_s, _ in found), default=now_s)
    step_s = next(
        (float(step) for step in _STEPS_S if _n_bins(first_s, now_s, step) <= _BINS),
        float(_STEPS_S[-1]),
    )
    n_bins = _n_bins(first_s, now_s, step_s) if found else 0
    since_s = step_s * (floor(now_s / step_s) + 1 - n_bins)
    counts: Counter[tuple[str, bool, int]] = Counter()
    totals: Counter[tuple[str, bool]] = Counter()
    for url, at_s, is_new in found:
        directory = directory_of(url)
        place = min(max(floor((at_s - since_s) / step_s), 0), n_bins - 1)
        counts[directory, is_new, place] += 1
        totals[directory, is_new] += 1
    order = sorted(
        {directory for directory, _ in totals},
        key=lambda name: (-totals[name, False], -totals[name, True], name),
    )
    rest = order[_DIRECTORIES:]
    return {
        "since": since_s,
        "step": step_s,
        "bins": n_bins,
        "directories": [
            {
                "directory": name,
                "changes": totals[name, False],
                "new": totals[name, True],
                "changes_by_bin": [counts[name, False, place] for place in range(n_bins)],
                "new_by_bin": [counts[name, True, place] for place in range(n_bins)],
            }
            for name in order[:_DIRECTORIES]
        ],
        "others": {
            "directories": len(rest),
            "changes": sum(totals[name, False] for name in rest),
            "new": sum(totals[name, True] for name in rest),
        },
        "fast": _fast(plan, found, now_s),
    }


def _n_bins(first_s: float, now_s: float, step_s: float) -> int:
    return max(floor(now_s / step_s) - floor(first_s / step_s), 0) + 1


def _fast(
    plan: PlanRecord | None, found: list[tuple[str, float, bool]], now_s: float
) -> list[dict[str, Any]] | None:
    """Return the groups that changed fast at a plan, unless that was long ago."""
    if plan is None or plan.measure != "foresight":
        return None
    try:
        clocks = [
            one
            for line in plan.clocks.splitlines()
            for one in msgspec.json.decode(line, type=list[_Clock])
        ]
    except msgspec.MsgspecError as error:
        raise StateError(
            f"the plan in force tells of clocks what cannot be read: {error}"
        ) from None
    recent = [one for one in clocks if now_s - plan.solved_at_s <= one.for_s]
    recent.sort(key=lambda one: one.expected - one.found)
    told = []
    for one in recent[:_FAST]:
        since_s, whose = plan.solved_at_s - one.for_s, one.group.removesuffix("*")
        news = [is_new for url, at_s, is_new in found if at_s >= since_s and url.startswith(whose)]
        counts = {"changes": news.count(False), "new": news.count(True)}
        row = msgspec.structs.asdict(one) | counts
        told.append(row | {"words": _fast_words(row)})
    return told


def _fast_words(one: dict[str, Any]) -> str:
    """Say what was found in a group that changes fast, but for its name."""
    changes, new = one["changes"], one["new"]
    said = f"{changes:,} {'change' if changes == 1 else 'changes'}"
    said += f" and {new:,} new {'page' if new == 1 else 'pages'}" if new else ""
    return (
        f"{one['factor']:.2g} times as fast as usual: {said} found in "
        f"{show_duration(one['for_s'])}, where {one['expected']:.2g} were expected"
    )
