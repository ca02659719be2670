-- Addresses of queues, in the order in which they are due, and what was said of queues.

CREATE INDEX page_of_queue ON page (spider, host, due_s);
CREATE INDEX page_unvisited ON page (spider, host, due_s) WHERE visits = 0;

CREATE TABLE queue (
    crawl TEXT NOT NULL,
    name TEXT NOT NULL,
    delay_s REAL, -- between two times that it is asked; NULL: as all
    blocked_until_s REAL NOT NULL DEFAULT 0,
    PRIMARY KEY (crawl, name)
) STRICT, WITHOUT ROWID;
