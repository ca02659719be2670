"""What several processes on one PostgreSQL do, and what each costs. Nothing here fails on a figure.

    python bench/cluster.py                    all, some minutes
    python bench/cluster.py --pages 1000000    with a larger table for the first two
    python bench/cluster.py --buffers 1GB      with a server that holds the smaller table in memory

It starts a PostgreSQL of its own (Debian's package), on a socket in /tmp, with fsync off and the
shared buffers that an installation has: compare figures of one run, and take none for that of a
server with disks.
"""

import argparse
import gc
import importlib.resources
import importlib.util
import multiprocessing
import os
import queue as queues
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import psycopg
from tests.acceptance.farm import Farm
from tests.databases import Server
from tests.postgres import postgres

from recrawl.crawler.database.connections import make_partitions
from recrawl.crawler.database.membership import Membership
from recrawl.crawler.database.shards import shard_of
from recrawl.crawler.frontier.postgres.owned import PostgresFrontier
from recrawl.terms import Database, Outcome, PageState, PageUpdate, Visit

SHARDS, BATCH = 16, 400
SEEDS = "http://bench.test/"


def fill(database: Database, pages: int) -> None:
    """Make a table of pages on one host for each hundred, all due, as if each had been visited."""
    member = Membership(database, shards=SHARDS)
    member.close()
    with psycopg.connect(database.address) as db:
        make_partitions(db, 2e9, 2e9)  # as a crawl has them, for the month in which it visits
        db.execute(
            "INSERT INTO host (shard, id, host) SELECT mod(n, %(s)s)::int, n, 'http://h' || n || "
            "'.test' FROM generate_series(%(s)s::int, %(last)s::int) AS n",
            {"s": SHARDS, "last": SHARDS + pages // 100},
        )
        db.execute(
            """INSERT INTO page (shard, id, url, host_id, kind, state, depth, hops, weight,
                discovered_s, due_s, tier, visits, last_visit_s, last_status, indexed_at_s, etag,
                signature, raw_hash, title, due_why, crawl_rate_per_s, policy_memory)
            SELECT mod(n, %(s)s::int)::int, n, 'http://h' || h || '.test/section/page-' || n, h,
                'page', 'indexed', 3, 0, 1.0, 1e9, 1e9 + mod(n * 7919::bigint, 86400), 3, 1, 1e9,
                200, 1e9,
                '"' || n || '-1234567890"', sha256(n::text::bytea), sha256(n::text::bytea),
                'The title of page ' || n, 'a day after visit 1', 1e-5, '\\x0011223344556677'
            FROM (SELECT n, %(s)s::int + mod(n / %(s)s::int, %(h)s::int / %(s)s::int) * %(s)s::int
                + mod(n, %(s)s::int) AS h
                FROM generate_series(%(s)s::int, %(last)s::int) AS n) AS numbered""",
            {"s": SHARDS, "h": pages // 100, "last": SHARDS + pages},
        )
        db.commit()
        db.autocommit = True
        db.execute("VACUUM ANALYZE")


def owner(address: str, shards: int, seconds: float, told: "multiprocessing.Queue") -> None:
    """Record visits of pages of one's own shards, as a crawl does, as fast as it goes."""
    member = Membership(Database(address), shards=SHARDS, lease_s=600.0)
    member.join(SEEDS)
    member.take(shards)
    begun = time.perf_counter()
    frontier = PostgresFrontier(member)
    while member.awaited:  # a crawl begins with some shards, and takes up the others later
        while not frontier.bring():
            pass
        frontier.own(member.owned)
    loaded_s = time.perf_counter() - begun
    gc.freeze()  # as `recrawl run` has it
    gc.set_threshold(50_000, 20, 50)
    hosts = [host.host_id for host in frontier.hosts()]
    updates, done, number, spent_s = [], 0, 0, 0.0
    cpu_s = -time.process_time()
    due, begun = frontier.n_due(2e9), time.perf_counter()
    while time.perf_counter() < begun + seconds and done + BATCH <= due:
        host_id = hosts[number % len(hosts)]
        number += 1
        for lease in frontier.lease(host_id, limit=4, due_by_s=2e9, now_s=2e9, until_s=3e9):
            visit = Visit(2e9 + done, Outcome.UNCHANGED, 200, changed=False, interval_s=1e5)
            update = PageUpdate(
                lease, visit, PageState.INDEXED, 3e9 + done, interval_s=1e5,
                signature=lease.signature, raw_hash=lease.raw_hash, etag=lease.etag,
            )  # fmt: skip
            updates.append(update)
        if len(updates) >= BATCH:
            before = time.perf_counter()
            frontier.complete(updates, 2e9)
            spent_s += time.perf_counter() - before
            done += len(updates)
            updates = []
    wall_s = time.perf_counter() - begun
    told.put((done, spent_s, cpu_s + time.process_time(), loaded_s, wall_s))
    member.leave()


def cpu_s_with(db: psycopg.Connection) -> float:
    """Return the processor time of this process and of the server's that it talks to."""
    fields = Path(f"/proc/{db.info.backend_pid}/stat").read_text().rpartition(")")[2].split()
    return time.process_time() + sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def written(address: str, number: int, seconds: float, told: "multiprocessing.Queue") -> None:
    """Do only what an owner's transaction does at the database, the rows being made already."""
    from recrawl.crawler.frontier.postgres import copying
    from recrawl.crawler.frontier.postgres.arrays import arrays, takes_arrays
    from recrawl.crawler.frontier.postgres.tables import APPENDED, PAGE

    columns, visits = ", ".join(PAGE.columns), APPENDED["visit"]
    query = copying.at_once((copying.written(PAGE, SHARDS), copying.added("visit", visits)))
    said = {
        "visited_at_s": 2e9, "outcome": "unchanged", "status": 200, "changed": 0,
        "interval_s": 1e5, "fetch_s": 0.1, "received_bytes": 900, "signalled": 0,
        "unheard_s": 0.0,
    }  # fmt: skip
    with psycopg.connect(address, autocommit=True, prepare_threshold=None) as db:
        takes_arrays(db)
        rows = db.execute(
            f"SELECT {columns} FROM page WHERE shard = ANY(%s) ORDER BY md5(url) LIMIT 40000",
            ([shard for shard in range(SHARDS) if shard % 4 == number],),
        ).fetchall()
        batches = []
        for first in range(0, len(rows), BATCH):
            batch = rows[first : first + BATCH]
            seen = [
                tuple({**said, "page_id": row[0]}.get(name) for name in visits) for row in batch
            ]
            batches.append((arrays(PAGE.columns, batch) + arrays(visits, seen), len(batch)))
        done, turn, cpu_s = 0, 0, -cpu_s_with(db)
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            values, n = batches[turn % len(batches)]
            turn += 1
            with db.transaction():
                db.execute("SELECT 1 FROM process WHERE id = 1 FOR KEY SHARE")
                psycopg.RawCursor(db).execute(query, values)
            done += n
        told.put((done, cpu_s + cpu_s_with(db)))


def queue(address: str, number: int, seconds: float, told: "multiprocessing.Queue") -> None:
    """Take due rows that nobody has with SKIP LOCKED, and complete them, as shared queues do."""
    done = 0
    with psycopg.connect(address, autocommit=True, prepare_threshold=None) as db:
        cpu_s = -cpu_s_with(db)
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            rows = db.execute(
                """UPDATE queue SET leased_until_s = 3e9 WHERE id IN (
                    SELECT id FROM queue WHERE due_s <= 2e9 AND leased_until_s < 2e9
                    ORDER BY due_s LIMIT 150 FOR UPDATE SKIP LOCKED)
                RETURNING id"""
            ).fetchall()
            ids = [row[0] for row in rows]
            if not ids:
                break
            with db.transaction():
                db.execute(
                    "UPDATE queue SET due_s = 3e9, leased_until_s = 0, visits = visits + 1, "
                    "last_visit_s = 2e9 WHERE id = ANY(%s)",
                    (ids,),
                )
                db.execute(
                    "INSERT INTO visit (page_id, visited_at_s, outcome, fetch_s, received_bytes) "
                    "SELECT unnest(%s::bigint[]), 2e9, 'unchanged', 0.1, 900",
                    (ids,),
                )
            done += len(ids)
        told.put((done, cpu_s + cpu_s_with(db)))


def bare(address: str, number: int, seconds: float, told: "multiprocessing.Queue") -> None:
    """Write two numbers of each page in place and a row of history, by a plan that is kept.

    Nothing that records visits one row each, with the two indexes of the history, takes less.
    """
    done, turn = 0, 0
    with psycopg.connect(address, autocommit=True, prepare_threshold=None) as db:
        rows = db.execute(
            "SELECT id FROM page WHERE shard = ANY(%s) ORDER BY md5(url) LIMIT 40000",
            ([shard for shard in range(SHARDS) if shard % 4 == number],),
        ).fetchall()
        ids = [row[0] for row in rows]
        batches = [ids[first : first + BATCH] for first in range(0, len(ids), BATCH)]
        cpu_s = -cpu_s_with(db)
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            batch = batches[turn % len(batches)]
            db.execute("SELECT bare(%s)", (batch,))
            turn, done = turn + 1, done + len(batch)
        told.put((done, cpu_s + cpu_s_with(db)))


_BARE = f"""CREATE FUNCTION bare(bigint[]) RETURNS void LANGUAGE plpgsql
    SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off
    SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    UPDATE page SET due_s = due_s + 1, visits = visits + 1
    FROM (SELECT unnest($1) AS told) AS told WHERE id = told AND shard = mod(told, {SHARDS})::int;
    INSERT INTO visit (page_id, visited_at_s, outcome, fetch_s, received_bytes)
    SELECT unnest($1), 2e9, 'unchanged', 0.1, 900;
END $$"""


def jobs(address: str, number: int, seconds: float, told: "multiprocessing.Queue") -> None:
    """Have Procrastinate fetch a job for each visit, and finish it with a row of history.

    In its favour no job is made for the next visit: those that wait are passed by at every fetch.
    """
    done = 0
    with psycopg.connect(address, autocommit=True) as db:
        worker = db.execute("SELECT procrastinate_register_worker_v1()").fetchone()[0]
        cpu_s = -cpu_s_with(db)
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            row = db.execute(
                "SELECT id, args FROM procrastinate_fetch_job_v2(NULL, %s)", (worker,)
            ).fetchone()
            if row[0] is None:
                break
            with db.transaction():
                db.execute("SELECT procrastinate_finish_job_v1(%s, 'succeeded', false)", (row[0],))
                db.execute(
                    "INSERT INTO visit (page_id, visited_at_s, outcome, fetch_s, received_bytes) "
                    "VALUES (%s, 2e9, 'unchanged', 0.1, 900)",
                    (row[1]["page_id"],),
                )
            done += 1
        told.put((done, cpu_s + cpu_s_with(db)))


def fill_jobs(db: psycopg.Connection) -> None:
    """Make a job of Procrastinate for each page, all due."""
    schema = importlib.resources.files("procrastinate.sql") / "schema.sql"
    db.execute(schema.read_bytes())
    db.execute("ALTER TABLE procrastinate_jobs DISABLE TRIGGER USER")  # notes on each, and signals
    db.execute(
        "INSERT INTO procrastinate_jobs (queue_name, task_name, args, scheduled_at) "
        "SELECT 'crawl', 'visit', json_build_object('page_id', id), to_timestamp(due_s) FROM page"
    )
    db.execute("ALTER TABLE procrastinate_jobs ENABLE TRIGGER USER")
    db.execute("VACUUM ANALYZE")


def together(work: object, arguments: list[tuple]) -> list[tuple]:
    """Run several processes at once, and return what they told."""
    context = multiprocessing.get_context("spawn")
    told = context.Queue()
    running = [context.Process(target=work, args=(*one, told)) for one in arguments]
    for process in running:
        process.start()
    results = []
    while len(results) < len(running):
        try:
            results.append(told.get(timeout=1.0))
        except queues.Empty:
            if any(process.exitcode for process in running):
                sys.exit("a process failed")
    for process in running:
        process.join()
    return results


def size(db: psycopg.Connection, like: str) -> int:
    query = (
        "SELECT coalesce(sum(pg_total_relation_size(oid)), 0) FROM pg_class "
        "WHERE relkind = 'r' AND relname LIKE %s"
    )
    return int(db.execute(query, (like,)).fetchone()[0])


def store(server: Server, pages: int, seconds: float) -> None:
    """Rows a second: through the port, of an owner's statements alone, of a shared queue."""
    database = server.database()
    begun = time.perf_counter()
    fill(database, pages)
    print(f"{pages:,} pages made in {time.perf_counter() - begun:.0f} s")
    with psycopg.connect(database.address, autocommit=True) as db:
        before = size(db, "page\\_%")
        print(f"  {before / pages:,.0f} bytes a page with its three indexes, no visits")
        for n in (1, 4):
            db.execute("TRUNCATE visit")  # before each, as every row makes the next one dearer
            told = together(owner, [(database.address, SHARDS // n, seconds) for _ in range(n)])
            done, spent_s, cpu_s, loaded_s, wall_s = map(sum, zip(*told, strict=True))
            print(
                f"owners, whole port, {n} processes: {done / wall_s * n:,.0f} visits/s, "
                f"{done / cpu_s:,.0f} per CPU second of theirs; "
                f"{done / spent_s * n:,.0f}/s in complete; shards loaded in {loaded_s / n:.1f} s"
            )
            db.execute("UPDATE shard SET owner = NULL")
        db.execute("TRUNCATE visit")
        told = together(written, [(database.address, n, seconds) for n in range(4)])
        done, cpu_s = map(sum, zip(*told, strict=True))
        statements, of_cpu = done / seconds, done / cpu_s
        print(
            f"owners' statements alone, 4 clients: {statements:,.0f} visits/s, "
            f"{of_cpu:,.0f} per CPU second of theirs and the server's"
        )
        db.execute(_BARE)
        db.execute("TRUNCATE visit")
        told = together(bare, [(database.address, n, seconds) for n in range(4)])
        done, cpu_s = map(sum, zip(*told, strict=True))
        print(
            f"  the least that rows in place and rows of history take: {done / seconds:,.0f} "
            f"visits/s, {done / cpu_s:,.0f} per CPU second"
        )
        hot = db.execute(
            "SELECT sum(n_tup_hot_upd) / greatest(sum(n_tup_upd), 1) FROM pg_stat_user_tables "
            "WHERE relname LIKE 'page\\_%'"
        ).fetchone()[0]
        print(f"  in place (HOT): {float(hot):.0%}")
        db.execute("CREATE TABLE queue (LIKE page INCLUDING DEFAULTS)")
        db.execute("INSERT INTO queue SELECT * FROM page")
        db.execute("UPDATE queue SET due_s = 1e9 + mod(id * 7919, 86400), leased_until_s = 0")
        db.execute("ALTER TABLE queue ADD PRIMARY KEY (id)")
        db.execute("CREATE INDEX ON queue (due_s)")
        db.execute("VACUUM ANALYZE queue")
        db.execute("TRUNCATE visit")
        told = together(queue, [(database.address, n, seconds) for n in range(4)])
        done, cpu_s = map(sum, zip(*told, strict=True))
        shared, shared_of_cpu = done / seconds, done / cpu_s
        print(
            f"SKIP LOCKED queue, 4 clients: {shared:,.0f} visits/s, {shared_of_cpu:,.0f} per CPU "
            f"second; ratio {statements / shared:.1f}, {of_cpu / shared_of_cpu:.1f} by CPU seconds"
        )
        if importlib.util.find_spec("procrastinate") is None:
            print("Procrastinate is not installed (bench/requirements.txt)")
            return
        fill_jobs(db)
        db.execute("TRUNCATE visit")
        told = together(jobs, [(database.address, n, seconds) for n in range(4)])
        done, cpu_s = map(sum, zip(*told, strict=True))
        print(
            f"Procrastinate, 4 clients: {done / seconds:,.0f} visits/s, {done / cpu_s:,.0f} per "
            f"CPU second; ratio {statements / (done / seconds):.1f}, "
            f"{of_cpu / (done / cpu_s):.1f} by CPU seconds"
        )


def growth(server: Server, pages: int) -> None:
    """How much the pages' tables grow when every row is written ten times, in batches."""
    database = server.database()
    fill(database, pages)
    with psycopg.connect(database.address, autocommit=True) as db:
        before = size(db, "page\\_%")
        for turn in range(10):
            for first in range(pages // BATCH):  # each a few hundred pages from everywhere
                ids = [SHARDS + first + place * (pages // BATCH) for place in range(BATCH)]
                db.execute(
                    "UPDATE page SET due_s = due_s + 1, visits = visits + 1, tier = %s, "
                    "due_why = 'a day after visit 2' WHERE id = ANY(%s)",
                    (turn % 5 + 1, ids),
                )
        after = size(db, "page\\_%")
        print(f"ten rewrites of {pages:,} pages: {after / before - 1.0:+.1%} in size")


def leader_of(server: Server) -> int:
    """Return the number of a server's first process."""
    path = server.server.folder / "data" / "postmaster.pid"
    return int(path.read_text().split()[0])


def cpu_s_of(leaders: list[int]) -> float:
    """Return the processor time that processes and all that they started have taken."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(path.parent.name) in leaders:
            ticks += sum(map(int, fields[11:15]))
        elif int(fields[1]) in leaders:
            ticks += sum(map(int, fields[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def crawled(farm_of: tuple[int, int], server: Server | None, processes: int, seconds: float) -> str:
    """Crawl loopback hosts; return pages a second and per CPU second of the crawlers."""
    farm = Farm(*farm_of)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        database = None if server is None else server.database()
        seeds = "[" + ", ".join(f'"http://{farm.name(n)}/"' for n in range(farm_of[0])) + "]"
        config = farm.config(
            folder, database, seeds=seeds, budget='"50000/s"', robots=str(128 // processes),
            politeness__delay='"100ms"', buffer__capacity="256", buffer__control='"room"',
        )  # fmt: skip
        leaders = [] if server is None else [leader_of(server)]
        command = [sys.executable, "-m", "recrawl", "run", str(config), "--for", f"{seconds}s"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        served_s = -cpu_s_of(leaders)
        running = [subprocess.Popen([*command, "-q"], cwd=folder) for _ in range(processes)]
        time.sleep(seconds / 2.0)
        crawlers = [process.pid for process in running]
        n_half, half_s = farm.n_requests(), cpu_s_of(crawlers)
        time.sleep(seconds / 2.0 - 2.0)
        n_late, late_s = farm.n_requests() - n_half, cpu_s_of(crawlers) - half_s
        assert [process.wait() for process in running] == [0] * processes
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        n = farm.n_requests() - 2 * len(farm.asked)  # robots.txt and sitemap apart
        served_s += cpu_s_of(leaders)
    farm.close()
    return (
        f"{n / seconds:,.0f} pages/s, {n / cpu_s:,.0f} per CPU second of the crawlers, "
        f"{n / (cpu_s + served_s):,.0f} with the server's (start included); "
        f"{n_late / late_s:,.0f} per CPU second of the crawlers in the second half"
    )


def begun(server: Server, pages: int, shards: int = 256) -> None:
    """How long a process takes to its first request, and what it holds by then."""
    farm = Farm(min(max(pages // 200, 1), 50_000), 200)
    database = server.database()
    Membership(database, shards=shards).close()
    last = dict.fromkeys(range(shards), 0)
    with psycopg.connect(database.address, autocommit=True) as db:
        with db.cursor().copy("COPY host (shard, id, host) FROM STDIN") as copy:
            for number in range(farm.n_hosts):
                host = f"http://{farm.name(number)}"
                shard = shard_of(host, shards)
                last[shard] += 1
                copy.write_row((shard, shard + shards * last[shard], host))
        db.execute(
            """INSERT INTO page (shard, id, url, host_id, kind, state, depth, hops, weight,
                discovered_s, due_s)
            SELECT shard, shard + %(s)s::bigint * ((id - shard) / %(s)s * %(n)s + n),
                host || '/section/page-' || n, id, 'page', 'discovered', 3, 0, 1.0, 1e9, 1e9
            FROM host, generate_series(0, %(n)s::int - 1) AS n""",
            {"s": shards, "n": pages // farm.n_hosts},
        )
        db.execute("VACUUM ANALYZE")
    with tempfile.TemporaryDirectory() as name:
        config = farm.config(
            Path(name), database, budget='"100/s"', scope__max_pages=str(10 * pages),
            cluster__shards=str(shards),
        )  # fmt: skip
        command = [sys.executable, "-m", "recrawl", "run", str(config), "-q"]
        started = time.perf_counter()
        process = subprocess.Popen(command, cwd=name)
        while not farm.asked and process.poll() is None:
            time.sleep(0.02)
        first_s = time.perf_counter() - started
        cpu_s = cpu_s_of([process.pid])
        status = Path(f"/proc/{process.pid}/status").read_text()
        peak = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
        time.sleep(20.0)
        print(
            f"start with {pages:,} pages: first request after {first_s:.1f} s ({cpu_s:.1f} CPU "
            f"seconds), {int(peak) / 1e6:.2f} GB at most by then; {farm.n_requests():,} requests "
            f"in the 20 s after it, of 2,000 that the budget allows"
        )
        process.send_signal(signal.SIGTERM)
        process.wait()
    farm.close()


def taken_over(server: Server, seconds: float = 40.0) -> None:
    """How long shards of a process that was killed are without an owner."""
    farm = Farm(50, 20)
    database = server.database()
    with tempfile.TemporaryDirectory() as name:
        config = farm.config(Path(name), database)
        command = [sys.executable, "-m", "recrawl", "run", str(config), "-q"]
        running = [subprocess.Popen(command, cwd=name) for _ in range(2)]
        query = "SELECT count(DISTINCT owner), count(owner) FROM shard"
        with psycopg.connect(database.address, autocommit=True) as db:
            until = time.perf_counter() + seconds
            while db.execute("SELECT to_regclass('shard')").fetchone()[0] is None:
                time.sleep(0.1)
            while db.execute(query).fetchone() != (2, 16) and time.perf_counter() < until:
                time.sleep(0.1)
            running[0].kill()
            killed = time.perf_counter()
            while db.execute(query).fetchone() != (1, 16) and time.perf_counter() < until:
                time.sleep(0.02)
            print(
                f"takeover: every shard owned again {time.perf_counter() - killed:.1f} s after a "
                "kill, with a lease of 2 s and a time-out of 1 s"
            )
        running[1].send_signal(signal.SIGTERM)
        for process in running:
            process.wait()
    farm.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=300_000)
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--buffers", default="128MB", help="memory that the server shares")
    parser.add_argument("--begin", type=int, default=1_000_000, help="pages of a start")
    parser.add_argument("--hosts", type=int, default=400)
    parser.add_argument("only", nargs="*", help="of: store growth crawl start takeover")
    arguments = parser.parse_args()
    wanted = arguments.only or ["store", "growth", "crawl", "start", "takeover"]
    print(f"{os.cpu_count()} CPU cores, load {os.getloadavg()[0]:.1f}")
    with postgres(buffers=arguments.buffers) as started:
        server = Server(started)
        if "store" in wanted:
            store(server, arguments.pages, arguments.seconds)
        if "growth" in wanted:
            growth(server, min(arguments.pages, 100_000))
        if "crawl" in wanted:
            farm = (arguments.hosts, 150)
            for label, where, n in (
                ("one process, SQLite", None, 1),
                ("one process, PostgreSQL", server, 1),
                ("four processes, PostgreSQL", server, 4),
            ):
                print(f"{label}: {crawled(farm, where, n, 3 * arguments.seconds)}")
        if "start" in wanted:
            begun(server, arguments.begin)
        if "takeover" in wanted:
            taken_over(server)


if __name__ == "__main__":
    main()
