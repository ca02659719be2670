"""Delivers changes to one sink: in order, at least once, and each page's last word always.

Synchronous, for a thread of its own: a sink that is slow or away holds up nothing else.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from inspect import iscoroutine
from math import inf
from numbers import Integral
from typing import Any, Final

from recrawl.crawler.ports import Deliveries, Sink
from recrawl.crawler.runtime.feed_reader import FeedReader
from recrawl.errors import SinkError
from recrawl.terms import Item, SinkState, Taken, Verdict

_LONGEST_WAIT_S: Final = 900.0
_LONGEST_ASKED_S: Final = 86_400.0
_VERIFIED_AT_ONCE: Final = 200
_WANTED: Final = "a list of recrawl.terms.Taken is wanted, one for each change"


@dataclass(frozen=True, slots=True)
class CourierRules:
    """Rules of delivery to a sink.

    Parameters
    ----------
    batch : changes in one delivery
    characters : of content in one delivery, after which it ends
    retry_for_s : what fails for longer is given up, change by change; infinite: never
    is_named : whether the sink tells what comes again by the name of its batch, so that bounds and
        name are kept until it was taken; that costs a second note in the state for each batch
    first_wait_s : after a failure; twice as long after each further one, up to 15 minutes
    """

    batch: int = 500
    characters: int = 4_000_000
    retry_for_s: float = inf
    is_named: bool = True
    first_wait_s: float = 1.0


@dataclass(frozen=True, slots=True)
class Verified:
    """Result of comparing a sink with the index and mending it.

    Parameters
    ----------
    pages : that the index holds
    missing, older : that the sink did not hold, or in an earlier version
    extra : that the sink still held though they were removed
    newer : that it holds in a later version than the feed has: another crawl writes there
    unknown : that it holds and this crawl never had
    mended : that the sink has taken
    """

    pages: int
    missing: int
    older: int
    extra: int
    newer: int
    unknown: int
    mended: int

    @property
    def n_apart(self) -> int:
        """Pages about which sink and index differed."""
        return self.missing + self.older + self.extra


class Courier:
    """Brings a sink what it has not got.

    Parameters
    ----------
    name : of the sink, as the state knows it
    sink, reader, deliveries : used by one thread
    rules : how it is told
    now_s : a clock
    """

    def __init__(
        self,
        name: str,
        sink: Sink,
        reader: FeedReader,
        deliveries: Deliveries,
        *,
        rules: CourierRules,
        now_s: Callable[[], float],
    ) -> None:
        self.name = name
        self._sink = sink
        self._reader = reader
        self._deliveries = deliveries
        self._rules = rules
        self._now_s = now_s

    @property
    def trouble(self) -> str:
        """Trouble with the sink, in words; "" where there is none."""
        return self._deliveries.of(self.name).trouble or ""

    def deliver(self) -> float | None:
        """Deliver one batch; return the seconds until the next may be, or None: all was told."""
        state, now_s = self._deliveries.of(self.name), self._now_s()
        if state.next_s is not None and now_s < state.next_s <= now_s + _LONGEST_ASKED_S:
            return state.next_s - now_s
        if state.seq > self._reader.feed.last():  # of a feed that was begun anew
            state = replace(state, seq=0, sending=0)
        # A batch that may have been sent is sent again as it was, under the same name.
        until = state.sending if state.sending > state.seq else None
        items, upto = self._reader.read(
            state.seq, self._rules.batch, until=until, most=self._rules.characters
        )
        if not items:
            upto = max(upto, until or 0)
            if upto == state.seq:
                return None
            self._deliveries.save(replace(state, seq=upto, sending=0))
            return 0.0
        if until is None and self._rules.is_named:
            state = replace(state, sending=upto)
            self._deliveries.save(state)
        taken, trouble, asked_s = self._applied(items, f"{state.seq}-{state.sending or upto}")
        return self._settled(state, (items, upto), taken, trouble, asked_s)

    def _applied(
        self, items: Sequence[Item], batch: str
    ) -> tuple[list[Taken], str | None, float | None]:
        try:
            return _verdicts(self._sink.apply(items, batch), len(items)), None, None
        except SinkError as error:
            return [], str(error), error.retry_after_s
        except (Exception, SystemExit) as error:  # whatever it raises is this sink's trouble alone
            return [], f"{type(error).__name__}: {error}", None

    def _settled(
        self,
        state: SinkState,
        batch: tuple[Sequence[Item], int],
        taken: Sequence[Taken],
        trouble: str | None,
        asked_s: float | None,
    ) -> float:
        """Keep how far the sink was told; what follows a change to be tried again waits with it."""
        (items, upto), now_s = batch, self._now_s()
        seq, delivered = state.seq, 0
        dead: list[tuple[int, str, str]] = []
        for item, verdict in zip(items, taken, strict=False):
            if verdict.verdict is Verdict.RETRY:
                trouble = verdict.why or "it asks to be told again"
                break
            if verdict.verdict is Verdict.REJECT:
                dead.append((item.change.seq, item.change.url, verdict.why))
            else:
                delivered += 1
            seq = item.change.seq
        left = [item for item in items if item.change.seq > seq]
        since_s = state.failing_since_s if state.failing_since_s is not None else now_s
        if trouble is not None and now_s - since_s > self._rules.retry_for_s:
            dead += [(item.change.seq, item.change.url, trouble) for item in left]
            left, trouble = [], f"given up after {state.failures + 1} attempts: {trouble}"
        state = replace(
            state,
            seq=upto if not left else seq,
            sending=0 if not left else state.sending,
            delivered=state.delivered + delivered,
            dead=state.dead + len(dead),
            tried_at_s=now_s,
        )
        if not left:
            why = dead[-1][2] if dead else None
            well = replace(state, failures=0, failing_since_s=None, next_s=None, trouble=why)
            self._deliveries.save(well, dead)
            return 0.0
        wait_s = self._wait_s(state.failures, asked_s)
        self._deliveries.save(
            replace(
                state,
                failures=state.failures + 1,
                failing_since_s=since_s,
                next_s=now_s + wait_s,
                trouble=(trouble or "")[:500],
            ),
            dead,
        )
        return wait_s

    def _wait_s(self, failures: int, asked_s: float | None) -> float:
        """Return the pause after a failure, drawn from the second half of twice the last one's."""
        longest_s = min(self._rules.first_wait_s * 2.0 ** min(failures, 30), _LONGEST_WAIT_S)
        own_s = longest_s * random.uniform(0.5, 1.0)
        return own_s if asked_s is None else min(max(asked_s, own_s), _LONGEST_ASKED_S)

    def verify(self) -> Verified | None:
        """Compare what the sink holds with the index and mend it; None: the sink cannot tell.

        Raises
        ------
        SinkError
            It does not answer, or does not take what it lacks.
        """
        held = _held(self._sink)
        if held is None:
            return None
        counts = dict.fromkeys(("pages", "missing", "older", "extra", "newer", "unknown"), 0)
        wrong: list[str] = []
        for change in self._reader.live():
            counts["pages"] += 1
            version = held.pop(change.url, None)
            if version == change.version:
                continue
            kind = "missing" if version is None else "older"
            if version is not None and version > change.version:
                kind = "newer"
            else:
                wrong.append(change.url)
            counts[kind] += 1
        for urls in _pieces(list(held)):
            latest = {change.url: change for change in self._reader.latest(urls)}
            gone = [url for url in urls if url in latest and latest[url].is_removal]
            counts["extra"] += len(gone)
            counts["unknown"] += sum(url not in latest for url in urls)
            wrong += gone
        return Verified(**counts, mended=self._mended(wrong))

    def _mended(self, urls: Sequence[str]) -> int:
        mended = 0
        for piece in _pieces(urls):
            items = self._reader.whole(self._reader.latest(piece))
            if items:
                last = max(item.change.seq for item in items)
                answer = self._sink.apply(items, f"verify-{last}-{len(items)}")
                taken = _verdicts(answer, len(items))
                mended += sum(one.verdict is Verdict.OK for one in taken)
        return mended


def _verdicts(answer: object, n_items: int) -> list[Taken]:
    """Return what a sink answered, which anybody may have written."""
    if iscoroutine(answer):
        answer.close()
        raise SinkError("apply is async; write it without: each sink has a thread of its own")
    if not isinstance(answer, Iterable):
        raise SinkError(f"apply answered {answer!r:.100}; {_WANTED}")
    taken = list(answer)
    for one in taken:
        if not isinstance(one, Taken) or not isinstance(one.verdict, Verdict):
            raise SinkError(f"apply answered with {one!r:.100}; {_WANTED}")
    if len(taken) != n_items:
        raise SinkError(f"{len(taken)} verdicts on {n_items} changes")
    return taken


def _held(sink: Sink) -> dict[str, int] | None:
    """Return the pages that a sink holds, with their versions; None: it cannot tell."""
    try:
        scanned: Any = sink.scan()
        if scanned is None:
            return None
        held: dict[Any, Any] = dict(scanned)
    except SinkError:
        raise
    except Exception as error:
        raise SinkError(f"scan: {type(error).__name__}: {error}") from error
    for url, version in held.items():
        if not isinstance(url, str) or not isinstance(version, Integral):
            raise SinkError(
                f"scan told of {(url, version)!r:.200}; addresses and whole numbers are wanted"
            )
    return held


def _pieces(urls: Sequence[str]) -> Iterable[Sequence[str]]:
    for first in range(0, len(urls), _VERIFIED_AT_ONCE):
        yield urls[first : first + _VERIFIED_AT_ONCE]
