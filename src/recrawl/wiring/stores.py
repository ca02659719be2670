"""The parts of a state directory, opened."""

from pathlib import Path

from recrawl.frontier.sqlite import SqliteFrontier
from recrawl.index.tantivy import TantivyIndex

__all__ = ["open_frontier", "open_index"]


def open_frontier(state: Path, *, read_only: bool = False) -> SqliteFrontier:
    """Open the frontier of a state directory."""
    return SqliteFrontier(state, read_only=read_only)


def open_index(state: Path, *, language: str = "english", read_only: bool = False) -> TantivyIndex:
    """Open the index of a state directory."""
    return TantivyIndex(state / "index", language=language, read_only=read_only)
