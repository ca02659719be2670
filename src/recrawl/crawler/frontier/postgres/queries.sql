-- The statements that PostgreSQL says otherwise than SQLite; those not here are the same.

-- Every process plans its own shards: together they are the plan.
-- name: last_plan
SELECT max(solved_at_s), sum(n_pages)::bigint, sum(budget_per_s), max(price),
    sum(freshness * n_pages) / greatest(sum(n_pages), 1), sum(n_never_visited)::bigint, min(measure),
    coalesce(string_agg(nullif(clocks, ''), chr(10)), '')
FROM (
    SELECT DISTINCT ON (process) * FROM plan
    WHERE process IS NULL OR process IN (SELECT id FROM process WHERE NOT ended)
        OR NOT EXISTS (SELECT 1 FROM process WHERE NOT ended)
            AND process = (SELECT process FROM plan ORDER BY id DESC LIMIT 1)
    ORDER BY process, id DESC
) AS latest HAVING count(*) > 0;


-- name: export_visits
SELECT page.url AS url,
    to_char(to_timestamp(visited_at_s) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS visited_at,
    visited_at_s, outcome, status, changed, interval_s, fetch_s AS fetch_seconds,
    received_bytes AS bytes, note
FROM visit JOIN page ON page.id = visit.page_id ORDER BY visit.id;

-- name: outcomes_over_time
SELECT floor((visited_at_s - :since_s) / :step_s)::int, outcome, count(*) FROM visit
WHERE visited_at_s >= :since_s GROUP BY 1, 2;


-- name: last_seen
SELECT url, last_visit_s FROM page
WHERE md5(url)::uuid IN (SELECT md5(value)::uuid FROM json_array_elements_text(:urls::json))
    AND last_visit_s IS NOT NULL;

-- name: troubles
SELECT outcome, status, CASE WHEN status IS NULL THEN split_part(note, ':', 1) END AS sort, count(*),
    count(DISTINCT page_id), max(id)
FROM visit WHERE id > :after AND outcome IN ('failed', 'server-error', 'throttled', 'denied', 'too-large', 'poison', 'not-found')
GROUP BY outcome, status, sort ORDER BY count(*) DESC LIMIT :limit;

-- name: spending
WITH latest AS (
    SELECT visit.id, visit.page_id, visit.visited_at_s, visit.outcome,
        CASE WHEN page.kind <> 'page' THEN 'listings'
            WHEN visit.id = (SELECT min(id) FROM visit AS first WHERE first.page_id = visit.page_id) THEN 'first'
            ELSE 'again' END AS purpose
    FROM visit JOIN page ON page.id = visit.page_id WHERE visit.id > :after
), born AS (
    SELECT latest.id, count(*) AS n FROM latest JOIN page AS found ON found.found_on = latest.page_id
    WHERE found.discovered_s >= latest.visited_at_s AND found.discovered_s < coalesce(
        (SELECT min(visited_at_s) FROM visit AS next WHERE next.page_id = latest.page_id AND next.id > latest.id), 1e300)
    GROUP BY latest.id
)
SELECT purpose, count(*), count(*) FILTER (WHERE outcome = 'new'), count(*) FILTER (WHERE outcome = 'changed'),
    count(*) FILTER (WHERE outcome IN ('failed', 'server-error', 'throttled', 'denied', 'too-large', 'poison', 'not-found')),
    coalesce(sum(born.n), 0)::bigint
FROM latest LEFT JOIN born ON born.id = latest.id GROUP BY purpose ORDER BY count(*) DESC;

-- name: ask
INSERT INTO asked (shard, url, asked_at_s, is_signal) VALUES (:shard, :url, :now_s, :is_signal) RETURNING id;

-- name: untold
SELECT page.id FROM page
WHERE CASE WHEN kind = 'page' AND state IN ('indexed', 'missing', 'discovered') THEN signature END IS DISTINCT FROM
    (SELECT feed.signature FROM feed WHERE feed.page_id = page.id ORDER BY seq DESC LIMIT 1)
ORDER BY page.id;

-- name: live
SELECT seq, at_s, feed.kind, url, version, feed.signature, fetched_at_s, feed.title, language, canonical, content_type, moved_to, why,
    NULL, true, feed.importance
FROM feed JOIN page ON page.id = feed.page_id
WHERE seq > :after AND feed.signature IS NOT NULL
    AND seq = (SELECT max(seq) FROM feed AS newer WHERE newer.page_id = feed.page_id AND (:importance OR newer.kind <> 'importance'))
ORDER BY seq LIMIT nullif(:limit, -1);

-- Locked until the transaction ends: no other process begins its turn in between.
-- name: hold_turn
SELECT 1 FROM turn WHERE name = :name AND holder = :holder FOR UPDATE;
