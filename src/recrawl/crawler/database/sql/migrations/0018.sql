-- What visits of a page brought stands with the page, whose row each visit writes anyway. The rows are
-- put in anew: written over where they lie, they would leave as much room again behind them.
CREATE UNLOGGED TABLE page_with_births AS
    SELECT page.*, nullif(n, 0) AS births, exposure_s, nullif(again, 0) AS births_again,
        nullif(lead_s, 0) AS births_lead_s
    FROM page LEFT JOIN birth ON page_id = id;
ALTER TABLE page ADD COLUMN births double precision,
    ADD COLUMN exposure_s double precision,
    ADD COLUMN births_again double precision,
    ADD COLUMN births_lead_s double precision;
TRUNCATE page;
INSERT INTO page SELECT * FROM page_with_births;
DROP TABLE page_with_births, birth;
