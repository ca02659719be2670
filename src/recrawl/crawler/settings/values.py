"""Settings of a crawl, as plain values."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import wraps
from math import inf
from pathlib import Path
from typing import Final, TypeVar

from recrawl.crawler.ports import StatePlace
from recrawl.crawler.settings.whole import made_whole
from recrawl.errors import InvalidSettings
from recrawl.version import VERSION

_T = TypeVar("_T")
DEFAULT_SHARES: Final = (("even", 0.5), ("links", 0.5))  # of what makes pages important


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """A source that is probed by a timetable: so many times a week of its own clock."""

    url: str
    kind: str
    n_probes: int
    gap_s: float = 0.0
    work_hours: tuple[float, float] | None = None
    preference: float = 1.0
    time_zone: str = "UTC"


@dataclass(frozen=True, slots=True)
class AccessSettings:
    """Headers and credentials for some hosts.

    Parameters
    ----------
    hosts : patterns of names
    headers : that hold no secret
    secret_as : "bearer", "basic" (user:password), or the header that holds the secret
    secret_env, secret_file : where the secret is read from at the start
    cookies_file : in the format of Netscape
    in_clear : whether secrets may go without encryption
    """

    hosts: tuple[str, ...]
    headers: tuple[tuple[str, str], ...] = ()
    secret_as: str = "bearer"
    secret_env: str | None = None
    secret_file: Path | None = None
    cookies_file: Path | None = None
    in_clear: bool = False

    @property
    def has_login(self) -> bool:
        """Whether the hosts are told who comes."""
        return bool(self.secret_env or self.secret_file or self.cookies_file)


@dataclass(frozen=True, slots=True)
class ContentSettings:
    """CSS selectors of the content of some pages; empty ones are left to the page."""

    path: str
    select: str = ""
    drop: tuple[str, ...] = ()
    title: str = ""


@dataclass(frozen=True, slots=True)
class RenderSettings:
    """Pages that a browser renders.

    Parameters
    ----------
    path : pattern
    wait_for : CSS selector of what is there when the page is; empty: no more than its requests
    settle_s : without a request, until the page counts as filled
    """

    path: str
    wait_for: str = ""
    settle_s: float = 0.5


@dataclass(frozen=True, slots=True)
class SinkSettings:
    """Sink that changes are delivered to.

    Parameters
    ----------
    name : by which the state knows it; holds no secret
    kind : lines, tables, command, python, webhook, postgresql, bulk, meilisearch, typesense, solr
    to : address, path, or what makes a sink in Python; empty for a command
    command : program and arguments
    content : what comes with each page: none, text, markdown or html
    chunk : characters of the pieces in which a page comes besides; 0: in none
    paths : patterns of the pages that are delivered; empty: all
    keeps_removed : whether removed rows are marked instead of deleted
    table : of the database
    batch : changes in one delivery
    importance : whether it is told what pages are worth
    secret_file, secret_env : where the secret is read from, each time that it is needed
    timeout_s : for one delivery
    retry_for_s : what fails for longer is given up; infinite: never
    """

    name: str
    kind: str
    to: str = ""
    command: tuple[str, ...] = ()
    content: str = "text"
    chunk: int = 0
    paths: tuple[str, ...] = ()
    keeps_removed: bool = False
    table: str = "documents"
    batch: int = 500
    importance: bool = False
    secret_file: Path | None = None
    secret_env: str | None = None
    timeout_s: float = 30.0
    retry_for_s: float = inf


def _knowing_its_names(cls: type[_T]) -> type[_T]:
    """Have a class say which setting was meant, where one is given that it does not have."""
    init: Callable[..., None] = cls.__init__

    @wraps(init)
    def checked(self: _T, *values: object, **named: object) -> None:
        for name in named.keys() - cls.__annotations__.keys():
            begun = [known for known in cls.__annotations__ if name.rstrip("s") in known]
            near = begun or get_close_matches(name, cls.__annotations__, n=1)
            meant = f"; did you mean {' or '.join(near[:3])}?" if near else ""
            raise InvalidSettings(f"{name}: no setting is called so{meant}")
        init(self, *values, **named)

    cls.__init__ = checked  # type: ignore[assignment]
    return cls


@_knowing_its_names
@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that a crawl can be told. Seconds, bytes and rates per second.

    The same as a configuration file, value by value; see there for what each does. Checks itself.

    Parameters
    ----------
    seeds : addresses where it starts
    contact : mail address or page, for the owners of the sites
    state : directory of the state, or database that several processes share
    budget_per_s : requests per second, over all hosts
    delay_s : between two requests to a host
    per_address : hosts of one IP address are asked as one
    hosts : that belong to the crawl; default: those of the seeds

    Raises
    ------
    InvalidSettings
        A value is wrong, alone or beside another, or no setting is called so; the message says
        what would be right.
    """

    seeds: Sequence[str]
    contact: str
    state: StatePlace = Path("recrawl-state")
    name: str = "recrawl"
    budget_per_s: float = 1000 / 3600
    burst_s: float = 10.0
    n_robots: int = 8
    hosts: Sequence[str] = ()
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    max_depth: int = 100
    max_pages: int = 1_000_000
    max_pages_per_host: int = 100_000
    max_hosts_per_domain: int = 1_000
    max_listings_per_host: int = 1_000
    max_new_per_minute: int = 10_000
    max_query_variants: int = 10_000
    max_redirects: int = 5
    sitemaps: bool = True
    feeds: bool = True
    delay_s: float = 1.0
    per_address: bool = False
    first_backoff_s: float = 60.0
    longest_backoff_s: float = 86_400.0
    allow_private: Sequence[str] = ()
    timeout_s: float = 30.0
    max_bytes: int = 4 * 2**20
    accept_language: str = ""
    proxy: str = ""
    proxy_login_env: str | None = None
    access: tuple[AccessSettings, ...] = ()
    content: tuple[ContentSettings, ...] = ()
    render: tuple[RenderSettings, ...] = ()
    keep_markdown: bool = False
    reading_cpu_s: float = 2.0
    reading_memory_bytes: int = 512 * 2**20
    min_interval_s: float = 600.0
    max_interval_s: float = 30 * 86_400.0
    initial_interval_s: float = 86_400.0
    confirm_s: float = 3_600.0
    listing_s: float = 86_400.0
    weights: tuple[tuple[str, float], ...] = ()
    half_lives: tuple[tuple[str, float], ...] = ()  # s
    importance: tuple[tuple[str, float], ...] = DEFAULT_SHARES
    count_half_life_s: float = 30 * 86_400.0
    importance_s: float = 3_600.0
    sources: tuple[SourceSettings, ...] = ()
    buffer_capacity: int = 32
    buffer_deadline_s: float = 600.0
    control: str = "optimal"
    starvation_weight: float = 1.0
    language: str = "auto"
    commit_s: float = 2.0
    index_command: Sequence[str] = ()
    index_timeout_s: float = 10.0
    n_servers: int = 1
    feed_keep_s: float = 30 * 86_400.0
    feed_importance: bool = False
    keep_visits_s: float = 400 * 86_400.0
    deliver: tuple[SinkSettings, ...] = ()
    indexnow_key: str = ""
    callback: str = ""
    replan_s: float = 300.0
    least_worth: float = 0.0
    first_pass: str = "budget"
    discovery_share: float | None = None
    prior_rate_per_s: float = 1.0 / (14 * 86_400.0)
    warc: Path | None = None
    warc_max_bytes: int = 2**30
    policy: str = "foresight"
    shards: int = 256
    memory_bytes: int = 2**30
    lease_s: float = 30.0

    def __post_init__(self) -> None:
        for name, value in made_whole(self).items():
            object.__setattr__(self, name, value)

    @property
    def user_agent(self) -> str:
        """User agent of the crawler."""
        return f"{self.name}/{VERSION} (+{self.contact.removeprefix('mailto:')})"
