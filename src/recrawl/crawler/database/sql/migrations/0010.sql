-- What the revisit policy has learned from the visits of pages, and of what hosts announce.
CREATE TABLE belief (
    page_id bigint PRIMARY KEY,
    learned bytea NOT NULL
) WITH (fillfactor = 75);
CREATE TABLE host_belief (
    host_id bigint PRIMARY KEY,
    learned bytea NOT NULL
);
