-- How many pages that a process keeps fresh an IP address serves, where hosts of one are asked as one:
-- plans share by that what it allows.
CREATE TABLE ip_address_pages (
    text text NOT NULL,
    process bigint NOT NULL,
    pages bigint NOT NULL,
    PRIMARY KEY (text, process)
);
