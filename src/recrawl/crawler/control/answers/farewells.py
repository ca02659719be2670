"""Texts with which pages end: "this advertisement has expired", told with status 200.

A page that has gone may say so in the words of its own kind, which are not what its host says of an
address that never existed. It is known by what comes of pages: one after another, over days, they
come to say the same, hardly one ever says something else again, and most others say something of
their own meanwhile. Where all of a host come to say the same it is closed, and where pages leave a
text again they had nothing to say for a while. What tells whose text it is, by a name or a number
("build 17 has passed"), is no farewell.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Final

from recrawl.crawler.control.answers.lifecycle import KEEPS
from recrawl.crawler.control.urls import host_of
from recrawl.terms import PageState, VisitedPage

ENDED: Final = "says what pages of its host end with, one after another"
_DAY_S: Final = 86_400.0
_FEWEST: Final = 5  # pages that end with a text
_DAYS: Final = 3  # on which some have come to say it
_APART: Final = 0.5  # of a day, from which on another one counts
_CALM: Final = 2  # changes of a page at most, the last one included, on average
_LEFT: Final = 0.1  # share of those that said it and say something else again
_FEW_WORDS: Final = 3
_MOST: Final = 20_000  # texts that are remembered


@dataclass(slots=True)
class _Ending:
    """A text that pages have come to say: how many, on how many days, and how many left it."""

    seen_before: int  # visits of the host until then
    came: int = 0
    left: int = 0
    said: int = 0  # visits that found it
    days: int = 0
    day_s: float = -inf  # when the last of those days began


class Farewells:
    """Learns with which texts the pages of a host end. In memory; bounded; O(text) a page."""

    def __init__(self) -> None:
        self._endings: dict[tuple[str, bytes], _Ending] = {}
        self._seen: Counter[str] = Counter()  # by host, visits that found something

    def recall(self, pages: Sequence[VisitedPage]) -> None:
        """Learn from what was known of pages before: those that went so, or seem to.

        Pages seem to have ended where they hold one text since different days, hardly changed but
        for that, and most of their host say something else: lists that have nothing to list
        changed more often.

        Parameters
        ----------
        pages : that were visited
        """
        n_each = Counter(page.signature for page in pages if page.changes)
        if max((n for signature, n in n_each.items() if signature), default=0) < _FEWEST:
            return  # as of most sites, of which this is all that it takes
        held: Counter[str] = Counter()
        went: Counter[tuple[str, bytes]] = Counter()
        alike: dict[tuple[str, bytes], list[VisitedPage]] = {}
        for page in pages:
            host = host_of(page.url)
            held[host] += page.state in KEEPS
            if page.signature is None:
                continue
            if page.state is PageState.GONE:
                went[host, page.signature] += 1
            elif page.state in KEEPS and page.changes:
                alike.setdefault((host, page.signature), []).append(page)
        for key, n in went.items():
            if n >= _FEWEST:
                self._endings[key] = _Ending(0, came=n, days=_DAYS)
        for (host, signature), found in alike.items():
            n, others = len(found), held[host] - len(found)
            days = len({page.indexed_at_s // _DAY_S for page in found if page.indexed_at_s})
            if n >= _FEWEST and sum(page.changes for page in found) <= _CALM * n:
                ending = _Ending(-n - others, came=n, said=n, days=days)
                self._endings.setdefault((host, signature), ending)

    def observe(
        self,
        url: str,
        text: str,
        *,
        before: bytes | None,
        after: bytes,
        is_held: bool,
        now_s: float,
    ) -> bool:
        """Tell whether what a page says is how pages of its host end; it is remembered.

        Parameters
        ----------
        url, text : of the page
        before, after : signatures of what it said, if that is known, and of what it says now
        is_held : whether it was there before: what had gone and says something else leaves a text
        now_s : instant of the visit
        """
        host = host_of(url)
        self._seen[host] += 1
        if before is not None and before != after:
            if (left := self._endings.get((host, before))) is not None:
                left.left += 1
            if (
                is_held and len(text.split(None, _FEW_WORDS)) >= _FEW_WORDS
            ):  # else too short to tell
                self._come(host, after, now_s)
        return self._says(host, after)

    def passed(self, url: str, signature: bytes | None) -> bool:
        """Tell the same of a page that says what it said, which is not read again.

        Parameters
        ----------
        url, signature : of the page, and of its copy
        """
        host = host_of(url)
        self._seen[host] += 1
        return signature is not None and self._says(host, signature)

    def _says(self, host: str, signature: bytes) -> bool:
        """Count a visit that found a text; tell whether pages end with it."""
        ending = self._endings.get((host, signature))
        if ending is None:
            return False
        ending.said += 1
        others = self._seen[host] - ending.seen_before - ending.said
        return (
            ending.came >= _FEWEST
            and ending.days >= _DAYS
            and ending.left <= _LEFT * ending.came
            and others >= ending.said
        )

    def _come(self, host: str, signature: bytes, now_s: float) -> None:
        ending = self._endings.pop((host, signature), None) or _Ending(self._seen[host] - 1)
        self._endings[host, signature] = ending
        if len(self._endings) > _MOST:
            del self._endings[next(iter(self._endings))]
        ending.came += 1
        if now_s - ending.day_s >= _APART * _DAY_S:
            ending.days, ending.day_s = ending.days + 1, now_s
