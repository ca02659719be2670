-- Of which instant the answer of a visit is, where a cache on the way gave it.
ALTER TABLE page ADD COLUMN seen_s double precision;
ALTER TABLE visit ADD COLUMN seen_s double precision;
-- The time between requests that a host shows to want.
ALTER TABLE host ADD COLUMN rest_s double precision NOT NULL DEFAULT 0;
