-- A single pass: whether a process has no page left to visit, and whether the pass of all is over.
ALTER TABLE process ADD COLUMN is_done boolean NOT NULL DEFAULT false;
ALTER TABLE process ADD COLUMN is_over boolean NOT NULL DEFAULT false;
