"""The index of a state, opened: a search loads nothing else of a crawl."""

from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

from recrawl.crawler.index.schema import aside_of, index_exists, opened
from recrawl.crawler.index.tantivy import TantivyIndex
from recrawl.crawler.ports import PageIndex, StatePlace
from recrawl.crawler.wiring.databases import check_state
from recrawl.errors import OtherVersion, StateError


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
        from recrawl.crawler.fetch.reading.signature import signature

        return TantivyIndex(state / "index", language=language, mark=signature)
    check_state(state)
    from recrawl.crawler.index.postgres import PostgresIndex

    return PostgresIndex(state)


def index_once_there(state: StatePlace, stack: ExitStack) -> Callable[[], PageIndex | None]:
    """Return what opens the index of a state, to look, once it is there; ``stack`` closes it."""
    found: list[PageIndex] = []

    def index() -> PageIndex | None:
        if not found:
            with suppress(StateError):
                found.append(open_index(state, read_only=True))
                stack.callback(found[0].close)
        return found[0] if found else None

    return index


def is_to_be_brought_over(state: StatePlace) -> bool:
    """Tell whether whoever opens the index of a state to write indexes its copies anew first."""
    if not isinstance(state, Path):
        return False
    directory = state / "index"
    try:
        if index_exists(directory):
            opened(directory, read_only=True)
    except OtherVersion:
        return True
    except (OSError, ValueError):  # damaged, which opening it tells
        return False
    return aside_of(directory).exists()
