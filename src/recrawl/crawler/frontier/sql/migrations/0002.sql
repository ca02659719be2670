-- Whether a sitemap had announced a change since the visit before: 1, 0, or NULL where none says.
ALTER TABLE visit ADD COLUMN signalled INTEGER;
