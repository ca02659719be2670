"""Shared parts of a running crawl: the adapters, and the rules in force."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf

from recrawl.crawler.control.addresses.admission import Admission
from recrawl.crawler.control.addresses.scope import Weights
from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.control.revisiting.timetables import ProbedBy
from recrawl.crawler.facts import InstantFacts
from recrawl.crawler.ports import (
    AdmissionLimits,
    Clock,
    EventSink,
    Extractor,
    Fetcher,
    Frontier,
    HubClient,
    Offload,
    PageIndex,
    Preparation,
    Resolver,
    Subscriptions,
)
from recrawl.terms import EVEN, HostRecord, Lease


@dataclass(frozen=True, slots=True)
class ImportanceRules:
    """Rules of page importance; see `recrawl.learning.importance`.

    Parameters
    ----------
    shares : of each source, of sum 1
    half_life_s : in which counts lose half of their weight
    least_s : between two times that importance is computed
    """

    shares: Mapping[str, float] = field(default_factory=lambda: {EVEN: 1.0})
    half_life_s: float = 30 * 86_400.0
    least_s: float = 3_600.0

    @property
    def uses_links(self) -> bool:
        """Whether links have a say."""
        return self.shares.get("links", 0.0) > 0.0

    @property
    def is_even(self) -> bool:
        """Whether all pages are alike, so that nothing is to be computed."""
        return self.shares.get(EVEN, 0.0) >= 1.0


@dataclass(frozen=True, slots=True)
class World:
    """The adapters of one crawl.

    ``on_state`` runs what touches the frontier and ``on_work`` what touches the index, each on a
    thread of its own; in virtual time both run in place. ``prepare`` makes
    something of every page before it is indexed. ``resolver`` tells where the fetcher's requests
    go, where hosts of one IP address are asked as one. ``hubs`` and ``subscriptions`` are there
    where hubs can call back.
    """

    clock: Clock
    frontier: Frontier
    fetcher: Fetcher
    extractor: Extractor
    index: PageIndex
    events: EventSink
    on_state: Offload
    on_work: Offload
    prepare: Preparation | None = None
    hubs: HubClient | None = None
    subscriptions: Subscriptions | None = None
    resolver: Resolver | None = None

    def instant(self) -> InstantFacts:
        """Return the instant by the crawl's clock, for whoever reads its state."""
        return InstantFacts(now_s=self.clock.now_s())

    async def save_host(self, record: HostRecord) -> None:
        """Keep what is known of a host."""
        await self.on_state(self.frontier.save_host, record)

    async def note_silence(self, record: HostRecord) -> None:
        """Keep and tell that a host waits for its turn, as nobody answers."""
        await self.save_host(record)
        told = {"host": record.host, "why": record.blocked_why, "until_s": record.blocked_until_s}
        self.events.emit("silence", told)


def _unmarked(_: str) -> int:
    return 0


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one crawl that the runtime itself obeys.

    Parameters
    ----------
    agent : product token of the robot, for robots.txt
    admission, limits : what is taken in
    revisit : bounds on revisits
    importance : what makes pages important
    sources : pages, feeds and sitemaps that are probed by a timetable of their own
    n_robots : robots there are
    n_servers : pages that are indexed at a time; more than one only helps where pages are
        prepared
    buffer_capacity : pages between robots and indexer, those being indexed included
    lease_s : how long a page may be out of the frontier's hands; well above the waits for the host,
        the fetch, the buffer and the commit together
    buffer_deadline_s : a page that waited longer is obsolete
    first_free : first visits do not count in the budget: politeness alone paces them
    least_worth : share of the index that one visit a day must keep fresh, >= 0: below it the
        budget is left unspent; infinite: no page is visited ahead of its due time
    settings_mark : a number that another configuration does not have
    callback : address below which hubs reach this crawl; "": none is asked
    subscribe_every_s : seconds of the loop between two looks for hubs that are to be asked
    asked_every_s : seconds of the loop between two looks for visits that people ask for
    discovery_share : of the fetches, while pages never visited wait; None: by what they are worth
    replan_s : between two plans, in crawl seconds
    prior_rate_per_s : change rate of a page of which nothing is known
    half_lives : seconds in which what is new on a page loses half of its worth, by its URL; None:
        nothing fades
    commit_s, commit_pages, commit_characters : an index commit happens after so many seconds of the
        loop, pages, or characters of text
    patience_s : what is not read within so many seconds of the loop is read beside the rest
    second_looks : visits of pages that are another every time look twice, and an index that can
        learns from that what of them is drawn by chance
    mark_of : tells by the address by which rules a page is read: their mark; 0 where there are none
    step_mark : number of the command that makes of each page what is indexed: copies of another one
        are others; 0: there is none
    feed_keep_s : for so long the feed keeps every entry; of what is older the latest of each page
    feed_importance : whether the feed tells what pages are worth, and when that has changed
    keep_visits_s : visits that are older are forgotten, but for the latest 100 of each page
    flush_s : longest wait of a visit before it is written, in seconds of the loop
    """

    agent: str
    admission: Admission
    limits: AdmissionLimits = field(default_factory=AdmissionLimits)
    revisit: RevisitRules = field(default_factory=RevisitRules)
    importance: ImportanceRules = field(default_factory=ImportanceRules)
    sources: tuple[ProbedBy, ...] = ()
    n_robots: int = 8
    n_servers: int = 1
    buffer_capacity: int = 32
    lease_s: float = 1_800.0
    buffer_deadline_s: float = 600.0
    first_free: bool = False
    half_lives: Weights | None = None
    least_worth: float = 0.0
    settings_mark: float = 0.0
    callback: str = ""
    subscribe_every_s: float = 10.0
    asked_every_s: float = inf
    discovery_share: float | None = None
    replan_s: float = 300.0
    prior_rate_per_s: float = 1.0 / (14 * 86_400.0)
    commit_s: float = 2.0
    commit_pages: int = 512
    commit_characters: int = 32_000_000
    mark_of: Callable[[str], int] = _unmarked
    step_mark: int = 0
    feed_keep_s: float = 30 * 86_400.0
    feed_importance: bool = False
    keep_visits_s: float = inf
    flush_s: float = 0.25
    patience_s: float = 0.3
    second_looks: bool = True

    def is_read_otherwise(self, lease: Lease) -> bool:
        """Tell whether the copy of a page was read by other rules than those in force."""
        return lease.signature is not None and lease.read_as != self.mark_of(lease.url)
