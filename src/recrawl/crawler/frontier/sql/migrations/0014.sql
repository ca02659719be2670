-- When a page would be due by its own rate alone, and which clocks of directories ran fast at a plan.
ALTER TABLE page ADD COLUMN own_due_s REAL;
ALTER TABLE plan ADD COLUMN clocks TEXT NOT NULL DEFAULT '';
