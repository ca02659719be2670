"""The index of a state, opened: a search loads nothing else of a crawl."""

from pathlib import Path

from recrawl.crawler.index.tantivy import TantivyIndex
from recrawl.crawler.ports import PageIndex, StatePlace
from recrawl.crawler.wiring.databases import check_state

__all__ = ["open_index"]


def open_index(
    state: StatePlace, *, language: str = "english", read_only: bool = False
) -> PageIndex:
    """Open the index of a state.

    Parameters
    ----------
    language : of the stemmer, or "auto", for an index that is new; of a folder only
    read_only : it is searched and never written; of a database this is always so
    """
    if isinstance(state, Path):
        if read_only:
            return TantivyIndex(state / "index", language=language, read_only=True)
        from recrawl.crawler.fetch.signature import signature

        return TantivyIndex(state / "index", language=language, mark=signature)
    check_state(state)
    from recrawl.crawler.index.postgres import PostgresIndex

    return PostgresIndex(state)
