"""Copies of one page: the same text at several addresses is one result.

So is nearly the same text at an address that has one parameter more, as a view for the printer has.
"""

from dataclasses import dataclass, field
from typing import Any, Final

from recrawl.crawler.control.doubts import less_specific
from recrawl.crawler.control.gists import gist, is_near

__all__ = ["Group", "without_copies"]

_NO_COPY: Final = 0
_MORE: Final = 10  # hits that are looked at beyond those asked for
_MOST_LOOKED_AT: Final = 100  # results, the best, among which near copies are looked for


@dataclass(slots=True)
class Group:
    """Places of copies in an index, the best ranked first."""

    score: float
    addresses: list[Any] = field(default_factory=list)


def without_copies(searcher: Any, query: Any, most: int) -> tuple[int, list[Group]]:
    """Return the number of results, and the first of them, copies together.

    Copies are seen among the results that were looked at; so the number may be too large by those
    that come later. O(``most``), and more where there are many copies.
    """
    limit = most + _MORE
    while True:
        found = searcher.search(query, limit=limit, count=True)
        addresses = [address for _, address in found.hits]
        contents = searcher.fast_field_values("content", addresses) if addresses else []
        groups: dict[tuple[int, int], Group] = {}
        for row, ((score, address), content) in enumerate(zip(found.hits, contents, strict=True)):
            key = (content, 0) if content else (_NO_COPY, row)
            groups.setdefault(key, Group(float(score))).addresses.append(address)
        results = _with_variants(searcher, list(groups.values()))
        if len(results) >= most or len(addresses) < limit:
            return (found.count or 0) - (len(addresses) - len(results)), results[:most]
        limit *= 2


def _with_variants(searcher: Any, groups: list[Group]) -> list[Group]:
    """Put near copies together whose addresses differ by a parameter, under the better ranked."""
    pages = [searcher.doc(group.addresses[0]) for group in groups[:_MOST_LOOKED_AT]]
    places = {str(page["url"][0]): place for place, page in enumerate(pages)}
    leads = dict.fromkeys(range(len(groups)))  # places of results that stay
    for url, place in places.items():
        for base in less_specific(url) if "?" in url else ():
            first, later = sorted((place, places.get(base, place)))
            if first < later and first in leads and later in leads:
                near = [_near(pages[one]) for one in (first, later)]
                if is_near(*near):
                    groups[first].addresses += groups[later].addresses
                    del leads[later]
    return [groups[place] for place in leads]


def _near(page: Any) -> int:
    return gist(str(page["text"][0]), str(page["url"][0])).near
