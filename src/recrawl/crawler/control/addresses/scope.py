"""Scope of a crawl: which URLs belong to it, how much each is worth, and where traps end.

A pattern is a shell pattern over path and query (``/docs/*``), or over host and path when it
does not start with a slash (``*.example.org/news/*``). A host pattern is a name
(``example.org``), a name with a port (``example.org:8080``) or all names below one
(``*.example.org``).
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import translate
from typing import Final

from recrawl.crawler.control.addresses.acts import is_act
from recrawl.crawler.control.urls import host_of, path_of


@dataclass(frozen=True, slots=True)
class Scope:
    """Bounds of what a crawl takes in.

    Parameters
    ----------
    hosts : host patterns; a URL must match one
    include, exclude : path patterns; a URL must match one of ``include``, if any, and none of
        ``exclude``
    signed_in : host patterns of those that are sent a login: what visits would do there is left out
    max_depth : links from a seed, sitemaps counting as seeds; where a list goes on is no further
    max_hops : redirects in a row
    max_path_segments, max_repeated_segments : bounds that end endless and looping paths, and
        queries to which each page adds once more what they say already
    """

    hosts: tuple[str, ...]
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    signed_in: tuple[str, ...] = ()
    max_depth: int = 100
    max_hops: int = 5
    max_path_segments: int = 24
    max_repeated_segments: int = 3

    def __post_init__(self) -> None:
        # Names come in lower case, and the brackets of an IPv6 address are no wildcard.
        hosts = [pattern.lower().replace("[", "[[]") for pattern in self.hosts]
        signed_in = [pattern.lower().replace("[", "[[]") for pattern in self.signed_in]
        compiled = tuple(map(_any_of, (hosts, self.include, self.exclude, signed_in)))
        object.__setattr__(self, "_compiled", compiled)

    # Slots and frozen together leave no other place for what is derived once.
    _compiled: tuple[re.Pattern[str] | None, ...] = ()

    def has_host(self, host: str) -> bool:
        """Tell whether a host (scheme, name, port) belongs to the crawl."""
        return _names(self._compiled[0], host)

    def is_signed_in(self, host: str) -> bool:
        """Tell whether a host (scheme, name, port) is sent a login."""
        return _names(self._compiled[3], host)


_PORT: Final = re.compile(r":[0-9]+$")


def why_outside(scope: Scope, url: str, *, depth: int = 0, hops: int = 0) -> str | None:
    """Return why a URL is not taken in, or None if it is.

    The same words are shown to people by ``recrawl explain``.

    Parameters
    ----------
    scope : of the crawl
    url : in normal form
    depth : links from a seed, >= 0
    hops : redirects in a row that led there, >= 0
    """
    return _why_unwanted(scope, url) or _why_beyond_bounds(scope, url, depth, hops)


def is_unwanted(scope: Scope, url: str) -> bool:
    """Tell whether a crawl is not for a URL, by its host or by the patterns of its path.

    Parameters
    ----------
    scope, url : as for :func:`why_outside`
    """
    return _why_unwanted(scope, url) is not None


def is_beyond_bounds(scope: Scope, url: str, *, depth: int = 0) -> bool:
    """Tell whether a URL is one of those that the crawl is for, and only a bound keeps it out.

    Parameters
    ----------
    scope, url, depth : as for :func:`why_outside`
    """
    why = _why_beyond_bounds(scope, url, depth, hops=0)
    return why is not None and _why_unwanted(scope, url) is None


def _why_unwanted(scope: Scope, url: str) -> str | None:
    host = host_of(url)
    if not scope.has_host(host):
        return "another host"
    path = path_of(url)
    whole = host.partition("://")[2] + path
    _, include, exclude, _ = scope._compiled
    if include is not None and not (include.match(path) or include.match(whole)):
        return "matches no include pattern"
    if exclude is not None and (exclude.match(path) or exclude.match(whole)):
        return "matches an exclude pattern"
    if scope.is_signed_in(host) and is_act(url):
        return "a visit may do something there, as the crawl is signed in"
    return None


def _names(pattern: re.Pattern[str] | None, host: str) -> bool:
    """Tell whether a host, with or without its port, is of those that a pattern names."""
    if pattern is None:
        return False
    name_and_port = host.partition("://")[2]
    name = name_and_port.rpartition(":")[0] if _PORT.search(name_and_port) else name_and_port
    return bool(pattern.match(name) or pattern.match(name_and_port))


def _why_beyond_bounds(scope: Scope, url: str, depth: int, hops: int) -> str | None:
    if depth > scope.max_depth:
        return f"more than {scope.max_depth} links from a seed"
    if hops > scope.max_hops:
        return f"more than {scope.max_hops} redirects in a row"
    path, _, query = path_of(url).partition("?")
    segments = [part for part in path.split("/") if part]
    if len(segments) > scope.max_path_segments:
        return f"more than {scope.max_path_segments} path segments"
    if len(segments) > scope.max_repeated_segments:
        repeated = max(Counter(segments).values())
        if repeated > scope.max_repeated_segments:
            return f"one path segment repeated more than {scope.max_repeated_segments} times"
    if query.count("&") >= scope.max_repeated_segments:
        repeated = max(Counter(query.split("&")).values())
        if repeated > scope.max_repeated_segments:
            return f"one part of the query repeated more than {scope.max_repeated_segments} times"
    return None


class Weights:
    """Worth of a page by its URL, or another number: the first pattern that matches decides.

    Parameters
    ----------
    rules : (pattern, weight) pairs; patterns without wildcards cost nothing, however many
    otherwise : where none matches
    """

    def __init__(self, rules: Sequence[tuple[str, float]] = (), otherwise: float = 1.0) -> None:
        self._otherwise = otherwise
        self._exact: dict[str, tuple[int, float]] = {}
        self._patterns: list[tuple[int, re.Pattern[str], float]] = []
        for place, (pattern, weight) in enumerate(rules):
            if any(sign in pattern for sign in "*?["):
                self._patterns.append((place, re.compile(translate(pattern)), weight))
            else:
                self._exact.setdefault(pattern, (place, weight))

    def of(self, url: str) -> float:
        """Return the weight of a URL in normal form."""
        if not self._exact and not self._patterns:
            return self._otherwise
        path = path_of(url)
        whole = host_of(url).partition("://")[2] + path
        place, weight = min(
            self._exact.get(path, (_NEVER, self._otherwise)),
            self._exact.get(whole, (_NEVER, self._otherwise)),
        )
        for rank, pattern, worth in self._patterns:
            if rank > place:
                break
            if pattern.match(path) or pattern.match(whole):
                return worth
        return weight


_NEVER: Final = 1 << 62
_CACHE: dict[tuple[str, ...], re.Pattern[str] | None] = {}


def _any_of(patterns: Sequence[str]) -> re.Pattern[str] | None:
    key = tuple(patterns)
    if key not in _CACHE:
        _CACHE[key] = re.compile("|".join(map(translate, key))) if key else None
    return _CACHE[key]
