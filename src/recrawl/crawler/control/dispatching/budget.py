"""The fetch budget as a token bucket: never more than the rate, plus a small burst."""

from dataclasses import dataclass
from typing import Final

_HELD_S: Final = 2.0  # seconds' worth of a part of a budget that is held ahead
_LOOK_S: Final = 0.1


@dataclass(slots=True)
class FetchBudget:
    """At most ``rate_per_s * t + burst`` requests in any window of length t.

    Every request counts: pages, redirects, robots.txt, sitemaps. A new bucket holds one token, so
    that a crawler that is restarted often stays within the budget too.

    Parameters
    ----------
    rate_per_s : requests per second, > 0
    burst : requests that may follow each other at once, >= 1
    n_spent : requests that were counted
    """

    rate_per_s: float
    burst: float = 1.0
    n_spent: int = 0
    _tokens: float = 1.0
    _at_s: float | None = None

    def ready_s(self, now_s: float) -> float:
        """Return the earliest instant at which one more request is within the budget."""
        self._fill(now_s)
        # Half a nanosecond of grace, or rounding makes a waiter wake just too early.
        lacking = max(0.0, 1.0 - self._tokens)
        return now_s + lacking / self.rate_per_s if lacking > 1e-9 else now_s

    def spend(self, now_s: float) -> None:
        """Count one request."""
        self._fill(now_s)
        self._tokens -= 1.0
        self.n_spent += 1

    def _fill(self, now_s: float) -> None:
        before_s = now_s if self._at_s is None else self._at_s
        self._at_s = max(before_s, now_s)
        earned = (self._at_s - before_s) * self.rate_per_s
        self._tokens = min(self.burst, self._tokens + earned)


@dataclass(slots=True)
class GrantedBudget(FetchBudget):
    """A part of a budget that others share: only what was granted ahead is spent.

    What is granted is never more than what this part earns, and what is held is bounded by
    ``burst``, and by two seconds' worth: a process that ends takes no more than that with it.
    """

    _tokens: float = 0.0
    _entitled: float = 1.0
    _drawn_s: float | None = None

    def wanted(self, now_s: float) -> int:
        """Return how many requests are to be drawn now.

        Parameters
        ----------
        now_s : by any clock that goes on
        """
        most = max(1.0, min(_HELD_S * self.rate_per_s, self.burst))
        if self._drawn_s is not None:
            earned = max(now_s - self._drawn_s, 0.0) * self.rate_per_s
            self._entitled = min(self._entitled + earned, most)
        self._drawn_s = now_s
        return max(int(min(self._entitled, most - self._tokens)), 0)

    def grant(self, number: int) -> None:
        """Take what was drawn."""
        self._tokens += number
        self._entitled -= number

    def ready_s(self, now_s: float) -> float:
        """Return now where a request is held; else when to look again."""
        return now_s if self._tokens >= 1.0 else now_s + _LOOK_S

    def spend(self, now_s: float) -> None:
        """Count one request."""
        self._tokens -= 1.0
        self.n_spent += 1
