"""Parameters that mean nothing: whatever their value, a page says the same.

Nonces, marks of where a reader came from and names of sessions that nobody knows lead to each page
by as many addresses as it is linked to. A parameter, or all of a query together, is void on a host
once pages that differ in nothing else have said the same a number of times, and hardly ever another
thing. So is what many servers do not tell apart: a slash or ``index.html`` at the end of a path,
capital letters, and the order of parameters.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from recrawl.crawler.control.urls import host_of

__all__ = ["VoidParameters"]

_ENOUGH: Final = 20  # pages that said the same
_MOST_OTHER: Final = 0.02  # of those, that may have said another thing: they changed meanwhile
_MOST_NAMES: Final = 8
_MOST_KEPT: Final = 200_000
_END: Final = re.compile(r"/(?:(?:index|default)\.\w{3,5})?$", re.IGNORECASE)


class VoidParameters:
    """Learns of first visits which parameters are void, and which addresses repeat a known one."""

    def __init__(self) -> None:
        self._said: dict[int, tuple[int, int]] = {}  # by the rest: first address, and what it said
        self._spelt: dict[int, tuple[int, int]] = {}  # the same, however it is spelt
        self._same: dict[tuple[str, str], int] = {}
        self._other: dict[tuple[str, str], int] = {}

    def observe(self, url: str, mark: int) -> list[tuple[str, str]]:
        """Learn what a page said at its first visit.

        Parameters
        ----------
        url : in normal form
        mark : of all that it says

        Returns
        -------
        Hosts and names of what turns out not to be void.
        """
        for kept in (self._said, self._spelt):
            if len(kept) > _MOST_KEPT:
                kept.clear()
        meaning = []
        for names, rest, kept in self._likes(url):
            before, said = kept.setdefault(rest, (hash(url), mark))
            if before == hash(url):
                continue
            was_void = self._is_void(names)
            count = self._same if said == mark else self._other
            if names in count or len(count) < _MOST_KEPT:
                count[names] = count.get(names, 0) + 1
            if was_void and not self._is_void(names):
                meaning.append(names)
        return meaning

    def repeats(self, url: str) -> tuple[str, str] | None:
        """Return host and names of void parameters in which alone a known page differs, if any."""
        for names, rest, kept in self._likes(url) if self._same else ():
            if self._is_void(names) and kept.get(rest, (hash(url), 0))[0] != hash(url):
                return names
        return None

    def respells(self, url: str) -> tuple[str, str] | None:
        """Return host and sign for how an address is spelt, if one that is known is so otherwise.

        It is likely the same page, though that was not seen often enough yet.

        Parameters
        ----------
        url : in normal form
        """
        names, rest = _spelling(url)
        return names if self._spelt.get(rest, (hash(url), 0))[0] != hash(url) else None

    def _likes(self, url: str) -> Iterator[tuple[tuple[str, str], int, dict[int, tuple[int, int]]]]:
        """Yield what an address may differ in from another, the rest of it, and what is kept."""
        yield from ((*one, self._said) for one in _rests(url))
        yield (*_spelling(url), self._spelt)

    def _is_void(self, names: tuple[str, str]) -> bool:
        same = self._same.get(names, 0)
        return same >= _ENOUGH and self._other.get(names, 0) <= _MOST_OTHER * same


def _rests(url: str) -> Iterable[tuple[tuple[str, str], int]]:
    """Yield the names of each parameter and of all, with a mark of the address without them."""
    base, _, query = url.partition("?")
    parts = query.replace(";", "&").split("&")
    if not query or len(parts) > _MOST_NAMES:
        return
    host, names = host_of(url), [part.partition("=")[0][:100] for part in parts]
    for place, name in enumerate(names):
        yield (host, name), hash((base, name, *parts[:place], "", *parts[place + 1 :]))
    if len(parts) > 1:
        yield (host, "&".join(names)), hash((base, *names))


def _spelling(url: str) -> tuple[tuple[str, str], int]:
    """Return a sign for how an address is spelt, with a mark of what it is however it is spelt."""
    host, (base, _, query) = host_of(url), url.partition("?")
    parts = sorted(query.lower().replace("+", "%20").split("&")) if query else ()
    return (host, "/"), hash((_END.sub("", base).lower(), *parts))
