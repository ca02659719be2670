-- Where the name of a host led last, and until when the server there is left alone.
ALTER TABLE host ADD COLUMN ip_address TEXT;
ALTER TABLE host ADD COLUMN ip_blocked_until_s REAL NOT NULL DEFAULT 0;
