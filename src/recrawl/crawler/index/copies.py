"""Copies of one page: the same text at several addresses is one result."""

from dataclasses import dataclass, field
from typing import Any, Final

__all__ = ["Group", "without_copies"]

_NO_COPY: Final = 0
_MORE: Final = 10  # hits that are looked at beyond those asked for


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
        n_copies = len(addresses) - len(groups)
        if len(groups) >= most or len(addresses) < limit:
            return (found.count or 0) - n_copies, list(groups.values())[:most]
        limit *= 2
