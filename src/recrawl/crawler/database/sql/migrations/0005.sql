-- What the page of a copy is worth, where the feed is to say so.
ALTER TABLE feed ADD COLUMN importance double precision;
-- By which rules a copy was read.
ALTER TABLE page ADD COLUMN read_as bigint;
