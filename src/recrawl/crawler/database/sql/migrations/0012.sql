-- When pages were born that a page led to which had been read without them.
ALTER TABLE page ADD COLUMN born_s double precision;
