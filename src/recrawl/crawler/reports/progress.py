"""Progress of a crawl, and in words why it fetches nothing."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from recrawl.crawler.control.addresses.intake import LOW_YIELD
from recrawl.crawler.facts import PlanFacts, SettingsFacts
from recrawl.crawler.reports.sharing import Sharing
from recrawl.quantities import show_duration
from recrawl.terms import HostRecord, PageState, PlanRecord

_QUIET_S: Final = 60.0
_MOST_FETCHES: Final = 1e7  # a day, for a page: more say no more than that it is not worth them
_HELD_UP_S: Final = 5.0  # the same where no host can be asked
_NAMED: Final = 4
_DONE: Final = 0.01  # of the pages known may be yet to come when the first pass is over


def first_pass_of(
    counts: Mapping[PageState, int], refused: Iterable[tuple[str, str, int]]
) -> dict[str, int] | None:
    """Return how far the first pass is; None once it is over.

    Parameters
    ----------
    counts : pages by state
    refused : as a frontier tells it; what is put off, as its kind of address brought nothing, is
        not waited for

    Returns
    -------
    dict or None
        ``known``, ``indexed``, and ``to_come``: pages that no visit has told anything of.
    """
    put_off = sum(n for _, why, n in refused if why == LOW_YIELD)
    known = sum(counts.values()) - put_off
    to_come = max(counts.get(PageState.DISCOVERED, 0) - put_off, 0)
    if to_come <= max(2.0, _DONE * known) and known > to_come:
        return None
    return {"known": known, "indexed": counts.get(PageState.INDEXED, 0), "to_come": to_come}


def fetch_price(plan: PlanRecord | None, facts: PlanFacts) -> float | None:
    """Return what one more fetch is worth in the long run of a plan.

    In pages of average weight, times seconds.

    Parameters
    ----------
    plan : the one in force; None: there is none, and no price
    facts : of that plan
    """
    if plan is None:
        return None
    return plan.price if facts.fetch_worth is None else facts.fetch_worth


def price_words(price: float) -> str:
    """Say what one more fetch is worth, as a number that people can read.

    Parameters
    ----------
    price : pages of average weight, times seconds
    """
    pages = price / 86_400
    if pages >= 0.5:
        return f"one more fetch a day keeps {float(f'{pages:.2g}'):,g} more pages fresh"
    if pages * _MOST_FETCHES < 1.0:
        return "more fetches would keep hardly anything fresher"
    return f"{float(f'{1.0 / pages:.2g}'):,.10g} more fetches a day keep one more page fresh"


def fetches_words(price: float) -> str:
    """Say how many more fetches keep one more page fresh, as :func:`price_words` does."""
    pages = price / 86_400
    return (
        f"{float(f'{1.0 / pages:.2g}'):,.10g} a day"
        if pages * _MOST_FETCHES >= 1.0
        else "none would"
    )


def why_idle(
    now_s: float,
    last_fetch_s: float | None,
    hosts: Sequence[HostRecord],
    settings: SettingsFacts,
    pages: Mapping[PageState, int] | None = None,
) -> str | None:
    """Say why nothing is fetched; None while something is, or was a moment ago.

    Where all hosts with pages rest, or robots.txt forbids all pages, it is said after seconds: that
    does not pass by itself.

    Parameters
    ----------
    now_s, last_fetch_s : instants; of the start where nothing was fetched yet; None: unknown
    hosts : with the earliest due time of their pages
    settings : of the crawl
    pages : how many there are in each state, where that is known
    """
    budget = settings.budget_per_s or 1.0
    sharing = Sharing(hosts, settings, now_s)
    since_s = 0.0 if last_fetch_s is None else now_s - last_fetch_s
    states = {state for state, n in (pages or {}).items() if n}
    is_forbidden = states == {PageState.DISALLOWED}
    is_held_up = is_forbidden or _all_rest(sharing.hosts, now_s)
    if since_s < (_HELD_UP_S if is_held_up else max(_QUIET_S, 5.0 / budget)):
        return None
    if is_forbidden:
        why = "robots.txt forbids every page that is known"
    elif PageState.MOVED in states and not states & {PageState.INDEXED, PageState.DISCOVERED}:
        why = "no page that is known is left: they have moved; recrawl status tells where to"
    else:
        n_put_off = (pages or {}).get(PageState.DISCOVERED, 0)
        why = _reasons(now_s, sharing, settings, n_put_off)
    return f"Nothing fetched for {show_duration(since_s)}: {why}"


def _all_rest(hosts: Sequence[HostRecord], now_s: float) -> bool:
    waiting = [host for host in hosts if host.next_due_s < float("inf")]
    return bool(waiting) and all(host.blocked_until_s > now_s for host in waiting)


def _reasons(now_s: float, sharing: Sharing, settings: SettingsFacts, n_put_off: int) -> str:
    waiting = [host for host in sharing.hosts if host.next_due_s < float("inf")]
    blocked = sorted(sharing.blocked(), key=lambda host: host.next_due_s)
    if not waiting:
        return "no page is known that may be visited"
    if blocked:
        told = [_rests(host, now_s) for host in blocked[:_NAMED]]
        if len(blocked) > _NAMED:
            told.append(f"{len(blocked) - _NAMED} other hosts rest too")
        return "; ".join(told)
    first = min(waiting, key=lambda host: host.next_due_s)
    next_s, shared = first.next_due_s, sharing.words(first)
    if next_s <= now_s and shared is not None:
        return f"{first.host} waits for its turn: it {shared}, of which one is asked at a time"
    if next_s <= now_s:
        return "pages are due; robots or indexer are busy with others"
    if settings.least_worth:
        return (
            f"no visit is worth plan.least_worth before {_clock(next_s, now_s)}: "
            "the budget is left unspent on purpose"
        )
    least_s = show_duration(settings.min_interval_s or 0.0)
    others = f", as {n_put_off:,} that were never read (see recrawl status)" if n_put_off else ""
    return (
        f"every page was visited less than {least_s} ago (revisit.min_interval) or waits for an "
        f"instant that is fixed{others}; the next is due at {_clock(next_s, now_s)}"
    )


def _rests(host: HostRecord, now_s: float) -> str:
    times = f", {host.failures} times in a row" if host.failures > 1 else ""
    return (
        f"{host.host} rests until {_clock(host.blocked_until_s, now_s)} "
        f"({host.blocked_why or 'blocked'}{times})"
    )


def _clock(instant_s: float, now_s: float) -> str:
    form = "%H:%M:%S" if instant_s - now_s < 20 * 3600.0 else "%Y-%m-%d %H:%M"
    return datetime.fromtimestamp(instant_s).astimezone().strftime(form)
