-- Every query of the SQLite frontier. A block begins with its name; parameters are named.

-- name: known_host
SELECT id FROM host WHERE host = :host;

-- name: add_host
INSERT INTO host (id, host) VALUES (:host_id, :host) RETURNING id;

-- name: hosts
SELECT id, host, robots_status, robots_body, robots_until_s, failures, blocked_until_s, blocked_why,
    ip_address, ip_blocked_until_s, rest_s, is_read_in_full
FROM host ORDER BY id;

-- name: one_host
SELECT id, host, robots_status, robots_body, robots_until_s, failures, blocked_until_s, blocked_why,
    ip_address, ip_blocked_until_s, rest_s, is_read_in_full
FROM host WHERE id = :host_id;

-- The first of each queue, over the index alone; leased pages count.
-- name: tiers_of_hosts
SELECT host_id, tier, min(due_s) FROM page GROUP BY host_id, tier;

-- name: tiers_of_host
SELECT tier FROM page WHERE host_id = :host_id GROUP BY tier;

-- The first due time of each of several queues; leased pages count.
-- name: heads
SELECT (SELECT due_s FROM page WHERE host_id = :host_id AND tier = value ORDER BY due_s LIMIT 1), value
FROM json_each(:tiers);

-- name: next_due
SELECT id, due_s FROM page WHERE host_id = :host_id AND tier = +:tier ORDER BY due_s LIMIT :limit;

-- name: save_host
UPDATE host SET robots_status = :robots_status, robots_body = :robots_body,
    robots_until_s = :robots_until_s, failures = :failures,
    blocked_until_s = :blocked_until_s, blocked_why = :blocked_why,
    ip_address = :ip_address, ip_blocked_until_s = :ip_blocked_until_s,
    rest_s = :rest_s, is_read_in_full = :is_read_in_full
WHERE id = :host_id;

-- name: save_announcer
UPDATE host SET announced_recall = :recall, announced_precision = :precision, heard_s = :heard_s
WHERE id = :host_id;

-- name: announcers
SELECT id, announced_recall, announced_precision, heard_s FROM host
WHERE announced_precision > 0;

-- name: n_pages
SELECT count(*) FROM page;

-- name: n_pages_of_host
SELECT count(*) FROM page WHERE host_id = :host_id;

-- name: n_variants
SELECT count(*) FROM page WHERE variant_of = :variant_of;

-- name: vacated
SELECT host_id, variant_of, count(*) FROM page WHERE state IN ('gone', 'moved') GROUP BY host_id, variant_of;

-- name: variant_of_page
SELECT variant_of FROM page WHERE id = :page_id;

-- name: known_page
SELECT id FROM page WHERE url = :url;

-- name: admit
INSERT OR IGNORE INTO page
    (id, url, host_id, kind, state, depth, hops, weight, variant_of, discovered_s, lastmod_s, due_s,
    importance, found_on, born_s)
VALUES (:page_id, :url, :host_id, :kind, 'discovered', :depth, :hops, :weight * coalesce(:importance, 1.0),
    :variant_of, :now_s, :lastmod_s, :now_s, :importance, :found_on,
    (SELECT (last_visit_s + :now_s) / 2 FROM page WHERE id = :found_on AND due_why IS NOT :widened));

-- name: note_lastmod
UPDATE page SET lastmod_s = :lastmod_s, found_on = coalesce(:found_on, found_on),
    n_announced = n_announced + coalesce(
        :lastmod_s > max(coalesce(seen_s, last_visit_s), coalesce(lastmod_s, 0)), 0),
    unheard_s = unheard_s + coalesce(max(0, :lastmod_s - max(
        coalesce(seen_s, last_visit_s), coalesce(lastmod_s, 0), CASE WHEN :found_on IS NULL THEN :lastmod_s
            ELSE coalesce((SELECT last_visit_s FROM page WHERE id = :found_on), 0) END)), 0)
WHERE url = :url AND :lastmod_s IS NOT NULL;

-- name: due_tiers
SELECT value FROM json_each(:tiers) WHERE EXISTS (
    SELECT 1 FROM page WHERE host_id = :host_id AND tier = value AND due_s <= :due_by_s
);

-- The first of a queue, earliest due first. Leased pages keep their due time, so the few of them are stepped over.
-- A parameter that is compared with what a partial index is about has SQLite prepare the statement anew for
-- every value, which takes longer than the rest: the plus sign has it not see that.
-- name: due
SELECT id, url, due_s, kind, state, depth, hops, failures, etag, last_modified, signature,
    raw_hash, last_visit_s, crawl_rate_per_s, weight, change_rate_per_s, coalesce(policy_memory, x''), tier,
    coalesce(read_as, 0), seen_s
FROM page
WHERE host_id = :host_id AND tier = +:tier AND due_s <= :due_by_s
ORDER BY due_s LIMIT :limit;

-- Pages never visited, those of most weight first.
-- name: due_new
SELECT id, url, due_s, kind, state, depth, hops, failures, etag, last_modified, signature,
    raw_hash, last_visit_s, crawl_rate_per_s, weight, change_rate_per_s, coalesce(policy_memory, x''), tier,
    coalesce(read_as, 0), seen_s
FROM page INDEXED BY page_new
WHERE host_id = :host_id AND tier = 0 AND due_s <= :due_by_s
ORDER BY weight DESC, due_s LIMIT :limit;

-- name: put_off
UPDATE page SET due_s = :due_s, due_why = :why, tier = min(tier, 1) WHERE id = :page_id;

-- name: bring_forward
UPDATE page SET due_s = :now_s, due_why = NULL
WHERE id IN (SELECT value FROM json_each(:page_ids)) AND tier = 0 AND due_s > :now_s;

-- name: look_beside
UPDATE page SET due_s = :due_s, due_why = :why
WHERE id IN (
    SELECT id FROM (
        SELECT beside.id, beside.url FROM (
            SELECT id, url, host_id, kind, state, failures, due_s, last_visit_s FROM page
            WHERE url > (SELECT url FROM page WHERE id = :page_id)
            ORDER BY url LIMIT :near
        ) AS beside JOIN page AS gone ON gone.id = :page_id AND beside.host_id = gone.host_id
        WHERE beside.kind = 'page' AND beside.failures = 0
            AND beside.due_s > :due_s AND beside.last_visit_s < :before_s
            AND CASE WHEN :is_back = 0 THEN beside.state = 'indexed'
                ELSE beside.state IN ('gone', 'moved') AND NOT EXISTS (
                    SELECT 1 FROM visit WHERE page_id = beside.id AND visited_at_s >= :before_s
                ) END
        ORDER BY beside.url LIMIT :each
    )
    UNION ALL
    SELECT id FROM (
        SELECT beside.id, beside.url FROM (
            SELECT id, url, host_id, kind, state, failures, due_s, last_visit_s FROM page
            WHERE url < (SELECT url FROM page WHERE id = :page_id)
            ORDER BY url DESC LIMIT :near
        ) AS beside JOIN page AS gone ON gone.id = :page_id AND beside.host_id = gone.host_id
        WHERE beside.kind = 'page' AND beside.failures = 0
            AND beside.due_s > :due_s AND beside.last_visit_s < :before_s
            AND CASE WHEN :is_back = 0 THEN beside.state = 'indexed'
                ELSE beside.state IN ('gone', 'moved') AND NOT EXISTS (
                    SELECT 1 FROM visit WHERE page_id = beside.id AND visited_at_s >= :before_s
                ) END
        ORDER BY beside.url DESC LIMIT :each
    )
);

-- name: visited
WITH seen AS (
    SELECT * FROM page WHERE variant_of IS NOT NULL AND visits > 0 AND kind = 'page'
    UNION ALL
    SELECT * FROM page
    WHERE id > (SELECT max(id) FROM page) - :latest AND variant_of IS NULL AND visits > 0
        AND kind = 'page'
)
SELECT url, state, signature, last_status, changes, indexed_at_s FROM seen
WHERE state != 'moved'
    AND (state != 'excluded' OR NOT EXISTS (SELECT 1 FROM page WHERE found_on = seen.id));

-- name: defer
UPDATE page SET due_s = max(due_s, :due_s), failures = failures + 1, tier = 1 WHERE id = :page_id;

-- name: begin_indexing
INSERT OR IGNORE INTO indexing (page_id) VALUES (:page_id);

-- name: in_indexing
SELECT page.id, page.url, page.signature FROM indexing JOIN page ON page.id = indexing.page_id
ORDER BY page.id;

-- name: end_indexing
DELETE FROM indexing WHERE page_id = :page_id;

-- What the index holds becomes what the state says; without validators the next visit is full.
-- name: reconcile
UPDATE page SET signature = :signature, etag = NULL, last_modified = NULL, raw_hash = NULL,
    due_s = min(due_s, :now_s), due_why = :why,
    state = CASE WHEN :signature IS NOT NULL THEN 'indexed'
                 WHEN state = 'indexed' THEN 'discovered' ELSE state END
WHERE id = :page_id;

-- What the listing says that a page was found in was heard when that was read last, be it after the last plan. Of
-- other pages nobody knows what was to be heard until a first plan has seen announcements of the host.
-- name: add_visit
INSERT INTO visit (page_id, visited_at_s, outcome, status, changed, interval_s, fetch_s,
    received_bytes, note, modified_s, seen_s, signalled, unheard_s)
VALUES (:page_id, :visited_at_s, :outcome, :status, :changed, :interval_s, :fetch_s,
    :received_bytes, :note, :modified_s, :seen_s,
    (SELECT (lastmod_s > coalesce(seen_s, last_visit_s)) * max(n_announced, 1)
     FROM page WHERE id = :page_id),
    coalesce((SELECT page.unheard_s + coalesce(max(0, :visited_at_s - max(coalesce(page.seen_s, page.last_visit_s),
            coalesce(heard_s, listing.last_visit_s,
                iif(page.lastmod_s IS NULL OR page.n_announced, :visited_at_s, 0)),
            coalesce(listing.last_visit_s, 0))), 0)
        FROM page JOIN host ON host.id = page.host_id
            LEFT JOIN page AS listing ON listing.id = page.found_on AND listing.kind <> 'page'
        WHERE page.id = :page_id), 0));

-- name: complete
UPDATE page SET tier = :tier, visits = visits + 1,
    changes = changes + :change, failures = :failures, due_s = :due_s,
    due_why = :due_why, own_due_s = NULL, policy_memory = :memory,
    seen_s = iif(:told_s IS NULL, seen_s, :seen_s),
    n_announced = iif(:told_s IS NULL, n_announced, 0),
    unheard_s = iif(:told_s IS NULL, unheard_s, 0),
    last_visit_s = coalesce(:told_s, last_visit_s), last_status = coalesce(:status, last_status),
    indexed_at_s = CASE WHEN :copied THEN :visited_at_s ELSE indexed_at_s END,
    etag = :etag, last_modified = :last_modified, signature = :signature, raw_hash = :raw_hash,
    title = coalesce(:title, title), redirect_url = :redirect_url,
    is_lasting = coalesce(:lasting, is_lasting),
    read_as = coalesce(:read_as, read_as),
    births = :kept * births, exposure_s = coalesce(:kept * exposure_s, 0) + :exposed_s,
    births_again = :kept * births_again, births_lead_s = :kept * births_lead_s
WHERE id = :page_id;

-- Apart from the rest, as few visits change it, and setting it writes page_by_state anew in any case.
-- name: complete_state
UPDATE page SET state = :state WHERE id = :page_id AND state <> :state;

-- Pages with a copy, and by which rules that was read; those of most weight first.
-- name: read_as
SELECT id, url, coalesce(read_as, 0) FROM page
WHERE kind = 'page' AND state IN ('indexed', 'missing') AND signature IS NOT NULL
ORDER BY weight DESC, id;

-- name: make_read_again
UPDATE page SET due_s = :due_s, due_why = :why WHERE id = :page_id AND due_s > :due_s;

-- Pages that a reach which has become wider concerns: moved, not taken in, or read before.
-- name: before_widened
SELECT id, url, kind, state, due_why, redirect_url FROM page
WHERE (state IN ('indexed', 'excluded', 'moved') OR due_why = :outside)
    AND NOT EXISTS (SELECT 1 FROM visit WHERE page_id = page.id AND visited_at_s >= :since_s)
ORDER BY weight DESC, id;

-- name: read_rules_before
UPDATE host SET robots_until_s = 0 WHERE robots_until_s < :since_s + 86400;

-- name: read_whole
UPDATE page SET due_s = CASE WHEN due_s > :due_s THEN :due_s ELSE due_s END,
    due_why = CASE WHEN due_s > :due_s THEN :why ELSE due_why END,
    etag = NULL, last_modified = NULL, raw_hash = NULL
WHERE id = :page_id;

-- name: moves
SELECT host.host, to_host, n, (SELECT count(*) FROM page WHERE host_id = host.id AND kind = 'page' AND visits > 0)
FROM (
    SELECT host_id, substr(redirect_url, 1, 7 + instr(substr(redirect_url, 9), '/')) AS to_host, count(*) AS n
    FROM page WHERE kind = 'page' AND state = 'moved' AND redirect_url IS NOT NULL GROUP BY host_id, to_host
) AS moved JOIN host ON host.id = host_id
WHERE to_host <> host.host ORDER BY n DESC, host.host, to_host LIMIT 1000;

-- A crawl rate of 0 has no interval of its own.
-- Pages never visited wait for the reason that they waited for.
-- name: make_due_by
UPDATE page SET due_s = :now_s + max(:longest_s, coalesce(1.0 / nullif(crawl_rate_per_s, 0), 0)),
    due_why = CASE WHEN tier = 0 THEN due_why ELSE :why END
WHERE due_s > :now_s + max(:longest_s, coalesce(1.0 / nullif(crawl_rate_per_s, 0), 0)) AND due_why IS NOT :once;

-- name: make_found_due
UPDATE page SET due_s = :now_s WHERE tier = 0 AND discovered_s > :now_s AND due_s > :now_s;

-- What was put off as nothing new waits on: what was learned of it is not known at a start.
-- name: make_due
UPDATE page SET due_s = :now_s, due_why = :why
WHERE due_s > :now_s AND coalesce(due_why, '') <> :little AND (:before_s IS NULL OR NOT EXISTS (
    SELECT 1 FROM visit WHERE page_id = page.id AND visited_at_s >= :before_s
));

-- name: n_due
SELECT count(*) FROM page
WHERE due_s <= :now_s AND id NOT IN (SELECT value FROM json_each(:numbers));

-- name: n_closed
SELECT count(*) FROM page JOIN host ON host.id = page.host_id
WHERE due_s <= :now_s AND page.id NOT IN (SELECT value FROM json_each(:numbers))
    AND robots_status IS NOT NULL AND robots_until_s < :now_s AND blocked_until_s <= :now_s;

-- name: visited_since
SELECT DISTINCT page_id FROM visit WHERE id > :since ORDER BY page_id;

-- All of the above, of a crawl that begins: of pages there are fewer than of visits.
-- name: visited_ever
SELECT id FROM page WHERE last_visit_s IS NOT NULL ORDER BY id;

-- name: evidence_urls
SELECT id, url, is_lasting, last_visit_s, born_s FROM page
WHERE id IN (SELECT value FROM json_each(:page_ids)) ORDER BY id;

-- name: beliefs
SELECT page.id, url, is_lasting, last_visit_s, born_s, belief.learned
FROM belief JOIN page ON page.id = belief.page_id
WHERE belief.page_id IN (SELECT value FROM json_each(:page_ids)) ORDER BY page.id;

-- name: beliefs_of_hosts
SELECT host, learned FROM host_belief JOIN host ON host.id = host_belief.host_id
WHERE host_id IN (
    SELECT host_id FROM page WHERE id IN (SELECT value FROM json_each(:page_ids))
);

-- name: save_belief
INSERT OR REPLACE INTO belief (page_id, learned) VALUES (:page_id, :learned);

-- name: save_belief_of_host
INSERT OR REPLACE INTO host_belief (host_id, learned)
SELECT id, :learned FROM host WHERE host = :host;

-- name: last_visit_number
SELECT coalesce(max(id), 0) FROM visit;

-- name: evidence_of_page
SELECT interval_s, changed, signalled, coalesce(seen_s, visited_at_s) - modified_s, unheard_s, id
FROM visit
WHERE page_id = :page_id AND changed IS NOT NULL AND interval_s > 0
ORDER BY id DESC LIMIT :limit;

-- name: much_visited
SELECT id FROM page WHERE id > :after AND visits > :kept ORDER BY id LIMIT :limit;

-- name: forget_visits
DELETE FROM visit WHERE page_id = :page_id AND visited_at_s < :before_s
    AND id <= (SELECT id FROM visit WHERE page_id = :page_id ORDER BY id DESC LIMIT 1 OFFSET :kept);

-- name: forget_plans
DELETE FROM plan WHERE solved_at_s < :before_s AND id < (SELECT max(id) FROM plan);

-- name: forget_answers
DELETE FROM asked WHERE asked_at_s < :before_s AND outcome IS NOT NULL;

-- name: save_change_rate
UPDATE page SET change_rate_per_s = :rate, change_rate_factor = :factor WHERE id = :page_id;

-- name: planned
SELECT id, host_id, weight, change_rate_per_s, change_rate_factor, crawl_rate_per_s,
    last_visit_s, due_s, lastmod_s, coalesce(seen_s, last_visit_s), last_visit_s - discovered_s,
    n_announced, unheard_s, coalesce(found_on, 0)
FROM page
WHERE kind = 'page' AND state IN ('indexed', 'missing') AND last_visit_s IS NOT NULL
ORDER BY id;

-- name: copies
SELECT min(id), group_concat(id) FROM page
WHERE kind = 'page' AND state = 'indexed' AND signature IS NOT NULL
GROUP BY host_id, signature HAVING count(*) BETWEEN 2 AND :most;

-- A page in trouble, or to be confirmed, is due when that says; one visited since, as that visit said.
-- A page that is to be read again, or looked at for those beside it, is no later due for a plan.
-- LIMIT and single comparisons are for speed, as in tell.
-- name: save_crawl_rate
UPDATE page SET crawl_rate_per_s = :rate,
    due_s = iif(moves, :due_s, due_s), due_why = iif(moves, :why, due_why),
    own_due_s = iif(moves, :own_due_s, own_due_s),
    tier = iif(moves, :tier, tier)
FROM (
    SELECT tier >= 1 AND state = 'indexed' AND failures = 0
        AND coalesce(last_visit_s, 0) <= :known_s
        AND (coalesce(due_why <> :kept AND due_why <> :beside AND due_why <> :widened, 1) OR due_s > :due_s) AS moves
    FROM page WHERE id = :page_id LIMIT 1
)
WHERE id = :page_id RETURNING host_id;

-- name: save_plan
INSERT INTO plan (solved_at_s, n_pages, budget_per_s, price, freshness, n_never_visited, measure, clocks)
VALUES (:solved_at_s, :n_pages, :budget_per_s, :price, :freshness, :n_never_visited, :measure, :clocks);

-- name: last_plan
SELECT solved_at_s, n_pages, budget_per_s, price, freshness, n_never_visited, measure, clocks
FROM plan ORDER BY id DESC LIMIT 1;

-- name: n_pages_by_state
SELECT state, count(*) FROM page WHERE kind = 'page' GROUP BY state;

-- name: n_visits_by_outcome
SELECT outcome, count(*) FROM visit WHERE visited_at_s >= :since_s GROUP BY outcome;

-- name: details
SELECT page.id, url, host.host, kind, state, weight, depth, discovered_s, due_s, visits, changes,
    page.failures, last_visit_s, last_status, indexed_at_s, change_rate_per_s, change_rate_factor,
    crawl_rate_per_s, lastmod_s, redirect_url, due_why, importance, importance_parts, own_due_s,
    seen_s
FROM page JOIN host ON host.id = page.host_id WHERE url = :url;

-- name: recent_visits
SELECT visited_at_s, outcome, status, changed, interval_s, fetch_s, received_bytes, note,
    modified_s, seen_s
FROM visit WHERE page_id = :page_id ORDER BY id DESC LIMIT :limit;

-- Of the latest visits of pages, those that found a first copy or another one.
-- name: found_since
SELECT page.url, visited_at_s, outcome = 'new' FROM visit JOIN page ON page.id = visit.page_id
WHERE visit.id > :after AND visited_at_s >= :since_s AND (changed = 1 OR outcome = 'new')
    AND page.kind = 'page'
ORDER BY visit.id DESC LIMIT :limit;

-- name: urls_indexed
SELECT url, signature FROM page NOT INDEXED
WHERE kind = 'page' AND state IN ('indexed', 'missing', 'discovered') AND signature IS NOT NULL
ORDER BY id;

-- name: n_indexed
SELECT count(*) FROM page
WHERE kind = 'page' AND state IN ('indexed', 'missing', 'discovered') AND signature IS NOT NULL;

-- name: last_page_number
SELECT coalesce(max(id), 0) FROM page;

-- name: sample_indexed
SELECT url, signature FROM page
WHERE id IN (SELECT value FROM json_each(:page_ids))
    AND kind = 'page' AND state IN ('indexed', 'missing', 'discovered') AND signature IS NOT NULL;

-- What the index holds becomes what the state says, as in `reconcile`.
-- name: agree
UPDATE page SET signature = :signature, etag = NULL, last_modified = NULL, raw_hash = NULL,
    due_s = min(due_s, :now_s), due_why = :why,
    state = CASE WHEN :signature IS NOT NULL THEN 'indexed'
                 WHEN state = 'indexed' THEN 'discovered' ELSE state END
WHERE url = :url;

-- name: n_hosts
SELECT count(*) FROM host;

-- name: n_listings_of_host
SELECT count(*) FROM page WHERE host_id = :host_id AND kind = :kind;

-- name: refuse
INSERT INTO refusal (host, why, n) VALUES (:host, :why, :n)
ON CONFLICT (host, why) DO UPDATE SET n = refusal.n + excluded.n;

-- As written, not as a parameter, the reason finds the index of what is put off.
-- name: refused
SELECT host, why, n FROM refusal;

-- name: put_off_by_host
SELECT min(host.host), 'low-yield', count(*) FROM page JOIN host ON host.id = page.host_id
WHERE tier = 0 AND due_why = 'addresses of its kind have brought nothing new: only few of them are tried' GROUP BY host_id;

-- name: label
SELECT value FROM label WHERE name = :name;

-- name: save_label
INSERT INTO label (name, value) VALUES (:name, :value)
ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- name: export_pages
SELECT url, host.host AS host, kind, state, weight, depth, discovered_s, due_s, visits, changes,
    last_visit_s, last_status, indexed_at_s, change_rate_per_s, crawl_rate_per_s, lastmod_s,
    redirect_url, title,
    CASE WHEN state NOT IN ('discovered', 'indexed', 'missing') THEN 0.0
         ELSE 86400.0 * coalesce(change_rate_per_s,
             (SELECT avg(change_rate_per_s) FROM page), 1.0 / (14 * 86400.0)) END AS change_rate,
    86400.0 * coalesce(crawl_rate_per_s, 0.0) AS crawl_rate,
    coalesce(importance, 1.0) AS importance
FROM page JOIN host ON host.id = page.host_id ORDER BY page.id;

-- name: export_visits
SELECT page.url AS url, strftime('%Y-%m-%dT%H:%M:%fZ', visited_at_s, 'unixepoch') AS visited_at,
    visited_at_s, outcome, status, changed, interval_s, fetch_s AS fetch_seconds,
    received_bytes AS bytes, note
FROM visit JOIN page ON page.id = visit.page_id ORDER BY visit.id;

-- name: pages_and_weights
SELECT id, url, weight, coalesce(importance, 1.0) FROM page;

-- name: save_weight
UPDATE page SET weight = :weight WHERE id = :page_id;

-- name: save_fact
INSERT INTO fact (name, value) VALUES (:name, :value)
ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- name: facts
SELECT name, value FROM fact;

-- name: outcomes_between
SELECT outcome, count(*) FROM visit WHERE id > :after AND id <= :last GROUP BY outcome;

-- name: look_at_gone
UPDATE page SET due_s = :by_s WHERE state = 'gone' AND kind = 'page' AND due_s > :by_s;

-- name: read_within
UPDATE page SET due_s = last_visit_s + :interval_s, due_why = :why
WHERE id = :page_id AND kind != 'page' AND state = 'indexed' AND failures = 0
    AND due_s > last_visit_s + :interval_s;

-- name: look_again
UPDATE page SET due_s = :now_s, due_why = :why
WHERE state = 'gone' AND kind = 'page' AND due_s > :now_s
    AND lastmod_s > (SELECT max(visited_at_s) FROM visit WHERE page_id = page.id)
    AND host_id IN (SELECT value FROM json_each(:numbers));

-- name: look_for
UPDATE page SET due_s = :now_s, due_why = :why
WHERE url IN (SELECT value FROM json_each(:urls)) AND kind != 'page' AND state IN ('missing', 'gone') AND due_s > :now_s;

-- name: denied
SELECT id, host_id FROM (
    SELECT page.id, host_id, row_number() OVER (
        PARTITION BY host_id ORDER BY CASE state WHEN 'disallowed' THEN 1 ELSE 0 END, weight DESC, page.id
    ) AS place FROM page
    WHERE state IN ('missing', 'gone', 'disallowed') AND kind = 'page' AND host_id = coalesce(:host_id, host_id)
        AND (SELECT outcome FROM visit WHERE page_id = page.id ORDER BY id DESC LIMIT 1) IN ('denied', 'disallowed')
) AS denied WHERE place <= :most;

-- name: gone
SELECT coalesce(sum(:now_s - last_visit_s), 0.0) FROM page
WHERE state = 'gone' AND kind = 'page' AND last_visit_s < :now_s;

-- name: went
SELECT id, last_visit_s - discovered_s FROM page
WHERE state = 'gone' AND kind = 'page' AND last_visit_s >= :since_s;

-- name: went_of_folder
SELECT coalesce(sum(CASE WHEN state = 'gone' THEN 1 ELSE 0 END), 0), coalesce(sum(last_visit_s - discovered_s), 0.0)
FROM page JOIN host ON host.id = page.host_id
WHERE host = :host AND substr(url, 1, length(:folder)) = :folder AND kind = 'page'
    AND (state IN ('indexed', 'missing') AND last_visit_s IS NOT NULL OR state = 'gone' AND last_visit_s >= :since_s);

-- name: last_fetch
SELECT visited_at_s FROM visit ORDER BY id DESC LIMIT 1;

-- name: forgive_pages
UPDATE page SET due_s = :now_s, due_why = :why
WHERE due_s > :now_s AND (failures > 0 OR state = 'disallowed');

-- name: forgive_hosts
UPDATE host SET failures = 0, blocked_until_s = 0, blocked_why = NULL, robots_until_s = 0,
    ip_blocked_until_s = 0
WHERE blocked_until_s > :now_s AND coalesce(blocked_why, '') NOT LIKE '%answered %';

-- name: first_visit
SELECT visited_at_s FROM visit ORDER BY id LIMIT 1;

-- name: told_since
SELECT visit.page_id, coalesce(visit.seen_s, visited_at_s), interval_s, coalesce(CAST(changed AS INTEGER), 1) FROM visit
WHERE id > :after AND visited_at_s >= :since_s AND (changed IS NOT NULL OR outcome = 'new')
ORDER BY visit.page_id, visited_at_s;

-- name: outcomes_over_time
SELECT CAST((visited_at_s - :since_s) / :step_s AS INTEGER), outcome, count(*) FROM visit
WHERE visited_at_s >= :since_s GROUP BY 1, 2;

-- name: plans_since
SELECT solved_at_s, freshness, price, budget_per_s FROM plan
WHERE id >= coalesce((SELECT max(id) FROM plan WHERE solved_at_s <= :since_s), 0)
ORDER BY id;

-- name: address
SELECT url, title FROM page WHERE id = :page_id;

-- name: slowest
SELECT page_id, avg(fetch_s), count(*) FROM visit
WHERE id > :after AND fetch_s > 0 GROUP BY page_id ORDER BY 2 DESC LIMIT :limit;

-- name: last_seen
SELECT url, last_visit_s FROM page
WHERE url IN (SELECT value FROM json_each(:urls)) AND last_visit_s IS NOT NULL;

-- name: host_counts
SELECT host_id, count(*), count(*) FILTER (WHERE due_s <= :now_s),
    count(*) FILTER (WHERE due_s <= :now_s - 3600.0)
FROM page GROUP BY host_id;

-- name: ask
INSERT INTO asked (url, asked_at_s, is_signal) VALUES (:url, :now_s, :is_signal) RETURNING id;

-- name: asked_not_taken
SELECT id, url, asked_at_s, is_signal FROM asked WHERE outcome IS NULL AND page_id IS NULL ORDER BY id LIMIT 10000;

-- name: pages_asked
SELECT DISTINCT page_id FROM asked WHERE outcome IS NULL AND page_id IS NOT NULL;

-- name: take_asked
UPDATE asked SET page_id = :page_id WHERE id = :number;

-- name: settle_asked
UPDATE asked SET outcome = :outcome, note = :note WHERE id = :number;

-- name: make_asked
UPDATE page SET tier = -1, due_s = min(due_s, :now_s), due_why = :why WHERE id = :page_id RETURNING host_id;

-- name: answer_asked
UPDATE asked SET outcome = :outcome, note = :note
WHERE page_id = :page_id AND outcome IS NULL AND asked_at_s <= :visited_at_s;

-- name: is_asked
SELECT count(*) FROM asked WHERE page_id = :page_id AND outcome IS NULL;

-- name: answers
SELECT id, url, outcome, note FROM asked WHERE id IN (SELECT value FROM json_each(:numbers)) ORDER BY id;

-- name: host_names
SELECT host FROM host ORDER BY host LIMIT :limit;

-- name: add_difference
INSERT INTO difference (page_id, found_at_s, text) VALUES (:page_id, :found_at_s, :text);

-- name: forget_differences
DELETE FROM difference WHERE id <= (SELECT max(id) FROM difference) - :most;

-- name: differences
SELECT page.url, coalesce(page.title, ''), found_at_s, text
FROM difference JOIN page ON page.id = difference.page_id
WHERE :url IS NULL OR page.url = :url ORDER BY difference.id DESC LIMIT :limit;

-- Visits that brought trouble, among the latest: how many of each kind, and an example of each.
-- name: troubles
SELECT outcome, status,
    CASE WHEN status IS NULL THEN substr(note, 1, instr(note || ':', ':') - 1) END AS kind, count(*), count(DISTINCT page_id), max(id)
FROM visit WHERE id > :after AND outcome IN ('failed', 'server-error', 'throttled', 'denied', 'too-large', 'poison', 'not-found')
GROUP BY outcome, status, kind ORDER BY count(*) DESC LIMIT :limit;

-- What the latest visits were for, and what they brought; new addresses count for the visit that they
-- were found by.
-- name: spending
WITH latest AS (
    SELECT visit.id, visit.page_id, visit.visited_at_s, visit.outcome,
        CASE WHEN page.kind <> 'page' THEN 'listings'
            WHEN visit.id = (SELECT min(id) FROM visit AS first WHERE first.page_id = visit.page_id) THEN 'first'
            ELSE 'again' END AS purpose
    FROM visit JOIN page ON page.id = visit.page_id WHERE visit.id > :after
)
SELECT purpose, count(*), sum(outcome = 'new'), sum(outcome = 'changed'),
    sum(outcome IN ('failed', 'server-error', 'throttled', 'denied', 'too-large', 'poison', 'not-found')),
    sum((SELECT count(*) FROM page AS found WHERE found.found_on = latest.page_id AND found.discovered_s >= latest.visited_at_s
        AND found.discovered_s < coalesce((SELECT min(visited_at_s) FROM visit AS next WHERE next.page_id = latest.page_id AND next.id > latest.id), 1e300)))
FROM latest GROUP BY purpose ORDER BY count(*) DESC;

-- name: visit_example
SELECT page.url, visited_at_s, note FROM visit JOIN page ON page.id = visit.page_id WHERE visit.id = :number;

-- Pages that are not in the index though they were visited, by the reason that the last visit gave.
-- name: left_out
SELECT page.state, visit.outcome, visit.status, visit.note, count(*), min(page.url)
FROM (SELECT id, url, state FROM page WHERE kind = 'page' AND state NOT IN ('indexed', 'discovered') LIMIT :most) AS page
LEFT JOIN visit ON visit.id = (
    SELECT max(id) FROM visit WHERE page_id = page.id AND outcome NOT IN
        ('not-modified', 'failed', 'server-error', 'throttled', 'lost', 'obsolete', 'deferred',
        'poison'))
GROUP BY 1, 2, 3, 4 ORDER BY count(*) DESC LIMIT :limit;

-- name: add_subscription
INSERT INTO subscription (topic, hub, callback, secret, due_s)
SELECT :topic, :hub, :callback, :secret, :now_s
WHERE (SELECT count(*) FROM subscription) < :most
ON CONFLICT (topic) DO UPDATE SET due_s = excluded.due_s, until_s = 0, failures = 0, hub = excluded.hub
WHERE subscription.hub <> excluded.hub;

-- name: subscriptions_due
SELECT topic, hub, callback, secret, due_s, asked_until_s, until_s, told_s, failures, note
FROM subscription WHERE due_s <= :now_s ORDER BY due_s LIMIT :limit;

-- name: subscription_of
SELECT topic, hub, callback, secret, due_s, asked_until_s, until_s, told_s, failures, note
FROM subscription WHERE callback = :callback;

-- name: subscriptions
SELECT topic, hub, callback, secret, due_s, asked_until_s, until_s, told_s, failures, note
FROM subscription ORDER BY topic LIMIT :limit;

-- name: save_subscription
UPDATE subscription SET due_s = :due_s, asked_until_s = :asked_until_s, until_s = :until_s,
    told_s = :told_s, failures = :failures, note = :note
WHERE callback = :callback;

-- name: addresses
SELECT id, host_id, url, state, importance FROM page
WHERE id > :after AND kind = 'page' ORDER BY id LIMIT :limit;

-- name: link_lists
SELECT page_id, targets FROM link_list WHERE page_id > :after ORDER BY page_id LIMIT :limit;

-- name: save_links
INSERT INTO link_list (page_id, targets) VALUES (:page_id, :targets)
ON CONFLICT (page_id) DO UPDATE SET targets = excluded.targets WHERE targets != excluded.targets;

-- name: tallies
SELECT page_id, source, n, at_s FROM tally;

-- name: tally_of
SELECT n, at_s FROM tally WHERE page_id = :page_id AND source = :source;

-- name: count
INSERT INTO tally (page_id, source, n, at_s) VALUES (:page_id, :source, :n, :now_s)
ON CONFLICT (page_id, source) DO UPDATE SET n = excluded.n, at_s = excluded.at_s;

-- name: forget_tally
DELETE FROM tally WHERE source = :source;

-- name: save_importance
UPDATE page SET weight = :weight, importance = :importance, importance_parts = :parts
WHERE id = :page_id RETURNING host_id, tier;

-- name: note_birth
UPDATE page SET births = coalesce(births, 0) + 1
WHERE id = :page_id AND last_visit_s IS NOT NULL AND due_why IS NOT :widened;

-- name: found_again
UPDATE page SET births_again = coalesce(births_again, 0) + :again, births_lead_s = coalesce(births_lead_s, 0) + :lead_s
WHERE id = :page_id;

-- What was found on a page and turned out to be none has the worth 0.
-- name: births
SELECT id, host_id, kind, coalesce(births, 0), exposure_s, coalesce(births_again, 0), coalesce(births_lead_s, 0),
    CASE WHEN births > 0 THEN (
        SELECT avg(CASE WHEN child.state = 'indexed' THEN child.weight ELSE 0.0 END)
        FROM page AS child WHERE child.found_on = page.id AND child.visits > 0
    ) END, last_visit_s
FROM page WHERE exposure_s > 0 ORDER BY id;

-- name: entries
SELECT id, host_id FROM page
WHERE state = 'indexed'
    AND (kind <> 'page' OR depth = 0 AND EXISTS (SELECT 1 FROM page AS child WHERE child.found_on = page.id))
    AND coalesce(exposure_s, 0) = 0
ORDER BY id;

-- name: depths
SELECT host_id, depth, count(*), sum(visits > 0), total(iif(visits > 0, 0, weight)) FROM page WHERE kind = 'page'
GROUP BY host_id, depth ORDER BY host_id, depth;

-- An entry for a page, unless its latest one says what is so already. What is asked within is computed once for
-- its LIMIT, and its states are compared one by one, as a list of three is a table that is built anew for each
-- comparison: 7 microseconds instead of up to 390.
-- name: tell
INSERT INTO feed (page_id, at_s, kind, version, signature, fetched_at_s, title, language, canonical, content_type, moved_to, why, edit, importance)
SELECT id, at_s,
    CASE WHEN held IS NULL THEN iif(state = 'moved', 'moved', 'removed') WHEN told IS NULL THEN 'new' ELSE 'changed' END,
    max(before + 1, CAST(1000 * at_s AS INTEGER)), held, :fetched_at_s,
    iif(held IS NULL, said, :title), iif(held IS NULL, '', :language), iif(held IS NULL, NULL, :canonical), iif(held IS NULL, '', :content_type),
    iif(held IS NULL, redirect_url, NULL), iif(held IS NULL, state, NULL), iif(held IS NULL, NULL, :edit),
    iif(held IS NOT NULL AND :says_importance, weight, NULL)
FROM (
    SELECT page.id, page.state, page.redirect_url, page.weight,
        iif(page.kind = 'page' AND (page.state = 'indexed' OR page.state = 'missing' OR page.state = 'discovered'), page.signature, NULL) AS held,
        told.signature AS told, told.title AS said, coalesce(told.version, 0) AS before,
        max(:now_s, coalesce((SELECT at_s FROM feed ORDER BY seq DESC LIMIT 1), :now_s)) AS at_s
    FROM page LEFT JOIN feed AS told ON told.seq = (SELECT max(seq) FROM feed WHERE page_id = page.id)
    WHERE page.id = :page_id LIMIT 1
)
WHERE held IS NOT told;

-- Pages of which there is a copy: what they are worth, and what was told of that.
-- name: importances
SELECT page.id, page.weight, told.importance
FROM page JOIN feed AS told ON told.seq = (SELECT max(seq) FROM feed WHERE page_id = page.id)
WHERE page.id > :after AND told.signature IS NOT NULL ORDER BY page.id LIMIT :limit;

-- An entry that says of the copy what the latest one says, and what its page is worth now.
-- name: tell_importance
INSERT INTO feed (page_id, at_s, kind, version, signature, fetched_at_s, title, language, canonical, content_type, importance)
SELECT id, at_s, 'importance', max(before + 1, CAST(1000 * at_s AS INTEGER)), signature, fetched_at_s, title, language, canonical,
    content_type, weight
FROM (
    SELECT page.id, page.weight, told.version AS before, told.signature, told.fetched_at_s, told.title, told.language, told.canonical,
        told.content_type, max(:now_s, coalesce((SELECT at_s FROM feed ORDER BY seq DESC LIMIT 1), :now_s)) AS at_s
    FROM page JOIN feed AS told ON told.seq = (SELECT max(seq) FROM feed WHERE page_id = page.id)
    WHERE page.id = :page_id
)
WHERE signature IS NOT NULL;

-- Pages of which the latest entry does not say what the state says.
-- name: untold
SELECT page.id FROM page
WHERE iif(kind = 'page' AND state IN ('indexed', 'missing', 'discovered'), signature, NULL) IS NOT
    (SELECT feed.signature FROM feed WHERE feed.page_id = page.id ORDER BY seq DESC LIMIT 1)
ORDER BY page.id;

-- A new importance overtakes no entry that tells of the copy itself, only its like.
-- name: changes
SELECT seq, at_s, feed.kind, url, version, feed.signature, fetched_at_s, feed.title, language, canonical, content_type, moved_to, why,
    iif(:edits, edit, NULL), seq = (SELECT max(seq) FROM feed AS newer WHERE newer.page_id = feed.page_id
        AND (feed.kind = 'importance' OR newer.kind <> 'importance')), feed.importance
FROM feed JOIN page ON page.id = feed.page_id WHERE seq > :after ORDER BY seq LIMIT :limit;

-- name: changes_latest
SELECT seq, at_s, feed.kind, url, version, feed.signature, fetched_at_s, feed.title, language, canonical, content_type, moved_to, why,
    iif(:edits, edit, NULL), 1, feed.importance
FROM feed JOIN page ON page.id = feed.page_id
WHERE seq > :after AND seq = (SELECT max(seq) FROM feed AS newer WHERE newer.page_id = feed.page_id
    AND (feed.kind = 'importance' OR newer.kind <> 'importance'))
ORDER BY seq LIMIT :limit;

-- name: recent
SELECT seq, at_s, feed.kind, url, version, feed.signature, fetched_at_s, feed.title, language, canonical, content_type, moved_to, why,
    NULL, seq = (SELECT max(seq) FROM feed AS newer WHERE newer.page_id = feed.page_id
        AND (feed.kind = 'importance' OR newer.kind <> 'importance')), feed.importance
FROM feed JOIN page ON page.id = feed.page_id
WHERE :importance OR feed.kind <> 'importance' ORDER BY seq DESC LIMIT :limit;

-- name: live
SELECT seq, at_s, feed.kind, url, version, feed.signature, fetched_at_s, feed.title, language, canonical, content_type, moved_to, why,
    NULL, 1, feed.importance
FROM feed JOIN page ON page.id = feed.page_id
WHERE seq > :after AND feed.signature IS NOT NULL
    AND seq = (SELECT max(seq) FROM feed AS newer WHERE newer.page_id = feed.page_id AND (:importance OR newer.kind <> 'importance'))
ORDER BY seq LIMIT :limit;

-- name: latest_of
SELECT seq, at_s, feed.kind, url, version, feed.signature, fetched_at_s, feed.title, language, canonical, content_type, moved_to, why,
    NULL, 1, feed.importance
FROM page JOIN feed ON feed.page_id = page.id
WHERE url = :url AND (:importance OR feed.kind <> 'importance') ORDER BY seq DESC LIMIT 1;

-- name: last_change
SELECT coalesce(max(seq), 0) FROM feed;

-- name: change_up_to
SELECT seq, at_s FROM feed WHERE seq <= :seq ORDER BY seq DESC LIMIT 1;

-- name: drop_overtaken
DELETE FROM feed WHERE seq <= :old_to AND seq IN (
    SELECT older.seq FROM feed AS newer JOIN feed AS older
    ON older.page_id = newer.page_id AND older.seq < newer.seq AND older.seq <= :old_to
        AND (older.kind = 'importance' OR newer.kind <> 'importance')
    WHERE newer.seq > :seen_to AND newer.seq <= :seen);

-- name: drop_aged
DELETE FROM feed WHERE seq > :old_to AND seq <= :aged
    AND EXISTS (SELECT 1 FROM feed AS newer WHERE newer.page_id = feed.page_id AND newer.seq > feed.seq
        AND (feed.kind = 'importance' OR newer.kind <> 'importance'));

-- name: drop_edits
UPDATE feed SET edit = NULL WHERE seq > :old_to AND seq <= :aged AND edit IS NOT NULL;

-- name: delivery
SELECT sink, seq, sending, delivered, dead, failures, failing_since_s, tried_at_s, next_s, trouble
FROM delivery WHERE sink = :sink;

-- name: deliveries
SELECT sink, seq, sending, delivered, dead, failures, failing_since_s, tried_at_s, next_s, trouble
FROM delivery ORDER BY sink;

-- name: save_delivery
INSERT INTO delivery (sink, seq, sending, delivered, dead, failures, failing_since_s, tried_at_s, next_s, trouble)
VALUES (:sink, :seq, :sending, :delivered, :dead, :failures, :failing_since_s, :tried_at_s, :next_s, :trouble)
ON CONFLICT (sink) DO UPDATE SET seq = excluded.seq, sending = excluded.sending, delivered = excluded.delivered, dead = excluded.dead,
    failures = excluded.failures, failing_since_s = excluded.failing_since_s, tried_at_s = excluded.tried_at_s,
    next_s = excluded.next_s, trouble = excluded.trouble;

-- name: add_dead_letter
INSERT INTO dead_letter (sink, seq, url, at_s, why) VALUES (:sink, :seq, :url, :at_s, :why);

-- name: forget_dead_letters
DELETE FROM dead_letter WHERE sink = :sink AND id NOT IN (
    SELECT id FROM dead_letter WHERE sink = :sink ORDER BY id DESC LIMIT :most);

-- name: dead_letters
SELECT seq, url, why FROM dead_letter WHERE sink = :sink ORDER BY id DESC LIMIT :limit;
