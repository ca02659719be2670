"""The clocks of places, from the zone database of this machine."""

import datetime as dt
import zoneinfo

import numpy as np

from recrawl.processes.local_clock import LocalClock

_DAY_S = 86_400.0


def local_clock(zone: zoneinfo.ZoneInfo, first_s: float, last_s: float) -> LocalClock:
    """Look for changes of the offset day by day, and find each to the second.

    Parameters
    ----------
    zone : the time zone
    first_s, last_s : the stretch of time wanted, seconds since the epoch; before and after it the
        offset stays as it is at its ends
    """
    days = np.arange(first_s, last_s + _DAY_S, _DAY_S)
    offsets = [_offset_s(zone, day) for day in days]
    changes, kept = [-np.inf], [offsets[0]]
    for day, before, after in zip(days[1:], offsets, offsets[1:], strict=False):
        if before != after:
            low, high = int(day - _DAY_S), int(day)
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if _offset_s(zone, middle) == after else (middle, high)
            changes.append(float(high))
            kept.append(after)
    return LocalClock(np.array(changes), np.array(kept))


def _offset_s(zone: zoneinfo.ZoneInfo, instant_s: float) -> float:
    at = dt.datetime.fromtimestamp(instant_s, zone).utcoffset()
    return at.total_seconds() if at is not None else 0.0
