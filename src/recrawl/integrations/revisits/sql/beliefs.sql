-- What was learned from the visits of pages, and of what hosts announce and date: bytes as
-- crawler/control/revisiting/kept_beliefs.py has them. Since version 2.

CREATE TABLE belief (
    page_id INTEGER PRIMARY KEY REFERENCES page (id),
    learned BLOB NOT NULL
) STRICT;

CREATE TABLE host_belief (
    host TEXT PRIMARY KEY,
    learned BLOB NOT NULL
) STRICT, WITHOUT ROWID;
