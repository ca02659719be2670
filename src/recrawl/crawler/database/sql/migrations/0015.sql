-- What a host repeats is left out of the text of its copies, and what is learned of hosts is kept.
CREATE TABLE host_notes (
    host text NOT NULL,
    kind text NOT NULL, -- of the notes: 'repeated' or 'drawn'
    notes bytea NOT NULL, -- as MessagePack
    PRIMARY KEY (host, kind)
);

-- Copies are searched by the rules of the index of one machine: words holds all lexemes, named those
-- of all but the text. Copies of before have none of these; their owners add them little by little.
DROP INDEX document_by_stems;
ALTER TABLE document DROP COLUMN stems;
ALTER TABLE document ADD COLUMN left_out text NOT NULL DEFAULT '',
    ADD COLUMN named tsvector,
    ADD COLUMN n_words integer NOT NULL DEFAULT 0,
    ADD COLUMN content bigint; -- hash of title and text
CREATE INDEX document_of_before ON document (shard) WHERE named IS NULL;

-- Words of titles, headings and addresses, for those that are typed in part or misspelt.
CREATE TABLE word (word text COLLATE "C" PRIMARY KEY);
