"""Listings that announce changes, as sitemaps and feeds do, beside a history that is replayed.

A listing is read at instants of its own, each at the price of a visit. What it says is worth what
it proves to be: a policy that listens learns its recall and precision from its own visits.
"""

from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import numpy as np

from recrawl.crawler.control.revisiting.revisits import RevisitControl
from recrawl.errors import InvalidModel, NotConverged
from recrawl.kernels.arrays import Flags, Integers, Vector
from recrawl.learning.signals import learn_signal_quality, page_precisions
from recrawl.simulation.history import ChangeHistory

Heard = tuple[Vector, Vector, Vector, Vector, Vector, Vector, Vector]
Visits = tuple[Integers, Vector, Flags]
_JUDGED: Final = (20, 2_000)  # visits of a host, at least and at most, by which it is judged
_LEAST_TRUE: Final = 0.5  # share of announcements, below which their absence says nothing either
_SHARE: Final = 0.02  # of the budget, that reads the listings where nobody says how often
MOST_READ: Final = 0.5
"""Share of the budget that reads listings at most, whatever is asked for."""
_NEWS: Final = 0.1  # of what is known of a page, that is worth learning it anew
_LASTS: Final = 200.0  # visits, that are remembered of how many were asked for


@dataclass(frozen=True, slots=True)
class SignalRates:
    """Quality of listings' announcements.

    Parameters
    ----------
    recall : share of changes that are announced, in [0, 1]
    precision : share of announcements that stand for a change, in (0, 1]
    delay : from a change to its announcement, >= 0, in the history's unit of time
    every : between two readings of a listing, > 0; None: such that a fiftieth of the budget reads
        them
    """

    recall: float
    precision: float = 1.0
    delay: float = 0.0
    every: float | None = None

    def __post_init__(self) -> None:
        if not 0.0 <= self.recall <= 1.0:
            raise InvalidModel(f"recall must lie in [0, 1], got {self.recall!r}")
        if not 0.0 < self.precision <= 1.0:
            raise InvalidModel(f"precision must lie in (0, 1], got {self.precision!r}")
        if not (np.isfinite(self.delay) and self.delay >= 0.0):
            raise InvalidModel(f"delay must be finite and >= 0, got {self.delay!r}")
        if self.every is not None and not (np.isfinite(self.every) and self.every > 0.0):
            raise InvalidModel(f"every must be finite and > 0, got {self.every!r}")


@dataclass(frozen=True, slots=True, eq=False)
class Announcements:
    """Announcements by the listings of a history.

    Parameters
    ----------
    page : shape (a,), whose change is announced
    changed_at : shape (a,), when it changed, as the listing says
    shown_at : shape (a,), when the listing said so first, ascending
    every : between two readings of a listing; None: a fiftieth of the budget reads them
    """

    page: Integers
    changed_at: Vector
    shown_at: Vector
    every: float | None = None

    def share_read(self, history: ChangeHistory, n_visits: int) -> float:
        """Return the share of visits that reads the listings of all hosts as often as is asked."""
        if self.every is None:
            return _SHARE
        n_hosts = int(history.hosts.max()) + 1
        return n_hosts * (history.end - history.start) / self.every / max(n_visits, 1)

    def renumbered(self, order: Integers) -> "Announcements":
        """Return the same with the pages in another order, as those of a history."""
        place = np.argsort(order)
        return Announcements(place[self.page], self.changed_at, self.shown_at, self.every)


def draw_announcements(history: ChangeHistory, rates: SignalRates, seed: int = 0) -> Announcements:
    """Draw which changes are announced, and announcements of changes that never were.

    Parameters
    ----------
    history : what really changed
    rates : how well that is announced
    seed : of what is drawn

    Notes
    -----
    Each change is announced with the chance of the recall. False announcements are as many as the
    precision asks for, each of a page and an instant drawn evenly from the lives of all pages.
    """
    random = np.random.default_rng((seed, 0x5E7))
    told = np.flatnonzero(random.random(history.page.size) < rates.recall)
    n_false = round(told.size * (1.0 / rates.precision - 1.0))
    lives = history.lifetimes(history.start)
    of = random.choice(history.n_pages, n_false, p=lives / lives.sum())
    said = history.observed_from[of] + random.random(n_false) * lives[of]
    page = np.concatenate([history.page[told], of])
    changed_at = np.concatenate([history.changed_at[told], said])
    order = np.argsort(changed_at, kind="stable")
    return Announcements(
        page[order], changed_at[order], changed_at[order] + rates.delay, rates.every
    )


class Hearing:
    """Reader of listings for a policy, on its way through a history.

    Parameters
    ----------
    told : what listings say
    history : whose pages they are of
    ticks : when visits are made that the budget pays; some of them, half at most, read the listings
        of all hosts
    control : of the policy, which goes by what is heard

    Attributes
    ----------
    ticks : those that are left
    readings : place among them of the first after each reading, and when the reading was
    """

    def __init__(
        self, told: Announcements, history: ChangeHistory, ticks: Vector, control: RevisitControl
    ) -> None:
        self._told, self._hosts, self._control = told, history.hosts, control
        n, n_hosts = history.n_pages, int(history.hosts.max()) + 1
        share = min(told.share_read(history, ticks.size), MOST_READ)
        n_readings = int(share * ticks.size / n_hosts)
        length = history.end - history.start
        at = history.start + length * (np.arange(n_readings) + 1.0) / (n_readings + 1.0)
        paid = np.searchsorted(ticks, np.repeat(at, n_hosts))
        steps = np.arange(paid.size)
        paid = np.maximum.accumulate(paid - steps) + steps  # each has a tick of its own
        done = paid[n_hosts - 1 :: n_hosts]
        done = done[done < ticks.size]
        kept = np.ones(ticks.size, np.bool_)
        kept[paid[paid < ticks.size]] = False
        self.ticks = ticks[kept]
        places = np.cumsum(kept)[done].tolist()
        self.readings = dict(zip(places, ticks[done].tolist(), strict=True))
        self._unclocked: list[tuple[Integers, Vector]] = []
        self._clocked_at, self._read_at = history.start, np.array([history.start])
        self._n_heard = 0
        self._quiet, self._quiet_until = np.zeros(n), np.full(n, -np.inf)
        self._recalls, self._shares = np.zeros((2, n_hosts))  # of changes announced, of true ones
        self._precisions = np.zeros(n)
        self._signals, self._unheard = np.zeros((2, self.ticks.size))  # of visits
        self._counted = np.zeros(2)  # visits, and those that were asked for
        self._asked = np.zeros(2)

    def arrays(self) -> Heard:
        """Return what the replay's kernel calls heard."""
        known = self._control.signals, self._control.silent, self._quiet, self._recalls
        return *known, self._read_at, self._signals, self._unheard

    def listen(self, place: int) -> tuple[Integers, Vector]:
        """Read the listings; return pages of which there is news, and by how much it brings them.

        Parameters
        ----------
        place : of the first visit afterwards, one of ``readings``
        """
        told, now = self._told, self.readings[place]
        last = int(np.searchsorted(told.shown_at, now, side="right"))
        page, changed_at = told.page[self._n_heard : last], told.changed_at[self._n_heard : last]
        self._n_heard, self._read_at[0] = last, now
        self._unclocked.append((page, changed_at))
        page = page[changed_at > self._control.last[page]]
        rows = np.unique(page)
        before = self._control.advance(rows)
        self._control.observe_signals(page)
        page = page[self._recalls[self._hosts[page]] > 0.0]
        passed = self._control.clocked(page, now)
        self._control.hear_changes(page, self._precisions[page], passed)
        return rows, self._control.advance(rows) - before

    def learn(self, rows: Integers, now: float, visits: Visits, counted: tuple[int, int]) -> None:
        """Learn what announcements are worth, and how many visits they ask for.

        Parameters
        ----------
        rows : pages that are there and were visited
        now : instant
        visits : page, time elapsed and whether it had changed, of all visits so far
        counted : visits so far, and those of them that announcements asked for

        Notes
        -----
        A host is judged by its latest 2,000 visits. What is mostly not true is not relied on, and
        that nothing was heard says nothing then. O(rows + visits judged).
        """
        n, (least, most) = visits[0].size, _JUDGED
        latest = slice(max(n - most * self._recalls.size, 0), n)
        page, elapsed, changed = visits[0][latest], visits[1][latest], visits[2][latest]
        hosts = self._hosts[page]
        signals, unheard = self._signals[latest], self._unheard[latest]
        for host in np.unique(hosts).tolist():
            own = np.flatnonzero(hosts == host)[-most:]
            if own.size >= least and signals[own].any():
                with suppress(NotConverged):  # what was known stays in force
                    found = learn_signal_quality(
                        elapsed[own],
                        signals[own],
                        changed[own],
                        pages=page[own],
                        unheard=unheard[own],
                    )
                    true = found.precision >= _LEAST_TRUE
                    self._recalls[host] = found.recall if true else 0.0
                    self._shares[host] = found.precision
        hosts = self._hosts[rows]
        recalls, rates = self._recalls[hosts], self._control.beliefs.rates(rows)[0]
        precisions = page_precisions(self._shares[hosts], rates, hosts)
        self._precisions[rows] = precisions
        self._control.rely_on(rows, -np.log1p(-precisions), 1.0 - recalls)
        self._hear_nothing(rows, recalls, now)
        new = np.array(counted) - self._counted
        self._counted += new
        self._asked = self._asked * np.exp(-new[0] / _LASTS) + new
        self._control.asked = float(self._asked[1] / max(self._asked[0], 1.0))

    def tell_clocks(self, rows: Integers) -> None:
        """Tell the clocks of groups what was announced since they were told last.

        Parameters
        ----------
        rows : pages that are there and were visited
        """
        control = self._control
        if control.clocks is None or not self._unclocked:
            return
        page, at = (np.concatenate(column) for column in zip(*self._unclocked, strict=True))
        self._unclocked.clear()
        known = np.isfinite(control.last[page]) & (self._recalls[self._hosts[page]] > 0.0)
        control.clocks.hear(
            rows,
            self._recalls[self._hosts[rows]] * control.beliefs.rates(rows)[0],
            (self._clocked_at, self._read_at[0]),
            page[known],
            at[known],
            self._precisions[page[known]],
            1.0 - control.asked,
        )
        self._clocked_at = float(self._read_at[0])

    def _hear_nothing(self, rows: Integers, recalls: Vector, now: float) -> None:
        """Learn that nothing else was heard of pages, as visits will not tell of it."""
        control = self._control
        last = control.last[rows]
        since = np.maximum(self._quiet_until[rows], last)
        new = recalls > 0.0
        new &= self._read_at[0] - since > _NEWS * (self._read_at[0] - last)
        found = rows[new]
        share = (self._read_at[0] - since[new]) / (now - last[new])
        quiet = recalls[new] * share * control.clocked(found, now)
        found, quiet = found[quiet > 0.0], quiet[quiet > 0.0]
        control.beliefs.observe(found, quiet, np.zeros(found.size, np.bool_), 0.0 * quiet)
        self._quiet[found] += quiet
        self._quiet_until[found] = self._read_at[0]
