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
