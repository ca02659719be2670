r"""Due times of pages whose change rates are still being learned.

One object, pure: it is told of visits (:meth:`RevisitControl.observe`) and asked for due times
(:meth:`RevisitControl.decide`). The live crawler and the replay of histories use the same one. The
module is longer than most, because what is known of pages, the worth of a visit and the price that
follows are one object.

A page is due when the worth of a visit reaches the price. The worth follows from what is believed
of its rate, so it needs no constant rate: with S(u) the chance that a copy of age u is fresh, a
visit at age t is worth the weight times :math:`\int_0^t (S(u) - S(t))\,du`, for any S. That grows
without bound for pages of which little is known, so none starves.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from recrawl.crawler.control.worth.births import joint_intervals
from recrawl.crawler.control.worth.order import curvatures
from recrawl.crawler.control.worth.removal_hazards import at_risk, removal_intervals
from recrawl.errors import InvalidModel
from recrawl.freshness.fading import fading_interval
from recrawl.kernels.arrays import Flags, Integers, Vector
from recrawl.learning.beliefs import OCTAVES, PRIOR_SHAPE, RateBeliefs
from recrawl.learning.group_clocks import GroupClocks

_DOUBT: Final = 2.0  # mean times between changes that a page in doubt is left alone at most
_SAMPLE: Final = 6_000  # pages that the price is found from, where there are more
_AT_ONCE: Final = 20_000  # pages, that memory is taken for at once
_STEPS: Final = 24
_MANY: Final = 50
_LEAST_SILENT: Final = 0.05
_MOSTLY: Final = 0.5  # true, of announcements that are learned from when they are heard
_BRIEF: Final = 1e-3  # share of an interval, that a change which was announced is known to
_NEVER: Final = 1e-200  # visits, 1/time, that are none
_LEAP: Final = 0.7  # of the price's logarithm, from one look to the next at most
_HALVINGS: Final = 7
_MOVED: Final = 0.02  # by which a price has to move before intervals of pages not due soon follow
_SOON: Final = 2.0  # looks
_UNBOUNDED: Final = 1e9  # times the longest interval
_LATELY: Final = 0.1  # weight of a plan in what is known of how often announcements are heard
_BACKLOG: Final = 0.5  # of what a span pays, that pages which wait are counted as at most
_FEW_NEWS: Final = 3.0  # pages there was news of, that as many were expected beside
_FAR: Final = 30.0  # nats between a price and the usual one: further off nothing changes


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """Due times at a price.

    Parameters
    ----------
    price : worth of one more visit, in weight times time
    host_prices : shape (n_hosts,), the price or more, where a host's limit binds
    intervals : shape (n,), between visits at this price
    due : shape (n,), last visit plus interval
    own_due : shape (n,), the same at these intervals, had clocks told nothing of the groups
    """

    price: float
    host_prices: Vector
    intervals: Vector
    due: Vector
    own_due: Vector


def _falls_due(intervals: Vector, ages: Vector, span: float) -> Vector:
    """Return how many visits fall due within a span, by intervals and ages of copies."""
    wait = np.maximum(intervals - ages, 0.0)
    return np.where(wait < span, 1.0 + np.floor((span - wait) / intervals), 0.0)


def _counted(visits: Vector, waits: Flags, paid: Vector, hosts: Integers | None = None) -> Vector:
    """Return the visits that a price has to answer for, for each host.

    Parameters
    ----------
    visits, waits : as of :meth:`RevisitControl._visits`
    paid : shape (n_hosts,), visits that can be made
    hosts : host of each page; default: one for all

    Notes
    -----
    What waits as a change was announced is not lost when it waits longer, and a reading of a
    sitemap may tell of more at once than a span pays for. It is visited in the order of its worth.
    A price at which the rest would never be worth a visit is that of an hour, not of the budget.
    """
    of = np.zeros(visits.size, np.int64) if hosts is None else hosts
    n_waiting = np.bincount(of[waits], minlength=paid.size)
    others = np.bincount(of, visits - waits, minlength=paid.size)
    return np.asarray(others + np.minimum(n_waiting, _BACKLOG * paid))


def memories(pace: float) -> tuple[float, ...]:
    """Half-lives of the memories, from the mean interval between visits that the budget allows."""
    return (np.inf, 14.0 * pace, 1.4 * pace)


class RevisitControl:
    """Learns how pages change, and says when each is due within a budget.

    Parameters
    ----------
    weights : shape (n,), >= 0
    budget : visits per time, > 0
    half_lives : of the memories; default: :func:`memories` of the mean interval between visits
    prior_rate, prior_shape : of change rates before anything is learned, > 0; default: one change
        per interval between visits, and one half
    bounds : shortest and longest interval; the longest gives way where the budget is too small
    grain : how coarse in time changes can be seen at all, >= 0
    groups : for each level from coarse to fine (hosts, paths), the group of each page; pages of a
        group lend each other strength
    octaves : change rates that are told apart, as powers of two about the prior's average
    scales : octaves by which they may turn out to be higher than the prior says
    clocks : what is believed of groups whose pages change together; None: nothing
    """

    def __init__(  # noqa: PLR0913 - each is said once, when the control is made
        self,
        weights: Vector,
        budget: float,
        *,
        half_lives: Sequence[float] | None = None,
        prior_rate: float | None = None,
        prior_shape: float = PRIOR_SHAPE,
        bounds: tuple[float, float] | None = None,
        grain: float = 0.0,
        groups: Sequence[Integers] = (),
        octaves: tuple[int, int] = OCTAVES,
        scales: int = 0,
        clocks: GroupClocks | None = None,
    ) -> None:
        if not (np.isfinite(budget) and budget > 0):
            raise InvalidModel(f"budget must be finite and > 0, got {budget!r}")
        if not np.all(np.isfinite(weights) & (weights >= 0)):
            raise InvalidModel("weights must be finite and >= 0")
        pace = max(weights.size, 1) / budget
        self.weights = np.array(weights if np.any(weights > 0) else np.ones(weights.size))
        self.budget = budget
        self.price = np.array([pace])
        self.grain = grain
        self._paced = half_lives is None
        self.groups = groups
        self._limits = bounds or (1e-6 * pace, 50.0 * pace)
        self.beliefs = RateBeliefs(
            weights.size,
            prior_rate=prior_rate or 1.0 / pace,
            prior_shape=prior_shape,
            half_lives=half_lives or memories(pace),
            octaves=octaves,
            scales=scales,
        )
        self.last = np.full(weights.size, np.inf)  # never visited
        self.intervals = np.full(weights.size, pace)
        self.clocks = clocks
        self.signals, self._ahead, self._beyond = np.zeros((3, weights.size))
        self.silent = np.ones(weights.size)
        self.asked = 0.0
        self._speeds = np.ones(weights.size)
        self._filled = np.full(weights.size, np.nan)  # prices that intervals were found for
        self._looked = -np.inf
        self._log_odds = np.zeros(weights.size)
        self._half_lives = np.full(weights.size, np.inf)
        self._births = np.zeros((3, weights.size))  # flow, share that others find too, their delay
        self._hazards = np.zeros(weights.size)  # at which pages go, 1/time
        self._awaited, self._planned = np.zeros(0, np.int64), np.inf  # pages that are due, since
        # Of what is announced: for how long it was not heard on average and is not now, and until
        # when it was; announcements, 1/time; whether none waited; and how long a new copy is fresh.
        self._late, self._unheard, self._heard_at = np.full((3, weights.size), np.nan)
        self._told_rates, self._was_quiet = np.zeros(weights.size), np.zeros(weights.size, np.bool_)
        self._lasts = np.zeros(weights.size)
        self._news = np.zeros(2)  # pages that there was news of lately, and expected
        self._waited = np.zeros(2)  # time that such pages waited, and that passed

    def __len__(self) -> int:
        return self.weights.size

    @property
    def bounds(self) -> Vector:
        """Grain, shortest and longest interval, and patience with pages in doubt."""
        shortest, longest = self._limits
        shortest = max(shortest, 0.5 * self.grain)
        # Half of the budget is enough for all pages at the longest interval.
        longest = max(longest, shortest, 2.0 * len(self) / self.budget)
        # How rates are spread is hardly known from a few pages, nor what is worth finding out.
        # A page's companions tell whether it is calm, so foresight leaves none in doubt.
        doubt = _DOUBT if len(self) >= _MANY and self.clocks is None else 0.0
        return np.array([self.grain, shortest, longest, doubt])

    def observe(self, page: Integers, visited_at: Vector, changed: Flags) -> None:
        """Learn from visits, each page's in the order of time.

        A page's first visit only starts its clock. Visits no later than one known are ignored.
        """
        for row, at, found in zip(
            page.tolist(), visited_at.tolist(), changed.tolist(), strict=True
        ):
            before = self.last[row]
            if np.isfinite(before) and at > before:
                one = np.array([row])
                self.beliefs.observe(one, np.array([at - before]), np.array([found]))
            if not at <= before or not np.isfinite(before):
                self.last[row] = at
                self.signals[row] = 0.0

    def recall(
        self,
        rows: Integers,
        page: Integers,
        elapsed: Vector,
        changed: Flags,
        lapse: Vector | None = None,
    ) -> None:
        """Forget what is known of ``rows`` and learn their visits anew, from intervals.

        Parameters
        ----------
        rows : pages
        page, elapsed, changed, lapse : shape (v,), each page's intervals in the order of time, as
            :meth:`RateBeliefs.observe` takes them
        """
        self.beliefs.forget_all(rows)
        self.beliefs.observe(page, elapsed, changed, lapse)

    def rely_on(self, page: Integers, log_odds: Vector, silent: Vector) -> None:
        """Weigh signals of these pages by what their source has proved to be worth.

        Parameters
        ----------
        page : rows
        log_odds : shape (page,), what one signal takes from the logarithm of the chance of being
            fresh, >= 0
        silent : shape (page,), share of changes that are not signalled, in (0, 1]
        """
        self._log_odds[page], self.silent[page] = log_odds, np.maximum(silent, _LEAST_SILENT)

    def fade(self, page: Integers, half_lives: Vector) -> None:
        """Say that what is new on these pages loses half of its worth in so much time.

        Parameters
        ----------
        page : rows
        half_lives : > 0; infinite: the page is worth its weight whenever it is fresh
        """
        self._half_lives[page] = half_lives

    def expect_births(self, page: Integers, brought: Vector) -> None:
        """Say what visits of these pages bring that is new; of all others: nothing.

        Parameters
        ----------
        page : rows
        brought : shape (3, rows), see :func:`recrawl.crawler.control.worth.births.joint_intervals`
        """
        self._births[:] = 0.0
        self._births[:, page] = brought

    def expect_removals(self, page: Integers, hazards: Vector) -> None:
        """Say at which rate these pages go, 1/time; all others stay."""
        self._hazards[:] = 0.0
        self._hazards[page] = hazards

    def expect_signals(self, page: Integers, unheard: Vector, now: float) -> None:
        """Say how long ago it was heard what is announced of these pages; nan: nothing is.

        How often it is heard follows from that on average, and with it what is to come. Changes
        come in bursts, so how many pages there was news of is learned beside what was expected.
        Such pages are visited by what a new copy is worth; of others whatever was announced is
        visited.

        Parameters
        ----------
        page : rows
        unheard : shape (page,), >= 0 or nan
        now : instant
        """
        is_heard = np.isfinite(unheard)
        self._late[page[~is_heard]] = np.nan
        page, unheard = page[is_heard], unheard[is_heard]
        heard = now - unheard
        passed, before = heard - self._heard_at[page], self._late[page]
        known = np.flatnonzero(self._was_quiet[page] & (passed > 0.0))
        asked = -np.expm1(-self._told_rates[page[known]] * passed[known])
        found = np.count_nonzero(self.signals[page[known]] > 0.0)
        self._news = (1.0 - _LATELY * (known.size > 0)) * self._news + (found, asked.sum())
        self._unheard[page], self._heard_at[page] = unheard, heard
        before = np.where(np.isnan(before), unheard, before)
        self._late[page] = before + _LATELY * (unheard - before)
        self._was_quiet[page] = self.signals[page] == 0.0
        rates = (1.0 - self.silent[page]) * self.beliefs.rates(page)[0] * self._speeds[page]
        self._told_rates[page] = rates / np.maximum(-np.expm1(-self._log_odds[page]), 1e-9)

    def observe_signals(self, page: Integers) -> None:
        """Learn that a change of these pages was signalled; it counts until the next visit."""
        np.add.at(self.signals, page, 1.0)

    def hear_changes(self, page: Integers, precisions: Vector, passed: Vector) -> None:
        """Take announcements for changes, as far as they are true, whether a visit follows or not.

        A change somewhere in a time of which so much is in doubt as announcements are false, or
        the least that a change can be known to.

        Of those that are mostly false, nothing is learned before a visit.

        Parameters
        ----------
        page : rows, of each announcement
        precisions : shape (page,), share of such announcements that is true
        passed : shape (page,), time since the visit of the page, > 0
        """
        true = precisions >= _MOSTLY  # others are mostly of no change, as far as the page is known
        within = (np.maximum(1.0 - precisions, _BRIEF) * passed)[true]
        nothing = np.zeros(within.size)
        self.beliefs.observe(page[true], within, np.ones(within.size, np.bool_), nothing)

    def set_signals(self, page: Integers, n_signals: Vector) -> None:
        """Say how many signals these pages have had since they were last visited."""
        self.signals[page] = n_signals

    def advance(self, rows: Integers) -> Vector:
        r"""Return the elapsed time that signals count as: :math:`n k / ((1 - \lambda) \Delta)`."""
        ahead = np.zeros(rows.size)
        told = np.flatnonzero(self.signals[rows] * self._log_odds[rows] > 0)
        if told.size:
            page = rows[told]
            silent_rate = self.silent[page] * self.beliefs.rates(page)[0]
            ahead[told] = self.signals[page] * self._log_odds[page] / silent_rate
        return ahead

    def _foreseen(self, rows: Integers, now: float) -> Vector:
        """Return how much older copies are by their groups' clocks, in time as it will pass."""
        if self.clocks is None:
            return np.zeros(rows.size)
        passed, speeds = self.clocks.read(rows, self.last[rows], now)
        self._speeds[rows] = speeds
        return np.asarray(passed / speeds - (now - self.last[rows]))

    def clocked(self, rows: Integers, now: float) -> Vector:
        """Return the time since the visits of pages, as their own rates are for."""
        ahead = self._foreseen(rows, now)
        return np.asarray((now - self.last[rows] + ahead) * self._speeds[rows])

    def _unseen(self, rows: Integers) -> Vector:
        """Return rates of unannounced changes, as multiples of the pages' own rates."""
        return np.asarray(self._speeds[rows] * self.silent[rows])

    def by_worth(self, rows: Integers, now: float, n_visits: int) -> Vector:
        """Set the price to what is worth so many visits now; return dues in the order of worth.

        Parameters
        ----------
        rows : pages that have been visited
        now : instant
        n_visits : that are paid for soon, >= 1

        Notes
        -----
        A page whose worth is the price is due now, and one of e times the price was due a mean
        interval between visits ago. O(rows).
        """
        ages, unseen = now - self.last[rows] + self._foreseen(rows, now), self._unseen(rows)
        worths = self.beliefs.worths(rows, ages * unseen, self.bounds)
        worths *= self.weights[rows] / unseen
        place = max(rows.size - n_visits, 0)
        marginal = float(np.partition(worths, place)[place])
        if marginal > 0.0:
            self.price[0] = marginal
        with np.errstate(divide="ignore"):
            return np.asarray(now - len(self) / self.budget * np.log(worths / self.price[0]))

    def _adapt(self, n_pages: int) -> None:
        """Let memories last for as many intervals between visits as they should."""
        if self._paced and n_pages:
            self.beliefs.half_lives = np.array(memories(n_pages / self.budget))

    def grow(self, weights: Vector) -> None:
        """Add pages, with these weights for all, old and new."""
        n = weights.size
        fresh = n - len(self)
        self._adapt(n)
        if fresh > 0:
            self.beliefs.grow(n)
            self.last = np.append(self.last, np.full(fresh, np.inf))
            self.intervals = np.append(self.intervals, np.full(fresh, n / self.budget))
            self._speeds = np.append(self._speeds, np.ones(fresh))
            self._filled = np.append(self._filled, np.full(fresh, np.nan))
            self.signals = np.append(self.signals, np.zeros(fresh))
            self._log_odds = np.append(self._log_odds, np.zeros(fresh))
            self.silent = np.append(self.silent, np.ones(fresh))
            self._half_lives = np.append(self._half_lives, np.full(fresh, np.inf))
            self._births = np.concatenate([self._births, np.zeros((3, fresh))], axis=1)
            self._hazards = np.append(self._hazards, np.zeros(fresh))
            self._beyond = np.append(self._beyond, np.zeros(fresh))
            self._late = np.append(self._late, np.full(fresh, np.nan))
            self._unheard = np.append(self._unheard, np.full(fresh, np.nan))
            self._heard_at = np.append(self._heard_at, np.full(fresh, np.nan))
            self._told_rates = np.append(self._told_rates, np.zeros(fresh))
            self._was_quiet = np.append(self._was_quiet, np.zeros(fresh, np.bool_))
            self._lasts = np.append(self._lasts, np.zeros(fresh))
        self.weights = np.array(weights, np.float64)

    def decide(
        self,
        now: float,
        span: float | None = None,
        *,
        rows: Integers | None = None,
        hosts: Integers | None = None,
        host_caps: Vector | None = None,
        least_price: float = 0.0,
        learn: bool = True,
    ) -> Decision:
        r"""Set the price by the budget, and every page's due time by the price.

        Parameters
        ----------
        now : instant
        span : the price is such that what falls due within it is what the budget pays; default:
            a quarter of the mean interval between visits
        rows : pages that exist and have been visited; default: all that have been
        hosts : shape (rows,), host of each
        host_caps : shape (n_hosts,), visits per time that a host allows; inf: any
        least_price : where the budget would make it lower, less than the budget falls due
        learn : learn priors and the shares of the memories first

        Notes
        -----
        The worth of each visit is monotone in age, so demand falls with the price and a bracketed
        secant finds it, in about six passes; hosts over their limit get prices of their own, and
        what they leave goes to the others. O(n) for each pass; from a sample beyond 6,000 pages.

        Where a share s of changes is silent, a copy ages by those and by what was announced. That
        :math:`V_s` overrates a visit, as changes that are announced end what it gains, too: it is
        worth :math:`1 / (1 / V_s + (1 - s) \Delta)`, which is exact for a copy just taken and for
        one that is known to be stale, and in between mostly within a tenth. For :math:`1 / \Delta`
        stands the mean time until a change, or until the longest interval has passed.
        """
        if rows is None:
            rows = np.flatnonzero(np.isfinite(self.last))
        self._adapt(rows.size)
        if learn and rows.size:
            self.beliefs.learn(rows, self.groups)
        self._ahead, self._beyond = np.zeros((2, len(self)))
        told, foreseen = self.advance(rows), self._foreseen(rows, now)
        self._ahead[rows] = foreseen if self.asked else foreseen + told
        span = span or 0.25 * max(rows.size, 1) / self.budget
        if hosts is None or host_caps is None:
            hosts, host_caps = np.zeros(rows.size, np.int64), np.full(1, np.inf)
        caps = host_caps
        prices = np.zeros(caps.size)
        left, free = (1.0 - self.asked) * self.budget, np.ones(caps.size, np.bool_)
        for _ in range(3):
            chosen = free[hosts]
            self.price[0] = self._price(rows[chosen], max(left, 1e-3 * self.budget), now, span)
            if np.isinf(caps).all():
                break
            visits = self._visits(rows, self.price[0], now, span)
            over = free & (_counted(*visits, caps * span, hosts) > 1.02 * caps * span)
            if not over.any():
                break
            prices[over] = self._host_prices(rows, hosts, caps, over, now, span)[over]
            free &= ~over
            left -= float(caps[over].sum())
        self.price[0] = max(self.price[0], least_price)
        prices = np.maximum(prices, self.price[0])
        self._fill(rows, prices[hosts])
        self._filled[rows] = prices[hosts] * self._unseen(rows)
        self._looked = now
        due = np.where(np.isfinite(self.last), self.last + self.intervals, np.inf)
        own_due, soonest = due.copy(), self.last[rows] + self._limits[0]
        told = told - self._beyond[rows]
        own_due[rows] = np.maximum(due[rows] - told, soonest)
        due[rows] = np.maximum(due[rows] - foreseen - told, soonest)
        waits = np.flatnonzero((told > 0.0) & (due[rows] <= now) & (self._late[rows] >= 0.0))
        if waits.size:
            own = rows[waits]
            late = self._lateness(own, now + foreseen[waits], prices[hosts[waits]])
            due[own] = own_due[own] = now - late
        return Decision(float(self.price[0]), prices, self.intervals, due, own_due)

    def _fresh_for(self, rows: Integers) -> Vector:
        """Return for how long copies are fresh until a change, or until they are visited anyway.

        In time as it passes for the pages' own rates.
        """
        rates = np.maximum(self.beliefs.rates_known, _NEVER)
        anyway = np.where(self._late[rows] >= 0.0, self.bounds[2] * self._speeds[rows], np.inf)
        until = anyway[:, None] * rates
        fresh = -np.expm1(-until) / rates
        return np.asarray(np.einsum("ij,ij->i", self.beliefs.chances(rows), fresh))

    def look(self, now: float, span: float, rows: Integers, dearer: Vector) -> Vector:
        """Move the price by what clocks have found since, and return new due times.

        Parameters
        ----------
        now : instant
        span : what falls due within it is what the budget pays
        rows : pages that have been visited
        dearer : shape (rows,), a visit's price as a multiple of the price of all

        Notes
        -----
        Much quicker than :meth:`decide`, from which it starts: intervals at another price are
        taken to be longer by the same factor while the price is looked for. That is too far, so
        the price comes near the right one from look to look. Intervals of pages that are not due
        before the look after the next follow once the price has moved by a fiftieth. O(rows).
        """
        told, ahead = self.advance(rows), self._foreseen(rows, now)
        self._ahead[rows] = ahead
        step = -(-rows.size // _SAMPLE)
        some, ages = rows[::step], now - self.last[rows[::step]] + ahead[::step]
        intervals = np.maximum(self.intervals[some], self.grain)
        target = max((1.0 - self.asked) * self.budget * span / step, 0.5)
        low, high, before = -_LEAP, _LEAP, self.price[0]
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            demand = float(_falls_due(np.exp(middle) * intervals, ages, span).sum())
            low, high = (middle, high) if demand > target else (low, middle)
        self.price[0] *= np.exp(0.5 * (low + high))
        unseen = dearer * self._unseen(rows)
        asked = self.price[0] * unseen
        visited = self.last[rows] > self._looked
        self._filled[rows[visited]] = before * unseen[visited]
        wait = self.last[rows] + self.intervals[rows] - ahead - now
        soon = wait < _SOON * span
        moved = ~(np.abs(asked / self._filled[rows] - 1.0) <= _MOVED)
        anew = np.flatnonzero(soon | moved)
        self._fill(rows[anew], (self.price[0] * dearer)[anew])
        self._filled[rows[anew]] = asked[anew]
        self._looked = now
        return np.asarray(self.last[rows] + self.intervals[rows] - ahead - told)

    def see_waits(self, rows: Integers, due: Vector, now: float) -> None:
        """Learn for which share of the time pages wait that are due as a change was announced.

        Those of the plan before, until they were visited, and for half of the time between plans
        before, as plans alone have them due; the latest plans count most.

        Parameters
        ----------
        rows, due : pages, and when each is due by the plan of now
        """
        passed = now - self._planned
        if self._awaited.size and passed > 0.0:
            waited = self.last[self._awaited] - self._planned
            waited = np.where(waited > 0.0, np.minimum(waited + 0.5 * passed, passed), passed)
            self._waited = 0.5 * self._waited + (waited.sum(), passed * waited.size)
        self._planned, self._awaited = now, rows[(self.signals[rows] > 0.0) & (due <= now)]

    def kept_fresh(
        self, rows: Integers, crawl_rates: Vector, unheard: Vector
    ) -> tuple[Vector, Vector]:
        r"""Return freshness by even visits, as believed now, if what is announced is fetched too.

        Parameters
        ----------
        rows : pages
        crawl_rates : shape (rows,), visits that nothing announces, 1/time, >= 0
        unheard : shape (rows,), time for which it is not known what is announced; nan: nothing is

        Returns
        -------
        freshness : shape (rows,), share of time
        visits : shape (rows,), all of them, 1/time

        Notes
        -----
        Of changes at rate :math:`\lambda` a share r is announced, of announcements a share q true:
        they come at rate :math:`\gamma = r \lambda / q`, known but for the last c. One makes a copy
        older by A, and is fetched at once where A is as long as the interval T without. Then

        .. math:: \int_0^T e^{-\lambda a - (1 - q) \gamma (a - c)^+} da \Big/
            \int_0^T e^{-\gamma (a - c)^+} da

        is the freshness, and one over the lower one the rate of visits. Where A is shorter, the
        copy is fetched once announcements and age make T: until A is left of that,
        :math:`(T - c - A) / (1 + A \gamma)` by Wald's identity, or later, as readings 2 c apart
        tell of one announcement each. Averaged over what
        :math:`\lambda` may be. Pages that are due at once, as n announcements wait, each of
        log-odds k, are fresh with chance :math:`e^{-nk}` of that, and are not visited, for the
        share of the time that such pages wait (:meth:`see_waits`).
        """
        every = 1.0 / np.maximum(crawl_rates, _NEVER)
        kept = self.beliefs.freshness(rows, 1.0 / every)
        visits = 1.0 / every
        told = np.flatnonzero((unheard < every) & self._is_followed(rows, self.price[0]))
        rates = np.maximum(self.beliefs.rates_known, _NEVER)
        share = self._waited[0] / self._waited[1] if self._waited[1] > 0.0 else 1.0
        for start in range(0, told.size, _AT_ONCE):
            part = told[start : start + _AT_ONCE]
            own, length = rows[part], every[part]
            chances, odds, silent = self.beliefs.chances(own), self._log_odds[own], self.silent[own]
            older = odds / (silent * (chances @ rates))
            told_rates = ((1.0 - silent) / -np.expm1(-odds))[:, None] * rates
            false = np.exp(-odds)[:, None] * told_rates
            fresh, passed = _cycle(length, unheard[part, None], older, rates, told_rates, false)
            waits = share * (self.signals[own] * older >= length)
            still = 1.0 - waits * -np.expm1(-self.signals[own] * odds)
            kept[part] = still * np.einsum("ij,ij->i", chances, fresh / passed)
            visits[part] = (1.0 - waits) * np.einsum("ij,ij->i", chances, 1.0 / passed)
        return kept, visits

    def paid_for(
        self, rows: Integers, crawl_rates: Vector, unheard: Vector, budget: float
    ) -> float:
        """Return by what to multiply rates of visits so that with those announced all are paid for.

        Parameters
        ----------
        rows, crawl_rates, unheard : as for :meth:`kept_fresh`
        budget : visits per time

        Returns
        -------
        float
            At most 1; from a sample beyond 6,000 pages.
        """
        step = -(-max(rows.size, 1) // _SAMPLE)
        some, rates, late = rows[::step], crawl_rates[::step], unheard[::step]
        share = 1.0
        for _ in range(_STEPS):
            visits = float(self.kept_fresh(some, share * rates, late)[1].sum()) * step
            if visits <= 1.01 * budget:
                break
            share *= budget / visits
        return share

    def _fill(self, rows: Integers, prices: Vector | float) -> Vector:
        with np.errstate(divide="ignore", invalid="ignore"):
            per_weight = np.where(self.weights[rows] > 0, prices / self.weights[rows], np.inf)
        unseen = self._unseen(rows)
        asked = self._if_announced(rows, per_weight * unseen)
        out = self.beliefs.intervals(rows, asked, self.intervals[rows] * unseen, self.bounds)
        np.minimum(out / unseen, self.bounds[2], out=out)
        fading = np.flatnonzero(np.isfinite(self._half_lives[rows]))
        if fading.size:  # by what is believed of how often something new comes
            own = rows[fading]
            worths = self.beliefs.rates(own)[0] / np.maximum(per_weight[fading], 1e-300)
            _, shortest, longest, _ = self.bounds
            out[fading] = np.clip(fading_interval(worths, self._half_lives[own]), shortest, longest)
        born = np.flatnonzero(self._births[0, rows] > 0)
        if born.size:
            own = rows[born]
            price = np.broadcast_to(np.asarray(prices, np.float64), rows.shape)[born]
            beliefs = (self.beliefs.rates_known, self.beliefs.chances(own))
            brought = tuple(self._births[:, own])
            out[born] = joint_intervals(
                out[born], price, self.weights[own], beliefs, brought, self.bounds[1]
            )
        price = np.broadcast_to(np.asarray(prices, np.float64), rows.shape)
        risk = at_risk(out, price, self.weights[rows], self._hazards[rows])
        if risk.size:
            own = rows[risk]
            told = (self.weights[own], self.beliefs.rates(own)[0], self._hazards[own])
            out[risk] = removal_intervals(out[risk], price[risk], *told, self.bounds[1])
        self._beyond[rows] = 0.0
        waits = (self.signals[rows] * self._log_odds[rows] > 0.0) & (self._late[rows] >= 0.0)
        capped = np.flatnonzero(waits & (out >= self.bounds[2]))
        if capped.size:
            own, bounds = rows[capped], self.bounds * (1.0, 1.0, _UNBOUNDED, 1.0)
            far = self.beliefs.intervals(own, asked[capped], out[capped] * unseen[capped], bounds)
            self._beyond[own] = np.clip(far / unseen[capped] - out[capped], 0.0, self.advance(own))
        self.intervals[rows] = out
        return out

    def _lateness(self, rows: Integers, now: Vector, prices: Vector) -> Vector:
        r"""Return how late pages are that have waited since a change was announced, by their worth.

        A page of urgency s that is late by d is worth :math:`p (1 + d \sqrt{s / 2p})^2`, where p is
        the price, so one that is worth so much for another reason counts as late by as much.
        """
        ages, unseen = now - self.last[rows] + self.advance(rows), self._unseen(rows)
        worths = self.beliefs.worths(rows, ages * unseen, self.bounds)
        worths = 1.0 / (1.0 / worths + (1.0 / self.silent[rows] - 1.0) / self._lasts[rows])
        worths *= self.weights[rows] / unseen
        rates = self.beliefs.rates(rows)[0]
        urgencies = curvatures(self.weights[rows], rates, 1.0 / self.intervals[rows])
        over = np.sqrt(np.maximum(worths / prices, 1.0)) - 1.0
        return np.asarray(over * np.sqrt(2.0 * prices / urgencies))

    def _if_announced(self, rows: Integers, asked: Vector) -> Vector:
        """Return the worth that silent changes alone must give a visit; see :meth:`decide`."""
        heard = np.flatnonzero(self.silent[rows] < 1.0)
        if heard.size:
            own, price = rows[heard], asked[heard]
            self._lasts[own] = self._fresh_for(own)
            left = 1.0 - (1.0 / self.silent[own] - 1.0) * price / self._lasts[own]
            with np.errstate(divide="ignore", invalid="ignore"):
                asked[heard] = np.where(left > 0.0, price / left, np.inf)
        return asked

    def _visits(
        self, rows: Integers, prices: Vector | float, now: float, span: float
    ) -> tuple[Vector, Flags]:
        """Return how many visits of each page fall due in the span; of which one waits by now.

        Only those are said to wait of which a change was announced.
        """
        intervals = np.maximum(self._fill(rows, prices), self.grain)  # no two looks at one instant
        ahead = self._ahead[rows] - self._beyond[rows]
        # Where changes are announced, calm directories put off no visit that the price counts on.
        ahead = np.where(self._late[rows] >= 0.0, np.maximum(ahead, 0.0), ahead)
        ages = ahead + now - self.last[rows]
        waits = (self.signals[rows] > 0.0) & (self._late[rows] >= 0.0) & (ages >= intervals)
        return _falls_due(intervals, ages, span) + self._to_be_told(rows, prices, span), waits

    def _to_be_told(self, rows: Integers, prices: Vector | float, span: float) -> Vector:
        r"""Return how many more visits are made within the span as changes will be announced.

        With announcements at rate :math:`\gamma`, the visits of a page that is worth one whenever
        it is known to be stale are :math:`\gamma / (1 - e^{-\gamma T})`.
        """
        more = np.zeros(rows.size)
        told = np.flatnonzero(self._is_followed(rows, prices) & (self._late[rows] > 0.0))
        if told.size:
            own = rows[told]
            every = 2.0 * self._late[own]
            rates = -np.expm1(-self._told_rates[own] * every) / every
            rates *= (self._news[0] + _FEW_NEWS) / (self._news[1] + _FEW_NEWS)
            length = self.intervals[own]
            more[told] = -rates / np.expm1(-rates * length) - 1.0 / length
            more[told] *= np.maximum(span + self._unheard[own] - every, 0.0)
        return more

    def _is_followed(self, rows: Integers, prices: Vector | float) -> Flags:
        """Tell of which pages a change that is announced is worth a visit."""
        worth = self.weights[rows] * self._lasts[rows] / self._speeds[rows]
        is_paid = (worth > prices) | ~(self._late[rows] >= 0.0)
        return np.asarray(is_paid & (self._log_odds[rows] > 0.0))

    def _price(self, rows: Integers, budget: float, now: float, span: float) -> float:
        """Find the price at which the span's demand is what the budget pays."""
        if not rows.size:
            return float(self.price[0])
        step = -(-rows.size // _SAMPLE)
        rows = np.ascontiguousarray(rows[::step])
        target = max(budget * span / step, 0.5)
        usual = float(np.log(self.weights[rows].mean() * rows.size / self.budget + 1e-290))
        x = float(np.clip(np.log(self.price[0] + 1e-290), usual - _FAR, usual + _FAR))
        low, high, leap = -np.inf, np.inf, 3.0
        before = (np.nan, np.nan)
        _, shortest, longest, _ = self.bounds
        for _ in range(_STEPS):
            visits = self._visits(rows, float(np.exp(x)), now, span)
            demand = float(_counted(*visits, np.array([target]))[0])
            excess = float(np.log(max(demand, 1e-9) / target))
            if abs(demand - target) <= max(0.01 * target, 0.6):
                break
            ends = self.intervals[rows]
            if (excess < 0 and np.all(ends <= 1.001 * shortest)) or (
                excess > 0 and np.all(ends >= 0.999 * longest)
            ):
                break  # all that the bounds allow
            low, high = (x, high) if excess > 0 else (low, x)
            if high - low < 1e-4:
                break
            slope = (excess - before[1]) / (x - before[0]) if x != before[0] else np.nan
            guess = x - excess / slope if slope < -0.05 else x + np.clip(2.0 * excess, -leap, leap)
            guess = min(max(guess, x - leap), x + leap)
            leap *= 1.5
            if not low < guess < high:
                guess = 0.5 * (low + high) if high - low < np.inf else x + np.sign(excess) * leap
            before, x = (x, excess), guess
        return float(np.exp(np.clip(x, -600.0, 600.0)))

    def _host_prices(
        self,
        rows: Integers,
        hosts: Integers,
        caps: Vector,
        over: Flags,
        now: float,
        span: float,
    ) -> Vector:
        """Find each crowded host's own price, all at once by bisection."""
        chosen = over[hosts]
        rows, hosts = rows[chosen], hosts[chosen]
        low = np.full(caps.size, np.log(self.price[0]))
        high = low + 40.0
        for _ in range(26):
            middle = 0.5 * (low + high)
            visits = self._visits(rows, np.exp(middle)[hosts], now, span)
            above = _counted(*visits, caps * span, hosts) > caps * span
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        return np.exp(high)


def _cycle(
    length: Vector, late: Vector, older: Vector, rates: Vector, told: Vector, false: Vector
) -> tuple[Vector, Vector]:
    """Return for how long a copy is fresh, and is kept; see :meth:`RevisitControl.kept_fresh`."""
    heard, older = length[:, None] - late, older[:, None]
    last = np.minimum(heard, older)  # when the next announcement has it fetched

    def before(announced: Vector) -> Vector:
        apart = np.maximum(2.0 * late, 1e-9 * length[:, None])  # readings: each tells the latest
        told_apart = -np.expm1(-announced * apart) / apart
        return np.asarray((heard - last) / (1.0 + older * told_apart))

    passed = late + before(told) - np.expm1(-told * last) / told
    early = late + before(false)  # false ones alone hasten the visit of a copy that is fresh
    ends = rates + false
    fresh = (
        -np.expm1(-rates * early) / rates - np.exp(-rates * early) * np.expm1(-ends * last) / ends
    )
    return fresh, passed
