-- What is put off as nothing new is counted without a look at all that was never visited.
CREATE INDEX page_put_off ON page (host_id)
    WHERE tier = 0 AND due_why = 'addresses of its kind have brought nothing new: only few of them are tried';
-- Counts by state, and pages that are gone or have moved, are found without a look at all.
CREATE INDEX page_by_state ON page (state, kind);
