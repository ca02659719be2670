"""Politeness to one host: spacing, back-off and a breaker for dead hosts.

It never reads a clock: every method is told the time. One request is in flight at a time, the
next starts no earlier than ``delay`` after the end of the last, or than the host shows to want
(:mod:`.pace`), and a host in trouble is left alone for a while that doubles each time.

A host says itself that it is in trouble by 429 or Retry-After, and shows it when no connection can
be made. A page that fails by itself (another 5xx, a time-out, an answer cut off) is the page's own
trouble, unless most of the pages asked of late fail: see :class:`PolitenessRules`. Where these are
pages of one folder, it may be the folder's: see :mod:`.sections`.
"""

from dataclasses import dataclass, field
from typing import Final

from recrawl.crawler.control.dispatching.pace import AskedAgain, Pace
from recrawl.crawler.control.dispatching.retry import Backoff, Draws, retry_after_s
from recrawl.crawler.control.dispatching.sections import Section, Sections, section_of
from recrawl.errors import failure_words

_MOST_FAILING: Final = 1_000  # pages
_ALL_FAIL: Final = 20  # pages in a row; others are due among them
_NO_CONNECTION: Final = frozenset(
    {
        "connect", "dns", "lookup", "network", "proxy", "tls",
        "certificate", "certificate-early", "certificate-expired", "certificate-name",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PolitenessRules:
    """Rules of politeness to hosts.

    Parameters
    ----------
    delay_s : rest between the end of one request and the start of the next, >= 0; a host's own
        crawl-delay counts where it is longer
    backoff : after throttling and dead connections
    dead_after : failures without any answer that open the breaker
    longest_retry_after_s : a host may not send us away for longer than this
    recent_pages : different pages asked last that say whether the host is in trouble
    troubled_pages : of these, that must have failed; and at least half of them
    per_address : hosts of one IP address are asked as one; see :mod:`.ip_addresses`
    """

    delay_s: float = 1.0
    backoff: Backoff = field(default_factory=Backoff)
    dead_after: int = 5
    longest_retry_after_s: float = 86_400.0
    recent_pages: int = 8
    troubled_pages: int = 3
    per_address: bool = False


@dataclass(slots=True)
class HostPoliteness:
    """The timing of one host.

    ``failures`` counts troubles in a row; it is forgotten when the host answers well
    ``backoff.quiet_s`` after a block, and by any answer where the trouble was that none came: that
    nobody asked is no sign of life. ``ended_s`` is when the last request ended.
    """

    rules: PolitenessRules
    crawl_delay_s: float | None = None
    failures: int = 0
    blocked_until_s: float = 0.0
    blocked_why: str | None = None
    in_flight: bool = False
    ended_s: float = float("-inf")
    pace: Pace = field(default_factory=Pace)
    _unanswered: bool = False
    _is_alive: bool = False  # it has answered for a page since it was left alone
    _was_alive: bool = False  # it had before that
    _again: AskedAgain = field(default_factory=AskedAgain)
    _recent: dict[int, tuple[float, bool, Section]] = field(default_factory=dict)  # in trouble?
    _in_vain: int = 0  # answers in a row that were errors, and when the last other one came
    _well_s: float = float("-inf")
    _failing: dict[int, int] = field(default_factory=dict)  # pages whose last answer was an error
    sections: Sections = field(init=False)

    def __post_init__(self) -> None:
        self.sections = Sections(self.rules.backoff)

    @property
    def is_alive(self) -> bool:
        """Whether it has answered for a page since it was left alone last."""
        return self._is_alive

    @property
    def delay_s(self) -> float:
        """The rest between two requests."""
        return max(self._own_s, self.pace.rest_s)

    @property
    def _own_s(self) -> float:
        return max(self.rules.delay_s, self.crawl_delay_s or 0.0)

    @property
    def ready_s(self) -> float:
        """The earliest start of the next request; infinite while one is in flight."""
        # The rest counts by the delay of now: a crawl-delay just learnt holds at once.
        rested_s = self.ended_s + self.delay_s
        return float("inf") if self.in_flight else max(rested_s, self.blocked_until_s)

    def rest_after(self, before: "HostPoliteness") -> None:
        """Let the rest count from the last request that another made to this host."""
        self.rest_from(before.ended_s)

    def start(self) -> None:
        """A request to this host starts now."""
        self.in_flight = True

    def rest_from(self, instant_s: float) -> None:
        """Rest as if a request had ended at an instant."""
        self.ended_s = max(self.ended_s, instant_s)

    def ended(self, now_s: float) -> None:
        """The request in flight is over, and says nothing of the host; it may have been cut off."""
        self.in_flight = False
        self.ended_s = now_s

    def answered(
        self,
        now_s: float,
        status: int,
        retry_after: str | None,
        random: Draws,
        page_id: int | None = None,
        url: str = "",
    ) -> None:
        """The request in flight was answered.

        Parameters
        ----------
        page_id : the page that was asked for; None: something that speaks for the whole host
        url : of that page; "": it is in no folder
        """
        self.ended(now_s)
        asked_s = retry_after_s(retry_after, now_s) if status in (429, 503) else None
        sends_away = status == 429 or (asked_s is not None and asked_s > now_s)
        fails = status == 503 if page_id is None else status >= 500
        own_s, is_alive = self._own_s, self._is_alive
        # A page that fails again while others do not fails by itself.
        is_down = self._in_vain >= _ALL_FAIL and now_s > self._well_s + self.rules.backoff.quiet_s
        are_broken = self._again.are_broken and not is_down
        by_itself = is_alive or self._was_alive or are_broken
        fails &= not (by_itself and page_id in self._failing)
        in_trouble = (
            not sends_away and fails and self._is_host_in_trouble(page_id, url, now_s, random)
        )
        if page_id is not None:
            self._heed(now_s, status, page_id)
            if sends_away:
                is_alive = self.pace.sent_away(now_s, own_s)
            elif fails and status == 503:
                self.pace.refused(now_s, own_s, are_most=in_trouble)
        if sends_away or in_trouble:
            self._unanswered = False
            if is_alive:  # it is asked too often: to come back ever later would not help
                self.failures = 0
            self._block(now_s, f"answered {status}", asked_s, random)
            return
        if status < 500 and page_id is not None:
            self._note(page_id, url, now_s, in_trouble=False)
            self.sections.answered(section_of(url))
        quiet = now_s > self.blocked_until_s + self.rules.backoff.quiet_s
        if self._unanswered or (quiet and status < 500):
            self.failures = 0
            self.blocked_why = None
            self._unanswered = False

    def refused(self, now_s: float, why: str, random: Draws, *, is_news: bool) -> None:
        """Learn that an answer says, whatever its status, that the host is asked too often.

        Parameters
        ----------
        is_news : it had answered until then
        """
        if is_news and self.pace.sent_away(now_s, self._own_s):
            self.failures = 0
        self._block(now_s, why, None, random)

    def _heed(self, now_s: float, status: int, page_id: int) -> None:
        """Learn which pages fail by themselves, and that the host answers."""
        before = self._failing.get(page_id)
        if before is not None and status != 429:
            self._again.observe(failed=status >= 500)
            if before == 503 and (status == 503 or status < 500):
                self.pace.asked_again(now_s, refused=status == 503)
        if status >= 500:
            self._in_vain += 1
            self._failing[page_id] = status
            if len(self._failing) > _MOST_FAILING:
                del self._failing[next(iter(self._failing))]
        elif status != 429:
            self._in_vain, self._well_s = 0, now_s
            self._failing.pop(page_id, None)
            self.pace.welcomed(now_s, self._own_s)
            self._is_alive = True

    def unanswered(
        self,
        now_s: float,
        why: str,
        random: Draws,
        page_id: int | None = None,
        url: str = "",
    ) -> None:
        """The request in flight brought no answer.

        Parameters
        ----------
        why : kind of the failure, in one word
        page_id : the page that was asked for; None: something that speaks for the whole host
        url : of that page; "": it is in no folder
        """
        self.ended(now_s)
        is_page = why not in _NO_CONNECTION
        if is_page and not self._is_host_in_trouble(page_id, url, now_s, random):
            return
        self._unanswered = True
        dead = self.failures + 1 >= self.rules.dead_after
        words = failure_words(why)
        self._block(now_s, f"dead: {words}" if dead else words, None, random)

    def _note(self, page_id: int, url: str, now_s: float, *, in_trouble: bool) -> None:
        self._recent.pop(page_id, None)
        self._recent[page_id] = (now_s, in_trouble, section_of(url))
        while len(self._recent) > self.rules.recent_pages:
            del self._recent[next(iter(self._recent))]

    def _is_host_in_trouble(
        self, page_id: int | None, url: str, now_s: float, random: Draws
    ) -> bool:
        """Note that a page failed; tell whether most pages do, and not of one section alone."""
        if page_id is None:
            return True
        self._note(page_id, url, now_s, in_trouble=True)
        since_s = now_s - self.rules.backoff.quiet_s
        recent = [known for known in self._recent.values() if known[0] >= since_s]
        failed = [section for _, in_trouble, section in recent if in_trouble]
        if len(failed) < max(self.rules.troubled_pages, 0.5 * len(recent)):
            return False
        is_sections = self.sections.failed(failed, now_s, random)
        if is_sections:
            self._recent.clear()  # it is judged by what is asked since
        return not is_sections

    def block_until(self, instant_s: float, why: str) -> None:
        """Leave the host alone until an instant, whatever else it did."""
        self.blocked_until_s = max(self.blocked_until_s, instant_s)
        self.blocked_why = why

    def wait_until(self, instant_s: float, why: str) -> None:
        """Leave the host alone until an instant, for no fault of its own; any answer ends it."""
        self.blocked_until_s, self.blocked_why = instant_s, why
        self._unanswered = True

    def _block(self, now_s: float, why: str, asked_s: float | None, random: Draws) -> None:
        if self._is_alive and now_s > self.blocked_until_s + self.rules.backoff.quiet_s:
            self.failures = 0
        self.failures += 1
        self._was_alive, self._is_alive = self._is_alive, False
        self._recent.clear()  # as it was before
        until_s = now_s + self.rules.backoff.delay_s(self.failures, random)
        if asked_s is not None and asked_s > now_s:  # "at once" from a busy host says nothing
            until_s = min(asked_s, now_s + self.rules.longest_retry_after_s)
        self.blocked_until_s = max(self.blocked_until_s, until_s)
        self.blocked_why = why
