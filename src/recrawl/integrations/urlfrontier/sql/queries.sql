-- name: known_ids
SELECT id FROM page WHERE id IN (SELECT value FROM json_each(:ids));

-- name: known_pages
SELECT * FROM page WHERE id IN (SELECT value FROM json_each(:ids));

-- name: put_back
UPDATE page SET request = :request WHERE id = :id;

-- name: next_of_queue
SELECT id, due_s, visits, request FROM page WHERE spider = :crawl AND host = :name
ORDER BY due_s LIMIT :limit;

-- name: unvisited_of_queue
SELECT id, due_s, visits, request FROM page
WHERE spider = :crawl AND host = :name AND visits = 0 ORDER BY due_s LIMIT :limit;

-- name: queues
SELECT spider, host, min(due_s) FROM page GROUP BY spider, host;

-- name: said_of_queues
SELECT crawl, name, delay_s, blocked_until_s FROM queue;

-- name: say_of_queue
INSERT INTO queue (crawl, name, delay_s, blocked_until_s)
VALUES (:crawl, :name, :delay_s, :blocked_until_s)
ON CONFLICT (crawl, name)
DO UPDATE SET delay_s = excluded.delay_s, blocked_until_s = excluded.blocked_until_s;

-- name: forget_queue
DELETE FROM queue WHERE crawl = :crawl AND (:name IS NULL OR name = :name);

-- name: queue_counts
SELECT host, count(*), sum(due_s < 9e999) FROM page
WHERE spider = :crawl AND (:name IS NULL OR host = :name) GROUP BY host ORDER BY host;

-- name: some_pages
SELECT request, due_s, discovered_s FROM page
WHERE spider = :crawl AND (:name IS NULL OR host = :name)
    AND (:text = '' OR iif(:folded, instr(lower(url), :text), instr(url, :text)) > 0)
ORDER BY id LIMIT :limit OFFSET :start;

-- name: count_pages
SELECT count(*) FROM page
WHERE spider = :crawl AND (:name IS NULL OR host = :name)
    AND (:text = '' OR iif(:folded, instr(lower(url), :text), instr(url, :text)) > 0);

-- name: forget_visits
DELETE FROM visit WHERE page_id IN (
    SELECT id FROM page WHERE spider = :crawl AND (:name IS NULL OR host = :name)
        AND discovered_s < :before_s
);

-- name: forget_pages
DELETE FROM page WHERE spider = :crawl AND (:name IS NULL OR host = :name)
    AND discovered_s < :before_s;
