"""The keys of the configuration file, and their defaults as people write them."""

import msgspec


class ScopeKeys(msgspec.Struct, forbid_unknown_fields=True):
    """Scope of the crawl."""

    hosts: list[str] | None = None
    include: list[str] = []
    exclude: list[str] = []
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


class Politeness(msgspec.Struct, forbid_unknown_fields=True):
    """Politeness towards hosts."""

    delay: str = "1s"
    per_address: bool = False
    first_backoff: str = "60s"
    longest_backoff: str = "1d"
    allow_private: list[str] = []


class Fetch(msgspec.Struct, forbid_unknown_fields=True):
    """Bounds of one exchange."""

    timeout: str = "30s"
    max_bytes: str = "4MiB"
    accept_language: str = ""
    proxy: str = ""
    proxy_login_env: str | None = None


class Access(msgspec.Struct, forbid_unknown_fields=True):
    """Headers and credentials for some hosts."""

    hosts: list[str] = []
    headers: dict[str, str] = {}
    secret_as: str = "bearer"
    secret_env: str | None = None
    secret_file: str | None = None
    cookies_file: str | None = None
    in_clear: bool = False


class Content(msgspec.Struct, forbid_unknown_fields=True):
    """Content selectors of some pages."""

    path: str
    select: str = ""
    drop: str | list[str] = []
    title: str = ""


class Render(msgspec.Struct, forbid_unknown_fields=True):
    """Pages that a browser renders."""

    path: str
    wait_for: str = ""
    settle: str = "500ms"


class Reading(msgspec.Struct, forbid_unknown_fields=True):
    """Bounds of reading what was fetched, in a process of its own."""

    cpu: str = "2s"
    memory: str = "512MiB"


class Revisit(msgspec.Struct, forbid_unknown_fields=True):
    """Bounds on intervals."""

    min_interval: str = "10m"
    max_interval: str = "30d"
    initial_interval: str = "1d"
    confirm_after: str = "1h"
    listings: str = "1d"


class Weight(msgspec.Struct, forbid_unknown_fields=True):
    """Worth of a fresh page, by its path, and the half-life of what is new on it."""

    path: str
    weight: float | None = None
    half_life: str | None = None


class ImportanceKeys(msgspec.Struct, forbid_unknown_fields=True):
    """Sources of page importance and their shares, which add up to 1."""

    even: float | None = None
    links: float | None = None
    searches: float | None = None
    logs: float | None = None
    table: float | None = None
    half_life: str = "30d"
    every: str = "1h"


class Source(msgspec.Struct, forbid_unknown_fields=True):
    """A source that is probed by a timetable of its own."""

    url: str
    kind: str = "feed"
    probes: int | None = None
    every: str | None = None
    min_gap: str = "0s"
    work_hours: str | None = None
    preference: float = 3.0
    time_zone: str = "UTC"


class Buffer(msgspec.Struct, forbid_unknown_fields=True):
    """Between robots and indexer."""

    capacity: int = 32
    deadline: str = "10m"
    control: str = "optimal"
    starvation_weight: float = 1.0


class Index(msgspec.Struct, forbid_unknown_fields=True):
    """The full-text index."""

    keep: str = "text"
    language: str = "auto"
    commit_every: str = "2s"
    command: list[str] = []
    timeout: str = "10s"
    servers: int = 1


class Archive(msgspec.Struct, forbid_unknown_fields=True):
    """Archive of what was fetched."""

    warc: str | None = None
    max_file: str = "1GiB"


class Feed(msgspec.Struct, forbid_unknown_fields=True):
    """Feed of changes to the copies in the index, as far as it is kept."""

    keep: str = "30d"
    importance: bool = False


class Deliver(msgspec.Struct, forbid_unknown_fields=True):
    """Sink that changes are delivered to."""

    to: str | None = None
    command: list[str] = []
    python: str | None = None
    name: str | None = None
    content: str = "text"
    chunks: int = 0
    paths: list[str] = []
    removals: str = "delete"
    table: str = "documents"
    batch: int = 500
    importance: bool | None = None
    secret_file: str | None = None
    secret_env: str | None = None
    timeout: str = "30s"
    retry_for: str = "3d"


class Signals(msgspec.Struct, forbid_unknown_fields=True):
    """Change notifications: IndexNow and hubs."""

    indexnow_key: str = ""
    callback: str = ""


class Cluster(msgspec.Struct, forbid_unknown_fields=True):
    """Several processes that crawl into one database."""

    shards: int = 256
    memory: str = "1GiB"
    lease: str = "30s"


class Plan(msgspec.Struct, forbid_unknown_fields=True):
    """Planning: its interval, its inputs, and the least worth of a visit."""

    policy: str = "foresight"
    replan: str = "5m"
    least_worth: str = "0 points"
    first_pass: str = "budget"
    discovery_share: float | None = None
    typical_change: str = "14d"


class File(msgspec.Struct, forbid_unknown_fields=True):
    """The whole file."""

    seeds: list[str] = []
    seed_file: str | None = None
    contact: str = ""
    name: str = "recrawl"
    budget: str = "1000/h"
    robots: int = 8
    state: str = "recrawl-state"
    keep_visits: str = "400d"
    scope: ScopeKeys = msgspec.field(default_factory=ScopeKeys)
    politeness: Politeness = msgspec.field(default_factory=Politeness)
    fetch: Fetch = msgspec.field(default_factory=Fetch)
    access: list[Access] = []
    reading: Reading = msgspec.field(default_factory=Reading)
    content: list[Content] = []
    render: list[Render] = []
    revisit: Revisit = msgspec.field(default_factory=Revisit)
    weights: list[Weight] = []
    importance: ImportanceKeys = msgspec.field(default_factory=ImportanceKeys)
    sources: list[Source] = []
    buffer: Buffer = msgspec.field(default_factory=Buffer)
    index: Index = msgspec.field(default_factory=Index)
    archive: Archive = msgspec.field(default_factory=Archive)
    feed: Feed = msgspec.field(default_factory=Feed)
    deliver: list[Deliver] = []
    signals: Signals = msgspec.field(default_factory=Signals)
    plan: Plan = msgspec.field(default_factory=Plan)
    cluster: Cluster = msgspec.field(default_factory=Cluster)
