-- Pages, every visit, and plans. Instants: seconds since the epoch, UTC.

CREATE TABLE page (
    id INTEGER PRIMARY KEY, -- hash of what makes it one
    spider TEXT NOT NULL, -- or the crawl that it belongs to
    url TEXT NOT NULL,
    host TEXT NOT NULL, -- what is visited at a pace of its own
    request BLOB NOT NULL, -- as whoever visits it wants it back
    priority INTEGER NOT NULL, -- of its first visit, high ones first
    weight REAL NOT NULL,
    state TEXT NOT NULL,
    discovered_s REAL NOT NULL,
    due_s REAL NOT NULL,
    due_why TEXT NOT NULL,
    visits INTEGER NOT NULL DEFAULT 0,
    changes INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0, -- visits in a row that told nothing
    last_visit_s REAL, -- the last that told changed or unchanged
    last_status INTEGER,
    etag TEXT,
    last_modified TEXT,
    signature BLOB,
    memory BLOB, -- what the revisit policy keeps of the page
    change_rate_per_s REAL,
    change_rate_factor REAL,
    crawl_rate_per_s REAL
) STRICT;

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
    n_items INTEGER NOT NULL, -- that the pipelines were given
    modified_s REAL, -- when the page last changed, as its server said
    note TEXT
) STRICT;

CREATE INDEX visit_by_page ON visit (page_id, id);

CREATE TABLE plan (
    id INTEGER PRIMARY KEY,
    solved_at_s REAL NOT NULL,
    n_pages INTEGER NOT NULL,
    budget_per_s REAL NOT NULL,
    price REAL NOT NULL,
    freshness REAL NOT NULL
) STRICT;

-- Numbers by name: what is left of the budget, and since when.
CREATE TABLE fact (
    name TEXT PRIMARY KEY,
    value REAL NOT NULL
) STRICT;
