"""The state of a crawl, read beside it: `recrawl.open_state`."""

from collections.abc import Iterable
from contextlib import closing
from typing import TYPE_CHECKING, Any, Self

from recrawl.api.parts import check_search
from recrawl.crawler.control.urls import normalise
from recrawl.crawler.ports import StatePlace
from recrawl.crawler.reports.page import explain_page
from recrawl.crawler.reports.status import status_report
from recrawl.crawler.settings import Settings, place_of
from recrawl.crawler.wiring.indexes import open_index
from recrawl.crawler.wiring.stores import open_frontier
from recrawl.errors import InputError, StateError
from recrawl.terms import Hit

if TYPE_CHECKING:
    import pyarrow as pa


class State:
    """A state directory, opened for reading. Made by :func:`open_state`; use it as a context."""

    def __init__(self, directory: StatePlace, settings: Settings | None) -> None:
        self._directory = directory
        self._settings = settings
        self._opened = open_frontier(directory, read_only=True)
        self._is_closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def pages(self) -> "pa.Table":
        """Return what is known of each page, as ``recrawl export pages`` writes it. O(pages)."""
        return _as_table(self._reader().table("pages"))

    def visits(self) -> "pa.Table":
        """Return every visit, as ``recrawl export visits`` writes it. O(visits)."""
        return _as_table(self._reader().table("visits"))

    def status(self) -> dict[str, Any]:
        """Return pages, visits, budget, price, freshness and control: ``recrawl status``."""
        return status_report(self._reader())

    def explain(self, url: str) -> dict[str, Any]:
        """Return why a page is visited when it is: ``recrawl explain``.

        Raises
        ------
        InputError
            It is no address, or not known to the crawl.
        """
        page_url = normalise(url)
        if page_url is None:
            raise InputError(f"{url!r} is no http or https address")
        return explain_page(self._reader(), page_url, self._settings)[0]

    def search(self, query: str, *, limit: int = 10, offset: int = 0) -> list[Hit]:
        """Return the best pages for a query, best first, of the index as it is now.

        Raises
        ------
        InputError
            The query is no text, or limit or offset no whole number from 0 on.
        """
        check_search(query, limit, offset)
        self._reader()  # which a closed state has no more than an index
        with closing(open_index(self._directory, read_only=True)) as index:
            return index.search(query, limit=limit, offset=offset)[1]

    def close(self) -> None:
        """Close the files."""
        self._is_closed = True
        self._opened.close()

    def _reader(self) -> Any:
        if self._is_closed:
            raise StateError("this state is closed; open it again with recrawl.open_state")
        return self._opened


def open_state(directory: str | StatePlace, *, settings: Settings | None = None) -> State:
    """Open the state of a crawl for reading, whether the crawl runs or not.

    Parameters
    ----------
    directory : of the state; or the address of a database, as postgresql://user@host/crawl
    settings : of the crawl, for what :meth:`State.explain` says of addresses that it does not know

    Raises
    ------
    StateError
        There is none, or it is damaged or of another version.

    Examples
    --------
    ::

        with recrawl.open_state("recrawl-state") as state:
            print(state.status()["pages"])
            print(state.pages().to_pandas())
    """
    return State(place_of(directory), settings)


def _as_table(batches: Iterable[tuple[list[str], list[tuple[Any, ...]]]]) -> "pa.Table":
    from recrawl.tables.exports import as_table

    return as_table(batches)
