-- How many changes listings have announced since a page was visited, not only that there was one, and
-- for how long others may have been announced of which nobody has read.
ALTER TABLE page ADD COLUMN n_announced integer NOT NULL DEFAULT 0;
ALTER TABLE page ADD COLUMN unheard_s double precision NOT NULL DEFAULT 0;
ALTER TABLE visit ADD COLUMN unheard_s double precision NOT NULL DEFAULT 0;
