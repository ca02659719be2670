"""Places that pages have vacated: what limits count is what is there, not all that ever was."""

from collections import Counter
from collections.abc import Iterable

from recrawl.terms import PageState


def holds_place(state: PageState) -> bool:
    """Tell whether a page counts among those that a crawl may hold: it is not gone, nor moved."""
    return state not in (PageState.GONE, PageState.MOVED)


class Vacated:
    """Numbers of pages that hold no place, by host and by address without its query.

    Parameters
    ----------
    rows : host, address without its query as ``variant_key`` has it, and how many
    """

    def __init__(self, rows: Iterable[tuple[int, int | None, int]]) -> None:
        self.of_hosts: Counter[int] = Counter()
        self.of_variants: Counter[int | None] = Counter()
        for host_id, variant_of, n in rows:
            self.add(host_id, variant_of, n)

    @property
    def n(self) -> int:
        """Their number in all."""
        return self.of_variants.total()

    def add(self, host_id: int, variant_of: int | None, n: int) -> None:
        """Note that so many more pages hold no place."""
        self.of_hosts[host_id] += n
        self.of_variants[variant_of] += n
