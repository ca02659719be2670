"""Time zones by their names."""

import zoneinfo

from recrawl.errors import InputError


def find_zone(name: str, *, field: str = "--tz") -> zoneinfo.ZoneInfo:
    """Return a time zone by its name.

    Parameters
    ----------
    name : such as ``Europe/Paris``
    field : where it was given, for the message

    Raises
    ------
    InputError
        There is none of that name.
    """
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InputError(
            f"{field}: {name!r} is not a known time zone; write one such as UTC, Europe/Paris or "
            "America/New_York"
        ) from error
