"""A page between being handed to Scrapy and its visit being recorded."""

from dataclasses import dataclass

from scrapy.http import Response

from recrawl.integrations.revisits.visits import Visit

__all__ = ["Underway", "header_of"]


@dataclass(slots=True, eq=False)
class Underway(Visit):
    """A page between being handed to Scrapy and its visit being recorded.

    Parameters
    ----------
    dont_filter : as the spider said; Scrapy's own filter is not asked again
    """

    dont_filter: bool = False
    is_granted: bool = False  # the budget paid for it
    pending: int = 0  # items that the pipelines have not taken yet
    is_read: bool = False  # the callback has ended
    is_continued: bool = False  # the callback asked for the same page again
    wrong: str | None = None
    items: list[bytes] | None = None  # hashes, where no body tells whether the page has changed
    links: list[str] | None = None  # the same


def header_of(response: Response, name: str) -> str | None:
    """Return a header as text, bounded."""
    value = response.headers.get(name)
    return None if value is None else value.decode("latin-1")[:1_000]
