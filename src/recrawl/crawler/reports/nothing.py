"""Why a crawl indexed nothing, or nothing but its seeds, and what would change that."""

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from recrawl.crawler.control.dispatching.robots_txt import robots_from_answer
from recrawl.crawler.control.urls import host_of, join
from recrawl.crawler.ports import Frontier
from recrawl.crawler.reports.page import why_unknown
from recrawl.crawler.reports.recent import note_words
from recrawl.crawler.settings import Settings
from recrawl.errors import failure_words
from recrawl.terms import HostRecord, Outcome, PageState

_NAMED: Final = 4
_PRIVATE: Final = re.compile(rf"(https?://\S+)?(?:^|: ){failure_words('refused-address')}$")
_NOT_THERE: Final = {PageState.MISSING, PageState.GONE}  # as what a script names in passing may be
_LATEST: Final = 20  # visits of a seed, among which one has read it
_LOGIN: Final = "it asks for a user and a password, or another secret: [[access]] sends them"


def why_nothing(frontier: Frontier, settings: Settings) -> str | None:
    """Say why not a single page could be indexed, and what to do; None if one was.

    Parameters
    ----------
    frontier : of the crawl
    settings : with the seeds, which are asked first
    """
    counts = frontier.n_pages_by_state()
    # What was read and asks not to be indexed counts as new too, once.
    n_read = frontier.n_visits_by_outcome().get(Outcome.NEW, 0)
    if counts.get(PageState.INDEXED, 0) or n_read > counts.get(PageState.EXCLUDED, 0):
        return None
    hosts = {host.host: host for host in frontier.hosts()}
    told = [_why_not(frontier, url, hosts, settings) for url in settings.seeds[:_NAMED]]
    more = len(settings.seeds) - _NAMED
    told = list(dict.fromkeys(told))  # of a host that could not be asked, all seeds say the same
    return "; ".join([*told, *([f"and {more} more seeds"] if more > 0 else [])])


def why_only_seeds(frontier: Frontier, settings: Settings) -> str | None:
    """Say why no page is known but the seeds that were read, and what is not there; None if one is.

    Parameters
    ----------
    frontier : of the crawl
    settings : with the seeds
    """
    counts, n_seeds = frontier.n_pages_by_state(), len(settings.seeds)
    n_known = sum(n for state, n in counts.items() if state not in _NOT_THERE)
    if n_seeds > _NAMED or n_known > n_seeds or not counts.get(PageState.INDEXED):
        return None  # who names many pages may want no others
    told = []
    for url in settings.seeds:
        details = frontier.details(url, recent=_LATEST)
        if details is None or details.state is not PageState.INDEXED:
            return None
        note = next((visit.note for visit in details.recent if visit.note), None)
        told.append(
            _listed_elsewhere(frontier, url, settings)
            or f"{url} has no link to a page that belongs to the crawl, unless a script makes it "
            "([[render]] has it made)"
            if note is None
            else f"{url} {note_words(note)}"
        )
    return "; ".join(told)


def _listed_elsewhere(frontier: Frontier, seed: str, settings: Settings) -> str | None:
    """Say where a sitemap of a seed's host leads, if all that it names is out of the crawl."""
    home = f"{host_of(seed)}/"
    host = next((one for one in frontier.hosts() if f"{one.host}/" == home), None)
    named = []
    if host is not None and host.robots_status is not None:
        rules = robots_from_answer(settings.name, host.robots_status, host.robots_body or b"")
        named = rules.sitemaps[:_LATEST]
    for sitemap in [*named, "/sitemap.xml"]:
        address = join(home, sitemap)
        details = frontier.details(address, recent=_LATEST) if address is not None else None
        for visit in details.recent if details is not None else ():
            if visit.note:
                return f"{address} {note_words(visit.note)}"
    return None


def _why_not(
    frontier: Frontier, url: str, hosts: Mapping[str, HostRecord], settings: Settings
) -> str:
    details = frontier.details(url, recent=1)
    if details is None:
        return f"{url}: {why_unknown(url, settings)}; change [scope] or the seeds"
    host = hosts.get(host_of(url))
    blocked = host.blocked_why if host is not None and host.failures else None
    note = (details.recent[0].note or "") if details.recent else ""
    private = _PRIVATE.search(blocked or "")
    if private is not None or "not a public address" in note:
        place = url if private is None else private[1] or url
        leads = f"robots.txt of {url} leads to {place}, which" if place != url else url
        return (
            f"{leads} has a private address; if that is meant, add to allow_private under "
            f'[politeness]: "{urlsplit(place).hostname}"'
        )
    if details.state is PageState.DISALLOWED:
        return f"robots.txt of {host_of(url)} forbids {url} to {settings.name!r}"
    if details.state is PageState.MOVED:
        return _moved(url, details.redirect_url, settings)
    if details.state is PageState.EXCLUDED and note:
        return f"{url}: {note_words(note)}"
    if details.recent:
        last = details.recent[0]
        status = f" ({last.status})" if last.status else ""
        why = note or (_LOGIN if last.status == 401 else "")
        return f"{url}: {last.outcome}{status}{f', {why}' if why else ''}"
    if host is not None and host.blocked_why:
        return f"{host.host} could not be asked: {host.blocked_why}"
    return f"{url} was not reached before the end"


def _moved(url: str, target: str | None, settings: Settings) -> str:
    outside = why_unknown(target or url, settings)
    if outside.startswith("it is out"):
        name = host_of(target or url).partition("://")[2]
        return f'{url} leads to {target}: start there, or add "{name}" to scope.hosts'
    return f"{url} leads to {target}, where nothing could be indexed"
