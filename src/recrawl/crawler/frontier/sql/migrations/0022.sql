-- Hosts that said of pages which had changed that they are not modified.
ALTER TABLE host ADD COLUMN is_read_in_full INTEGER NOT NULL DEFAULT 0;
