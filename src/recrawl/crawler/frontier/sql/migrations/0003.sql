-- In which of its host's queues a page waits: -1 somebody asked for it, 0 never visited, 1 its due
-- time is fixed, from 2 on it is due by what a visit is worth, one queue for each octave of its
-- interval. Pages that a plan knows stand in the one of a day until they are visited next.
ALTER TABLE page RENAME COLUMN visited TO tier;
UPDATE page SET tier = 19
WHERE kind = 'page' AND state = 'indexed' AND failures = 0 AND crawl_rate_per_s IS NOT NULL;

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
