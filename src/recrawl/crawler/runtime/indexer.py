"""The indexing engine: servers that take pages from the buffer, each one after the other.

A server reads a page, compares its signature with the last one, has the copy prepared where that is
asked for, and stages it; staged copies are committed together. There is one server unless preparing
takes long. Between the note that the index is about to change and the record that it has, a kill at
any instant leaves a trace that the next start follows up. The module is longer than most, as it
decides all that can become of a page that was read.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any, Final

from recrawl.crawler.control.addresses.doubts import is_doubted, is_joined
from recrawl.crawler.control.addresses.gists import Gist, gist, is_list, names_links_only
from recrawl.crawler.control.addresses.lists import goes_on, leads_elsewhere, leads_on, unsorted
from recrawl.crawler.control.answers.farewells import ENDED
from recrawl.crawler.control.answers.lifecycle import KEEPS
from recrawl.crawler.control.answers.refusals import REFUSED
from recrawl.crawler.control.answers.shared_texts import SharedTexts
from recrawl.crawler.control.answers.soft_errors import (
    NO_PAGE,
    PROBE,
    Suspicion,
    ends_like,
    is_probe,
    leads_to_sign_in,
)
from recrawl.crawler.control.urls import host_of
from recrawl.crawler.control.worth.tiers import ASKED
from recrawl.crawler.ports import ChanceLearner
from recrawl.crawler.runtime.buffer import Buffer
from recrawl.crawler.runtime.outcomes import Finding, update_of
from recrawl.crawler.runtime.parts import Rules, World
from recrawl.crawler.runtime.reading import SlowReading
from recrawl.crawler.runtime.recorder import Recorder
from recrawl.errors import PoisonPage, ReadingCut, ReadingPutOff
from recrawl.learning.link_lists import link_list
from recrawl.terms import (
    BufferedPage,
    Discovery,
    Document,
    Extract,
    FetchResponse,
    Kind,
    Lease,
    Outcome,
    PageState,
    PageUpdate,
)

_PROBE_WEIGHT: Final = 4.0  # of what is visited to judge others, against their weight
_LINKS_AT_ONCE: Final = 2_000  # a hundredth of a second
_LINE: Final = 200  # characters of one that stands for a heading

_SEEN_TWICE = "fetched twice, as it was another each time: to see what is by chance"
_SLIP = "says what other pages of its host have come to say: seen again before it counts"
_MOST_DOUBTS: Final = 3  # in a row, of what other pages say and leave again
_LONGEST_FORM = 2_000  # characters of a page on which people sign in
_SIGN_IN = "shows a form to sign in, though a login was sent"
_AS_IT_WENT = "says what it said when it went"
_NOTHING_NOW = "says nothing where it said something before"
_NO_SCRIPTS = "says next to nothing without scripts, which fill it"


def _gist(extract: Extract, url: str) -> Gist:
    first = extract.headings[0] if extract.headings else extract.text[:_LINE].partition("\n")[0]
    return gist(f"{extract.title}\n{extract.text}", url, first)


def _told(page: BufferedPage) -> dict[str, Any]:
    """Return what is told of a visit beside its outcome."""
    return {
        "url": page.lease.url,
        "at_s": page.fetched_at_s,
        "fetch_s": page.response.elapsed_s,
        "received_bytes": page.response.received_bytes,
    }


def _note_of(extract: Extract, *, is_copy: bool) -> str | None:
    """Say in words what is special about a page."""
    if extract.noindex:
        return "noindex"
    if is_copy:
        return "canonical elsewhere"
    if extract.needs_scripts:
        return _NO_SCRIPTS
    return "nofollow" if extract.nofollow else None


@dataclass(frozen=True, slots=True)
class _Staged:
    update: PageUpdate
    document: Document | None  # None: to be removed
    told: dict[str, Any] | None = None  # of the visit; the page itself would be held until then
    if_same: PageUpdate | None = None  # in its place, if the copy that is held says the same
    canonical: str | None = None  # another address of the host, which the page calls its own
    if_copy: PageUpdate | None = None  # in its place, if the copy of that address says the same
    again: str | None = None  # the text of the page right afterwards


class Indexer:
    """Serves the buffer.

    Parameters
    ----------
    world, rules, buffer, recorder, reading : of the crawl
    on_departure : called when a page has been served, with the seconds that it took
    """

    def __init__(
        self,
        world: World,
        rules: Rules,
        buffer: Buffer,
        recorder: Recorder,
        reading: SlowReading,
        *,
        on_departure: Callable[[float], None],
    ) -> None:
        self.served = 0
        self.obsolete = 0
        self.service_s = 0.0
        self.abandoned: list[Lease] = []  # pages whose reading was given up, to be given back
        self._world = world
        self._rules = rules
        self._buffer = buffer
        self._recorder = recorder
        self._reading = reading
        self._texts = SharedTexts()
        self._on_departure = on_departure
        self._staged: dict[str, _Staged] = {}
        self._characters = 0  # of text that is staged
        self._commit_at_s: float | None = None
        self._commit_again_s = -inf  # as long after the last commit as that took: half are commits
        self._writing = asyncio.Lock()
        self._stopping = False

    async def run(self) -> None:
        """Serve until stopped."""
        async with asyncio.TaskGroup() as group:
            for number in range(self._rules.n_servers):
                group.create_task(self._run_server(), name=f"server-{number}")

    async def _run_server(self) -> None:
        while not self._stopping:
            await self.serve_one()

    def stop(self) -> None:
        """End :meth:`run` when the pages in service, and a commit under way, are done."""
        self._stopping = True
        self._buffer.nudge()

    async def serve_one(self) -> bool:
        """Serve the next page, or commit what is staged when its time has come."""
        loop = asyncio.get_running_loop()
        within_s = None if self._commit_at_s is None else self._commit_at_s - loop.time()
        page = await self._buffer.take(within_s=within_s)
        if page is not None:
            started_s, began_s = loop.time(), self._world.clock.now_s()
            try:
                await self._serve(page)
                if self._must_commit():  # so long the page is in service: nobody else is served
                    await self.commit()
            finally:
                self._buffer.finish()
                self.service_s += loop.time() - started_s
                self._on_departure(self._world.clock.now_s() - began_s)
        elif self._must_commit():
            await self.commit()
        return page is not None

    def _must_commit(self) -> bool:
        if self._commit_at_s is None:
            return False
        is_time = asyncio.get_running_loop().time() >= self._commit_at_s
        full = len(self._staged) >= self._rules.commit_pages
        return is_time or full or self._characters >= self._rules.commit_characters

    async def _serve(self, page: BufferedPage) -> None:
        if self._world.clock.now_s() > page.deadline_s:
            self.drop(page)
            return
        extract = self._world.extractor.at_once(page.response)
        if extract is not None:
            await self._take_in(page, extract)
            return

        async def then(read: Awaitable[Extract]) -> None:
            try:
                extract = await read
            except PoisonPage as error:  # it is left alone for as long as after a failure
                self._record(page, Finding(Outcome.POISON, page.response, note=str(error)))
            except ReadingPutOff as error:
                self._record(page, Finding(Outcome.DEFERRED, page.response, note=str(error)))
            except ReadingCut:
                self.abandoned.append(page.lease)
            else:
                await self._take_in(page, extract)

        def defer() -> bool:
            if others := self._buffer.has_others(page.lease.host_id):
                self._record(page, Finding(Outcome.DEFERRED, page.response))
            return others

        call = self._world.extractor.page(page.response)
        n_bytes = len(page.response.body)
        await self._reading.read(page.lease, call, then, n_bytes=n_bytes, defer=defer)

    def _suspicion(self, page: BufferedPage, extract: Extract) -> Suspicion:
        """Return whether a page says what its host says of what does not exist, or has ended."""
        lease, url, now_s = page.lease, page.lease.url, page.fetched_at_s
        # All addresses may lead to the start page, or to one that scripts fill.
        is_start = lease.depth == 0 or extract.needs_scripts
        if not is_probe(url) and (is_start or extract.noindex):
            return Suspicion()
        thought = self._recorder.errors.observe(url, extract.title, extract.text, now_s)
        is_read_so = not self._rules.is_read_otherwise(lease)
        has_ended = not is_probe(url) and self._recorder.farewells.observe(
            url,
            extract.text,
            before=lease.signature if is_read_so else None,
            after=extract.signature,
            is_held=lease.state is PageState.INDEXED,
            now_s=now_s,
        )
        return thought._replace(is_error=True, has_ended=True) if has_ended else thought

    def _refused(self, page: BufferedPage, extract: Extract) -> Finding | None:
        """Return what is recorded where a page's host says something else instead of it."""
        lease, recorder = page.lease, self._recorder
        is_held = lease.state is PageState.INDEXED and lease.signature is not None
        if self._is_form(page, extract, is_other=is_held and lease.signature != extract.signature):
            finding = Finding(Outcome.DENIED, page.response, note=_SIGN_IN)
            finding = recorder.denied(lease, finding)
            # A page that is held and shows a form while others are given has become one.
            return None if is_held and finding.outcome is Outcome.DENIED else finding
        before = lease.signature if lease.state in KEEPS else None
        verdict = recorder.refusals.observe(lease.url, extract, page.fetched_at_s, before=before)
        recorder.heed(lease, verdict)
        if verdict.is_doubted:  # as if its host had said so
            return Finding(Outcome.SERVER_ERROR, page.response, note=REFUSED)
        if not is_probe(lease.url):
            recorder.logins.given(lease.url, page.fetched_at_s)
        return None

    def _is_form(self, page: BufferedPage, extract: Extract, *, is_other: bool) -> bool:
        """Tell whether a form to sign in is shown instead of a page, though a login was sent."""
        lease, recorder = page.lease, self._recorder
        if is_probe(lease.url) or not recorder.is_signed_in(lease):
            return False
        may_be = extract.asks_password and len(extract.text) < _LONGEST_FORM
        return may_be and recorder.logins.is_form(lease, extract.signature, is_other=is_other)

    def _asked_for(self, lease: Lease, probe: str) -> list[Discovery]:
        """Return the address that cannot exist; where only such belong, it ends as the page's.

        It comes before most others, as it judges them.
        """
        admission, depth = self._rules.admission, lease.depth + 1
        alike = ends_like(lease.url, probe)
        found = admission.of([probe], depth=depth) or admission.of([alike], depth=depth)
        return [replace(one, weight=_PROBE_WEIGHT * one.weight) for one in found]

    def _says_nothing_now(self, lease: Lease, extract: Extract) -> bool:
        """Tell whether a page that had text has none, once: a frame whose content did not come.

        Where the next visit confirms it, that is what the page says.
        """
        is_bare = not extract.text
        is_held = lease.state is PageState.INDEXED and lease.signature is not None
        return is_bare and is_held and lease.signature != extract.signature

    async def _is_slip(self, page: BufferedPage, extract: Extract) -> bool:
        """Tell whether a page says something else now that other pages of its host say as well."""
        lease, before, after = page.lease, page.lease.signature, extract.signature
        if lease.state is not PageState.INDEXED or before is None or before == after:
            return False
        if self._rules.is_read_otherwise(lease):
            return False
        said, now_s = (extract.title, extract.text), page.fetched_at_s
        texts = self._texts
        if not texts.others_say(lease.url, said, before=before, after=after, now_s=now_s):
            return False
        if texts.is_passing(lease.url, after, now_s):
            return lease.failures < _MOST_DOUBTS
        copy = await self._world.on_work(self._world.index.copy, lease.url)
        held = ("", "") if copy is None else (copy.title, copy.text)
        is_doubtful = texts.is_doubtful(lease.url, said, held, now_s)
        return is_doubtful and not lease.failures  # once, also over the end of a process

    async def _instead(
        self, page: BufferedPage, extract: Extract, thought: Suspicion
    ) -> Finding | None:
        """Return what is recorded of a page that is none, or is to be seen again; else None."""
        response = page.response
        if thought.is_error and is_probe(page.lease.url):
            return Finding(Outcome.NEW, response, state=PageState.EXCLUDED, note=PROBE)
        lease, says = page.lease, extract.signature
        if thought.has_ended:  # as if its host had said that it is not there
            return Finding(Outcome.NOT_FOUND, response, note=ENDED, says=says)
        if lease.state is PageState.GONE and lease.signature == says:
            return Finding(Outcome.NOT_FOUND, response, note=_AS_IT_WENT, says=says)
        if await self._is_slip(page, extract):  # as if its host had said that it fails
            return Finding(Outcome.SERVER_ERROR, response, note=_SLIP, is_slip=True)
        if thought.is_error:  # as if its host had said so
            return Finding(Outcome.NOT_FOUND, response, note=NO_PAGE, says=says)
        if self._says_nothing_now(page.lease, extract):
            return Finding(Outcome.NOT_FOUND, response, note=_NOTHING_NOW)
        return None

    async def _take_in(self, page: BufferedPage, extract: Extract) -> None:
        self.served += 1
        if self._rules.step_mark:
            marked = extract.signature + self._rules.step_mark.to_bytes(4, "big")
            extract = replace(extract, signature=self._world.extractor.raw_hash(marked))
        if extract.unreadable and not extract.noindex:
            self._record(page, Finding(Outcome.UNSUPPORTED, page.response, note=extract.unreadable))
        elif extract.sends_to is not None and not is_probe(page.lease.url):
            await self._send_on(page, extract, extract.sends_to)
        else:
            await self._take_in_page(page, extract)

    async def _take_in_page(self, page: BufferedPage, extract: Extract) -> None:
        refused = self._refused(page, extract)
        if refused is not None:
            self._record(page, refused)
            return
        thought = self._suspicion(page, extract)
        if thought.ask is not None:
            self._recorder.add(found=self._asked_for(page.lease, thought.ask))
        instead = await self._instead(page, extract, thought)
        if instead is not None:
            self._record(page, instead)
            return
        found = await self._found(page, extract)
        is_first = page.lease.last_visit_s is None
        told_news = self._tells_news(page.lease.url, extract, found, is_first_visit=is_first)
        self._recorder.add(found=found, is_first_visit=is_first)
        update, document = self._considered(page, extract, told_news=told_news)
        is_asked = self._rules.importance.uses_links  # for the link graph
        links = link_list(page.lease.url, extract.links) if is_asked else None
        pages = [one.url for one in found if one.kind is Kind.PAGE]
        only_on = bool(pages) and all(goes_on(page.lease.url, url) for url in pages)
        update = replace(update, links=links, goes_on=only_on)
        if thought.is_suspect or extract.is_until:  # it is read again, whatever it says then
            update = replace(update, etag=None, last_modified=None, raw_hash=None)
        is_unchanged = update.visit.outcome is Outcome.UNCHANGED
        if is_unchanged or document is None:
            self._saw(page, differs=False)
        if document is None:
            self._recorder.add([update])
            self._emit(_told(page), update.visit.outcome)
            return
        if_same = None
        if self._world.prepare is not None and not is_unchanged:
            # What it makes of a page tells nothing of its host.
            document = await self._world.prepare(document)
        elif update.visit.outcome is Outcome.CHANGED and update.visit.changed is not None:
            held = replace(extract, signature=page.lease.signature or b"")
            if_same, _ = self._considered(page, held)
            if_same = replace(if_same, links=update.links, raw_hash=update.raw_hash)
        canonical, if_copy = self._as_copy(page, extract, links)
        again = None
        if if_same is not None and page.again is not None:
            again = await self._read_again(page, page.again, extract.text)
        self._stage(_Staged(update, document, _told(page), if_same, canonical, if_copy, again))

    def _as_copy(
        self, page: BufferedPage, extract: Extract, links: bytes | None
    ) -> tuple[str | None, PageUpdate | None]:
        """Return what a page calls its own, and what its visit changes if it is a copy of that."""
        canonical = self._canonical(page.lease.url, extract)
        if canonical is None:
            return None, None
        update, _ = self._considered(page, extract, is_copy=True)
        return canonical, replace(update, links=links)

    async def _read_again(
        self, page: BufferedPage, response: FetchResponse, text: str
    ) -> str | None:
        """Return the text of a page as it was right afterwards; None where it cannot be read."""
        extractor = self._world.extractor
        try:
            extract = extractor.at_once(response) or await extractor.page(response)
        except (PoisonPage, ReadingPutOff, ReadingCut):
            return None
        self._saw(page, differs=extract.text != text)
        return extract.text

    def _saw(self, page: BufferedPage, *, differs: bool) -> None:
        """Note what a second look has shown, where there was one."""
        looks = self._recorder.second_looks
        if page.again is not None and looks is not None:
            looks.saw(page.lease.host_id, differs=differs)

    def drop(self, page: BufferedPage) -> None:
        """Give back a page that became obsolete in the buffer."""
        self.obsolete += 1
        self._record(page, Finding(Outcome.OBSOLETE, page.response))

    def _tells_news(
        self, url: str, extract: Extract, found: Sequence[Discovery], *, is_first_visit: bool
    ) -> bool | None:
        """Tell whether a page leads to what was not known; None: it is visited for what it says."""
        yields = self._recorder.yields
        is_said = yields.novelty.says_what_others_say(url, extract.text) and is_first_visit
        is_chosen = "?" in url or is_joined(url)
        if extract.noindex:
            found = [one for one in found if one.kind is Kind.PAGE and not is_doubted(one.url)]
        elif not is_chosen:
            return None
        else:
            plain = unsorted(url)
            is_sorted = plain is not None and self._recorder.knows(plain)
            is_sorted = is_sorted or self._narrows(url, extract)
            if not is_said and not is_list(extract.text, extract.anchors, is_sorted=is_sorted):
                return None
        if is_chosen:
            return any(
                leads_on(url, one.url, self._recorder.knows)
                and not yields.classifier.repeats(one.url)
                and not (is_said and yields.is_in_doubt(one.url))
                for one in found
            )
        return any(leads_elsewhere(url, one.url) for one in found)

    def _narrows(self, url: str, extract: Extract) -> bool:
        """Tell whether a page seems to list what a wider list does, or some of it."""
        is_called_so = self._recorder.yields.novelty.narrows(url, extract.title)
        return is_called_so and names_links_only(extract.headings, extract.anchors)

    async def _send_on(self, page: BufferedPage, extract: Extract, target: str) -> None:
        """Take a page that sends its reader on for what it is: a redirect, beside other links."""
        lease = page.lease
        if leads_to_sign_in(lease.url, target):
            note = f"leads to where people sign in: {target}"[:300]
            finding = Finding(Outcome.DENIED, page.response, note=note)
            self._record(page, self._recorder.denied(lease, finding))
            return
        found = self._rules.admission.of([target], depth=lease.depth, hops=lease.hops + 1)
        told_news = bool(found)
        others = replace(extract, links=tuple(url for url in extract.links if url != target))
        found += await self._found(page, others)
        self._recorder.add(found=found, is_first_visit=lease.last_visit_s is None)
        finding = Finding(
            Outcome.REDIRECTED, page.response, redirect_url=target, told_news=told_news
        )
        self._record(page, finding)

    def _record(self, page: BufferedPage, finding: Finding) -> None:
        """Record a visit that brought no copy."""
        update = update_of(page.lease, finding, page.fetched_at_s, self._recorder.due_times)
        self._recorder.add([update])
        self._emit(_told(page), finding.outcome)

    def _considered(
        self,
        page: BufferedPage,
        extract: Extract,
        *,
        is_copy: bool = False,
        told_news: bool | None = None,
    ) -> tuple[PageUpdate, Document | None]:
        """Return what the visit changes, and the copy to be indexed, if there is a new one.

        Of an unchanged one too that may be a copy of what was read since it was.

        Parameters
        ----------
        is_copy : the page says what the address says that it calls its own
        told_news : as :meth:`_tells_news` has it
        """
        lease, excluded = page.lease, extract.noindex or is_copy
        held = lease.state in (PageState.INDEXED, PageState.MISSING)
        if not held or lease.signature is None or lease.last_visit_s is None:
            outcome = Outcome.NEW
        elif lease.signature == extract.signature:
            outcome = Outcome.UNCHANGED
        else:
            outcome = Outcome.CHANGED
        state = PageState.EXCLUDED if excluded else PageState.INDEXED
        finding = Finding(
            outcome,
            page.response,
            state=state,
            signature=extract.signature,
            raw_hash=page.raw_hash,
            title=extract.title,
            read_as=self._rules.mark_of(lease.url),
            is_read_otherwise=self._rules.is_read_otherwise(lease),
            told_news=told_news,
            note=_note_of(extract, is_copy=is_copy)
            or self._rules.admission.leads_away(lease, extract.links)
            or (_SEEN_TWICE if page.again is not None else None),
        )
        update = update_of(lease, finding, page.fetched_at_s, self._recorder.due_times)
        is_unlike = outcome is Outcome.NEW and not is_copy
        update = replace(
            update,
            language=extract.language,
            canonical=extract.canonical,
            content_type=page.response.content_type,
            gist=_gist(extract, lease.url) if is_unlike else update.gist,
        )
        may_be_copy = self._canonical(lease.url, extract) is not None
        if excluded or (outcome is Outcome.UNCHANGED and not may_be_copy):
            return update, None
        return update, Document.of(lease.url, extract, page.fetched_at_s)

    def _canonical(self, url: str, extract: Extract) -> str | None:
        """Return another address of the host that the page calls its own, where that is a hint."""
        other = extract.canonical
        if other is None or other == url or host_of(other) != host_of(url):
            return None
        return other if self._rules.admission.of([other]) else None

    async def _found(self, page: BufferedPage, extract: Extract) -> list[Discovery]:
        """Return what a page leads to; other pages get their turn where that is much."""
        admission, lease = self._rules.admission, page.lease
        feeds = set(extract.feeds)  # a page may also link to its feed, as to a page
        found: list[Discovery] = []
        for first in range(0, len(extract.links), _LINKS_AT_ONCE):
            links = extract.links[first : first + _LINKS_AT_ONCE]
            found += self._found_by_links(lease, [url for url in links if url not in feeds])
            if len(links) == _LINKS_AT_ONCE:
                await asyncio.sleep(0)
        beside = admission.of(extract.feeds, kind=Kind.FEED, depth=lease.depth)
        if lease.depth == 0 and not extract.nofollow:
            beside += admission.of(extract.scripts, kind=Kind.FEED)
        if extract.canonical is not None and extract.canonical != lease.url:
            beside += admission.of([extract.canonical], depth=lease.depth)
        return found + [replace(one, found_on=lease.page_id) for one in beside]

    def _found_by_links(self, lease: Lease, links: list[str]) -> list[Discovery]:
        admission = self._rules.admission
        news = [url for url in links if not self._recorder.knows(url)]
        self._recorder.found_again(lease.page_id, links)
        on: list[str] = []  # where a list goes on is no further from a seed than the list
        further: list[str] = []
        for url in news:
            (on if goes_on(lease.url, url) else further).append(url)
        found = admission.of(on, depth=max(lease.depth, 1))  # none of them is a seed
        found += admission.of(further, depth=lease.depth + 1)
        if lease.last_visit_s is None:  # each is counted once for a page
            self._recorder.refuse(admission.beyond_bounds(further, depth=lease.depth + 1))
        return [replace(one, found_on=lease.page_id) for one in found]

    @property
    def has_staged(self) -> bool:
        """True while copies wait to be committed, or are being."""
        return bool(self._staged) or self._writing.locked()

    def remove(self, update: PageUpdate) -> None:
        """Take a page out of the index with the next commit, and record why."""
        self._stage(_Staged(update, None))

    def _stage(self, entry: _Staged) -> None:
        self._staged[entry.update.lease.url] = entry
        self._characters += len(entry.document.text) if entry.document is not None else 0
        commit_at_s = asyncio.get_running_loop().time() + self._rules.commit_s
        if entry.update.lease.tier == ASKED:  # somebody waits for it, and maybe for many more
            commit_at_s = min(commit_at_s, self._commit_again_s)
        if self._commit_at_s is None or commit_at_s < self._commit_at_s:
            self._commit_at_s = commit_at_s
            self._buffer.nudge()

    async def commit(self) -> None:
        """Write what is staged to the index, then record it."""
        async with self._writing:
            staged, self._staged = list(self._staged.values()), {}
            self._commit_at_s, self._characters = None, 0
            if not staged:
                return
            began_s = asyncio.get_running_loop().time()
            page_ids = [entry.update.lease.page_id for entry in staged]
            await self._world.on_state(self._world.frontier.begin_indexing, page_ids)
            updates = await self._world.on_work(self._write, staged)
            self._recorder.add(updates, committed=True)
            await self._recorder.flush()
            ended_s = asyncio.get_running_loop().time()
            self._commit_again_s = ended_s + (ended_s - began_s)
            for entry, update in zip(staged, updates, strict=True):
                if entry.told is not None:
                    self._emit(entry.told, update.visit.outcome)

    def _write(self, staged: list[_Staged]) -> list[PageUpdate]:
        """Write to the index; return what the visits changed.

        Signatures differ also where only what a host repeats on its pages is new: there the copy
        stays as it is, and so does what is on record of it.
        """
        written = {id(entry): self._write_one(entry) for entry in staged if not entry.canonical}
        copies: set[str] = set()
        for entry in staged:  # after the others: what they call their own may be among those
            if entry.canonical:
                is_gone = entry.canonical in copies  # of two that call each other so one stays
                update = self._write_one(replace(entry, if_copy=None) if is_gone else entry)
                written[id(entry)] = update
                if update is entry.if_copy:
                    copies.add(update.lease.url)
        self._world.index.commit()
        return [written[id(entry)] for entry in staged]

    def _write_one(self, entry: _Staged) -> PageUpdate:
        index, update = self._world.index, entry.update
        document = entry.document
        if document and entry.again is not None and isinstance(index, ChanceLearner):
            index.learn_drawn(document, entry.again)
        if document is None:
            index.remove(update.lease.url)
        elif entry.if_copy is not None and index.signature(entry.canonical or "") == (
            document.signature
        ):
            index.remove(update.lease.url)
            return entry.if_copy
        elif update.visit.outcome is Outcome.UNCHANGED:
            return update
        elif entry.if_same is not None and index.same(document):
            return entry.if_same
        else:
            if update.visit.outcome is Outcome.CHANGED:
                told = None if update.visit.changed is None else index.difference(document)
                update = replace(update, difference=told, edit=index.edit(document))
            index.replace(document)
            is_first = update.lease.last_visit_s is None
            if is_first and entry.canonical and index.signature(entry.canonical) is None:
                # It may be a copy of what is still to come: it is read again, whatever it says.
                update = replace(update, etag=None, last_modified=None, raw_hash=None)
        return update

    def _emit(self, told: dict[str, Any], outcome: Outcome) -> None:
        first = {"url": told["url"], "outcome": outcome.value}
        self._world.events.emit("visit", first | told)
