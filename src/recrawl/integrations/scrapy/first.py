"""Requests that a spider makes before all others in every run, such as those that log in.

Known pages are asked for as soon as a crawl begins, from the store and not by the spider: without
this they would be asked for before the spider has logged in, or though it never does, because the
page with the form was not due or had not changed.
"""

from typing import Final

from scrapy import Request
from scrapy.crawler import Crawler

from recrawl.integrations.scrapy.store import RequestStore

FIRST: Final = "recrawl_first"  # key of a request's meta by which a spider says so


class FirstRequests:
    """First requests under way: until they are done, known pages wait.

    Parameters
    ----------
    crawler : Scrapy's
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._n_queued = 0
        self._are_made = self._are_expected = False

    def open(self, store: RequestStore, spider: str) -> None:
        """Expect some from the beginning on if the spider made any in a run before."""
        self._store, self._spider = store, spider
        self._are_expected = self._are_made = store.makes_first(spider)

    def began(self) -> None:
        """Note that the spider's first start request is queued, or that it has none."""
        self._are_expected = False

    def queued(self) -> None:
        """Note that one is in the scheduler that the project has."""
        self._n_queued += 1
        if not self._are_made:
            self._are_made = True
            self._store.note_first(self._spider)

    def left(self) -> None:
        """Note that one has left it, to be fetched."""
        self._n_queued -= 1

    def are_under_way(self) -> bool:
        """Tell whether one is still to come, is queued, fetched, or read by its callback."""
        if not self._are_made:
            return False
        if self._are_expected or self._n_queued > 0:
            return True
        slot = getattr(getattr(self._crawler, "engine", None), "_slot", None)
        return any(is_first(request) for request in getattr(slot, "inprogress", ()))


def is_first(request: Request) -> bool:
    """Tell whether a request is marked so."""
    return bool(request.meta.get(FIRST))
