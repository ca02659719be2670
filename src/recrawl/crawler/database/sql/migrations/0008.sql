-- Where the name of a host led last, and until when the server there is left alone.
ALTER TABLE host ADD COLUMN ip_address text;
ALTER TABLE host ADD COLUMN ip_blocked_until_s double precision NOT NULL DEFAULT 0;

-- Which process may ask an IP address, where hosts of one are asked as one; who waits for it, and
-- when that was last heard; and what the next owner is to know. An owner ends with its process.
CREATE TABLE ip_address (
    text text PRIMARY KEY,
    owner bigint,
    wanted_by bigint,
    wanted_s double precision NOT NULL DEFAULT 0,
    rest_s double precision NOT NULL DEFAULT 0, -- until when an owner may have asked it
    delay_s double precision NOT NULL DEFAULT 0, -- the longest of its hosts that was told
    delay_told_s double precision NOT NULL DEFAULT 0,
    blocked_until_s double precision NOT NULL DEFAULT 0,
    failures integer NOT NULL DEFAULT 0,
    blocked_why text
) WITH (fillfactor = 50);
CREATE INDEX ip_address_by_owner ON ip_address (owner) WHERE owner IS NOT NULL;
