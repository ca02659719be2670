-- What set a due time is kept, no longer guessed; and what a revisit policy remembers of a page.
ALTER TABLE page ADD COLUMN due_why TEXT;
ALTER TABLE page ADD COLUMN policy_memory BLOB;
UPDATE page SET due_why = 'set by an earlier version' WHERE visits > 0;
