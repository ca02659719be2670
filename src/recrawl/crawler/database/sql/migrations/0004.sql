-- Whether a page's server says that it holds for good.
ALTER TABLE page ADD COLUMN is_lasting integer NOT NULL DEFAULT 0;
