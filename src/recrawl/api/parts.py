"""Parts and values that programs bring, checked before anything begins."""

from collections.abc import Iterable
from math import inf
from numbers import Integral
from typing import Any, Final

from typing_extensions import get_protocol_members

from recrawl.errors import InputError

_MOST: Final = 2**31  # hits that an index can count


def check_part(name: str, part: object, port: type) -> None:
    """Refuse now what would end a crawl or a replay when it is first needed, maybe after days.

    Parameters
    ----------
    name : what messages call the part
    part : what the program gave; None: nothing
    port : the protocol that it must have the methods of

    Raises
    ------
    InputError
        Naming the part, and what it lacks.
    """
    if isinstance(part, type):
        raise InputError(
            f"{name}: {part.__name__} is a class; give an object, as {part.__name__}()"
        )
    lacking = [one for one in sorted(get_protocol_members(port)) if not hasattr(part, one)]
    if part is not None and lacking and not isinstance(part, str):
        told = f"{port.__module__}.{port.__name__} says what each does"
        needed: frozenset[str] = getattr(port, "__abstractmethods__", frozenset())
        if needed and needed.isdisjoint(lacking):
            told = f"a class that inherits from recrawl.{port.__name__} has them"
        raise InputError(f"{name}: {type(part).__name__} has no {', '.join(lacking)}; {told}")


def check_search(query: object, limit: object, offset: object) -> None:
    """Refuse what is no search.

    Raises
    ------
    InputError
        Naming the parameter, the value and what would be right.
    """
    if not isinstance(query, str):
        raise InputError(f"query: {query!r:.80} must be a text")
    check_whole("limit", limit, 0, _MOST)
    check_whole("offset", offset, 0, _MOST)


def check_whole(name: str, given: object, least: int, most: float = inf) -> None:
    """Refuse what is no number of things.

    Raises
    ------
    InputError
        Naming the parameter, the value and what would be right.
    """
    if not isinstance(given, Integral) or not least <= int(given) <= most:
        raise InputError(f"{name}: {given!r:.80} must be at least {least}, and whole")


def one_or_more(name: str, given: Any) -> tuple[Any, ...]:
    """Return what may be given by itself or as several.

    Raises
    ------
    InputError
        It is neither a text nor several of what is wanted.
    """
    if isinstance(given, str):
        return (given,)
    if not isinstance(given, Iterable):
        raise InputError(f"{name}: {given!r:.80} must be a text, or a list of them")
    return tuple(given)
