-- Requests that wait for their first visit, and those that come back.

CREATE INDEX page_by_due ON page (spider, due_s) WHERE visits > 0;
CREATE INDEX page_new ON page (spider, priority DESC, due_s) WHERE visits = 0;
