"""Pace at which a host lets itself be asked, as it shows by refusing.

Servers and what stands before them allow so many requests in a time, and tell nobody how many: more
are answered by 429, or by 503 as nginx does. A host that answers well in between is not in trouble,
it is asked too often; leaving it alone for ever longer, and coming back as fast as before, would
bring a few pages an hour. So the rest between two requests is doubled at a refusal, and shortened
again slowly, down to somewhat above where it was refused.

Some hosts refuse one request in so many, however slowly they are asked. Whoever allows so many in a
time has answered no more than that from one refusal to the next, and refuses only what comes
sooner: a refusal at less than that was not for the pace.
"""

from dataclasses import dataclass, field
from typing import Final

_LEAST_S: Final = 0.1
_LONGEST_S: Final = 60.0  # a host that wants to be asked more seldom is left alone for a while
_STEP: Final = 2.0
_EASED: Final = 0.8
_SMOOTH: Final = 100  # answers after which a shorter rest is tried
_MARGIN: Final = 1.25  # above the rest at which it was refused
_REMEMBERED_S: Final = 86_400.0
_REFUSALS: Final = 3  # of pages, and one in twenty of what was asked
_SHARE: Final = 0.05
_MOST_TIMES: Final = 8.0  # the rest that is kept in any case, where refusals may be the pages'
_MOST_S: Final = 4.0  # or so long, where that is longer
_LONG_RUN: Final = 10  # answers from one refusal to the next; fewer tell nothing
_COUNTED: Final = 200.0  # requests lately
_REPEATS: Final = 5  # pages that failed again, for which the host is not to blame
_MOSTLY: Final = 4.0  # for each that was not
_JUDGED: Final = 50.0  # pages lately


@dataclass(slots=True)
class AskedAgain:
    """Outcomes of failed pages when they were asked for again, much later."""

    _repeats: float = 0.0
    _recoveries: float = 0.0

    def observe(self, *, failed: bool) -> None:
        """Take one into account; those long ago count for less."""
        self._repeats += failed
        self._recoveries += not failed
        if self._repeats + self._recoveries > _JUDGED:
            self._repeats, self._recoveries = 0.5 * self._repeats, 0.5 * self._recoveries

    @property
    def are_broken(self) -> bool:
        """Whether they mostly failed again: it is not the host."""
        return self._repeats >= max(_REPEATS, _MOSTLY * self._recoveries)


@dataclass(slots=True)
class Pace:
    """The rest that a host shows to want.

    Parameters
    ----------
    rest_s : between the end of one request and the start of the next; 0: it shows nothing
    """

    rest_s: float = 0.0
    _smooth: int = 0  # answers since the rest was made longer
    _refused_s: float = 0.0  # the rest at which it refused last, and when
    _refused_at_s: float = float("-inf")
    _answers: float = 0.0
    _refusals: float = 0.0
    _again: AskedAgain = field(default_factory=AskedAgain)
    _run: int = 0  # answers since it refused last, when that was, and when the first of them came
    _run_s: float = float("-inf")
    _first_s: float = 0.0
    _allowed_per_s: float = 0.0  # at least, as it answered so many from one refusal to the next
    _is_in_vain: bool = False  # it refused what came no sooner than that
    _told_at_s: float = float("-inf")  # when it said that it is asked too often

    def welcomed(self, now_s: float, own_s: float) -> None:
        """The host answered.

        Parameters
        ----------
        own_s : the rest that is kept in any case
        """
        self._smooth += 1
        self._run += 1
        if self._run == 1:
            self._first_s = now_s
        self._count(refused=False)
        if not self.rest_s or self._smooth < _SMOOTH:
            return
        self._smooth = 1
        shorter_s = _EASED * self.rest_s
        is_fresh = now_s < self._refused_at_s + _REMEMBERED_S
        if not is_fresh or shorter_s >= _MARGIN * self._refused_s:
            self.rest_s = shorter_s if shorter_s > own_s else 0.0

    def sent_away(self, now_s: float, own_s: float) -> bool:
        """The host says that it wants to be left alone; tell whether it is the pace.

        It is where it had answered since: then the rest is longer now, and it need not be left
        alone for longer than the time before.
        """
        if self._is_vain(now_s):
            self.rest_s, self._smooth = 0.0, 0
            return True
        if not self._smooth or max(self.rest_s, own_s) >= _LONGEST_S:
            return False
        self._slow_down(now_s, own_s)
        self._told_at_s = now_s
        return True

    def refused(self, now_s: float, own_s: float, *, are_most: bool) -> None:
        """A page was refused that was not when it was asked last; others are not.

        It may be the pace, or the page: so the rest grows to some seconds at most, and not where
        pages have shown that it is them.

        Parameters
        ----------
        are_most : whether most pages are refused, of late
        """
        self._count(refused=True)
        share = self._refusals / (self._answers + self._refusals)
        is_often = self._refusals >= _REFUSALS and share >= _SHARE
        most_s = max(_MOST_TIMES * own_s, _MOST_S)
        may_be = self._smooth > 0 and not self._again.are_broken
        if may_be and (is_often or are_most) and max(self.rest_s, own_s) < most_s:
            self._slow_down(now_s, own_s)

    def asked_again(self, now_s: float, *, refused: bool) -> None:
        """A page that was refused was asked again, much later: it was the page, or the pace."""
        self._again.observe(failed=refused)
        if self._again.are_broken and now_s > self._told_at_s + _REMEMBERED_S:
            self.rest_s = self._refused_s = 0.0

    def _is_vain(self, now_s: float) -> bool:
        """Tell whether it refuses less than it has answered, or did and does so now."""
        n, before_s = self._run, self._run_s
        self._run, self._run_s = 0, now_s
        if n < _LONG_RUN:
            self._is_in_vain = False
            return False
        asked_per_s = n / max(now_s - self._first_s, 1e-9)
        self._is_in_vain |= _MARGIN * asked_per_s <= self._allowed_per_s
        self._allowed_per_s = max(self._allowed_per_s, n / max(now_s - before_s, 1e-9))
        return self._is_in_vain

    def _slow_down(self, now_s: float, own_s: float) -> None:
        self._refused_s, self._refused_at_s = max(self.rest_s, own_s), now_s
        self.rest_s = min(max(_STEP * max(self.rest_s, own_s), _LEAST_S), _LONGEST_S)
        self._smooth = 0
        self._answers = self._refusals = 0.0

    def _count(self, *, refused: bool) -> None:
        self._answers += not refused
        self._refusals += refused
        if self._answers + self._refusals > _COUNTED:
            self._answers, self._refusals = 0.5 * self._answers, 0.5 * self._refusals
