-- name: pages_of_url
SELECT * FROM page WHERE url = :url ORDER BY spider;

-- name: visits_of_page
SELECT visited_at_s, outcome, status, n_items, note FROM visit WHERE page_id = :page_id
ORDER BY id DESC LIMIT 10;

-- name: next_due
SELECT spider, url, due_s, due_why, crawl_rate_per_s, change_rate_per_s FROM page
WHERE :spider IS NULL OR spider = :spider ORDER BY due_s LIMIT :limit;

-- name: counts
SELECT spider, count(*), sum(visits > 0), sum(due_s <= :now_s), sum(visits), sum(changes)
FROM page GROUP BY spider ORDER BY spider;

-- name: outcomes
SELECT outcome, count(*) FROM visit WHERE visited_at_s >= :since_s GROUP BY outcome
ORDER BY count(*) DESC;

-- name: all_visits
SELECT p.url, v.visited_at_s, v.outcome, v.status, v.changed FROM visit v
JOIN page p ON p.id = v.page_id ORDER BY v.id;
