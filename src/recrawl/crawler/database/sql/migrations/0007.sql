-- When a page would be due by its own rate alone, and which clocks of directories ran fast at a plan.
ALTER TABLE page ADD COLUMN own_due_s double precision;
ALTER TABLE plan ADD COLUMN clocks text NOT NULL DEFAULT '';
