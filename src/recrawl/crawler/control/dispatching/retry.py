"""Instants of retries: Retry-After in both forms, and doubling back-off with jitter."""

import math
from dataclasses import dataclass
from email.utils import mktime_tz, parsedate_tz
from typing import Protocol


class Draws(Protocol):
    """A source of numbers drawn evenly from [0, 1), as generators of Python and numpy are."""

    def random(self) -> float:
        """Return the next one."""
        ...


def retry_after_s(header: str | None, now_s: float) -> float | None:
    """Return the instant that a Retry-After header names, or None if it names none.

    Both forms count: seconds from now, and an HTTP date. What is in the past means now.

    Parameters
    ----------
    header : its value; None or "": there is none
    now_s : of the answer, epoch seconds
    """
    if not header:
        return None
    text = header.strip()
    try:
        seconds = float(text)
    except ValueError:
        return _date_s(text, now_s)
    return now_s + max(0.0, seconds) if math.isfinite(seconds) else None


def _date_s(text: str, now_s: float) -> float | None:
    try:
        parts = parsedate_tz(text)
        # HTTP dates are in GMT (RFC 9110, 5.6.7), also where they do not say so, as it takes them.
        return max(now_s, float(mktime_tz(parts))) if parts else None
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


@dataclass(frozen=True, slots=True)
class Backoff:
    """Doubling delays.

    Parameters
    ----------
    first_s, longest_s : delay after the first failure, and the longest one; > 0
    jitter : each delay is stretched by up to this share, so that hosts do not return in step
    quiet_s : a host that gave no trouble for so long after a block is forgiven
    """

    first_s: float = 60.0
    longest_s: float = 86_400.0
    jitter: float = 0.1
    quiet_s: float = 1_800.0

    def delay_s(self, failures: int, random: Draws) -> float:
        """Return the delay after ``failures`` >= 1 failures in a row."""
        doubled = self.first_s * 2.0 ** min(failures - 1, 60)
        return float(min(doubled, self.longest_s) * (1.0 + self.jitter * random.random()))
