"""A PostgreSQL server for tests: the real one, on a socket of its own, by nobody's leave."""

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.places import memory

_OPTIONS = "-c listen_addresses='' -c fsync=off -c unix_socket_directories="


def _programs() -> Path | None:
    """Return the folder of the newest server that is installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if found:
        return found[-1].parent
    other = shutil.which("initdb")
    return Path(other).resolve().parent if other else None


def _user() -> str | None:
    """Return whom the server runs as: it refuses to be root."""
    if os.getuid() != 0:
        return None
    with contextlib.suppress(KeyError):
        return pwd.getpwnam("postgres").pw_name
    pytest.skip("PostgreSQL does not run as root, and there is no user postgres")


class Postgres:
    """A server that a test may end and start again.

    Parameters
    ----------
    folder : empty, of its own
    buffers : memory that it shares, as it is told
    """

    def __init__(self, folder: Path, *, buffers: str = "64MB") -> None:
        programs = _programs()
        if programs is None:
            pytest.skip("PostgreSQL is not installed (apt-get install postgresql)")
        self._programs, self._user, self.folder = programs, _user(), folder
        self._options = f"{_OPTIONS}{folder} -c shared_buffers={buffers}"
        if self._user is not None:
            shutil.chown(folder, self._user)
        self._run("initdb", "-D", f"{folder}/data", "-U", "tester", "--auth=trust", "-E", "UTF8",
                  "--no-sync", "--locale=C.UTF-8")  # fmt: skip
        self.start()

    @property
    def address(self) -> str:
        """What a sink is told."""
        return f"postgresql://tester@/postgres?host={self.folder}"

    def start(self) -> None:
        """Start, and return once it answers."""
        self._run("pg_ctl", "-D", f"{self.folder}/data", "-l", f"{self.folder}/log", "-w", "-o",
                  self._options, "start")  # fmt: skip

    def stop(self, mode: str = "fast") -> None:
        """End; ``immediate`` is what a crash is like."""
        self._run("pg_ctl", "-D", f"{self.folder}/data", "-w", "-m", mode, "stop")

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [self._programs / program, *arguments],
            user=self._user, cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr.decode()


@contextlib.contextmanager
def postgres(*, buffers: str = "64MB") -> Iterator[Postgres]:
    """Give a server; its folder has a short name, as sockets must.

    The thousands of files of a session's databases would take a busy disk minutes to remove.
    """
    place = memory() or Path("/tmp")
    with tempfile.TemporaryDirectory(prefix="pg-", dir=place, ignore_cleanup_errors=True) as name:
        server = Postgres(Path(name), buffers=buffers)
        try:
            yield server
        finally:
            with contextlib.suppress(AssertionError):
                server.stop("immediate")
