-- The first schema.

CREATE TABLE host (
    id INTEGER PRIMARY KEY,
    host TEXT NOT NULL UNIQUE, -- scheme, name and port
    robots_status INTEGER, -- of the last answer to /robots.txt; NULL: none came
    robots_body BLOB,
    robots_until_s REAL NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    blocked_until_s REAL NOT NULL DEFAULT 0,
    blocked_why TEXT
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
    visited INTEGER NOT NULL DEFAULT 0, -- 0: never, and so of the discovery share
    lease_token INTEGER,
    leased_until_s REAL NOT NULL DEFAULT 0,
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
    crawl_rate_per_s REAL
) STRICT;

CREATE INDEX page_by_due ON page (host_id, visited, due_s);
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
    note TEXT
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
    measure TEXT NOT NULL
) STRICT;

-- What people ask about a crawl that no other table tells, by name.
CREATE TABLE fact (
    name TEXT PRIMARY KEY,
    value REAL NOT NULL
) STRICT;
