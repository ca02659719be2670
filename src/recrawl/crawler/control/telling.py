"""What an entry of the feed says: its kind and its version, from what was told and what is so."""

from recrawl.terms import ChangeKind, PageState

__all__ = ["kind_of", "version_of"]


def kind_of(told: bytes | None, held: bytes | None, state: PageState) -> ChangeKind | None:
    """Return what became of a copy, or None where all was told.

    Parameters
    ----------
    told : signature of the copy that the latest entry of the page told of; None: of none
    held : signature of the copy that the index holds now; None: it holds none
    state : of the page now
    """
    if held == told:
        return None
    if held is None:
        return ChangeKind.MOVED if state is PageState.MOVED else ChangeKind.REMOVED
    return ChangeKind.NEW if told is None else ChangeKind.CHANGED


def version_of(before: int, at_s: float) -> int:
    """Return the version of an entry: milliseconds of its instant, and always above the last.

    So versions also grow from a state that was restored, or begun anew, to what follows it.
    """
    return max(before + 1, int(at_s * 1000.0))
