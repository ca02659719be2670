"""Hosts whose pages have moved to where the crawl does not go."""

from typing import Any, Final

from recrawl.crawler.control.addresses.reach import Reach
from recrawl.crawler.ports import Frontier

_SHARE: Final = 0.2  # of a host's pages: where fewer lead away, its site has not moved
_MOST: Final = 20


def moved_away(frontier: Frontier) -> list[dict[str, Any]]:
    """Return hosts of which many pages lead to a host that the crawl does not take, and how many.

    Parameters
    ----------
    frontier : of the crawl
    """
    reach = Reach.of_text(frontier.reach())
    if reach is None:  # of a crawl that no version since has begun
        return []
    told = [
        {"host": host, "to": to, "pages": n}
        for host, to, n, of in frontier.moves()
        if n >= _SHARE * of and not reach.takes_host(f"{to}/")
    ]
    return told[:_MOST]


def moved_words(row: dict[str, Any]) -> str:
    """Say of a row of :func:`moved_away` what would change it."""
    name, n = row["to"].partition("://")[2], row["pages"]
    return (
        f"Moved away from {row['host']}: {n:,} {'page leads' if n == 1 else 'pages lead'} to "
        f'{row["to"]}, where this crawl does not go; to follow, add "{name}" to scope.hosts'
    )
