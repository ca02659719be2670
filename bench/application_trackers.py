"""Trackers, as PyPI has them, on 127.0.0.1: ``pip install roundup Trac``, found on the path.

As :mod:`application_sites`: each is a context manager that yields a ``Site``.
"""

import contextlib
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from application_sites import (
    Missing,
    Site,
    free_port,
    needs,
    open_folders,
    paragraph,
    quiet,
    server,
)

_WRITE = """
import json, sys
from trac.env import open_environment
from trac.wiki.model import WikiPage
place, pages = json.load(sys.stdin)
env = open_environment(place)
for name, text in pages.items():
    page = WikiPage(env, name)
    page.text = text
    page.save("ann", "")
"""


@contextlib.contextmanager
def trac(folder: Path, n_pages: int) -> Iterator[Site]:
    """Trac on SQLite: pages of its wiki beside its own manual, a timeline, queries, histories."""
    needs("trac-admin", "tracd")
    place, port, log = folder / "trac", free_port(), folder / "server.log"
    admin = ["trac-admin", place]
    quiet([*admin, "initenv", "Manifold", "sqlite:db/trac.db"])
    # Of its own pages, and of what is loaded by trac-admin, Trac says that none is to be indexed.
    python = Path(shutil.which("tracd") or "").resolve().with_name("python")

    def write(pages: dict[str, str]) -> None:
        told = json.dumps([str(place), pages])
        subprocess.run([str(python), "-c", _WRITE], input=told, text=True, check=True)

    def page_of(number: int, more: str) -> str:
        see = f"See [wiki:Manifold{(31 * number + 7) % n_pages}] and [wiki:WikiStart]."
        return f"= Page {number}\n\n{paragraph(number, more)}\n\n{see}\n"

    listed = "\n".join(f" * [wiki:Manifold{number}]" for number in range(n_pages))
    write({f"Manifold{number}": page_of(number, "") for number in range(n_pages)})
    write({"WikiStart": f"= Start\n\n{listed}\n\nHelp: [wiki:TracGuide]\n"})

    def edit(number: int) -> str:
        write({f"Manifold{number}": page_of(number, f"Edited at {time.time():.3f}.")})
        return f"/trac/wiki/Manifold{number}"

    page = re.compile(r"/trac/wiki/Manifold\d+")
    # Its own manual, tickets, reports, milestones and what is told of them are pages as well.
    way = re.compile(
        r"/trac(/(wiki(/\w+)?|timeline|roadmap|report(/\d+)?|milestone/\w+|about|search)?)?/?"
    )
    with server(["tracd", "-p", str(port), "--hostname=127.0.0.1", str(place)], port, log):
        yield Site(
            f"http://127.0.0.1:{port}/trac/wiki/WikiStart",
            log,
            lambda url: page.fullmatch(url) is not None,
            n_pages,
            "manifold",
            edit,
            lambda url: way.fullmatch(url) is not None,
        )


@contextlib.contextmanager
def roundup(folder: Path, n_pages: int) -> Iterator[Site]:
    """Roundup on SQLite: issues, each with a message and a history."""
    needs("roundup-admin", "roundup-server")
    tracker, port, log = folder / "tracker", free_port(), folder / "server.log"
    admin = ["roundup-admin", "-i", tracker]
    quiet([*admin, "install", "classic", "anydbm"])
    config = tracker / "config.ini"
    home = f"http://127.0.0.1:{port}/tracker/"
    text = re.sub(r"^#? *web *=.*$", f"web = {home}", config.read_text(), flags=re.MULTILINE)
    text = re.sub(r"^#? *backend *=.*$", "backend = sqlite", text, flags=re.MULTILINE)
    text = re.sub(r"^#? *domain *=.*$", "domain = site.test", text, flags=re.MULTILINE)
    text = re.sub(r"^#?admin_email =.*$", "admin_email = a@site.test", text, flags=re.MULTILINE)
    config.write_text(text)
    quiet([*admin, "initialise", "a-long-passphrase-9"])

    def tell(number: int, more: str) -> str:
        return f"title='Manifold issue {number}, {paragraph(number, more)[:120]}'"

    made = "".join(f"create issue {tell(number, '')}\n" for number in range(n_pages)) + "commit\n"
    done = subprocess.run(
        [str(one) for one in admin], input=made, text=True, capture_output=True, check=False
    )
    if done.returncode:
        raise Missing(f"roundup-admin: {done.stderr[-300:]}")

    def edit(number: int) -> str:
        title = f"title='Manifold issue {number}, edited at {time.time():.3f}'"
        subprocess.run(
            [str(one) for one in admin],
            input=f"set issue{number + 1} {title}\ncommit\n",
            text=True,
            capture_output=True,
            check=True,
        )
        return f"/tracker/issue{number + 1}"

    page = re.compile(r"/tracker/issue\d+")
    way = re.compile(r"/tracker/(issue(\?.*@startwith=\d+.*)?)?")
    command = ["roundup-server", "-p", str(port), "-n", "127.0.0.1"]
    if os.geteuid() == 0:  # which it refuses to run as
        subprocess.run(["chown", "-R", "www-data", str(folder)], check=True)
        open_folders(folder)
        command += ["-u", "www-data"]
    command.append(f"tracker={tracker}")
    with server(command, port, log):
        yield Site(
            home,
            log,
            lambda url: page.fullmatch(url) is not None,
            n_pages,
            "manifold",
            edit,
            lambda url: way.fullmatch(url) is not None,
        )


TRACKERS = {one.__name__: one for one in (roundup, trac)}
