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
