"""The port of revisit policies: told of visits and plans, they say when pages are due, and why."""

from contextlib import suppress
from dataclasses import dataclass, field
from math import isnan
from numbers import Real
from typing import Any, Final, Protocol

import numpy as np

from recrawl.crawler.control.evidence import PlannedPages
from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Flags, Integers, Vector

_NEWS = 0.05
BY_PLAN: Final = "the plan"  # what set a due time
_MOST_REMEMBERED: Final = 65_536  # bytes of a page, in every row of the state


@dataclass(frozen=True, slots=True)
class PageVisit:
    """A visit that read a page, as its policy hears of it. Seconds.

    Parameters
    ----------
    url : of the page; in a replay, what its table calls it
    at_s : instant of the visit
    changed : whether the page had changed since the visit before; None: there is nothing to compare
        with, as this is its first copy, or a cache's from before that visit
    elapsed_s : since the visit before; None with the first
    due_s : when the visit was due
    weight : what a fresh copy is worth, >= 0
    crawl_rate_per_s : by the plan in force; None: not planned yet
    memory : what the policy said it had to remember of the page; empty at first
    """

    url: str
    at_s: float
    changed: bool | None
    elapsed_s: float | None = None
    due_s: float = 0.0
    weight: float = 1.0
    crawl_rate_per_s: float | None = None
    memory: bytes = b""


@dataclass(frozen=True, slots=True)
class NextVisit:
    """Due time of a page, and its reason.

    Parameters
    ----------
    due_s : instant
    why : in words for people; kept, and shown
    interval_s : planned since the visit, where the page is due when that visit is worth its price,
        and may be visited ahead of its time; None: not before ``due_s``
    memory : what the policy has to remember of the page, 64 KiB at most and better some hundred
        bytes; None: as before

    Raises
    ------
    InvalidModel
        The instant or the interval is no number, the reason no text, or the memory is too large or
        not bytes.
    """

    due_s: float
    why: str
    interval_s: float | None = None
    memory: bytes | None = None

    def __post_init__(self) -> None:
        if not _is_text(self.why):
            raise InvalidModel(f"why must be a text, got {self.why!r:.80}")
        object.__setattr__(self, "due_s", self._number("due_s", self.due_s, "an instant"))
        if self.interval_s is not None:
            interval_s = self._number("interval_s", self.interval_s, "a time, or None")
            object.__setattr__(self, "interval_s", interval_s)
        if self.memory is not None and not isinstance(self.memory, bytes):
            raise InvalidModel(f"memory must be bytes or None, got {self.memory!r:.80}")
        if self.memory is not None and len(self.memory) > _MOST_REMEMBERED:
            raise InvalidModel(
                f"memory must be {_MOST_REMEMBERED:,} bytes at most, got {len(self.memory):,}"
            )

    def _number(self, name: str, value: Any, wanted: str) -> float:
        """Return what a state can hold: other numbers than those of Python are bytes to SQLite."""
        with suppress(OverflowError):
            if isinstance(value, Real) and not isnan(number := float(value)):
                return number
        raise InvalidModel(f"{name} must be {wanted}, got {value!r:.80} ({self.why:.80})")


def _is_text(given: object) -> bool:
    with suppress(UnicodeEncodeError):
        return isinstance(given, str) and given.encode() is not None
    return False


@dataclass(frozen=True, slots=True, eq=False)
class Replan:
    """Input of a plan. Seconds, and visits per second.

    Parameters
    ----------
    pages : whose copies are to be kept fresh, with the change rates that were learned
    hosts : shape (n,), number of each page's host
    host_caps : shape (n_hosts,), visits per second that politeness allows; inf: any
    budget_per_s : visits of these pages that are paid for
    now_s : instant
    span_s : what falls due within it is what the budget pays
    least_price : worth of a visit, in weight times seconds, below which none is to be made
    prior_rate_per_s : change rate of a page of which nothing is known
    heard_s : shape (n,), until when it is known what announces changes of each page; nan: nothing
        does; empty: of none
    """

    pages: PlannedPages
    hosts: Integers
    host_caps: Vector
    budget_per_s: float
    now_s: float
    span_s: float = 0.0
    least_price: float = 0.0
    prior_rate_per_s: float = 1.0 / (14 * 86_400.0)
    heard_s: Vector = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True, slots=True)
class FastClock:
    """A group of pages that changed faster than usual before a plan.

    Parameters
    ----------
    page_id : one of its pages
    depth : of the directory that this is: 1 is the host, 2 a folder of it; 0: it is of the pages
        of the directory that are called as this one up to the first dot
    factor : time that is believed to have passed for each unit that has, > 1
    found, expected : changes lately, and those that the pages' own rates let expect
    for_s : how long that is
    """

    page_id: int
    depth: int
    factor: float
    found: float
    expected: float
    for_s: float


@dataclass(frozen=True, slots=True, eq=False)
class Schedule:
    """A plan and the due times that follow.

    Parameters
    ----------
    crawl_rates, due : shape (n,), 1/time and instants
    price : worth of one more visit per unit of time; zero for the control arms
    freshness : weighted share of pages that the rates keep fresh
    n_never_visited : pages that get less than their floor, of rate zero
    host_prices : shape (n_hosts,), what a visit costs the pages of each host: ``price``, or more
        where the host is at its limit; empty where no plan was solved for them
    worth : what one more visit would be worth in the long run, in pages of average weight times
        time; the price also says what is due soon
    why : in words, what set these due times
    foreseen : whether due times follow more than crawl rates, as what was found beside a page
    own_due : shape (n,), instants by each page's own rate alone; None: ``due`` are
    fast : groups of pages that change faster than usual, those with most to tell first
    lightest : what a page weighs less than it should for being of a kind that never changes
    """

    crawl_rates: Vector
    due: Vector
    price: float
    freshness: float
    n_never_visited: int
    host_prices: Vector = field(default_factory=lambda: np.zeros(0))
    worth: float = 0.0
    why: str = BY_PLAN
    foreseen: bool = False
    own_due: Vector | None = None
    fast: tuple[FastClock, ...] = ()
    lightest: float = 1.0

    def moved(self, pages: PlannedPages) -> Flags:
        """Say for which pages this is news, by more than a twentieth of an interval.

        Where due times follow from crawl rates alone, those of rates that are in force stay as
        visits set them: a visit that was late shortens the next interval.
        """
        with np.errstate(invalid="ignore", divide="ignore"):
            moved = ~(np.abs(self.crawl_rates / pages.crawl_rates_per_s - 1.0) <= _NEWS)
            if self.foreseen:
                moved |= ~(np.abs(self.due - pages.due_s) * self.crawl_rates <= _NEWS)
        return np.asarray(moved)


class RevisitPolicy(Protocol):
    """Revisit policy, which sets due times. Pure: it is told the time, and asks nobody.

    The same object serves a running crawl and a replay of history. What it knows of a single page
    it returns as ``memory``, which the state keeps and hands back with the page's next visit.
    """

    @property
    def name(self) -> str:
        """Name in reports."""
        ...

    def after_visit(self, visit: PageVisit) -> NextVisit:
        """Return when a page is due that has just been read. O(1) or O(log n)."""
        ...

    def replan(self, question: Replan) -> Schedule | None:
        """Return new due times for all pages; None: they stay as they are."""
        ...


def ask_when_due(policy: RevisitPolicy, visit: PageVisit) -> NextVisit:
    """Return what a policy says of a visit.

    Raises
    ------
    InvalidModel
        It says something else than it must; the message names the policy.
    """
    said = policy.after_visit(visit)
    if not isinstance(said, NextVisit):
        raise InvalidModel(f"{policy.name}: after_visit must return a NextVisit, got {said!r:.80}")
    return said


def ask_for_plan(policy: RevisitPolicy, question: Replan) -> Schedule | None:
    """Return what a policy plans.

    Raises
    ------
    InvalidModel
        It is no schedule of all pages; the message names the policy.
    """
    said = policy.replan(question)
    if said is not None and not isinstance(said, Schedule):
        raise InvalidModel(
            f"{policy.name}: replan must return a Schedule or None, got {said!r:.80}"
        )
    if said is not None:
        shape = question.pages.page_ids.shape
        for name in ("crawl_rates", "due"):
            given: Any = getattr(said, name)
            if not isinstance(given, np.ndarray) or given.shape != shape:
                raise InvalidModel(
                    f"{policy.name}: {name} of a schedule must be an array of shape {shape}, with "
                    f"a number for each page, got {given!r:.80}"
                )
        if np.isnan(said.due).any():
            raise InvalidModel(f"{policy.name}: due of a schedule must be instants, got nan")
    return said
