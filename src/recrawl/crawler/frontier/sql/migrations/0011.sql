-- Whether a page's server says that it holds for good.
ALTER TABLE page ADD COLUMN is_lasting INTEGER NOT NULL DEFAULT 0;
