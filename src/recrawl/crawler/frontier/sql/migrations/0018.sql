-- Leases end with their process, which keeps them in a table of its connection: see store.py.
ALTER TABLE page DROP COLUMN lease_token;
ALTER TABLE page DROP COLUMN leased_until_s;
