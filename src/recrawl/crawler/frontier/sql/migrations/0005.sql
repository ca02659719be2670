-- What changed pages said anew when their copies were replaced; the last thousand of them.
CREATE TABLE difference (
    id INTEGER PRIMARY KEY,
    page_id INTEGER NOT NULL REFERENCES page (id),
    found_at_s REAL NOT NULL,
    text TEXT NOT NULL -- lines that begin with + or -
) STRICT;
