"""Writes what robots and indexer found out, in batches: many visits, one transaction.

The module is longer than most, as all that is learned of pages on the way is kept by it.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from typing import Final, NamedTuple

from recrawl.crawler.control.addresses.intake import (
    BEYOND_BOUNDS,
    DOMAIN_FULL,
    DomainIntake,
    HostIntake,
)
from recrawl.crawler.control.addresses.yields import AddressYields
from recrawl.crawler.control.answers.confirmations import Confirmations
from recrawl.crawler.control.answers.farewells import ENDED, Farewells
from recrawl.crawler.control.answers.lifecycle import KEEPS, next_state
from recrawl.crawler.control.answers.logins import LAPSED, Logins
from recrawl.crawler.control.answers.refusals import REFUSED, Refusals, Verdict
from recrawl.crawler.control.answers.second_looks import SecondLooks
from recrawl.crawler.control.answers.soft_errors import SoftErrors
from recrawl.crawler.control.dispatching.dispatch import Dispatcher
from recrawl.crawler.control.dispatching.host_records import host_record
from recrawl.crawler.control.revisiting.due_times import DueTimes
from recrawl.crawler.control.revisiting.removals import BY_CHANCE, Removals
from recrawl.crawler.control.urls import host_of
from recrawl.crawler.control.worth.finders import Finders
from recrawl.crawler.control.worth.importance import ExpectedImportance
from recrawl.crawler.ports import ChanceLearner
from recrawl.crawler.runtime.outcomes import Finding, removes
from recrawl.crawler.runtime.parts import Rules, World
from recrawl.terms import Discovery, HostRecord, Lease, Outcome, PageState, PageUpdate

_LATEST: Final = 20_000  # pages that the kinds of address are learned from at a start
_BATCH: Final = 400  # updates that are flushed at once
_COMPACT_S: Final = 600.0
_FORGET_S: Final = 86_400.0
_OUT: Final = (PageState.MISSING, PageState.GONE, PageState.DISALLOWED)
_SWEPT_SHARE: Final = 0.8  # of the budget, for pages beside such as went
_MOST_ASKED: Final = 10_000  # pages of a host that were denied, when one is given again
_NOT_WHO: Final = frozenset(range(400, 500)) - {401, 403}  # denials that no login is asked for by
_FORGOTTEN: Final = 200  # pages whose visits are looked through at once


class _Look(NamedTuple):
    """Look at pages beside one of a host that went, or is back; not if they were visited since."""

    host_id: int
    since_s: float
    is_back: bool


class Recorder:
    """Collects updates and discoveries and flushes them to the frontier.

    Nothing is acknowledged before it is flushed: a page stays leased until its visit is on disk,
    and by then all that it led to is.

    Parameters
    ----------
    world, rules : of the crawl
    dispatcher : told what became due
    due_times : say when the pages are due again, of which whoever records asks
    """

    def __init__(
        self,
        world: World,
        rules: Rules,
        dispatcher: Dispatcher,
        due_times: DueTimes,
    ) -> None:
        self._world = world
        self._rules = rules
        self._dispatcher = dispatcher
        self.due_times = due_times
        self._is_waited_for = False  # nothing is to be done but what may be found
        self._updates: list[PageUpdate] = []
        self._found: list[Discovery] = []
        self._seen: set[str] = set()
        # A single pass ends by itself, and nothing can be put off until after it.
        self._once = dispatcher.horizon_s < inf
        self._intake = HostIntake(inf if self._once else rules.limits.max_new_per_minute)
        self._domains = DomainIntake(rules.limits.max_hosts_per_domain)
        self._refused: Counter[tuple[str, str]] = Counter()
        self._dates: set[int] = set()
        self._some = asyncio.Event()
        self._full = asyncio.Event()
        self._flushing = asyncio.Lock()
        self._stopping = False
        self._listeners: list[Callable[[], None]] = []
        self._remove: Callable[[PageUpdate], None] | None = None
        self.yields = AddressYields()
        self.errors = SoftErrors()
        self.farewells = Farewells()
        self.refusals = Refusals(may_ask=not self._once and rules.asked_every_s < inf)
        self.confirmations = Confirmations()
        self.logins = Logins()
        self._to_ask: list[str] = []  # addresses that are to be visited now
        self._learned: set[int] = set()  # hosts whose records are to be written
        learns = rules.second_looks and isinstance(world.index, ChanceLearner)
        self.second_looks = SecondLooks() if learns else None
        self._removals = Removals()
        self._beside: dict[int, _Look] = {}  # those beside a page that went, or is back
        self.denying: set[int] = set()  # hosts that have denied pages, or forbidden them
        self._giving: set[int] = set()  # those of them that give a page again
        self._swept_s = -inf  # until when those beside them have their share of the budget
        self.expected = ExpectedImportance()
        self._finders = Finders()
        self._forgot_s, self._forgot_to = -inf, 0  # when old visits were dropped; the page reached
        self._compacted_s = -inf  # when the feed held nothing more to be dropped
        self._welcome: list[tuple[int, int]] = []  # pages, with their hosts, to be brought forward
        # What is put off must be on disk before it is brought forward, or it is handed out twice.
        self.moving = asyncio.Lock()

    def on_flush(self, listener: Callable[[], None]) -> None:
        """Have ``listener`` called whenever more pages may have become due."""
        self._listeners.append(listener)

    def on_removal(self, remove: Callable[[PageUpdate], None]) -> None:
        """Have ``remove`` called with updates that take a page out of the index."""
        self._remove = remove

    async def recall(self) -> None:
        """Learn from the state what kinds of address have brought, and how many hosts there are."""
        frontier = self._world.frontier
        visited = await self._world.on_state(lambda: list(frontier.visited(_LATEST)))
        self.yields.recall(page[:4] for page in visited)
        self.farewells.recall(visited)
        known = await self._world.on_state(frontier.hosts)
        self._domains.note(record.host for record in known)

    def wait_for(self, *, is_idle: bool) -> None:
        """Note whether robots wait for nothing but what is found: it is written at once then."""
        self._is_waited_for = is_idle
        if is_idle and self._found:
            self._full.set()

    @property
    def is_empty(self) -> bool:
        """True when everything found out so far is on disk."""
        return not (self._updates or self._found or self._welcome or self._flushing.locked())

    def add(
        self,
        updates: Sequence[PageUpdate] = (),
        found: Sequence[Discovery] = (),
        *,
        committed: bool = False,
        is_first_visit: bool = False,
    ) -> int:
        """Have these written soon; return how many addresses are too many for now.

        Those are as if they had not been found. Updates that take a page out of the index go to the
        indexer first, and come back ``committed``. What the first visit to a page finds
        (``is_first_visit``) counts as no birth, so nobody has a lead in it.
        """
        for update in updates:
            if not committed and self._remove is not None and removes(update):
                self._remove(update)
            else:
                self._updates.append(update)
                self._welcome += self.yields.observe(update)
                self._observe_leave(update)
                self._disbelieve(update)
                if self.second_looks is not None:
                    self.second_looks.observe(update)
                since_s = self._removals.observe(update)
                if since_s is not None and not self._once:  # which visits every page anyway
                    is_back = update.state is PageState.INDEXED
                    look = _Look(update.lease.host_id, since_s, is_back)
                    self._beside[update.lease.page_id] = look
        put_off = sum(not self._taken(one, is_first_visit=is_first_visit) for one in found)
        if self._updates or self._found:
            self._some.set()
        if len(self._seen) + len(self._dates) > 500_000:
            self._dates.clear()
            self._seen.clear()  # only saves looking up what is known; the frontier decides
        if len(self._updates) >= _BATCH or len(self._found) >= 4 * _BATCH:
            self._full.set()
        self.wait_for(is_idle=self._is_waited_for)
        return put_off

    def _taken(self, discovery: Discovery, *, is_first_visit: bool) -> bool:
        """Take in what is not known already; False where its host has too many for now."""
        if discovery.url not in self._seen:
            if (domain := self._domains.full(discovery.host)) is not None:
                self._refused[domain, DOMAIN_FULL] += 1
                return True
            if not self._intake.take(discovery.host, self._world.clock.now_s()):
                self._refused[discovery.host, "too-fast"] += 1
                return False
        elif not self._is_dated_anew(discovery):
            return True
        self._seen.add(discovery.url)
        if discovery.found_on is not None and not is_first_visit:
            self._finders.found(discovery.url, discovery.found_on, self._world.clock.now_s())
        self._found.append(replace(discovery, importance=self.expected.of(discovery.url)))
        return True

    def refuse(self, urls: Iterable[str]) -> None:
        """Count what only a bound of the crawl keeps out."""
        self._refused.update((host_of(url), BEYOND_BOUNDS) for url in urls)

    def found_again(self, page_id: int, urls: Iterable[str]) -> None:
        """Note what a page leads to that another one led to first, not long ago."""
        self._finders.found_again(page_id, urls, self._world.clock.now_s())

    def _is_dated_anew(self, discovery: Discovery) -> bool:
        """Say whether a date has not been told of this page: listings announce changes by it."""
        if discovery.lastmod_s is None:
            return False
        told = hash((discovery.url, discovery.lastmod_s))
        known = told in self._dates
        self._dates.add(told)
        return not known

    def knows(self, url: str) -> bool:
        """True for a discovery that was added not long ago."""
        return url in self._seen

    async def run(self) -> None:
        """Flush within ``flush_s`` of the first addition, or as soon as a batch is full.

        At once where robots have nothing to do but what was found.
        """
        while not self._stopping:
            await self._some.wait()
            try:
                async with asyncio.timeout(self._rules.flush_s):
                    await self._full.wait()
            except TimeoutError:
                pass
            await self.flush()

    def stop(self) -> None:
        """End :meth:`run` after a last flush."""
        self._stopping = True
        self._some.set()
        self._full.set()

    def is_signed_in(self, lease: Lease) -> bool:
        """Tell whether the page's host is sent a login."""
        return self._rules.admission.scope.is_signed_in(host_of(lease.url))

    def denied(self, lease: Lease, finding: Finding) -> Finding:
        """Return what is recorded of a page that is not given: a login may have lapsed."""
        if finding.status in _NOT_WHO or not self.is_signed_in(lease):
            return self.turned_away(lease, finding)
        verdict = self.logins.denied(lease)
        self.heed(lease, verdict, LAPSED)
        if not verdict.is_doubted:
            return finding
        return replace(finding, outcome=Outcome.SERVER_ERROR, note=LAPSED)

    def turned_away(self, lease: Lease, finding: Finding) -> Finding:
        """Return what is recorded of a page that is denied, not there, or leads elsewhere."""
        is_held = lease.state in KEEPS and lease.signature is not None
        goes = next_state(lease.state, finding.outcome) not in KEEPS
        how = finding.redirect_url or finding.note or str(finding.status)
        verdict = self.refusals.turned_away(
            lease.url, finding.outcome, how, self._world.clock.now_s(), is_held=is_held, goes=goes
        )
        self.heed(lease, verdict)
        if verdict.is_doubted:
            return replace(finding, outcome=Outcome.SERVER_ERROR, note=REFUSED)
        if is_held and goes and lease.failures + 2 < self._removals.looks_needed(lease.host_id):
            return replace(finding, outcome=Outcome.SERVER_ERROR, note=BY_CHANCE)
        return finding

    def passed(self, lease: Lease, finding: Finding, now_s: float) -> Finding:
        """Return what is recorded of a page that says what it said; a page may have ended so."""
        self.heed(lease, self.refusals.passed(lease.url, now_s))
        self.logins.given(lease.url, now_s)
        if self.farewells.passed(lease.url, lease.signature):
            ended = Outcome.NOT_FOUND
            return replace(finding, outcome=ended, note=ENDED, says=lease.signature)
        return finding

    def heed(self, lease: Lease, verdict: Verdict, why: str = REFUSED) -> None:
        """Leave a host alone that refuses, and have pages visited that tell more of it."""
        self._to_ask += verdict.ask
        if verdict.refuses:
            now_s = self._world.clock.now_s()
            self._dispatcher.refused(lease.host_id, now_s, why, is_news=verdict.is_news)
            self._learned.add(lease.host_id)

    async def flush(self) -> None:
        """Write everything that has been added."""
        async with self._flushing:
            self._some.clear()
            self._full.clear()
            updates, self._updates = self._updates, []
            found, self._found = self._found, []
            welcome, self._welcome = self._welcome, []
            beside, self._beside = self._beside, {}
            leads = self._finders.take()
            refused, self._refused = self._refused, Counter()
            if not (updates or found or refused or welcome):
                return
            now_s = min(self._world.clock.now_s(), self._dispatcher.horizon_s)
            try:
                hosts = await self._world.on_state(self._write, updates, found, now_s)
                async with self.moving:
                    brought = await self._bring_forward(welcome, beside, now_s)
                if leads:
                    worths = self._world.frontier.worths
                    await self._world.on_state(worths.found_again, leads)
                if refused:
                    await self._world.on_state(self._world.frontier.refuse, refused)
            except BaseException:
                # A page that is on record as read is not read again while it stays as it is: what
                # it led to must never be on disk later than that. Taking in twice does no harm.
                self._found = found + self._found
                raise
            for update in updates:
                soonest_s = update.visit.visited_at_s + self._rules.revisit.min_interval_s
                self._dispatcher.observe_due(
                    update.lease.host_id,
                    update.due_s,
                    inf if update.interval_s is None else soonest_s,
                )
                self._dispatcher.observe_recorded(update.lease.host_id, update.visit.visited_at_s)
            for record in hosts:
                self._dispatcher.observe_host(record, None)
            for host_id in brought:
                self._dispatcher.observe_due(host_id, now_s)
            for listener in self._listeners:
                listener()

    def _disbelieve(self, update: PageUpdate) -> None:
        """Have pages read in full of a host that is wrong in saying that they are not modified."""
        believed = self.confirmations.observe(update)
        if believed is not None:
            self._dispatcher.host(update.lease.host_id).is_read_in_full = True
            self._learned.add(update.lease.host_id)
            self._to_ask += believed

    def _observe_leave(self, update: PageUpdate) -> None:
        host_id = update.lease.host_id
        if update.visit.outcome in (Outcome.DENIED, Outcome.DISALLOWED):
            self.denying.add(host_id)
            return
        is_back = update.lease.state in _OUT and update.state is PageState.INDEXED
        if is_back and host_id in self.denying:
            self.denying.discard(host_id)  # asked once, until it denies another page
            self._giving.add(host_id)

    async def _bring_forward(
        self, welcome: list[tuple[int, int]], beside: dict[int, _Look], now_s: float
    ) -> set[int]:
        """Have pages visited now that were put off, or tell of others; return hosts."""
        frontier = self._world.frontier
        if welcome:
            page_ids = [page_id for page_id, _ in welcome]
            await self._world.on_state(frontier.bring_forward, page_ids, now_s)
        to_ask, self._to_ask = self._to_ask, []
        if to_ask:
            await self._world.on_state(frontier.ask, to_ask, now_s)
        learned, self._learned = self._learned, set()
        for host_id in learned:
            await self._world.save_host(host_record(self._dispatcher, host_id))
        giving, self._giving = self._giving, set()
        for host_id in giving:  # what was denied beside that page may be given as well
            leave = partial(frontier.ask_leave, now_s, host_id=host_id, most=_MOST_ASKED)
            await self._world.on_state(leave)
        for are_back in {look.is_back for look in beside.values()}:
            pages = {at: look.since_s for at, look in beside.items() if look.is_back == are_back}
            due_s = max(now_s, self._swept_s)
            look_beside = partial(frontier.look_beside, pages, due_s, are_back=are_back)
            n = await self._world.on_state(look_beside)
            # However much has gone, what is there is kept fresh as well.
            self._swept_s = due_s + n / (_SWEPT_SHARE * self._dispatcher.budget.rate_per_s)
        return giving | {one for _, one in welcome} | {look.host_id for look in beside.values()}

    def _compact(self) -> None:
        """Drop old entries of the feed, some with every flush while there are any."""
        now_s = self._world.clock.now_s()
        if abs(now_s - self._compacted_s) < _COMPACT_S:
            return
        if not self._world.frontier.feed.compact(now_s - self._rules.feed_keep_s):
            self._compacted_s = now_s

    def _forget(self) -> None:
        """Drop old visits of some pages with every flush; once a day of all."""
        now_s = self._world.clock.now_s()
        if abs(now_s - self._forgot_s) < _FORGET_S or self._rules.keep_visits_s == inf:
            return
        before_s = now_s - self._rules.keep_visits_s
        frontier, after = self._world.frontier, self._forgot_to
        found = frontier.forget_visits(before_s, after=after, limit=_FORGOTTEN)
        self._forgot_to = found or 0
        if found is None:
            self._forgot_s = now_s

    def _write(
        self, updates: list[PageUpdate], found: list[Discovery], now_s: float
    ) -> list[HostRecord]:
        touched = self._world.frontier.admit(found, now_s, self._rules.limits) if found else []
        if updates:
            self._world.frontier.complete(updates, self._world.clock.now_s())
        self._compact()
        self._forget()
        return [self._world.frontier.host(host_id, now_s=now_s) for host_id in touched]
