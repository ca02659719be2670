-- What pages are worth by the evidence, who found them first, and what new addresses pages bring.
ALTER TABLE page ADD COLUMN importance REAL;
ALTER TABLE page ADD COLUMN importance_parts TEXT;
ALTER TABLE page ADD COLUMN found_on INTEGER;
CREATE INDEX page_new ON page (host_id, weight DESC, due_s) WHERE tier = 0;
CREATE INDEX page_by_finder ON page (found_on) WHERE found_on IS NOT NULL;
CREATE TABLE link_list (
    page_id INTEGER PRIMARY KEY REFERENCES page (id),
    targets BLOB NOT NULL
) STRICT;
CREATE TABLE tally (
    page_id INTEGER NOT NULL REFERENCES page (id),
    source TEXT NOT NULL,
    n REAL NOT NULL,
    at_s REAL NOT NULL,
    PRIMARY KEY (page_id, source)
) STRICT, WITHOUT ROWID;
CREATE TABLE birth (
    page_id INTEGER PRIMARY KEY REFERENCES page (id),
    n REAL NOT NULL DEFAULT 0,
    exposure_s REAL NOT NULL DEFAULT 0,
    again REAL NOT NULL DEFAULT 0,
    lead_s REAL NOT NULL DEFAULT 0
) STRICT;
