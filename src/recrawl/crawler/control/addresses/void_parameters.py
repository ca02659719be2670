"""Parameters that mean nothing: whatever their value, a page says the same.

Nonces, marks of where a reader came from and names of sessions that nobody knows lead to each page
by as many addresses as it is linked to. A parameter, or all of a query together, is void on a host
once pages that differ in nothing else have said the same a number of times, and hardly ever another
thing. So is what many servers do not tell apart: a slash or ``index.html`` at the end of a path,
capital letters, with how many digits a hash is told, the order of parameters, and that of folders
by which lists are chosen from (``/red/small``, ``/small/red``). And so are the folders above a name
where all pages of a name say that their address is the same: each category of a thing leads to it
by another one.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from recrawl.crawler.control.addresses.doubts import with_short_hashes, without_hashes
from recrawl.crawler.control.urls import host_of

_ENOUGH: Final = 20  # pages that said the same
_MOST_OTHER: Final = 0.02  # of those, that may have said another thing: they changed meanwhile
_MOST_NAMES: Final = 8
_MOST_KEPT: Final = 200_000
_HALF: Final = 1 << 32
_FOLDERS: Final = "/*/"  # above a name
_NAME: Final = re.compile(r"/(?=[^/?]*[-_\d])[^/?]{5,}/?$")  # of a thing, not of a part of the site
_FEWEST_FOLDERS: Final = 2
_WORD: Final = re.compile(r"[a-z][\w-]*", re.IGNORECASE | re.ASCII)
_END: Final = re.compile(r"/(?:(?:index|default)\.\w{3,5})?$", re.IGNORECASE)


class VoidParameters:
    """Learns of first visits which parameters are void, and which addresses repeat a known one."""

    def __init__(self) -> None:
        # A mark of the first address and one of what it said, in one number, as there are many.
        self._said: dict[int, int] = {}  # by the rest
        self._spelt: dict[int, int] = {}  # the same, however it is spelt
        self._called: dict[int, int] = {}  # by name, and which address it says it has
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
        found = (self._count(url, mark, *one) for one in self._likes(url))
        return [names for names in found if names is not None]

    def observe_canonical(self, url: str, canonical: str | None) -> list[tuple[str, str]]:
        """Learn which address a page said that it has, at its first visit; None: it said nothing.

        Returns what :meth:`observe` does.

        Parameters
        ----------
        url, canonical : in normal form
        """
        if (rest := _name(url)) is None:
            return []
        if len(self._called) > _MOST_KEPT:
            self._called.clear()
        names = (host_of(url), _FOLDERS)
        found = self._count(url, hash(canonical or url), names, rest, self._called)
        return [] if found is None else [found]

    def _count(
        self,
        url: str,
        mark: int,
        names: tuple[str, str],
        rest: int,
        kept: dict[int, int],
    ) -> tuple[str, str] | None:
        """Compare a page with the first of its likes; return what turns out not to be void."""
        first, said = divmod(kept.setdefault(rest, _halved(url) * _HALF + mark % _HALF), _HALF)
        if first == _halved(url):
            return None
        was_void = self._is_void(names)
        count = self._same if said == mark % _HALF else self._other
        if names in count or len(count) < _MOST_KEPT:
            count[names] = count.get(names, 0) + 1
        return names if was_void and not self._is_void(names) else None

    def repeats(self, url: str) -> tuple[str, str] | None:
        """Return host and names of void parameters in which alone a known page differs, if any."""
        for names, rest, kept in self._likes(url) if self._same else ():
            if self._is_void(names) and _is_of_another(kept.get(rest), url):
                return names
        called = self._called.get(_name(url) or 0)
        names = (host_of(url), _FOLDERS)
        is_other = called is not None and _halved(url) not in divmod(called, _HALF)
        return names if is_other and self._is_void(names) else None

    def respells(self, url: str) -> tuple[str, str] | None:
        """Return host and sign for how an address is spelt, if one that is known is so otherwise.

        It is likely the same page, though that was not seen often enough yet.

        Parameters
        ----------
        url : in normal form
        """
        names, rest = _spelling(url)
        return names if _is_of_another(self._spelt.get(rest), url) else None

    def _likes(self, url: str) -> Iterator[tuple[tuple[str, str], int, dict[int, int]]]:
        """Yield what an address may differ in from another, the rest of it, and what is kept."""
        yield from ((*one, self._said) for one in _rests(url))
        yield (*_spelling(url), self._spelt)
        if (ordered := _folders(url)) is not None:
            yield (*ordered, self._spelt)

    def _is_void(self, names: tuple[str, str]) -> bool:
        same = self._same.get(names, 0)
        return same >= _ENOUGH and self._other.get(names, 0) <= _MOST_OTHER * same


def _halved(url: str) -> int:
    return hash(url) % _HALF


def _is_of_another(kept: int | None, url: str) -> bool:
    return kept is not None and kept // _HALF != _halved(url)


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
    host, short = host_of(url), with_short_hashes(url)
    base, _, query = short.partition("?")
    parts = sorted(query.lower().replace("+", "%20").split("&")) if query else ()
    sign = "/" if short == without_hashes(url) else "#"
    return (host, sign), hash((_END.sub("", base).lower(), *parts))


def _folders(url: str) -> tuple[tuple[str, str], int] | None:
    """Return a sign for the order of folders, with a mark of a path whatever that is; or None.

    None: it has but one of them, or a number, as dates have.
    """
    host = host_of(url)
    path, _, query = url[len(host) :].partition("?")
    folders = path.strip("/").split("/")
    if query or len(folders) < _FEWEST_FOLDERS or not all(map(_WORD.fullmatch, folders)):
        return None
    return (host, "/*/*"), hash((host, *sorted(folders)))


def _name(url: str) -> int | None:
    """Return a mark of what a thing is called below any folders; None: by nothing of its own."""
    host = host_of(url)
    found = _NAME.search(url, len(host))
    return None if found is None else hash((host, found[0].rstrip("/")))
