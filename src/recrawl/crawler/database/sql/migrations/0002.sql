-- What only one process does at a time (bringing changes to sinks), who does, and until when. Whoever
-- writes down what was done locks the row first, and sees that it is still its turn.
CREATE TABLE turn (
    name text PRIMARY KEY,
    holder text NOT NULL,
    until_s double precision NOT NULL
) WITH (fillfactor = 50);
