"""A page between being handed to Scrapy and its visit being recorded."""

from dataclasses import dataclass

from scrapy.http import Response

from recrawl.integrations.revisits.visits import Visit
from recrawl.integrations.scrapy.signals import items_signature
from recrawl.terms import Outcome


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

    @property
    def news_born_s(self) -> float | None:
        """Birth of what only this visit leads to, and the one before did not; None: unknown."""
        seen_s = self.known("last_visit_s")
        return None if seen_s is None or self.asked_s is None else (seen_s + self.asked_s) / 2.0

    def note_link(self, url: str) -> None:
        """Note where the page leads, if no body tells whether it has changed."""
        if self.signature is None:
            self.links = self.links or []
            self.links.append(url)

    def compared(self) -> Outcome:
        """Hold what was read against the visit before."""
        if self.signature is None:
            self.signature = items_signature(self.items or (), self.links or ())
        before = self.known("signature")
        if before is None:
            return Outcome.NEW
        return Outcome.UNCHANGED if self.signature == before else Outcome.CHANGED


def header_of(response: Response, name: str) -> str | None:
    """Return a header as text, bounded."""
    value = response.headers.get(name)
    return None if value is None else value.decode("latin-1")[:1_000]
