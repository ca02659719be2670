-- What a host repeats is left out of the text of its copies, and what is learned of hosts is kept.
ALTER TABLE document ADD COLUMN left_out text NOT NULL DEFAULT '';
CREATE TABLE host_notes (
    host text NOT NULL,
    kind text NOT NULL, -- of the notes: 'repeated' or 'drawn'
    notes bytea NOT NULL, -- as MessagePack
    PRIMARY KEY (host, kind)
);
