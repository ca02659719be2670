-- What visits of a page brought stands with the page, whose row each visit writes anyway.
ALTER TABLE page ADD COLUMN births double precision,
    ADD COLUMN exposure_s double precision,
    ADD COLUMN births_again double precision,
    ADD COLUMN births_lead_s double precision;
UPDATE page SET births = n, exposure_s = birth.exposure_s, births_again = again, births_lead_s = lead_s
FROM birth WHERE birth.page_id = page.id;
DROP TABLE birth;
