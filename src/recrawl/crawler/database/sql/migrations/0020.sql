-- Pages and visits are written by functions: a server keeps the plan of what they do, where it would
-- make one of a hundred columns for every few visits, and a pooler may stand between. They take an
-- array for each column. Whatever adds a column to either table makes them anew by make_writers().
CREATE FUNCTION make_writers() RETURNS void LANGUAGE plpgsql AS $make$
DECLARE
    written RECORD;
    -- Of a page these stay as they were when it was added.
    fixed CONSTANT text[] := '{shard, id, url, host_id, kind, depth, hops, variant_of, discovered_s, found_on, born_s}';
BEGIN
    DROP FUNCTION IF EXISTS write_pages, add_visits;
    FOR written IN
        SELECT attrelid, string_agg(format('%I %s[]', name, type), ', ' ORDER BY place) AS taken,
            string_agg(format('unnest($%s) AS %I', place, name), ', ' ORDER BY place) AS told,
            string_agg(quote_ident(name), ', ' ORDER BY place) AS names,
            string_agg(format('%1$I = excluded.%1$I', name), ', ' ORDER BY place)
                FILTER (WHERE name <> ALL (fixed)) AS changed
        FROM (
            SELECT attrelid, attname AS name, format_type(atttypid, atttypmod) AS type,
                row_number() OVER (PARTITION BY attrelid ORDER BY attnum) AS place
            FROM pg_attribute
            WHERE attnum > 0 AND NOT attisdropped AND (attrelid = 'page'::regclass
                AND attname NOT IN ('shard', 'leased_until_s') OR attrelid = 'visit'::regclass AND attname <> 'id')
        ) AS held GROUP BY attrelid
    LOOP
        IF written.attrelid = 'page'::regclass THEN
            EXECUTE format('CREATE FUNCTION write_pages(%s, shards int) RETURNS void LANGUAGE plpgsql AS $$
                #variable_conflict use_column
                BEGIN
                    INSERT INTO page (shard, %s) SELECT mod(id, shards)::int, %2$s FROM (SELECT %3$s) AS told
                    ON CONFLICT (shard, id) DO UPDATE SET %4$s;
                END $$', written.taken, written.names, written.told, written.changed);
        ELSE
            EXECUTE format('CREATE FUNCTION add_visits(%s) RETURNS void LANGUAGE plpgsql AS $$
                #variable_conflict use_column
                BEGIN
                    INSERT INTO visit (%s) SELECT %2$s FROM (SELECT %3$s) AS told;
                END $$', written.taken, written.names, written.told);
        END IF;
    END LOOP;
END $make$;
SELECT make_writers();
