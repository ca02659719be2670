-- name: add
INSERT INTO page (id, spider, url, host, request, priority, weight, state, discovered_s, due_s,
    due_why, born_s)
VALUES (:id, :spider, :url, :host, :request, :priority, :weight, 'discovered', :now_s, :now_s,
    :why, :born_s)
ON CONFLICT (id) DO NOTHING;

-- name: complete
UPDATE page SET state = :state, due_s = :due_s, due_why = :due_why, visits = visits + 1,
    changes = changes + :change, failures = :failures,
    last_visit_s = coalesce(:told_s, last_visit_s), last_status = :status, etag = :etag,
    last_modified = :last_modified, signature = :signature, memory = :memory
WHERE id = :page_id;

-- name: add_visit
INSERT INTO visit (page_id, visited_at_s, outcome, status, changed, interval_s, fetch_s,
    received_bytes, n_items, modified_s, note)
VALUES (:page_id, :visited_at_s, :outcome, :status, :changed, :interval_s, :fetch_s,
    :received_bytes, :n_items, :modified_s, :note);

-- name: last_visit_number
SELECT coalesce(max(id), 0) FROM visit;

-- name: visited_since
SELECT DISTINCT page_id FROM visit WHERE id > :since ORDER BY page_id;

-- name: evidence_of_page
SELECT interval_s, changed, visited_at_s - modified_s, id FROM visit
WHERE page_id = :page_id AND changed IS NOT NULL AND interval_s > 0
ORDER BY id DESC LIMIT :limit;

-- name: urls
SELECT id, url, last_visit_s, born_s FROM page
WHERE id IN (SELECT value FROM json_each(:ids)) ORDER BY id;

-- name: beliefs
SELECT page.id, url, last_visit_s, born_s, learned FROM belief JOIN page ON page.id = belief.page_id
WHERE page_id IN (SELECT value FROM json_each(:ids)) ORDER BY page.id;

-- name: beliefs_of_hosts
SELECT host, learned FROM host_belief;

-- name: save_belief
INSERT OR REPLACE INTO belief (page_id, learned) VALUES (:id, :learned);

-- name: save_belief_of_host
INSERT OR REPLACE INTO host_belief (host, learned) VALUES (:host, :learned);

-- name: planned
SELECT id, host, weight, change_rate_per_s, change_rate_factor, crawl_rate_per_s, last_visit_s,
    due_s, :spider IS NULL OR spider = :spider AS own
FROM page WHERE state IN ('indexed', 'missing') AND last_visit_s IS NOT NULL ORDER BY id;

-- name: save_change_rate
UPDATE page SET change_rate_per_s = :rate, change_rate_factor = :factor WHERE id = :id;

-- A page in trouble is due when that says, and one visited since as that visit said.

-- name: save_crawl_rate
UPDATE page SET crawl_rate_per_s = :rate,
    due_s = iif(state = 'indexed' AND failures = 0 AND last_visit_s <= :solved_at_s, :due_s, due_s),
    due_why = iif(state = 'indexed' AND failures = 0 AND last_visit_s <= :solved_at_s, :why,
        due_why)
WHERE id = :id;

-- name: bring_forward
UPDATE page SET due_s = :now_s, due_why = 'ahead of its time: the budget would lie unused'
WHERE id = :id AND last_visit_s < :now_s AND state IN ('indexed', 'missing');

-- name: save_plan
INSERT INTO plan (solved_at_s, n_pages, budget_per_s, price, freshness)
VALUES (:solved_at_s, :n_pages, :budget_per_s, :price, :freshness);

-- name: last_plan
SELECT solved_at_s, n_pages, budget_per_s, price, freshness FROM plan ORDER BY id DESC LIMIT 1;

-- name: n_visited
SELECT count(*) FROM page WHERE visits > 0;

-- name: n_due
SELECT count(*) FROM page WHERE (:spider IS NULL OR spider = :spider) AND due_s <= :now_s
    AND visits > 0;

-- name: fact
SELECT value FROM fact WHERE name = :name;

-- name: save_fact
INSERT INTO fact (name, value) VALUES (:name, :value)
ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- name: find
SELECT due_s, visits, request FROM page WHERE id = :id;

-- name: reword
UPDATE page SET request = :request, priority = :priority, due_s = coalesce(:due_s, due_s)
WHERE id = :id;

-- name: first_visits
SELECT * FROM page WHERE spider = :spider AND due_s <= :due_by_s AND visits = 0
ORDER BY priority DESC, due_s LIMIT :limit;

-- name: revisits
SELECT * FROM page WHERE spider = :spider AND due_s <= :due_by_s AND visits > 0
ORDER BY due_s LIMIT :limit;
