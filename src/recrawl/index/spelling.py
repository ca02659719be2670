"""A like query of words that an index knows, for one that found nothing."""

import difflib
import re
from collections.abc import Callable, Iterable

__all__ = ["respelled"]

_WORD = re.compile(r"\w+")


def respelled(query: str, like: Callable[[str], Iterable[str]]) -> str | None:
    """Return the query with unknown words replaced, or None where nothing comes near.

    Parameters
    ----------
    query : as a person wrote it
    like : words of the index that may be meant by a word
    """
    is_new = False

    def better(match: re.Match[str]) -> str:
        nonlocal is_new
        word = match.group().lower()
        known = sorted({candidate.lower() for candidate in like(word)})
        if word in known:
            return match.group()
        near = difflib.get_close_matches(word, known, n=1, cutoff=0.7)
        if not near:
            return match.group()
        is_new = True
        return near[0]

    text = _WORD.sub(better, query[:200])
    return text if is_new else None
