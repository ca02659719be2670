-- The whole state of a crawl but for the index. Instants: seconds since the epoch, UTC.
-- Equal to the sum of the files in migrations/ (a test holds that).

CREATE TABLE host (
    id INTEGER PRIMARY KEY,
    host TEXT NOT NULL UNIQUE, -- scheme, name and port
    robots_status INTEGER, -- of the last answer to /robots.txt; NULL: none came
    robots_body BLOB,
    robots_until_s REAL NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    blocked_until_s REAL NOT NULL DEFAULT 0,
    blocked_why TEXT,
    announced_recall REAL, -- share of changes that sitemaps and feeds announce; NULL: not known
    announced_precision REAL,
    heard_s REAL, -- until when it is known what they announce
    ip_address TEXT, -- where its name led last; NULL: hosts of one IP address are not asked as one
    ip_blocked_until_s REAL NOT NULL DEFAULT 0,
    rest_s REAL NOT NULL DEFAULT 0, -- between requests, as the host shows to want
    is_read_in_full INTEGER NOT NULL DEFAULT 0 -- its word that pages are not modified was wrong
) STRICT;

CREATE TABLE page (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL UNIQUE,
    host_id INTEGER NOT NULL REFERENCES host (id),
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    depth INTEGER NOT NULL,
    hops INTEGER NOT NULL, -- redirects that led here
    weight REAL NOT NULL,
    variant_of INTEGER, -- hash of the address without its query, where it has one
    discovered_s REAL NOT NULL,
    lastmod_s REAL, -- as a sitemap says
    due_s REAL NOT NULL,
    tier INTEGER NOT NULL DEFAULT 0, -- queue of its host that it waits in; see control/worth/tiers.py
    visits INTEGER NOT NULL DEFAULT 0,
    changes INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0, -- visits in a row that told nothing
    last_visit_s REAL, -- the last that told changed or unchanged
    last_status INTEGER,
    indexed_at_s REAL, -- when the copy in the index was fetched
    etag TEXT,
    last_modified TEXT,
    signature BLOB,
    raw_hash BLOB,
    title TEXT,
    redirect_url TEXT,
    change_rate_per_s REAL,
    change_rate_factor REAL,
    crawl_rate_per_s REAL,
    due_why TEXT, -- what set the due time, in words; NULL: the page was discovered
    policy_memory BLOB, -- what the revisit policy keeps of the page
    importance REAL, -- by the evidence, of mean 1; the weight is this times that of its pattern
    importance_parts TEXT, -- JSON: what each source says of it; NULL: expected, not computed yet
    found_on INTEGER, -- the page whose visit found it first; NULL: none did, or nobody knows
    is_lasting INTEGER NOT NULL DEFAULT 0, -- 1: its server says that it holds for good
    read_as INTEGER, -- mark of the rules by which its copy was read; NULL or 0: there were none
    own_due_s REAL, -- when it would be due but for what was found beside it, by the plan that set due_s
    seen_s REAL, -- of which instant the answer of the last visit is, where a cache on the way gave it
    born_s REAL, -- halfway between when its finder was read without it and when it was found; NULL: unknown
    -- New addresses that its visits brought first, after its own first visit; older ones fade. NULL: none.
    births REAL,
    exposure_s REAL, -- time between its visits, which fades alike
    births_again REAL, -- of those addresses, the ones that another page brought later
    births_lead_s REAL, -- by so much in all
    n_announced INTEGER NOT NULL DEFAULT 0, -- changes that listings have dated since its last visit that told something
    unheard_s REAL NOT NULL DEFAULT 0 -- time since then before these, of which no reading told: a later date hides others
) STRICT;

CREATE INDEX page_by_due ON page (host_id, tier, due_s);
CREATE INDEX page_new ON page (host_id, weight DESC, due_s) WHERE tier = 0;
CREATE INDEX page_put_off ON page (host_id)
    WHERE tier = 0 AND due_why = 'addresses of its kind have brought nothing new: only few of them are tried';
CREATE INDEX page_by_state ON page (state, kind);
CREATE INDEX page_by_finder ON page (found_on) WHERE found_on IS NOT NULL;
CREATE INDEX page_by_variant ON page (variant_of) WHERE variant_of IS NOT NULL;

CREATE TABLE visit (
    id INTEGER PRIMARY KEY,
    page_id INTEGER NOT NULL REFERENCES page (id),
    visited_at_s REAL NOT NULL,
    outcome TEXT NOT NULL,
    status INTEGER,
    changed INTEGER, -- 1, 0, or NULL where the visit tells nothing
    interval_s REAL, -- since the last visit that told something
    fetch_s REAL NOT NULL,
    received_bytes INTEGER NOT NULL,
    note TEXT,
    -- How many changes listings had announced since the visit before: NULL where none says.
    signalled INTEGER,
    modified_s REAL, -- when the page last changed, as its server said
    seen_s REAL, -- of which instant the answer is, where a cache on the way gave it
    unheard_s REAL NOT NULL DEFAULT 0 -- part of the interval of which it was not heard what was announced
) STRICT;

CREATE INDEX visit_by_page ON visit (page_id, id);
CREATE INDEX visit_by_time ON visit (visited_at_s);

-- Pages whose entry in the index is being changed. Whoever finds a row here after a start must
-- make index and state agree about that page.
CREATE TABLE indexing (
    page_id INTEGER PRIMARY KEY REFERENCES page (id)
) STRICT;

CREATE TABLE plan (
    id INTEGER PRIMARY KEY,
    solved_at_s REAL NOT NULL,
    n_pages INTEGER NOT NULL,
    budget_per_s REAL NOT NULL,
    price REAL NOT NULL,
    freshness REAL NOT NULL,
    n_never_visited INTEGER NOT NULL,
    measure TEXT NOT NULL,
    clocks TEXT NOT NULL DEFAULT '' -- JSON: directories whose pages changed faster than usual then
) STRICT;

-- What people ask about a crawl that no other table tells, by name.
CREATE TABLE fact (
    name TEXT PRIMARY KEY,
    value REAL NOT NULL
) STRICT;

-- Visits that people asked for, and what came of each.
CREATE TABLE asked (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL,
    asked_at_s REAL NOT NULL,
    is_signal INTEGER NOT NULL DEFAULT 0, -- 1: somebody says that it has changed, and asks no more
    page_id INTEGER REFERENCES page (id), -- NULL: not taken up yet, or refused
    outcome TEXT, -- NULL: not visited yet
    note TEXT
) STRICT;

CREATE INDEX asked_open ON asked (page_id) WHERE outcome IS NULL;

-- Addresses that were found and not taken in, by host and reason.
CREATE TABLE refusal (
    host TEXT NOT NULL,
    why TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (host, why)
) STRICT, WITHOUT ROWID;

-- Texts by name: which version of the program wrote here last.
CREATE TABLE label (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

-- What changed pages said anew when their copies were replaced; the last thousand of them.
CREATE TABLE difference (
    id INTEGER PRIMARY KEY,
    page_id INTEGER NOT NULL REFERENCES page (id),
    found_at_s REAL NOT NULL,
    text TEXT NOT NULL -- lines that begin with + or -
) STRICT;

-- Feeds that a hub announces: what was asked of the hub, and what it granted.
CREATE TABLE subscription (
    id INTEGER PRIMARY KEY,
    topic TEXT NOT NULL UNIQUE, -- address that the hub announces
    hub TEXT NOT NULL,
    callback TEXT NOT NULL UNIQUE, -- end of the address that the hub calls; nobody guesses it
    secret TEXT NOT NULL,
    due_s REAL NOT NULL, -- when the hub is asked, or asked again
    asked_until_s REAL NOT NULL DEFAULT 0, -- until then the hub may verify what was asked
    until_s REAL NOT NULL DEFAULT 0, -- end of what it granted
    told_s REAL NOT NULL DEFAULT 0, -- last time that it told something
    failures INTEGER NOT NULL DEFAULT 0, -- in a row
    note TEXT
) STRICT;

-- Where the links of a page lead: 64-bit hashes of addresses; see learning/link_lists.py.
CREATE TABLE link_list (
    page_id INTEGER PRIMARY KEY REFERENCES page (id),
    targets BLOB NOT NULL
) STRICT;

-- How often people saw or asked for a page, by where that was counted; older counts have faded.
CREATE TABLE tally (
    page_id INTEGER NOT NULL REFERENCES page (id),
    source TEXT NOT NULL, -- searches, logs, table
    n REAL NOT NULL,
    at_s REAL NOT NULL, -- when it was last added to
    PRIMARY KEY (page_id, source)
) STRICT, WITHOUT ROWID;

-- What the revisit policy has learned from the visits of a page: bytes as control/revisiting/kept_beliefs.py
-- has them.
CREATE TABLE belief (
    page_id INTEGER PRIMARY KEY REFERENCES page (id),
    learned BLOB NOT NULL
) STRICT;

-- The same of what a host announces.
CREATE TABLE host_belief (
    host_id INTEGER PRIMARY KEY REFERENCES host (id),
    learned BLOB NOT NULL
) STRICT;

-- What became of the copies in the index: an outbox in the order of its numbers, written in the
-- transaction of what it tells. The latest entry of each page stays; others are dropped in time.
CREATE TABLE feed (
    seq INTEGER PRIMARY KEY, -- the last entry is the latest of its page, so no number comes again
    page_id INTEGER NOT NULL REFERENCES page (id),
    at_s REAL NOT NULL, -- when it was recorded; never before the one before
    kind TEXT NOT NULL, -- new, changed, moved, removed; importance: the copy is as it was
    version INTEGER NOT NULL, -- grows with every entry of the page
    signature BLOB, -- of the copy; NULL: there is none any more
    fetched_at_s REAL, -- NULL, as the title: the copy was only found again
    title TEXT,
    language TEXT NOT NULL DEFAULT '', -- as declared
    canonical TEXT, -- what the page calls its own address
    content_type TEXT NOT NULL DEFAULT '',
    moved_to TEXT,
    why TEXT, -- state of the page that is removed
    edit BLOB, -- unified diff to the copy before, compressed
    importance REAL -- weight of the page; NULL: not asked for
) STRICT;

CREATE INDEX feed_by_page ON feed (page_id, seq);

-- How far each sink has been told, and how it is doing.
CREATE TABLE delivery (
    sink TEXT PRIMARY KEY, -- its name in the configuration, without secrets
    seq INTEGER NOT NULL DEFAULT 0, -- everything up to here was delivered
    sending INTEGER NOT NULL DEFAULT 0, -- end of the batch that is being sent
    delivered INTEGER NOT NULL DEFAULT 0, -- entries in all
    dead INTEGER NOT NULL DEFAULT 0, -- entries that it does not take
    failures INTEGER NOT NULL DEFAULT 0, -- in a row
    failing_since_s REAL,
    tried_at_s REAL,
    next_s REAL, -- when it is tried again
    trouble TEXT
) STRICT, WITHOUT ROWID;

-- What a sink would not take, the latest of it.
CREATE TABLE dead_letter (
    id INTEGER PRIMARY KEY,
    sink TEXT NOT NULL,
    seq INTEGER NOT NULL,
    url TEXT NOT NULL,
    at_s REAL NOT NULL,
    why TEXT NOT NULL
) STRICT;

CREATE INDEX dead_letter_by_sink ON dead_letter (sink, id);
