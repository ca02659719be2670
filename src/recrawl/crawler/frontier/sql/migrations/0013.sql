-- What the announcements of a host have proved to be worth, and until when they were read.
ALTER TABLE host ADD COLUMN announced_recall REAL;
ALTER TABLE host ADD COLUMN announced_precision REAL;
ALTER TABLE host ADD COLUMN heard_s REAL;
