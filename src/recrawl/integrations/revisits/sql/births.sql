-- When a page was born: between two visits of the page that it was found on. Since version 3.

ALTER TABLE page ADD COLUMN born_s REAL;
