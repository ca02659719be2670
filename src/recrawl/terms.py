"""The shared nouns: what passes between frontier, robots, buffer, indexer and planner.

Frozen records without behaviour. The life of a page is::

    discovered ─► due ─► leased ─► fetched ─► buffered ─► indexed ─► due again … or gone

Leased, fetched and buffered are states of the running process only: a killed process forgets
them, and the page is due again. What lasts is :class:`PageState`. Instants are seconds since the
epoch (UTC), durations seconds, rates per second. Longer than most modules because every noun is
here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

# What makes pages important; each has a share.
EVEN: Final = "even"  # every page alike
COUNTED: Final = ("searches", "logs", "table")
IMPORTANCE_SOURCES: Final = (EVEN, "links", *COUNTED)

# By which pages are due; recrawl.crawler.control.revisiting.policies makes them.
REVISIT_POLICIES: Final = (
    "recrawl", "foresight", "uniform", "proportional",
    "nutch", "stormcrawler", "news-crawl", "miniflux",
)  # fmt: skip

# Types of content that can be indexed.
INDEXABLE: Final = frozenset(
    """text/html application/xhtml+xml text/plain text/markdown text/x-markdown text/xml
    application/xml application/pdf""".split()
)


# Addresses with the instants of their last changes, as a listing says.
DatedUrls: TypeAlias = list[tuple[str, float | None]]

T = TypeVar("T")


def _made_quickly(record: type[T]) -> type[T]:
    """Have a frozen record set its slots itself, in a third of the time.

    The constructor of frozen records looks up, for each field by its name, where that is kept: for
    a lease 4 microseconds. Arguments, defaults and what a record refuses stay as they are.

    Parameters
    ----------
    record : frozen, with slots, without anything that is done after it is made
    """
    made: Any = record.__init__
    code = made.__code__
    names = code.co_varnames[1 : code.co_argcount]
    lines = [f"def __init__({', '.join(('self', *names))}):"]
    lines += [f"    _set_{name}(self, {name})" for name in names]
    known: dict[str, Any] = {f"_set_{name}": getattr(record, name).__set__ for name in names}
    exec("\n".join(lines), known)
    quick = known["__init__"]
    quick.__defaults__, quick.__annotations__ = made.__defaults__, made.__annotations__
    quick.__qualname__, quick.__module__ = made.__qualname__, made.__module__
    record.__init__ = quick  # type: ignore[method-assign]
    return record


@dataclass(frozen=True, slots=True)
class Database:
    """A database that several processes keep the state of a crawl in; shown without a password.

    Parameters
    ----------
    address : postgresql://user@host/name
    """

    address: str

    def __str__(self) -> str:
        """Return the address as it may be shown."""
        scheme, _, rest = self.address.partition("://")
        who, at, where = rest.rpartition("@")
        name = who.partition(":")[0]
        return f"{scheme}://{name}{at}{where}".partition("?")[0]


class Kind(StrEnum):
    """Kind of resource at a URL."""

    PAGE = "page"
    SITEMAP = "sitemap"
    FEED = "feed"


class PageState(StrEnum):
    """The lasting state of a page; `crawler/control/answers/lifecycle.py` has the transitions."""

    DISCOVERED = "discovered"  # seen in a link, never answered
    INDEXED = "indexed"  # the index holds a copy
    EXCLUDED = "excluded"  # answers, but must not or cannot be indexed
    MOVED = "moved"  # answers with a redirect to another page
    MISSING = "missing"  # not found, nothing to index, or elsewhere for now, once; to be confirmed
    GONE = "gone"  # not found twice, or declared gone
    DISALLOWED = "disallowed"  # robots.txt forbids it


class Outcome(StrEnum):
    """Outcome of one visit."""

    NEW = "new"  # first content of this page
    CHANGED = "changed"
    UNCHANGED = "unchanged"  # full answer, same content
    NOT_MODIFIED = "not-modified"  # 304
    LISTING = "listing"  # a sitemap or feed was read
    MOVED = "moved"  # permanent redirect
    REDIRECTED = "redirected"  # temporary redirect
    NOT_FOUND = "not-found"
    GONE = "gone"
    DENIED = "denied"  # any other 4xx
    THROTTLED = "throttled"  # 429
    SERVER_ERROR = "server-error"
    FAILED = "failed"  # no answer: timeout, DNS, connection, protocol
    TOO_LARGE = "too-large"
    POISON = "poison"  # reading it took more time or memory than it may
    UNSUPPORTED = "unsupported"  # a content type that cannot be indexed
    DISALLOWED = "disallowed"  # robots.txt forbids it: no request was made
    LOST = "lost"  # the buffer was full
    OBSOLETE = "obsolete"  # waited in the buffer past its deadline
    DEFERRED = "deferred"  # not read, as other pages took long to read


@_made_quickly
@dataclass(frozen=True, slots=True)
class Discovery:
    """A URL that was found, in scope, in normal form.

    ``variant_of`` is a hash of the address without its query when it has one: the frontier bounds
    how many variants of one path it takes. ``importance`` is what the page is expected to be worth
    by the evidence, which its weight is multiplied by; ``found_on`` the page that led here.
    """

    url: str
    host: str
    kind: Kind = Kind.PAGE
    depth: int = 0
    hops: int = 0
    weight: float = 1.0
    variant_of: int | None = None
    lastmod_s: float | None = None
    importance: float | None = None
    found_on: int | None = None


@_made_quickly
@dataclass(frozen=True, slots=True)
class Lease:
    """A page handed out for one visit, with what the visit needs to know."""

    page_id: int
    url: str
    host_id: int
    token: int
    due_s: float
    kind: Kind = Kind.PAGE
    state: PageState = PageState.DISCOVERED
    depth: int = 0
    hops: int = 0
    failures: int = 0
    etag: str | None = None
    last_modified: str | None = None
    signature: bytes | None = None
    raw_hash: bytes | None = None
    last_visit_s: float | None = None  # last visit that told changed or unchanged
    crawl_rate_per_s: float | None = None  # from the plan; None: not planned yet
    weight: float = 1.0
    change_rate_per_s: float | None = None  # None: not estimated yet
    memory: bytes = b""  # what the revisit policy keeps of it
    tier: int = (
        0  # the queue of its host that it waited in; see `recrawl.crawler.control.worth.tiers`
    )
    read_as: int = 0  # mark of the rules by which its copy was read; 0: there were none
    seen_s: float | None = None  # of which instant that visit's answer is; None: of the visit


@_made_quickly
@dataclass(frozen=True, slots=True)
class FetchResponse:
    """One HTTP exchange that was answered."""

    url: str
    status: int
    body: bytes = b""
    content_type: str = ""
    charset: str | None = None
    location: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    retry_after: str | None = None
    refresh: str | None = None  # where it sends its reader after a while
    link: str = ""  # of all Link headers
    robots_tag: str = ""
    cache_control: str = ""
    usage: str = ""  # of the headers that say what models may be made of it
    received_bytes: int = 0
    elapsed_s: float = 0.0
    age_s: float = 0.0  # since the site sent or confirmed it, where a cache on the way answered
    truncated: bool = False
    n_requests: int = 1  # that it took
    wants_cookie: bool = False  # leads to itself, with a cookie that the next request sends back
    headers: tuple[tuple[str, str], ...] = ()  # all of them, where they are kept for an archive


@_made_quickly
@dataclass(frozen=True, slots=True)
class Visit:
    """A fetch as evidence about a page.

    ``changed`` is None where the visit tells nothing (first visit, failure, lost page, the answer
    of a cache from before the last visit); ``interval_s`` is the time since the last visit that
    told something; ``modified_s`` is when the page last changed, as its server says; ``seen_s`` is
    the instant that the answer is of, where a cache on the way gave it. Between visits that caches
    answered the interval is the time between the instants that their answers are of.
    """

    visited_at_s: float
    outcome: Outcome
    status: int | None = None
    changed: bool | None = None
    interval_s: float | None = None
    fetch_s: float = 0.0
    received_bytes: int = 0
    note: str | None = None
    modified_s: float | None = None
    seen_s: float | None = None


class VisitedPage(NamedTuple):
    """Page that was visited, as the state knows it.

    Parameters
    ----------
    url : in normal form
    state : that its visits led to
    signature : of its copy, or of what it said when it went
    last_status : of the last answer
    changes : visits that found one
    indexed_at_s : when its copy was fetched, epoch seconds
    """

    url: str
    state: PageState
    signature: bytes | None
    last_status: int | None
    changes: int
    indexed_at_s: float | None


@_made_quickly
@dataclass(frozen=True, slots=True)
class PageUpdate:
    """All that one visit changes in the frontier, written in one transaction.

    ``interval_s`` is the planned interval of a page that is due by what a visit is worth, and may
    be visited ahead of its due time; None where that time is fixed.
    """

    lease: Lease
    visit: Visit
    state: PageState
    due_s: float
    interval_s: float | None = None
    due_why: str = ""
    memory: bytes = b""
    failures: int = 0
    etag: str | None = None
    last_modified: str | None = None
    signature: bytes | None = None
    raw_hash: bytes | None = None
    title: str | None = None
    redirect_url: str | None = None
    difference: str | None = None  # to the copy that this one took the place of
    edit: str | None = None  # the same as a unified diff
    language: str = ""  # as the page declares it
    canonical: str | None = None  # the address that the page calls its own
    content_type: str = ""
    links: bytes | None = None  # as `learning.link_lists` has them; None: as before
    gist: tuple[int, ...] | None = None  # of new content; see `crawler.control.addresses.gists`
    told_news: bool | None = None  # whether it led to pages that were not known, or may be visited
    goes_on: bool = False  # whether all that it led to is where a list goes on
    lasting: bool | None = None  # whether its server says that it holds for good; None: as before
    read_as: int | None = None  # mark of the rules by which it was read; None: it was not


class ChangeKind(StrEnum):
    """Kind of change to the index's copy of a page, or to its worth."""

    NEW = "new"  # there was none
    CHANGED = "changed"
    MOVED = "moved"  # it is gone, and another address has taken its place
    REMOVED = "removed"
    IMPORTANCE = "importance"  # the copy is as it was; its page is worth more or less


@dataclass(frozen=True, slots=True)
class Change:
    """One entry of the feed: what became of one copy. What it says the index holds.

    ``seq`` grows from entry to entry, ``version`` from entry to entry of one page. ``title`` and
    ``fetched_at_s`` are None where a copy was only found again after an unplanned end. ``why`` is
    the state of a page that is removed; ``edit`` a unified diff to the copy before, cut where it is
    long. Entries that are not ``is_latest`` were overtaken by a later one of their page; what only
    says a new importance overtakes nothing but its like. ``importance`` is the page's weight, 1 on
    average; None where the feed was not asked to say it.
    """

    seq: int
    at_s: float
    kind: ChangeKind
    url: str
    version: int
    signature: bytes | None = None
    fetched_at_s: float | None = None
    title: str | None = None
    language: str = ""
    canonical: str | None = None
    content_type: str = ""
    moved_to: str | None = None
    why: str | None = None
    edit: str | None = None
    is_latest: bool = True
    importance: float | None = None

    @property
    def is_removal(self) -> bool:
        """Whether there is no copy any more."""
        return self.kind in (ChangeKind.REMOVED, ChangeKind.MOVED)


@dataclass(frozen=True, slots=True)
class Item:
    """One change as it is handed to people and programs.

    ``content`` is what the index holds of the page, where that was asked for; ``record`` says all
    of it in plain values, instants in ISO 8601.
    """

    change: Change
    content: str | None
    record: Mapping[str, object]


class Verdict(StrEnum):
    """Verdict of a sink on one change."""

    OK = "ok"
    STALE = "stale"  # it has this version of the page already, or a later one
    RETRY = "retry"  # not now
    REJECT = "reject"  # never


@dataclass(frozen=True, slots=True)
class Taken:
    """A sink's verdict on one change, and its reason where it did not take it."""

    verdict: Verdict
    why: str = ""


@dataclass(frozen=True, slots=True)
class SinkState:
    """Delivery progress and health of a sink.

    Everything up to ``seq`` was delivered; a batch up to ``sending`` may have been. ``failures``
    counts in a row, since ``failing_since_s``; ``dead`` are the changes that it would not take.
    """

    sink: str
    seq: int = 0
    sending: int = 0
    delivered: int = 0
    dead: int = 0
    failures: int = 0
    failing_since_s: float | None = None
    tried_at_s: float | None = None
    next_s: float | None = None
    trouble: str | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """Lines that one page said anew (``+``) and no more (``-``), as one visit found."""

    url: str
    title: str
    found_at_s: float
    text: str


@dataclass(frozen=True, slots=True)
class About:
    """Metadata of a page as it declares them: recorded, believed by nobody.

    Parameters
    ----------
    published, modified : instants as they are written
    author : a name
    licenses : addresses that links call its licence
    robots : directives of its header and its meta tags
    usage : what it asks of those who train models: Content-Usage, TDM-Reservation and the like
    places : headings with the name by which an address reaches them, in their order
    """

    published: str = ""
    modified: str = ""
    author: str = ""
    licenses: tuple[str, ...] = ()
    robots: str = ""
    usage: str = ""
    places: tuple[tuple[str, str], ...] = ()


@_made_quickly
@dataclass(frozen=True, slots=True)
class Extract:
    """Extracted content of a page: for the index, for change detection, and its links."""

    title: str = ""
    text: str = ""
    signature: bytes = b""
    headings: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()  # texts of the links, in their order
    feeds: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()  # that may name pages, where no link leads to one of the host
    canonical: str | None = None
    language: str = ""  # as declared
    noindex: bool = False
    nofollow: bool = False
    unreadable: str = ""  # why it says nothing that could be indexed
    sends_to: str | None = None  # to another page at once, and says next to nothing itself
    is_until: bool = False  # it says after when it is not to be found any more
    needs_scripts: bool = False  # without them it says next to nothing
    asks_password: bool = False  # it has a field for one
    main: str = ""  # selector of the element that was taken for the main content
    markdown: str = ""  # of the main content, where that is kept
    about: About | None = None  # where that is kept


@_made_quickly
@dataclass(frozen=True, slots=True)
class BufferedPage:
    """A page on its way from a robot to the indexer."""

    lease: Lease
    response: FetchResponse
    fetched_at_s: float
    deadline_s: float
    raw_hash: bytes
    again: FetchResponse | None = None  # what its host answered right afterwards


@dataclass(frozen=True, slots=True)
class Document:
    """Document that the index keeps of one page."""

    url: str
    title: str
    text: str
    fetched_at_s: float
    signature: bytes
    headings: tuple[str, ...] = ()
    language: str = ""  # as declared, such as "de-AT"
    links: tuple[tuple[str, str], ...] = ()  # address and text; not kept with the copy
    markdown: str = ""  # where that is kept
    about: About | None = None  # where that is kept

    @classmethod
    def of(cls, url: str, extract: Extract, fetched_at_s: float) -> "Document":
        """Return what is kept of what a page says."""
        return cls(
            url,
            extract.title,
            extract.text,
            fetched_at_s,
            extract.signature,
            extract.headings,
            extract.language,
            tuple(zip(extract.links, extract.anchors, strict=False)),
            extract.markdown,
            extract.about,
        )


@dataclass(frozen=True, slots=True)
class Hit:
    """One search result; ``snippet`` is plain text and ``highlights`` the (start, end) in it.

    ``copies`` are other addresses at which the same text was found.
    """

    url: str
    title: str
    snippet: str
    highlights: tuple[tuple[int, int], ...]
    score: float
    fetched_at_s: float
    copies: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HostRecord:
    """Lasting state of one host. ``next_due_s`` is the earliest due time of its pages, or inf.

    ``ip_address`` is where its name led last, known where hosts of one IP address are asked as one;
    its server is left alone until ``ip_blocked_until_s``. ``rest_s`` is the time between requests
    that it shows to want, by refusing what comes sooner. ``is_read_in_full``: it has said that
    pages are not modified which were, so it is not asked whether they are.
    """

    host_id: int
    host: str
    next_due_s: float
    robots_status: int | None = None
    robots_body: bytes | None = None
    robots_until_s: float = 0.0
    failures: int = 0
    blocked_until_s: float = 0.0
    blocked_why: str | None = None
    ip_address: str | None = None
    ip_blocked_until_s: float = 0.0
    rest_s: float = 0.0
    is_read_in_full: bool = False


@dataclass(frozen=True, slots=True)
class Announcer:
    """Proven worth of a host's sitemaps and feeds as announcements of changes.

    ``recall`` is the share of changes that they announce, ``precision`` that of announcements that
    are true; what they say is known until ``heard_s``.
    """

    recall: float
    precision: float
    heard_s: float


@dataclass(frozen=True, slots=True)
class VisitAnswer:
    """Answer to a request for a visit; an outcome of None: it is still to come."""

    number: int
    url: str
    outcome: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Subscription:
    """Subscription asked of a hub, and granted; see `recrawl.crawler.control.answers.hubs`.

    ``callback`` is the end of the address that the hub calls. The hub is asked at ``due_s``, may
    verify until ``asked_until_s``, and announces the topic until ``until_s``.
    """

    topic: str
    hub: str
    callback: str
    secret: str
    due_s: float
    asked_until_s: float = 0.0
    until_s: float = 0.0
    told_s: float = 0.0
    failures: int = 0
    note: str | None = None


@dataclass(frozen=True, slots=True)
class PageWorth:
    """Stored worth of a page; ``parts`` says in JSON what each source says of it."""

    page_id: int
    weight: float
    importance: float
    parts: str


@dataclass(frozen=True, slots=True)
class Birth:
    """New addresses that visits of a page brought first, after its own first visit.

    ``n`` and ``exposure_s`` fade alike; ``again`` of them were found on another page too,
    ``lead_s`` later in all. ``worth`` is the mean weight of those found there that were visited
    since, 0 for what was no page; None: none was.
    """

    page_id: int
    host_id: int
    kind: Kind
    n: float
    exposure_s: float
    again: float = 0.0
    lead_s: float = 0.0
    worth: float | None = None
    last_visit_s: float | None = None


@dataclass(frozen=True, slots=True)
class PlanRecord:
    """One solved plan."""

    solved_at_s: float
    n_pages: int
    budget_per_s: float
    price: float
    freshness: float
    n_never_visited: int
    measure: str = "even-freshness"
    clocks: str = ""  # JSON of directories that changed fast; lines of it: one of each process


@dataclass(frozen=True, slots=True)
class PageDetails:
    """Everything that is known of one page, for people who ask why."""

    page_id: int
    url: str
    host: str
    kind: Kind
    state: PageState
    weight: float
    depth: int
    discovered_s: float
    due_s: float
    due_why: str
    visits: int
    changes: int
    failures: int
    last_visit_s: float | None
    last_status: int | None
    indexed_at_s: float | None
    change_rate_per_s: float | None
    change_rate_factor: float | None  # one standard error multiplies or divides the rate by this
    crawl_rate_per_s: float | None
    lastmod_s: float | None
    redirect_url: str | None
    leased_until_s: float | None
    importance: float | None = None  # by the evidence; None: nothing is known
    importance_parts: str | None = None  # JSON
    own_due_s: float | None = None  # but for what was found beside it; None: nothing moved it
    seen_s: float | None = None  # of which instant the last answer is; None: of the last visit
    recent: tuple[Visit, ...] = field(default=())
