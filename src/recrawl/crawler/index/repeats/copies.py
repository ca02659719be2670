"""Copies of one page: the same text at several addresses is one result.

So is nearly the same text at an address that has one parameter more, as a view for the printer has.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from recrawl.crawler.control.addresses.doubts import less_specific
from recrawl.crawler.control.addresses.gists import nearly_same

_NO_COPY: Final = 0
_MORE: Final = 10  # hits that are looked at beyond those asked for
_MOST_LOOKED_AT: Final = 1_000  # results, the best, among which near copies are looked for

_Look = Callable[[int], tuple[int, Sequence["Found"]]]
_Read = Callable[[Any], str]


class Found(NamedTuple):
    """One page that a query finds.

    Parameters
    ----------
    score : by which it is ranked
    content : hash of title and text; 0: it says nothing that could be copied
    held : the page, or its place, as its index has it
    """

    score: float
    content: int
    held: Any


@dataclass(slots=True)
class Group:
    """Pages that say the same, as their index has them, the best ranked first."""

    score: float
    held: list[Any] = field(default_factory=list)


def without_copies(look: _Look, address: _Read, text: _Read, most: int) -> tuple[int, list[Group]]:
    """Return the number of results, and the first of them, copies together.

    Copies are seen among the pages that were looked at; so the number may be too large by those
    that come later. O(``most``), and more where there are many copies.

    Parameters
    ----------
    look : returns how many pages there are, and so many of them, best first
    address, text : of a page as it is held; texts are read of pages that may be near copies only
    most : results that are wanted
    """
    limit = most + _MORE
    while True:
        n, found = look(limit)
        groups: dict[tuple[int, int], Group] = {}
        for row, one in enumerate(found):
            key = (one.content, 0) if one.content else (_NO_COPY, row)
            groups.setdefault(key, Group(one.score)).held.append(one.held)
        results = _with_variants(address, text, list(groups.values()))
        if len(results) >= most or len(found) < limit:
            return n - (len(found) - len(results)), results[:most]
        limit *= 2


def _with_variants(address: _Read, text: _Read, groups: list[Group]) -> list[Group]:
    """Put near copies together whose addresses differ by a parameter, under the better ranked."""
    held = [group.held[0] for group in groups[:_MOST_LOOKED_AT]]
    places = {address(one): place for place, one in enumerate(held)}
    leads = dict.fromkeys(range(len(groups)))  # places of results that stay
    for url, place in places.items():
        for base in less_specific(url) if "?" in url else ():
            first, later = sorted((place, places.get(base, place)))
            is_open = first < later and first in leads and later in leads
            # What stands in the longer address is its name: the other one may show it too.
            if is_open and nearly_same(text(held[first]), text(held[later]), url):
                groups[first].held += groups[later].held
                del leads[later]
    return [groups[place] for place in leads]
