"""One visit: fetch, understand the answer, pass content on to the buffer.

A page that was another each of the last times is fetched twice, so that the index may learn what of
it is drawn by chance: both requests are one visit, with the host's rest between them.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final

from recrawl.crawler.control.addresses.doubts import is_doubted
from recrawl.crawler.control.answers.lifecycle import outcome_of_status
from recrawl.crawler.control.answers.refresh import refresh_of
from recrawl.crawler.control.answers.shared_targets import SharedTargets
from recrawl.crawler.control.answers.soft_errors import PROBE, is_probe, leads_to_sign_in
from recrawl.crawler.control.dispatching.dispatch import Dispatcher
from recrawl.crawler.control.dispatching.host_records import host_record
from recrawl.crawler.control.fleet.obsolescence import patience_s
from recrawl.crawler.control.urls import join
from recrawl.crawler.control.worth.tiers import ASKED
from recrawl.crawler.runtime.buffer import Buffer
from recrawl.crawler.runtime.outcomes import Finding, is_outdated, update_of
from recrawl.crawler.runtime.parts import Rules, World
from recrawl.crawler.runtime.reading import SlowReading
from recrawl.crawler.runtime.recorder import Recorder
from recrawl.errors import FetchError, PoisonPage, ReadingCut, ReadingPutOff
from recrawl.terms import (
    INDEXABLE,
    BufferedPage,
    DatedUrls,
    Discovery,
    FetchResponse,
    Kind,
    Lease,
    Outcome,
    PageState,
)

_MAX_LISTING_BYTES: Final = 50 * 1024 * 1024
_LISTING_AGAIN_S: Final = 300.0
_LISTED_AT_ONCE: Final = 2_000  # a fiftieth of a second
# Errors for which a host is not to blame: it is this answer that is not wanted, or may not be.
_NOT_THE_HOST: Final = (
    "too-large", "encoding", "refused-address", "url", "unencrypted", "render", "head"
)  # fmt: skip
_MAX_LISTING_DEPTH: Final = 3  # sitemap indexes within indexes
_LONGEST_REST_S: Final = 30.0  # of a host, between two looks at a page
_REFUSES: Final = (Outcome.DENIED, Outcome.NOT_FOUND, Outcome.GONE)  # where all say so
_UNASKED: Final = "its server said that nothing had changed (304), which it was not asked"


class Visitor:
    """Visits of a robot to pages."""

    def __init__(
        self,
        world: World,
        rules: Rules,
        *,
        dispatcher: Dispatcher,
        buffer: Buffer,
        recorder: Recorder,
        reading: SlowReading,
        on_feed: Callable[[str, FetchResponse], None] | None = None,
    ) -> None:
        self.abandoned: list[Lease] = []  # visits that were cut off, to be given back
        self._world = world
        self._rules = rules
        self._dispatcher = dispatcher
        self._buffer = buffer
        self._recorder = recorder
        self._reading = reading
        self._targets = SharedTargets()
        self._on_feed = on_feed

    async def visit(self, lease: Lease) -> bool:
        """Fetch a page and see to what follows; True if it went to the buffer (or was lost there).

        Whatever happens, the visit is recorded, or the page given back if it never began.
        """
        clock = self._world.clock
        started_s = clock.now_s()
        again = None
        try:
            is_conditional = self._is_conditional(lease)
            if is_conditional and self._recorder.confirmations.take(lease):
                is_conditional = False
            response = await self._fetch(lease, is_conditional=is_conditional)
            if response.wants_cookie and self._rests_briefly(lease):
                response = await self._look_again(lease) or response
            if self._is_to_be_seen_twice(lease, response):
                again = await self._look_again(lease)
        except FetchError as error:
            await self._failed(lease, error, started_s)
            return False
        except BaseException:  # cancelled: the page goes back as if nothing had happened
            self._dispatcher.cancelled(lease.host_id, clock.now_s())
            self.abandoned.append(lease)
            raise
        last = again or response
        blocked = self._dispatcher.answered(
            lease.host_id, clock.now_s(), last.status, last.retry_after, lease.page_id, lease.url
        )
        self._spend(response.n_requests)
        if blocked:
            await self._world.save_host(host_record(self._dispatcher, lease.host_id))
        if again is not None and outcome_of_status(again.status) is not None:
            again = None  # no copy of the page
        return await self._answered(lease, response, started_s, again)

    async def _fetch(self, lease: Lease, *, is_conditional: bool) -> FetchResponse:
        return await self._world.fetcher.fetch(
            lease.url,
            etag=lease.etag if is_conditional else None,
            last_modified=lease.last_modified if is_conditional else None,
            max_bytes=None if lease.kind is Kind.PAGE else _MAX_LISTING_BYTES,
            pages_only=lease.kind is Kind.PAGE,
        )

    def _is_to_be_seen_twice(self, lease: Lease, response: FetchResponse) -> bool:
        """Tell whether a second look is to say what of a page is drawn by chance."""
        looks, now_s = self._recorder.second_looks, self._world.clock.now_s()
        return (
            looks is not None
            and lease.kind is Kind.PAGE
            and lease.state is PageState.INDEXED
            and outcome_of_status(response.status) is None
            and self._world.extractor.raw_hash(response.body) != lease.raw_hash
            and self._rests_briefly(lease)
            and looks.take(lease.page_id, lease.host_id, lease.last_visit_s, now_s)
        )

    def _rests_briefly(self, lease: Lease) -> bool:
        return self._dispatcher.host(lease.host_id).politeness.delay_s <= _LONGEST_REST_S

    async def _look_again(self, lease: Lease) -> FetchResponse | None:
        """Fetch a page a second time, after its host's rest; None where that fails."""
        clock, dispatcher = self._world.clock, self._dispatcher
        await clock.sleep_until(clock.now_s() + dispatcher.host(lease.host_id).politeness.delay_s)
        dispatcher.budget.spend(clock.now_s())
        try:
            again = await self._fetch(lease, is_conditional=False)
        except FetchError:
            return None
        self._spend(again.n_requests)
        return again

    def _is_conditional(self, lease: Lease) -> bool:
        """Tell whether a page is asked for only if it is another than the copy that is held."""
        has_validator = bool(lease.etag or lease.last_modified)
        believes = not self._dispatcher.host(lease.host_id).is_read_in_full
        return has_validator and believes and not self._rules.is_read_otherwise(lease)

    def _spend(self, n_requests: int) -> None:
        """Count what filling a page took; the first was counted when it was handed out."""
        for _ in range(1, n_requests):
            self._dispatcher.budget.spend(self._world.clock.now_s())

    async def _failed(self, lease: Lease, error: FetchError, started_s: float) -> None:
        now_s = self._world.clock.now_s()
        self._spend(error.n_requests)
        outcome = Outcome.FAILED
        if error.kind in _NOT_THE_HOST:
            self._dispatcher.answered(lease.host_id, now_s, 200, None, lease.page_id, lease.url)
            outcome = Outcome.TOO_LARGE if error.kind == "too-large" else Outcome.FAILED
        else:
            counts = self._dispatcher.unanswered(
                lease.host_id, now_s, error.kind, lease.page_id, lease.url
            )
            record = host_record(self._dispatcher, lease.host_id)
            if not counts:
                await self._world.note_silence(record)
            else:
                await self._world.save_host(record)
            if not counts and lease.tier != ASKED:  # who asked is told
                await self._world.on_state(self._world.frontier.release, [lease])
                self._dispatcher.observe_due(lease.host_id, lease.due_s)
                return
        self._record(lease, Finding(outcome, note=str(error)[:300]), started_s)

    async def _answered(
        self,
        lease: Lease,
        response: FetchResponse,
        started_s: float,
        again: FetchResponse | None = None,
    ) -> bool:
        outcome = outcome_of_status(response.status)
        if outcome in (Outcome.MOVED, Outcome.REDIRECTED):
            self._follow(lease, response, started_s, outcome)
            return False
        if outcome is Outcome.NOT_MODIFIED and not self._is_conditional(lease):
            # There is no copy that this could be about: the server fails, the page is unknown.
            finding = Finding(Outcome.SERVER_ERROR, response, note=_UNASKED)
            self._record(lease, finding, started_s)
            return False
        if outcome is not None:
            finding = Finding(outcome, response)
            if outcome is Outcome.NOT_MODIFIED:
                finding = self._recorder.passed(lease, finding, started_s)
            elif outcome in _REFUSES:
                finding = self._recorder.denied(lease, finding)
            self._record(lease, finding, started_s)
            return False
        if lease.kind is not Kind.PAGE:
            await self._read_listing(lease, response, started_s)
            return False
        if response.content_type and response.content_type not in INDEXABLE:
            note = f"content type {response.content_type[:80]}"
            finding = Finding(Outcome.UNSUPPORTED, response, note=note)
            self._record(lease, self._recorder.turned_away(lease, finding), started_s)
            return False
        sent = refresh_of(response.refresh, lease.url)
        if sent is not None and sent.is_at_once and not response.body.strip():
            there = replace(response, location=sent.target)
            self._follow(lease, there, started_s, Outcome.REDIRECTED)
            return False
        if not response.body.strip():  # as where a script broke: it says nothing, or no longer
            finding = Finding(Outcome.NOT_FOUND, response, note="the answer is empty")
            self._record(lease, self._recorder.turned_away(lease, finding), started_s)
            return False
        return self._deliver(lease, response, started_s, again)

    def _follow(
        self, lease: Lease, response: FetchResponse, started_s: float, outcome: Outcome
    ) -> None:
        """A redirect is a discovery: its target is visited in its turn, politely, as a page."""
        target = join(lease.url, response.location) if response.location else None
        if target is None or target == lease.url:
            note = "redirects to itself" if target else "redirects nowhere"
            self._record(lease, Finding(Outcome.DENIED, response, note=note), started_s)
            return
        if leads_to_sign_in(lease.url, target):  # the form is no page of the crawl either
            note = f"leads to where people sign in: {target}"[:300]
            finding = Finding(Outcome.DENIED, response, note=note)
            self._record(lease, self._recorder.denied(lease, finding), started_s)
            return
        finding = self._as_led(lease, Finding(outcome, response, redirect_url=target))
        if finding.outcome is Outcome.SERVER_ERROR:
            self._record(lease, finding, started_s)
            return
        admission = self._rules.admission
        found = admission.of([target], kind=lease.kind, depth=lease.depth, hops=lease.hops + 1)
        self._record(lease, replace(finding, told_news=bool(found)), started_s)
        self._recorder.add(found=found)

    def _as_led(self, lease: Lease, finding: Finding) -> Finding:
        """Return what is recorded of a page that leads elsewhere: its host may refuse by that."""
        recorder, target = self._recorder, finding.redirect_url or ""
        is_held = lease.kind is Kind.PAGE and lease.state is PageState.INDEXED
        may_ask = recorder.is_signed_in(lease)  # who comes, by leading all pages to one
        may_be_slip = is_held and (may_ask or finding.outcome is Outcome.MOVED)
        if may_be_slip and self._targets.is_doubtful(lease.url, target):
            # It is confirmed before it counts.
            finding = replace(finding, outcome=Outcome.REDIRECTED)
            return recorder.denied(lease, finding) if may_ask else finding
        if finding.outcome is Outcome.REDIRECTED and not may_ask:
            return recorder.turned_away(lease, finding)
        return finding

    async def _read_listing(self, lease: Lease, response: FetchResponse, started_s: float) -> None:
        """Read a sitemap or feed: its pages are discoveries."""
        extractor = self._world.extractor

        async def then(read: Awaitable[tuple[DatedUrls, DatedUrls]]) -> None:
            try:
                await self._listed(lease, response, started_s, *await read)
            except PoisonPage as error:
                finding = Finding(Outcome.POISON, response, note=str(error))
                self._record(lease, finding, started_s)
            except ReadingPutOff as error:
                finding = Finding(Outcome.DEFERRED, response, note=str(error))
                self._record(lease, finding, started_s)
            except ReadingCut:
                self.abandoned.append(lease)
            except asyncio.CancelledError:
                self.abandoned.append(lease)
                raise

        async def entries() -> tuple[DatedUrls, DatedUrls]:
            return await extractor.feed(response), []

        call = extractor.sitemap(response) if lease.kind is Kind.SITEMAP else entries()
        n_bytes = len(response.body)
        await self._reading.read(lease, call, then, n_bytes=n_bytes, may_wait=False)

    async def _listed(
        self,
        lease: Lease,
        response: FetchResponse,
        started_s: float,
        pages: DatedUrls,
        further: DatedUrls,
    ) -> None:
        """Take in what is listed; other pages get their turn where that is much."""
        admission = self._rules.admission
        found: list[Discovery] = []
        if lease.kind is Kind.SITEMAP:
            listed, depth = [f"{url} {lastmod_s}" for url, lastmod_s in pages + further], 0
            if lease.depth < _MAX_LISTING_DEPTH:
                urls = [url for url, _ in further]
                found = admission.of(urls, kind=Kind.SITEMAP, depth=lease.depth + 1)
                dates, told = self._recorder.due_times.dates, dict(further)
                dated = [(one.url, told[one.url]) for one in found]
                dates.read(lease.page_id, started_s, dated, lease.memory[1:])
        else:
            listed, depth = [url for url, _ in pages], 1
            if self._on_feed is not None:
                self._on_feed(lease.url, response)
        # What it lists, not how: many feeds write the time of the request into themselves.
        raw_hash = self._world.extractor.raw_hash("\n".join(sorted(listed)).encode())
        changed = None if lease.raw_hash is None else raw_hash != lease.raw_hash
        news, put_off, n_found = False, 0, 0
        for first in range(0, max(len(pages), 1), _LISTED_AT_ONCE):
            some = pages[first : first + _LISTED_AT_ONCE]
            found += admission.dated(some, depth=depth)
            n_found += len(found)
            # A feed of one page's versions tells of no page.
            news |= any(
                not self._recorder.knows(one.url) and not is_doubted(one.url) for one in found
            )
            self._recorder.found_again(lease.page_id, [url for url, _ in some])
            put_off += self._recorder.add(
                found=[replace(one, found_on=lease.page_id) for one in found],
                is_first_visit=lease.last_visit_s is None,
            )
            found.clear()
            await asyncio.sleep(0)
        away = None if n_found else admission.leads_away(lease, [url for url, _ in pages])
        finding = Finding(
            Outcome.LISTING, response, raw_hash=raw_hash, changed=changed, told_news=news, note=away
        )
        self._record(lease, finding, started_s, read_again=bool(put_off))

    def _deliver(
        self,
        lease: Lease,
        response: FetchResponse,
        started_s: float,
        again: FetchResponse | None = None,
    ) -> bool:
        """Bring content to the buffer, unless it is byte for byte what the index has."""
        raw_hash = self._world.extractor.raw_hash(response.body)
        is_same = raw_hash == lease.raw_hash and not self._recorder.errors.is_suspect(lease.url)
        is_same &= not self._rules.is_read_otherwise(lease) and response.refresh is None
        if is_same and lease.state is PageState.INDEXED:
            finding = Finding(Outcome.UNCHANGED, response, raw_hash=raw_hash)
            self._record(lease, self._recorder.passed(lease, finding, started_s), started_s)
            return False
        if lease.state is PageState.INDEXED and is_outdated(lease, response, started_s):
            self._record(lease, Finding(Outcome.UNCHANGED, response), started_s)
            return False
        page = BufferedPage(lease, response, started_s, self._deadline_s(lease), raw_hash, again)
        if not self._buffer.offer(page):
            self._record(lease, Finding(Outcome.LOST, response), started_s)
        return True

    def _deadline_s(self, lease: Lease) -> float:
        """Return when the copy will be obsolete; a first one is worth having however late."""
        rules = self._rules
        rate = lease.change_rate_per_s if lease.state is PageState.INDEXED else None
        return self._world.clock.now_s() + patience_s(
            rate,
            least_s=rules.revisit.min_interval_s,
            longest_s=rules.buffer_deadline_s,
            usual_s=self._buffer.usual_wait_s,
        )

    def _record(
        self, lease: Lease, finding: Finding, started_s: float, *, read_again: bool = False
    ) -> None:
        if is_probe(lease.url):  # whatever became of it
            finding = replace(finding, state=PageState.EXCLUDED, note=PROBE)
        update = update_of(lease, finding, started_s, self._recorder.due_times)
        if read_again:  # the rest of what it lists is taken in when its host may bring more
            due_s = min(update.due_s, started_s + _LISTING_AGAIN_S)
            update = replace(update, due_s=due_s, etag=None, last_modified=None, raw_hash=None)
        self._recorder.add([update])
        response = finding.response
        self._world.events.emit(
            "visit",
            {
                "url": lease.url,
                "outcome": finding.outcome.value,
                "at_s": started_s,
                "fetch_s": response.elapsed_s if response else 0.0,
                "received_bytes": response.received_bytes if response else 0,
            },
        )
