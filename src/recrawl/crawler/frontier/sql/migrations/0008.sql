-- When the page last changed, as its server said at the visit (Last-Modified).
ALTER TABLE visit ADD COLUMN modified_s REAL;
