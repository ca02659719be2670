-- What became of the copies in the index. Pages that have one are told of to begin with.
CREATE TABLE feed (
    seq INTEGER PRIMARY KEY,
    page_id INTEGER NOT NULL REFERENCES page (id),
    at_s REAL NOT NULL,
    kind TEXT NOT NULL,
    version INTEGER NOT NULL,
    signature BLOB,
    fetched_at_s REAL,
    title TEXT,
    language TEXT NOT NULL DEFAULT '',
    canonical TEXT,
    content_type TEXT NOT NULL DEFAULT '',
    moved_to TEXT,
    why TEXT,
    edit BLOB
) STRICT;
CREATE INDEX feed_by_page ON feed (page_id, seq);
INSERT INTO feed (page_id, at_s, kind, version, signature, fetched_at_s, title)
SELECT id, now_s, 'new', CAST(1000 * now_s AS INTEGER), signature, indexed_at_s, title
FROM page, (SELECT (julianday('now') - 2440587.5) * 86400.0 AS now_s)
WHERE kind = 'page' AND state IN ('indexed', 'missing', 'discovered') AND signature IS NOT NULL
ORDER BY indexed_at_s, id;
CREATE TABLE delivery (
    sink TEXT PRIMARY KEY,
    seq INTEGER NOT NULL DEFAULT 0,
    sending INTEGER NOT NULL DEFAULT 0,
    delivered INTEGER NOT NULL DEFAULT 0,
    dead INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    failing_since_s REAL,
    tried_at_s REAL,
    next_s REAL,
    trouble TEXT
) STRICT, WITHOUT ROWID;
CREATE TABLE dead_letter (
    id INTEGER PRIMARY KEY,
    sink TEXT NOT NULL,
    seq INTEGER NOT NULL,
    url TEXT NOT NULL,
    at_s REAL NOT NULL,
    why TEXT NOT NULL
) STRICT;
CREATE INDEX dead_letter_by_sink ON dead_letter (sink, id);
