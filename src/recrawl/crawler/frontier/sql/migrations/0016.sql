-- Of which instant the answer of a visit is, where a cache on the way gave it.
ALTER TABLE page ADD COLUMN seen_s REAL;
ALTER TABLE visit ADD COLUMN seen_s REAL;
