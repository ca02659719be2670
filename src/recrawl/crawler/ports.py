"""Ports of the runtime to the world, as protocols. Adapters implement them, wiring picks.

All but the fetcher and the clock are synchronous: the runtime decides on which thread they run,
and in virtual time they run in place. Each port has one conformance suite, in
:mod:`recrawl.testing.conformance`, that every adapter passes.

Longer than most modules because every port says there what it promises, method by method.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Final,
    ParamSpec,
    Protocol,
    TypeAlias,
    TypedDict,
    TypeVar,
    runtime_checkable,
)

from recrawl.crawler.control.texts.differences import difference, edit
from recrawl.crawler.facts import CrawlFacts, FactRecord
from recrawl.terms import (
    Announcer,
    Birth,
    Change,
    Database,
    DatedUrls,
    Difference,
    Discovery,
    Document,
    Extract,
    FetchResponse,
    Hit,
    HostRecord,
    Item,
    Lease,
    Outcome,
    PageDetails,
    PageState,
    PageUpdate,
    PageWorth,
    PlanRecord,
    SinkState,
    Subscription,
    Taken,
    VisitAnswer,
    VisitedPage,
)

if TYPE_CHECKING:  # a search needs none of it, and waits for no import of it
    import numpy as np
    from numpy.typing import NDArray

    from recrawl.crawler.control.evidence import BelievedBefore, Evidence, PlannedPages

StatePlace: TypeAlias = Path | Database  # where the state of a crawl lies
LATEST_VISITS: Final = 100  # of a page, by which it is judged: of older ones nothing is asked
P = ParamSpec("P")
T = TypeVar("T")


class Clock(Protocol):
    """The time that everything in a crawl goes by."""

    def now_s(self) -> float:
        """Seconds since the epoch, UTC."""
        ...

    async def sleep_until(self, instant_s: float) -> None:
        """Return at ``instant_s``, or at once if that has passed."""
        ...


class Offload(Protocol):
    """Runs a blocking call where it does not hold up the event loop."""

    async def __call__(self, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Return what ``call`` returns, or raise what it raises."""
        ...


class FetchOptions(TypedDict, total=False):
    """Options of :meth:`Fetcher.fetch`, for fetchers that hand them on."""

    etag: str | None
    last_modified: str | None
    max_bytes: int | None
    truncate: bool
    pages_only: bool


class Fetcher(Protocol):
    """One HTTP exchange, bounded in time and bytes. It knows nothing of politeness."""

    async def fetch(
        self,
        url: str,
        *,
        etag: str | None = None,
        last_modified: str | None = None,
        max_bytes: int | None = None,
        truncate: bool = False,
        pages_only: bool = False,
    ) -> FetchResponse:
        """Fetch ``url`` without following redirects.

        Parameters
        ----------
        url : normal form
        etag, last_modified : validators of the copy at hand, for a conditional request
        max_bytes : bound on the body as received and as decoded; default: the adapter's
        truncate : cut a longer body at the bound instead of failing
        pages_only : of what is no page by its headers, or is called plain text and is none by its
            first bytes (archives, pictures, attachments), return no body: the adapter need not
            receive it

        Raises
        ------
        FetchError
            No usable answer; ``kind`` says why, in one word.
        """
        ...


@runtime_checkable
class Resolver(Protocol):
    """Tells where requests go, for a fetcher whose requests then go there and nowhere else."""

    async def resolve(self, host: str) -> str:
        """Resolve the name of a host anew; return the one IP address that is asked from now on.

        Parameters
        ----------
        host : scheme, name and port

        Raises
        ------
        FetchError
            There is none; ``kind`` is ``dns``.
        """
        ...


class HubClient(Protocol):
    """Asks hubs; connects to where a :class:`Fetcher` does, and to no other place."""

    async def post(self, url: str, form: Mapping[str, str]) -> FetchResponse:
        """Post a form; raises as :meth:`Fetcher.fetch` does."""
        ...


class Subscriptions(Protocol):
    """Store of subscriptions to hubs; durable, and written by two processes."""

    def found(self, topic: str, hub: str, now_s: float) -> None:
        """Note that a hub announces a topic: to be asked at once, unless it was before."""
        ...

    def due(self, now_s: float, limit: int) -> list[Subscription]:
        """Those whose hub is to be asked."""
        ...

    def of(self, callback: str) -> Subscription | None:
        """The one that has this callback."""
        ...

    def every(self) -> list[Subscription]:
        """All of them."""
        ...

    def save(self, subscription: Subscription) -> None:
        """Keep what became of one; topic, hub, callback and secret stay."""
        ...

    def close(self) -> None:
        """Release files."""
        ...


class Extractor(Protocol):
    """Reads bytes as a page, a sitemap or a feed, whatever they are.

    All that is awaited may raise ``PoisonPage``, for what takes more than reading may,
    ``ReadingPutOff``, for what has not been read as other pages are, and ``ReadingCut`` once the
    extractor is closed.
    """

    def at_once(self, response: FetchResponse) -> Extract | None:
        """Read a page that takes a few milliseconds whatever is in it; None for any other."""
        ...

    async def page(self, response: FetchResponse) -> Extract:
        """Title, text, links and signature of an HTML or plain-text page."""
        ...

    async def sitemap(self, response: FetchResponse) -> tuple[DatedUrls, DatedUrls]:
        """Pages with their lastmod (epoch seconds), and further sitemaps with theirs."""
        ...

    async def feed(self, response: FetchResponse) -> DatedUrls:
        """Addresses of a feed's entries, with when they were last updated (epoch seconds)."""
        ...

    def raw_hash(self, body: bytes) -> bytes:
        """Hash of a body as it came; quick enough for the event loop."""
        ...

    def close(self) -> None:
        """Release processes; what is being read is given up."""
        ...


@dataclass(frozen=True, slots=True)
class AdmissionLimits:
    """Bounds on what the frontier takes in; traps end here.

    Pages that are gone or have moved away count in none but that on listings.
    """

    max_pages: int = 1_000_000
    max_pages_per_host: int = 100_000
    max_hosts_per_domain: int = 1_000  # the registrable one
    max_listings_per_host: int = 1_000  # sitemaps; and as many feeds
    max_query_variants: int = 10_000
    max_new_per_minute: float = 10_000.0  # of one host; five minutes' worth at once


class Worths(Protocol):
    """Store of what pages are worth, and what that is learned from; part of a frontier."""

    def addresses(
        self, *, after: int, limit: int
    ) -> list[tuple[int, int, str, PageState, float | None]]:
        """Id, host, address, state and importance of pages with ids above ``after``, ascending.

        Sitemaps and feeds are left out.
        """
        ...

    def link_lists(self, *, after: int, limit: int) -> list[tuple[int, bytes]]:
        """Return ids and link lists of pages with ids above ``after``, ascending."""
        ...

    def tallies(self) -> list[tuple[int, str, float, float]]:
        """Page, source, count and when it was last added to."""
        ...

    def count(
        self, source: str, counts: Mapping[str, float], now_s: float, half_life_s: float
    ) -> int:
        """Add to the counts of a source, by address; return how many addresses are known.

        Older counts fade by half in ``half_life_s``.
        """
        ...

    def forget(self, source: str) -> None:
        """Forget the counts of a source."""
        ...

    def save(self, worths: Sequence[PageWorth]) -> list[int]:
        """Keep what pages are worth; return the hosts whose pages never visited changed order."""
        ...

    def depths(self) -> list[tuple[int, int, int, int, float]]:
        """Host, links from a seed, pages there, how many were visited, what the others weigh."""
        ...

    def births(self) -> list[Birth]:
        """Return new addresses that visits brought, by page or listing visited twice or more."""
        ...

    def entries(self) -> list[tuple[int, int]]:
        """Return page and host of listings, and of seeds that led on, that were visited once.

        What they bring is not known yet.
        """
        ...

    def found_again(self, leads: Mapping[int, tuple[int, float]]) -> None:
        """Note that addresses which a page found first were found on others too.

        By page: how many, and how much later in all.
        """
        ...


class Feed(Protocol):
    """Feed of what became of the copies in the index, in order; part of a frontier.

    Whatever changes what the index should hold of a page writes an entry in the same transaction,
    so that the latest entries of all pages and the state never say different things.
    """

    def changes(
        self, *, after: int, limit: int, latest: bool = False, edits: bool = False
    ) -> list[Change]:
        """Return entries with numbers above ``after``, ascending.

        An entry of kind ``importance`` overtakes those of its kind only: the entry that tells of
        the copy itself is there beside it.

        Parameters
        ----------
        latest : leave out what a later entry of the same page has overtaken
        edits : with the diff to the copy before, where it is kept
        """
        ...

    def recent(self, limit: int, *, importance: bool = True) -> list[Change]:
        """Return the last entries, the latest first.

        Parameters
        ----------
        importance : with those that say no more than a new importance
        """
        ...

    def last(self) -> int:
        """Return the number of the last entry; 0: there is none."""
        ...

    def before(self, instant_s: float) -> int:
        """Return the number of the last entry that was made before an instant; 0: none was."""
        ...

    def live(
        self, *, after: int = 0, limit: int | None = None, importance: bool = True
    ) -> Iterable[Change]:
        """Return the latest entry of every page of which there is a copy, by number.

        Parameters
        ----------
        importance : whether that may be one that says no more than a new importance
        """
        ...

    def latest(self, urls: Sequence[str], *, importance: bool = True) -> list[Change]:
        """Return the latest entry of each of these pages that ever had a copy.

        Parameters
        ----------
        importance : whether that may be one that says no more than a new importance
        """
        ...

    def say_importance(self) -> None:
        """Have every entry of a copy say from now on what its page is worth."""
        ...

    def importances(self, *, after: int, limit: int) -> list[tuple[int, float, float | None]]:
        """Return id, weight and the importance told last, of pages with a copy, by ascending id.

        Only ids above ``after``; None where no importance was told.
        """
        ...

    def tell_importance(self, page_ids: Sequence[int], now_s: float) -> int:
        """Make entries of kind ``importance`` for pages that have a copy; return how many.

        Such an entry says of the copy what the one before said.
        """
        ...

    def mend(self, now_s: float) -> int:
        """Make entries for pages whose latest one does not say what the state says; how many."""
        ...

    def compact(self, before_s: float, *, limit: int = 1_000) -> int:
        """Drop overtaken entries made before an instant; return how many are still to be looked at.

        Each page keeps its latest one of a copy, without its diff, and a later one that says a new
        importance. Looks at no more than ``limit`` entries
        that are new, and as many that have become old.
        """
        ...


class Visits(Protocol):
    """Visits, and what was learned from them: a frontier's, or those that another crawler makes."""

    def visited_since(self, since_visit: int) -> "tuple[NDArray[np.int64], int]":
        """Pages visited after visit number ``since_visit``, ascending, and the last number."""
        ...

    def evidence(
        self, page_ids: Sequence[int], *, limit_per_page: int = LATEST_VISITS
    ) -> "Evidence":
        """The latest visits of these pages that tell something; some thousand pages at once."""
        ...

    def believed_before(self, page_ids: Sequence[int]) -> "BelievedBefore":
        """Return the beliefs that are kept of these pages, and of their hosts."""
        ...

    def save_change_rates(
        self,
        page_ids: "NDArray[np.int64]",
        rates_per_s: "NDArray[np.float64]",
        factors: "NDArray[np.float64]",
        beliefs: Sequence[bytes] = (),
        of_hosts: Iterable[tuple[str, bytes]] = (),
    ) -> None:
        """Keep estimates: rate, and the factor that one standard error is worth.

        With them beliefs, one for each page, and of hosts by name, for :meth:`believed_before`.
        """
        ...


class Frontier(Visits, Protocol):
    """The pages that are known, when each is due, and every visit. Durable where the adapter is.

    A page has at most one live lease. :meth:`complete` and :meth:`release` of a lease that has
    lapsed and been handed out again change nothing but the history.
    """

    def admit(
        self, discoveries: Sequence[Discovery], now_s: float, limits: AdmissionLimits
    ) -> list[int]:
        """Take in URLs not known yet, due at once; return the hosts that got any.

        What the limits refuse is counted; see :meth:`refused`.
        """
        ...

    @property
    def worths(self) -> Worths:
        """Store of what pages are worth."""
        ...

    @property
    def feed(self) -> Feed:
        """Feed of what became of the copies in the index."""
        ...

    def refuse(self, counts: Mapping[tuple[str, str], int]) -> None:
        """Count addresses that were not taken in, by host and reason."""
        ...

    def refused(self) -> list[tuple[str, str, int]]:
        """Host, reason and number of addresses refused so far, or put off, most first."""
        ...

    def reweigh(self, weight_of: Callable[[str], float]) -> int:
        """Set every page's weight by its URL; return how many changed."""
        ...

    def hosts(self) -> list[HostRecord]:
        """Every host, with its earliest due time."""
        ...

    def host(self, host_id: int, *, now_s: float) -> HostRecord:
        """One host, with the earliest due time of its pages that are not leased."""
        ...

    def save_host(self, record: HostRecord) -> None:
        """Keep a host's robots.txt and back-off; ``next_due_s`` is not stored."""
        ...

    def lease(
        self,
        host_id: int,
        *,
        limit: int,
        due_by_s: float,
        now_s: float,
        until_s: float,
        discovery_share: float | None = 0.5,
        worth: Callable[[Lease, float], float] | None = None,
    ) -> list[Lease]:
        """Hand out up to ``limit`` pages of a host due by ``due_by_s``, earliest due first.

        Pages that somebody asked for come before all others, and of pages never visited those of
        greatest weight. While both wait, ``discovery_share`` of the rest are pages never visited;
        where that is None, those come first whose visit now is worth most by ``worth``. A listing
        comes before what is worth less, whenever that was due. The leases lapse at ``until_s``; a
        lease that lapsed before ``now_s`` binds no more.
        """
        ...

    def lease_ahead(
        self,
        host_id: int,
        *,
        limit: int,
        worth: Callable[[Lease, float], float],
        now_s: float,
        min_interval_s: float,
        until_s: float,
    ) -> tuple[list[Lease], float]:
        """Hand out up to ``limit`` pages of a host that a visit now is worth most for, due or not.

        Only pages that are due by their worth, last visited ``min_interval_s`` ago or more, and
        for which ``worth(lease, now_s)`` is above 0. With them comes the instant from which there
        may be some: ``now_s`` where some were handed out, infinity where there is no such page.
        """
        ...

    def ask(self, urls: Sequence[str], now_s: float, *, is_signal: bool = False) -> list[int]:
        """Note durably that visits were asked for; return the number of each.

        Parameters
        ----------
        is_signal : somebody only says that these pages have changed: as a date in a sitemap does,
            and worth as much as such signals of that host have proved to be; its answer is "noted"
        """
        ...

    def take_asked(
        self, read: Callable[[str], Discovery | str], now_s: float, limits: AdmissionLimits
    ) -> list[int]:
        """Make the pages that were asked for due, before all others; return the hosts touched.

        Parameters
        ----------
        read : makes a discovery of an address, or says why it does not belong to the crawl: then
            that is the answer, with the outcome ``refused``
        """
        ...

    def answers(self, numbers: Sequence[int]) -> list[VisitAnswer]:
        """Return what came of visits that were asked for, in the order of the numbers.

        A visit that began before it was asked for does not count: another follows.
        """
        ...

    def release(self, leases: Sequence[Lease]) -> None:
        """Give pages back as if they had not been leased."""
        ...

    def put_off(self, leases: Sequence[tuple[Lease, float]], why: str) -> None:
        """Give pages back, each due at its instant and no sooner, for a reason."""
        ...

    def bring_forward(self, page_ids: Sequence[int], now_s: float) -> None:
        """Make pages due now that were put off, as if they had just been discovered."""
        ...

    def look_beside(
        self, pages: Mapping[int, float], due_s: float, *, are_back: bool = False
    ) -> int:
        """Have pages looked at that stand beside some that are gone, or back; return how many.

        Parameters
        ----------
        pages : page ids, and for each an instant: pages visited since need no look
        due_s : instant at which they are due, unless they are sooner
        are_back : whether these were gone and are back; those beside them that went are looked at

        Notes
        -----
        Of the sixty-four nearest addresses before each, and after it, the two nearest pages of its
        host that the index holds and that are not due by then; of the three hundred nearest, where
        pages are back, those that are gone or have moved, and were there.
        """
        ...

    def visited(self, latest: int) -> Iterable[VisitedPage]:
        """Return pages that were visited: all with a query, and the latest.

        But for those that moved, and those that are left out of the index and yet led to pages.
        """
        ...

    def defer(self, lease: Lease, due_s: float) -> None:
        """Have a leased page due no sooner, should its visit never be recorded."""
        ...

    def begin_indexing(self, page_ids: Sequence[int]) -> None:
        """Note durably that the index is about to change for these pages."""
        ...

    def in_indexing(self) -> list[tuple[int, str, bytes | None]]:
        """Pages noted and not completed since: id, URL, signature. Empty after a clean stop."""
        ...

    def reconcile(self, page_id: int, signature: bytes | None, now_s: float) -> None:
        """Make the state say what the index holds (None: nothing), and the page due."""
        ...

    def agree(self, copies: Sequence[tuple[str, bytes | None]], now_s: float) -> None:
        """Make the state say what the index holds of these URLs (None: nothing), all or none.

        The pages are due, without validators; URLs that the index holds and nobody knew are pages
        from now on.
        """
        ...

    def complete(self, updates: Sequence[PageUpdate], now_s: float | None = None) -> None:
        """Record visits and what they changed, all or none; and links where they are told.

        Parameters
        ----------
        now_s : the instant, for the feed; default: that of the latest visit
        """
        ...

    def differences(self, *, limit: int, url: str | None = None) -> list[Difference]:
        """Return differences of new copies from those that they replaced, the latest first.

        Of the last thousand of all pages; of one page with ``url``.
        """
        ...

    def make_due_by(self, now_s: float, longest_s: float) -> int:
        """Bring forward pages due later than any interval allows; return how many.

        A clock that was ahead leaves such due times behind. The interval of a page's own crawl
        rate is allowed too, where that is longer; what is asked for once stays as it is.
        """
        ...

    def make_found_due(self, now_s: float) -> int:
        """Make pages due that were found later than now, and never visited; return how many.

        They were found by a clock that was ahead: others would wait until it is as late again.
        """
        ...

    def make_due(self, now_s: float, *, visited_before_s: float | None = None) -> int:
        """Make every page due now; with a bound, those not visited since; return how many are.

        But for pages never visited that were put off, as their kind of address brings nothing new.
        """
        ...

    def read_again(self, mark_of: Callable[[str], int], now_s: float, per_s: float) -> int:
        """Make pages due whose copy was read by other rules than now; return how many there are.

        One after the other, those of most weight first; a plan makes none of them due later.

        Parameters
        ----------
        mark_of : tells by the address by which rules a page is read
        per_s : that are due in a second, > 0
        """
        ...

    def reach(self) -> str | None:
        """Return which addresses the crawl took in when it began last, as it was told to keep it.

        None: nothing was kept yet.
        """
        ...

    def save_reach(self, reach: str) -> None:
        """Keep which addresses the crawl takes in."""
        ...

    def widen(
        self, takes: Callable[[str], bool], since_s: float, now_s: float, per_s: float
    ) -> int:
        """Make pages due that may lead to what the crawl takes since an instant.

        Those that moved to what it takes, and those that it did not take, are due at once. What was
        read before the instant and is taken is fetched whole, one after the other, those of most
        weight first; a plan makes none of them due later. What robots.txt names is looked for anew.

        Parameters
        ----------
        takes : tells by the address whether the crawl takes it
        since_s : when it began to take more; a page visited since then is left as it is
        now_s : the instant
        per_s : that are due in a second, > 0

        Returns
        -------
        How many pages that are.
        """
        ...

    def moves(self) -> list[tuple[str, str, int, int]]:
        """Hosts, others that pages of theirs moved to, and how many; and of how many pages.

        Those of most pages first; a thousand at most.
        """
        ...

    def n_due(self, now_s: float) -> int:
        """Pages due and not leased."""
        ...

    def n_closed(self, now_s: float) -> int:
        """Pages among them whose host could be asked, but its robots.txt has grown old."""
        ...

    def forget_visits(self, before_s: float, *, after: int, limit: int) -> int | None:
        """Drop the visits before an instant, but for the latest ones of each page that tell all.

        Of at most ``limit`` pages, those with the lowest numbers above ``after``; returns the last
        one's number, or None: there are no more. With the last of them go what was answered to
        visits asked for before that instant, and the plans of before but for the last.
        """
        ...

    def planned_pages(self) -> "PlannedPages":
        """The pages whose copies are to be kept fresh (indexed, or known and worth a visit)."""
        ...

    def copies(self, most: int) -> list[int]:
        """Pages that say what another page of their host says, by signature; ids.

        The first that was found stands for the others. Where more than ``most`` say the same they
        have nothing to say yet, and are not copies of each other.
        """
        ...

    def save_plan(self, plan: PlanRecord) -> None:
        """Keep a plan: it is in force until the next."""
        ...

    def save_crawl_rates(
        self,
        plan: PlanRecord,
        page_ids: "NDArray[np.int64]",
        crawl_rates_per_s: "NDArray[np.float64]",
        due_s: "NDArray[np.float64]",
        *,
        why: str = "the plan",
        own_due_s: "NDArray[np.float64] | None" = None,
        last_visit_s: "NDArray[np.float64] | None" = None,
    ) -> None:
        """Keep rates and due times that a plan changed, with the reason of these.

        Pages in trouble, or visited since the plan knew of them, are due when that said. Until the
        next visit it is told when they would have been due by their own rates alone.

        Parameters
        ----------
        last_visit_s : instants of the last visits that the plan knew of: others may have been
            on their way to the records then; None: all before it was solved
        """
        ...

    def last_plan(self) -> PlanRecord | None:
        """The plan in force."""
        ...

    def n_pages_by_state(self) -> dict[PageState, int]:
        """Counts of pages (sitemaps and feeds left out)."""
        ...

    def n_visits_by_outcome(self, *, since_s: float = 0.0) -> dict[Outcome, int]:
        """Counts of visits at or after an instant."""
        ...

    def found_since(
        self, since_s: float, *, among: int, limit: int
    ) -> list[tuple[str, float, bool]]:
        """Return finds, the latest first: address, instant, whether it was new.

        First copies and changed ones of pages, at or after an instant, among so many of the latest
        visits.
        """
        ...

    def look_at_gone(self, by_s: float) -> int:
        """Have pages that are gone looked at by an instant; return how many that brought forward.

        For those that went before it was known what such a look is worth.
        """
        ...

    def read_within(self, intervals_s: Mapping[int, float]) -> int:
        """Have sitemaps and feeds read so long after their last visits; return how many that moves.

        None is read later for it, nor sooner where its last visit failed.

        Parameters
        ----------
        intervals_s : seconds, by page
        """
        ...

    def look_again(self, now_s: float, host_ids: Sequence[int]) -> int:
        """Have pages of hosts looked at now that went, and were listed with a later date since.

        Returns how many that are.
        """
        ...

    def look_for(self, now_s: float, urls: Sequence[str]) -> int:
        """Have sitemaps looked for now that were not there; returns how many that are."""
        ...

    def ask_leave(self, now_s: float, *, host_id: int | None = None, most: int = 1) -> list[int]:
        """Make pages due that were denied last, or are forbidden by robots.txt.

        None of the index.

        Parameters
        ----------
        now_s : the instant
        host_id : of the pages; None: of every host
        most : pages of a host, those of most weight, and denied ones first

        Returns
        -------
        Hosts that have such pages, due before or not.
        """
        ...

    def gone_s(self, now_s: float) -> float:
        """Seconds that all pages now gone have been away, since each was seen last."""
        ...

    def went(self, since_s: float) -> "tuple[NDArray[np.int64], NDArray[np.float64]]":
        """Pages that had copies and are gone since then; seconds that each was known before."""
        ...

    def went_of_folder(self, folder: str, since_s: float) -> tuple[int, float]:
        """Of a host's folder (``http://a.test/b/``), pages that went so; seconds all were known."""
        ...

    def last_fetch_s(self) -> float | None:
        """Return the instant of the last visit on record; None before any."""
        ...

    def forgive(self, now_s: float) -> int:
        """Make due what waits because of a failure or of robots.txt; return how many pages.

        Hosts are unblocked that did not send us away themselves. For when the reasons may be gone.
        """
        ...

    def details(self, url: str, *, recent: int = 10) -> PageDetails | None:
        """One page by its URL in normal form, with its latest visits."""
        ...

    def save_announcers(self, announcers: Mapping[int, Announcer]) -> None:
        """Keep what announcements of hosts are worth, by the host's id."""
        ...

    def announcers(self) -> dict[int, Announcer]:
        """The hosts whose announcements have shown what they are worth, by id."""
        ...

    def save_facts(self, *records: FactRecord) -> None:
        """Keep what records know, each number by its name; those of other names stay."""
        ...

    def facts(self) -> CrawlFacts:
        """All that was kept."""
        ...

    def urls_indexed(self) -> Iterable[tuple[str, bytes]]:
        """URL and signature of every page whose copy the index should hold."""
        ...

    def n_indexed(self) -> int:
        """Number of pages whose copy the index should hold."""
        ...

    def sample_indexed(self, limit: int) -> list[tuple[str, bytes]]:
        """Some of :meth:`urls_indexed`, drawn at random; at most ``limit``."""
        ...

    def close(self) -> None:
        """Release files and connections."""
        ...


@runtime_checkable
class ChanceLearner(Protocol):
    """An index that learns what pages show by chance; for one, some pages are fetched twice."""

    def learn_drawn(self, document: Document, again: str) -> None:
        """Learn what of a page is drawn by chance, for :meth:`PageIndex.same`.

        Parameters
        ----------
        again : its text as it was right after the document was fetched
        """
        ...


class PageIndex(Protocol):
    """Full-text search over the latest copy of each page. Changes show after :meth:`commit`.

    What a class that inherits from it must have is abstract; the rest is right for any index, and
    better where the index does it itself.
    """

    @abstractmethod
    def replace(self, document: Document) -> None:
        """Hold this copy instead of any other of its URL."""
        ...

    @abstractmethod
    def remove(self, url: str) -> None:
        """Hold no copy of this URL."""
        ...

    @abstractmethod
    def commit(self) -> None:
        """Make all changes since the last commit durable and visible, all or none."""
        ...

    @abstractmethod
    def signature(self, url: str) -> bytes | None:
        """Signature of the copy that is held."""
        ...

    def copy(self, url: str) -> Document | None:
        """The copy that is held, without what its host repeats; None where none is kept."""
        return None

    def same(self, document: Document) -> bool:
        """Tell whether the copy that is held says the same.

        But for what its host repeats, and what it has learned to be drawn by chance.
        """
        held = self.copy(document.url)
        return held is not None and (held.title, held.text) == (document.title, document.text)

    def difference(self, document: Document) -> str | None:
        """Say what a document says anew, and what no more, beside the copy that is held.

        Lines that begin with ``+`` or ``-``, bounded in number and length; "" where lines only
        moved, and None where no copy is held. What the host repeats is left out.
        """
        held = self.copy(document.url)
        if held is None:
            return None
        return difference(f"{held.title}\n{held.text}", f"{document.title}\n{document.text}")

    def edit(self, document: Document) -> str | None:
        """Return a unified diff from the copy that is held to a document; bounded.

        None where no copy is held. What the host repeats is left out.
        """
        held = self.copy(document.url)
        return None if held is None else edit(held.text, document.text)

    @abstractmethod
    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        offset: int = 0,
        host: str | None = None,
        fetched_since_s: float | None = None,
    ) -> tuple[int, list[Hit]]:
        """Number of matches, and a page of them, best first; copies of one text are one of them.

        ``host`` (with its port, as in the URL) and the age of the copies narrow them down.
        """
        ...

    def misread(self, query: str) -> list[str]:
        """Return notes for people on what of a query was misread or corrected; empty: nothing."""
        return []

    def suggest(self, query: str) -> str | None:
        """Return a like query of words that the index knows, for one that finds nothing."""
        return None

    @abstractmethod
    def urls(self) -> Iterable[tuple[str, bytes]]:
        """URL and signature of every copy."""
        ...

    def n_documents(self) -> int:
        """Number of copies held."""
        return sum(1 for _ in self.urls())

    def close(self) -> None:
        """Release files; what was not committed is dropped."""
        return


class Preparation(Protocol):
    """Step that prepares pages for an index, as many at a time as there are servers."""

    async def __call__(self, document: Document) -> Document:
        """Return what is indexed in the place of a page."""
        ...

    def close(self) -> None:
        """Release processes and threads; what is under way is given up."""
        ...


class Sink(Protocol):
    """Receiver of delivered changes. One thread talks to it.

    What is delivered twice has no second effect where the sink can tell: by the version of the
    page. Changes of a page come in order, but after a crash some may come again.
    """

    def apply(self, items: Sequence[Item], batch: str) -> list[Taken]:
        """Take changes, each page at most once among them; return a verdict on each, in order.

        Parameters
        ----------
        batch : names the batch; the same if it is sent again

        Raises
        ------
        SinkError
            Nothing is known of what was taken: all is to be sent again, later.
        """
        ...

    def scan(self) -> Iterable[tuple[str, int]] | None:
        """Address and version of everything that is held; None: this sink cannot tell.

        Raises
        ------
        SinkError
            It does not answer.
        """
        ...

    def close(self) -> None:
        """Release connections, files and processes."""
        ...


class Deliveries(Protocol):
    """Delivery progress of sinks; durable, beside the crawl that writes the feed."""

    def of(self, sink: str) -> SinkState:
        """Return how a sink is doing; one that was never told has the number 0."""
        ...

    def save(self, state: SinkState, dead: Sequence[tuple[int, str, str]] = ()) -> None:
        """Keep how a sink is doing, and what it would not take: number, address, reason."""
        ...

    def every(self) -> list[SinkState]:
        """Return how all of them are doing."""
        ...

    def keep_form(self, sink: str, form: str) -> str | None:
        """Keep in which form a sink gets changes; return the one before, None where none was."""
        ...

    def dead(self, sink: str, limit: int) -> list[tuple[int, str, str]]:
        """Return the latest changes that a sink would not take: number, address, reason."""
        ...

    def close(self) -> None:
        """Release files."""
        ...


class EventSink(Protocol):
    """Hears what happens in a crawl."""

    def emit(self, event: str, fields: Mapping[str, object]) -> None:
        """Take note; must not block and must not raise."""
        ...
