"""Listings that announce changes, as sitemaps and feeds do, beside a history that is replayed.

A listing is read at instants of its own, each at the price of a visit. What it says is worth what
it proves to be: a policy that listens learns its recall and precision from its own visits.
"""

from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recrawl.crawler.control.revisits import RevisitControl
from recrawl.errors import InvalidModel, NotConverged
from recrawl.learning.signals import learn_signal_quality
from recrawl.simulation.history import ChangeHistory

__all__ = ["Announcements", "Heard", "Hearing", "SignalRates", "draw_announcements"]

Vector = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Heard = tuple[Vector, Vector, Vector, Vector, Vector]
_JUDGED: Final = (20, 2_000)  # visits of a host, at least and at most, by which it is judged
_LEAST_TRUE: Final = 0.5  # share of announcements, below which their absence says nothing either
_SHARE: Final = 0.02  # of the budget, that reads the listings where nobody says how often
_MOST: Final = 0.5  # of the budget
_SURE: Final = 0.999
_NEWS: Final = 0.1  # of what is known of a page, that is worth learning it anew


@dataclass(frozen=True, slots=True)
class SignalRates:
    """How well listings announce changes.

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
    """What the listings of a history say, and when.

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
    """What a policy hears of listings, on its way through a history.

    Parameters
    ----------
    told : what listings say
    history : whose pages they are of
    ticks : when visits are made that the budget pays; some of them read the listings of all hosts
    control : of the policy, which goes by what is heard

    Raises
    ------
    InvalidModel
        Reading the listings would take more than half of the budget.
    """

    def __init__(
        self, told: Announcements, history: ChangeHistory, ticks: Vector, control: RevisitControl
    ) -> None:
        self._told, self._hosts, self._control = told, history.hosts, control
        n_hosts = int(history.hosts.max()) + 1
        every = told.every
        if every is None:
            every = (history.end - history.start) * n_hosts / (_SHARE * max(ticks.size, 1))
        readings = np.arange(history.start + every, history.end, every)
        if readings.size * n_hosts > _MOST * ticks.size:
            raise InvalidModel(
                f"reading {n_hosts:,} listings {readings.size:,} times takes more than half of "
                f"{ticks.size:,} visits; read them less often"
            )
        paid = np.searchsorted(ticks, np.repeat(readings, n_hosts))
        steps = np.arange(paid.size)
        paid = np.maximum.accumulate(paid - steps) + steps  # each has a tick of its own
        done = paid.reshape(-1, n_hosts)[:, -1]
        done = done[done < ticks.size]
        kept = np.ones(ticks.size, np.bool_)
        kept[paid[paid < ticks.size]] = False
        self.ticks = ticks[kept]
        self.readings = {
            int(place): float(ticks[tick])
            for tick, place in zip(done, np.cumsum(kept)[done], strict=True)
        }
        n = history.n_pages
        self._pending: list[tuple[Integers, Vector]] = []
        self._clocked_at = history.start
        self._n_heard, self._read_at = 0, -np.inf
        self._quiet, self._quiet_until = np.zeros(n), np.full(n, -np.inf)
        self._worth = np.zeros(2 * n_hosts)  # recall and precision of each
        self._signals = np.zeros(self.ticks.size)

    def arrays(self) -> Heard:
        """Return what the replay's kernel calls heard."""
        control = self._control
        return control.signals, control.silent, self._quiet, self._worth, self._signals

    def listen(self, place: int) -> tuple[Integers, Vector]:
        """Read the listings; return pages of which there is news, and by how much it brings them.

        Parameters
        ----------
        place : of the first visit afterwards, one of ``readings``
        """
        now = self.readings[place]
        told, self._read_at = self._told, now
        last = int(np.searchsorted(told.shown_at, now, side="right"))
        new = slice(self._n_heard, last)
        self._n_heard = last
        page = told.page[new]
        page = page[told.changed_at[new] > self._control.last[page]]
        self._pending.append((told.page[new], told.changed_at[new]))
        rows = np.unique(page)
        before = self._control.advance(rows)
        self._control.observe_signals(page)
        return rows, self._control.advance(rows) - before

    def learn(self, rows: Integers, now: float, visits: tuple[Integers, Vector, Flags]) -> None:
        """Learn what announcements are worth.

        Parameters
        ----------
        rows : pages that are there and were visited
        now : instant
        visits : page, time elapsed and whether it had changed, of all visits so far
        """
        n, (least, most) = visits[0].size, _JUDGED
        worth = self._worth.reshape(-1, 2)
        latest = slice(max(n - most * worth.shape[0], 0), n)
        page, elapsed, changed = (one[latest] for one in visits)
        hosts, signals = self._hosts[page], self._signals[latest]
        for host in np.unique(hosts).tolist():
            own = np.flatnonzero(hosts == host)[-most:]
            if own.size >= least and signals[own].any():
                with suppress(NotConverged):  # what was known stays in force
                    found = learn_signal_quality(elapsed[own], signals[own], changed[own])
                    true = found.precision >= _LEAST_TRUE
                    worth[host] = found.recall if true else 0.0, found.precision
        recalls, precisions = worth[self._hosts[rows]].T
        self._control.rely_on(rows, -np.log1p(-np.minimum(precisions, _SURE)), 1.0 - recalls)
        self._hear_nothing(rows, recalls, now)

    def tell_clocks(self, rows: Integers) -> None:
        """Tell the clocks of groups what was announced since they were told last."""
        clocks = self._control.clocks
        if clocks is None or not self._pending:
            return
        page, at = (np.concatenate(column) for column in zip(*self._pending, strict=True))
        self._pending.clear()
        worth = self._worth.reshape(-1, 2)
        recalls = worth[self._hosts[rows], 0]
        rates = recalls * self._control.beliefs.rates(rows)[0]
        true = np.where(worth[self._hosts[page], 0] > 0.0, worth[self._hosts[page], 1], 0.0)
        kept = np.isfinite(self._control.last[page])
        clocks.hear(rows, rates, (self._clocked_at, self._read_at), page[kept], at[kept], true[kept])
        self._clocked_at = self._read_at

    def _hear_nothing(self, rows: Integers, recalls: Vector, now: float) -> None:
        """Learn from pages of which nothing was heard, as visits will not tell of them."""
        control = self._control
        last = control.last[rows]
        since = np.maximum(self._quiet_until[rows], last)
        new = (recalls > 0.0) & (control.signals[rows] == 0.0)
        new &= self._read_at - since > _NEWS * (self._read_at - last)
        found = rows[new]
        if found.size:
            share = (self._read_at - since[new]) / (now - last[new])
            quiet = recalls[new] * share * control.clocked(found, now)
            found, quiet = found[quiet > 0.0], quiet[quiet > 0.0]
            control.beliefs.observe(found, quiet, np.zeros(found.size, np.bool_), 0.0 * quiet)
            self._quiet[found] += quiet
            self._quiet_until[found] = self._read_at
