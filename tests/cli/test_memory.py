"""A crawl gives the memory of pages back to the system."""

import ctypes
import platform
import subprocess
import sys

import pytest

from recrawl.cli.crawler.memory import give_memory_back

# Threads that each hold and let go of what large pages take, between things that stay.
PAGES = """
import sys, threading
from recrawl.cli.crawler.memory import give_memory_back
if sys.argv[1] == "given":
    give_memory_back()
import numpy as np
stay, together = [], threading.Barrier(8)
def read(number):
    for size in range(8):
        together.wait()
        page = [np.ones(1000 * (60 + number), np.uint8) for _ in range(50 if size == number else 1)]
        together.wait()
        stay.append(np.ones(3000, np.uint8))
        del page
threads = [threading.Thread(target=read, args=(n,)) for n in range(8)]
for one in threads: one.start()
for one in threads: one.join()
for line in open("/proc/self/status"):
    if line.startswith("RssAnon"):
        print(line.split()[1])
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another allocator")
def test_what_pages_took_is_given_back() -> None:
    held = {
        how: int(
            subprocess.run(
                [sys.executable, "-c", PAGES, how], capture_output=True, text=True, check=True
            ).stdout
        )
        for how in ("kept", "given")
    }

    assert held["given"] < held["kept"]


def test_another_allocator_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """As that of musl, or of another system."""

    class Without:
        pass

    monkeypatch.setattr(ctypes, "CDLL", lambda name: Without())
    give_memory_back()

    def refuse(name: None) -> None:
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", refuse)
    give_memory_back()


HOLES = """
import asyncio
from recrawl.cli.crawler.memory import give_memory_back, trimmed
give_memory_back()
import numpy as np
def held():
    lines = open("/proc/self/status")
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))
pieces = [np.ones(20_000, np.uint8) for _ in range(2_000)]
stay = pieces[::8]
del pieces
full = held()
async def main():
    async with trimmed(every_s=0.01):
        while held() > full - 20_000:
            await asyncio.sleep(0.01)
asyncio.run(asyncio.wait_for(main(), 30))
print(len(stay))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another allocator")
def test_holes_between_what_stays_are_given_back_as_well() -> None:
    """Of 40 MB between what stays at least the half."""
    ended = subprocess.run(
        [sys.executable, "-c", HOLES], capture_output=True, text=True, check=False
    )

    assert (ended.returncode, ended.stdout) == (0, "250\n"), ended.stderr
