-- What the revisit policy has learned from the visits of pages, and of what hosts announce.
CREATE TABLE belief (
    page_id INTEGER PRIMARY KEY REFERENCES page (id),
    learned BLOB NOT NULL
) STRICT;
CREATE TABLE host_belief (
    host_id INTEGER PRIMARY KEY REFERENCES host (id),
    learned BLOB NOT NULL
) STRICT;
