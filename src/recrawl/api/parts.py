"""Parts and values that programs bring, checked before anything begins."""

from numbers import Integral
from typing import Final

from typing_extensions import get_protocol_members

from recrawl.errors import InputError

__all__ = ["check_part", "check_search"]

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
    for name, given in (("limit", limit), ("offset", offset)):
        if not isinstance(given, Integral) or not 0 <= int(given) < _MOST:
            raise InputError(f"{name}: {given!r:.80} must be a whole number from 0 on")
