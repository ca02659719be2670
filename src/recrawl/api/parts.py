"""Parts that programs bring, checked before anything begins."""

from typing_extensions import get_protocol_members

from recrawl.errors import InputError

__all__ = ["check_part"]


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
