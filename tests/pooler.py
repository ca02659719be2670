"""PgBouncer before a PostgreSQL server, in transaction mode: no session outlasts a transaction."""

import contextlib
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from recrawl.terms import Database

_CONFIG = """
[databases]
* = host={server} user=tester pool_size=4
[pgbouncer]
pool_mode = transaction
auth_type = any
listen_port = 6432
unix_socket_dir = {folder}
max_client_conn = 200
"""


@contextlib.contextmanager
def pooled(database: Database) -> Iterator[Database]:
    """Give the address by which a database is reached through a pooler of four connections."""
    program = shutil.which("pgbouncer", path="/usr/sbin:/usr/bin:/usr/local/bin")
    if program is None:
        pytest.skip("PgBouncer is not installed (apt-get install pgbouncer)")
    user = pwd.getpwnam("postgres").pw_name
    server = database.address.partition("host=")[2]
    with tempfile.TemporaryDirectory(prefix="pb-", dir="/tmp") as name:
        shutil.chown(name, user)
        config = Path(name) / "pgbouncer.ini"
        config.write_text(_CONFIG.format(server=server, folder=name))
        running = subprocess.Popen(
            [program, "-q", str(config)], user=user, cwd="/",
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            until_s = time.monotonic() + 60.0
            while not (Path(name) / ".s.PGSQL.6432").exists():
                assert time.monotonic() < until_s
                time.sleep(0.02)
            yield Database(database.address.replace(f"host={server}", f"host={name}&port=6432"))
        finally:
            running.terminate()
            running.wait(10)
