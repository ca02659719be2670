"""Checks of single values; each names the key, the value and what would be right."""

from recrawl.errors import InvalidSettings
from recrawl.quantities import parse_bytes, parse_duration_s


def duration(name: str, text: str, least: float) -> float:
    """Return a duration in seconds.

    Parameters
    ----------
    name : the key, for messages
    text : such as ``90m``
    least : the shortest that is allowed, s
    """
    value = parse_duration_s(text, name=name)
    if value < least:
        raise InvalidSettings(f"{name}: {text!r} is too short; at least {least:g}s")
    return value


def points(name: str, text: str) -> float:
    """Return a number of percentage points as a share, 0 to 1.

    Parameters
    ----------
    name : the key, for messages
    text : such as ``0.001 points``
    """
    number, _, unit = text.strip().partition(" ")
    try:
        value = float(number)
    except ValueError:
        value = -1.0
    if unit.strip() not in ("point", "points") or not 0.0 <= value <= 100.0:
        raise InvalidSettings(
            f'{name}: {text!r} is no number of points between 0 and 100, such as "0.001 points"'
        )
    return value / 100.0


def size(name: str, text: str, least: int = 1_000, most: int = 2**30) -> int:
    """Return a number of bytes within bounds.

    Parameters
    ----------
    name : the key, for messages
    text : such as ``4MiB``
    least, most : in bytes, allowed themselves
    """
    value = parse_bytes(text, name=name)
    if not least <= value <= most:
        between = "1kB and 1GiB" if least == 1_000 else f"{least >> 20}MiB and {most >> 30}GiB"
        raise InvalidSettings(f"{name}: {text!r} is not between {between}")
    return value


def at_least(name: str, value: int, least: int, most: int | None = None) -> int:
    """Return a whole number within bounds.

    Parameters
    ----------
    name : the key, for messages
    value : the number
    least, most : allowed themselves; None: there is no upper one
    """
    if value < least or (most is not None and value > most):
        bound = f"at least {least}" + (f" and at most {most}" if most is not None else "")
        raise InvalidSettings(f"{name}: {value} must be {bound}")
    return value


def share(name: str, value: float) -> float:
    """Return a share.

    Parameters
    ----------
    name : the key, for messages
    value : others than 0 to 1 are refused
    """
    if not 0.0 <= value <= 1.0:
        raise InvalidSettings(f"{name}: {value} must be between 0 and 1")
    return value
